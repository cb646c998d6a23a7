"""Tests of several frontiers with their own rankings over one table."""

from __future__ import annotations

import math

import numpy as np

from lycosa.core.composite import Frontiers
from lycosa.core.frontier import FREE, HELD, Frontier
from lycosa.core.table import DONE, Table


class Hosts:
    def __init__(self, **until: float) -> None:
        self.until = until

    def __call__(self, host_key: str) -> tuple[float, str]:
        return self.until.get(host_key, 0.0), "pause"


def frontiers(nodes: str, *rankings: list[float], hosts: Hosts | None = None, host_budget: int = 0) -> Frontiers:
    """Return frontiers of nodes named by host and number ("a1"), ranked several times."""
    table = Table(host_key=lambda node: node[0])
    rows = np.array([table.add(node, 0) for node in nodes.split()], np.int32)
    made = Frontiers([Frontier(table, hosts or Hosts(), host_budget) for _ in rankings])
    for arm, priorities in zip(made.arms, rankings, strict=True):
        arm.rank(rows, np.array(priorities))
    return made


def take(made: Frontiers, arm: int, now: float = 0.0) -> str:
    row = made.turn(arm).take(now)
    return made.table.nodes[row] if row >= 0 else ""


def end(made: Frontiers, node: str) -> None:
    row = made.table.row_of[node]
    made.table.state[row] = DONE
    made.untake(row)
    made.wake(node[0])


def test_row_in_flight_is_shared() -> None:
    made = frontiers("a1 b1", [0.9, 0.1], [0.9, 0.1])
    assert ["a1", "b1", ""] == [take(made, 0), take(made, 1), take(made, 0)]
    made.untake(made.table.row_of["a1"])
    assert "a1" == take(made, 1)


def test_host_budget_is_shared() -> None:
    made = frontiers("a1 a2 a3 b1", [0.9, 0.8, 0.7, 0.1], [0.7, 0.8, 0.9, 0.1], host_budget=2)
    assert ["a1", "a3", "b1", ""] == [take(made, arm) for arm in (0, 1, 0, 1)]
    made.queue(made.table.host_number["a"]).pages += 1  # a1 was a page, a3 failed
    for node in ("a1", "a3"):
        end(made, node)
    assert [1, 1] == [arm.queue(0).pages for arm in made.arms]
    assert ["a2", ""] == [take(made, 0), take(made, 1)]


def test_held_rows_wait_for_free_rows_of_other_arms() -> None:
    made = frontiers("a1 b1 c1", [0.9, 0.5, 0.5], [0.1, 0.8, 0.9])
    rows = np.arange(3, dtype=np.int32)
    made.hold(rows, np.array([FREE, HELD, HELD], np.uint8))
    assert ["a1", ""] == [take(made, 0), take(made, 1)]
    end(made, "a1")
    assert "c1" == take(made, 1)


def test_next_ready_considers_queried_arms_only() -> None:
    hosts = Hosts(a=5.0, b=0.0)
    made = frontiers("a1 b1 b2", [0.9, 0.5, 0.4], [0.1, 0.9, 0.8], hosts=hosts)
    assert "b1" == take(made, 0), "arm 0 saw that lane a waits until 5"
    hosts.until = {"a": 100.0, "b": 100.0}
    assert "" == take(made, 1, now=50.0)
    assert 5.0 == made.arms[0].next_ready()
    assert 100.0 == made.next_ready()


def test_first_searches_all_arms() -> None:
    hosts = Hosts(a=7.0, b=9.0)
    made = frontiers("a1 b1", [0.9, 0.5], [0.1, 0.9], hosts=hosts)
    assert (1, -1) == made.first([0, 1], now=0.0)
    assert ([0, 1], 7.0, ["a", "b"]) == (made.queried, made.next_ready(), [host.name for host in made.waiting()])
    hosts.until = {}
    assert (1, 1) == made.first([1, 0], now=10.0)
    assert ([1], math.inf) == (made.queried, made.next_ready())


def test_postponed_row_blocks_all_arms() -> None:
    made = frontiers("a1 b1", [0.9, 0.1], [0.9, 0.1])
    assert "a1" == take(made, 0)
    made.postpone(0, 3.0, "robots.txt")
    assert ["b1", "", "a1"] == [take(made, 1), take(made, 1), take(made, 1, now=3.0)]
