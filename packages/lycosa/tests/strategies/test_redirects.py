"""Tests of redirects: final targets of links."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.redirects import Redirects


def moved(*pairs: str) -> tuple[Redirects, Table]:
    """Feed page "p" with links to a, b, c, d, and a redirect from x to y for each pair "xy"."""
    redirects, table = Redirects(), Table()
    table.add_seed("p")
    for visit in (
        Visit("p", "page", "ok", 1, links=Links.to("a", "b", "c", "d")),
        *(Visit(source, "redirect", "redirect", 2, links=Links.to(target)) for source, target in pairs),
    ):
        step = table.absorb(visit)
        assert step is not None
        redirects.learn(step, table)
    return redirects, table


def ends(*pairs: str) -> str:
    """Return the final targets of p's links."""
    redirects, table = moved(*pairs)
    return "".join(table.nodes[row] for row in redirects.edges(table)[1])


def test_edges_without_redirects_equal_edges_of_table() -> None:
    redirects, table = moved()
    parent, child = redirects.edges(table)
    assert np.shares_memory(parent, table.edges.parent)
    assert np.shares_memory(child, table.edges.child)
    assert "abcd" == ends()


def test_edges_follow_chain_in_any_order() -> None:
    assert "cccd" == ends("ab", "bc")
    assert "cccd" == ends("bc", "ab")


def test_edges_end_in_cycle() -> None:
    assert "bbcd" == ends("ba", "ab")
    assert "aacd" == ends("ab", "ba")


def test_edges_drop_links_to_own_page() -> None:
    assert "bcd" == ends("ap")


@settings(max_examples=40)
@given(st.lists(st.sampled_from([x + y for x in "abcdef" for y in "abcdef"]), max_size=12))
def test_ends_is_idempotent(pairs: list[str]) -> None:
    redirects, table = moved(*(pair for pair in pairs if pair[0] in "abcd"))
    rows = np.arange(len(table), dtype=np.int32)
    assert redirects.ends(rows).tolist() == redirects.ends(redirects.ends(rows)).tolist()
