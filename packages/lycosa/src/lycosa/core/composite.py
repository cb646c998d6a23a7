"""A strategy decides which row to take, given what its estimator thinks of them.

`Greedy` takes the best. `Altered` now and then takes another good one, `Batched` looks at the scores of some pages ago;
the two go together. `Drawn` leaves the choice to its estimator. `steer` makes the one that some parameters ask for.
`Frontiers` ranks the same rows in several ways, and `Spread` prefers new sites.
"""

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
    """Always the row with the highest score among the queues that are ready (Gouriten et al. 2014, strategy 1).

    Of equal scores the row discovered first; with `ties="random"` the one with the smallest hash of (seed, row).
    An estimator with `sweeping = True` gets a frontier that looks through its scores, all others get heaps.
    """

    def __init__(self, estimator: Estimator, name: str = "", seed: int = 0, ties: Ties = "first") -> None:
        self.estimator = estimator
        self.name = name
        self.seed = seed
        self.ties = ties
        self.proportional = bool(getattr(estimator, "proportional", False))
        self.wants: tuple[str, ...] = tuple(getattr(estimator, "wants", ()))
        self.heeds = hasattr(estimator, "reconsider")
        self._linear: Linear | None = estimator if is_linear(estimator) else None

    def frontier(
        self, table: Table, ready: Ready, host_budget: int = 0, patience: float = 300.0, choosy: float = 0.0
    ) -> Frontier:
        """Heaps, one for each queue; or columns, which are not choosy."""
        order = shuffled(self.seed) if self.ties == "random" else None
        if getattr(self.estimator, "sweeping", False):
            lines = len(self._linear.weights) if self._linear is not None else 0
            return ScanFrontier(table, ready, host_budget, patience, order, lines)
        return Frontier(table, ready, host_budget, patience, choosy, order)

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        """Let the estimator see a visit, and rank the rows it says have changed."""
        self.refresh(self.estimator.learn(step, table), table, frontier)

    def reconsider(
        self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table, frontier: Frontier
    ) -> None:
        """Let an estimator that wants to know hear what the pages so far are worth now."""
        if self.heeds:
            self.refresh(self.estimator.reconsider(rows, relevances_now, table), table, frontier)  # type: ignore[attr-defined]

    def state(self) -> State:
        return state_of(self.estimator)

    def restore(self, state: State) -> None:
        restore(self.estimator, state)

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        """A seed joins the frontier."""
        self.rank(np.array([row], np.int32), table, frontier)

    def rank(self, rows: Rows, table: Table, frontier: Frontier) -> None:
        """Tell the frontier what rows are worth."""
        if not len(rows):
            return
        if self._linear is not None and isinstance(frontier, ScanFrontier) and frontier.linear:
            frontier.describe(rows, self._linear.features(rows, table))
        else:
            frontier.rank(rows, self.estimator.priority(rows, table))

    def refresh(self, rows: Rows, table: Table, frontier: Frontier) -> None:
        """Tell the frontier what rows that have changed are worth; all others, too, if scores come by weights."""
        self.rank(rows, table, frontier)
        if self._linear is not None and isinstance(frontier, ScanFrontier) and frontier.linear:
            frontier.weigh(self._linear.weights, self._linear.intercept)

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        """The best row, if any is ready."""
        row = frontier.take(now)
        return Pick(row, self.name, float(frontier.priority[row]) if row >= 0 else 0.0)

    def instead(self, best: Pick, least: float, choose: Callable[[Rows], int], frontier: Frontier, now: float) -> Pick:
        """Another of the rows that could be taken now in place of the best: one that scores so much at least."""
        frontier.untake(best.row)
        rows = frontier.candidates(int(frontier.level[best.row]), least, now)
        row = choose(rows) if len(rows) else best.row
        frontier.take_this(row, now)
        return Pick(row, self.name, float(frontier.priority[row]))


class Altered(Greedy):
    """With probability q the best row, else any that scores at least zeta times as much, each as likely.

    Chosen from are the rows that could be taken now: of queues that are ready, and held ones only where no free one is
    left. Seeds come first as ever. Scores may be negative: the bar is max - (1 - zeta) * |max|, which is zeta * max
    for a positive maximum; for a negative one it is below it by as much. With zeta = 1 only ties are drawn from.

    Chance is drawn from (seed, number of the pick). An exploring pick looks at every row, which takes some
    milliseconds when there are a million.

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
        """The best row or, now and then, another good one."""
        best = super().pick(number, frontier, now)
        explore, which = np.random.default_rng((self.seed % 2**64, number)).random(2).tolist()
        if best.row < 0 or explore < self.q or best.priority == math.inf:
            return best
        least = best.priority - (1.0 - self.zeta) * abs(best.priority)
        return self.instead(best, least, lambda rows: int(rows[int(which * len(rows))]), frontier, now)


@runtime_checkable
class Chooser(Estimator, Protocol):
    """An estimator with a policy of its own, which is not to take the row with the highest score."""

    def choose(self, rows: Rows, number: int, table: Table) -> int:
        """One of the rows, for the pick of this number; chance is drawn from a seed and that number."""


class Drawn(Greedy):
    """The estimator chooses (`choose`), among the rows that could be taken now: for policies that draw.

    As ever, seeds come first, and held rows only where no free one is left. Each pick looks at every row.
    """

    def __init__(self, estimator: Chooser, name: str = "", seed: int = 0, ties: Ties = "first") -> None:
        super().__init__(estimator, name, seed, ties)
        self._choose = estimator.choose

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        """What the estimator chooses, if any row is ready."""
        best = super().pick(number, frontier, now)
        if best.row < 0 or best.priority == math.inf:
            return best
        return self.instead(best, -math.inf, lambda rows: self._choose(rows, number, frontier.table), frontier, now)


class Batched:
    """Scores are looked at, and newly found rows join, only after every so many pages.

    What counts is the log: visits that close a row (pages, redirects, failures that are not tried again), in the order
    in which they were recorded. Picks don't count, as several are in flight and a resumed crawl has none; nor do visits
    of pages that were visited before, a seed's among them.

    A batch ends early when no row that is ranked is left to be fetched. Rows in flight are left: they are open until
    their visit is recorded. So the batch ends with the visit that closes the last one, and a replayed log, which knows
    nothing of what was in flight, ends it with the same visit. Rows that are held, shut or pruned, and those of hosts
    whose budget is spent, are not left. That is `dry="rank"`. The paper then picks at random, to the end of the batch,
    among what was found since it began: `dry="random"`, which knows less, and is not the default for that reason.

    The visit of a seed ends the batch, too, and is none of its pages: the paper's crawl begins when all seeds are in,
    and its first batch is chosen from the links of them all.

    What only the clock knows is not in the log: if all that is left belongs to hosts that want to be left alone for
    longer than our patience, what was found since joins at once, but still counts as found during this batch.

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
        self._pages = 0  # of the present batch
        self._changed: list[Rows] = []  # rows that were found or have changed since it began
        self._noted = 0  # how many those are, repetitions included
        self._table: Table | None = None

    def frontier(
        self, table: Table, ready: Ready, host_budget: int = 0, patience: float = 300.0, choosy: float = 0.0
    ) -> Frontier:
        """That of the strategy within."""
        self._table = table
        return self.greedy.frontier(table, ready, host_budget, patience, choosy)

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        """Let the estimator see a visit; rank at the end of the batch."""
        self._note(self.greedy.estimator.learn(step, table), table)
        again = step.visit.follows > 0
        self._pages += not step.visit.retry_at and not again
        over = self._pages >= self.batch or (not again and bool(table.is_seed[step.row]))
        if not over and self.dry == "random" and (self._is_dry or not frontier.left()):
            self._is_dry = True
            self._draw(table, frontier)
        elif over or not frontier.left():
            self.greedy.refresh(self._rows(), table, frontier)
            self._pages, self._changed, self._noted, self._is_dry = 0, [], 0, False

    def reconsider(
        self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table, frontier: Frontier
    ) -> None:
        """Let the estimator hear of it; what changes is ranked at the end of the batch."""
        if self.greedy.heeds:
            self._note(self.greedy.estimator.reconsider(rows, relevances_now, table), table)  # type: ignore[attr-defined]

    def _note(self, rows: Rows, table: Table) -> None:
        """These have changed since the batch began."""
        if len(rows):
            self._changed.append(rows)
            self._noted += len(rows)
            if self._noted > 2 * len(table):
                self._changed = [self._rows()]
                self._noted = len(self._changed[0])

    def _draw(self, table: Table, frontier: Frontier) -> None:
        """Rank what has no rank yet by chance, keyed by the row: its true rank comes with the end of the batch."""
        rows = self._rows()
        new = rows[fit(frontier.priority, len(table), -math.inf)[rows] == -math.inf]
        frontier.rank(new, (shuffled(self.greedy.seed)(new) >> 32) / 2.0**31)

    def _rows(self) -> Rows:
        return np.unique(np.concatenate(self._changed)) if self._changed else np.zeros(0, np.int32)

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        """A seed joins the frontier, and does not wait."""
        self.greedy.admit(row, table, frontier)

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        """What the strategy within picks."""
        picked = self.greedy.pick(number, frontier, now)
        stuck = picked.row < 0 and not frontier.taken and frontier.next_ready() > now + frontier.patience
        if stuck and self._changed and self._table is not None:
            self.greedy.refresh(self._rows(), self._table, frontier)
            picked = self.greedy.pick(number, frontier, now)
        return picked


def splitmix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of each number: the last step of splitmix64, to which multiples of GOLDEN are given."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def shuffled(seed: int) -> Order:
    """Places among equals by a hash of (seed, row), splitmix64; the row itself is the lower half of its place.

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
    """Greedy over an estimator, or one of its variants. An estimator may ask for a `batch` of its own."""
    size = int(getattr(estimator, "batch", 1)) if batch is None else batch
    if size < 1:
        raise ValueError(f"batch is {size}: it must be 1 (rank after every page) or more")
    if not 0 <= q <= 1:
        raise ValueError(f"q is {q}: it must be from 0 to 1, the probability of the best row")
    if not 0 <= zeta <= 1:
        raise ValueError(f"zeta is {zeta}: it must be from 0 to 1, a share of the best score")
    if ties not in ("first", "random"):
        raise ValueError(f"ties is {ties!r}: it must be first or random")
    if not 0 <= spread <= MOST_SPREAD:
        raise ValueError(f"spread is {spread}: it must be from 0 (pages wherever they are) to {MOST_SPREAD:g}")
    if spread and is_linear(estimator):
        raise ValueError("spread is not for a regression: its scores are made of features, none can be discounted")
    greedy = _greedy(estimator, name, seed, ties, q, zeta, spread)
    if dry not in ("rank", "random"):
        raise ValueError(f"dry is {dry!r}: it must be rank or random")
    if dry == "random" and is_linear(estimator):
        raise ValueError("dry=random is not for a regression: its scores are made of features, none can be drawn")
    return Batched(greedy, size, dry) if size > 1 else greedy


def _greedy(estimator: Estimator, name: str, seed: int, ties: Ties, q: float, zeta: float, spread: float) -> Greedy:
    if isinstance(estimator, Chooser):
        if q < 1 or spread:
            raise ValueError("q and spread are not for a strategy that draws what it fetches: it has its own chances")
        return Drawn(estimator, name, seed, ties)
    if spread:
        estimator = Spread(estimator, spread)
    return Altered(estimator, name, seed, ties, q, zeta) if q < 1 else Greedy(estimator, name, seed, ties)


# -- several rankings --------------------------------------------------------------------------------------

# Several rankings of the same rows: one frontier for each, and what is in flight is in flight for all of them.


class SharedHostQueue(HostQueue):
    """A queue of several frontiers as one: a page that is counted is counted in all of them."""

    __slots__ = ("own",)

    def __init__(self, own: list[HostQueue]) -> None:
        self.own = own
        super().__init__(own[0].number, own[0].name)

    @property
    def pages(self) -> int:
        """Pages got from this queue."""
        return self.own[0].pages

    @pages.setter
    def pages(self, pages: int) -> None:
        for queue in self.own if pages else ():  # 0 is where every queue begins
            queue.pages = pages


class Frontiers(Frontier):
    """Frontiers over one table, each ranked by itself (`arms[i].rank`); `turn` says which is asked next.

    A row taken from one is lent by all, one held back is held back in all, and a queue's pages and visits under way
    count for all. `priority` and `level` are those of the frontier asked last, and so is `next_ready`: the others have
    not looked at their waiting queues since they were asked, and would tell a time that is long past.

    >>> from lycosa.core.table import Table
    >>> table = Table(); rows = np.array([table.add(name, 0) for name in "abc"], np.int32)
    >>> both = Frontiers([Frontier(table), Frontier(table)])
    >>> both.arms[0].rank(rows, np.array([.3, .2, .1])); both.arms[1].rank(rows, np.array([.1, .2, .3]))
    >>> [table.nodes[both.turn(arm).take(now=0.0)] for arm in (0, 1, 0)]
    ['a', 'c', 'b']
    """

    def __init__(self, arms: Sequence[Frontier]) -> None:
        first = arms[0]
        super().__init__(first.table, first.ready, first.host_budget, first.patience, first.choosy)
        self.arms = list(arms)
        self.asked = [0]  # arms asked for the last row
        self._shared: dict[int, SharedHostQueue] = {}
        self.turn(0)

    def turn(self, arm: int) -> Frontiers:
        """Let this one answer from now on."""
        self._turn = arm
        self.taken, self.queues = self.arms[arm].taken, self.arms[arm].queues
        self.priority, self.level = self.arms[arm].priority, self.arms[arm].level
        return self

    def rank(self, rows: Rows, priorities: np.ndarray[tuple[int], np.dtype[np.floating]]) -> None:
        """Give rows the same score in all of them."""
        for arm in self.arms:
            arm.rank(rows, priorities)
        self.turn(self._turn)  # their columns may have grown

    def hold(self, rows: Rows, levels: NDArray[np.uint8]) -> None:
        """Hold rows back, or let them go, in all of them."""
        for arm in self.arms:
            arm.hold(rows, levels)
        self.turn(self._turn)

    def queue(self, number: int) -> HostQueue:
        """A queue by its number in the table, as one for all."""
        shared = self._shared.get(number)
        if shared is None:
            shared = self._shared[number] = SharedHostQueue([arm.queue(number) for arm in self.arms])
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
        """Give a row back, and leave its queue alone until then, in all of them."""
        for arm in self.arms:
            arm.postpone(row, until, why)

    def wake(self, name: str) -> None:
        """Something about a queue changed: each looks again."""
        for arm in self.arms:
            arm.wake(name)

    def next_ready(self) -> float:
        """When the next queue becomes ready, as far as those know who were asked last."""
        return min((self.arms[arm].next_ready() for arm in self.asked), default=math.inf)

    def left(self) -> bool:
        """Whether any of them has a row that may ever be taken."""
        return any(arm.left() for arm in self.arms)

    def pruned(self) -> int:
        """How many open rows all of them want not fetched, and that never were; as many as the least one has."""
        return min(arm.pruned() for arm in self.arms)

    def head(self, n: int) -> list[str]:
        """Names of some queues that are about to be picked."""
        return self.arms[self._turn].head(n)

    def waiting(self) -> list[HostQueue]:
        """Lanes that have rows but may not be used now, as far as those know who were asked last."""
        found = {queue.number: queue for arm in self.asked for queue in self.arms[arm].waiting()}
        return [found[number] for number in sorted(found)]


# -- spread over sites -------------------------------------------------------------------------------------

# New sites before more of the same: what a link promises counts the less, the more pages its host has given.
#
#     score' = score - (1 - (1 + n) ** -spread) * |score|        that is score / (1 + n) ** spread where it is positive
#
# n is the number of pages that were fetched from the link's host, relevant or not: adding up their beta instead found
# fewer sites for the same loss of pages. Any estimator can be spread, and within a host the order stays its own.

MOST_SPREAD = 4.0  # then a second page of a host is worth a sixteenth


class Spread:
    """An estimator whose scores are discounted host by host. All else is the estimator's own."""

    def __init__(self, estimator: Estimator, spread: float) -> None:
        self.estimator, self.spread = estimator, spread
        self._number: dict[str, int] = {}
        self._known = 0
        self._host = np.zeros(0, np.int32)  # of each row
        self._pages = np.zeros(0, np.int32)  # of each host
        self._rows: list[array[int]] = []  # of each host; some may be fetched by now

    def __getattr__(self, name: str) -> Any:
        """What the estimator has beside `learn` and `priority`. Its reasons add up to less."""
        if name == "estimator":  # not made yet: a copy, say
            raise AttributeError(name)
        found = getattr(self.estimator, name)
        return self._explain if name == "explain" else found

    def learn(self, step: Step, table: Table) -> Rows:
        """The rows that the estimator wants scored again, and after a page those of its host."""
        rows = self.estimator.learn(step, table)
        self._meet(table)
        if not step.visit.is_page:
            return rows
        host = self._host.item(step.row)
        self._pages[host] += 1
        of_host = np.array(self._rows[host], np.int32)
        of_host = of_host[table.state[of_host] == OPEN]
        self._rows[host] = array("i", of_host.tobytes())
        return np.union1d(rows, of_host).astype(np.int32)

    def priority(self, rows: Rows, table: Table) -> Priorities:
        """What the estimator says, and what is left of it."""
        self._meet(table)
        priorities = self.estimator.priority(rows, table).astype(np.float64)
        left = (1.0 + self._pages[self._host[rows]]) ** -self.spread
        return priorities - (1.0 - left) * np.abs(priorities)

    def _explain(self, row: int, table: Table) -> dict[str, float]:
        rows = np.array([row], np.int32)
        lost = self.priority(rows, table)[0] - float(self.estimator.priority(rows, table)[0])
        terms: dict[str, float] = self.estimator.explain(row, table)  # type: ignore[attr-defined]  # see __getattr__
        return {"spread": lost, **terms}

    def _meet(self, table: Table) -> None:
        """Which hosts new rows are of."""
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
