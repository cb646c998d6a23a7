"""Centroid of example pages."""

from math import log, sqrt

import pytest

from input_errors import raises_input_error
from lycosa.core.types import Page
from lycosa.judges.examples import TERMS, centroid


def test_centroid_is_mean_of_unit_vectors() -> None:
    coral = 1 + log(2)
    length = sqrt(coral**2 + 1)
    expected = {"coral": (coral / length + 1 / sqrt(2)) / 2, "reef": (1 / length) / 2, "sea": (1 / sqrt(2)) / 2}
    actual = centroid([Page("ok", marked="coral coral reef"), Page("ok", marked="coral sea")])
    assert expected == pytest.approx(actual, abs=0.0005)


def test_centroid_prefers_common_terms() -> None:
    pages = [Page("ok", marked=f"coral own{n}x") for n in range(3)]
    assert "coral" == next(iter(centroid(pages)))


def test_centroid_keeps_heaviest_terms() -> None:
    page = Page("ok", marked=" ".join(f"word{n}x" for n in range(200)))
    assert TERMS == len(centroid([page]))


def test_centroid_ignores_pages_without_words() -> None:
    assert {"coral": 1.0} == centroid([Page("ok"), Page("ok", title="Coral")])


@pytest.mark.parametrize("pages", [[], [Page("ok"), Page("ok", marked="the of")]])
def test_centroid_of_pages_without_words_raises(pages: list[Page]) -> None:
    with raises_input_error("empty-file"):
        centroid(pages)


def test_centroid_is_independent_of_order() -> None:
    pages = [Page("ok", marked=text) for text in ("coral reef", "coral coral sea", "reef")]
    assert centroid(pages) == centroid(pages[::-1])
