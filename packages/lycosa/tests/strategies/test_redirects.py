"""Where links end up when pages have moved."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.redirects import Redirects


def moved(*pairs: str) -> tuple[Redirects, Table]:
    """A page "p" that links to a, b, c, d, and redirects "xy" from x to y."""
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
    """Where the links of "p" end up."""
    redirects, table = moved(*pairs)
    return "".join(table.nodes[row] for row in redirects.edges(table)[1])


def test_without_redirects_the_edges_are_the_tables() -> None:
    """Nothing is followed, nothing copied."""
    redirects, table = moved()
    parent, child = redirects.edges(table)
    assert np.shares_memory(parent, table.edges.parent)
    assert np.shares_memory(child, table.edges.child)
    assert "abcd" == ends()


def test_a_chain_is_followed_to_its_end() -> None:
    """Whichever link of the chain is known first."""
    assert "cccd" == ends("ab", "bc")
    assert "cccd" == ends("bc", "ab")


def test_a_circle_ends_somewhere() -> None:
    """Two pages that redirect to each other are one node, not an endless walk."""
    assert "bbcd" == ends("ba", "ab")
    assert "aacd" == ends("ab", "ba")


def test_a_link_that_ends_at_its_own_page_is_left_out() -> None:
    """a redirects to p, which links to it."""
    assert "bcd" == ends("ap")


@settings(max_examples=40)
@given(st.lists(st.sampled_from([x + y for x in "abcdef" for y in "abcdef"]), max_size=12))
def test_an_end_is_not_sent_on(pairs: list[str]) -> None:
    """Whatever redirects to whatever, following once more changes nothing."""
    redirects, table = moved(*(pair for pair in pairs if pair[0] in "abcd"))
    rows = np.arange(len(table), dtype=np.int32)
    assert redirects.ends(rows).tolist() == redirects.ends(redirects.ends(rows)).tolist()
