"""Tests of the frontier, which returns the best open row of the ready hosts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.frontier import Frontier
from lycosa.core.table import DONE, OPEN, Table


@pytest.fixture(scope="module", autouse=True)
def short_heaps() -> Iterator[None]:
    """Limit heaps to one or two rows, so that all other rows wait outside of them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("lycosa.core.frontier.HEAP", 1)
        yield


LANES, ROWS = 4, 12


def frontier(nodes: str, priorities: list[float], **rest: object) -> Frontier:
    """Return a frontier of nodes named by host and number ("a1"), separated by spaces."""
    table = Table(host_key=lambda node: node[0])
    rows = np.array([table.add(node, 0) for node in nodes.split()], np.int32)
    made = Frontier(table, **rest)  # type: ignore[arg-type]
    made.rank(rows, np.array(priorities))
    return made


def drain(made: Frontier, now: float = 0.0) -> list[str]:
    return [made.table.nodes[row] for row in iter(lambda: made.take(now), -1)]


@pytest.mark.paper("otie-frontier")
def test_take_prefers_best_then_first_discovered() -> None:
    assert ["b1", "a1", "a2", "c1"] == drain(frontier("a1 a2 b1 c1", [0.5, 0.5, 0.9, -1.0]))


def test_take_returns_seeds_first() -> None:
    table = Table()
    rows = np.array([table.add("a", 0), table.add_seed("s")], np.int32)
    made = Frontier(table)
    made.rank(rows, np.array([99.0, 0.0]))
    assert ["s", "a"] == drain(made)


def test_rank_uses_last_priority() -> None:
    made = frontier("a1 a2 b1", [0.1, 0.2, 0.3])
    made.rank(np.array([0]), np.array([0.9]))
    made.rank(np.array([2]), np.array([0.15]))
    made.rank(np.array([0]), np.array([0.18]))
    assert ["a2", "a1", "b1"] == drain(made)


@pytest.mark.paper("rules-busy-queue")
def test_take_skips_waiting_host() -> None:
    until = {"a": 5.0, "b": 0.0}
    made = frontier("a1 b1 b2", [0.9, 0.1, 0.5], ready=lambda host_key: (until[host_key], "delay"))
    assert ["b2", "b1"] == drain(made, now=0.0)
    assert (5.0, ["a"], ["delay"]) == (
        made.next_ready(), [host_key.name for host_key in made.waiting()], [host_key.why for host_key in made.waiting()]
    )  # fmt: skip
    assert [] == drain(made, now=4.9)
    assert ["a1"] == drain(made, now=5.0)


def test_parked_host_waits_for_wake() -> None:
    until = {"a": math.inf}
    made = frontier("a1", [0.9], ready=lambda host_key: (until[host_key], "answering"))
    assert [] == drain(made, now=1e9)
    assert math.inf == made.next_ready()
    until["a"] = 3.0
    made.wake("a")
    assert 3.0 == made.next_ready()
    assert ["a1"] == drain(made, now=3.0)


def test_taken_row_is_not_taken_twice() -> None:
    made = frontier("a1", [0.5])
    assert 0 == made.take(0.0)
    made.rank(np.array([0]), np.array([0.9]))
    assert -1 == made.take(0.0)
    made.untake(0)
    assert 0 == made.take(0.0)
    made.table.state[0] = DONE
    made.untake(0)
    assert -1 == made.take(0.0)


def test_postpone_blocks_host() -> None:
    made = frontier("a1 a2 b1", [0.9, 0.8, 0.1])
    row = made.take(0.0)
    made.postpone(row, 2.0, "robots.txt")
    assert ["b1"] == drain(made, now=1.0)
    assert ["a1", "a2"] == drain(made, now=2.0)


def test_host_budget_counts_rows_in_flight() -> None:
    made = frontier("a1 a2 a3 b1", [0.9, 0.8, 0.7, 0.1], host_budget=2)
    assert ["a1", "a2", "b1"] == drain(made)
    assert ["a"] == [host_key.name for host_key in made.waiting()]
    made.untake(0)  # it failed, so one of two is used up
    made.wake("a")
    assert ["a1"] == drain(made)


@pytest.mark.parametrize("odd", [math.nan, -math.inf])
def test_rank_nan_comes_last(odd: float) -> None:
    assert ["a2", "a3", "a1"] == drain(frontier("a1 a2 a3", [odd, 0.5, -1e9]))


def test_wake_unknown_host_does_nothing() -> None:
    frontier("a1", [0.5]).wake("unknown")


@dataclass
class Model:
    """Reference implementation that searches all rows."""

    priorities: dict[int, float] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)

    def best(self, now: float, until: list[float]) -> int:
        rows = [r for r in self.priorities if r not in self.taken | self.done and until[r % LANES] <= now]
        return min(rows, key=lambda r: (-self.priorities[r], r), default=-1)

    def promises(self, n: int, at_once: int) -> list[float]:
        found: list[float] = []
        for host_key in range(LANES):
            rows = [r for r in self.priorities if r not in self.taken | self.done and r % LANES == host_key]
            taken = sum(r % LANES == host_key for r in self.taken)
            room = max(1, at_once - taken) if at_once else len(rows)
            found += sorted((self.priorities[r] for r in rows), reverse=True)[:room]
        return sorted(found, reverse=True)[:n]


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("rank"), st.integers(0, ROWS - 1), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])),
        st.tuples(st.just("take"), st.just(0), st.just(0.0)),
        st.tuples(st.just("finish"), st.integers(0, 5), st.sampled_from([0.0, 1.0])),
        st.tuples(st.just("busy"), st.integers(0, LANES - 1), st.sampled_from([0.5, 1.0, 3.0, math.inf])),
        st.tuples(st.just("pass"), st.just(0), st.sampled_from([0.3, 1.0])),
    ),
    max_size=60,
)


@pytest.mark.paper("gouriten-greedy")
@settings(max_examples=50, deadline=None)
@given(OPERATIONS)
def test_order_equals_brute_force(operations: list[tuple[str, int, float]]) -> None:
    table = Table(host_key=lambda node: f"lane {int(node) % LANES}")
    for number in range(ROWS):
        table.add(str(number), 0)
    now, until = 0.0, [0.0] * LANES
    made = Frontier(table, ready=lambda host_key: (until[int(host_key[-1])], "busy"))
    model = Model()
    for name, number, value in operations:
        if name == "rank":
            made.rank(np.array([number], np.int32), np.array([value]))
            model.priorities[number] = value
        elif name == "take":
            for at_once in (1, 0, 2) if max(until) <= now else ():  # a busy host is detected when it is needed
                assert made.promises(3, now, at_once) == model.promises(3, at_once)
            expected = model.best(now, until)
            assert expected == made.take(now)
            if expected >= 0:
                model.taken.add(expected)
        elif name == "finish" and model.taken:
            row = sorted(model.taken)[number % len(model.taken)]
            if value:
                table.state[row] = DONE
                model.done.add(row)
            made.untake(row)
            model.taken.discard(row)
            made.wake(table.host_key(str(row)))
        elif name == "busy":  # a host is woken when it changes
            until[number] = now + value
            made.wake(f"lane {number}")
        elif name == "pass":
            now += value
    for number in range(LANES):
        until[number] = 0.0
        made.wake(f"lane {number}")
    while (expected := model.best(now, until)) >= 0:
        assert expected == made.take(now)
        model.taken.add(expected)
    assert -1 == made.take(now)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.floats(-1e6, 1e6)), min_size=1, max_size=80))
def test_drain_sorts_by_last_priority(ranks: list[tuple[int, float]]) -> None:
    table = Table()
    for number in range(31):
        table.add(str(number), 0)
    made = Frontier(table)
    last: dict[int, float] = {}
    for row, priority in ranks:
        made.rank(np.array([row], np.int32), np.array([priority]))
        last[row] = priority
    assert sorted(last, key=lambda row: (-last[row], row)) == [int(node) for node in drain(made)]
    assert OPEN == table.state[0]
