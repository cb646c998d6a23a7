"""Tests of greedy strategies and their variants: picks, batches and replay."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.core.budget import EXHAUSTED, HOSTS_SPENT, Budget
from lycosa.core.composite import Altered, Batched, Greedy, steer
from lycosa.core.engine import Engine
from lycosa.core.frontier import FREE, HELD, PRUNED, Frontier
from lycosa.core.protocols import Estimator, Strategy
from lycosa.core.scan import ScanFrontier
from lycosa.core.table import Table
from lycosa.core.types import Links, Outcome, Page, Priorities, Rows, Seed, Setting, Step, Task, Visit
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.store.log import MemoryLog
from lycosa.strategies import strategy
from lycosa.strategies.baselines import BreadthFirst
from lycosa.strategies.best_first import BestFirst
from lycosa.strategies.regression import Regression
from lycosa.testweb.simulation import clock, run_virtual


class FixedPriorities:
    """Estimator whose priorities are given by the test."""

    def __init__(self, priorities: Iterable[float], *, sweeping: bool = False) -> None:
        self.priorities = np.array(list(priorities))
        self.sweeping = sweeping

    def learn(self, step: Step, table: Table) -> Rows:
        return table.rows() if self.sweeping else step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return self.priorities[rows]


class Best(BestFirst):
    sweeping = True


def ranked(priorities: list[float], sweeping: bool, host_keys: str = "", **rest: Any) -> tuple[Strategy, Frontier]:
    """Return a strategy and a frontier with rows of these priorities and hosts."""
    made = steer(FixedPriorities(priorities, sweeping=sweeping), "fixed", **rest)
    table = Table(host_key=lambda node: host_keys[int(node)] if host_keys else "")
    frontier = made.frontier(table, lambda host_key: (9.0 if host_key == "r" else 0.0, "rests"), 0, 300.0, 0.0)
    for number in range(len(priorities)):
        made.admit(table.add(str(number), 1), table, frontier)
    return made, frontier


def drawn(made: Strategy, frontier: Frontier, picks: int = 2000) -> Counter[int]:
    """Return how often each row is picked if it is given back at once."""
    found: Counter[int] = Counter()
    for number in range(1, picks + 1):
        row, arm, priority = made.pick(number, frontier, 0.0)
        assert ("fixed", float(frontier.priority[row])) == (arm, priority)
        found[row] += 1
        frontier.untake(row)
    return found


BOTH = pytest.mark.parametrize("sweeping", [False, True])


def test_frontier_class_depends_on_estimator() -> None:
    kinds = []
    for guide in (BreadthFirst(), FixedPriorities([], sweeping=True), Regression("fl"), Regression("sl")):
        made = Greedy(guide).frontier(Table(), lambda host_key: (0.0, ""))
        kinds.append(len(made.weights) if isinstance(made, ScanFrontier) else 0)
    assert [0, 1, 4, 7] == kinds


@BOTH
def test_random_ties_are_reproducible(sweeping: bool) -> None:
    orders = []
    for seed in (1, 2, 1):
        made, frontier = ranked([0.5] * 9 + [0.9], sweeping, ties="random", seed=seed)
        orders.append([made.pick(number, frontier, 0.0).row for number in range(10)])
    assert orders[0] == orders[2] != orders[1]
    assert [[9, *range(9)]] * 2 == [[order[0], *sorted(order[1:])] for order in orders[:2]]
    assert list(range(9)) != orders[0][1:]


@pytest.mark.paper("gouriten-altered-greedy")
@BOTH
def test_altered_q_is_probability_of_best(sweeping: bool) -> None:
    found = drawn(*ranked([0.2, 0.5, 1.0, 0.49, 0.8], sweeping, q=0.7, zeta=0.5))
    assert {1, 2, 4} == set(found)
    assert 0.7 + 0.1 == pytest.approx(found[2] / 2000, abs=0.03)
    assert [0.1, 0.1] == pytest.approx([found[1] / 2000, found[4] / 2000], abs=0.02)


@pytest.mark.parametrize(("zeta", "rows"), [(1.0, {0, 3}), (0.75, {0, 2, 3}), (0.0, {0, 1, 2, 3})])
def test_altered_accepts_negative_maxima(zeta: float, rows: set[int]) -> None:
    assert rows == set(drawn(*ranked([-4.0, -7.0, -5.0, -4.0, -9.0], False, q=0.0, zeta=zeta)))


@BOTH
def test_altered_candidates_are_available_rows(sweeping: bool) -> None:
    made, frontier = ranked([0.9, 0.8, 0.7, PRUNED, 0.6, 0.5], sweeping, "abrabb", q=0.0, zeta=0.0)
    frontier.hold(np.array([0], np.int32), np.array([HELD], np.uint8))
    frontier.take_this(4, 0.0)
    assert {1, 5} == set(drawn(made, frontier, 200))


@BOTH
def test_altered_falls_back_to_held_rows(sweeping: bool) -> None:
    made, frontier = ranked([0.9, 0.6, 0.1], sweeping, q=0.0, zeta=0.5)
    frontier.hold(np.array([0, 1, 2], np.int32), np.array([HELD] * 3, np.uint8))
    assert {0, 1} == set(drawn(made, frontier, 200))
    assert not any(frontier.taken.values())


@BOTH
def test_altered_seeds_come_first(sweeping: bool) -> None:
    made, frontier = ranked([0.5] * 6, sweeping, q=0.0)
    for number in (4, 2):
        made.admit(frontier.table.add_seed(str(number)), frontier.table, frontier)
    assert [2, 4] == [made.pick(number, frontier, 0.0).row for number in (1, 2)]


def test_altered_picks_depend_on_seed_and_pick_number() -> None:
    priorities = [1.0] * 100
    rows = []
    for seed, first in ((1, 1), (1, 41), (2, 1)):
        made, frontier = ranked(priorities, False, q=0.0, zeta=0.0, seed=seed)
        picked = {}
        for number in range(first, 61):
            picked[number] = made.pick(number, frontier, 0.0).row
            frontier.untake(picked[number])
        rows.append([picked[number] for number in range(41, 61)])
    assert rows[0] == rows[1] != rows[2]


def engine(space: GraphSpace, guide: Strategy, seeds: str = "a", **rest: Any) -> Engine:
    """Return an engine on a graph, after its seeds."""
    made = Engine(space, SpaceJudge(), guide, MemoryLog(), clock=clock, **rest)
    for seed in seeds.split():
        made.log.append(Seed(seed))
        made.fold(Seed(seed))
    return made


def run(made: Engine) -> list[str]:
    async def all_of_them() -> list[str]:
        return [visit.node async for visit in made.run()]

    return run_virtual(all_of_them())


LINKS = {"a": ["b", "c", "d"], "b": ["x", "y"], "c": ["z"]}
ALPHAS = {"ab": 0.5, "ac": 0.4, "ad": 0.1, "bx": 0.9, "by": 0.2, "cz": 0.95}
GRAPH = GraphSpace(LINKS, alpha={(pair[0], pair[1]): alpha for pair, alpha in ALPHAS.items()})


@pytest.mark.paper("gouriten-get-batch-size")
@BOTH
@pytest.mark.parametrize(
    ("batch", "order"),
    [
        (1, "a b x c z y d"),  # the best known row
        (2, "a bc zx yd"),
        (3, "a bcd zxy"),
        (99, "a bcd zxy"),
    ],
)
def test_batched_new_rows_join_at_end(batch: int, order: str, sweeping: bool) -> None:
    guide = (Best if sweeping else BestFirst)(page=0.0, anchor=1.0)
    assert list(order.replace(" ", "")) == run(engine(GRAPH, steer(guide, batch=batch), concurrency=1))


@pytest.mark.paper("gouriten-batch")
def test_batched_dry_random_picks_new_rows() -> None:
    orders = {
        "".join(run(engine(GRAPH, steer(BestFirst(0.0, 1.0), seed=seed, batch=99, dry="random"), concurrency=1)))
        for seed in range(30)
    }
    assert {"abcd"} == {order[:4] for order in orders}
    assert {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"} == {order[4:] for order in orders}
    ranked = run(engine(GRAPH, steer(BestFirst(0.0, 1.0), batch=99), concurrency=1))
    assert list("abcdzxy") == ranked


def test_batched_changed_rows_are_stored_once() -> None:
    made, frontier = ranked([0.5] * 10, sweeping=True, batch=1000)
    assert isinstance(made, Batched)
    table = frontier.table
    for number in range(1, 40):
        step = table.absorb(Visit("9", "page", "unreachable", number, retry_at=1.0))
        assert step is not None
        made.learn(step, table, frontier)
        assert sum(map(len, made._changed)) <= 2 * len(table)
    assert list(range(10)) == made._rows().tolist()


def test_batched_dry_random_refuses_regression() -> None:
    with pytest.raises(ValueError, match="dry=random cannot be used with a regression"):
        steer(Regression(), batch=5, dry="random")


@BOTH
def test_batched_first_batch_follows_all_seeds(sweeping: bool) -> None:
    """The links of a batch join after the batch, but those of all seeds join before the first batch, as in algorithm 1.

    With three seeds and batches of two, the third seed's link (.95) comes first. If seeds were part of a batch, the
    third would begin the second batch, and r and s would come before t.
    """
    link_relevances = {("a", "r"): 0.9, ("b", "s"): 0.5, ("c", "t"): 0.95, ("t", "u"): 1.0}
    space = GraphSpace({"a": ["r"], "b": ["s"], "c": ["t"], "t": ["u"]}, alpha=link_relevances)
    guide = (Best if sweeping else BestFirst)(page=0.0, anchor=1.0)
    assert list("abc" + "tr" + "us") == run(engine(space, steer(guide, batch=2), "a b c", concurrency=1))


def test_batched_ends_with_last_row_in_flight() -> None:
    made = engine(GRAPH, steer(BestFirst(page=0.0, anchor=1.0), batch=99), concurrency=8)
    assert "abcd" == "".join(run(made))[:4]
    assert EXHAUSTED == made.ending


@pytest.mark.parametrize("batch", [2, 7])
def test_batched_chain_ends_each_batch_early(batch: int) -> None:
    chain = GraphSpace({str(number): [str(number + 1)] for number in range(30)})
    assert 31 == len(run(engine(chain, steer(BreadthFirst(), batch=batch), "0")))


def test_batched_ends_when_host_budgets_are_spent() -> None:
    class Hosts(GraphSpace):
        def host_key(self, node: str) -> str:
            return node[0]

    space = Hosts({"a1": ["a2", "a3", "a4"], "a2": ["b1"], "b1": ["b2"]})
    made = engine(space, steer(BreadthFirst(), batch=99), "a1", host_budget=2, concurrency=1)
    assert (["a1", "a2", "b1", "b2"], HOSTS_SPENT) == (run(made), made.ending)


def test_batched_waits_within_patience_only() -> None:
    class Hosts(GraphSpace):
        def host_key(self, node: str) -> str:
            return node[0]

        def ready(self, host_key: str) -> tuple[float, str]:
            return (clock() + 1e6 if host_key == "r" else 0.0), "rests"

    space = Hosts({"a1": ["r1", "a2"], "a2": ["b1"], "b1": ["b2"]})
    assert ["a1", "a2", "b1", "b2"] == run(engine(space, steer(BreadthFirst(), batch=99), "a1", patience=10.0))


def test_batched_ignores_retried_failures() -> None:
    made = steer(FixedPriorities([0, 0.5, 0.4, 0.3, 0.9, 0.8]), batch=2)
    table = Table()
    frontier = made.frontier(table, lambda host_key: (0.0, ""), 0, 300.0, 0.0)

    def visit(node: str, *links: str, outcome: Outcome = "ok", retry_at: float = 0.0) -> list[int]:
        found = Visit(node, "page", outcome, 1, links=Links.to(*links), retry_at=retry_at)
        step = table.absorb(found)
        assert step is not None
        made.learn(step, table, frontier)
        return np.flatnonzero(frontier.priority[: len(table)] > PRUNED).tolist()

    made.admit(table.add_seed("a"), table, frontier)
    assert [0, 1, 2, 3] == visit("a", "b", "c", "d")
    assert [0, 1, 2, 3] == visit("b", "e")
    assert [0, 1, 2, 3] == visit("c", outcome="busy", retry_at=5.0)
    assert [0, 1, 2, 3, 4, 5] == visit("c", "f")


def test_batched_weights_count_from_next_batch() -> None:
    guide = Regression("fl")
    made = steer(guide, batch=3)
    table = Table()
    frontier = made.frontier(table, lambda host_key: (0.0, ""), 0, 300.0, 0.0)
    assert isinstance(frontier, ScanFrontier)
    made.admit(table.add_seed("a"), table, frontier)
    known = []
    for node, links in (("a", "bcde"), ("b", "f"), ("c", "g"), ("d", "h")):
        step = table.absorb(Visit(node, "page", "ok", 1, relevance=0.5, links=Links.to(*links)))
        assert step is not None
        made.learn(step, table, frontier)
        known.append(np.array_equal(frontier.weights, guide.weights))
        if node == "b":
            made.admit(table.add_seed("s"), table, frontier)
            assert not np.array_equal(frontier.weights, guide.weights), "a new seed does not end the batch"
    assert [True, False, False, True] == known


def test_steer_uses_batch_size_of_estimator() -> None:
    own = BestFirst()
    own.batch = 5  # type: ignore[attr-defined]
    sizes = [
        made.batch if isinstance(made, Batched) else 1
        for made in (steer(own), steer(own, batch=2), steer(own, batch=1))
    ]
    assert [5, 2, 1] == sizes


class Shuffled(GraphSpace):
    """Random graph with some failures, whose pages arrive in another order than requested."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        nodes = [str(number) for number in range(300)]
        links = {node: self.chance.sample(nodes, self.chance.randrange(4)) for node in nodes}
        links["0"] = nodes[1:6]
        alpha = {(u, v): self.chance.choice([0.0, 0.3, 0.9]) for u, targets in links.items() for v in targets}
        super().__init__(links, {node: self.chance.random() for node in nodes}, alpha)
        self.failed: set[str] = set()

    async def visit(self, task: Task) -> Page:
        for _ in range(self.chance.randrange(12)):
            await asyncio.sleep(0)
        if task.node.endswith("7") and task.node not in self.failed:
            self.failed.add(task.node)
            return Page("busy", retry_at=clock() + 0.001)
        return await super().visit(task)


GUIDES: list[Callable[[], Estimator]] = [lambda: BestFirst(merge="sum"), Best, Regression, BreadthFirst]


@pytest.mark.parametrize("guide", range(len(GUIDES)))
@pytest.mark.parametrize("rest", [{"batch": 5}, {"q": 0.5, "zeta": 0.3}, {"batch": 16, "q": 0.4, "ties": "random"}])
def test_replay_equals_live(guide: int, rest: dict[str, Any]) -> None:
    for pages in (1, 40, 150):
        budget = Budget(pages=pages)
        live = engine(Shuffled(pages), steer(GUIDES[guide](), seed=3, **rest), "0", budget=budget, concurrency=8)
        run(live)
        resumed = Engine(
            Shuffled(pages), SpaceJudge(), steer(GUIDES[guide](), seed=3, **rest), MemoryLog(), clock=clock
        )
        resumed.replay(live.log)
        assert to_come(live) == to_come(resumed)


def to_come(made: Engine) -> list[tuple[int, float]]:
    """Return the rows and priorities that the engine would pick next, up to the end."""
    first = made.tally.picks + 1
    picks = (made.strategy.pick(number, made.frontier, 1e9) for number in range(first, first + 400))
    return [(pick.row, pick.priority) for pick in picks if pick.row >= 0]


@pytest.mark.paper("gouriten-get-next-nodes")
def test_batched_and_altered_can_be_combined() -> None:
    made = strategy("breadth-first,batch=3,q=.5,zeta=.2,ties=random", seed=4)
    assert isinstance(made, Batched)
    assert isinstance(made.greedy, Altered)
    assert (3, 0.5, 0.2, "random", 4) == (
        made.batch,
        made.greedy.q,
        made.greedy.zeta,
        made.greedy.ties,
        made.greedy.seed,
    )


@pytest.mark.parametrize("bad", ["batch=0", "batch=-3", "q=1.5", "q=-.1", "zeta=2", "zeta=-1", "ties=last"])
def test_steer_rejects_invalid_values(bad: str) -> None:
    with raises_input_error("bad-value", "must be"):
        strategy(f"breadth-first,{bad}")


@BOTH
def test_pruned_rows_are_counted_at_end(sweeping: bool) -> None:
    ends = []
    for worst in (PRUNED, 0.1):
        made = engine(
            GRAPH, steer(FixedPriorities([0, 0.5, worst, worst, 0.2, 0.2, 0.2], sweeping=sweeping)), concurrency=1
        )
        run(made)
        last = list(made.log)[-1]
        assert isinstance(last, Setting)
        ends.append((last.value["reason"], last.value.get("pruned")))
    assert [(EXHAUSTED, 2), (EXHAUSTED, None)] == ends


def test_left_depends_on_learned_state_only() -> None:
    made, frontier = ranked([0.5, PRUNED], False)
    row = made.pick(1, frontier, 0.0).row
    assert (0, FREE, True) == (row, frontier.level[row], frontier.left())
    frontier.table.absorb(Visit("0", "page", "ok", 1))
    assert not frontier.left()


@BOTH
def test_left_ignores_rows_of_spent_hosts(sweeping: bool) -> None:
    table = Table()
    made = Greedy(FixedPriorities([0.5, 0.4], sweeping=sweeping)).frontier(
        table, lambda host_key: (0.0, ""), host_budget=1
    )
    made.rank(np.array([table.add(node, 0) for node in "ab"], np.int32), np.array([0.5, 0.4]))
    assert (0, -1, True) == (made.take(0.0), made.take(0.0), made.left())
    made.queue(0).pages += 1
    assert not made.left()
