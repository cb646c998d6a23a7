"""Tests of the table: rows, columns over parents and redirects."""

import numpy as np
import pytest

from lycosa.core.columns import fit
from lycosa.core.table import DONE, MAX_HOPS, OPEN, Table
from lycosa.core.types import Links, Visit


def page(node: str, links: dict[str, float] | None = None, relevance: float = 0.0, **rest: object) -> Visit:
    columns = Links.to(*(links or {}))
    columns.link_relevances = np.array(list((links or {}).values()), np.float32)
    return Visit(node, "page", "ok", 1, relevance=relevance, links=columns, **rest)  # type: ignore[arg-type]


def redirect(node: str, target: str) -> Visit:
    return Visit(node, "redirect", "redirect", 1, links=Links.to(target))


def column(table: Table, name: str, node: str) -> float:
    return float(getattr(table, name)[table.row_of[node]])


@pytest.mark.paper("personalized-visited")
def test_add_numbers_rows_by_discovery() -> None:
    table = Table()
    assert [0, 1, 0] == [table.add("a", 0), table.add("b", 1), table.add("a", 5)]
    assert ["a", "b"] == table.nodes
    assert 0 == column(table, "depth", "a")


def test_add_out_of_scope_has_no_row() -> None:
    table = Table(scope=lambda node, depth: node != "x" and depth < 2)
    assert -1 == table.add("x", 0)
    assert -1 == table.add("deep", 2)
    table.add_seed("a")
    step = table.absorb(page("a", {"x": 1.0, "b": 0.5}))
    assert step is not None
    assert ["b"] == [table.nodes[row] for row in step.children]


def test_host_numbers_are_shared() -> None:
    table = Table(host_key=lambda node: node[0])
    for node in ("a1", "b1", "a2"):
        table.add(node, 0)
    assert [0, 1, 0] == table.host[:3].tolist()
    assert ["a", "b"] == table.hosts


def test_absorb_sums_and_maxima_over_parents() -> None:
    """Parents with relevance .8 and .5, link relevance .4 and .6: sums 1.3 and 1.0, products .32 and .30."""
    table = Table()
    table.add_seed("p")
    table.add_seed("q")
    table.absorb(page("p", {"c": 0.4}, relevance=0.8))
    table.absorb(page("q", {"c": 0.6}, relevance=0.5))
    expected = {
        "in_degree": 2, "link_relevance_sum": 1.0, "link_relevance_max": 0.6,
        "relevance_sum": 1.3, "relevance_max": 0.8,
        "product_sum": 0.4 * 0.8 + 0.6 * 0.5, "product_max": 0.32, "depth": 1,
    }  # fmt: skip
    assert expected == pytest.approx({name: column(table, name, "c") for name in expected}, rel=1e-6)


def test_absorb_repeated_link_counts_once() -> None:
    table = Table()
    table.add_seed("a")
    visit = page("a")
    visit.links = Links.to("b", "a", "b", "c")
    visit.links.link_relevances = np.array([0.1, 1.0, 0.7, 0.2], np.float32)
    step = table.absorb(visit)
    assert step is not None
    assert ["b", "c"] == [table.nodes[row] for row in step.children]
    assert [0.7, 0.2] == pytest.approx(step.link_relevances.tolist())
    assert 1 == column(table, "in_degree", "b")
    assert ([0, 0], [1, 2]) == (table.edges.parent.tolist(), table.edges.child.tolist())


def test_absorb_keeps_shortest_depth() -> None:
    table = Table()
    table.add_seed("a")
    table.absorb(page("a", {"b": 0.0}))
    table.absorb(page("b", {"c": 0.0}))
    assert 2 == column(table, "depth", "c")
    table.add_seed("s")
    table.absorb(page("s", {"c": 0.0}))
    assert 1 == column(table, "depth", "c")


@pytest.mark.paper("gouriten-frontier")
def test_absorb_closes_row_once() -> None:
    table = Table()
    table.add_seed("a")
    table.add("b", 1)
    table.absorb(page("a"))
    table.absorb(page("a"))
    assert (DONE, OPEN, 1) == (table.state[0], table.state[1], table.open_rows)
    assert [1] == table.rows().tolist()


def test_absorb_retry_leaves_row_open() -> None:
    table = Table()
    table.add_seed("a")
    table.absorb(Visit("a", "page", "timeout", 1, attempt=2, retry_at=5.0))
    assert (OPEN, 2, 1) == (table.state[0], table.attempts[0], table.open_rows)
    table.absorb(Visit("a", "page", "timeout", 2, attempt=3))
    assert DONE == table.state[0]


@pytest.mark.parametrize("kind", ["robots", "example", "probe", "search"])
def test_absorb_robots_is_not_a_step(kind: str) -> None:
    table = Table()
    table.add_seed("a")
    assert table.absorb(Visit("a", kind, "ok", 1, links=Links.to("b"))) is None  # type: ignore[arg-type]
    assert ["a"] == table.nodes


def test_absorb_unknown_node_is_not_a_step() -> None:
    assert Table().absorb(page("nobody", {"b": 1.0})) is None


def test_redirect_passes_on_all_columns() -> None:
    table = Table()
    table.add_seed("p")
    table.absorb(page("p", {"a": 0.5}, relevance=0.8))
    step = table.absorb(redirect("a", "b"))
    assert step is not None
    assert ["b"] == [table.nodes[row] for row in step.children]
    for name in ("depth", "parent", "in_degree", "link_relevance_sum", "relevance_sum", "product_sum", "product_max"):
        assert column(table, name, "a") == column(table, name, "b"), name
    assert 1 == column(table, "hops", "b")


def test_redirect_of_seed_is_seed() -> None:
    table = Table()
    table.add_seed("a")
    table.absorb(redirect("a", "b"))
    assert table.is_seed[table.row_of["b"]]
    assert 0 == column(table, "depth", "b")


def test_redirect_to_known_node_adds_sums() -> None:
    table = Table()
    table.add_seed("p")
    table.absorb(page("p", {"a": 0.5, "b": 0.25}, relevance=1.0))
    table.absorb(redirect("a", "b"))
    assert (2.0, 0.75, 0.5) == tuple(
        column(table, name, "b") for name in ("in_degree", "link_relevance_sum", "link_relevance_max")
    )


def test_redirect_to_itself_has_no_target() -> None:
    table = Table()
    table.add_seed("a")
    step = table.absorb(redirect("a", "a"))
    assert step is not None
    assert 0 == len(step.children)
    assert 0 == table.open_rows


def test_redirects_end_after_max_hops() -> None:
    table = Table()
    table.add_seed("0")
    for hop in range(MAX_HOPS + 5):
        if str(hop) in table.row_of:
            table.absorb(redirect(str(hop), str(hop + 1)))
    assert str(MAX_HOPS) == table.nodes[-1]


def test_add_seed_turns_known_node_into_seed() -> None:
    table = Table()
    table.add_seed("a")
    table.absorb(page("a", {"b": 0.0}))
    table.add_seed("b")
    table.add_seed("a")
    assert table.is_seed[table.row_of["b"]]
    assert 0 == column(table, "depth", "b")


def test_columns_grow_with_rows() -> None:
    table = Table()
    table.add_seed("a")
    table.absorb(page("a", {f"n{i}": i / 5000 for i in range(5000)}, relevance=1.0))
    assert 5001 == len(table) == table.open_rows + 1
    assert 4999 / 5000 == pytest.approx(column(table, "link_relevance_sum", "n4999"))
    assert table.is_seed[0]


def test_fit_keeps_values() -> None:
    grown = fit(np.ones(2000), 2001)
    assert (4000, 2000.0) == (len(grown), grown.sum())


def test_fit_accepts_matrix() -> None:
    grown = fit(np.ones((2, 3), np.uint16), 3, 7)
    assert ((1024, 3), np.uint16) == (grown.shape, grown.dtype)
    assert [[1, 1, 1], [7, 7, 7]] == grown[1:3].tolist()


def test_absorb_links_without_relevance_counts_as_zero() -> None:
    table = Table()
    table.add_seed("a")
    visit = Visit("a", "page", "gone", 1, links=Links(["b"], ["b"], [""], [""], [0]))
    step = table.absorb(visit)
    assert step is not None
    assert ["b"] == [table.nodes[row] for row in step.children]


def test_revisit_adds_new_links_only() -> None:
    table = Table()
    table.add_seed("a")
    table.absorb(page("a", {"b": 0.5, "c": 0.25}, relevance=0.5))
    links = {"c": 0.5, "d": 1.0, "b": 0.0}
    again = page("a", links, relevance=1.0)
    again.kind, again.data = "revisit", {"follows": 1.0}
    step = table.absorb(again)
    assert step is not None
    assert ["d"] == [table.nodes[row] for row in step.children]
    assert [-1, 3, -1] == step.of_link.tolist()
    assert [1, 1, 1] == table.in_degree[1:4].tolist()
    assert [0.5, 0.25, 1.0] == table.link_relevance_sum[1:4].tolist()
    assert [0.5, 0.5, 1.0] == table.relevance_sum[1:4].tolist()
    third = page("a", {"b": 0.5, "d": 1.0}, relevance=1.0)
    third.kind, third.data = "revisit", {"follows": 2.0}
    assert table.absorb(third) is None  # nothing is new
    assert [1, 1, 1] == table.in_degree[1:4].tolist()


def test_moved_page_passes_on_sums_once() -> None:
    table = Table()
    table.add_seed("s")
    table.absorb(page("s", {"a": 0.5}, relevance=1.0))
    table.absorb(page("a"))
    moved = Visit("a", "revisit", "redirect", 3, links=Links.to("z"), data={"follows": 1.0})
    for children in (["z"], []):
        step = table.absorb(moved)
        assert children == ([table.nodes[row] for row in step.children] if step is not None else [])
        assert (1, 0.5) == (column(table, "in_degree", "z"), column(table, "link_relevance_sum", "z"))


@pytest.mark.parametrize("outcome", ["unchanged", "gone", "timeout"])
def test_revisit_without_new_links_is_not_a_step(outcome: str) -> None:
    table = Table()
    table.add_seed("a")
    table.absorb(page("a"))
    assert table.absorb(Visit("a", "revisit", outcome, 2, data={"follows": 1.0})) is None  # type: ignore[arg-type]
