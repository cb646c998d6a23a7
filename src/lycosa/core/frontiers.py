"""Several rankings of the same rows: one frontier for each, and what is in flight is in flight for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lycosa.core.frontier import Frontier, Lane

if TYPE_CHECKING:
    from lycosa.core.types import Rows


class SharedLane(Lane):
    """A lane of several frontiers as one: a page that is counted is counted in all of them."""

    __slots__ = ("own",)

    def __init__(self, own: list[Lane]) -> None:
        self.own = own
        super().__init__(own[0].number, own[0].name)

    @property
    def pages(self) -> int:
        """Pages got from this lane."""
        return self.own[0].pages

    @pages.setter
    def pages(self, pages: int) -> None:
        for lane in self.own if pages else ():  # 0 is where every lane begins
            lane.pages = pages


class Frontiers(Frontier):
    """Frontiers over one table, each ranked by itself (`arms[i].rank`); `turn` says which is asked next.

    A row taken from one is lent by all, one held back is held back in all, and a lane's pages and visits under way
    count for all. `score` and `level` are those of the frontier asked last, and so is `next_ready`: the others have
    not looked at their waiting lanes since they were asked, and would tell a time that is long past.

    >>> from lycosa.core.table import Table
    >>> table = Table(); rows = np.array([table.add(name, 0) for name in "abc"], np.int32)
    >>> both = Frontiers([Frontier(table), Frontier(table)])
    >>> both.arms[0].rank(rows, np.array([.3, .2, .1])); both.arms[1].rank(rows, np.array([.1, .2, .3]))
    >>> [table.nodes[both.turn(arm).take(now=0.0)] for arm in (0, 1, 0)]
    ['a', 'c', 'b']
    """

    def __init__(self, arms: Sequence[Frontier]) -> None:
        first = arms[0]
        super().__init__(first.table, first.ready, first.lane_budget, first.patience, first.choosy)
        self.arms = list(arms)
        self.asked = [0]
        """Those that were asked for the last row."""
        self._shared: dict[int, SharedLane] = {}
        self.turn(0)

    def turn(self, arm: int) -> Frontiers:
        """Let this one answer from now on."""
        self._turn = arm
        self.taken, self.lanes = self.arms[arm].taken, self.arms[arm].lanes
        self.score, self.level = self.arms[arm].score, self.arms[arm].level
        return self

    def rank(self, rows: Rows, scores: np.ndarray[tuple[int], np.dtype[np.floating]]) -> None:
        """Give rows the same score in all of them."""
        for arm in self.arms:
            arm.rank(rows, scores)
        self.turn(self._turn)  # their columns may have grown

    def hold(self, rows: Rows, levels: NDArray[np.uint8]) -> None:
        """Hold rows back, or let them go, in all of them."""
        for arm in self.arms:
            arm.hold(rows, levels)
        self.turn(self._turn)

    def lane(self, number: int) -> Lane:
        """A lane by its number in the table, as one for all."""
        shared = self._shared.get(number)
        if shared is None:
            shared = self._shared[number] = SharedLane([arm.lane(number) for arm in self.arms])
        return shared

    def take(self, now: float) -> int:
        """The best row of the one whose turn it is, or -1."""
        row = self.arms[self._turn].take(now)
        self.turn(self._turn)
        self.asked = [self._turn]
        for arm in self.arms if row >= 0 else ():
            if arm is not self.arms[self._turn]:
                arm.lend(row, free=self.taken[row])
        return row

    def first(self, order: Iterable[int], now: float) -> tuple[int, int]:
        """Ask them in this order until one has a row to give: which one, and the row or -1."""
        asked, row = [], -1
        for arm in order:
            asked.append(arm)
            row = self.turn(arm).take(now)
            if row >= 0:
                break
        self.asked = asked
        return self._turn, row

    def lend(self, row: int, *, free: bool) -> None:
        """The row is in flight for all of them."""
        for arm in self.arms:
            arm.lend(row, free=free)

    def untake(self, row: int) -> None:
        """The row's visit ended, for all of them."""
        for arm in self.arms:
            arm.untake(row)

    def postpone(self, row: int, until: float, why: str) -> None:
        """Give a row back, and leave its lane alone until then, in all of them."""
        for arm in self.arms:
            arm.postpone(row, until, why)

    def wake(self, name: str) -> None:
        """Something about a lane changed: each looks again."""
        for arm in self.arms:
            arm.wake(name)

    def next_ready(self) -> float:
        """When the next lane becomes ready, as far as those know who were asked last."""
        return min((self.arms[arm].next_ready() for arm in self.asked), default=math.inf)

    def left(self) -> bool:
        """Whether any of them has a row that may ever be taken."""
        return any(arm.left() for arm in self.arms)

    def pruned(self) -> int:
        """How many open rows all of them want not fetched, and that never were; as many as the least one has."""
        return min(arm.pruned() for arm in self.arms)

    def head(self, n: int) -> list[str]:
        """Names of some lanes that are about to be picked."""
        return self.arms[self._turn].head(n)

    def waiting(self) -> list[Lane]:
        """Lanes that have rows but may not be used now, as far as those know who were asked last."""
        found = {lane.number: lane for arm in self.asked for lane in self.arms[arm].waiting()}
        return [found[number] for number in sorted(found)]
