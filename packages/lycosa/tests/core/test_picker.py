"""Tests of the picker, which mixes new and due visits within one budget."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from lycosa.core.budget import EXHAUSTED, NOTHING_DUE, REQUESTS_SPENT, STOPPED, Budget, Pace
from lycosa.core.composite import Greedy
from lycosa.core.engine import Engine
from lycosa.core.protocols import NEVER, Space
from lycosa.core.table import Table
from lycosa.core.types import Event, Links, Page, Seed, Task, Visit
from lycosa.judges.space_judge import SpaceJudge
from lycosa.store.log import MemoryLog
from lycosa.strategies import strategy as named
from lycosa.strategies.baselines import BreadthFirst
from lycosa.testweb.simulation import EPOCH, clock, run_virtual


class Scripted(Space):
    """Space with scripted pages for first visits and revisits."""

    def __init__(self, first: Mapping[str, Page], later: Mapping[str, Page] | None = None, slow: float = 0.01) -> None:
        self.first, self.later, self.slow = dict(first), dict(later or {}), slow
        self.asked: list[tuple[str, str, float]] = []

    async def visit(self, task: Task) -> Page:
        self.asked.append((task.kind, task.node, clock() - EPOCH))
        begun = clock()
        await asyncio.sleep(self.slow)
        page = (self.later if task.follows else self.first).get(task.node, Page("gone", 404))
        return replace(page, started=begun, ended=clock(), address="127.0.0.1", data=dict(page.data), flags=[])


class ListScheduler:
    """Scheduler of a list of nodes with due times."""

    refreshes, completes = True, False

    def __init__(self, *due: tuple[str, float], share: float = 0.5, explores: bool = True, same: str = "") -> None:
        self.due = sorted(((EPOCH + at, node) for node, at in due), key=lambda pair: pair[0])
        self.share, self.explores, self.same = share, explores, same
        self.kept = self.total = 0
        self.started: dict[str, float] = {}
        self.row: dict[str, int] = {}
        self.flying: dict[str, Task] = {}
        self.given_back: list[tuple[str, float]] = []

    def reconsider(self, *given: object) -> None: ...

    def wants_turn(self) -> bool:
        return self.kept + 1 <= self.share * (self.total + 1)

    def pick(self, number: int, now: float) -> Task | None:
        for at, node in self.due:
            if at <= now and node in self.row:
                self.due.remove((at, node))
                follows = self.started.get(node, 0.0)
                task = Task(
                    node, "revisit" if follows else "page", self.row[node], pick=number, follows=follows, due=True
                )
                self.flying[node] = task
                return task
        return None

    def give_back(self, task: Task, until: float = 0.0) -> None:
        if self.flying.pop(task.node, None) is not None:
            self.given_back.append((task.node, until))
            self.due.insert(0, (until, task.node))

    def next_due(self, now: float) -> float:
        return min((at for at, node in self.due if node in self.row), default=NEVER)

    def is_same(self, visit: Visit, page: Page) -> bool:
        return visit.node == self.same

    def compare(self, visit: Visit, page: Page) -> None:
        if visit.follows and visit.outcome in ("ok", "redirect", "gone"):
            what = {"ok": "changed", "redirect": "moved", "gone": "vanished"}[visit.outcome]
            visit.data["change"] = {"what": what}

    def learn(self, visit: Visit, table: Table) -> None:
        self.total += 1
        self.kept += visit.follows > 0
        self.flying.pop(visit.node, None)
        if visit.outcome == "redirect":
            self.row[visit.links.urls[0]] = table.row_of[visit.links.urls[0]]
        elif visit.node in table.row_of:
            self.started[visit.node], self.row[visit.node] = visit.started, table.row_of[visit.node]


def ok(*links: str, relevance: float = 0.0) -> Page:
    return Page("ok", 200, links=Links.to(*links), size=10, data={"beta": relevance, "alpha": [0.0] * len(links)})


def to(target: str) -> Page:
    return Page("redirect", 301, links=Links.to(target))


def engine(space: Space, scheduler: ListScheduler, events: Iterable[Event] = (Seed("a"),), **rest: Any) -> Engine:
    log = MemoryLog()
    guide = rest.pop("strategy", None) or Greedy(BreadthFirst(), "arm")
    rest.setdefault("concurrency", 1)
    made = Engine(space, SpaceJudge(), guide, log, clock=clock, scheduler=scheduler, **rest)  # type: ignore[arg-type]
    for event in events:
        log.append(event)
    made.replay(events)
    return made


async def visits_of(made: Engine, most: int = 0) -> list[Visit]:
    found = []
    visits = made.run()
    async for visit in visits:
        found.append(visit)
        if len(found) == most:
            break
    await visits.aclose()
    return found


def run(made: Engine, max_visits: int = 0) -> list[Visit]:
    return run_virtual(visits_of(made, max_visits))


def visited_nodes(visits: Iterable[Visit]) -> list[str]:
    """Return the visited nodes; revisits have an exclamation mark."""
    return [visit.node + "!" * (visit.kind == "revisit") for visit in visits]


CHAIN = {"a": ok("b"), "b": ok("c"), "c": ok("d"), "d": ok()}


def test_revisits_add_links_but_are_not_pages() -> None:
    space = Scripted({"a": ok("b", relevance=1.0), "b": ok(), "n": ok()}, {"a": ok("b", "n", relevance=1.0)})
    made = engine(space, ListScheduler(("a", 60)))
    visits = run(made)
    assert ["a", "b", "a!", "n"] == visited_nodes(visits)
    assert (visits[0].started, {"what": "changed"}) == (visits[2].follows, visits[2].data["change"])
    assert (3, 1, 1, {"changed": 1}) == (
        made.tally.pages, made.tally.relevant, made.tally.revisits, dict(made.tally.changes)
    )  # fmt: skip
    assert EXHAUSTED == made.ending


def test_unchanged_page_is_not_judged() -> None:
    space = Scripted({"a": ok()}, {"a": ok("n", relevance=1.0)})
    made = engine(space, ListScheduler(("a", 60), same="a"))
    visits = run(made)
    assert ["a", "a!"] == visited_nodes(visits)
    assert ("unchanged", 0, 0.0) == (visits[1].outcome, len(visits[1].links), visits[1].relevance)
    assert "n" not in made.table.row_of


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.5, ["a", "a!", "b", "a!", "c", "a!", "d", "a!"]),  # alternating, starting with a new page
        (0.25, ["a", "b", "c", "a!", "d", "a!", "a!", "a!"]),  # due visits continue when there are no new pages
        (0.0, ["a", "b", "c", "d", "a!", "a!", "a!", "a!"]),
        (1.0, ["a", "a!", "a!", "a!", "a!", "b", "c", "d"]),
    ],
)
def test_share_of_revisits_is_kept(share: float, expected: list[str]) -> None:
    scheduler = ListScheduler(*[("a", 0.0)] * 4, share=share)
    assert expected == visited_nodes(run(engine(Scripted(CHAIN, {"a": ok("b")}), scheduler)))


def test_refresh_fetches_due_pages_only() -> None:
    scheduler = ListScheduler(("a", 0.0), explores=False)
    first = engine(Scripted(CHAIN), ListScheduler(), budget=Budget(pages=1))
    run(first)
    made = engine(Scripted({}, {"a": ok("b", "n")}), scheduler, list(first.log))
    assert ["a!"] == visited_nodes(run(made))
    assert NOTHING_DUE == made.ending
    assert ["b", "n"] == [made.table.nodes[row] for row in made.table.rows()]


def test_request_budget_is_per_run() -> None:
    space = Scripted(CHAIN, {"a": ok("b")})
    first = engine(space, ListScheduler(*[("a", 0.0)] * 9), budget=Budget(requests=3))
    assert ["a", "a!", "b"] == visited_nodes(run(first))
    assert REQUESTS_SPENT == first.ending
    again = engine(space, ListScheduler(*[("a", 0.0)] * 9), list(first.log), budget=Budget(requests=2))
    assert ["a!", "c"] == visited_nodes(run(again))


def test_pace_limits_all_requests() -> None:
    space = Scripted(CHAIN, {"a": ok("b")})
    run(engine(space, ListScheduler(("a", 0.0), ("a", 0.0)), pace=Pace(60, burst=0)))
    assert [("page", 0), ("revisit", 60), ("page", 120), ("revisit", 180), ("page", 240), ("page", 300)] == [
        (kind, round(at)) for kind, _, at in space.asked
    ]


def test_pace_is_restored_from_log() -> None:
    space = Scripted(CHAIN)

    async def twice() -> list[int]:
        first = engine(space, ListScheduler(), pace=Pace(60, burst=0), budget=Budget(requests=2))
        await visits_of(first)
        again = engine(space, ListScheduler(), list(first.log), pace=Pace(60, burst=0), budget=Budget(requests=2))
        await visits_of(again)
        return [round(at) for _, _, at in space.asked]

    assert [0, 60, 120, 180] == run_virtual(twice())


def test_run_sleeps_until_next_due() -> None:
    space = Scripted({"a": ok()}, {"a": ok()})
    made = engine(space, ListScheduler(("a", 864_000.0)))
    assert ["a", "a!"] == visited_nodes(run(made))
    assert pytest.approx(864_000.0, abs=0.1) == space.asked[1][2]


def test_moved_page_is_fetched_as_page() -> None:
    space = Scripted({"a": ok("b"), "b": ok(), "z": ok("b")}, {"b": to("z")})
    made = engine(space, ListScheduler(("b", 60)))
    visits = run(made)
    assert ["a", "b", "b!", "z"] == visited_nodes(visits)
    assert ("redirect", "page") == (visits[2].outcome, visits[3].kind)
    assert {"moved": 1} == dict(made.tally.changes)


def test_vanished_page_is_not_a_step() -> None:
    made = engine(Scripted(CHAIN), ListScheduler(("a", 60)))
    assert ["a", "b", "c", "d", "a!"] == visited_nodes(run(made))
    assert {"vanished": 1} == dict(made.tally.changes)


def test_due_row_in_flight_is_postponed() -> None:
    scheduler = ListScheduler(("z", 61), ("b", 60), share=0.0)
    space = Scripted({"a": ok("b"), "b": ok(), "z": ok()}, {"b": to("z")}, slow=5.0)
    made = engine(space, scheduler, concurrency=4)

    async def watch() -> list[str]:
        found = []
        async for visit in made.run():
            found.append(visit.node)
            if len(found) == 3:  # both know z by now
                scheduler.due.append((0.0, "z"))
                scheduler.started.pop("z", None)
            if visit.node == "z":
                scheduler.due.clear()
        return found

    assert ["a", "b", "b", "z"] == run_virtual(watch())
    assert [("z", True)] == [(node, until > EPOCH) for node, until in scheduler.given_back][:1]
    assert not made.frontier.taken


def test_due_first_visit_is_in_flight_for_strategy() -> None:
    scheduler = ListScheduler(("b", 0.0), share=1.0)
    space = Scripted({"a": ok("b", "c"), "b": ok(), "c": ok()}, slow=5.0)
    made = engine(space, scheduler, concurrency=4)

    async def watch() -> list[Visit]:
        found = []
        async for visit in made.run():
            found.append(visit)
            if visit.node == "a":
                scheduler.row["b"] = made.table.row_of["b"]
        return found

    visits = run_virtual(watch())
    assert ["a", "b", "c"] == sorted(visited_nodes(visits))
    assert ["", "arm"] == [visit.arm for visit in sorted(visits[1:], key=lambda visit: visit.node)]
    assert 3 == made.tally.pages


def test_interrupted_run_gives_back_tasks() -> None:
    scheduler = ListScheduler(("a", 0.0), ("b", 0.0), share=1.0)
    made = engine(Scripted({"a": ok("b", "c"), "b": ok(), "c": ok()}, {"a": ok()}, slow=5.0), scheduler, concurrency=4)
    visits = run(made, max_visits=2)
    assert not made.in_flight
    assert not made.frontier.taken
    assert not scheduler.flying
    assert {"a", "b"} - {visit.node for visit in visits if visit.follows} <= {node for _, node in scheduler.due}
    rest = run(made)
    assert sorted(["a", "b", "c", "a!", "b!"]) == sorted(visited_nodes([*visits, *rest]))


def test_stop_picks_no_due_visits() -> None:
    scheduler = ListScheduler(*[("a", 0.0)] * 9)
    made = engine(Scripted(CHAIN, {"a": ok("b")}), scheduler)

    async def watch() -> list[Visit]:
        found = []
        async for visit in made.run():
            found.append(visit)
            if len(found) == 2:
                made.stop()
        return found

    assert ["a", "a!"] == visited_nodes(run_virtual(watch()))
    assert STOPPED == made.ending
    assert 8 == len(scheduler.due)


@pytest.mark.parametrize("name", ["fl_n", "opic", "otie", "lr_sl", "scent,vectors=no", "nr", "mab_window"])
def test_live_and_resumed_runs_agree(name: str) -> None:
    first = {
        "a": ok("b", "c", relevance=0.5),
        "b": ok("d", relevance=0.9),
        "c": ok("a"),
        "d": ok("b", relevance=0.2),
        "z": ok("c"),
    }
    later = {"a": ok("e", "c", relevance=0.1), "b": to("z"), "c": ok("a", "f")}
    due = [("a", 1.0), ("b", 1.0), ("c", 2.0), ("d", 2.0), ("a", 3.0)]
    live = engine(Scripted(first, later), ListScheduler(*due), strategy=named(name, seed=1, budget=50))
    log: list[Event] = [Seed("a"), *run(live, max_visits=8)]
    resumed = engine(Scripted(first, later), ListScheduler(*due), log, strategy=named(name, seed=1, budget=50))
    assert list(live.table.nodes) == list(resumed.table.nodes)
    picked = [
        [made.strategy.pick(20 + number, made.frontier, EPOCH + 100) for number in range(3)] for made in (live, resumed)
    ]
    assert picked[0] == picked[1]
