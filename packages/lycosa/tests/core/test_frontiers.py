"""Several rankings of the same rows: what is taken, held, spent and waited for is so in all of them."""

from __future__ import annotations

import math

import numpy as np

from lycosa.core.composite import Frontiers
from lycosa.core.frontier import FREE, HELD, Frontier
from lycosa.core.table import DONE, Table


class Hosts:
    """When each lane may be used."""

    def __init__(self, **until: float) -> None:
        self.until = until

    def __call__(self, host_key: str) -> tuple[float, str]:
        return self.until.get(host_key, 0.0), "pause"


def frontiers(nodes: str, *rankings: list[float], hosts: Hosts | None = None, host_budget: int = 0) -> Frontiers:
    """Nodes named by lane and number ("a1"), ranked several times."""
    table = Table(host_key=lambda node: node[0])
    rows = np.array([table.add(node, 0) for node in nodes.split()], np.int32)
    made = Frontiers([Frontier(table, hosts or Hosts(), host_budget) for _ in rankings])
    for arm, priorities in zip(made.arms, rankings, strict=True):
        arm.rank(rows, np.array(priorities))
    return made


def take(made: Frontiers, arm: int, now: float = 0.0) -> str:
    """The node that an arm gives, or nothing."""
    row = made.turn(arm).take(now)
    return made.table.nodes[row] if row >= 0 else ""


def end(made: Frontiers, node: str) -> None:
    """The node's visit is over for good."""
    row = made.table.row_of[node]
    made.table.state[row] = DONE
    made.untake(row)
    made.wake(node[0])


def test_what_one_takes_no_other_gives() -> None:
    """A row in flight is in flight for all, and comes back for all."""
    made = frontiers("a1 b1", [0.9, 0.1], [0.9, 0.1])
    assert ["a1", "b1", ""] == [take(made, 0), take(made, 1), take(made, 0)]
    made.untake(made.table.row_of["a1"])
    assert "a1" == take(made, 1)


def test_a_lane_s_budget_is_one_for_all() -> None:
    """Two pages of a host are two pages, whichever arms took them, in flight or counted."""
    made = frontiers("a1 a2 a3 b1", [0.9, 0.8, 0.7, 0.1], [0.7, 0.8, 0.9, 0.1], host_budget=2)
    assert ["a1", "a3", "b1", ""] == [take(made, arm) for arm in (0, 1, 0, 1)]
    made.queue(made.table.host_number["a"]).pages += 1  # a1 was a page, a3 was none
    for node in ("a1", "a3"):
        end(made, node)
    assert [1, 1] == [arm.queue(0).pages for arm in made.arms]
    assert ["a2", ""] == [take(made, 0), take(made, 1)]


def test_held_rows_wait_for_free_ones_of_other_arms() -> None:
    """A free row in flight holds back the held ones of every arm."""
    made = frontiers("a1 b1 c1", [0.9, 0.5, 0.5], [0.1, 0.8, 0.9])
    rows = np.arange(3, dtype=np.int32)
    made.hold(rows, np.array([FREE, HELD, HELD], np.uint8))
    assert ["a1", ""] == [take(made, 0), take(made, 1)]
    end(made, "a1")
    assert "c1" == take(made, 1)


def test_only_those_asked_say_when_they_are_ready() -> None:
    """A lane that an arm saw waiting long ago is no reason to look again at once, and again, and again."""
    hosts = Hosts(a=5.0, b=0.0)
    made = frontiers("a1 b1 b2", [0.9, 0.5, 0.4], [0.1, 0.9, 0.8], hosts=hosts)
    assert "b1" == take(made, 0), "arm 0 saw that lane a waits until 5"
    hosts.until = {"a": 100.0, "b": 100.0}
    assert "" == take(made, 1, now=50.0)
    assert 5.0 == made.arms[0].next_ready()
    assert 100.0 == made.next_ready()


def test_all_are_asked_before_there_is_nothing() -> None:
    """An arm that has nothing to give is passed over; if all are, the earliest of all their waits counts."""
    hosts = Hosts(a=7.0, b=9.0)
    made = frontiers("a1 b1", [0.9, 0.5], [0.1, 0.9], hosts=hosts)
    assert (1, -1) == made.first([0, 1], now=0.0)
    assert ([0, 1], 7.0, ["a", "b"]) == (made.asked, made.next_ready(), [host_key.name for host_key in made.waiting()])
    hosts.until = {}
    assert (1, 1) == made.first([1, 0], now=10.0)
    assert ([1], math.inf) == (made.asked, made.next_ready())


def test_a_postponed_row_leaves_its_lane_alone_in_all() -> None:
    """What one arm gave back is not given by another before its time."""
    made = frontiers("a1 b1", [0.9, 0.1], [0.9, 0.1])
    assert "a1" == take(made, 0)
    made.postpone(0, 3.0, "robots.txt")
    assert ["b1", "", "a1"] == [take(made, 1), take(made, 1), take(made, 1, now=3.0)]
