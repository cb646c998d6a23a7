"""Tests of `lycosa.crawl` and `lycosa.resume`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lycosa
from input_errors import raises_input_error
from lycosa.core.types import Links, Page, Task, Visit
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.spaces.web_space import WebSpace
from lycosa.testweb import Server, Web, serve

TOPIC = "marine biology/coral reefs"
LOCAL: dict[str, Any] = {"delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"]}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(slowness=0.01)) as running:
        yield running


def pages(crawl: lycosa.Crawl) -> list[Visit]:
    return [visit for visit in crawl if visit.is_page]


def test_resume_requires_directory_only(server: Server, tmp_path: Path) -> None:
    web = server.web
    seeds, terms = tmp_path / "seeds.txt", tmp_path / "terms.tsv"
    seeds.write_text("\n".join(web.seeds(TOPIC)))
    terms.write_text("coral\t2\nreef\n")
    options = {"seed_files": [str(seeds)], "terms": str(terms), "budget": 10, **LOCAL}
    assert 10 == len(pages(lycosa.crawl(out=tmp_path / "crawl", **options)))
    seeds.unlink()
    terms.unlink()
    assert 10 == len(pages(lycosa.resume(tmp_path / "crawl", budget=20)))


def test_resume_with_narrower_scope_skips_links(server: Server, tmp_path: Path) -> None:
    web = server.web
    assert pages(lycosa.crawl("coral reef", web.seeds(TOPIC), out=tmp_path / "crawl", budget=10, **LOCAL))
    resumed = lycosa.resume(tmp_path / "crawl", budget=20, exclude=["open-directory|index-of|town-portal"])
    assert all("open-directory" not in visit.url for visit in pages(resumed))


def test_two_topics_are_rejected_before_crawl(tmp_path: Path) -> None:
    with raises_input_error("conflicting-options", "more than one"):
        lycosa.crawl(seeds=["http://a.test/"], examples=["x.html"], regex="x", out=tmp_path / "crawl")
    assert not (tmp_path / "crawl").exists()


def test_unreadable_example_leaves_no_directory(tmp_path: Path) -> None:
    with raises_input_error("unreadable-file", "cannot read the"):
        list(lycosa.crawl(seeds=["http://a.test/"], examples=[str(tmp_path / "no.html")], out=tmp_path / "crawl"))
    assert not (tmp_path / "crawl").exists()


def test_breaking_async_loop_releases_directory(server: Server, tmp_path: Path) -> None:
    async def brief() -> int:
        async with lycosa.crawl("coral reef", server.web.seeds(TOPIC), out=tmp_path / "c", budget=50, **LOCAL) as crawl:
            async for _ in crawl:
                break
        return len([visit async for visit in lycosa.resume(tmp_path / "c", budget=10) if visit.is_page])

    assert asyncio.run(brief()) >= 9


def test_breaking_plain_loop_releases_directory(server: Server, tmp_path: Path) -> None:
    for _ in lycosa.crawl("coral reef", server.web.seeds(TOPIC), out=tmp_path / "c", budget=50, **LOCAL):
        break
    assert len(pages(lycosa.resume(tmp_path / "c", budget=10))) >= 9


def test_judge_data_is_converted_as_stored(tmp_path: Path) -> None:
    import numpy as np

    class Noting(SpaceJudge):
        def judge(self, page: Page, reading: object) -> Any:
            judgement = super().judge(page, reading)
            judgement.data = {"pair": (1, np.float32(0.5)), "row": np.arange(3)}
            return judgement

    crawl = lycosa.crawl(Noting(), ["a"], space=GraphSpace({"a": []}), out=tmp_path / "crawl")
    assert [{"beta": 0.0, "alpha": [], "pair": [1, 0.5], "row": [0, 1, 2]}] == [visit.data for visit in crawl]


def test_errors_do_not_block_event_loop() -> None:
    class Refusing(GraphSpace):
        def prerequisite(self, node: str) -> Any:
            return None if node == "a" else ("denied", "no")

    async def most_between_turns() -> int:
        turns = 0

        async def tick() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        ticking = asyncio.ensure_future(tick())
        space = Refusing({"a": [f"n{i}" for i in range(500)]})
        visits = [visit async for visit in lycosa.crawl(SpaceJudge(), ["a"], space=space)]
        ticking.cancel()
        assert 501 == len(visits)
        return turns

    assert asyncio.run(most_between_turns()) > 25


def test_retry_after_holds_host_after_last_attempt() -> None:
    from lycosa.spaces.web_space import WebSpace
    from lycosa.web.fetch import Response
    from lycosa.web.politeness import Politeness

    class Busy:
        async def address(self, url: str) -> str:
            return "192.0.2.1"

        async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str]) -> Response:
            return Response(503, b"HTTP/1.1 503 Busy", [], b"", fields={"retry-after": "3600"})

        async def close(self) -> None: ...

    now = 1000.0
    space = WebSpace(Busy(), Politeness(lambda: now), lambda: now, attempts=1)
    page = asyncio.run(_visited(space, Task("http://a.test/")))
    assert ("busy", 0.0) == (page.outcome, page.retry_at)
    space.learn(Visit("http://a.test/", "page", page.outcome, 1, data=page.data))
    assert 4600.0 == space.ready("a.test")[0]


async def _visited(space: Any, task: Task) -> Page:
    page = await space.visit(task)
    assert isinstance(page, Page)
    assert isinstance(page.links, Links)
    return page


def test_changed_judge_is_noted(tmp_path: Path) -> None:
    (tmp_path / "reefs.tsv").write_text("atoll\tis-a\treef\n")
    web = GraphSpace({"a": ["b", "c"], "b": ["d"], "c": ["e"]})
    options = {"judge": "ehrig", "ontology": str(tmp_path / "reefs.tsv"), "archive": False}
    assert 2 == len(pages(lycosa.crawl("reef", ["a"], space=web, out=tmp_path / "crawl", budget=2, **options)))
    same = lycosa.resume(tmp_path / "crawl", space=web, budget=3)
    assert (1, []) == (len(pages(same)), same.notes)
    (tmp_path / "crawl" / "ontology").write_text("atoll\tis-a\treef\nlagoon\trelated\treef\n")
    other = lycosa.resume(tmp_path / "crawl", space=web, budget=4)
    assert 1 == len(pages(other))
    assert ["the pages so far were judged with another topic, judge, model or ontology"] == other.notes


class Unmade(GraphSpace):
    """Space whose constructor fails."""

    def __init__(self) -> None:
        raise RuntimeError("no map")


class Lost(GraphSpace):
    """Space without nodes."""

    def __init__(self) -> None:
        super().__init__({"a": ["b"]})

    def node(self, text: str) -> str:
        raise KeyError(text)


class Half:
    """Space without `visit`."""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Unmade", "cannot load the space .*Unmade.*: RuntimeError: no map"),
        ("Lost", r"Lost\.node\('a'\) failed: KeyError"),
        ("Half", "without visit and host_key"),
        ("TOPIC", "cannot load the space"),
    ],
)
def test_failing_user_space_is_reported(name: str, expected: str) -> None:
    with raises_input_error("bad-plugin", expected):
        lycosa.crawl(SpaceJudge(), ["a"], space=f"{__name__}:{name}")


@pytest.mark.paper("gouriten-seed-set")
def test_seed_files_of_another_space_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "nodes.txt").write_text("# mine\nb\n\nc\n")
    web = GraphSpace({"a": ["d"], "b": ["e"], "c": []})
    options = {"seed_files": [str(tmp_path / "nodes.txt")], "strategy": "breadth-first", "archive": False}
    first = lycosa.crawl(SpaceJudge(), ["a"], space=web, out=tmp_path / "crawl", budget=3, **options)
    assert ["a", "b", "c"] == [visit.node for visit in pages(first)]
    (tmp_path / "nodes.txt").unlink()
    second = lycosa.resume(tmp_path / "crawl", topic=SpaceJudge(), space=web, budget=5)
    assert ["d", "e"] == [visit.node for visit in pages(second)]
    with raises_input_error("unreadable-file", "cannot read the"):
        lycosa.crawl(SpaceJudge(), [], space=web, seed_files=[str(tmp_path / "nodes.txt")])


def test_plain_loop_does_not_format_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Visit] = []
    monkeypatch.setattr(Visit, "__repr__", lambda visit: str(written.append(visit)))
    graph = GraphSpace({"a": ["b"], "b": []})
    assert ["a", "b"] == [
        visit.node for visit in lycosa.crawl(SpaceJudge(), ["a"], space=graph, strategy="breadth-first")
    ]
    assert not written


def test_reader_processes_end_with_crawl(server: Server, tmp_path: Path) -> None:
    crawl = lycosa.crawl("coral reef", server.web.seeds(TOPIC), out=tmp_path / "crawl", budget=10, readers=2, **LOCAL)
    assert all(visit.outcome == "ok" and visit.title for visit in pages(crawl))
    assert isinstance(crawl.request.space, WebSpace)
    assert crawl.request.space.pool is not None
    assert not crawl.request.space.pool._idle
    assert "\nreaders = 2\n" in (tmp_path / "crawl" / "crawl.toml").read_text()
    resumed = lycosa.resume(tmp_path / "crawl", budget=15, readers=0)
    assert 5 == len(pages(resumed))
    assert isinstance(resumed.request.space, WebSpace)
    assert resumed.request.space.pool is None
