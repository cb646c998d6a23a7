"""Clusters of pages with similar words: K-Means and X-Means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.strategies.neighbours import Clusters, weights
from lycosa.text.bags import Bags, idf, unit
from lycosa.text.browsing import Browsing

KINDS: tuple[Clusters, ...] = ("kmeans", "xmeans")


@dataclass(slots=True)
class Points:
    """Pages as sparse vectors.

    >>> points = Points.of(Bags.of([([0, 1], [1, 1]), ([0], [2]), ([2], [1])]), 3)
    >>> points.values.round(2).tolist()           # idf of the first term is log 3/2, of the others log 3
    [0.35, 0.94, 1.0, 1.0]
    """

    bags: Bags
    values: NDArray[np.float64]
    dimensions: int

    @classmethod
    def of(cls, bags: Bags, terms: int, weights: NDArray[np.float64] | None = None) -> Points:
        """Create tf-idf vectors of unit length; `weights` replaces the idf of these pages."""
        rarity = idf(bags.document_frequency(terms), len(bags)) if weights is None else weights.astype(np.float32)
        return cls(bags, unit(bags, rarity), terms)

    def __len__(self) -> int:
        return len(self.bags)

    def take(self, rows: NDArray[np.intp]) -> Points:
        weighed = Bags(self.bags.starts, self.bags.columns, self.values).take(rows)
        return Points(self.bags.take(rows), weighed.counts, self.dimensions)

    def means(self, labels: NDArray[np.intp], k: int) -> NDArray[np.float64]:
        """Return the mean of each cluster as a row; zeros for an empty one."""
        at = labels[self.bags.rows()] * self.dimensions + self.bags.columns
        sums = np.bincount(at, self.values, k * self.dimensions).reshape(k, self.dimensions)
        means: NDArray[np.float64] = sums / np.maximum(np.bincount(labels, minlength=k), 1)[:, None]
        return means

    def squares(self, centres: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ||x - c||^2 = ||x||^2 - 2 x.c + ||c||^2 for each page (row) and centre (column)."""
        product = self.bags.times(self.values, np.ascontiguousarray(centres.T, np.float32))
        length = self.bags.totals(self.values * self.values)
        squares: NDArray[np.float64] = np.maximum(length[:, None] - 2 * product + (centres**2).sum(axis=1), 0.0)
        squares[squares < 1e-7] = 0.0  # rounding error of two pages with the same words
        return squares


@dataclass(slots=True)
class Clustering:
    """Clusters of pages, numbered in order of first occurrence, with the squared distance of each page."""

    labels: NDArray[np.intp]
    squares: NDArray[np.float64]  # squared distance of each page to its cluster's mean

    @property
    def count(self) -> int:
        return int(self.labels.max(initial=-1)) + 1


def kmeans(points: Points, k: int, seed: int = 0, restarts: int = 8) -> Clustering:
    """Return at most k clusters that minimise the sum of squared distances to the cluster means.

    1. Start (k-means++): the first centre is a random page; further ones are drawn in proportion to the squared
       distance to the nearest centre so far.
    2. Each page goes to the nearest centre, and each centre moves to the mean of its pages, until nothing changes.
    3. An empty cluster takes the page that is farthest from its own centre.

    The best of `restarts` runs is returned; the result depends on the seed only. With fewer than k distinct pages there
    are fewer clusters.

    >>> pages = Bags.of([([0], [1]), ([1], [1]), ([0], [2]), ([1], [3])])
    >>> kmeans(Points.of(pages, 2), 2).labels.tolist()
    [0, 1, 0, 1]

    Paper: MacQueen 1967; the start: Arthur, Vassilvitskii 2007. In Batsakis 2007, 3.4.1, K is 5.
    """
    if k < 1:
        raise ValueError(f"'k' is {k}: it must be 1 or more")
    if not len(points):
        return Clustering(np.zeros(0, np.intp), np.zeros(0))
    best: Clustering | None = None
    for number in range(restarts if k > 1 else 1):
        generator = np.random.default_rng([seed, k, number])
        clustering = improved(points, _start(points, k, generator))
        if best is None or clustering.squares.sum() < best.squares.sum() * (1 - 1e-9):
            best = clustering
    assert best is not None
    return best


def improved(points: Points, centres: NDArray[np.float64]) -> Clustering:
    """Run steps 2 and 3 of K-Means from the given centres."""
    k = len(centres)
    labels = np.full(len(points), -1, np.intp)
    squares = np.zeros(len(points))
    for _ in range(100):
        distances = points.squares(centres)
        nearest = distances.argmin(axis=1)
        squares = distances[np.arange(len(points)), nearest]
        _fill(nearest, squares, k)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centres = points.means(labels, k)
    return _in_order(labels, squares)


def _start(points: Points, k: int, generator: np.random.Generator) -> NDArray[np.float64]:
    chosen = [int(generator.integers(len(points)))]
    nearest = _to_page(points, chosen[0])
    while len(chosen) < k and nearest.sum() > 0.0:
        sums = np.cumsum(nearest)
        chosen.append(min(int(np.searchsorted(sums, generator.random() * sums[-1], side="right")), len(points) - 1))
        nearest = np.minimum(nearest, _to_page(points, chosen[-1]))
    return points.take(np.array(chosen)).means(np.arange(len(chosen)), len(chosen))


def _to_page(points: Points, row: int) -> NDArray[np.float64]:
    squares = points.squares(points.take(np.array([row])).means(np.zeros(1, np.intp), 1))[:, 0]
    squares[row] = 0.0
    return squares


def _fill(labels: NDArray[np.intp], squares: NDArray[np.float64], k: int) -> None:
    """Give each empty cluster the page that is farthest from its centre, unless that page is alone in its cluster."""
    counts = np.bincount(labels, minlength=k)
    for cluster in np.flatnonzero(counts == 0).tolist():
        distances = np.where(counts[labels] > 1, squares, 0.0)
        row = int(distances.argmax())
        if not distances[row]:
            return
        counts[labels[row]] -= 1
        labels[row], squares[row], counts[cluster] = cluster, 0.0, 1


def _in_order(labels: NDArray[np.intp], squares: NDArray[np.float64]) -> Clustering:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.intp)
    number[np.argsort(first)] = np.arange(len(first))
    return Clustering(number[inverse.reshape(-1)], squares)


def bic(sizes: NDArray[np.intp], squares: float, dimensions: int) -> float:
    """Return the Bayesian information criterion of K clusters; larger is better.

    BIC = l - p/2 log R, with R pages in M dimensions, R_n of them in cluster n, and p = K - 1 + M K + 1 parameters
    (shares, means, one variance). Clusters are spherical Gaussians with the common variance s2 = sum ||x - mean||^2 /
    (M (R - K)); then l = sum over n of R_n log(R_n / R) - R M / 2 log(2 pi s2) - M (R - K) / 2.

    Two clusters of two pages, at -1, 1 and 9, 11 on a line: R = 4, K = 2, M = 1, s2 = 4 / 2 = 2, p = 4, and l = 4
    log(1/2) - 2 log(4 pi) - 1 = -8.8346; BIC = -8.8346 - 2 log 4 = -11.607.

    >>> round(bic(np.array([2, 2]), squares=4.0, dimensions=1), 3)
    -11.607
    >>> round(bic(np.array([4]), squares=104.0, dimensions=1), 3)           # one cluster is worse
    -13.654

    Paper: Pelleg, Moore 2000, 3.2. It prints s2 without M, 2 pi to the power of 1/2 rather than M/2, and (R - K) / 2:
    right for M = 1 only.
    """
    pages, k, m = int(sizes.sum()), len(sizes), dimensions
    variance = max(squares / (m * (pages - k)), 1e-12)  # all pages may be equal
    likelihood = float((sizes * np.log(sizes / pages)).sum())
    likelihood -= pages / 2 * (m * math.log(2 * math.pi) + m * math.log(variance)) + m * (pages - k) / 2
    return likelihood - (k - 1 + m * k + 1) / 2 * math.log(pages)


def xmeans(points: Points, seed: int = 0, *, fewest: int = 2, max_clusters: int = 50) -> Clustering:
    """Return K-Means clusters, each split in two as long as `bic` improves.

    1. K-Means with `fewest` clusters. 2. Split each cluster by K-Means with two; keep the split if its BIC, on the
    pages of this cluster, is above that of one cluster. 3. K-Means with the new centres. 4. Repeat from 2 until nothing
    is split, or there are `max_clusters` clusters. The clustering with the best BIC on all pages is returned.

    >>> pages = Bags.of([([word, 3 + page], [1, 0.2]) for word in range(3) for page in range(12)])
    >>> xmeans(Points(pages, pages.counts, 15)).count
    3

    Paper: Pelleg, Moore 2000, 3. Departure: the halves start like K-Means, not on a random line through the centre,
    which is better in thousands of dimensions.
    """
    if not 1 <= fewest <= max_clusters:
        raise ValueError(
            f"'fewest' is {fewest} and 'most' {max_clusters}: both must be 1 or more, and 'fewest' at most 'most'"
        )
    clustering = kmeans(points, fewest, seed)
    if not len(points):
        return clustering
    best, best_bic = clustering, _bic(clustering, points)
    whole: set[bytes] = set()
    while clustering.count < max_clusters:
        centres = _split(points, clustering, max_clusters, seed, whole)
        if len(centres) == clustering.count:
            break
        before, clustering = clustering.count, improved(points, centres)
        value = _bic(clustering, points)
        if value > best_bic:
            best, best_bic = clustering, value
        if clustering.count <= before:  # copies of a page cannot be separated
            break
    return best


def _split(
    points: Points, clustering: Clustering, max_clusters: int, seed: int, whole: set[bytes]
) -> NDArray[np.float64]:
    """Return all centres, with two for each of the best splits; `whole` are the clusters not to be tried again."""
    means = points.means(clustering.labels, clustering.count)
    splits: list[tuple[float, int, NDArray[np.float64]]] = []
    for cluster in range(clustering.count):
        rows = np.flatnonzero(clustering.labels == cluster)
        if len(rows) < 3 or rows.tobytes() in whole:  # two pages cannot be split, as no variance could be estimated
            continue
        own_points = points.take(rows)
        together, apart = kmeans(own_points, 1), kmeans(own_points, 2, seed, restarts=4)
        gain = _bic(apart, own_points) - _bic(together, own_points)
        if apart.count == 2 and gain > 0:
            splits.append((gain, cluster, own_points.means(apart.labels, 2)))
        else:
            whole.add(rows.tobytes())
    splits.sort(key=lambda split: (-split[0], split[1]))
    halves = {cluster: centres for _, cluster, centres in splits[: max_clusters - clustering.count]}
    return np.concatenate([halves.get(cluster, means[[cluster]]) for cluster in range(clustering.count)])


def _bic(clustering: Clustering, points: Points) -> float:
    """Return the BIC of a clustering; -inf if each page is its own cluster and there is no variance."""
    sizes = np.bincount(clustering.labels)
    if len(points) <= len(sizes):
        return -math.inf
    return bic(sizes, float(clustering.squares.sum()), points.dimensions)


def points_of(browsing: Browsing, kind: Clusters) -> Points:
    return Points.of(browsing.pages, len(browsing.terms), weights(browsing, kind))


def clusters_of(browsing: Browsing, kind: Clusters, grouped: NDArray[np.bool_], k: int, seed: int) -> NDArray[np.intp]:
    """Return the K-Means or X-Means cluster of each page; -1 for pages that are not `grouped`.

    K-Means: k - 1 clusters of the irrelevant pages, and one of exactly the relevant ones; if only relevant pages are
    grouped, k - 1 clusters of those. X-Means: relevant and irrelevant pages together.
    """
    points = points_of(browsing, kind)
    clusters = np.full(len(browsing), -1, np.intp)
    relevant = grouped & browsing.relevant
    if kind == "xmeans":
        rows = np.flatnonzero(grouped)
        clusters[rows] = xmeans(points.take(rows), seed).labels
        return clusters
    relevant_only = not (grouped & ~browsing.relevant).any()
    rows = np.flatnonzero(relevant if relevant_only else grouped & ~browsing.relevant)
    clusters[rows] = kmeans(points.take(rows), k - 1, seed).labels
    if not relevant_only:
        clusters[relevant] = clusters.max() + 1
    return clusters


def describe(browsing: Browsing, kind: Clusters) -> list[dict[str, Any]]:
    """Return pages and most typical words of each cluster; unclustered pages come last."""
    labels, points = browsing.clusterings[kind], points_of(browsing, kind)
    numbers = [*range(int(labels.max()) + 1), *([-1] if (labels < 0).any() else [])]
    means = points.means(labels % len(numbers), len(numbers))  # -1 maps to the last one
    rows = []
    for number, mean in zip(numbers, means, strict=True):
        own_points = labels == number
        best = np.argsort(-mean, kind="stable")[:6]  # most typical words of a cluster
        words = [browsing.terms[column] for column in best.tolist() if mean[column] > 0]
        pages, relevant = int(own_points.sum()), int((own_points & browsing.relevant).sum())
        rows.append({"cluster": number, "pages": pages, "relevant": relevant, "words": words})
    return rows
