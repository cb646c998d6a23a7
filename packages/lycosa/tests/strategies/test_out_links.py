"""Out-link count."""

import pytest

from lycosa.core.table import Table
from lycosa.strategies.baselines import OutLinks
from teaching import redirect, score, teach


@pytest.mark.paper("batsakis-out-links")
def test_out_links_takes_largest_count() -> None:
    """x is on pages with 3, 1 and 2 links: 3. A duplicate link counts once, and a has no parents."""
    table, out_links = Table(), OutLinks()
    assert ["x", "y", "z"] == teach(out_links, table, "a", 0.0, *"xyzya")
    teach(out_links, table, "b", 0.0, "x")
    teach(out_links, table, "c", 0.0, "w", "x")
    assert [3.0, 3.0, 3.0, 2.0, 0.0] == score(out_links, table, *"xyzwa")


def test_out_links_redirect_inherits() -> None:
    table, out_links = Table(), OutLinks()
    teach(out_links, table, "a", 0.0, "x", "y")
    redirect(out_links, table, "x", "t")
    assert [2.0] == score(out_links, table, "t")
    teach(out_links, table, "b", 0.0, "s")
    redirect(out_links, table, "s", "t")
    assert [2.0] == score(out_links, table, "t")
