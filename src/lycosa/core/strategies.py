"""A strategy decides which row to take, given what its estimator thinks of them.

`Greedy` takes the best. `Altered` now and then takes another good one, `Batched` looks at the scores of some pages ago;
the two go together. `Drawn` leaves the choice to its estimator. `steer` makes the one that some parameters ask for.

Paper items:
    batsakis-priority: `--strategy`. Test: crawl/test_every_strategy.py::test_it_finds_its_topic.
    gouriten-score-frontier: `--strategy`. Test: test_checks.py::test_every_estimator_passes.
    gouriten-get-batch-size: `--strategy best-first,batch=8`. Test:
        core/test_steering.py::test_new_rows_join_at_the_end_of_a_batch.
    gouriten-get-next-nodes: `--strategy best-first,q=.8,zeta=.5`. Test: core/test_steering.py::test_they_go_together.
    gouriten-greedy: `lycosa crawl`. Test: core/test_frontier.py::test_order_equals_brute_force. Departs: of hosts that
        are ready; a crawl may wait for a better one (`--choosy`).
    gouriten-altered-greedy: `--strategy fl_n,q=.8,zeta=.5`. Test:
        core/test_steering.py::test_q_is_the_probability_of_the_best.
    gouriten-batch: `--strategy oracle,scores=FILE,batch=32,dry=random`. Test:
        core/test_steering.py::test_a_dry_batch_goes_on_at_random. Departs: ranks again instead unless `dry=random`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.frontier import Frontier, Order, Ready
from lycosa.core.pool import Linear, is_linear
from lycosa.core.protocols import Estimator, Hears, Shares, Strategy
from lycosa.core.scan import ScanFrontier
from lycosa.core.spread import MOST_SPREAD, Spread
from lycosa.core.state import State, restore, state_of
from lycosa.core.types import Pick, Rows, Step

if TYPE_CHECKING:
    from lycosa.core.table import Table

Ties = Literal["first", "random"]
Dry = Literal["rank", "random"]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""What the states of splitmix64 differ by."""


class Greedy:
    """Always the row with the highest score among the lanes that are ready (Gouriten et al. 2014, strategy 1).

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
        self._hears: Hears | None = estimator if isinstance(estimator, Hears) else None
        self._heard: list[Rows] = []

    def frontier(
        self, table: Table, ready: Ready, lane_budget: int = 0, patience: float = 300.0, choosy: float = 0.0
    ) -> Frontier:
        """Heaps, one for each lane; or columns, which are not choosy."""
        order = shuffled(self.seed) if self.ties == "random" else None
        if getattr(self.estimator, "sweeping", False):
            lines = len(self._linear.weights) if self._linear is not None else 0
            return ScanFrontier(table, ready, lane_budget, patience, order, lines)
        return Frontier(table, ready, lane_budget, patience, choosy, order)

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        """Let the estimator see a visit, and rank the rows it says have changed."""
        self.refresh(self.estimator.learn(step, table), table, frontier)

    def hear(self, step: Step, table: Table, frontier: Frontier) -> None:
        """Let the estimator see links on a page that another shard has fetched; after some such pages comes `heard`."""
        if self._hears is not None:
            self._heard.append(self._hears.hear(step, table))
        else:
            self.learn(step, table, frontier)

    def heard(self, table: Table, frontier: Frontier) -> None:
        """Rank what those pages link to."""
        if self._hears is not None and self._heard:
            rows, self._heard = np.concatenate(self._heard), []
            self.refresh(self._hears.heard(rows, table), table, frontier)

    def reconsider(self, rows: Rows, worths: NDArray[np.floating[Any]], table: Table, frontier: Frontier) -> None:
        """Let an estimator that wants to know hear what the pages so far are worth now."""
        if self.heeds:
            self.refresh(self.estimator.reconsider(rows, worths, table), table, frontier)  # type: ignore[attr-defined]

    def sums(self) -> dict[str, Any]:
        """What its estimator has learned that others can add to theirs; nothing if it can't tell."""
        return self.estimator.sums() if isinstance(self.estimator, Shares) else {}

    def share(self, sums: dict[str, Any], table: Table, frontier: Frontier) -> None:
        """Let an estimator that can use it know what others have learned."""
        if isinstance(self.estimator, Shares):
            self.refresh(self.estimator.share(sums, table), table, frontier)

    def state(self) -> State:
        """What its estimator has learned: it learns nothing itself."""
        return state_of(self.estimator)

    def restore(self, state: State) -> None:
        """Have the estimator go on from there."""
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
            frontier.rank(rows, self.estimator.score(rows, table))

    def refresh(self, rows: Rows, table: Table, frontier: Frontier) -> None:
        """Tell the frontier what rows that have changed are worth; all others, too, if scores come by weights."""
        self.rank(rows, table, frontier)
        if self._linear is not None and isinstance(frontier, ScanFrontier) and frontier.linear:
            frontier.weigh(self._linear.weights, self._linear.intercept)

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        """The best row, if any is ready."""
        row = frontier.take(now)
        return Pick(row, self.name, float(frontier.score[row]) if row >= 0 else 0.0)

    def instead(self, best: Pick, least: float, choose: Callable[[Rows], int], frontier: Frontier, now: float) -> Pick:
        """Another of the rows that could be taken now in place of the best: one that scores so much at least."""
        frontier.untake(best.row)
        rows = frontier.candidates(int(frontier.level[best.row]), least, now)
        row = choose(rows) if len(rows) else best.row
        frontier.take_this(row, now)
        return Pick(row, self.name, float(frontier.score[row]))


class Altered(Greedy):
    """With probability q the best row, else any that scores at least zeta times as much, each as likely.

    Chosen from are the rows that could be taken now: of lanes that are ready, and held ones only where no free one is
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
        if best.row < 0 or explore < self.q or best.score == math.inf:
            return best
        least = best.score - (1.0 - self.zeta) * abs(best.score)
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
        if best.row < 0 or best.score == math.inf:
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
        self, table: Table, ready: Ready, lane_budget: int = 0, patience: float = 300.0, choosy: float = 0.0
    ) -> Frontier:
        """That of the strategy within."""
        self._table = table
        return self.greedy.frontier(table, ready, lane_budget, patience, choosy)

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

    def reconsider(self, rows: Rows, worths: NDArray[np.floating[Any]], table: Table, frontier: Frontier) -> None:
        """Let the estimator hear of it; what changes is ranked at the end of the batch."""
        if self.greedy.heeds:
            self._note(self.greedy.estimator.reconsider(rows, worths, table), table)  # type: ignore[attr-defined]

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
        new = rows[fit(frontier.score, len(table), -math.inf)[rows] == -math.inf]
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
