"""K-Means and vectors of pages."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lycosa.text.bags import Bags
from lycosa.training.clusters import Points, improved, kmeans


def line(*places: float) -> Points:
    """Return points on a line."""
    bags = Bags.of([([0], [place]) if place else ([], []) for place in places])
    return Points(bags, bags.counts, 1)


def crowd(centres: int, each: int, seed: int = 0) -> tuple[Points, NDArray[np.intp]]:
    """Return points around the corners of a simplex, and the index of the corner of each."""
    chance = np.random.default_rng(seed)
    corner = chance.permutation(np.repeat(np.arange(centres), each))
    places = np.eye(centres)[corner] + chance.normal(0, 0.1, (centres * each, centres))
    bags = Bags.of([(np.arange(centres), row) for row in places])
    return Points(bags, bags.counts, centres), corner


def test_squares_by_hand() -> None:
    """Squares are ||x - c||^2, here of (3, 4), (0, 1) and (0, 0) to the centres (0, 0) and (3, 0)."""
    bags = Bags.of([([0, 1], [3, 4]), ([1], [1]), ([], [])])
    points = Points(bags, bags.counts, 2)
    centres = np.array([[0.0, 0.0], [3.0, 0.0]])
    assert [[25.0, 16.0], [1.0, 10.0], [0.0, 9.0]] == points.squares(centres).round(4).tolist()


def test_means_by_hand() -> None:
    """The mean of (3, 4) and (0, 1) is (1.5, 2.5); that of an empty cluster is 0."""
    bags = Bags.of([([0, 1], [3, 4]), ([1], [1])])
    assert [[1.5, 2.5], [0.0, 0.0]] == Points(bags, bags.counts, 2).means(np.zeros(2, np.intp), 2).tolist()


@pytest.mark.paper("batsakis-kmeans")
def test_kmeans_two_groups_on_line_by_hand() -> None:
    """The points -1, 1 and 9, 11 have the means 0 and 10, at a distance of 1 each, so the sum of squares is 4."""
    found = kmeans(line(-1, 9, 1, 11), 2)
    assert [0, 1, 0, 1] == found.labels.tolist()
    assert 4.0 == pytest.approx(found.squares.sum(), abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_kmeans_finds_generating_clusters(seed: int) -> None:
    points, corner = crowd(6, 20, seed)
    found = kmeans(points, 6, seed)
    assert 6 == len(set(zip(found.labels.tolist(), corner.tolist(), strict=True)))


def test_kmeans_is_deterministic() -> None:
    points, _ = crowd(9, 10)
    assert kmeans(points, 4, 3).labels.tolist() == kmeans(points, 4, 3).labels.tolist()


def test_kmeans_numbers_clusters_in_order() -> None:
    labels = kmeans(crowd(5, 10, 2)[0], 5).labels.tolist()
    firsts = sorted({label: labels.index(label) for label in labels}.items(), key=lambda pair: pair[1])
    assert [0, 1, 2, 3, 4] == [label for label, _ in firsts]


@pytest.mark.parametrize(
    ("places", "k", "count"),
    [
        ((1.0, 2.0), 5, 2),
        ((7.0,), 5, 1),
        ((3.0, 3.0, 3.0), 4, 1),
        ((1.0, 1.0, 2.0), 3, 2),
        ((), 3, 0),
        ((0.0, 0.0), 2, 1),
    ],
)
def test_kmeans_has_at_most_one_cluster_per_page(places: tuple[float, ...], k: int, count: int) -> None:
    assert count == kmeans(line(*places), k).count


def test_improved_fills_empty_clusters() -> None:
    """Empty clusters get the farthest points: only the first of the centres 0, 100 and 200 has points."""
    found = improved(line(1, 2, 3, 20), np.array([[0.0], [100.0], [200.0]]))
    assert 3 == found.count
    assert 0.5 == pytest.approx(found.squares.sum(), abs=1e-5), "1 | 2, 3 | 20 or 1, 2 | 3 | 20: twice 0.5 squared"


def test_kmeans_rejects_zero_clusters() -> None:
    with pytest.raises(ValueError, match="'k' is 0: it must be 1 or more"):
        kmeans(line(1.0), 0)


def test_points_have_unit_length() -> None:
    points = Points.of(Bags.of([([0, 1, 2], [1, 2, 1]), ([0, 2], [5, 1]), ([0], [1])]), 3)
    assert [1.0, 1.0, 0.0] == points.bags.totals(points.values**2).round(12).tolist()
