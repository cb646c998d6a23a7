"""What other shards of a crawl have learned of words, places and hosts, beside what we have learned ourselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.types import Rows, Visit
from lycosa.estimators.scent.sharpening import OWN_BESIDE, likely

if TYPE_CHECKING:
    from lycosa.estimators.scent.estimator import Scent

# Pages and the sum of their outcomes; the same of positive ones; finds; and the sums of Sharpening.
PAGES, OUTCOMES, POSITIVES, POSITIVE_OUTCOMES, FINDS, READ, READ_TOTAL, BETAS, OWNS = range(9)
# Summed again when the judge has learned.
_BY_OUTCOME = (OUTCOMES, POSITIVES, POSITIVE_OUTCOMES, FINDS, READ_TOTAL, BETAS, OWNS)
OF_PAGES = 9  # how many those are; behind them stand the sums of Mixing
Numbers = NDArray[np.float64]


class Elsewhere:
    """Sums of others, which are in those of scent; so that they can be taken out, and put in again.

    Groups are sparse: the numbers of those that somebody has met, and of each the sum of outcomes and how many pages.
    """

    def __init__(self) -> None:
        self.groups = np.zeros(0, np.int32)
        self.sums = np.zeros((0, 2), np.float32)
        self.pages = np.zeros(OF_PAGES)
        self._count = 0
        self._rows = np.zeros(0, np.int32)  # others' pages that link to rows of ours, and what they said of each
        self._outcome = np.zeros(0, np.float32)
        self._beta = np.zeros(0, np.float32)
        self._heard = np.zeros(FINDS + 1)  # what others say of all of those pages

    def hear(self, row: int, outcome: float, visit: Visit, scent: Scent) -> None:
        """A page of others has turned out so."""
        beta = visit.beta
        if visit.is_page and not visit.follows:
            self._heard += (1, outcome, outcome > 0, max(outcome, 0.0), visit.is_find(scent.threshold))
            self._prefer_heard(scent)
        at = self._count
        self._count += 1
        if at == len(self._rows):
            self._rows, self._outcome = fit(self._rows, at + 1), fit(self._outcome, at + 1)
            self._beta = fit(self._beta, at + 1)
        self._rows[at], self._outcome[at], self._beta[at] = row, outcome, beta

    def _prefer_heard(self, scent: Scent) -> None:
        """While others have told of fewer pages than we know from their links, those count: else links would be worth
        more to one who knows less, and be fetched before better ones of others."""
        if self._heard[PAGES] > self.pages[PAGES]:
            more = np.zeros(OF_PAGES)
            more[: FINDS + 1] = self._heard - self.pages[: FINDS + 1]
            self.pages[: FINDS + 1] = self._heard
            _add(scent, more)

    def reconsider(self, rows: Rows, worth: Numbers, outcome: NDArray[np.float32]) -> None:
        """Our judge has looked at some rows again, others' pages among them, which have another outcome by that."""
        heard = self._rows[: self._count]
        again = np.isin(heard, rows)
        heard = heard[again]
        change = likely(worth[heard]) - likely(self._beta[: self._count][again])
        outcome[heard] = self._outcome[: self._count][again] + (1.0 - OWN_BESIDE) * change

    def own(self, scent: Scent) -> dict[str, Any]:
        """What scent has learned without the others."""
        pairs = scent.groups_.view(np.uint64).reshape(-1)
        met = np.flatnonzero(pairs)
        if not pairs[self.groups].all():  # theirs and ours add up to nothing somewhere
            met = np.union1d(met, self.groups)
        sums = scent.groups_[met]
        sums[met.searchsorted(self.groups)] -= self.sums
        some = np.abs(sums).max(axis=1, initial=0.0) > 1e-6  # what is left of the others' is rounding
        pages = np.concatenate([_numbers(scent), scent.mixing_.sums])
        pages[: len(self.pages)] -= self.pages
        return {"groups": met[some].astype(np.int32), "sums": sums[some], "pages": pages}

    def take(self, sums: dict[str, Any], scent: Scent) -> None:
        """These are what others have learned, all of it."""
        scent.groups_[self.groups] -= self.sums
        groups, told, pages = sums["groups"], sums["sums"], np.array(sums["pages"])
        whole = OF_PAGES + len(scent.mixing_.sums)
        if len(groups) != len(told) or len(pages) != whole or groups.max(initial=0) >= len(scent.groups_):
            raise ValueError("these are no sums of scent")
        before = self.pages
        self.groups, self.sums, self.pages = groups, told, pages
        scent.groups_[self.groups] += self.sums
        more = pages.copy()
        more[: len(before)] -= before
        _add(scent, more[:OF_PAGES])
        scent.mixing_.add(more[OF_PAGES:])
        self._prefer_heard(scent)

    def add_outcomes(self, scent: Scent) -> None:
        """Scent has summed up its own pages anew: what others have said of theirs is put in again."""
        scent.groups_[self.groups, 0] += self.sums[:, 0]
        kept = np.zeros(OF_PAGES)
        kept[list(_BY_OUTCOME)] = self.pages[list(_BY_OUTCOME)]
        _add(scent, kept)


def _numbers(scent: Scent) -> Numbers:
    read = scent.sharpening_
    return np.array(
        [
            scent.pages_, scent.sum_, scent.positives_, scent.positive_sum_, scent.finds_,
            read.pages, read.total, read._beta, read._own,
        ],
        np.float64,
    )  # fmt: skip


def _add(scent: Scent, more: Numbers) -> None:
    read = scent.sharpening_
    numbers = (_numbers(scent) + more).tolist()
    scent.pages_, scent.sum_ = round(numbers[PAGES]), numbers[OUTCOMES]
    scent.positives_, scent.positive_sum_ = round(numbers[POSITIVES]), numbers[POSITIVE_OUTCOMES]
    scent.finds_, read.pages, read.total = round(numbers[FINDS]), round(numbers[READ]), numbers[READ_TOTAL]
    read._beta, read._own = numbers[BETAS], numbers[OWNS]
