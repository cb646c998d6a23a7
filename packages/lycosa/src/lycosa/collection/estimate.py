"""Estimate of the number of relevant pages, and uncertainty sampling for labels.

If the judge returns probabilities, the count of pages with .5 or more is an estimate. The widths of its 90 % interval
come with the last model update (`relevance_line.count_widths`). Labels narrow it, and pages that people have named
bound it from below. The threshold decides which pages are listed, not how many are relevant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import START_RELEVANCE

EVEN = 0.5  # probability from which a page counts as relevant
UNKNOWN_WIDTHS = 2.0, 1.2  # of the logarithm of the count, downwards and upwards, before the first model update
MAX_WIDTH = 20.0
YES_FOR_LOW, YES_FOR_HIGH = 4.0, 25.0  # labels yes that halve the width below and above the count
WIDE = 3.0  # ratio of the bounds from which the interval is wide
WIDE_HINT = "How many is not well known: answer ten questions to know better, with  lycosa label {}"
EPSILON = 1e-6  # a lower threshold means "anything above 0"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Number of relevant pages, with a 90 % interval."""

    pages: int
    relevant: int  # pages at or above the threshold
    low: int
    high: int
    is_exact: bool = True  # True if the judge does not return probabilities, so that the count is exact
    expected: int = 0  # number of relevant pages, whatever the threshold is

    @property
    def description(self) -> str:
        pages = f"{self.pages:,} {'page' if self.pages == 1 else 'pages'}"
        if self.is_exact:
            return f"{self.relevant:,} of {pages} relevant"
        about = f"about {self.expected:,} of {pages} relevant ({self.low:,}-{self.high:,})"
        return about if self.expected == self.relevant else f"{about}, {self.relevant:,} at the threshold"

    @property
    def is_wide(self) -> bool:
        """True if labels would tell much about the number of relevant pages."""
        return not self.is_exact and self.high > WIDE * max(self.low, 1)

    def as_dict(self) -> dict[str, Any]:
        return {"relevant": self.relevant, "expected": self.expected, "low": self.low, "high": self.high}


def read_widths(stored: object) -> tuple[float, float]:
    """Return the widths in a model update, which is not trusted; zeros if there are none.

    >>> read_widths([0.8, 0.76]), read_widths(None), read_widths([1e9, float("nan")])
    ((0.8, 0.76), (0.0, 0.0), (20.0, 0.0))
    """
    if not isinstance(stored, list | tuple) or len(stored) != 2 or not all(isinstance(x, int | float) for x in stored):
        return 0.0, 0.0
    below, above = (float(min(max(0.0, width), MAX_WIDTH)) for width in stored)
    return below, above


def estimate(
    relevances_now: NDArray[Any],
    threshold: float,
    pages: int,
    probability: bool,
    widths: tuple[float, float] = (0.0, 0.0),
) -> Estimate:
    """Estimate the number of relevant pages; `relevances_now` excludes copies, `pages` includes them.

    Of 300 pages a seed and 39 others are likely, so there are 1 + 39 e^-.8 to 1 + 39 e^.76; labels narrow that:

    >>> column = np.repeat([START_RELEVANCE, 0.6, 0.1], [1, 39, 260]).astype(np.float32)
    >>> estimate(column, 0.5, 300, True, (0.8, 0.76)).description
    'about 40 of 300 pages relevant (19-84)'
    >>> column[1:21] = 1.0
    >>> estimate(column, 0.8, 300, True, (0.8, 0.76)).description
    'about 40 of 300 pages relevant (35-60), 21 at the threshold'
    """
    relevant = int(np.count_nonzero(relevances_now >= threshold))
    if not probability or not len(relevances_now):
        return Estimate(pages, relevant, relevant, relevant, expected=relevant)
    expected = int(np.count_nonzero(relevances_now >= EVEN))
    yes = int(np.count_nonzero(relevances_now == 1.0))
    seeds = int(np.count_nonzero(relevances_now == np.float32(START_RELEVANCE)))
    widths = read_widths(widths)
    below, above = widths if any(widths) else UNKNOWN_WIDTHS
    others = expected - seeds
    low = seeds + max(yes, round(others * math.exp(-below / (1.0 + yes / YES_FOR_LOW))))
    high = seeds + round(max(others, 0.5) * math.exp(above / (1.0 + yes / YES_FOR_HIGH)))
    return Estimate(pages, relevant, low, min(high, len(relevances_now)), is_exact=False, expected=expected)


def describe_threshold(threshold: float) -> str:
    """Format a threshold for messages.

    >>> describe_threshold(0.1), describe_threshold(1e-9)
    ('0.1 or more', 'above 0')
    """
    return "above 0" if 0 < threshold < EPSILON else f"{threshold:g} or more"


def by_uncertainty(relevances_now: Sequence[float] | NDArray[Any], line: float, probability: bool) -> NDArray[np.intp]:
    """Return the positions of pages by uncertainty, most uncertain first; pages with relevance 0 are excluded.

    The uncertainty is highest at 0.5 for probabilities, otherwise at the threshold.
    """
    column = np.asarray(relevances_now, float)
    middle = 0.5 if probability else line
    order = np.argsort(np.abs(column - middle), kind="stable")
    return order[column[order] > 0.0]
