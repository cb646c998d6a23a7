"""How many pages are relevant: the count, how sure it is, and who should be asked about what."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.collection.estimate import by_uncertainty, estimate


def test_by_hand() -> None:
    """100 pages of .9 and 100 of .2: 100 at the line, 110 expected, a spread of 1.64 sqrt(9 + 16) = 8.2."""
    told = estimate(np.array([0.9] * 100 + [0.2] * 100), 0.5, 210, probability=True)
    assert (100, 91, 119) == (told.relevant, told.low, told.high)
    assert "about 100 of 210 pages relevant (91-119)" == told.description


def test_scores_that_are_no_chances_are_counted() -> None:
    """A cosine says nothing of how sure it is."""
    told = estimate(np.array([0.3, 0.2, 0.05]), 0.1, 4, probability=False)
    assert (2, 2, 2, "2 of 4 pages relevant") == (told.relevant, told.low, told.high, told.description)


def test_no_page_at_all() -> None:
    """Nothing of nothing is no estimate."""
    assert "0 of 0 pages relevant" == estimate(np.zeros(0), 0.5, 0, probability=True).description


@given(st.lists(st.floats(0, 1), max_size=50), st.floats(0, 1))
def test_the_interval_holds_the_count(chances: list[float], line: float) -> None:
    """Whatever the line: no fewer than none, no more than all, and the count within."""
    told = estimate(np.array(chances), line, len(chances), probability=True)
    assert 0 <= told.low <= told.relevant <= told.high <= len(chances)


@pytest.mark.parametrize(("probability", "first"), [(True, [2, 1, 0]), (False, [0, 1, 2])])
def test_nearest_to_the_line(probability: bool, first: list[int]) -> None:
    """A chance is unsure around one half, another score around its line; what is worth nothing is not asked about."""
    assert first == by_uncertainty([0.1, 0.3, 0.45, 0.0], 0.15, probability).tolist()
