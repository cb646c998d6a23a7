"""Out-link count of the page on which a link was found."""

import pytest

from lycosa.core.table import Table
from lycosa.strategies.baselines import OutLinks
from teaching import redirect, score, teach


@pytest.mark.paper("batsakis-out-links")
def test_the_page_with_the_most_links_counts() -> None:
    """x is on pages with 3, 1 and 2 links: 3. A link that is there twice is one, and nobody links to a."""
    table, out_links = Table(), OutLinks()
    assert ["x", "y", "z"] == teach(out_links, table, "a", 0.0, *"xyzya")
    teach(out_links, table, "b", 0.0, "x")
    teach(out_links, table, "c", 0.0, "w", "x")
    assert [3.0, 3.0, 3.0, 2.0, 0.0] == score(out_links, table, *"xyzwa")


def test_a_redirect_inherits() -> None:
    """The target of a redirect has what its source had, unless it has more."""
    table, out_links = Table(), OutLinks()
    teach(out_links, table, "a", 0.0, "x", "y")
    redirect(out_links, table, "x", "t")
    assert [2.0] == score(out_links, table, "t")
    teach(out_links, table, "b", 0.0, "s")
    redirect(out_links, table, "s", "t")
    assert [2.0] == score(out_links, table, "t")
