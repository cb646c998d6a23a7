"""Cash distribution shared by OPIC and OTIE, and OPIC itself, which fetches the richest page first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import DONE, OPEN, Table
from lycosa.core.types import Priorities, Rows, Step
from lycosa.strategies.redirects import Redirects

BLOCK = 1024  # rows per entry of the index by which the richest row is found
UNIT = 2.0**400  # if an amount exceeds it, all cash is rescaled, to avoid overflow


@dataclass(kw_only=True)
class CashFlow:
    """Cash held by rows and a common pool; moved from page to page, and created or destroyed only by `revise`.

    Seeds. All cash comes from the seeds, in equal amounts. It is counted in seed shares: each seed starts with 1,
    whether known at the start or added during the crawl, so adding a seed changes no existing priority. `share`
    converts to a fraction of all cash. Seeds that redirect to the same page count as one.

    Dead ends. Pages without links to follow, permanently failed pages, and links to such pages pay into the pool. At
    every second giving the pool is divided equally among the seeds that were fetched and have links. This restarts like
    the random surfer of a PageRank personalised to the seeds, costs the same for any frontier size, and changes no
    priority of an open row.

    Second givings. A fetched page keeps the cash it receives later. Every `period` steps (0: never) the richest such
    page with links distributes all it has to them; so does a revisited page with new links, to the new and the old
    ones. Redirects pass all cash on to their target, including later income; a page that moves after it was fetched
    passes on its income since then. A visit that will be retried moves nothing.

    Invariant: rows + pool + shares of seeds not yet fetched = number of seeds + sum of the revisions.
    """

    period: int = 10  # steps between second givings; the papers leave it open
    cash_: NDArray[np.float64] = column()
    giver_: NDArray[np.bool_] = column(np.bool_)  # fetched rows with links
    # Rows that have received their seed share, or passed the claim on to the target of their redirect.
    paid_: NDArray[np.bool_] = column(np.bool_)
    redirects_: Redirects = learned(Redirects)
    block_max_: NDArray[np.float64] = column()  # upper bound of the givers' cash in each block
    seeds_: Rows = column(np.int32)  # seeds among the givers
    pool_: float = learned(float)
    unit_: float = learned(lambda: 1.0)  # cash of a new seed
    created_: float = learned(float)  # cash created by seeds fetched so far
    revised_: float = learned(float)  # sum of all revisions
    rescaled_: int = learned(int)  # number of times all cash was rescaled
    steps_: int = learned(int)

    def __post_init__(self) -> None:
        if self.period < 0:
            raise ValueError(f"'period' is {self.period}: it must be a number of steps, or 0 to disable")

    def note(self, step: Step, table: Table) -> None:
        """Observe a visit before any cash moves."""

    def revise(self, row: int, cash: float) -> float:
        """Return the cash of a fetched page after correction by its relevance."""
        return cash

    def weights(self, rows: Rows, ends: Rows, table: Table, step: Step | None) -> NDArray[np.float64] | None:
        """Return the proportions in which rows receive cash, or None for equal shares.

        `ends` are the rows or their redirect targets, `step` the visit that found the links (None: a second giving).
        """
        return None

    def learn(self, step: Step, table: Table) -> Rows:
        size = len(table)
        self.cash_, self.giver_, self.paid_ = fit(self.cash_, size), fit(self.giver_, size), fit(self.paid_, size)
        self.block_max_ = fit(self.block_max_, size // BLOCK + 1)
        self.redirects_.learn(step, table)
        rescaled = self.rescaled_
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
        if self.rescaled_ != rescaled:  # all priorities have changed
            changed.append(np.arange(size, dtype=np.int32))
        return np.unique(np.concatenate(changed)) if len(changed) > 1 else step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        size = len(table)
        cash, is_seed = fit(self.cash_, size)[rows], table.is_seed[rows]
        if np.count_nonzero(is_seed):
            cash += self.unit_ * (is_seed & ~fit(self.paid_, size)[rows])
        return cash

    def total(self, table: Table) -> float:
        """Return the sum of all cash, including unclaimed seed shares."""
        size = len(table)
        owed = np.count_nonzero(table.is_seed[:size] & ~fit(self.paid_, size)[:size])
        return float(self.cash_.sum()) + self.pool_ + self.unit_ * owed

    def share(self, rows: Rows, table: Table) -> Priorities:
        total = self.total(table)
        return self.priority(rows, table) / total if total > 0 else np.zeros(len(rows))

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
        """Pass a redirect's cash, and its claim to a seed share, to its target."""
        row = step.row
        if not len(step.children):  # target out of scope
            return self._give(self._take(row, table), step.children, table, step)
        target = int(step.children[0])
        end = int(self.redirects_.ends(step.children)[0])
        if step.visit.follows:  # the seed share was spent when the page was fetched
            self.paid_[end] |= self.paid_[row]
        if table.is_seed[row] and not self.paid_[row]:
            if table.state[target] == OPEN or self.paid_[end]:  # the table turns an open target into a seed
                self.paid_[row] = True
            else:
                self.paid_[end] = True
        return self._receive(self.redirects_.ends(step.children), np.array([self._take(row, table)]), table)

    def _take(self, row: int, table: Table) -> float:
        cash = float(self.cash_[row])
        self.cash_[row] = 0.0
        if table.is_seed[row] and not self.paid_[row]:
            self.paid_[row] = True
            self.created_ += self.unit_
            cash += self.unit_
        return cash

    def _revised(self, row: int, cash: float) -> float:
        after = self.revise(row, cash)
        self.revised_ += after - cash
        return after

    def _give(self, cash: float, rows: Rows, table: Table, step: Step | None) -> Rows:
        if not len(rows):
            self.pool_ += cash
            return rows
        ends = self.redirects_.ends(rows)
        weights = self.weights(rows, ends, table, step)
        if weights is not None and (heaviest := weights.max()) > 0:
            weights = weights / heaviest  # keeps tiny weights precise in the sum
            return self._receive(ends, cash * (weights / weights.sum()), table)
        return self._receive(ends, np.full(len(rows), cash / len(rows)), table)

    def _receive(self, ends: Rows, gains: NDArray[np.float64], table: Table) -> Rows:
        rows = ends
        fetched = table.state[rows] == DONE
        if np.count_nonzero(fetched):  # only fetched rows can be dead ends or give again
            receives = ~fetched | self.giver_[rows]
            self.pool_ += float(gains[~receives].sum())
            rows, gains, fetched = rows[receives], gains[receives], fetched[receives]
        np.add.at(self.cash_, rows, gains)
        if np.count_nonzero(fetched):
            rich = rows[fetched]
            np.maximum.at(self.block_max_, rich // BLOCK, self.cash_[rich])
        if gains.max(initial=0.0) > UNIT:
            self._rescale()
        return ends

    def _give_again(self, table: Table) -> Rows:
        changed = []
        if len(self.seeds_) and self.pool_ > 0:
            amount, self.pool_ = self.pool_, 0.0
            seeds = self.redirects_.ends(self.seeds_)
            changed.append(self._receive(seeds, np.full(len(seeds), amount / len(seeds)), table))
        row = self._richest()
        if row >= 0:
            cash = self._revised(row, float(self.cash_[row]))
            self.cash_[row] = 0.0
            changed += np.array([row], np.int32), self._give(cash, table.edges.children(row), table, None)
        return np.concatenate(changed) if changed else np.zeros(0, np.int32)

    def _richest(self) -> int:
        """Return the giver with the most cash, or -1; block bounds are checked first, so that few blocks are read."""
        while True:
            block = int(self.block_max_.argmax())
            if self.block_max_[block] <= 0:
                return -1
            rows = slice(block * BLOCK, (block + 1) * BLOCK)
            riches = self.cash_[rows] * self.giver_[rows]
            row = int(riches.argmax())
            if riches[row] >= self.block_max_[block]:
                return block * BLOCK + row
            self.block_max_[block] = riches[row]

    def _rescale(self) -> None:
        """Divide all cash by UNIT, which keeps the proportions and avoids overflow."""
        self.rescaled_ += 1
        self.cash_ /= UNIT
        self.block_max_ /= UNIT
        self.pool_ /= UNIT
        self.unit_ /= UNIT
        self.created_ /= UNIT
        self.revised_ /= UNIT


@dataclass
class Opic(CashFlow):
    """OPIC: a fetched page divides its cash equally among its links; the unfetched page with the most cash is next.

        gain(j) = cash(i) / number of links of i

    The cash a page gathers estimates its PageRank while the crawl proceeds; the topic is ignored. See CashFlow for
    seeds, dead ends, failures, redirects and second givings.

    Paper: Guan et al. 2008, section 2 (OPIC, greedy strategy); Abiteboul, Preda, Cobena 2003. There the richest page is
    fetched again when it gives again. Here it gives to its known links: fetching again spends a request that finds no
    new page. The papers leave open the frequency of second givings and the treatment of dead ends.

    >>> from lycosa.core.types import Links, Visit
    >>> table, opic = Table(), Opic()
    >>> _ = table.add_seed("a")
    >>> rows = opic.learn(table.absorb(Visit("a", "page", "ok", 1, links=Links.to("b", "c"))), table)
    >>> opic.priority(rows, table).tolist()
    [0.5, 0.5]
    """
