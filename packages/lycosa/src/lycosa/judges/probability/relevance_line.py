"""Threshold ("line") between relevant and other pages, from the expected number of relevant pages.

The regression ranks pages well, but hardly says how many are relevant: it was trained with a few relevant pages, and no
others. The expected number is that of a regression over crawls of 17 sites (`expected_relevant`). It explains a
sixth of the variance of log n, no more; so the count is shown with a wide interval (`collection/estimate.py`).

The threshold is the score that n pages exceed. An update moves it little from where it was (`steady_line`). Each label
moves it, as a page on one side of it, the more the more labels of both kinds there are (`line_after_labels`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 60
SPREAD = 1.5  # standard deviation of the threshold, in log odds, before there are labels
ENOUGH_LABELS = 6.0  # one more than the labels of each kind from which they are believed fully
STEP, EARLY_STEP = 0.1, 15.0  # of the logarithm of a count: how far an update may change it, and 15 / N more

Scores = NDArray[Any]


def expected_relevant(scores: Scores, own_count: float, known: Scores, head: float) -> float:
    """Return the expected number of relevant pages.

    scores: Scores of the pages in the order of the crawl.
    own_count: How many are relevant by their match with the topic alone.
    known: Scores of the pages that people named, each as if it had been left out; `head` is the mean share of the
    topic's words in their titles and URLs.

    With N pages, r the mean of log(1 + rank) of the known pages, and t the correlation of score and place in the crawl:

        log n = .84 + .32 log N + .175 log(own_count + .3) - .81 t - 6 / (N + 5)  [ - .84 + .19 r + .6 head ]

    where the part in brackets needs known pages. If the scores form two clusters, the logarithm of the upper one's size
    counts three times as much.

    >>> falling = np.linspace(2.0, -2.0, 300)
    >>> few, many = np.array([1.99]), np.array([0.0])
    >>> [round(expected_relevant(falling, 20.0, known, 1.0)) for known in (np.zeros(0), few, many)]
    [54, 48, 109]
    """
    if not len(scores):
        return 0.0
    trend = (
        float(np.corrcoef(np.arange(len(scores)), scores)[0, 1]) if len(scores) > 2 and np.ptp(scores) > 0.0 else 0.0
    )
    n = 0.84 + 0.32 * math.log(len(scores)) + 0.175 * math.log(own_count + 0.3) - 0.81 * trend
    n -= 6.0 / (len(scores) + 5.0)
    if len(known):
        n += 0.19 * mean_log_rank(scores, known) + 0.6 * head - 0.84
    if upper := upper_cluster_size(scores):
        n = 0.75 * math.log(upper) + 0.25 * n
    return min(math.exp(n), 0.9 * len(scores))


def count_widths(pages: int, scores: Scores, known: Scores) -> tuple[float, float]:
    """Return how far the logarithm of the count may be off, downwards and upwards, in nine of ten crawls.

    Where the known pages rank badly among the others, there may be hardly any relevant ones. The numbers were chosen on
    245 crawls of 17 sites, of which 89 % have the true count within these widths at 300 pages.

    >>> [[round(width, 2) for width in count_widths(300, np.arange(300.0), np.array([at]))] for at in (299.0, 100.0)]
    [[1.0, 0.96], [5.19, 2.22]]
    """
    low = 0.8 + 60.0 / max(pages, 1)
    high = low - 0.04
    if not len(known):
        return low + 0.6, high + 0.2
    badly = max(0.0, mean_log_rank(scores, known) - 3.9)
    return low + 3.0 * badly, high + 0.9 * badly


def mean_log_rank(scores: Scores, known: Scores) -> float:
    """Return the mean of log(1 + number of scores above each known one)."""
    return float(np.log1p(len(scores) - np.searchsorted(np.sort(scores), known, "right")).mean())


def upper_cluster_size(scores: Scores) -> int:
    """Return the number of pages in the upper of two clusters; 0 if the scores do not form two clusters.

    Two normal distributions are fitted by expectation maximisation, starting from the split that separates the scores
    best (Otsu 1979). Scores far below the others are raised to the second percentile, so that a few such pages do not
    form a cluster. Two clusters count if their distance is 2.5 times their width (Ashman et al. 1994), if they explain
    the scores better than one by .13 in log likelihood per page, and if the upper one has 8 pages and at most 60 % of
    them. In half of such crawls the count is right within 1.4.

    >>> chance = np.random.default_rng(0)
    >>> upper_cluster_size(np.concatenate([chance.normal(-5, 1, 200), chance.normal(1, 1, 50)]))
    49
    >>> upper_cluster_size(chance.normal(-5, 1, 250))
    0
    """
    n = len(scores)
    if n < 32:
        return 0
    x = np.sort(np.maximum(scores, np.quantile(scores, 0.02)).astype(np.float64))
    below, sums = np.arange(1, n), np.cumsum(x)
    lower, upper = sums[:-1] / below, (sums[-1] - sums[:-1]) / (n - below)
    share = np.zeros(n)
    share[1 + int(np.argmax(below * (n - below) * (upper - lower) ** 2)) :] = 1.0
    for _ in range(_ROUNDS):
        high = float(share.sum())
        if not 2.0 < high < n - 2.0:
            return 0
        m1, m0 = float(share @ x) / high, float((1.0 - share) @ x) / (n - high)
        v1 = max(float(share @ (x - m1) ** 2) / high, 0.05)
        v0 = max(float((1.0 - share) @ (x - m0) ** 2) / (n - high), 0.05)
        log1 = math.log(high / n) - 0.5 * math.log(v1) - (x - m1) ** 2 / (2.0 * v1)
        log0 = math.log(1.0 - high / n) - 0.5 * math.log(v0) - (x - m0) ** 2 / (2.0 * v0)
        share = sigmoid(log1 - log0)
    spread = max(float(x.var()), 1e-9)
    alone = -0.5 * math.log(spread) - (x - x.mean()) ** 2 / (2.0 * spread)
    gain = float((np.logaddexp(log1, log0) - alone).mean())
    count = int(np.count_nonzero(share >= 0.5))
    apart = math.sqrt(2.0) * (m1 - m0) / math.sqrt(v0 + v1)
    return count if apart >= 2.5 and gain >= 0.13 and 8 <= count <= 0.6 * n else 0


def line_for_count(scores: Scores, count: float) -> float:
    """Return the score that `count` pages exceed, midway between the last of them and the first of the others.

    If less than one page is expected, it is so far above the best page that this one has the probability `count`.

    >>> line_for_count(np.array([1.0, 3.0]), 1.2), round(line_for_count(np.array([1.0, 3.0]), 0.1) - 3.0, 2)
    (2.0, 2.2)
    """
    ranked = np.sort(scores)[::-1]
    at = min(max(round(count), 0), len(ranked))
    if at == 0:
        return float(ranked[0]) + max(0.5, math.log(1.0 / max(count, 1e-4) - 1.0))
    if at == len(ranked):
        return float(ranked[-1]) - 0.5
    return float(ranked[at - 1] + ranked[at]) / 2.0


def steady_line(line: float, scores: Scores, count: float) -> float:
    """Return the threshold moved so that the count of pages known before changes little.

    `scores` are those of the pages that the last update knew, `count` is how many of them it took for relevant. The
    count may change by a tenth, and by more while the pages are few:

    >>> scores = np.arange(100.0)
    >>> [steady_line(line, scores, 40.0) for line in (20.0, 58.0, 90.0)]
    [48.5, 58.0, 68.5]
    """
    if not len(scores) or not count:
        return line
    step = math.exp(STEP + EARLY_STEP / len(scores))
    low, high = (line_for_count(scores, each) for each in (min(count * step, len(scores)), count / step))
    return min(max(line, low), high)


def line_after_labels(start: float, scores: Scores, is_yes: Scores) -> float:
    """Return the most likely threshold given labels, normally distributed around its start.

    The standard deviation grows with the labels of the rarer kind, up to SPREAD: a few labels of one kind say little.

    >>> no = np.zeros(1)
    >>> round(line_after_labels(0.0, no, no), 2), round(line_after_labels(0.0, np.zeros(9), np.zeros(9)), 2)
    (0.03, 0.25)
    """
    yes = np.count_nonzero(is_yes)
    spread = SPREAD * min(1.0, (1.0 + min(yes, len(is_yes) - yes)) / ENOUGH_LABELS)
    at = start
    for _ in range(30):
        p = sigmoid(scores - at)
        slope = float((p - is_yes).sum()) - (at - start) / spread**2
        at += float(np.clip(slope / (float((p * (1.0 - p)).sum()) + 1.0 / spread**2), -2.0, 2.0))
    return at


MAX_LOG_ODDS = 30.0
Column = NDArray[np.float64]


def fit_regression(kernel: NDArray[Any], yes: Column, weights: Column, strength: float = 1.0) -> tuple[Column, Column]:
    """Fit a logistic regression; return a, and the leave-one-out f of each page.

    f = K a, and a maximises sum_i w_i log p(y_i | f_i) - a'K a / (2 C), by iteratively reweighted least squares: with
    W = w p (1 - p) and z = f + w (y - p) / W, each step solves (K + (C W)^-1) a = z. Without page i, f_i would be
    z_i - a_i / (G^-1)_ii, where G is the matrix of the last step (Cook, Weisberg 1982, as for any smoother that is
    linear in z).

    >>> x = np.array([1.0, 0.9, -1.0, -0.8])
    >>> a, alone = fit_regression(np.outer(x, x), np.array([1.0, 1.0, 0.0, 0.0]), np.ones(4))
    >>> (np.outer(x, x) @ a > 0).tolist(), (alone > 0).tolist()
    ([True, True, False, False], [True, True, False, False])
    """
    f = np.zeros(len(yes))
    for _ in range(6):
        p = sigmoid(f)
        curve = np.maximum(weights * p * (1.0 - p), 1e-3)
        z = f + weights * (yes - p) / curve
        system = kernel + np.diag(1.0 / (strength * curve))
        a = np.linalg.solve(system, z)
        f = kernel @ a
    alone = z - a / np.diag(np.linalg.inv(system))
    return a, np.clip(alone, -MAX_LOG_ODDS, MAX_LOG_ODDS)


def sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    probability: NDArray[Any] = 1.0 / (1.0 + np.exp(-np.clip(x, -MAX_LOG_ODDS, MAX_LOG_ODDS)))
    return probability
