"""Backlink count."""

import pytest

from lycosa.core.table import Table
from lycosa.strategies.baselines import Backlink
from teaching import score, teach


@pytest.mark.paper("batsakis-backlink")
def test_backlink_counts_linking_pages() -> None:
    """Three pages link to x (one of them twice), one to y, none to the seeds."""
    table, backlink = Table(), Backlink()
    for node, links in (("a", "xy"), ("b", "xx"), ("c", "x")):
        assert list(dict.fromkeys(links)) == teach(backlink, table, node, 0.0, *links)
    assert [3.0, 1.0, 0.0] == score(backlink, table, *"xya")
