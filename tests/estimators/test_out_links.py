"""Out-link count of the page on which a link was found."""

import numpy as np

from lycosa.checks import check_estimator
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.estimators.out_links import OutLinks


def teach(out_links: OutLinks, table: Table, visit: Visit) -> None:
    """Let it see a visit."""
    table.add_seed(visit.node)
    step = table.absorb(visit)
    assert step is not None
    assert step.children.tolist() == out_links.learn(step, table).tolist()


def score(out_links: OutLinks, table: Table, nodes: str) -> list[float]:
    """The scores of some nodes."""
    return list(out_links.score(np.array([table.row_of[node] for node in nodes], np.int32), table).tolist())


def test_the_page_with_the_most_links_counts() -> None:
    """x is on pages with 3, 1 and 2 links: 3. A link that is there twice is one, and nobody links to a."""
    table, out_links = Table(), OutLinks()
    teach(out_links, table, Visit("a", "page", "ok", 1, links=Links.to("x", "y", "z", "y", "a")))
    teach(out_links, table, Visit("b", "page", "ok", 2, links=Links.to("x")))
    teach(out_links, table, Visit("c", "page", "ok", 3, links=Links.to("w", "x")))
    assert [3.0, 3.0, 3.0, 2.0, 0.0] == score(out_links, table, "xyzwa")


def test_a_redirect_inherits() -> None:
    """The target of a redirect has what its source had, unless it has more."""
    table, out_links = Table(), OutLinks()
    teach(out_links, table, Visit("a", "page", "ok", 1, links=Links.to("x", "y")))
    teach(out_links, table, Visit("x", "redirect", "redirect", 2, links=Links.to("t")))
    assert [2.0] == score(out_links, table, "t")
    teach(out_links, table, Visit("b", "page", "ok", 3, links=Links.to("s")))
    teach(out_links, table, Visit("s", "redirect", "redirect", 4, links=Links.to("t")))
    assert [2.0] == score(out_links, table, "t")


def test_passes_the_checks() -> None:
    """It behaves as every estimator has to."""
    assert "a_crawl_can_be_resumed" in check_estimator(OutLinks)
