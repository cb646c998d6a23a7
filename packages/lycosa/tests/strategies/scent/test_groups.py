"""Tests of outcome groups, their lifts, and the groups of link positions."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.strategies.scent.groups import LINK_GROUPS, PLACE_SLOTS, PLACES, LinkPlaces, OutcomeGroups, lift


def test_add_counts_each_group_once() -> None:
    groups = OutcomeGroups(10)
    groups.add(np.array([2, 2, 5, 0]), 0.5)
    groups.add(np.array([5]), 0.25, pages=0)
    assert [[0.5, 1], [0.75, 1]] == groups.totals[[2, 5]].tolist()
    assert not groups.totals[[0, 1, 3]].any()


def test_add_outcomes_after_clear_sums_restores_totals() -> None:
    groups = OutcomeGroups(10)
    for line in ([2, 3, 2], [3, 0, 4]):
        groups.add(np.array(line), 9.0)
    groups.clear_sums()
    groups.add_outcomes(np.array([[2, 3, 2], [3, 0, 4]], np.int32), np.array([0.5, 0.25]))
    assert [[0, 0], [0.5, 1], [0.75, 2], [0.25, 1]] == groups.totals[[0, 2, 3, 4]].tolist()


def test_lift_is_shrunk() -> None:
    """Lift is (sum - n * mean) / (n + shrink): pages of 1 and .5 and a mean of .25 give (1.5 - .5) / 5; none, 0."""
    groups = OutcomeGroups(10)
    groups.add(np.array([4]), 1.0)
    groups.add(np.array([4]), 0.5)
    assert [0.2, 0.0] == pytest.approx(lift(*groups.look_up(np.array([4, 7])), 0.25).tolist())
    assert [1 / 12] == pytest.approx(lift(*groups.look_up(np.array([4])), 0.25, shrink=10.0).tolist())


@pytest.mark.parametrize("words", [8, 12])
def test_lift_of_words_equals_column_sums(words: int) -> None:
    groups, chance = OutcomeGroups(100), np.random.default_rng(1)
    groups.totals[1:] = chance.random((99, 2))
    texts = chance.integers(0, 100, (words, 5)).astype(np.int32)
    assert lift(*groups.look_up(texts), 0.3).sum(axis=0) == pytest.approx(groups.lift_of_words(texts, 0.3), rel=1e-5)


def test_link_places_stay_in_their_range() -> None:
    places = LinkPlaces()
    groups = np.array([places.groups(f"{number}.test", f"div#x{number} a.b") for number in range(300)])
    assert (groups[:, 0] > PLACES).all()
    assert (groups[:, 0] < PLACES + PLACE_SLOTS).all()
    assert (groups[:, 1] > PLACES + PLACE_SLOTS).all()
    assert (groups[:, 1] < LINK_GROUPS).all()
