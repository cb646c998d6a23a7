"""X-Means and the Bayesian information criterion."""

from __future__ import annotations

from math import log, pi

import numpy as np
import pytest

from lycosa.text.bags import Bags
from lycosa.training.clusters import Points, bic, xmeans


def clouds(centres: int, each: int, width: float = 0.05, seed: int = 0) -> Points:
    """Return points around the corners of a simplex."""
    chance = np.random.default_rng(seed)
    corner = chance.permutation(np.repeat(np.arange(centres), each))
    places = np.eye(centres)[corner] + chance.normal(0, width, (centres * each, centres))
    bags = Bags.of([(np.arange(centres), row) for row in places])
    return Points(bags, bags.counts, centres)


def test_bic_by_hand() -> None:
    """For R = 5 pages in M = 2 dimensions, K = 2 clusters (2, 3), squares 6: s2 = 6 / (2 * 3) = 1, p = 1 + 4 + 1."""
    likelihood = 2 * log(2 / 5) + 3 * log(3 / 5) - 5 * log(2 * pi * 1) - 2 * 3 / 2
    assert likelihood - 6 / 2 * log(5) == pytest.approx(bic(np.array([2, 3]), 6.0, 2))


@pytest.mark.parametrize("centres", [2, 3, 4, 5])
def test_xmeans_finds_number_of_clusters(centres: int) -> None:
    assert centres == xmeans(clouds(centres, 30)).count


def test_xmeans_keeps_single_cloud() -> None:
    assert 1 == xmeans(clouds(8, 25, width=5.0), fewest=1).count


def test_xmeans_is_deterministic() -> None:
    points = clouds(6, 15, width=0.3)
    assert xmeans(points, 4).labels.tolist() == xmeans(points, 4).labels.tolist()


def test_xmeans_respects_maximum() -> None:
    assert 3 == xmeans(clouds(5, 20), max_clusters=3).count


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_xmeans_with_few_pages_has_few_clusters(count: int) -> None:
    bags = Bags.of([([number], [1.0]) for number in range(count)])
    found = xmeans(Points(bags, bags.counts, max(1, count)))
    assert count == len(found.labels)
    assert found.count <= max(2, count)


def test_xmeans_with_equal_pages_is_one_cluster() -> None:
    bags = Bags.of([([0], [1.0])] * 9)
    assert 1 == xmeans(Points(bags, bags.counts, 1)).count


def test_xmeans_rejects_bad_bounds() -> None:
    with pytest.raises(ValueError, match="'fewest' is 5 and 'most' 3"):
        xmeans(clouds(2, 5), fewest=5, max_clusters=3)
