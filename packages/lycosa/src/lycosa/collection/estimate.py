"""How many pages are relevant, how sure that is, and of which pages a person's word would help most.

Where the judge gives probabilities, each page is relevant with the chance p that it names. The number at the line is
what people are told; the sum of all p is what is to be expected, with a variance of the sum of p (1 - p). The two say
the same if the judge is well calibrated, so the interval reaches around both of them. And the line itself may be drawn
in the wrong place: the interval also reaches to the counts with the line a little higher and a little lower.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

DOUBT = 1.0  # log odds by which the line may be off, to either side
NOTHING = 1e-6  # a lower threshold means: anything but 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Relevant pages, as far as anybody can tell."""

    pages: int
    relevant: int
    low: int
    high: int
    sure: bool = True  # a plain count, as the judge gives no probabilities

    @property
    def told(self) -> str:
        """In words.

        >>> Estimate(300, 115, 100, 130, sure=False).told, Estimate(1, 1, 1, 1).told
        ('about 115 of 300 pages relevant (100-130)', '1 of 1 page relevant')
        """
        of = f"{self.relevant:,} of {self.pages:,} {'page' if self.pages == 1 else 'pages'} relevant"
        return of if self.sure else f"about {of} ({self.low:,}-{self.high:,})"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"relevant": self.relevant, "low": self.low, "high": self.high}


def estimate(relevances_now: NDArray[Any], threshold: float, pages: int, probability: bool) -> Estimate:
    """From what pages are worth, each content once; `pages` are those with copies.

    >>> estimate(np.array([.9] * 10 + [.5] * 4 + [.1] * 10), .5, 24, True).told
    'about 14 of 24 pages relevant (9-17)'
    >>> estimate(np.array([.9, .05]), .1, 2, False).told
    '1 of 2 pages relevant'
    """
    count = int(np.count_nonzero(relevances_now >= threshold))
    if not probability or not len(relevances_now):
        return Estimate(pages, count, count, count)
    chances = np.clip(relevances_now, 0.0, 1.0)
    # standard deviations: nine of ten cases
    expected, spread = float(chances.sum()), 1.64 * math.sqrt(float((chances * (1.0 - chances)).sum()))
    strict, lax = _moved(threshold, DOUBT), _moved(threshold, -DOUBT)
    low = min(count, expected) - spread
    high = max(count, expected) + spread
    low = min(low, float(np.count_nonzero(relevances_now >= strict)))
    high = max(high, float(np.count_nonzero(relevances_now >= lax)))
    return Estimate(pages, count, max(0, math.floor(low)), min(len(relevances_now), math.ceil(high)), sure=False)


def _moved(threshold: float, by: float) -> float:
    """The threshold with so much more log odds."""
    return 1.0 / (1.0 + math.exp(-by) * (1.0 - threshold) / max(threshold, 1e-9))


def at_least(threshold: float) -> str:
    """A threshold in words.

    >>> at_least(0.1), at_least(1e-9)
    ('0.1 or more', 'above 0')
    """
    return "above 0" if 0 < threshold < NOTHING else f"{threshold:g} or more"


def unsure(relevances_now: Sequence[float] | NDArray[Any], line: float, probability: bool) -> NDArray[np.intp]:
    """Places of pages in the order in which a person's word on them would help, those nearest to the line first.

    Where worths are chances, a page is as unsure as it is near to one half, whatever the line; else its distance counts
    in parts of the line. Pages that are worth nothing at all say nothing.

    >>> unsure([.9, .45, .6, 0.0], .5, True).tolist()
    [1, 2, 0]
    """
    column = np.asarray(relevances_now, float)
    middle = 0.5 if probability else line
    order = np.argsort(np.abs(column - middle), kind="stable")
    return order[column[order] > 0.0]
