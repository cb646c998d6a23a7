"""Tests of fetching a single page outside of a crawl."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa.core.protocols import NEVER, Space
from lycosa.core.single_fetch import MAX_REQUESTS, fetch_page
from lycosa.core.types import Kind, Links, Outcome, Page, Task, Visit
from lycosa.spaces.web_space import WebSpace
from lycosa.testweb import ServedResponse
from lycosa.testweb.simulation import EPOCH, SimTransport, clock, run_virtual
from lycosa.web.politeness import Politeness

URL = "http://a.localhost/reef"


class Scripted(Space):
    """Space with scripted pages, which take a second each; the host is paused for `rest` more seconds."""

    def __init__(self, pages: Mapping[str, Page], rest: float = 0.0) -> None:
        self.pages, self.rest = dict(pages), rest
        self.asked: list[tuple[str, Kind, float]] = []
        self.learned: list[Visit] = []
        self.until = 0.0
        self.errands: dict[str, list[Task | tuple[Outcome, str]]] = {}

    def prerequisite(self, node: str) -> Task | tuple[Outcome, str] | None:
        left = self.errands.get(node)
        return left.pop(0) if left else None

    def ready(self, host_key: str) -> tuple[float, str]:
        return self.until, "rests"

    def learn(self, visit: Visit) -> None:
        self.learned.append(visit)

    async def visit(self, task: Task) -> Page:
        self.asked.append((task.node, task.kind, clock() - EPOCH))
        await asyncio.sleep(1.0)
        self.until = clock() + self.rest
        return self.pages.get(task.node, Page("gone", 404))


def fetched(space: Space, node: str = "a", patience: float = 300.0) -> tuple[str, Page, list[Visit]]:
    async def run() -> tuple[str, Page, list[Visit]]:
        return await fetch_page(space, node, "example", f"the example {node}", clock=clock, patience=patience)

    return run_virtual(run())


def to(target: str) -> Page:
    return Page("redirect", 301, "redirect", links=Links.to(target))


OK = Page("ok", 200, title="Reefs", size=7, data={"k": 1}, address="192.0.2.1", note="n", started=1.0, ended=2.0)


def test_fetch_page_returns_node_page_and_visit() -> None:
    space = Scripted({"a": OK})
    node, page, visits = fetched(space)
    assert ("a", OK) == (node, page)
    assert [("a", "example", 0.0)] == space.asked
    assert visits == space.learned
    (visit,) = visits
    assert ("a", "example", "ok", 0, 200, 7) == (
        visit.node, visit.kind, visit.outcome, visit.pick, visit.status, visit.size
    )  # fmt: skip
    assert ({"k": 1}, "192.0.2.1", "n", 1.0, 2.0) == (
        visit.data, visit.address, visit.note, visit.started, visit.ended
    )  # fmt: skip
    assert not visit.is_page, "it is none of the collection"


def test_fetch_page_does_prerequisites_first() -> None:
    space = Scripted({"a": OK, "robots": Page("ok", 200, data={"body": b""})})
    space.errands["a"] = [Task("robots", "robots", origin="a", attempt=2)]
    _, _, visits = fetched(space)
    assert [("robots", "robots"), ("a", "example")] == [(visit.node, visit.kind) for visit in visits]
    assert ("a", 2) == (visits[0].origin, visits[0].attempt)


def test_fetch_page_of_denied_node_raises() -> None:
    space = Scripted({"a": OK})
    space.errands["a"] = [("denied", "http://a/robots.txt does not allow it")]
    with raises_input_error("fetch-refused", r"^cannot use the example a: http://a/robots\.txt does not allow it$"):
        fetched(space)
    assert [] == space.asked


def test_fetch_page_follows_redirects() -> None:
    space = Scripted({"a": to("b"), "b": to("c"), "c": OK})
    node, page, visits = fetched(space)
    assert ("c", OK, ["a", "b", "c"]) == (node, page, [visit.node for visit in visits])
    assert ["redirect", "redirect", "ok"] == [visit.outcome for visit in visits]


def test_fetch_page_of_denied_redirect_target_raises() -> None:
    space = Scripted({"a": to("b"), "b": OK})
    space.errands["b"] = [("denied", "not there")]
    with raises_input_error("fetch-refused", "cannot use the"):
        fetched(space)
    assert ["a"] == [node for node, _, _ in space.asked]


@pytest.mark.parametrize("pages", [{"a": to("a")}, {"a": to("b"), "b": to("a")}])
def test_fetch_page_limits_redirects(pages: dict[str, Page]) -> None:
    space = Scripted(pages)
    with raises_input_error("too-many-redirects", "cannot fetch the"):
        fetched(space)
    assert MAX_REQUESTS == len(space.asked)


def test_fetch_page_waits_for_delays() -> None:
    space = Scripted({"a": to("b"), "b": OK}, rest=5.0)
    fetched(space)
    assert [0.0, 6.0] == pytest.approx([at for _, _, at in space.asked], abs=1e-5)


@pytest.mark.parametrize("rest", [301.0, NEVER])
def test_fetch_page_gives_up_beyond_patience(rest: float) -> None:
    space = Scripted({"a": to("b"), "b": OK}, rest=rest)
    with raises_input_error("host-not-ready", "cannot fetch the"):
        fetched(space)
    assert [0.0] == [at for _, _, at in space.asked]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (Page("gone", 404), "gone 404"),
        (Page("broken", 500, note="x"), "broken 500 x"),
        (Page("timeout", note="no answer"), "timeout  no answer"),
        (Page("unwanted", 200, note="image/png"), "unwanted 200 image/png"),
        (Page("refused", note="127.0.0.1 is private"), "refused  127.0.0.1 is private"),
        (Page("unknown-host"), "unknown-host"),
    ],
)
def test_fetch_page_reports_failures(page: Page, expected: str) -> None:
    with raises_input_error("fetch-failed") as caught:
        fetched(Scripted({"a": page}))
    assert f"cannot fetch the example a: {expected}".split() == str(caught.value).split()


class Site:
    def __init__(self, answers: Mapping[str, ServedResponse]) -> None:
        self.answers = answers

    def counts(self, url: str) -> bool:
        return False

    def response(self, url: str, *, headers: Any = None, version: int = 0) -> ServedResponse:
        return self.answers.get(url, ServedResponse(404, [], b""))


def web(answers: Mapping[str, ServedResponse]) -> WebSpace:
    politeness = Politeness(clock, delay=1.0, free=lambda address: True)
    return WebSpace(SimTransport(Site(answers), seed=1, latency=(0.1, 0.1)), politeness, clock)


def html(body: str) -> ServedResponse:
    return ServedResponse(200, [("Content-Type", "text/html")], body.encode())


def robots(body: str) -> ServedResponse:
    return ServedResponse(200, [("Content-Type", "text/plain")], body.encode())


def test_example_page_is_fetched_from_web() -> None:
    space = web({URL: html("<title>Reefs</title><p>Corals build reefs.")})
    _, page, visits = fetched(space, URL)
    assert ("Reefs", "Corals build reefs.") == (page.title, page.text)
    assert ["robots", "example"] == [visit.kind for visit in visits]
    assert isinstance(space.transport, SimTransport)
    first, second = space.transport.log
    assert second.started - first.ended >= 1.0 - 1e-5


def test_example_disallowed_by_robots_raises() -> None:
    base = URL.rpartition("/")[0]
    space = web({URL: html("x"), f"{base}/robots.txt": robots("User-agent: *\nDisallow: /")})
    with raises_input_error("fetch-refused", r"cannot use .*robots\.txt does not allow it"):
        fetched(space, URL)


def test_example_with_unreadable_robots_raises() -> None:
    base = URL.rpartition("/")[0]
    space = web({URL: html("x"), f"{base}/robots.txt": ServedResponse(500, [], b"")})
    with raises_input_error("host-not-ready", "its host is"):
        fetched(space, URL)
    assert isinstance(space.transport, SimTransport)
    assert {"/robots.txt"} == {hit.path for hit in space.transport.log}
    assert len(space.transport.log) > 1


def test_example_moved_to_another_host_is_followed() -> None:
    there = "http://b.localhost/reef"
    space = web({URL: ServedResponse(301, [("Location", there)], b""), there: html("<p>Reefs")})
    node, page, visits = fetched(space, URL)
    assert (there, "Reefs") == (node, page.text)
    assert ["robots", "example", "robots", "example"] == [visit.kind for visit in visits]
