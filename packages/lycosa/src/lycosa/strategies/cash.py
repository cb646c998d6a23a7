"""Cash that pages hand on to their links, what OPIC and OTIE share; and OPIC: the richest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import DONE, OPEN, Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.strategies.redirects import Redirects

BLOCK = 1024  # rows that share one bound on their cash
MOST = 2.0**400  # beyond it, all cash is counted in larger units


@dataclass(kw_only=True)
class CashFlow:
    """Cash in the hands of rows, and in a common pool. It is moved; only `revise` makes or destroys any.

    Seeds. All cash there is comes from the seeds, the same from each. It is counted in seed's shares: a seed has 1,
    whether it is known from the start or added to a crawl under way, so that no score has to change when another seed
    comes. `share` gives the same as a part of 1. Seeds that redirect to the same page are one seed.

    Dead ends. Pages without links that may be followed, pages that fail for good, and links to such pages pay into the
    pool. It is dealt out as all cash was in the beginning, in equal shares to the seeds (those fetched, with links),
    whenever a page gives for a second time. It restarts there like the random surfer of a PageRank that is personalised
    to the seeds, it costs the same however large the frontier is, and no score of an open row changes by it.

    Giving again. A page that was fetched keeps what it is given later on. Every `period` steps (0: never) the richest
    of them that has links gives all it has to them; so does a page that was visited again and has new links, to them
    and to those that it had. Redirects hand on to their target, also what comes later; a page that moves after it was
    fetched hands on what it was given since. A visit that has to be tried again moves nothing.

    Invariant: rows + pool + shares of seeds not yet fetched = number of seeds + sum of the revisions.
    """

    period: int = 10  # steps between second givings: the papers leave it open
    cash_: NDArray[np.float64] = column()
    giver_: NDArray[np.bool_] = column(np.bool_)  # fetched, and has links
    # Has had its share as a seed, or passed the claim to the target of its redirect.
    paid_: NDArray[np.bool_] = column(np.bool_)
    redirects_: Redirects = learned(Redirects)
    most_: NDArray[np.float64] = column()  # bound on the cash of the givers of each block
    seeds_: Rows = column(np.int32)  # those among the givers
    pool_: float = learned(float)
    unit_: float = learned(lambda: 1.0)  # what a seed brings
    brought_: float = learned(float)
    """What the seeds fetched so far have brought."""
    revised_: float = learned(float)  # sum of all revisions
    coins_: int = learned(int)  # how often larger units were taken
    steps_: int = learned(int)

    def __post_init__(self) -> None:
        if self.period < 0:
            raise ValueError(f"period is {self.period}: it must be a number of steps, or 0 for never")

    # -- what OPIC and OTIE do in their own ways ---------------------------------------------------------------

    def note(self, step: Step, table: Table) -> None:
        """See a visit before any cash moves."""

    def revise(self, row: int, cash: float) -> float:
        """What the cash of a page becomes before it is given away."""
        return cash

    def weights(self, rows: Rows, ends: Rows, table: Table, step: Step | None) -> NDArray[np.float64] | None:
        """In which proportions rows receive, None for equal shares.

        `ends` are the rows, or the targets of redirects; `step` is the visit that found the links, None for a second
        giving.
        """
        return None

    # -- the flow ----------------------------------------------------------------------------------------------

    def learn(self, step: Step, table: Table) -> Rows:
        """Move the cash of the page that was visited, and now and then that of a rich one."""
        size = len(table)
        self.cash_, self.giver_, self.paid_ = fit(self.cash_, size), fit(self.giver_, size), fit(self.paid_, size)
        self.most_ = fit(self.most_, size // BLOCK + 1)
        self.redirects_.learn(step, table)
        coins = self.coins_
        self.note(step, table)
        received = step.children
        if step.visit.outcome == "redirect":
            received = self._move(step, table)
        elif not step.visit.retry_at:
            received = self._crawled(step, table)
        changed = [step.children] if received is step.children else [step.children, received]
        self.steps_ += 1
        if self.period and self.steps_ % self.period == 0:
            changed.append(self._give_again(table))
        if self.coins_ != coins:  # all is counted anew
            changed.append(np.arange(size, dtype=np.int32))
        return np.unique(np.concatenate(changed)) if len(changed) > 1 else step.children

    def score(self, rows: Rows, table: Table) -> Scores:
        """The cash of each row, a seed's share being 1."""
        size = len(table)
        cash, is_seed = fit(self.cash_, size)[rows], table.is_seed[rows]
        if np.count_nonzero(is_seed):
            cash += self.unit_ * (is_seed & ~fit(self.paid_, size)[rows])
        return cash

    def total(self, table: Table) -> float:
        """All cash there is."""
        size = len(table)
        owed = np.count_nonzero(table.is_seed[:size] & ~fit(self.paid_, size)[:size])
        return float(self.cash_.sum()) + self.pool_ + self.unit_ * owed

    def share(self, rows: Rows, table: Table) -> Scores:
        """The cash of each row as a part of all cash: at the start, 1 divided by the number of seeds for each seed."""
        total = self.total(table)
        return self.score(rows, table) / total if total > 0 else np.zeros(len(rows))

    def _crawled(self, step: Step, table: Table) -> Rows:
        row = step.row
        if len(step.children):
            if table.is_seed[row] and not self.giver_[row] and row not in self.redirects_.ends(self.seeds_):
                self.seeds_ = np.append(self.seeds_, np.int32(row))
            self.giver_[row] = True
        cash = self._take(row, table)
        if step.visit.is_version:
            cash = self._revised(row, cash)
        if step.visit.follows:
            return self._give(cash, table.edges.children(row), table, None)
        return self._give(cash, step.children, table, step)

    def _move(self, step: Step, table: Table) -> Rows:
        """A redirect hands all it has, and the claim to its share as a seed, to its target."""
        row = step.row
        if not len(step.children):  # to nowhere
            return self._give(self._take(row, table), step.children, table, step)
        target = int(step.children[0])
        end = int(self.redirects_.ends(step.children)[0])
        if step.visit.follows:  # fetched before it moved: its share is spent
            self.paid_[end] |= self.paid_[row]
        if table.is_seed[row] and not self.paid_[row]:
            if table.state[target] == OPEN or self.paid_[end]:  # a seed by now, as the table says, or one before
                self.paid_[row] = True
            else:
                self.paid_[end] = True
        return self._receive(self.redirects_.ends(step.children), np.array([self._take(row, table)]), table)

    def _take(self, row: int, table: Table) -> float:
        cash = float(self.cash_[row])
        self.cash_[row] = 0.0
        if table.is_seed[row] and not self.paid_[row]:
            self.paid_[row] = True
            self.brought_ += self.unit_
            cash += self.unit_
        return cash

    def _revised(self, row: int, cash: float) -> float:
        after = self.revise(row, cash)
        self.revised_ += after - cash
        return after

    def _give(self, cash: float, rows: Rows, table: Table, step: Step | None) -> Rows:
        """Share cash out among rows; those whose cash may have changed."""
        if not len(rows):
            self.pool_ += cash
            return rows
        ends = self.redirects_.ends(rows)
        weights = self.weights(rows, ends, table, step)
        if weights is not None and (heaviest := weights.max()) > 0:
            weights = weights / heaviest  # tiny ones would lose their digits in the sum
            return self._receive(ends, cash * (weights / weights.sum()), table)
        return self._receive(ends, np.full(len(rows), cash / len(rows)), table)

    def _receive(self, ends: Rows, gains: NDArray[np.float64], table: Table) -> Rows:
        """Put cash into rows' hands; what is meant for those that never will give any goes into the pool."""
        rows = ends
        fetched = table.state[rows] == DONE
        if np.count_nonzero(fetched):  # only those can be dead ends, or give again
            lives = ~fetched | self.giver_[rows]
            self.pool_ += float(gains[~lives].sum())
            rows, gains, fetched = rows[lives], gains[lives], fetched[lives]
        np.add.at(self.cash_, rows, gains)
        if np.count_nonzero(fetched):
            rich = rows[fetched]
            np.maximum.at(self.most_, rich // BLOCK, self.cash_[rich])
        if gains.max(initial=0.0) > MOST:
            self._larger_coins()
        return ends

    def _give_again(self, table: Table) -> Rows:
        """Deal out the pool, then let the richest page give."""
        changed = []
        if len(self.seeds_) and self.pool_ > 0:
            dealt, self.pool_ = self.pool_, 0.0
            seeds = self.redirects_.ends(self.seeds_)
            changed.append(self._receive(seeds, np.full(len(seeds), dealt / len(seeds)), table))
        row = self._richest()
        if row >= 0:
            cash = self._revised(row, float(self.cash_[row]))
            self.cash_[row] = 0.0
            changed += np.array([row], np.int32), self._give(cash, table.edges.children(row), table, None)
        return np.concatenate(changed) if changed else np.zeros(0, np.int32)

    def _richest(self) -> int:
        """The giver with the most cash, -1 if none has any. Looks at one bound per block, and at few of the blocks."""
        while True:
            block = int(self.most_.argmax())
            if self.most_[block] <= 0:
                return -1
            rows = slice(block * BLOCK, (block + 1) * BLOCK)
            riches = self.cash_[rows] * self.giver_[rows]
            row = int(riches.argmax())
            if riches[row] >= self.most_[block]:
                return block * BLOCK + row
            self.most_[block] = riches[row]

    def _larger_coins(self) -> None:
        """Count all cash in coins of MOST: the proportions stay, and nothing ever gets too large for a number."""
        self.coins_ += 1
        self.cash_ /= MOST
        self.most_ /= MOST
        self.pool_ /= MOST
        self.unit_ /= MOST
        self.brought_ /= MOST
        self.revised_ /= MOST


@dataclass
class Opic(CashFlow):
    """A page that is crawled gives its cash to its links in equal shares; the uncrawled page with the most is next.

        gain(j) = cash(i) / number of links of i

    What a page gathers estimates its PageRank while the crawl goes on: it is rich if many, or rich, pages link to it.
    Nothing is asked of the topic. The total is shared equally by the seeds, and only moved: see CashFlow for dead ends,
    failures, redirects and late seeds, and for how scores are counted.

    Parameters:
        period   every so many steps the fetched page with the most cash and with links gives again (0: never)

    Paper: Guan et al. 2008, section 2 (OPIC, greedy strategy); Abiteboul, Preda, Cobena 2003. There the richest page is
    fetched again when it gives again. We use the links that are known: a request for nothing new is a request that
    finds no page, and when a page is visited again is for refresh and watch to say. A page that has new links then
    gives again. The papers leave open how often, and what becomes of dead ends.

    >>> from lycosa.core.table import Table
    >>> from lycosa.core.types import Links, Visit
    >>> table, opic = Table(), Opic()
    >>> _ = table.add_seed("a")
    >>> rows = opic.learn(table.absorb(Visit("a", "page", "ok", 1, links=Links.to("b", "c"))), table)
    >>> opic.score(rows, table).tolist()
    [0.5, 0.5]
    """
