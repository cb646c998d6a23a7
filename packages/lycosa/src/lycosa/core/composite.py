"""Strategies: rules that pick a row from the priorities of an estimator; `steer` makes one from parameters."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.frontier import Frontier, HostQueue, Order, Ready
from lycosa.core.protocols import Estimator, Strategy
from lycosa.core.scan import Linear, ScanFrontier, is_linear
from lycosa.core.state import State, restore, state_of
from lycosa.core.table import OPEN
from lycosa.core.types import Pick, Priorities, Rows, Step

if TYPE_CHECKING:
    from lycosa.core.table import Table

Ties = Literal["first", "random"]
Dry = Literal["rank", "random"]
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # increment of splitmix64


class Greedy:
    """Pick the row with the highest priority among the ready queues (Gouriten et al. 2014, strategy 1).

    Ties go to the row discovered first, or with `ties="random"` to the one with the smallest hash of (seed, row).
    Estimators with `sweeping = True` get a frontier that scans all priorities, all others get heaps.
    """

    def __init__(self, estimator: Estimator, name: str = "", seed: int = 0, ties: Ties = "first") -> None:
        self.estimator = estimator
        self.name = name
        self.seed = seed
        self.ties = ties
        self.proportional = bool(getattr(estimator, "proportional", False))
        self.wants: tuple[str, ...] = tuple(getattr(estimator, "wants", ()))
        self.is_listener = hasattr(estimator, "reconsider")
        self._linear: Linear | None = estimator if is_linear(estimator) else None

    def frontier(
        self, table: Table, ready: Ready, host_budget: int = 0, patience: float = 300.0, choosy: float = 0.0
    ) -> Frontier:
        order = shuffled(self.seed) if self.ties == "random" else None
        if getattr(self.estimator, "sweeping", False):
            lines = len(self._linear.weights) if self._linear is not None else 0
            return ScanFrontier(table, ready, host_budget, patience, order, lines)
        return Frontier(table, ready, host_budget, patience, choosy, order)

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        self.refresh(self.estimator.learn(step, table), table, frontier)

    def reconsider(
        self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table, frontier: Frontier
    ) -> None:
        if self.is_listener:
            self.refresh(self.estimator.reconsider(rows, relevances_now, table), table, frontier)  # type: ignore[attr-defined]

    def explain(self, row: int, arm: str, table: Table) -> dict[str, float]:
        """Return the terms of a row's priority, which the estimator may not provide."""
        explain = getattr(self.estimator, "explain", None)
        return {} if explain is None else explain(row, table)

    def state(self) -> State:
        return state_of(self.estimator)

    def restore(self, state: State) -> None:
        restore(self.estimator, state)

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        self.rank(np.array([row], np.int32), table, frontier)

    def rank(self, rows: Rows, table: Table, frontier: Frontier) -> None:
        if not len(rows):
            return
        if self._linear is not None and isinstance(frontier, ScanFrontier) and frontier.linear:
            frontier.describe(rows, self._linear.features(rows, table))
        else:
            frontier.rank(rows, self.estimator.priority(rows, table))

    def refresh(self, rows: Rows, table: Table, frontier: Frontier) -> None:
        """Update the priorities of changed rows, or the weights behind all priorities if the estimator is linear."""
        self.rank(rows, table, frontier)
        if self._linear is not None and isinstance(frontier, ScanFrontier) and frontier.linear:
            frontier.weigh(self._linear.weights, self._linear.intercept)

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        row = frontier.take(now)
        return Pick(row, self.name, float(frontier.priority[row]) if row >= 0 else 0.0)

    def pick_other(
        self, best: Pick, min_priority: float, choose: Callable[[Rows], int], frontier: Frontier, now: float
    ) -> Pick:
        """Pick another available row with at least priority `min_priority` instead of the best one."""
        frontier.untake(best.row)
        rows = frontier.candidates(int(frontier.level[best.row]), min_priority, now)
        row = choose(rows) if len(rows) else best.row
        frontier.take_this(row, now)
        return Pick(row, self.name, float(frontier.priority[row]))


class Altered(Greedy):
    """With probability q pick the best row, otherwise any row with at least zeta times its priority, uniformly.

    Candidates are the rows available now: held rows only if no free one is left. Seeds come first. Priorities may be
    negative, so the bar is max - (1 - zeta) * |max|, which equals zeta * max for positive maxima. With zeta = 1 only
    ties are drawn from. Random numbers depend on (seed, pick number).

    Paper: Gouriten, Maniu, Senellart 2014, section 6.1, strategy 2. q is the probability of the best.
    """

    def __init__(
        self,
        estimator: Estimator,
        name: str = "",
        seed: int = 0,
        ties: Ties = "first",
        q: float = 1.0,
        zeta: float = 0.0,
    ) -> None:
        super().__init__(estimator, name, seed, ties)
        self.q = q
        self.zeta = zeta

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        best = super().pick(number, frontier, now)
        explore, which = np.random.default_rng((self.seed % 2**64, number)).random(2).tolist()
        if best.row < 0 or explore < self.q or best.priority == math.inf:
            return best
        min_priority = best.priority - (1.0 - self.zeta) * abs(best.priority)
        return self.pick_other(best, min_priority, lambda rows: int(rows[int(which * len(rows))]), frontier, now)


@runtime_checkable
class Chooser(Estimator, Protocol):
    """Estimator that chooses among the available rows itself."""

    def choose(self, rows: Rows, number: int, table: Table) -> int:
        """Return one of the rows; random choices may depend only on a seed and the pick number."""


class Drawn(Greedy):
    """Let the estimator choose among the rows available now, with its `choose` method.

    Seeds come first, and held rows are candidates only if no free one is left. Each pick scans every row.
    """

    def __init__(self, estimator: Chooser, name: str = "", seed: int = 0, ties: Ties = "first") -> None:
        super().__init__(estimator, name, seed, ties)
        self._choose = estimator.choose

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        best = super().pick(number, frontier, now)
        if best.row < 0 or best.priority == math.inf:
            return best
        return self.pick_other(best, -math.inf, lambda rows: self._choose(rows, number, frontier.table), frontier, now)


class Batched:
    """Update priorities, and add new rows to the frontier, only after every `batch` pages.

    Visits that close a row count (pages, redirects, final failures), in log order; picks, revisits and repeated visits
    of a seed don't. The visit of a seed also ends the batch and is not one of its pages: the paper's crawl begins when
    all seeds are fetched, and its first batch is chosen from the links of them all.

    A batch ends early when no ranked row is left to fetch, not counting held, shut and pruned rows and hosts with a
    spent budget. Rows in flight count as left until their visit is recorded, so a replayed log ends the batch with the
    same visit. This is `dry="rank"`. The paper instead picks at random among the rows discovered in this batch until it
    ends: `dry="random"`, not the default as it uses less knowledge.

    Waiting times are not in the log: if all remaining rows belong to hosts with a wait beyond the patience, new rows
    join at once, but still count as discovered in this batch.

    Paper: Gouriten, Maniu, Senellart 2014, section 6.2.
    """

    def __init__(self, greedy: Greedy, batch: int, dry: Dry = "rank") -> None:
        self.greedy = greedy
        self.batch = batch
        self.dry = dry
        self._is_dry = False
        self.name = greedy.name
        self.proportional = greedy.proportional
        self.wants = greedy.wants
        self._pages = 0  # pages of the current batch
        self._changed: list[Rows] = []  # rows new or changed since the batch began
        self._changed_count = 0  # total length of `_changed`, including repetitions
        self._table: Table | None = None

    def frontier(
        self, table: Table, ready: Ready, host_budget: int = 0, patience: float = 300.0, choosy: float = 0.0
    ) -> Frontier:
        self._table = table
        return self.greedy.frontier(table, ready, host_budget, patience, choosy)

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        self._collect_changed(self.greedy.estimator.learn(step, table), table)
        again = step.visit.follows > 0
        self._pages += not step.visit.retry_at and not again
        over = self._pages >= self.batch or (not again and bool(table.is_seed[step.row]))
        if not over and self.dry == "random" and (self._is_dry or not frontier.left()):
            self._is_dry = True
            self._draw(table, frontier)
        elif over or not frontier.left():
            self.greedy.refresh(self._rows(), table, frontier)
            self._pages, self._changed, self._changed_count, self._is_dry = 0, [], 0, False

    def reconsider(
        self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table, frontier: Frontier
    ) -> None:
        if self.greedy.is_listener:
            self._collect_changed(self.greedy.estimator.reconsider(rows, relevances_now, table), table)  # type: ignore[attr-defined]

    def _collect_changed(self, rows: Rows, table: Table) -> None:
        if len(rows):
            self._changed.append(rows)
            self._changed_count += len(rows)
            if self._changed_count > 2 * len(table):
                self._changed = [self._rows()]
                self._changed_count = len(self._changed[0])

    def _draw(self, table: Table, frontier: Frontier) -> None:
        rows = self._rows()
        new = rows[fit(frontier.priority, len(table), -math.inf)[rows] == -math.inf]
        frontier.rank(new, (shuffled(self.greedy.seed)(new) >> 32) / 2.0**31)

    def _rows(self) -> Rows:
        return np.unique(np.concatenate(self._changed)) if self._changed else np.zeros(0, np.int32)

    def explain(self, row: int, arm: str, table: Table) -> dict[str, float]:
        return self.greedy.explain(row, arm, table)

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        self.greedy.admit(row, table, frontier)

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        picked = self.greedy.pick(number, frontier, now)
        stuck = picked.row < 0 and not frontier.taken and frontier.next_ready() > now + frontier.patience
        if stuck and self._changed and self._table is not None:
            self.greedy.refresh(self._rows(), self._table, frontier)
            picked = self.greedy.pick(number, frontier, now)
        return picked


def splitmix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers with the last step of splitmix64; callers pass multiples of GOLDEN."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def shuffled(seed: int) -> Order:
    """Return an order of ties by a hash of (seed, row); the lower 32 bits of a key are the row itself.

    >>> np.argsort(shuffled(1)(np.arange(6))).tolist(), np.argsort(shuffled(2)(np.arange(6))).tolist()
    ([1, 4, 0, 5, 3, 2], [0, 5, 3, 4, 2, 1])
    """
    start = np.uint64((seed * int(GOLDEN) + 0x632BE59BD9B4E019) % 2**64)

    def order(rows: Rows) -> NDArray[np.int64]:
        x = splitmix(rows.astype(np.uint64) * GOLDEN + start)
        return ((x >> np.uint64(33)).astype(np.int64) << 32) | rows

    return order


def steer(
    estimator: Estimator,
    name: str = "",
    seed: int = 0,
    *,
    batch: int | None = None,
    q: float = 1.0,
    zeta: float = 0.0,
    ties: Ties = "first",
    dry: Dry = "rank",
    spread: float = 0.0,
) -> Strategy:
    """Return the strategy for an estimator and some parameters; `batch` defaults to the estimator's own."""
    size = int(getattr(estimator, "batch", 1)) if batch is None else batch
    if size < 1:
        raise ValueError(f"'batch' is {size}: it must be 1 (rank after every page) or more")
    if not 0 <= q <= 1:
        raise ValueError(f"'q' is {q}: it must be from 0 to 1, the probability of the best row")
    if not 0 <= zeta <= 1:
        raise ValueError(f"'zeta' is {zeta}: it must be from 0 to 1, a share of the best score")
    if ties not in ("first", "random"):
        raise ValueError(f"'ties' is {ties!r}: it must be first or random")
    if not 0 <= spread <= MAX_SPREAD:
        raise ValueError(f"'spread' is {spread}: it must be from 0 (off) to {MAX_SPREAD:g}")
    if spread and is_linear(estimator):
        raise ValueError("'spread' cannot be used with a regression: its priorities are not stored")
    greedy = _greedy(estimator, name, seed, ties, q, zeta, spread)
    if dry not in ("rank", "random"):
        raise ValueError(f"'dry' is {dry!r}: it must be rank or random")
    if dry == "random" and is_linear(estimator):
        raise ValueError("dry=random cannot be used with a regression: its priorities are not stored")
    return Batched(greedy, size, dry) if size > 1 else greedy


def _greedy(estimator: Estimator, name: str, seed: int, ties: Ties, q: float, zeta: float, spread: float) -> Greedy:
    if isinstance(estimator, Chooser):
        if q < 1 or spread:
            raise ValueError("'q' and 'spread' cannot be used with a strategy that picks at random itself")
        return Drawn(estimator, name, seed, ties)
    if spread:
        estimator = Spread(estimator, spread)
    return Altered(estimator, name, seed, ties, q, zeta) if q < 1 else Greedy(estimator, name, seed, ties)


class SharedHostQueue(HostQueue):
    """Queue of one host that exists in several frontiers; setting `pages` sets it in all of them."""

    __slots__ = ("own",)

    def __init__(self, own: list[HostQueue]) -> None:
        self.own = own
        super().__init__(own[0].number, own[0].name)

    @property
    def pages(self) -> int:
        return self.own[0].pages

    @pages.setter
    def pages(self, pages: int) -> None:
        for queue in self.own if pages else ():  # queues start with 0 pages
            queue.pages = pages


class Frontiers(Frontier):
    """Several frontiers over one table, each with its own ranking (`arms[i].rank`); `turn` selects the active one.

    All of them share the rows in flight, the held rows and the page counts of queues. `priority`, `level` and
    `next_ready` are those of the frontiers queried last: the others have not updated their waiting queues since.
    """

    def __init__(self, arms: Sequence[Frontier]) -> None:
        first = arms[0]
        super().__init__(first.table, first.ready, first.host_budget, first.patience, first.choosy)
        self.arms = list(arms)
        self.queried = [0]  # arms queried for the last row
        self._shared: dict[int, SharedHostQueue] = {}
        self.turn(0)

    def turn(self, arm: int) -> Frontiers:
        self._turn = arm
        self.taken, self.queues = self.arms[arm].taken, self.arms[arm].queues
        self.priority, self.level = self.arms[arm].priority, self.arms[arm].level
        return self

    def rank(self, rows: Rows, priorities: np.ndarray[tuple[int], np.dtype[np.floating]]) -> None:
        for arm in self.arms:
            arm.rank(rows, priorities)
        self.turn(self._turn)  # the columns of the frontiers may have been reallocated

    def hold(self, rows: Rows, levels: NDArray[np.uint8]) -> None:
        for arm in self.arms:
            arm.hold(rows, levels)
        self.turn(self._turn)

    def queue(self, number: int) -> HostQueue:
        shared = self._shared.get(number)
        if shared is None:
            shared = self._shared[number] = SharedHostQueue([arm.queue(number) for arm in self.arms])
        return shared

    def take(self, now: float) -> int:
        row = self.arms[self._turn].take(now)
        self.turn(self._turn)
        self.queried = [self._turn]
        for arm in self.arms if row >= 0 else ():
            if arm is not self.arms[self._turn]:
                arm.mark_taken(row, free=self.taken[row])
        return row

    def first(self, order: Iterable[int], now: float) -> tuple[int, int]:
        """Query frontiers in this order until one has a row; return its index and the row, or -1."""
        queried, row = [], -1
        for arm in order:
            queried.append(arm)
            row = self.turn(arm).take(now)
            if row >= 0:
                break
        self.queried = queried
        return self._turn, row

    def mark_taken(self, row: int, *, free: bool) -> None:
        for arm in self.arms:
            arm.mark_taken(row, free=free)

    def untake(self, row: int) -> None:
        for arm in self.arms:
            arm.untake(row)

    def postpone(self, row: int, until: float, why: str) -> None:
        for arm in self.arms:
            arm.postpone(row, until, why)

    def wake(self, name: str) -> None:
        for arm in self.arms:
            arm.wake(name)

    def next_ready(self) -> float:
        return min((self.arms[arm].next_ready() for arm in self.queried), default=math.inf)

    def left(self) -> bool:
        return any(arm.left() for arm in self.arms)

    def pruned(self) -> int:
        return min(arm.pruned() for arm in self.arms)

    def head(self, n: int) -> list[str]:
        return self.arms[self._turn].head(n)

    def waiting(self) -> list[HostQueue]:
        found = {queue.number: queue for arm in self.queried for queue in self.arms[arm].waiting()}
        return [found[number] for number in sorted(found)]


MAX_SPREAD = 4.0  # the second page of a host then counts a sixteenth as much


class Spread:
    """Estimator wrapper that discounts the priorities of hosts that have given pages, so that new sites come first.

        priority' = priority - (1 - (1 + n) ** -spread) * |priority|

    n is the number of pages fetched from the link's host, relevant or not. Using the sum of their relevance instead
    reached fewer sites for the same loss of pages. The order within a host does not change.
    """

    def __init__(self, estimator: Estimator, spread: float) -> None:
        self.estimator, self.spread = estimator, spread
        self._number: dict[str, int] = {}
        self._known = 0
        self._host = np.zeros(0, np.int32)  # host number of each row
        self._pages = np.zeros(0, np.int32)  # pages of each host
        self._rows: list[array[int]] = []  # rows of each host; some may be fetched by now

    def __getattr__(self, name: str) -> Any:
        """Forward other attributes to the estimator, and add the discount to `explain`."""
        if name == "estimator":  # not initialised yet, as in copy.copy
            raise AttributeError(name)
        found = getattr(self.estimator, name)
        return self._explain if name == "explain" else found

    def learn(self, step: Step, table: Table) -> Rows:
        """Return the rows to rank again: those of the estimator and, after a page, those of its host."""
        rows = self.estimator.learn(step, table)
        self._add_rows(table)
        if not step.visit.is_page:
            return rows
        host = self._host.item(step.row)
        self._pages[host] += 1
        host_rows = np.array(self._rows[host], np.int32)
        host_rows = host_rows[table.state[host_rows] == OPEN]
        self._rows[host] = array("i", host_rows.tobytes())
        return np.union1d(rows, host_rows).astype(np.int32)

    def priority(self, rows: Rows, table: Table) -> Priorities:
        self._add_rows(table)
        priorities = self.estimator.priority(rows, table).astype(np.float64)
        left = (1.0 + self._pages[self._host[rows]]) ** -self.spread
        return priorities - (1.0 - left) * np.abs(priorities)

    def _explain(self, row: int, table: Table) -> dict[str, float]:
        rows = np.array([row], np.int32)
        discount = self.priority(rows, table)[0] - float(self.estimator.priority(rows, table)[0])
        terms: dict[str, float] = self.estimator.explain(row, table)  # type: ignore[attr-defined]  # see __getattr__
        return {"spread": discount, **terms}

    def _add_rows(self, table: Table) -> None:
        begin, self._known = self._known, len(table)
        if begin == self._known:
            return
        self._host = fit(self._host, self._known)
        for row in range(begin, self._known):
            name = table.nodes[row].partition("://")[2].partition("/")[0]
            number = self._number.setdefault(name, len(self._number))
            if number == len(self._rows):
                self._rows.append(array("i"))
            self._rows[number].append(row)
            self._host[row] = number
        self._pages = fit(self._pages, len(self._rows))
