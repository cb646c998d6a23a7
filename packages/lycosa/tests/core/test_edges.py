"""The edges: append-only, walked from either end, held against a plain list."""

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
"""Pages as they come in: a row, and its links with alphas in eighths."""


def rows(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Row numbers as an array."""
    return np.array(numbers, np.int32)


def add(edges: LinkEdges, parent: int, links: dict[int, float]) -> None:
    """The links of a page."""
    edges.add(parent, rows(*links), np.array(list(links.values()), np.float32))


@pytest.mark.paper("gouriten-implementation")
@given(PAGES)
def test_edges_are_what_was_added(pages: list[tuple[int, list[tuple[int, int]]]]) -> None:
    """Columns, children, alphas, parents and out-degrees are those of a plain list of all links."""
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
def test_ways_in_are_the_same_whenever_someone_asks(
    pages: list[tuple[int, list[tuple[int, int]]]], asked: set[int]
) -> None:
    """Parents may be asked for after any page or after many: they are all that linked to the row until then."""
    edges = LinkEdges()
    plain: list[tuple[int, int]] = []
    for number, (parent, links) in enumerate(pages):
        add(edges, parent, {child: eighths / 8 for child, eighths in links})
        plain += [(parent, child) for child, _ in links]
        for row in range(13) if number in asked else ():
            assert [parent for parent, child in plain if child == row] == edges.parents(row).tolist()


def test_a_page_visited_again_gets_more_links() -> None:
    """New links of a later visit join those that the page had, after them, also where several rows are asked for."""
    edges = LinkEdges()
    add(edges, 0, {1: 0.5, 2: 0.25})
    add(edges, 1, {2: 0.75})
    add(edges, 0, {3: 1.0})
    assert [1, 2, 3] == edges.children(0).tolist()
    assert [0.5, 0.25, 1.0] == edges.link_relevances(0).tolist()
    assert [2, 0, 1, 3] == edges.leaving(rows(1, 0)).tolist()
    assert [3, 1] == edges.out_degree(rows(0, 1)).tolist()
    assert [0] == edges.parents(3).tolist()


def test_a_page_without_links_adds_nothing() -> None:
    """A visit that brought no links (a failure, say) leaves those of an earlier one."""
    edges = LinkEdges()
    add(edges, 0, {1: 0.5})
    add(edges, 0, {})
    assert [1] == edges.children(0).tolist()
    assert 1 == len(edges)


@pytest.mark.parametrize("row", [0, 7, 5_000])
def test_rows_that_nothing_is_known_of(row: int) -> None:
    """A row without edges, also one beyond all columns, has no children and no parents."""
    edges = LinkEdges()
    add(edges, 1, {2: 0.5})
    assert [] == edges.children(row).tolist()
    assert [] == edges.link_relevances(row).tolist()
    assert [] == edges.parents(row).tolist()
    assert [0] == edges.out_degree(rows(row)).tolist()
    assert [] == edges.leaving(rows(row)).tolist()


def test_no_rows_have_no_edges() -> None:
    """Asking about no rows gives empty arrays."""
    assert [] == LinkEdges().out_degree(rows()).tolist()
    assert [] == LinkEdges().leaving(rows()).tolist()


def test_edges_of_several_rows_at_once() -> None:
    """`leaving` lists one row's edges after the other's, in the order asked for, also twice."""
    edges = LinkEdges()
    add(edges, 3, {4: 0.5, 5: 0.25})
    add(edges, 1, {4: 0.125})
    assert [2, 0, 1, 2] == edges.leaving(rows(1, 3, 2, 1)).tolist()


def test_growth_keeps_everything() -> None:
    """Many more edges and rows than the first columns hold, and all are found again."""
    edges = LinkEdges()
    for parent in range(100):
        add(edges, parent, {2_000 + 37 * link + parent: link / 64 for link in range(64)})
    assert 6_400 == len(edges)
    assert [2_000 + 37 * link + 99 for link in range(64)] == edges.children(99).tolist()
    assert [link / 64 for link in range(64)] == edges.link_relevances(0).tolist()
    assert [2, 39, 76] == sorted(edges.parents(2_000 + 76).tolist())


def test_asking_changes_nothing() -> None:
    """Questions about rows beyond the end leave the columns as they are: scoring is pure."""
    edges = LinkEdges()
    add(edges, 0, {1: 0.5})
    edges.parents(1)  # the first question chains the edges
    before = {name: len(column) for name, column in vars(edges).items() if isinstance(column, np.ndarray)}
    edges.out_degree(rows(9_999))
    edges.leaving(rows(9_999))
    edges.parents(9_999)
    assert before == {name: len(column) for name, column in vars(edges).items() if isinstance(column, np.ndarray)}
