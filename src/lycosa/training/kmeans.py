"""K-Means on pages: groups of pages whose words are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.text.bags import Bags, idf, unit

RESTARTS = 8
"""Starts, of which the best counts."""

MOST_ROUNDS = 100

_SAME = 1e-7
"""Squared distances below this are none, but what float32 leaves of it: two pages with the same words."""


@dataclass(slots=True)
class Points:
    """Pages as sparse vectors in a space of so many dimensions.

    >>> points = Points.of(Bags.of([([0, 1], [1, 1]), ([0], [2]), ([2], [1])]), 3)
    >>> points.values.round(2).tolist()           # idf of the first term is log 3/2, of the others log 3
    [0.35, 0.94, 1.0, 1.0]
    """

    bags: Bags
    values: NDArray[np.float64]
    dimensions: int

    @classmethod
    def of(cls, bags: Bags, terms: int, weights: NDArray[np.float64] | None = None) -> Points:
        """tf-idf of unit length; idf is given, or that of these pages."""
        rarity = idf(bags.document_frequency(terms), len(bags)) if weights is None else weights.astype(np.float32)
        return cls(bags, unit(bags, rarity), terms)

    def __len__(self) -> int:
        return len(self.bags)

    def take(self, rows: NDArray[np.intp]) -> Points:
        """Some of the pages; their values stay as they are."""
        weighed = Bags(self.bags.starts, self.bags.columns, self.values).take(rows)
        return Points(self.bags.take(rows), weighed.counts, self.dimensions)

    def means(self, labels: NDArray[np.intp], k: int) -> NDArray[np.float64]:
        """The mean of each cluster's pages, a row each; of an empty one 0."""
        at = labels[self.bags.rows()] * self.dimensions + self.bags.columns
        sums = np.bincount(at, self.values, k * self.dimensions).reshape(k, self.dimensions)
        means: NDArray[np.float64] = sums / np.maximum(np.bincount(labels, minlength=k), 1)[:, None]
        return means

    def squares(self, centres: NDArray[np.float64]) -> NDArray[np.float64]:
        """||x - c||^2 for each page, a row each, and each centre: ||x||^2 - 2 x.c + ||c||^2."""
        product = self.bags.times(self.values, np.ascontiguousarray(centres.T, np.float32))
        length = self.bags.totals(self.values * self.values)
        squares: NDArray[np.float64] = np.maximum(length[:, None] - 2 * product + (centres**2).sum(axis=1), 0.0)
        squares[squares < _SAME] = 0.0
        return squares


@dataclass(slots=True)
class Clustering:
    """Which cluster each page is in (0, 1, ..., in the order in which pages first have them), and how far off it is."""

    labels: NDArray[np.intp]
    squares: NDArray[np.float64]
    """The squared distance of each page to the mean of its cluster."""

    @property
    def count(self) -> int:
        """How many clusters there are; none is empty."""
        return int(self.labels.max(initial=-1)) + 1


def kmeans(points: Points, k: int, seed: int = 0, restarts: int = RESTARTS) -> Clustering:
    """At most k clusters that leave the smallest sum of squared distances between pages and their clusters' means.

    1. Start (k-means++): the first centre is any page; each further one is a page drawn in proportion to its squared
       distance to the nearest centre so far.
    2. Each page goes to the nearest centre; a centre moves to the mean of its pages; until nothing changes.
    3. A cluster that has lost its pages takes the page that is farthest from its own centre.

    The best of `restarts` starts counts; the same seed gives the same clusters. Where there are fewer different pages
    than k there are fewer clusters.

    >>> pages = Bags.of([([0], [1]), ([1], [1]), ([0], [2]), ([1], [3])])
    >>> kmeans(Points.of(pages, 2), 2).labels.tolist()
    [0, 1, 0, 1]

    Paper: MacQueen 1967; the start: Arthur, Vassilvitskii 2007. In Batsakis 2007, 3.4.1, K is 5.
    """
    if k < 1:
        raise ValueError(f"k is {k}: there has to be a cluster")
    if not len(points):
        return Clustering(np.zeros(0, np.intp), np.zeros(0))
    best: Clustering | None = None
    for number in range(restarts if k > 1 else 1):
        chance = np.random.default_rng([seed, k, number])
        clustering = improved(points, _start(points, k, chance))
        if best is None or clustering.squares.sum() < best.squares.sum() * (1 - 1e-9):
            best = clustering
    assert best is not None
    return best


def improved(points: Points, centres: NDArray[np.float64]) -> Clustering:
    """Steps 2 and 3 from some centres on."""
    k = len(centres)
    labels = np.full(len(points), -1, np.intp)
    squares = np.zeros(len(points))
    for _ in range(MOST_ROUNDS):
        distances = points.squares(centres)
        nearest = distances.argmin(axis=1)
        squares = distances[np.arange(len(points)), nearest]
        _fill(nearest, squares, k)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centres = points.means(labels, k)
    return _in_order(labels, squares)


def _start(points: Points, k: int, chance: np.random.Generator) -> NDArray[np.float64]:
    chosen = [int(chance.integers(len(points)))]
    nearest = _to_page(points, chosen[0])
    while len(chosen) < k and nearest.sum() > 0.0:
        sums = np.cumsum(nearest)
        chosen.append(min(int(np.searchsorted(sums, chance.random() * sums[-1], side="right")), len(points) - 1))
        nearest = np.minimum(nearest, _to_page(points, chosen[-1]))
    return points.take(np.array(chosen)).means(np.arange(len(chosen)), len(chosen))


def _to_page(points: Points, row: int) -> NDArray[np.float64]:
    squares = points.squares(points.take(np.array([row])).means(np.zeros(1, np.intp), 1))[:, 0]
    squares[row] = 0.0
    return squares


def _fill(labels: NDArray[np.intp], squares: NDArray[np.float64], k: int) -> None:
    """Give each empty cluster the page that is farthest from its centre, if that one leaves another page behind."""
    counts = np.bincount(labels, minlength=k)
    for cluster in np.flatnonzero(counts == 0).tolist():
        far = np.where(counts[labels] > 1, squares, 0.0)
        row = int(far.argmax())
        if not far[row]:
            return
        counts[labels[row]] -= 1
        labels[row], squares[row], counts[cluster] = cluster, 0.0, 1


def _in_order(labels: NDArray[np.intp], squares: NDArray[np.float64]) -> Clustering:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.intp)
    number[np.argsort(first)] = np.arange(len(first))
    return Clustering(number[inverse.reshape(-1)], squares)
