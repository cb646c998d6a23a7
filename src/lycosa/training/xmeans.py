"""X-Means on pages: as many clusters as the pages call for."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lycosa.training.kmeans import Clustering, Points, improved, kmeans

FEWEST, MOST = 2, 50
"""Clusters to begin with, and at most."""

RESTARTS = 4
"""Starts of each split."""

_LEAST = 1e-12
"""A variance: pages may all be the same."""


def bic(sizes: NDArray[np.intp], squares: float, dimensions: int, *, literal: bool = False) -> float:
    """The Bayesian information criterion of K clusters: how well they explain the pages, less what they cost.

    BIC = l - p/2 log R, with R pages in M dimensions, R_n of them in cluster n, and p = K - 1 + M K + 1 parameters
    (shares, means, one variance). Clusters are spherical Gaussians of the same variance, which is estimated as
    s2 = sum ||x - mean||^2 / (M (R - K)); then
    l = sum over n of R_n log(R_n / R) - R M / 2 log(2 pi s2) - M (R - K) / 2.

    Two clusters of two pages, at -1, 1 and 9, 11 on a line: R = 4, K = 2, M = 1, s2 = 4 / 2 = 2, p = 4, and
    l = 4 log(1/2) - 2 log(4 pi) - 1 = -8.8346; BIC = -8.8346 - 2 log 4 = -11.607.

    >>> round(bic(np.array([2, 2]), squares=4.0, dimensions=1), 3)
    -11.607
    >>> round(bic(np.array([4]), squares=104.0, dimensions=1), 3)           # one cluster: they are better off as two
    -13.654

    Paper: Pelleg, Moore 2000, 3.2. It prints s2 without M, 2 pi to the power of 1/2 rather than M/2, and (R - K) / 2:
    right for M = 1 only. `literal` keeps that.
    """
    pages, k, m = int(sizes.sum()), len(sizes), dimensions
    each = 1 if literal else m
    variance = max(squares / (each * (pages - k)), _LEAST)
    likelihood = float((sizes * np.log(sizes / pages)).sum())
    likelihood -= pages / 2 * (each * math.log(2 * math.pi) + m * math.log(variance)) + each * (pages - k) / 2
    return likelihood - (k - 1 + m * k + 1) / 2 * math.log(pages)


def xmeans(
    points: Points, seed: int = 0, *, fewest: int = FEWEST, most: int = MOST, literal: bool = False
) -> Clustering:
    """Clusters by K-Means, each split in two for as long as two explain its pages better than one (`bic`).

    1. K-Means with `fewest` clusters. 2. Each cluster is split by K-Means with two; the split stays if its BIC, on the
    pages of this cluster, is above that of one cluster. 3. K-Means with the new centres. 4. Again from 2 until nothing
    is split, or there are `most`. Of all clusterings on the way the one with the best BIC on all pages counts.

    >>> from lycosa.text.bags import Bags
    >>> pages = Bags.of([([word, 3 + page], [1, 0.2]) for word in range(3) for page in range(12)])
    >>> xmeans(Points(pages, pages.counts, 15)).count
    3

    Paper: Pelleg, Moore 2000, 3. It starts the two halves on a random line through the centre; we start them as K-Means
    does, which is better where pages have thousands of dimensions.
    """
    if not 1 <= fewest <= most:
        raise ValueError(f"clusters are {fewest} to {most}: the first number has to be 1 or more, and not the larger")
    clustering = kmeans(points, fewest, seed)
    if not len(points):
        return clustering
    best, best_bic = clustering, _bic(clustering, points, literal)
    whole: set[bytes] = set()
    while clustering.count < most:
        centres = _split(points, clustering, most, seed, literal, whole)
        if len(centres) == clustering.count:
            break
        before, clustering = clustering.count, improved(points, centres)
        value = _bic(clustering, points, literal)
        if value > best_bic:
            best, best_bic = clustering, value
        if clustering.count <= before:  # copies of a page can't be apart
            break
    return best


def _split(
    points: Points, found: Clustering, most: int, seed: int, literal: bool, whole: set[bytes]
) -> NDArray[np.float64]:
    """The centres of all clusters, those that are better off as two twice; the clearest splits if not all have room.

    `whole` remembers which clusters are better off as one, so that nobody tries again.
    """
    means = points.means(found.labels, found.count)
    splits: list[tuple[float, int, NDArray[np.float64]]] = []
    for cluster in range(found.count):
        rows = np.flatnonzero(found.labels == cluster)
        if len(rows) < 3 or rows.tobytes() in whole:  # of two, a split leaves nothing to estimate a variance with
            continue
        mine = points.take(rows)
        together, apart = kmeans(mine, 1), kmeans(mine, 2, seed, RESTARTS)
        gain = _bic(apart, mine, literal) - _bic(together, mine, literal)
        if apart.count == 2 and gain > 0:
            splits.append((gain, cluster, mine.means(apart.labels, 2)))
        else:
            whole.add(rows.tobytes())
    splits.sort(key=lambda split: (-split[0], split[1]))
    halves = {cluster: centres for _, cluster, centres in splits[: most - found.count]}
    return np.concatenate([halves.get(cluster, means[[cluster]]) for cluster in range(found.count)])


def _bic(found: Clustering, points: Points, literal: bool) -> float:
    """Minus infinity where each page is a cluster of its own: nothing is left to estimate a variance with."""
    sizes = np.bincount(found.labels)
    if len(points) <= len(sizes):
        return -math.inf
    return bic(sizes, float(found.squares.sum()), points.dimensions, literal=literal)
