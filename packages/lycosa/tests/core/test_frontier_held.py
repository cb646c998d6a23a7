"""Tests of the frontier with held rows and with `choosy`, which waits for better hosts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lycosa.core.frontier import FREE, HELD, MAX_WAIT_SECONDS, SHUT, Frontier
from lycosa.core.table import DONE, Table


@pytest.fixture(scope="module", autouse=True)
def short_heaps() -> Iterator[None]:
    """Limit heaps to one or two rows, so that all other rows wait outside of them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("lycosa.core.frontier.HEAP", 1)
        yield


LANES, ROWS = 4, 12
PATIENCE = 2.0


def frontier(nodes: str, priorities: list[float], levels: list[int] | None = None, **rest: Any) -> Frontier:
    """Return a frontier of nodes named by host and number ("a1"), separated by spaces."""
    table = Table(host_key=lambda node: node[0])
    rows = np.array([table.add(node, 0) for node in nodes.split()], np.int32)
    made = Frontier(table, **rest)
    made.rank(rows, np.array(priorities))
    made.hold(rows, np.array(levels or [FREE] * len(rows), np.uint8))
    return made


def take(made: Frontier, now: float = 0.0) -> str:
    row = made.take(now)
    return made.table.nodes[row] if row >= 0 else ""


def drain(made: Frontier, now: float = 0.0) -> list[str]:
    taken = []
    while node := take(made, now):
        taken.append(node)
        end(made, node)
    return taken


def end(made: Frontier, node: str) -> None:
    row = made.table.row_of[node]
    made.table.state[row] = DONE
    made.untake(row)
    made.wake(made.table.host_key(node))


def hold(made: Frontier, node: str, level: int) -> None:
    made.hold(np.array([made.table.row_of[node]], np.int32), np.array([level], np.uint8))


def test_held_rows_come_after_all_free_rows() -> None:
    made = frontier("a1 a2 b1 b2 c1", [0.9, 0.1, 0.8, 0.3, -5.0], [HELD, FREE, HELD, FREE, FREE])
    assert ["b2", "a2", "c1", "a1", "b1"] == drain(made)


def test_held_rows_wait_for_free_rows_in_flight() -> None:
    made = frontier("a1 b1 c1", [0.5, 0.9, 0.8], [FREE, HELD, HELD])
    assert ("a1", "") == (take(made), take(made))
    end(made, "a1")
    assert "b1" == take(made)
    assert "c1" == take(made), "held pages do not wait for each other"


def test_held_rows_do_not_wait_for_failed_rows() -> None:
    until = {"a": 0.0, "b": 0.0}
    made = frontier("a1 b1", [0.5, 0.9], [FREE, HELD], ready=lambda host_key: (until[host_key], ""), patience=PATIENCE)
    assert ("a1", "") == (take(made), take(made))
    until["a"] = 100.0
    made.untake(0)
    made.wake("a")
    assert "b1" == take(made)


def test_held_rows_wait_for_hosts_with_free_rows() -> None:
    until = {"a": 5.0, "b": 0.0}
    made = frontier(
        "a1 b1 b2", [0.1, 0.9, 0.8], [FREE, HELD, HELD], ready=lambda host_key: (until[host_key], ""), patience=2.0
    )
    assert "b1" == take(made, 2.9), "5.0 is further off than two seconds"
    end(made, "b1")
    assert "" == take(made, 3.1)
    assert 5.0 == made.next_ready()
    assert "a1" == take(made, 5.0)
    assert "" == take(made, 5.0), "and now it is in flight"
    end(made, "a1")
    assert "b2" == take(made, 5.0)


def test_held_rows_do_not_wait_for_hosts_with_held_rows() -> None:
    until = {"a": 1.0, "b": 0.0}
    made = frontier("a1 b1", [0.9, 0.1], [HELD, HELD], ready=lambda host_key: (until[host_key], ""), patience=PATIENCE)
    assert "b1" == take(made)


@pytest.mark.parametrize("why", ["robots.txt", "answering"])
def test_held_rows_wait_for_busy_hosts(why: str) -> None:
    until = {"a": math.inf, "b": 0.0}
    made = frontier("a1 b1", [0.9, 0.1], [FREE, HELD], ready=lambda host_key: (until[host_key], why), patience=PATIENCE)
    assert "" == take(made)


@pytest.mark.parametrize(("held", "free"), [(1.7e9, 0.5), (0.5, math.nan), (1e300, 1.0)])
def test_held_rows_come_last_regardless_of_priority(held: float, free: float) -> None:
    assert ["b1", "a1"] == drain(frontier("a1 b1", [held, free], [HELD, FREE]))


def test_shut_rows_are_never_taken() -> None:
    made = frontier("a1 b1", [0.9, 0.8], [SHUT, SHUT])
    assert [] == drain(made)
    assert math.inf == made.next_ready()
    assert [] == made.waiting()


def test_shut_row_of_waiting_host_is_not_taken() -> None:
    until = {"a": 5.0}
    made = frontier("a1", [0.9], ready=lambda host_key: (until[host_key], ""))
    assert "" == take(made)
    hold(made, "a1", SHUT)
    assert "" == take(made, 6.0)
    assert math.inf == made.next_ready()


@pytest.mark.parametrize("level", [HELD, SHUT])
def test_released_rows_are_taken(level: int) -> None:
    made = frontier("a1 a2 b1", [0.9, 0.5, 0.7], [level, FREE, FREE])
    assert "b1" == take(made)
    hold(made, "a1", FREE)
    assert ("a1", "a2", "") == (take(made), take(made), take(made))


def test_last_level_is_used() -> None:
    made = frontier("a1 b1", [0.9, 0.5])
    for level in (SHUT, HELD, FREE, HELD, SHUT, FREE) * 3:
        hold(made, "a1", level)
    assert "a1" == take(made)
    hold(made, "a1", SHUT)
    made.untake(0)
    assert "b1" == take(made)
    end(made, "b1")
    assert "" == take(made)
    hold(made, "a1", HELD)
    assert "a1" == take(made)
    assert "" == take(made)


def test_held_row_keeps_level_when_ranked() -> None:
    made = frontier("a1 a2 b1", [0.1, 0.2, 0.0], [HELD, HELD, FREE])
    made.rank(np.array([0], np.int32), np.array([0.9]))
    assert ["b1", "a1", "a2"] == drain(made)


def test_seeds_are_never_held() -> None:
    made = frontier("a1 b1 c1", [0.5, 0.5, 0.5], [FREE, HELD, SHUT])
    for node in ("b1", "c1"):
        made.rank(np.array([made.table.add_seed(node)], np.int32), np.array([0.0]))
    assert ["b1", "c1", "a1"] == [take(made), take(made), take(made)]


def test_held_row_that_becomes_seed_is_free() -> None:
    made = frontier("a1 b1", [0.9, 0.1], [SHUT, FREE])
    made.rank(np.array([made.table.add_seed("a1")], np.int32), np.array([0.0]))
    hold(made, "a1", HELD)
    hold(made, "a1", SHUT)
    assert "a1" == take(made)


def test_hold_sets_levels_of_many_rows() -> None:
    table = Table()
    made = Frontier(table)
    rows = np.array([table.add(str(number), 0) for number in range(5000)], np.int32)
    made.hold(rows[2000:], np.full(3000, HELD, np.uint8))
    made.rank(rows, np.arange(5000, dtype=float))
    assert 1999 == made.take(0.0)
    assert [HELD] * 3000 == made.level[2000:5000].tolist()


@dataclass
class Model:
    """Reference implementation that searches all rows."""

    seeds: frozenset[int]
    priorities: dict[int, float] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)
    taken: dict[int, bool] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    since: dict[int, float] = field(default_factory=dict)
    """Time of the last request to each host."""

    def free(self, row: int) -> bool:
        return row in self.seeds or self.levels.get(row, FREE) == FREE

    def candidates(self, host_key: int) -> list[int]:
        return [
            row
            for row in self.priorities
            if row % LANES == host_key
            and row not in self.taken
            and row not in self.done
            and (row in self.seeds or self.levels.get(row, FREE) != SHUT)
        ]

    def priority(self, row: int) -> float:
        return math.inf if row in self.seeds else self.priorities[row]

    def best(self, now: float, until: list[float], choosy: float, patience: float) -> int:
        ready = [row for host_key in range(LANES) if until[host_key] <= now for row in self.candidates(host_key)]
        if not ready:
            return -1
        row = max(ready, key=lambda row: (self.free(row), self.priority(row), -row))
        if not self.free(row):
            soon = [
                host_key
                for host_key in range(LANES)
                if until[host_key] <= now + patience or until[host_key] == math.inf
            ]
            coming = any(self.free(row) for host_key in soon for row in self.candidates(host_key))
            return -1 if coming or any(self.taken.values()) else row
        max_wait = min(MAX_WAIT_SECONDS, patience)
        resting = [
            self.top(host_key) for host_key in range(LANES) if self.rests(host_key, now, until[host_key], max_wait)
        ]
        best = max(resting, default=-math.inf)
        return -1 if choosy and best > -math.inf and self.priority(row) < best - (1 - choosy) * abs(best) else row

    def rests(self, host_key: int, now: float, until: float, max_wait: float) -> bool:
        in_use = until == math.inf and any(row % LANES == host_key for row in self.taken)
        return (in_use and now < self.since[host_key] + max_wait) or now < until <= now + max_wait

    def top(self, host_key: int) -> float:
        priorities = [self.priority(row) for row in self.candidates(host_key) if self.free(row)]
        return max(priorities) if priorities and max(priorities) < math.inf else -math.inf


SCORES = st.sampled_from([-0.7, -0.2, -0.1, 0.0, 0.1, 0.15, 0.3, 0.5, 0.7, 1.0])
HOLD = st.tuples(st.just("hold"), st.integers(0, ROWS - 1), st.sampled_from([FREE, FREE, HELD, HELD, SHUT]))
OPERATION = st.one_of(
    st.tuples(st.just("rank"), st.integers(0, ROWS - 1), SCORES),
    st.tuples(st.just("take"), st.just(0), st.just(0.0)),
    st.tuples(st.just("take"), st.just(0), st.just(0.0)),
    st.tuples(st.just("finish"), st.integers(0, ROWS - 1), st.sampled_from([0.0, 1.0, 1.0])),
    st.tuples(st.just("rest"), st.integers(0, LANES - 1), st.sampled_from([0.0, 0.5, 1.0, 3.0, 7.0])),
    st.tuples(st.just("pass"), st.just(0), st.sampled_from([0.3, 1.0, 4.0])),
)
RANKED = st.lists(SCORES, min_size=ROWS, max_size=ROWS).map(
    lambda priorities: [("rank", *pair) for pair in enumerate(priorities)]
)
LEVELS = st.lists(st.sampled_from([FREE, HELD, HELD, SHUT]), min_size=ROWS, max_size=ROWS).map(
    lambda levels: [("hold", *pair) for pair in enumerate(levels)]
)
OPERATIONS = st.builds(list.__add__, RANKED | st.just([]), st.lists(OPERATION, max_size=60))
WITH_HOLDS = st.builds(list.__add__, st.builds(list.__add__, RANKED, LEVELS), st.lists(OPERATION | HOLD, max_size=60))
SEEDS = st.frozensets(st.integers(0, ROWS - 1), max_size=2)


def play(
    operations: list[tuple[str, int, float]],
    *,
    seeds: frozenset[int] = frozenset(),
    choosy: float = 0.0,
    patience: float = 0.0,
    busy: bool = False,
) -> None:
    """Apply operations to a frontier and its model, and compare each take."""
    table = Table(host_key=lambda node: f"lane {int(node) % LANES}")
    for number in range(ROWS):
        row = table.add_seed(str(number)) if number in seeds else table.add(str(number), 0)
        assert number == row
    now, until = 0.0, [0.0] * LANES
    made = Frontier(table, ready=lambda host_key: (until[int(host_key[-1])], "rests"), patience=patience, choosy=choosy)
    model = Model(seeds)

    def taken() -> int:
        expected = model.best(now, until, choosy, patience)
        assert expected == made.take(now)
        if expected >= 0:
            model.taken[expected] = model.free(expected)
            model.since[expected % LANES] = now
            if busy:
                until[expected % LANES] = math.inf
        return expected

    for name, number, value in operations:
        if name == "rank":
            made.rank(np.array([number], np.int32), np.array([value]))
            model.priorities[number] = value
        elif name == "hold":
            made.hold(np.array([number], np.int32), np.array([value], np.uint8))
            model.levels[number] = int(value)
        elif name == "take":
            taken()
        elif name == "finish" and model.taken:
            row = sorted(model.taken)[number % len(model.taken)]
            if value:
                table.state[row] = DONE
                model.done.add(row)
            made.untake(row)
            del model.taken[row]
            until[row % LANES] = now + 0.5
            made.wake(table.host_key(str(row)))
        elif name == "rest" and until[number] < math.inf:
            until[number] = now + value
            made.wake(f"lane {number}")
        elif name == "pass":
            now += value
    # Finish: nothing is in flight, and all hosts are ready.
    for row in list(model.taken):
        made.untake(row)
        del model.taken[row]
    for number in range(LANES):
        until[number] = now
        made.wake(f"lane {number}")
    while (row := taken()) >= 0:
        table.state[row] = DONE
        model.done.add(row)
        made.untake(row)
        del model.taken[row]
        until[row % LANES] = now
        made.wake(f"lane {row % LANES}")
    assert [] == [row for host_key in range(LANES) for row in model.candidates(host_key)], "something was left"


@settings(max_examples=50, deadline=None)
@given(WITH_HOLDS, SEEDS)
def test_levels_equal_brute_force(operations: list[tuple[str, int, float]], seeds: frozenset[int]) -> None:
    play(operations, seeds=seeds)


@settings(max_examples=50, deadline=None)
@given(OPERATIONS, st.sampled_from([0.3, 0.7, 1.0]), st.booleans())
def test_choosy_equals_brute_force(operations: list[tuple[str, int, float]], choosy: float, busy: bool) -> None:
    short = [(name, number, min(value, MAX_WAIT_SECONDS)) for name, number, value in operations]
    play(short, choosy=choosy, patience=300.0, busy=busy)


@settings(max_examples=50, deadline=None)
@given(OPERATIONS, SEEDS, st.booleans())
def test_without_choosy_frontier_never_waits(
    operations: list[tuple[str, int, float]], seeds: frozenset[int], busy: bool
) -> None:
    play(operations, seeds=seeds, patience=300.0, busy=busy)


TWO_HELD = [("rank", 0, 0.9), ("rank", 1, 0.1), ("hold", 0, HELD), ("hold", 1, HELD), ("rest", 0, 1.0), ("take", 0, 0)]

JUST_IN_TIME = [
    *(("rank", row, 0.0) for row in range(12)),
    *(("pass", 0, seconds) for seconds in (0.3, 1.0, 4.0)),
    ("rank", 0, 0.1),
    ("rest", 0, 3.0),
    ("take", 0, 0.0),
]
"""A host that is ready at 8.3 s, looked up at 5.3 s: 8.3 - 3 is more than 5.3 in floating point."""


@settings(max_examples=50, deadline=None)
@given(WITH_HOLDS, SEEDS, st.sampled_from([0.0, 0.7, 1.0]), st.sampled_from([0.0, 2.0, 300.0]), st.booleans())
@example(TWO_HELD, frozenset(), 0.0, 300.0, False)
@example(JUST_IN_TIME, frozenset(), 0.7, 300.0, False)
def test_held_and_choosy_equal_brute_force(
    operations: list[tuple[str, int, float]], seeds: frozenset[int], choosy: float, patience: float, busy: bool
) -> None:
    play(operations, seeds=seeds, choosy=choosy, patience=patience, busy=busy)


def choosy(priorities: list[float], until: dict[str, float], share: float = 0.7, **rest: Any) -> Frontier:
    """Return a frontier that waits for better hosts, with one row in each of the hosts a, b, c."""
    nodes = " ".join(f"{host_key}1" for host_key in "abc"[: len(priorities)])
    return frontier(
        nodes, priorities, ready=lambda host_key: (until.get(host_key, 0.0), ""), choosy=share, patience=300.0, **rest
    )


@pytest.mark.parametrize(("priority", "taken"), [(0.62, ""), (0.63, "b1"), (0.64, "b1"), (0.9, "b1")])
def test_choosy_waits_for_better_host(priority: float, taken: str) -> None:
    made = choosy([0.9, priority], {"a": 2.0})
    assert taken == take(made)
    assert 2.0 == made.next_ready()
    assert "a1" == take(made, 2.0)


def test_choosy_waits_for_limited_time() -> None:
    assert "" == take(choosy([0.9, 0.1], {"a": MAX_WAIT_SECONDS}))
    assert "b1" == take(choosy([0.9, 0.1], {"a": MAX_WAIT_SECONDS + 0.1}))


def test_choosy_waits_for_end_of_long_pause() -> None:
    until = {"a": 3600.0}
    made = frontier("a1 b1 b2", [0.9, 0.2, 0.1], ready=lambda x: (until.get(x, 0.0), ""), choosy=0.7, patience=300.0)
    assert "b1" == take(made)
    end(made, "b1")
    assert "" == take(made, 3600.0 - MAX_WAIT_SECONDS)


@pytest.mark.parametrize("ends", [True, False])
def test_choosy_limits_wait_for_busy_host(ends: bool) -> None:
    until = {"a": 0.0, "b": 0.0}
    made = frontier(
        "a1 a2 b1", [0.9, 0.8, 0.1], ready=lambda host_key: (until[host_key], ""), choosy=0.7, patience=300.0
    )
    assert "a1" == take(made, 100.0)
    until["a"] = math.inf
    assert "" == take(made, 101.0)
    assert 100.0 + MAX_WAIT_SECONDS == made.next_ready()
    if ends:
        until["a"] = 0.0
        end(made, "a1")
        assert "a2" == take(made, 101.0)
    assert "b1" == take(made, 100.0 + MAX_WAIT_SECONDS)


def test_choosy_wait_ends_with_patience() -> None:
    until = {"a": 2.0}
    made = frontier(
        "a1 b1", [0.9, 0.1], ready=lambda host_key: (until.get(host_key, 0.0), ""), choosy=0.7, patience=1.0
    )
    assert "b1" == take(made)


def test_choosy_does_not_wait_for_held_rows() -> None:
    made = frontier(
        "a1 b1", [0.9, 0.1], [HELD, FREE], ready=lambda host_key: (2.0 if host_key == "a" else 0.0, ""), choosy=1.0
    )
    assert "b1" == take(made)


def test_choosy_uses_new_priorities_of_paused_hosts() -> None:
    until = {"a": 2.0, "b": 2.0}
    ready = frontier(
        "a1 b1 c1 c2", [0.5, 0.4, 0.4, 0.4], ready=lambda host_key: (until.get(host_key, 0.0), ""), choosy=0.7
    )
    assert "c1" == take(ready)
    ready.rank(np.array([1], np.int32), np.array([0.9]))
    assert "" == take(ready)
    ready.rank(np.array([1], np.int32), np.array([0.1]))
    assert "c2" == take(ready), "and so does what is learned after that"


def test_choosy_does_not_wait_for_seeds() -> None:
    made = choosy([0.5, 0.1], {"a": 2.0})
    made.rank(np.array([made.table.add_seed("a1")], np.int32), np.array([0.0]))
    assert "b1" == take(made)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(SCORES, st.sampled_from([FREE, FREE, HELD, SHUT])), min_size=1, max_size=ROWS),
    st.sampled_from([0.0, 0.7, 1.0]),
    st.sampled_from([0.0, PATIENCE, 300.0]),
    st.lists(st.sampled_from([0.0, 0.5, 3.0, 30.0]), min_size=LANES, max_size=LANES),
)
def test_choosy_fetches_every_row_eventually(
    rows: list[tuple[float, int]], share: float, patience: float, rests: list[float]
) -> None:
    table = Table(host_key=lambda node: f"lane {int(node) % LANES}")
    numbers = np.array([table.add(str(number), 0) for number in range(len(rows))], np.int32)
    until = list(rests)
    made = Frontier(table, ready=lambda host_key: (until[int(host_key[-1])], "rests"), patience=patience, choosy=share)
    made.rank(numbers, np.array([priority for priority, _ in rows]))
    made.hold(numbers, np.array([level for _, level in rows], np.uint8))
    now, left = 0.0, {number for number, (_, level) in enumerate(rows) if level != SHUT}
    for _ in range(500):
        row = made.take(now)
        if row >= 0:  # one request at a time; its host is paused after it
            left.remove(row)
            table.state[row] = DONE
            made.untake(row)
            until[row % LANES] = now + rests[row % LANES]
            made.wake(f"lane {row % LANES}")
        elif made.next_ready() == math.inf:
            break
        else:
            assert made.next_ready() > now
            now = made.next_ready()
    assert set() == left


def test_heap_of_paused_hosts_stays_small() -> None:
    host_keys, takes = 20, 3000
    until = dict.fromkeys(range(host_keys), 0.0)
    table = Table(host_key=lambda node: str(int(node) % host_keys))
    rows = np.array([table.add(str(number), 0) for number in range(host_keys * 200)], np.int32)
    made = Frontier(table, ready=lambda host_key: (until[int(host_key)], "rests"), choosy=0.7)
    made.rank(rows, np.random.default_rng(1).random(len(rows)))
    now, taken = 0.0, 0
    while taken < takes:
        row = made.take(now)
        if row < 0:
            now = made.next_ready()
            continue
        taken += 1
        table.state[row] = DONE
        made.untake(row)
        until[row % host_keys] = now + 1.0
        made.wake(str(row % host_keys))
    assert len(made._resting) <= 4 * host_keys


def test_heap_of_paused_hosts_grows_by_one_entry_per_rank() -> None:
    made = choosy([0.001, 0.5], {"a": 2.0, "b": 2.0})
    assert "" == take(made)
    for number in range(1000):
        made.rank(np.array([0], np.int32), np.array([0.001 * number]))
    assert len(made._resting) <= 1000 + 2
    assert ["a1", "b1"] == drain(made, 2.0)
