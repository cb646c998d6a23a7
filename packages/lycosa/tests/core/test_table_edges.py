"""Tests of the edge columns, compared with a plain list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.core.table import LinkEdges

PAGES = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.lists(st.tuples(st.integers(0, 12), st.integers(0, 8)), max_size=6, unique_by=lambda link: link[0]),
    ),
    max_size=15,
)
"""Pages with link relevances in eighths."""


def rows(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(numbers, np.int32)


def add(edges: LinkEdges, parent: int, links: dict[int, float]) -> None:
    edges.add(parent, rows(*links), np.array(list(links.values()), np.float32))


@pytest.mark.paper("gouriten-implementation")
@given(PAGES)
def test_edges_equal_plain_list(pages: list[tuple[int, list[tuple[int, int]]]]) -> None:
    edges = LinkEdges()
    plain: list[tuple[int, int, float]] = []
    own: dict[int, list[int]] = {}
    for parent, links in pages:
        add(edges, parent, {child: eighths / 8 for child, eighths in links})
        own.setdefault(parent, []).extend(range(len(plain), len(plain) + len(links)))
        plain += [(parent, child, eighths / 8) for child, eighths in links]
    assert len(plain) == len(edges)
    columns = zip(edges.parent.tolist(), edges.child.tolist(), edges.alpha.tolist(), strict=True)
    assert plain == list(columns)
    for row in range(14):
        assert [plain[edge][1] for edge in own.get(row, [])] == edges.children(row).tolist()
        assert [plain[edge][2] for edge in own.get(row, [])] == edges.link_relevances(row).tolist()
        assert [edge for edge, (_, child, _) in enumerate(plain) if child == row] == edges.into(row).tolist()
        assert [parent for parent, child, _ in plain if child == row] == edges.parents(row).tolist()
    everyone = rows(*range(14))
    assert [len(own.get(row, [])) for row in range(14)] == edges.out_degree(everyone).tolist()
    assert [edge for row in range(14) for edge in own.get(row, [])] == edges.leaving(everyone).tolist()


@given(PAGES, st.sets(st.integers(0, 14)))
def test_into_is_independent_of_lookup_time(pages: list[tuple[int, list[tuple[int, int]]]], asked: set[int]) -> None:
    edges = LinkEdges()
    plain: list[tuple[int, int]] = []
    for number, (parent, links) in enumerate(pages):
        add(edges, parent, {child: eighths / 8 for child, eighths in links})
        plain += [(parent, child) for child, _ in links]
        for row in range(13) if number in asked else ():
            assert [parent for parent, child in plain if child == row] == edges.parents(row).tolist()


def test_add_revisit_appends_links() -> None:
    edges = LinkEdges()
    add(edges, 0, {1: 0.5, 2: 0.25})
    add(edges, 1, {2: 0.75})
    add(edges, 0, {3: 1.0})
    assert [1, 2, 3] == edges.children(0).tolist()
    assert [0.5, 0.25, 1.0] == edges.link_relevances(0).tolist()
    assert [2, 0, 1, 3] == edges.leaving(rows(1, 0)).tolist()
    assert [3, 1] == edges.out_degree(rows(0, 1)).tolist()
    assert [0] == edges.parents(3).tolist()


def test_add_without_links_changes_nothing() -> None:
    edges = LinkEdges()
    add(edges, 0, {1: 0.5})
    add(edges, 0, {})
    assert [1] == edges.children(0).tolist()
    assert 1 == len(edges)


@pytest.mark.parametrize("row", [0, 7, 5_000])
def test_unknown_rows_have_no_edges(row: int) -> None:
    edges = LinkEdges()
    add(edges, 1, {2: 0.5})
    assert [] == edges.children(row).tolist()
    assert [] == edges.link_relevances(row).tolist()
    assert [] == edges.parents(row).tolist()
    assert [0] == edges.out_degree(rows(row)).tolist()
    assert [] == edges.leaving(rows(row)).tolist()


def test_edges_of_empty_selection_are_empty() -> None:
    assert [] == LinkEdges().out_degree(rows()).tolist()
    assert [] == LinkEdges().leaving(rows()).tolist()


def test_leaving_returns_edges_row_by_row() -> None:
    edges = LinkEdges()
    add(edges, 3, {4: 0.5, 5: 0.25})
    add(edges, 1, {4: 0.125})
    assert [2, 0, 1, 2] == edges.leaving(rows(1, 3, 2, 1)).tolist()


def test_add_grows_columns() -> None:
    edges = LinkEdges()
    for parent in range(100):
        add(edges, parent, {2_000 + 37 * link + parent: link / 64 for link in range(64)})
    assert 6_400 == len(edges)
    assert [2_000 + 37 * link + 99 for link in range(64)] == edges.children(99).tolist()
    assert [link / 64 for link in range(64)] == edges.link_relevances(0).tolist()
    assert [2, 39, 76] == sorted(edges.parents(2_000 + 76).tolist())


def test_lookups_beyond_end_change_nothing() -> None:
    edges = LinkEdges()
    add(edges, 0, {1: 0.5})
    edges.parents(1)  # the first lookup builds the chains
    before = {name: len(column) for name, column in vars(edges).items() if isinstance(column, np.ndarray)}
    edges.out_degree(rows(9_999))
    edges.leaving(rows(9_999))
    edges.parents(9_999)
    assert before == {name: len(column) for name, column in vars(edges).items() if isinstance(column, np.ndarray)}
