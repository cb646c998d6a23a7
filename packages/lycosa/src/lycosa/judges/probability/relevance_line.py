"""Threshold ("line") between relevant and other pages, from the expected number of relevant pages.

The regression ranks pages well long before the number of relevant ones is known: it was trained with a few relevant
pages, and no others. If the scores form two clusters (`upper_cluster_size`), the threshold is between them. If not,
three things are used: the scores of the known relevant pages, each as if it had been left out (s1); the mean score of
the lower half of all pages (s0); and the distribution of the others between the two, as the share of relevant pages
that explains them best, found by expectation maximisation as for a shifted prior (Saerens et al. 2002) around the
middle, (s0 + s1) / 2. That estimate is noisy, so it is shrunk towards the usual number,

    log n_usual = .916 + .164 log n_em + .307 log N + 3 max(0, near - .4)

with numbers fitted to topics of two collections. `near` is the median cosine of the pages' vectors with those of the
known relevant ones. All of this only compares pages with each other: of ten irrelevant pages it takes seven. n_own, the
sum of p^2 / (p + .1) over the probabilities p that pages have without a model, is better for the first pages of a
crawl, and worse for a large collection about related things, where each page has a small probability for any topic:

    log n = w log n_own + (1 - w) log n_usual,  w = TRUSTED / (TRUSTED + N)

From LARGE pages on w decreases, and it is 0 for twice as many.

The threshold is the score that n pages exceed. Each label moves it, as a page on one side of it; its error before any
labels is assumed to be SPREAD.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

TRUSTED = 100.0  # number of pages for which n_own and n_usual have equal weight
LARGE = 1000.0  # number of pages from which many low probabilities may outweigh the others
SPREAD = 1.5  # standard deviation of the threshold, in log odds, before there are labels
ENOUGH_LABELS = 6.0  # one more than the labels of each kind from which they are believed fully
STEP, EARLY_STEP = 0.1, 15.0  # of the logarithm of a count: how far an update may change it, and 15 / N more
_ROUNDS = 60

Scores = NDArray[Any]


def expected_relevant(
    scores: Scores, shown: Scores, own_count: float, near: float = 0.0, known: Scores | None = None
) -> float:
    """Return the expected number of relevant pages; `shown` are scores of known ones, each as if left out.

    `known` are those of `shown` that a person named, and `scores` are in the order of the crawl.

    `own_count` is n_own. Ten pages with small probabilities of their own, and ten with large ones:

    >>> alike = np.linspace(-1.0, 1.0, 10)
    >>> [round(expected_relevant(alike, np.zeros(0), own_count), 1) for own_count in (0.1, 6.0)]
    [0.3, 6.0]

    `near` is the median of the pages' cosines with those shown. A thousand pages of which half are close to them, and
    a thousand which are not:

    >>> alike = np.linspace(-1.0, 1.0, 1000)
    >>> [round(expected_relevant(alike, np.zeros(0), 30.0, near)) for near in (0.7, 0.3)]
    [50, 22]
    """
    if not len(scores):
        return 0.0
    count = _count_by_scores(scores, shown, own_count, near)
    if known is None or not len(known):
        return count
    return min(_count_by_known(scores, known, count), 0.9 * len(scores))


def _count_by_known(scores: Scores, known: Scores, count: float) -> float:
    ranks = np.log1p(len(scores) - np.searchsorted(np.sort(scores), known, "right"))
    order = np.arange(len(scores))
    trend = float(np.corrcoef(order, scores)[0, 1]) if len(scores) > 2 and np.ptp(scores) > 0.0 else 0.0
    usual = 1.11 + 0.38 * math.log1p(count) - 0.82 * trend + 0.19 * float(ranks.mean())
    return math.exp(usual - 14.0 / (len(scores) + 5.0))  # fewer among the first pages of a crawl


def _count_by_scores(scores: Scores, shown: Scores, own_count: float, near: float) -> float:
    if upper := upper_cluster_size(scores):
        return float(upper)
    low = float(scores[scores <= np.median(scores)].mean())
    high = max(float(np.mean(shown)), low + 1.0) if len(shown) else low + 4.0
    share = prevalence(scores - (low + high) / 2.0) * len(scores)
    usual = 0.916 + 0.164 * math.log(share + 1.0) + 0.307 * math.log(len(scores)) + 3.0 * max(0.0, near - 0.4)
    trust = TRUSTED / (TRUSTED + len(scores)) * min(1.0, max(0.0, 2.0 - len(scores) / LARGE))
    # + .1, because some pages may be relevant though none looks so
    return min(math.exp(trust * math.log(own_count + 0.1) + (1.0 - trust) * usual), 0.9 * len(scores))


def upper_cluster_size(scores: Scores) -> int:
    """Return the number of pages in the upper of two clusters; 0 if the scores do not form two clusters.

    Two normal distributions are fitted by expectation maximisation, starting from the split that separates the scores
    best (Otsu 1979). Scores far below the others are raised to the second percentile, so that a few such pages do not
    form a cluster. Two clusters count if their distance is 2.5 times their width (Ashman et al. 1994), if they explain
    the scores better than one by .13 in log likelihood per page, and if the upper one has 8 pages and at most 60 % of
    them. Right within a fifth in 12 of 14 development topics.

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


def prevalence(odds: Scores) -> float:
    """Return the share of relevant pages that best explains log odds computed with a prior of one half.

    >>> odds = np.array([4.0] * 10 + [-4.0] * 90)
    >>> round(prevalence(odds), 2)
    0.09
    """
    likely, share = sigmoid(odds), 0.1
    rest = 1.0 - likely
    for _ in range(_ROUNDS):
        weighed = likely * share
        before, share = share, min(max(float(np.mean(weighed / (weighed + rest * (1.0 - share)))), 1e-4), 0.99)
        if share == before:
            break
    return share


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
    [46.5, 58.0, 70.5]
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
    (0.03, 0.23)
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
