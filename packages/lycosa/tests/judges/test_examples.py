"""Example pages: what they share."""

from math import log, sqrt

import pytest

from lycosa.core.errors import InputError
from lycosa.core.types import Page
from lycosa.judges.examples import TERMS, centroid


def test_the_mean_of_unit_vectors() -> None:
    """coral x2, reef and coral, sea: (1.693 / |v| + .707) / 2 for coral, the rest by hand as well."""
    coral = 1 + log(2)
    length = sqrt(coral**2 + 1)
    expected = {
        "coral": (coral / length + 1 / sqrt(2)) / 2,
        "reef": (1 / length) / 2,
        "sea": (1 / sqrt(2)) / 2,
    }
    actual = centroid([Page("ok", marked="coral coral reef"), Page("ok", marked="coral sea")])
    assert expected == pytest.approx(actual, abs=0.0005)


def test_a_term_of_all_pages_beats_one_of_few() -> None:
    """What the pages share comes first."""
    pages = [Page("ok", marked=f"coral own{n}x") for n in range(3)]
    assert "coral" == next(iter(centroid(pages)))


def test_only_the_heaviest_terms_are_kept() -> None:
    """The centroid has at most TERMS terms."""
    page = Page("ok", marked=" ".join(f"word{n}x" for n in range(200)))
    assert TERMS == len(centroid([page]))


def test_pages_without_words_are_passed_over() -> None:
    """An empty page does not pull the mean down."""
    assert {"coral": 1.0} == centroid([Page("ok"), Page("ok", title="Coral")])


@pytest.mark.parametrize("pages", [[], [Page("ok"), Page("ok", marked="the of")]])
def test_no_words_at_all(pages: list[Page]) -> None:
    """Examples without text are refused."""
    with pytest.raises(InputError, match="none of the example pages has any text"):
        centroid(pages)


def test_the_order_of_pages_does_not_matter() -> None:
    """The same pages in another order give the same weights."""
    pages = [Page("ok", marked=text) for text in ("coral reef", "coral coral sea", "reef")]
    assert centroid(pages) == centroid(pages[::-1])
