"""Tests of sums over parents: fl_deg, fl_n, fl_e, fl_ne. See test_first_level_siblings.py for a graph of six nodes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.first_level import FirstLevel

KINDS: tuple[Any, ...] = ("deg", "n", "e", "ne")

PAGES = st.lists(
    st.tuples(st.integers(0, 64), st.dictionaries(st.sampled_from("uvwxyz"), st.integers(0, 64), max_size=6)),
    max_size=12,
)
"""Pages as (beta, alphas of links), in sixty-fourths."""


def crawled(pages: list[tuple[int, dict[str, int]]]) -> Table:
    """Return a table after visits of these pages."""
    table = Table()
    for number, (beta, link_relevances) in enumerate(pages):
        links = Links.to(*link_relevances)
        links.link_relevances = np.array(list(link_relevances.values()), np.float32) / 64
        table.add_seed(f"page {number}")
        table.absorb(Visit(f"page {number}", "page", "ok", number + 1, relevance=beta / 64, links=links))
    return table


def rows(table: Table) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.arange(len(table), dtype=np.int32)


@pytest.mark.paper("gouriten-fl-deg", "gouriten-fl-n", "gouriten-fl-e", "gouriten-fl-ne")
@pytest.mark.parametrize(
    ("kind", "expected"),
    [("deg", 2.0), ("n", 0.5 + 0.25), ("e", 0.125 + 1.0), ("ne", 0.5 * 0.125 + 0.25 * 1.0)],
)
def test_first_level_sums_over_two_parents(kind: Any, expected: float) -> None:
    """Node v has a parent with beta 1/2 and alpha 1/8, and one with beta 1/4 and alpha 1."""
    table = crawled([(32, {"v": 8}), (16, {"v": 64})])
    v = np.array([table.row_of["v"]], np.int32)
    assert [expected] == FirstLevel(kind, smooth=False).priority(v, table).tolist()
    assert [pytest.approx(np.log(1 + expected))] == FirstLevel(kind).priority(v, table).tolist()


@pytest.mark.paper("gouriten-log")
@settings(max_examples=50)
@given(PAGES)
def test_first_level_smooth_keeps_ranking(pages: list[tuple[int, dict[str, int]]]) -> None:
    table = crawled(pages)
    for kind in KINDS:
        plain = FirstLevel(kind, smooth=False).priority(rows(table), table)
        smooth = FirstLevel(kind).priority(rows(table), table)
        assert np.argsort(-plain, kind="stable").tolist() == np.argsort(-smooth, kind="stable").tolist()
        assert len(set(plain.tolist())) == len(set(smooth.tolist()))


def test_first_level_degree_is_not_proportional() -> None:
    assert [False, True, True, True] == [FirstLevel(kind).proportional for kind in ("deg", "n", "e", "ne")]
