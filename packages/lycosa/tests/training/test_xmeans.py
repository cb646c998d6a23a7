"""X-Means on pages."""

from __future__ import annotations

from math import log, pi

import numpy as np
import pytest

from lycosa.text.bags import Bags
from lycosa.training.clusters import Points, bic, xmeans


def clouds(centres: int, each: int, width: float = 0.05, seed: int = 0) -> Points:
    """Points around the corners of a simplex."""
    chance = np.random.default_rng(seed)
    corner = chance.permutation(np.repeat(np.arange(centres), each))
    places = np.eye(centres)[corner] + chance.normal(0, width, (centres * each, centres))
    bags = Bags.of([(np.arange(centres), row) for row in places])
    return Points(bags, bags.counts, centres)


def test_the_criterion_by_hand() -> None:
    """R = 5 pages in M = 2 dimensions, K = 2 clusters of 2 and 3, squares 6: s2 = 6 / (2 * 3) = 1, p = 1 + 4 + 1."""
    likelihood = 2 * log(2 / 5) + 3 * log(3 / 5) - 5 * log(2 * pi * 1) - 2 * 3 / 2
    assert likelihood - 6 / 2 * log(5) == pytest.approx(bic(np.array([2, 3]), 6.0, 2))


@pytest.mark.parametrize("centres", [2, 3, 4, 5])
def test_as_many_clusters_as_there_are(centres: int) -> None:
    """Clouds that are apart are counted rightly, from two clusters on."""
    assert centres == xmeans(clouds(centres, 30)).count


def test_one_cloud_stays_one() -> None:
    """What is all of one kind is not split, if one may be the answer."""
    assert 1 == xmeans(clouds(8, 25, width=5.0), fewest=1).count


def test_the_same_seed_gives_the_same_clusters() -> None:
    """Nothing but the seed decides."""
    points = clouds(6, 15, width=0.3)
    assert xmeans(points, 4).labels.tolist() == xmeans(points, 4).labels.tolist()


def test_no_more_than_the_most() -> None:
    """The clearest splits are made, as many as there is room for."""
    assert 3 == xmeans(clouds(5, 20), most=3).count


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_hardly_any_pages(count: int) -> None:
    """None, one, two or three pages are no reason to fail."""
    bags = Bags.of([([number], [1.0]) for number in range(count)])
    found = xmeans(Points(bags, bags.counts, max(1, count)))
    assert count == len(found.labels)
    assert found.count <= max(2, count)


def test_pages_that_are_all_the_same() -> None:
    """Nothing can be split, and nothing is divided by nothing."""
    bags = Bags.of([([0], [1.0])] * 9)
    assert 1 == xmeans(Points(bags, bags.counts, 1)).count


def test_bad_bounds() -> None:
    """There can't be fewer clusters than the fewest."""
    with pytest.raises(ValueError, match="clusters are 5 to 3"):
        xmeans(clouds(2, 5), fewest=5, most=3)
