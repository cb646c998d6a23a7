"""Estimate of the number of relevant pages, and uncertainty sampling for labels.

If the judge returns probabilities, page i is relevant with probability p_i. The reported number is the count of pages
at or above the threshold; the expected number is the sum of p_i, with variance sum of p_i (1 - p_i). The interval
covers both, and also the counts at a slightly higher and a slightly lower threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LOG_ODDS_MARGIN = 1.0  # assumed error of the threshold in either direction
EPSILON = 1e-6  # a lower threshold means "anything above 0"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Number of relevant pages, with a 90 % interval."""

    pages: int
    relevant: int
    low: int
    high: int
    is_exact: bool = True  # True if the judge does not return probabilities, so that the count is exact

    @property
    def description(self) -> str:
        of = f"{self.relevant:,} of {self.pages:,} {'page' if self.pages == 1 else 'pages'} relevant"
        return of if self.is_exact else f"about {of} ({self.low:,}-{self.high:,})"

    def as_dict(self) -> dict[str, Any]:
        return {"relevant": self.relevant, "low": self.low, "high": self.high}


def estimate(relevances_now: NDArray[Any], threshold: float, pages: int, probability: bool) -> Estimate:
    """Estimate the number of relevant pages; `relevances_now` excludes copies, `pages` includes them."""
    count = int(np.count_nonzero(relevances_now >= threshold))
    if not probability or not len(relevances_now):
        return Estimate(pages, count, count, count)
    chances = np.clip(relevances_now, 0.0, 1.0)
    # 1.64 standard deviations: 90 % of a normal distribution
    expected, margin = float(chances.sum()), 1.64 * math.sqrt(float((chances * (1.0 - chances)).sum()))
    higher, lower = _shift(threshold, LOG_ODDS_MARGIN), _shift(threshold, -LOG_ODDS_MARGIN)
    low = min(count, expected) - margin
    high = max(count, expected) + margin
    low = min(low, float(np.count_nonzero(relevances_now >= higher)))
    high = max(high, float(np.count_nonzero(relevances_now >= lower)))
    return Estimate(pages, count, max(0, math.floor(low)), min(len(relevances_now), math.ceil(high)), is_exact=False)


def _shift(threshold: float, by: float) -> float:
    return 1.0 / (1.0 + math.exp(-by) * (1.0 - threshold) / max(threshold, 1e-9))


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
