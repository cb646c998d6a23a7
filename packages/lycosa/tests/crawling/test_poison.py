"""Tests of pages that crash the process: they are parsed in a separate process, then skipped."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lycosa
from crawl_helpers import sim_space
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.core.assessor import Assessor
from lycosa.core.files import CrashMarker
from lycosa.core.types import Visit
from lycosa.spaces import web_space as web_space
from lycosa.store.log import SqliteLog
from lycosa.testweb import ServedResponse
from lycosa.testweb.simulation import clock, run_virtual
from lycosa.web.apart import JOBS

BASE = "http://reef.localhost/"
POISON = f"{BASE}poison"


class Site:
    def response(self, url: str, *, headers: object = None, version: int = 0) -> ServedResponse:
        if url.endswith("robots.txt"):
            return ServedResponse(200, [("Content-Type", "text/plain")], b"User-agent: *\nAllow: /")
        links = "".join(f"<p><a href=/{name}>coral reef {name}</a>" for name in ["poison", *range(20)])
        page = f"<title>Coral {url[-6:]}</title><p>Coral reefs of {url[-6:]} are bleached.{links}"
        return ServedResponse(200, [("Content-Type", "text/html")], page.encode())

    def counts(self, url: str) -> bool:
        return False


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dies_reading() -> None:
    read = JOBS["page"].read

    def deadly(body: bytes, url: str, *more: str) -> Any:
        return die() if url == POISON else read(body, url, *more)

    web_space.JOBS = {**JOBS, "page": JOBS["page"]._replace(read=deadly)}


def dies_judging() -> None:
    assess = Assessor.assess

    def deadly(self: Assessor, task: Any, page: Any) -> Any:
        return die() if task.node == POISON and page.outcome == "ok" else assess(self, task, page)

    Assessor.assess = deadly  # type: ignore[method-assign]


def dies_unpacking() -> None:
    inflate = web_space.inflate

    def deadly(body: bytes, *more: Any) -> Any:
        return die() if b"Coral poison" in body else inflate(body, *more)

    web_space.inflate = deadly


def run(directory: Path, sabotage: Callable[[], None]) -> int:
    child = os.fork()
    if not child:
        try:
            sabotage()

            async def crawl() -> None:
                given = {"space": sim_space(Site(), delay=0.01), "clock": clock}
                if (directory / "crawl.toml").exists():
                    running = lycosa.resume(directory, **given)
                else:
                    light = {"judge": "vector", "strategy": "breadth-first", "traps": False}
                    running = lycosa.crawl("coral reefs", [BASE], out=directory, **light, **given)
                async for _ in running:
                    pass

            run_virtual(crawl())
            os._exit(0)
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert not os.WIFEXITED(status) or not os.WEXITSTATUS(status)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def visits(directory: Path) -> dict[str, list[Visit]]:
    log = SqliteLog(directory / "crawl.sqlite", readonly=True)
    found: dict[str, list[Visit]] = {}
    for event in log:
        if isinstance(event, Visit) and event.kind == "page":
            found.setdefault(event.node, []).append(event)
    log.close()
    return found


@pytest.mark.parametrize(
    ("sabotage", "deaths", "outcome"),
    [(dies_reading, 1, "ok"), (dies_judging, 2, "unreadable"), (dies_unpacking, 2, "unreadable")],
)
def test_page_that_crashes_is_skipped_after_retries(
    tmp_path: Path, sabotage: Callable[[], None], deaths: int, outcome: str
) -> None:
    directory = tmp_path / "crawl"
    ends = [run(directory, sabotage) for _ in range(4)]
    assert [signal.SIGKILL] * deaths + [0] * (4 - deaths) == ends
    found = visits(directory)
    assert 22 == len(found)
    assert {1} == {len(each) for each in found.values()}, "a page was recorded twice"
    assert {outcome} == {visit.outcome for visit in found[POISON]}
    assert {"ok"} == {visit.outcome for node, each in found.items() for visit in each if node != POISON}
    with CrawlDirectory(directory) as collection:
        exchange = collection.exchange(found[POISON][0])
        assert exchange is not None
        assert b"Coral poison" in exchange.body
        assert ("Coral poison" if outcome == "ok" else "") == found[POISON][0].title
    assert "" == CrashMarker(directory).left


def test_robots_txt_that_crashes_is_skipped_after_retries(tmp_path: Path) -> None:
    def sabotage() -> None:
        def deadly(*_: Any) -> Any:
            return die()

        web_space.inflate = deadly

    directory = tmp_path / "crawl"
    assert [signal.SIGKILL, signal.SIGKILL, 0] == [run(directory, sabotage) for _ in range(3)]
    assert {} == visits(directory)


def test_page_of_killed_crawl_is_not_lost(tmp_path: Path) -> None:
    directory = tmp_path / "crawl"
    assert signal.SIGKILL == run(directory, dies_judging)
    assert POISON == CrashMarker(directory).left
    assert 0 == run(directory, lambda: None)
    poison = visits(directory)[POISON][0]
    assert ("ok", True, True) == (poison.outcome, poison.relevance > 0.0, poison.data["apart"])
    with CrawlDirectory(directory) as collection:  # it is parsed in a separate process from now on
        assert "Coral poison" == collection.document(poison).title


def test_note_names_page(tmp_path: Path) -> None:
    directory = tmp_path / "crawl"
    run(directory, dies_judging)

    async def resumed() -> list[str]:
        crawl = lycosa.resume(directory, space=sim_space(Site()), clock=clock)
        await crawl.open()
        await crawl.close()
        return crawl.notes

    note = f"the last run crashed while reading or judging {POISON}: read in a separate process from now on"
    assert [note] == run_virtual(resumed())
    assert [] == run_virtual(resumed()), "it is counted once"
