"""Tests of replaying the log on a simulated transport and clock."""

import asyncio
import gc
import random
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from crawl_helpers import go_on, hits_of, leave, picks, plant, sim_engine, state_of, visits_of
from lycosa.core.engine import Engine
from lycosa.core.table import OPEN
from lycosa.core.types import Event
from lycosa.spaces.web_space import WebSpace
from lycosa.store.log import MemoryLog, SqliteLog
from lycosa.testweb import ServedResponse, Web
from lycosa.testweb.simulation import EPOCH, clock, run_virtual
from lycosa.web.parse_process import _Worker
from stored import exact

STRATEGIES = ("best-first", "random")
TRAPS = ("redirects", "dead", "duplicates", "failing", "robots", "slow", "media")
TOPIC = "marine biology/coral reefs"


@pytest.fixture(scope="module")
def web() -> Web:
    """Return a web that needs retries, redirects, denials and reconnects."""
    return Web(pages=500, hosts=30, traps=TRAPS)


@pytest.fixture(scope="module")
def lived(web: Web) -> dict[str, list[Event]]:
    """Log of a complete crawl for each strategy."""
    return {strategy: run_virtual(_crawl(web, strategy=strategy)) for strategy in STRATEGIES}


async def _crawl(web: Web, log: Any = None, *, pages: int = 120, **options: Any) -> list[Event]:
    engine = sim_engine(web, web.query(TOPIC), log, pages=pages, **options)
    plant(engine, web.seeds(TOPIC))
    async for _ in engine.run():
        pass
    await engine.space.close()
    return list(engine.log)


def test_same_seed_gives_same_crawl(web: Web, lived: dict[str, list[Event]]) -> None:
    again = run_virtual(_crawl(web, strategy="random"))
    assert picks(list(visits_of(again))) == picks(list(visits_of(lived["random"])))
    pages = [visit.pick for visit in visits_of(again) if visit.kind != "robots"]
    assert pages != sorted(pages), "no answer overtook another: the test proves nothing"


def test_reader_processes_change_nothing(
    web: Web, lived: dict[str, list[Event]], monkeypatch: pytest.MonkeyPatch
) -> None:
    request, requested = _Worker.request, list[tuple[Any, ...]]()

    def deadly(process: _Worker, job: str, given: tuple[Any, ...]) -> dict[str, Any]:
        if len(requested) == 50:
            process.child.kill()
            process.child.wait()
        requested.append(given)
        return request(process, job, given)

    monkeypatch.setattr(_Worker, "request", deadly)
    logs = [visits_of(lived["best-first"]), visits_of(run_virtual(_crawl(web, readers=2)))]
    alone, others = ([exact(visit) for visit in visits] for visits in logs)
    assert alone == others
    assert requested[50] in requested[51:]
    assert 1 == len(requested) - len(set(requested))


def test_other_seed_gives_other_order(web: Web, lived: dict[str, list[Event]]) -> None:
    other = run_virtual(_crawl(web, seed=2))
    assert picks(list(visits_of(other))) != picks(list(visits_of(lived["best-first"])))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_resumed_crawl_picks_as_uninterrupted_crawl(
    web: Web, lived: dict[str, list[Event]], strategy: str, tmp_path: Path
) -> None:
    events = lived[strategy]
    cuts = random.Random(strategy).sample(range(4, len(events)), 2)
    for cut in [3, *cuts]:
        start = max([visit.ended for visit in visits_of(events[:cut])], default=EPOCH) - EPOCH + 7.0

        async def fold(cut: int = cut) -> tuple[Any, Any]:
            engine = sim_engine(web, web.query(TOPIC), MemoryLog(), strategy=strategy)
            engine.replay(events[:cut])
            return state_of(engine), await go_on(engine, 30)

        async def replay(cut: int = cut) -> tuple[Any, Any]:
            log = SqliteLog(tmp_path / f"{cut}.sqlite")
            with log.batch():
                for event in events[:cut]:
                    log.append(event)
            log.close()
            log = SqliteLog(tmp_path / f"{cut}.sqlite")
            engine = sim_engine(web, web.query(TOPIC), log, strategy=strategy)
            engine.replay(log)
            try:
                return state_of(engine), await go_on(engine, 30)
            finally:
                log.close()

        folded, replayed = run_virtual(fold(), start=start), run_virtual(replay(), start=start)
        assert folded[0] == replayed[0]
        assert folded[1] == replayed[1]
        assert len(folded[1][1]) == 30


def test_live_state_equals_replayed_log(web: Web, tmp_path: Path) -> None:
    async def compare() -> int:
        log = SqliteLog(tmp_path / "crawl.sqlite")
        engine = sim_engine(web, web.query(TOPIC), log, pages=130)
        plant(engine, web.seeds(TOPIC))
        compared = 0
        async for visit in engine.run():
            if engine.log is log and sum(1 for _ in log.rows("seq")) % 30 == 0:
                fresh = sim_engine(web, web.query(TOPIC), MemoryLog())
                fresh.replay(log)
                assert state_of(fresh) == state_of(engine), f"differs after {visit.node}"
                assert fresh.tally.picks <= engine.tally.picks
                compared += 1
        log.close()
        return compared

    assert run_virtual(compare()) >= 4


class Auditor:
    """Wrapper of `Frontier.take` that scans all rows: none that is open, free and ready has a higher priority."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.takes = self.contested = 0
        self._take = engine.frontier.take
        engine.frontier.take = self.take  # type: ignore[method-assign]

    def take(self, now: float) -> int:
        space, frontier = self.engine.space, self.engine.frontier
        unread = {space.host_key(n) for task, _ in self.engine._arrived for n in (task.node, task.origin) if n}
        ready = {name for host_key, name in enumerate(self.engine.table.hosts) if self._ready(host_key, name, now)}
        best = self._best(ready - unread)
        may_take = {*self._rows(ready), -1}
        self.contested += len(ready) > 1
        row = self._take(now)
        assert row in may_take, self._told(row, best, now)
        assert row == best or (row >= 0 and self._key(row) < self._key(best)), self._told(row, best, now)
        assert frontier.taken.keys() >= {row} - {-1}
        self.takes += row >= 0
        return row

    def _ready(self, host_key: int, name: str, now: float) -> bool:
        frontier = self.engine.frontier
        used = 0
        if host_key < len(frontier.queues):
            used = frontier.queues[host_key].pages + frontier.queues[host_key].in_flight
        spent = frontier.host_budget and used >= frontier.host_budget
        return not spent and self.engine.space.ready(name)[0] <= now

    def _rows(self, host_keys: set[str]) -> list[int]:
        table, taken = self.engine.table, self.engine.frontier.taken
        numbers = {table.host_number[name] for name in host_keys}
        return [row for row in table.rows().tolist() if row not in taken and table.host[row] in numbers]

    def _key(self, row: int) -> tuple[float, int]:
        return (-float(self.engine.frontier.priority[row]), row) if row >= 0 else (float("inf"), 0)

    def _best(self, host_keys: set[str]) -> int:
        return min(self._rows(host_keys), key=self._key, default=-1)

    def _told(self, row: int, best: int, now: float) -> str:
        def progress(row: int) -> str:
            if row < 0:
                return "nothing"
            table, frontier = self.engine.table, self.engine.frontier
            host_key = frontier.queues[table.host[row]]
            waits = f"{host_key.status}, until {host_key.until - EPOCH}, {host_key.why}"
            return f"{table.nodes[row]} ({frontier.score[row]}, {waits})"

        return f"at {now - EPOCH:.3f}: took {progress(row)}, but {progress(best)} was best"


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("best-first", {}),
        ("best-first-anchor", {"per_host": 3}),
        ("breadth-first", {"host_budget": 12}),
        ("random", {"delay": 0.0}),
    ],
)
def test_fetched_page_is_best_of_ready_hosts(web: Web, strategy: str, options: dict[str, Any]) -> None:
    async def audit() -> Auditor:
        engine = sim_engine(web, web.query(TOPIC), strategy=strategy, pages=80, **options)
        auditor = Auditor(engine)
        plant(engine, web.seeds(TOPIC))
        async for _ in engine.run():
            pass
        return auditor

    auditor = run_virtual(audit())
    assert auditor.takes > 80
    assert auditor.contested > 20


class OneBusyPage:
    """Web of one host whose first page answers 503 with Retry-After for a while."""

    front = "http://one.localhost/"

    def __init__(self, seconds: str) -> None:
        self.seconds = seconds

    def counts(self, url: str) -> bool:
        return True

    def response(self, url: str, *, headers: Any = None, version: int = 0) -> ServedResponse:
        if url.endswith("/robots.txt"):
            return ServedResponse(404, [], b"")
        if url == self.front and version == 0:
            return ServedResponse(503, [("Retry-After", self.seconds)], b"busy")
        return ServedResponse(200, [("Content-Type", "text/html")], b"<title>Reef</title>coral <a href=/x>reef</a>")


def test_retry_after_survives_resume(tmp_path: Path) -> None:
    web = OneBusyPage("120")

    async def first() -> float:
        log = SqliteLog(tmp_path / "crawl.sqlite")
        engine = sim_engine(web, "coral reef", log)
        plant(engine, [web.front])
        running = engine.run()
        async for visit in running:
            if visit.outcome == "busy":
                break
        await leave(running)
        log.close()
        assert visit.retry_at - visit.ended == pytest.approx(120.0)
        return visit.retry_at

    retry_at = run_virtual(first())

    async def second() -> list[Any]:
        log = SqliteLog(tmp_path / "crawl.sqlite")
        engine = sim_engine(web, "coral reef", log)
        engine.space.transport.request_counts[web.front] = 1  # continue with the same server state
        engine.replay(log)
        row = engine.table.row_of[web.front]
        assert engine.table.state[row] == OPEN
        assert engine.table.attempts[row] == 1
        visits = [visit async for visit in engine.run()]
        log.close()
        assert [visit.attempt for visit in visits if visit.node == web.front] == [2]
        return hits_of(engine)

    hits = run_virtual(second(), start=20.0)
    assert [hit.path for hit in hits] == ["/", "/x"]  # robots.txt is not requested again
    assert EPOCH + hits[0].started >= retry_at


@pytest.mark.paper("batsakis-synchronisation", "rules-seen-urls")
def test_recorded_pages_are_not_fetched_again(web: Web, tmp_path: Path) -> None:
    path, start = tmp_path / "crawl.sqlite", 0.0
    turns = random.Random(5)
    done: Counter[str] = Counter()
    twice = 0
    asked: set[str] = set()
    for run in range(8):

        async def some(run: int = run, known: frozenset[str] = frozenset(done)) -> tuple[float, list[Any]]:
            log = SqliteLog(path)
            engine = sim_engine(web, web.query(TOPIC), log)
            engine.replay(log)
            if run == 0:
                plant(engine, web.seeds(TOPIC))
            left, running = turns.randrange(5, 40), engine.run()
            async for _ in running:
                left -= 1
                if not left:
                    break
            await leave(running)
            for visit in visits_of(list(log)):
                if visit.kind != "robots" and not visit.retry_at:
                    done[visit.node] += 1
            log.close()
            hits = hits_of(engine)
            again = {f"http://{hit.host}{hit.path}" for hit in hits} & known
            assert not again
            return clock() - EPOCH, hits

        start, hits = run_virtual(some(), start=start + 3.0)
        urls = [f"http://{hit.host}{hit.path}" for hit in hits if hit.path != "/robots.txt"]
        twice += len(set(urls) & asked)
        asked.update(urls)
    assert len(done) > 70
    assert twice > 0, "nothing was in flight at a break: the test proves nothing"


def test_nodes_have_one_final_visit(lived: dict[str, list[Event]]) -> None:
    for events in lived.values():
        final = Counter(
            visit.node for visit in visits_of(events) if visit.kind in ("page", "redirect") and not visit.retry_at
        )
        assert set(final.values()) == {1}
        assert {visit.outcome for visit in visits_of(events) if visit.retry_at} <= {
            "busy",
            "unreachable",
            "timeout",
            "broken",
        }


def test_robots_rules_survive_replay(web: Web, lived: dict[str, list[Event]]) -> None:
    events = lived["random"]
    known = {visit.origin for visit in visits_of(events) if visit.kind == "robots" and "body" in visit.data}
    start = max(visit.ended for visit in visits_of(events)) - EPOCH + 5.0

    async def ask() -> None:
        engine = sim_engine(web, web.query(TOPIC))
        engine.replay(events)
        assert isinstance(engine.space, WebSpace)
        for node in known:
            prerequisite = engine.space.prerequisite(node)
            assert prerequisite is None or isinstance(prerequisite, tuple)

    assert len(known) > 10
    run_virtual(ask(), start=start)


def test_breaking_off_emits_no_warning(web: Web) -> None:
    async def brief() -> None:
        engine = sim_engine(web, web.query(TOPIC))
        plant(engine, web.seeds(TOPIC))
        running = engine.run()
        async for _ in running:
            if engine.in_flight:
                break
        else:
            raise AssertionError("no visit was recorded while another was in flight")
        await running.aclose()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run_virtual(brief())
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


def test_unrecorded_visits_are_limited_by_concurrency(web: Web) -> None:
    async def count() -> int:
        engine = sim_engine(
            web,
            web.query(TOPIC),
            strategy="breadth-first",
            latency=(0.1, 0.1),
            delay=0.0,
            per_host=4,
            pages=80,
        )
        space, most = engine.space, 0
        assert isinstance(space, WebSpace)
        transport = space.transport
        fetch, sent = transport.fetch, 0

        async def counted(*args: Any) -> Any:
            nonlocal most, sent
            sent += 1
            recorded = sum(1 for visit in visits_of(list(engine.log)) if visit.outcome not in ("denied", "loop"))
            most = max(most, sent - recorded)
            return await fetch(*args)

        transport.fetch = counted  # type: ignore[method-assign]
        plant(engine, web.seeds(TOPIC))
        async for _ in engine.run():
            await asyncio.sleep(0)
        return most

    assert run_virtual(count()) <= 8


@pytest.mark.parametrize("options", [{"delay": 0.0}, {"delay": 0.05, "per_host": 3}], ids=["no delay", "three at once"])
def test_robots_is_requested_once(options: dict[str, Any]) -> None:
    web = Web(pages=400, hosts=40, traps=())

    async def count() -> Counter[str]:
        engine = sim_engine(web, web.query(TOPIC), strategy="breadth-first", latency=(0.1, 0.1), pages=150, **options)
        plant(engine, web.seeds(TOPIC))
        async for _ in engine.run():
            pass
        return Counter(hit.host for hit in hits_of(engine) if hit.path == "/robots.txt")

    asked = run_virtual(count())
    assert len(asked) > 20
    assert set(asked.values()) == {1}


class Unreadable(OneBusyPage):
    """Web with a robots.txt that crashes its parser."""

    def response(self, url: str, *, headers: Any = None, version: int = 0) -> ServedResponse:
        if url.endswith("/robots.txt"):
            return ServedResponse(200, [("Content-Type", "text/plain")], b"User-agent: *\nDisallow: /\n")
        return super().response(url, headers=headers, version=1)


def test_crash_in_robots_txt_keeps_host_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*args: Any) -> None:
        raise ArithmeticError("a bug")

    monkeypatch.setattr(WebSpace, "_finish_robots", crash)
    web = Unreadable("1")

    async def visits() -> list[str]:
        engine = sim_engine(web, "coral reef", patience=1.0)
        plant(engine, [web.front])
        return [visit.outcome async for visit in engine.run()]

    assert run_virtual(visits()) == ["crashed"]
