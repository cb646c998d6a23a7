"""How many of the pages are relevant, and so where the line between yes and no is drawn.

The regression ranks pages well long before anybody can say how many of them are relevant: what it was shown are a few
pages that are, and none that are not. Three things tell. Where the pages lie that it was shown, each seen as if it had
not been (s1); where the lower half of all pages lies (s0); and how the others spread between the two: the share of
relevant pages that explains them best, found by expectation maximisation as for a shifted prior (Saerens et al. 2002)
around the middle, (s0 + s1) / 2. That estimate is noisy, so it is drawn towards what is usual,

    log n = LEVEL + SEEN log n_em + KNOWN log N

with numbers that were fitted to topics of three collections (benchmarks/judges.py --fit). The line is the score that n
pages exceed. Labels move it: each is a page on one side of it, and the line may lie off by SPREAD before there are any.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.topics.probability.regression import sigmoid

LEVEL, SEEN, KNOWN = 0.485, 0.287, 0.266
GUESSED = (-0.271, 0.073, 0.516)
"""The same where no page was shown."""
SPREAD = 1.5
"""By how much the line may be off, in log odds, before there are labels."""

_ROUNDS = 60

Scores = NDArray[Any]


def expected(scores: Scores, shown: Scores, guessed: bool = False) -> float:
    """How many of the pages are relevant; `shown` are the scores of those known to be, each as if it were not.

    `guessed` says that nobody knows, and that these were taken for relevant.
    """
    if not len(scores):
        return 0.0
    low = float(scores[scores <= np.median(scores)].mean())
    high = max(float(np.mean(shown)), low + 1.0) if len(shown) else low + 4.0
    found = prevalence(scores - (low + high) / 2.0) * len(scores)
    level, seen, known = GUESSED if guessed else (LEVEL, SEEN, KNOWN)
    usual = math.exp(level + seen * math.log(found + 1.0) + known * math.log(len(scores)))
    return min(usual, 0.9 * len(scores))


def prevalence(odds: Scores) -> float:
    """The share of relevant pages that explains log odds which were made as if half of them were.

    >>> odds = np.array([4.0] * 10 + [-4.0] * 90)
    >>> round(prevalence(odds), 2)
    0.09
    """
    likely, share = sigmoid(odds), 0.1
    for _ in range(_ROUNDS):
        weighed = likely * share
        share = float(np.clip(np.mean(weighed / (weighed + (1.0 - likely) * (1.0 - share))), 1e-4, 0.99))
    return share


def line(scores: Scores, count: float) -> float:
    """The score that so many pages exceed, between the last of them and the first of the others."""
    ranked = np.sort(scores)[::-1]
    at = min(max(round(count), 0), len(ranked))
    if at == 0:
        return float(ranked[0]) + 0.5
    if at == len(ranked):
        return float(ranked[-1]) - 0.5
    return float(ranked[at - 1] + ranked[at]) / 2.0


def moved(start: float, scores: Scores, yes: Scores) -> float:
    """The line after labels: where they are likeliest, if it lies SPREAD around where it started.

    >>> moved(0.0, np.array([-1.0]), np.array([True])) < -0.4 < 0.4 < moved(0.0, np.array([1.0]), np.array([False]))
    True
    """
    at = start
    for _ in range(30):
        p = sigmoid(scores - at)
        slope = float((p - yes).sum()) - (at - start) / SPREAD**2
        at += float(np.clip(slope / (float((p * (1.0 - p)).sum()) + 1.0 / SPREAD**2), -2.0, 2.0))
    return at
