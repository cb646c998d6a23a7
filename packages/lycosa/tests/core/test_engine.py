"""Tests of the crawl loop on graphs: order, budgets, redirects, failures, prerequisites and records."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.core.budget import Budget
from lycosa.core.composite import Greedy
from lycosa.core.engine import Engine
from lycosa.core.protocols import NEVER, Space
from lycosa.core.table import MAX_HOPS
from lycosa.core.types import (
    ArchivePlace,
    Exchange,
    Judgement,
    Label,
    Links,
    Outcome,
    Page,
    Seed,
    Setting,
    Task,
    Visit,
)
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.store.log import MemoryLog
from lycosa.strategies.baselines import BreadthFirst
from lycosa.strategies.best_first import BestFirst
from lycosa.testweb.simulation import clock, run_virtual
from lycosa.text.vocabulary import Vocabulary


def engine(space: Space, seeds: Iterable[str] = ("a",), *, best: bool = False, **rest: Any) -> Engine:
    """Return an engine on a space, after its seeds."""
    log = MemoryLog()
    guide = BestFirst() if best else BreadthFirst()
    made = Engine(space, rest.pop("topic", SpaceJudge()), Greedy(guide, "arm"), log, clock=clock, **rest)
    for seed in seeds:
        log.append(Seed(seed))
        made.fold(Seed(seed))
    return made


def run(made: Engine) -> list[Visit]:
    """Return all visits of a run, in virtual time."""

    async def all_of_them() -> list[Visit]:
        return [visit async for visit in made.run()]

    return run_virtual(all_of_them())


def nodes(visits: Iterable[Visit]) -> list[str]:
    return [visit.node for visit in visits]


class Scripted(Space):
    """Space with scripted pages; nodes in `slow` take that many seconds."""

    def __init__(self, pages: Mapping[str, Page], slow: Mapping[str, float] | None = None) -> None:
        self.pages = dict(pages)
        self.slow = slow or {}
        self.asked: list[str] = []
        self.most = self._now = 0

    async def visit(self, task: Task) -> Page:
        self.asked.append(task.node)
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(self.slow.get(task.node, 0.01))
        self._now -= 1
        return self.pages.get(task.node, Page("gone", 404))


def ok(*links: str, size: int = 10) -> Page:
    return Page("ok", 200, links=Links.to(*links), size=size, data={"alpha": [0.0] * len(links)})


def to(target: str) -> Page:
    return Page("redirect", 301, "redirect", links=Links.to(target))


def test_breadth_first_visits_level_by_level() -> None:
    space = GraphSpace({"a": ["b", "c"], "b": ["d", "a"], "c": ["e", "d"]})
    made = engine(space, concurrency=1)
    assert ["a", "b", "c", "d", "e"] == nodes(run(made))
    assert "nothing left to fetch" == made.ending


@pytest.mark.paper("batsakis-figure-5", "gouriten-online")
def test_best_first_follows_better_page() -> None:
    space = GraphSpace({"a": ["b", "c"], "b": ["b1"], "c": ["c1", "c2"]}, relevance={"c": 1.0, "c2": 0.5})
    assert ["a", "b", "c", "c1", "c2", "b1"] == nodes(run(engine(space, concurrency=1, best=True)))


def test_visit_has_pick_arm_and_priority() -> None:
    space = GraphSpace({"a": ["b"]}, relevance={"a": 0.8}, alpha={("a", "b"): 0.4})
    first, second = run(engine(space, best=True, judge_name="judge"))
    assert (1, "arm", float("inf"), 0.8, "judge") == (
        first.pick,
        first.arm,
        first.priority,
        first.relevance,
        first.judge,
    )
    assert 2 == second.pick
    assert pytest.approx(0.6) == second.priority
    assert [pytest.approx(0.4)] == first.links.link_relevances.tolist()


@pytest.mark.paper("personalized-speed", "rules-threads")
def test_concurrency_is_used_and_not_exceeded() -> None:
    space = Scripted({"a": ok(*"bcdefghi"), **{node: ok() for node in "bcdefghi"}})
    run(engine(space, concurrency=3))
    assert 3 == space.most


def test_slow_page_does_not_delay_others() -> None:
    space = Scripted({"a": ok("b", "c"), "b": ok(), "c": ok("d"), "d": ok()}, slow={"b": 9.0})
    assert ["a", "c", "d", "b"] == nodes(run(engine(space, concurrency=2)))


def chain(n: int) -> dict[str, Sequence[str]]:
    """Return a graph with links from the first node to all others."""
    return {"a": [f"n{i}" for i in range(n)]}


@pytest.mark.paper("otie-end")
@pytest.mark.parametrize("concurrency", [1, 8])
def test_page_budget_is_exact(concurrency: int) -> None:
    made = engine(GraphSpace(chain(50)), budget=Budget(pages=7), concurrency=concurrency)
    assert 7 == len(run(made))
    assert "page budget spent" == made.ending


@pytest.mark.paper("gouriten-budget")
def test_page_budget_counts_pages_only() -> None:
    space = Scripted({"a": ok("b", "c", "d", "e"), "b": to("x"), "x": ok(), "d": ok(), "e": ok()})
    made = engine(space, budget=Budget(pages=3), concurrency=1)
    assert ["a", "b", "c", "d", "e"] == nodes(run(made))
    assert {"ok": 3, "redirect": 1, "gone": 1} == dict(made.tally.outcomes)


@pytest.mark.paper("batsakis-expansion")
def test_byte_budget_ends_run() -> None:
    space = Scripted({"a": ok(*"bcde", size=60), **{node: ok(size=60) for node in "bcde"}})
    made = engine(space, budget=Budget(bytes=100), concurrency=1)
    assert (2, "byte budget spent", 120) == (len(run(made)), made.ending, made.tally.bytes)


def test_time_budget_ends_run() -> None:
    space = Scripted({"a": ok(*"bcde"), **{node: ok() for node in "bcde"}}, slow=dict.fromkeys("abcde", 1.0))
    made = engine(space, budget=Budget(seconds=2.5), concurrency=1)
    assert ["a", "b", "c"] == nodes(run(made))
    assert "time budget spent" == made.ending


class Hosts(GraphSpace):
    """Graph in which the first letter of a node is its host."""

    def host_key(self, node: str) -> str:
        return node[0]


def test_host_budget_limits_each_host() -> None:
    made = engine(Hosts({"a": ["a1", "a2", "a3", "b1", "b2", "b3"]}), host_budget=2)
    assert ["a", "a1", "b1", "b2"] == sorted(nodes(run(made)))
    assert "host budgets spent" == made.ending


def test_page_budget_includes_earlier_runs() -> None:
    first = engine(GraphSpace(chain(50)), budget=Budget(pages=5))
    run(first)
    second = Engine(
        GraphSpace(chain(50)), SpaceJudge(), Greedy(BreadthFirst()), MemoryLog(), clock=clock, budget=Budget(pages=8)
    )
    second.replay(first.log)
    assert 3 == len(run(second))


def test_request_budget_ignores_revisits_of_watch() -> None:
    made = engine(GraphSpace({"a": ["b"], "b": []}), budget=Budget(requests=3))
    for number in range(5):
        made.fold(Visit("a", "revisit", "unchanged", number, data={"follows": 1}))
    assert ["a", "b"] == nodes(run(made))
    assert (7, 5) == (made.tally.requests, made.tally.spent["looks again"])


def test_end_of_run_is_recorded() -> None:
    made = engine(GraphSpace({"a": ["b"]}))
    run(made)
    last = list(made.log)[-1]
    assert isinstance(last, Setting)
    expected = {
        "reason": "nothing left to fetch", "pages": 2, "requests": 2, "spent": {"pages": 2}, "bytes": 0,
        "held": 0, "groups": [],
    }  # fmt: skip
    assert ("end", expected) == (last.key, last.value)


def test_requests_are_counted() -> None:
    moved = Page("redirect", kind="redirect", links=Links.to("d"))
    space = Scripted({"a": ok("b", "c", "e"), "b": Page("gone"), "c": moved, "d": ok(), "e": Page("unwanted")})
    made = engine(space)
    run(made)
    assert (5, 2, 3) == (made.tally.requests, made.tally.pages, made.tally.wasted)
    again = Engine(space, SpaceJudge(), Greedy(BreadthFirst()), MemoryLog(), clock=clock)
    again.replay(made.log)
    assert made.tally == again.tally


def test_stop_records_visits_in_flight() -> None:
    space = Scripted({"a": ok(*"bcdefg"), **{node: ok() for node in "bcdefg"}}, slow={"b": 0.5, "c": 1.0, "d": 2.0})
    made = engine(space, concurrency=3)

    async def stopped() -> tuple[list[str], list[str]]:
        seen = []
        asked: list[str] = []
        async for visit in made.run():
            seen.append(visit.node)
            if len(seen) == 2:
                made.stop()
                asked = [*seen, *(task.node for task in made.in_flight.values())]
        return asked, seen

    asked, seen = run_virtual(stopped())
    assert sorted(asked) == sorted(seen)
    assert len(seen) < 7
    assert "stopped" == made.ending


def test_stop_before_run_fetches_nothing() -> None:
    made = engine(GraphSpace({"a": ["b"]}))
    made.stop()
    assert [] == run(made)


def test_breaking_off_cancels_visits_in_flight() -> None:
    space = Scripted({"a": ok("b", "c"), "b": ok(), "c": ok()}, slow={"b": 99.0, "c": 99.0})
    made = engine(space, concurrency=3)

    async def broken_off() -> int:
        visits = made.run()
        await anext(visits)
        await asyncio.sleep(1)
        await visits.aclose()  # type: ignore[attr-defined]  # it is an async generator
        return len(asyncio.all_tasks())

    assert 1 == run_virtual(broken_off())
    assert ["a"] == nodes(event for event in made.log if isinstance(event, Visit))
    assert {} == made.in_flight


class DelayedGraph(GraphSpace):
    """Graph in which one host is ready only after a while."""

    def __init__(self, seconds: float) -> None:
        super().__init__({"a": ["b"]})
        self.until = clock() + seconds

    def ready(self, host_key: str) -> tuple[float, str]:
        return self.until, "shy"


def test_run_waits_for_host_within_patience() -> None:
    assert ["a", "b"] == nodes(run(engine(DelayedGraph(200.0), patience=300.0)))


def test_run_ends_beyond_patience() -> None:
    made = engine(DelayedGraph(400.0), patience=300.0)
    assert [] == run(made)
    assert "the remaining hosts asked to be left alone for now" == made.ending


def test_run_ends_without_waiting_if_nothing_left() -> None:
    class Resting(GraphSpace):
        until = 0.0

        async def visit(self, task: Task) -> Page:
            self.until = clock() + 60.0
            return await super().visit(task)

        def ready(self, host_key: str) -> tuple[float, str]:
            return self.until, "delay"

    async def seconds() -> float:
        begun = clock()
        async for _ in engine(Resting({"a": []})).run():
            pass
        return clock() - begun

    assert run_virtual(seconds()) < 1.0


def test_redirect_target_joins_frontier() -> None:
    visits = run(engine(Scripted({"a": to("b"), "b": ok()})))
    assert [("a", "redirect", 0), ("b", "page", 1)] == [(v.node, v.kind, v.hops) for v in visits]


def test_redirects_beyond_max_hops_are_a_loop() -> None:
    pages = {f"n{i}": to(f"n{i + 1}") for i in range(20)}
    visits = run(engine(Scripted(pages), ["n0"]))
    assert MAX_HOPS + 1 == len(visits)
    assert ("page", "loop", 0) == (visits[-1].kind, visits[-1].outcome, len(visits[-1].links))


def test_redirect_cycle_ends() -> None:
    assert ["a", "b"] == nodes(run(engine(Scripted({"a": to("b"), "b": to("a")}))))


def test_exception_of_space_is_recorded() -> None:
    class Buggy(GraphSpace):
        async def visit(self, task: Task) -> Page:
            if task.node == "b":
                raise ZeroDivisionError("oops")
            return await super().visit(task)

    visits = {visit.node: visit for visit in run(engine(Buggy({"a": ["b", "c"]})))}
    assert ("crashed", "ZeroDivisionError: oops", "ok") == (
        visits["b"].outcome, visits["b"].note, visits["c"].outcome
    )  # fmt: skip


def test_synchronous_exception_of_space_is_recorded() -> None:
    class Hasty(GraphSpace):
        def visit(self, task: Task) -> Any:
            raise ZeroDivisionError("oops")

    assert ["crashed"] == [visit.outcome for visit in run(engine(Hasty({"a": []})))]


def test_cancellation_of_space_is_recorded() -> None:
    class Cancelling(GraphSpace):
        async def visit(self, task: Task) -> Page:
            if task.node == "b":
                raise asyncio.CancelledError
            return await super().visit(task)

    visits = {visit.node: visit.outcome for visit in run(engine(Cancelling({"a": ["b", "c"]})))}
    assert {"a": "ok", "b": "crashed", "c": "ok"} == visits


def test_failure_with_retry_time_is_retried() -> None:
    class Flaky(Space):
        async def visit(self, task: Task) -> Page:
            return Page("timeout", retry_at=clock() + 5) if task.attempt < 3 else Page("ok")

    visits = run(engine(Flaky(), topic=Plain()))
    assert [(1, "timeout"), (2, "timeout"), (3, "ok")] == [(v.attempt, v.outcome) for v in visits]


class Plain:
    threshold = 0.5

    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(1.0, np.zeros(len(page.links), np.float32))

    def learn(self, visit: Visit) -> None:
        pass


def test_judge_reads_pages_only() -> None:
    space = Scripted({"a": to("b"), "b": ok()})
    first, second = run(engine(space, topic=Plain(), judge_name="plain"))
    assert (0.0, "", 1.0, "plain") == (first.relevance, first.judge, second.relevance, second.judge)


def test_nan_relevance_is_recorded_as_zero() -> None:
    class Confused(Plain):
        def judge(self, page: Page, reading: Any) -> Judgement:
            return Judgement(float("nan"), np.full(len(page.links), np.nan, np.float32))

    visit = run(engine(GraphSpace({"a": ["b"]}), topic=Confused()))[0]
    assert (0.0, [0.0]) == (visit.relevance, visit.links.link_relevances.tolist())


@pytest.mark.parametrize("facet", [False, True])
def test_wrong_number_of_link_relevances_is_refused(facet: bool) -> None:
    class Short(Plain):
        def judge(self, page: Page, reading: Any) -> Judgement:
            whole, short = np.zeros(len(page.links), np.float32), np.zeros(1, np.float32)
            return Judgement(1.0, whole, facets={"url": short}) if facet else Judgement(1.0, short)

    expected = "1 values of the facet 'url' for 2 links of a" if facet else "1 link relevances for 2 links of a"
    with raises_input_error("bad-judge", expected):
        run(engine(GraphSpace({"a": ["b", "c"]}), topic=Short()))


def test_relevance_is_a_python_float() -> None:
    class Numeric(Plain):
        def judge(self, page: Page, reading: Any) -> Judgement:
            return Judgement(np.float32(0.5), np.zeros(len(page.links), np.float32))  # type: ignore[arg-type]

    assert float is type(run(engine(GraphSpace({"a": []}), topic=Numeric()))[0].relevance)


class GatedGraph(GraphSpace):
    """Graph in which "b" is denied, and "c" has a prerequisite, during which its host is busy."""

    def __init__(self) -> None:
        super().__init__({"a": ["b", "c"]})
        self.key = self.busy = False
        self.fetched: list[tuple[str, str]] = []
        self.key_ready = 0.0

    def host_key(self, node: str) -> str:
        return "keys" if node == "key" else "pages"

    def ready(self, host_key: str) -> tuple[float, str]:
        if host_key == "keys":
            return self.key_ready, "the locksmith is out"
        return (NEVER if self.busy else 0.0), "the key"

    def prerequisite(self, node: str) -> Task | tuple[Outcome, str] | None:
        if node == "b":
            return "denied", "private"
        return Task("key", "robots", origin=node) if node == "c" and not self.key else None

    def visit(self, task: Task) -> Any:
        self.fetched.append((task.kind, task.node))
        self.busy = task.kind == "robots"
        return self._fetch(task)

    async def _fetch(self, task: Task) -> Page:
        await asyncio.sleep(0.01)
        self.busy = False
        return Page("ok", data={"key": 1}) if task.kind == "robots" else await super().visit(task)

    def learn(self, visit: Visit) -> None:
        self.key = self.key or "key" in visit.data


def test_refusal_is_recorded_without_request() -> None:
    space = GatedGraph()
    visits = {visit.node: visit for visit in run(engine(space))}
    assert ("denied", "private", "page") == (visits["b"].outcome, visits["b"].note, visits["b"].kind)
    assert ("page", "b") not in space.fetched


@pytest.mark.parametrize("concurrency", [1, 2, 8])
def test_prerequisite_comes_first(concurrency: int) -> None:
    space = GatedGraph()
    visits = run(engine(space, concurrency=concurrency))
    assert [("page", "a"), ("robots", "key"), ("page", "c")] == space.fetched
    prerequisite = next(visit for visit in visits if visit.kind == "robots")
    assert ("key", "c") == (prerequisite.node, prerequisite.origin)
    assert [1, 2, 3] == [visit.pick for visit in visits if visit.kind == "page"]


def test_prerequisite_waits_for_its_own_host() -> None:
    async def crawl() -> tuple[list[str], float]:
        space = GatedGraph()
        space.key_ready = clock() + 7.5
        seen = [visit.node async for visit in engine(space, concurrency=2).run()]
        return seen, clock() - space.key_ready

    seen, late = run_virtual(crawl())
    assert ["a", "b", "key", "c"] == seen
    assert 0.0 <= late < 1.1


def test_failing_prerequisite_is_not_repeated_forever() -> None:
    class Closed(GatedGraph):
        def ready(self, host_key: str) -> tuple[float, str]:
            return (NEVER if self.fetched else 0.0), "closed"

        def learn(self, visit: Visit) -> None:
            pass

    space = Closed()
    made = engine(space, ["c"])
    run(made)
    assert [("robots", "key")] == space.fetched


class ArchiveStub:
    """Archive that records the length of the log at each call."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def append(self, visit: Visit, exchange: Exchange) -> ArchivePlace:
        self.kept.append(visit.node)
        return ArchivePlace("file", len(self.kept), 1)

    def close(self) -> None:
        pass


def test_bytes_are_archived_before_event() -> None:
    with_bytes = ok("b")
    with_bytes.exchange = Exchange(b"GET", b"HTTP/1.1 200 OK", [], b"body", b"d" * 32)
    shelf = ArchiveStub()
    made = engine(Scripted({"a": with_bytes, "b": ok()}), archive=shelf)
    run(made)
    visits = [event for event in made.log if isinstance(event, Visit)]
    assert (["a"], ArchivePlace("file", 1, 1), b"d" * 32, ArchivePlace()) == (
        shelf.kept, visits[0].place, visits[0].digest, visits[1].place
    )  # fmt: skip


def test_visits_are_recorded_once_in_order() -> None:
    made = engine(GraphSpace({"a": ["b", "c"], "c": ["d"]}), concurrency=3)
    visits = run(made)
    assert visits == [event for event in made.log if isinstance(event, Visit)]


def test_reader_reads_each_page_once() -> None:
    space = Scripted({"a": Page("ok", marked="coral reefs", data={"alpha": []})})
    visit = run(engine(space, reader=Vocabulary()))[0]
    assert (["coral", "reef"], [1, 1]) == (visit.terms.new, visit.terms.counts.tolist())
    assert visit.simhash


def test_replay_restores_tally_and_frontier() -> None:
    graph = GraphSpace({"a": [f"n{i}" for i in range(20)], "n3": ["x"]}, relevance={"n1": 1.0, "n3": 0.5})
    live = engine(graph, budget=Budget(pages=9), concurrency=4)
    run(live)
    again = Engine(graph, SpaceJudge(), Greedy(BreadthFirst()), MemoryLog(), clock=clock)
    again.replay(live.log)
    assert live.tally == again.tally
    assert live.table.nodes == again.table.nodes
    assert live.table.rows().tolist() == again.table.rows().tolist()
    assert (2, 9) == (live.tally.relevant, live.tally.pages)


def test_labels_and_settings_are_folded() -> None:
    made = engine(GraphSpace({}))
    made.fold(Label("a", True))
    made.fold(Setting("threshold", 0.3))
    assert {"threshold": 0.3} == made.tally.settings


def test_seed_out_of_scope_does_not_join() -> None:
    made = engine(GraphSpace({"a": ["b"]}), scope=lambda node, depth: False)
    assert [] == run(made)


def test_batch_arrivals_records_together() -> None:
    class Prompt(Scripted):
        async def visit(self, task: Task) -> Page:
            return self.pages[task.node]

    pages = {"a": ok(*"bcdefg"), "b": ok("h", "i"), **{node: ok() for node in "cdefghi"}}
    for together, known in ((False, [*range(1, 10)]), (True, [1, *[7] * 6, 9, 9])):
        made = engine(Prompt(pages), concurrency=7)
        made.batch_arrivals = together

        async def listen(made: Engine) -> list[tuple[Visit, int, int, int]]:
            log = made.log
            return [
                (visit, made.number, sum(isinstance(event, Visit) for event in log), made.tally.picks)
                async for visit in made.run()
            ]

        expected = run_virtual(listen(made))
        events = list(made.log)
        assert list("abcdefghi") == nodes(visit for visit, *_ in expected)
        assert all(events[number - 1] is visit for visit, number, *_ in expected)
        assert known == [recorded for *_, recorded, _ in expected]
        assert [1, *[7] * 6, 9, 9] == [picks for *_, picks in expected]
