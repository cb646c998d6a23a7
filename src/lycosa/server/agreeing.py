"""How a judge agrees with people's labels, and which pages have moved by what it learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quality:
    """How a judge's yes and no agree with a person's.

    >>> told = Quality(labels=4, yes=3, said=2, hits=2)
    >>> told.precision, round(told.recall, 2), told.accuracy
    (1.0, 0.67, 0.75)
    >>> Quality(labels=2, yes=0, said=0, hits=0).precision is None
    True
    """

    labels: int
    yes: int
    """Pages that the person said yes to."""
    said: int
    """Pages that the judge says yes to."""
    hits: int
    """Both."""

    @property
    def precision(self) -> float | None:
        """Of the pages that the judge wants, how many the person wants; None if it wants none."""
        return self.hits / self.said if self.said else None

    @property
    def recall(self) -> float | None:
        """Of the pages that the person wants, how many the judge wants; None if there are none."""
        return self.hits / self.yes if self.yes else None

    @property
    def accuracy(self) -> float | None:
        """How often they agree; None if nothing was said."""
        wrong = (self.said - self.hits) + (self.yes - self.hits)
        return 1.0 - wrong / self.labels if self.labels else None


def quality(said: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Quality:
    """How what a judge said of some pages agrees with their labels.

    >>> quality(np.array([True, True, False]), np.array([True, False, True]))
    Quality(labels=3, yes=2, said=2, hits=1)
    """
    return Quality(len(wanted), int(wanted.sum()), int(said.sum()), int((said & wanted).sum()))


def moves(before: Column, after: Column, first: int = 100, most: int = 10) -> list[tuple[int, int, int]]:
    """Which pages' ranks changed most, with both ranks, of those among the first by either score.

    >>> moves(np.array([.5, .4, .3]), np.array([.5, .1, .3]))
    [(2, 3, 2), (1, 2, 3)]
    """
    old, new = _ranks(before), _ranks(after)
    seen = np.flatnonzero((np.minimum(old, new) <= first) & (old != new))
    order = sorted(seen.tolist(), key=lambda at: (-abs(int(old[at] - new[at])), int(new[at])))
    return [(at, int(old[at]), int(new[at])) for at in order[:most]]


def _ranks(scores: Column) -> NDArray[np.intp]:
    """1 for the best; of equal scores the first."""
    ranks = np.empty(len(scores), np.intp)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks
