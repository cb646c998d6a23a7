"""Tests of the scanning frontier, which returns the same rows as the heaps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lycosa.core.composite import shuffled
from lycosa.core.frontier import FREE, HELD, PRUNED, SHUT, Frontier, Order
from lycosa.core.scan import ScanFrontier, linear_priorities
from lycosa.core.table import Table

LANES, ROWS, LINES = 3, 12, 2


def frontier(nodes: str, priorities: list[float], **rest: Any) -> ScanFrontier:
    """Return a frontier of nodes named by host and number ("a1"), separated by spaces."""
    table = Table(host_key=lambda node: node[0])
    rows = np.array([table.add(node, 0) for node in nodes.split()], np.int32)
    made = ScanFrontier(table, **rest)
    made.rank(rows, np.array(priorities))
    return made


def take(made: Frontier, now: float = 0.0) -> str:
    row = made.take(now)
    return made.table.nodes[row] if row >= 0 else ""


def drain(made: Frontier, now: float = 0.0) -> list[str]:
    return list(iter(lambda: take(made, now), ""))


def end(made: Frontier, node: str) -> None:
    row = made.table.row_of[node]
    made.table.close(row)
    made.untake(row)
    made.wake(made.table.host_key(node))


def test_take_prefers_best_then_first_discovered() -> None:
    assert ["b1", "a1", "a2", "c1"] == drain(frontier("a1 a2 b1 c1", [0.5, 0.5, 0.9, -1.0]))


def test_take_orders_beyond_single_precision() -> None:
    assert ["a3", "a2", "a1"] == drain(frontier("a1 a2 a3", [0.5, 0.5 + 1e-12, 0.5 + 2e-12]))
    assert ["a2", "a1", "a3"] == drain(frontier("a1 a2 a3", [1e200, 1e300, -1e200]))


@pytest.mark.parametrize("odd", [math.nan, -math.inf])
def test_rank_nan_comes_last(odd: float) -> None:
    assert ["a2", "a3", "a1"] == drain(frontier("a1 a2 a3", [odd, 0.5, -1e9]))


def test_take_returns_seeds_first() -> None:
    made = frontier("a1 a2 a3", [0.9, 0.1, 0.5])
    for node in ("a3", "a2"):
        made.rank(np.array([made.table.add_seed(node)], np.int32), np.array([0.0]))
    assert ["a2", "a3", "a1"] == drain(made)


def test_shut_and_pruned_rows_are_not_taken() -> None:
    made = frontier("a1 a2 a3", [PRUNED, 0.5, 0.1])
    made.hold(np.array([1], np.int32), np.array([SHUT], np.uint8))
    assert (["a3"], 1) == (drain(made), made.pruned())
    made.hold(np.array([1], np.int32), np.array([FREE], np.uint8))
    made.rank(np.array([0], np.int32), np.array([0.9]))
    assert (["a1", "a2"], 0) == (drain(made), made.pruned())


def test_row_ranked_twice_joins_once() -> None:
    made = frontier("a1 a2", [0.5, 0.1])
    made.rank(np.array([1, 0, 1], np.int32), np.array([0.9, 0.2, 0.3]))
    new = made.table.add("a3", 0)
    made.rank(np.array([new, new], np.int32), np.array([0.9, 0.25]))
    assert ["a2", "a3", "a1"] == drain(made)


def test_host_budget_counts_rows_in_flight() -> None:
    made = frontier("a1 a2 a3 b1", [0.9, 0.8, 0.7, 0.1], host_budget=2)
    assert ["a1", "a2", "b1"] == drain(made)
    assert ["a"] == [host_key.name for host_key in made.waiting()]
    made.untake(0)  # it failed, so one of two is used up
    made.wake("a")
    assert ["a1"] == drain(made)


def test_postpone_blocks_host() -> None:
    made = frontier("a1 a2 b1", [0.9, 0.8, 0.1])
    made.postpone(made.take(0.0), 2.0, "robots.txt")
    assert (["b1"], 2.0, ["a"]) == (drain(made, 1.0), made.next_ready(), [host_key.name for host_key in made.waiting()])
    assert ["a1", "a2"] == drain(made, 2.0)


def test_rows_closed_by_replay_are_gone() -> None:
    made = frontier("a1 a2 b1", [0.9, 0.8, 0.1], ready=lambda host_key: (9.0 if host_key == "a" else 0.0, "rests"))
    assert ["b1"] == drain(made)
    made.table.close(0)
    made.table.close(1)
    assert ([], []) == (drain(made, 9.0), made.waiting())


def test_untake_does_not_scan() -> None:
    made = frontier("a1 a2", [0.9, 0.8])
    assert "a1" == take(made)
    end(made, "a1")
    assert 1 == made._closed == len(made.table) - made.table.open_rows


def test_head_returns_best_of_ready_hosts() -> None:
    made = frontier("a1 b1 c1", [0.9, 0.5, 0.1], ready=lambda host_key: (9.0 if host_key == "a" else 0.0, "rests"))
    assert "b1" == take(made)
    assert ["c"] == made.head(8)


def test_ties_are_broken_by_hash() -> None:
    table = Table()
    rows = np.array([table.add(str(number), 0) for number in range(50)], np.int32)
    priorities = np.arange(50) // 10 % 2 * 1.0
    expected = sorted(rows.tolist(), key=lambda row: (-priorities[row], int(shuffled(7)(rows)[row])))
    for made in (Frontier(table, order=shuffled(7)), ScanFrontier(table, order=shuffled(7))):
        made.rank(rows, priorities)
        assert expected == [int(node) for node in drain(made)]


def test_weigh_changes_all_priorities() -> None:
    table = Table()
    rows = np.array([table.add(name, 0) for name in "abc"], np.int32)
    made = ScanFrontier(table, lines=2)
    made.describe(rows, np.array([[1, 2, 3], [3, 3, 0]], np.float32))
    made.weigh(np.array([1, 0.5], np.float32), 10.0)
    assert "b" == take(made)
    assert 2 * 1 + 3 * 0.5 + 10.0 == made.priority[1]
    made.weigh(np.array([0, -1], np.float32))
    assert ["c", "a"] == drain(made)


def test_row_in_flight_keeps_features() -> None:
    table = Table()
    rows = np.array([table.add(name, 0) for name in "abc"], np.int32)
    made = ScanFrontier(table, lines=1)
    made.describe(rows, np.array([[3, 2, 1]], np.float32))
    made.weigh(np.array([1], np.float32))
    assert ["a", "b"] == [take(made), take(made)]
    made.describe(rows[1:2], np.array([[4]], np.float32))
    made.untake(0)
    made.untake(1)
    assert ["b", "a", "c"] == drain(made)


def test_equal_features_are_ties() -> None:
    table = Table()
    rows = np.array([table.add(str(number), 0) for number in range(9001)], np.int32)
    features = np.repeat(np.array([[0.1], [0.7], [0.3]], np.float32), 9001, axis=1)
    features[:, 8000] = 0.0
    made = ScanFrontier(table, lines=3)
    made.describe(rows, features)
    made.weigh(np.array([0.3, 0.31, 0.17], np.float32), 0.1)
    assert list(range(50)) == [made.take(0.0) for _ in range(50)]


@pytest.mark.parametrize("rests", [False, True])
def test_stream_of_pages_equals_brute_force(rests: bool) -> None:
    rng = np.random.default_rng(5)
    table = Table(host_key=lambda node: str(int(node) % 4))
    until = dict.fromkeys("0123", 0.0)
    made = ScanFrontier(table, ready=lambda host_key: (until[host_key], "rests"), lines=4)
    features = np.zeros((4, 12_000), np.float32)
    weights = np.array([0.5, 0.2, 0.1, 0.3])
    is_open = np.zeros(12_000, np.bool_)

    def describe(rows: NDArray[np.int32]) -> None:
        features[:, rows] = np.log1p(rng.exponential(size=(4, len(rows))))
        made.describe(rows, features[:, rows])

    describe(np.array([table.add(str(number), 1) for number in range(9000)], np.int32))
    is_open[:9000] = True
    for now in range(400):
        weights += rng.normal(scale=0.02 / (1 + now), size=4)
        made.weigh(weights.astype(np.float32), 0.25)
        usable = is_open & (np.array([until[str(host_key)] for host_key in range(4)])[np.arange(12_000) % 4] <= now)
        priorities = linear_priorities(features, weights.astype(np.float32), 0.25)
        expected = int(np.where(usable, priorities, -math.inf).argmax())
        assert expected == made.take(float(now))
        is_open[expected] = False
        if rests:
            until[str(expected % 4)] = now + float(rng.integers(0, 3))
        end(made, str(expected))
        new = [table.add(str(number), 1) for number in range(len(table), len(table) + 5)]
        is_open[new] = True
        changed = rng.choice(np.flatnonzero(is_open), 10).astype(np.int32)
        describe(np.unique(np.concatenate([changed, np.array(new, np.int32)])))


@pytest.mark.parametrize("kinds", [1, 3, 32], ids="{} kinds".format)
@pytest.mark.parametrize("order", [None, shuffled(4)], ids=["first", "random"])
@pytest.mark.parametrize("rests", [False, True], ids=["all ready", "some rest"])
def test_many_ties_equal_brute_force(order: Order | None, kinds: int, rests: bool) -> None:
    rng = np.random.default_rng(kinds)
    number_of_rows = 30_000
    table = Table(host_key=lambda node: str(int(node) % 4))
    rows = np.array([table.add(str(number), 1) for number in range(number_of_rows)])
    until = dict.fromkeys("0123", 0.0)
    made = ScanFrontier(table, ready=lambda host_key: (until[host_key], "rests"), order=order, lines=3)
    kind = rng.integers(0, kinds, number_of_rows)
    features = np.array([kind, kinds - kind, np.ones(number_of_rows)], np.float32)  # the sum is always kinds, plus 1
    features[2, ::10] = rng.random(len(rows[::10]))  # a tenth have a lower priority
    made.describe(rows, features)
    places = rows if order is None else order(rows)
    is_open = np.ones(number_of_rows, np.bool_)
    for now in range(30):
        weights = np.array([0.5, 0.5, 1 / (1 + now)], np.float32)
        made.weigh(weights)
        priorities = linear_priorities(features, weights, 0.0)
        usable = is_open & (np.array([until[str(host_key)] for host_key in range(4)])[rows % 4] <= now)
        best = np.flatnonzero(usable & (priorities == priorities[usable].max()))
        assert len(best) > number_of_rows / 8
        expected = int(best[places[best].argmin()])
        assert expected == made.take(float(now))
        is_open[expected] = False
        if rests:
            until[str(expected % 4)] = now + float(rng.integers(0, 3))
        end(made, str(expected))


@dataclass
class Model:
    """Reference implementation that searches all rows."""

    seeds: frozenset[int]
    features: dict[int, list[float]] = field(default_factory=dict)
    weights: list[float] = field(default_factory=lambda: [0.0] * LINES)
    levels: dict[int, int] = field(default_factory=dict)
    taken: dict[int, bool] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)

    def free(self, row: int) -> bool:
        return row in self.seeds or self.levels.get(row, FREE) == FREE

    def candidates(self, host_key: int) -> list[int]:
        return [
            row
            for row in self.features
            if row % LANES == host_key
            and row not in self.taken
            and row not in self.done
            and (row in self.seeds or self.levels.get(row, FREE) != SHUT)
        ]

    def priority(self, row: int) -> float:
        if row in self.seeds:
            return math.inf
        return sum(weight * value for weight, value in zip(self.weights, self.features[row], strict=True))

    def best(self, now: float, until: list[float], patience: float) -> int:
        ready = [row for host_key in range(LANES) if until[host_key] <= now for row in self.candidates(host_key)]
        row = max(ready, key=lambda row: (self.free(row), self.priority(row), -row), default=-1)
        if row >= 0 and not self.free(row):
            soon = [
                host_key
                for host_key in range(LANES)
                if until[host_key] <= now + patience or until[host_key] == math.inf
            ]
            coming = any(self.free(row) for host_key in soon for row in self.candidates(host_key))
            return -1 if coming or any(self.taken.values()) else row
        return row


NUMBER = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])  # exact in single and double precision, with many ties
OPERATION = st.one_of(
    st.tuples(st.just("rank"), st.integers(0, ROWS - 1), st.tuples(NUMBER, NUMBER)),
    st.tuples(st.just("weigh"), st.just(0), st.tuples(NUMBER, st.sampled_from([-1.0, 0.0, 0.5]))),
    st.tuples(st.just("take"), st.just(0), st.just(0.0)),
    st.tuples(st.just("take"), st.just(0), st.just(0.0)),
    st.tuples(st.just("finish"), st.integers(0, ROWS - 1), st.sampled_from([0.0, 1.0, 1.0])),
    st.tuples(st.just("close"), st.integers(0, ROWS - 1), st.just(0.0)),
    st.tuples(st.just("rest"), st.integers(0, LANES - 1), st.sampled_from([0.0, 0.5, 3.0, math.inf])),
    st.tuples(st.just("pass"), st.just(0), st.sampled_from([0.3, 1.0, 4.0])),
    st.tuples(st.just("hold"), st.integers(0, ROWS - 1), st.sampled_from([FREE, HELD, HELD, SHUT])),
)
RANKED = st.lists(st.tuples(NUMBER, NUMBER), min_size=ROWS, max_size=ROWS).map(
    lambda pairs: [("rank", *pair) for pair in enumerate(pairs)]
)


@pytest.mark.parametrize("linear", [True, False])
@settings(max_examples=60, deadline=None)
@given(
    operations=st.builds(list.__add__, RANKED, st.lists(OPERATION, max_size=60)),
    seeds=st.frozensets(st.integers(0, ROWS - 1), max_size=2),
    patience=st.sampled_from([0.0, 2.0, 300.0]),
)
def test_order_equals_brute_force(linear: bool, operations: list[Any], seeds: frozenset[int], patience: float) -> None:
    table = Table(host_key=lambda node: f"lane {int(node) % LANES}")
    for number in range(ROWS):
        _ = table.add_seed(str(number)) if number in seeds else table.add(str(number), 0)
    now, until = 0.0, [0.0] * LANES
    model = Model(seeds)
    made = ScanFrontier(
        table,
        ready=lambda host_key: (until[int(host_key[-1])], "rests"),
        patience=patience,
        lines=LINES if linear else 0,
    )

    def rank(rows: list[int]) -> None:
        numbers = np.array(rows, np.int32)
        if linear:
            made.describe(numbers, np.array([model.features[row] for row in rows], np.float32).T)
        else:
            made.rank(numbers, np.array([0.0 if row in seeds else model.priority(row) for row in rows]))

    def taken() -> int:
        expected = model.best(now, until, patience)
        assert expected == made.take(now)
        if expected >= 0:
            model.taken[expected] = model.free(expected)
            assert model.priority(expected) == made.priority[expected]
        return expected

    def close(row: int) -> None:
        table.close(row)
        model.done.add(row)

    for name, number, value in operations:
        if name == "rank":
            model.features[number] = list(value)
            rank([number])
        elif name == "weigh":
            model.weights = list(value)
            if linear:
                made.weigh(np.array(value, np.float32))
            elif model.features:
                rank(sorted(model.features))
        elif name == "hold":
            made.hold(np.array([number], np.int32), np.array([value], np.uint8))
            model.levels[number] = value
        elif name == "take":
            taken()
        elif name == "close" and number not in model.taken and number not in model.done:
            close(number)
        elif name == "finish" and model.taken:
            row = sorted(model.taken)[number % len(model.taken)]
            if value:
                close(row)
            made.untake(row)
            del model.taken[row]
            made.wake(table.host_key(str(row)))
        elif name == "rest":
            until[number] = now + value
            made.wake(f"lane {number}")
        elif name == "pass":
            now += value
    for row in list(model.taken):
        made.untake(row)
        del model.taken[row]
    for number in range(LANES):
        until[number] = now
        made.wake(f"lane {number}")
    while (row := taken()) >= 0:
        close(row)
        made.untake(row)
        del model.taken[row]
    assert [] == [row for host_key in range(LANES) for row in model.candidates(host_key)], "something was left"
    assert (math.inf, []) == (made.next_ready(), made.waiting())
