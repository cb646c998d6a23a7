"""The clusters of a browsing record's pages, and words that describe them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.estimators.browsing import Browsing
from lycosa.estimators.neighbours import Clusters, weights
from lycosa.training.kmeans import Points, kmeans
from lycosa.training.xmeans import xmeans

KINDS: tuple[Clusters, ...] = ("kmeans", "xmeans")

WORDS = 6
"""Words that describe a cluster."""


def points_of(browsing: Browsing, kind: Clusters) -> Points:
    """The training pages as the strategy will see them, too: with the same idf."""
    return Points.of(browsing.pages, len(browsing.terms), weights(browsing, kind))


def clusters_of(browsing: Browsing, kind: Clusters, grouped: NDArray[np.bool_], k: int, seed: int) -> NDArray[np.intp]:
    """The cluster of each page by K-Means or X-Means; -1 for those that are not to be grouped.

    K-Means: k - 1 clusters of the irrelevant pages, and one of exactly the relevant ones; where only relevant pages are
    grouped, k - 1 clusters of these. X-Means: as many as there are, relevant and irrelevant pages together.
    """
    points = points_of(browsing, kind)
    clusters = np.full(len(browsing), -1, np.intp)
    good = grouped & browsing.relevant
    if kind == "xmeans":
        rows = np.flatnonzero(grouped)
        clusters[rows] = xmeans(points.take(rows), seed).labels
        return clusters
    alone = not (grouped & ~browsing.relevant).any()
    rows = np.flatnonzero(good if alone else grouped & ~browsing.relevant)
    clusters[rows] = kmeans(points.take(rows), k - 1, seed).labels
    if not alone:
        clusters[good] = clusters.max() + 1
    return clusters


def described(browsing: Browsing, kind: Clusters) -> list[dict[str, Any]]:
    """For each cluster its pages and its most typical words; the pages in none come last."""
    labels, points = browsing.clusterings[kind], points_of(browsing, kind)
    numbers = [*range(int(labels.max()) + 1), *([-1] if (labels < 0).any() else [])]
    means = points.means(labels % len(numbers), len(numbers))  # -1 is the last of them
    rows = []
    for number, mean in zip(numbers, means, strict=True):
        mine = labels == number
        best = np.argsort(-mean, kind="stable")[:WORDS]
        rows.append(
            {
                "cluster": number,
                "pages": int(mine.sum()),
                "relevant": int((mine & browsing.relevant).sum()),
                "words": [browsing.terms[column] for column in best.tolist() if mean[column] > 0],
            }
        )
    return rows
