"""Tests of off-topic depth: the number of irrelevant pages in a row on the path to a node."""

import numpy as np

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.personalised import OffTopicDepth
from teaching import seeded


def visit(
    depths: OffTopicDepth, table: Table, node: str, *links: str, relevance: float = 0.0, kind: str = "page"
) -> None:
    """Feed a visit; a page is relevant if its relevance is above 0."""
    outcome = "redirect" if kind == "redirect" else "ok"
    step = table.absorb(Visit(node, kind, outcome, 1, relevance=relevance, links=Links.to(*links)))  # type: ignore[arg-type]
    assert step is not None
    depths.learn(step, table, relevant=relevance > 0)


def of(depths: OffTopicDepth, table: Table, nodes: str) -> list[int]:
    """Return the off-topic depth of some nodes."""
    return list(depths.of(np.array([table.row_of[node] for node in nodes], np.int32), table).tolist())


def test_off_topic_depth_counts_since_last_relevant_page() -> None:
    """Irrelevant pages increase the depth: a (irrelevant seed), b 1 (irrelevant), c 2 (relevant), d 0, e 1."""
    depths, table = OffTopicDepth(), seeded("a")
    for node, child, relevance in (("a", "b", 0.0), ("b", "c", 0.0), ("c", "d", 1.0), ("d", "e", 0.0)):
        visit(depths, table, node, child, relevance=relevance)
    assert [0, 1, 2, 0, 1] == of(depths, table, "abcde")


def test_off_topic_depth_takes_best_parent() -> None:
    """The smallest depth counts: 2 on the first parent, then 0 on a relevant page, and still 0 after a larger depth."""
    depths, table = OffTopicDepth(), seeded("a", "r")
    visit(depths, table, "a", "b")
    visit(depths, table, "b", "x")
    assert [2] == of(depths, table, "x")
    visit(depths, table, "r", "x", relevance=1.0)
    assert [0] == of(depths, table, "x")
    visit(depths, table, "a", "x")
    assert [0] == of(depths, table, "x")


def test_off_topic_depth_of_seeds_is_0() -> None:
    """A seed linked from an irrelevant page has depth 0, and its links count from there."""
    depths, table = OffTopicDepth(), seeded("a", "s")
    visit(depths, table, "a", "s")
    visit(depths, table, "s", "t")
    assert [0, 1] == of(depths, table, "st")


def test_off_topic_depth_of_sitemaps_and_redirects_is_inherited() -> None:
    """Links of a sitemap have depth 0; a redirect target has the depth of its source."""
    depths, table = OffTopicDepth(), seeded("m", "a")
    visit(depths, table, "m", "p", kind="sitemap")
    visit(depths, table, "a", "b")
    visit(depths, table, "b", "c")
    visit(depths, table, "c", "d", kind="redirect")
    assert [0, 2, 2] == of(depths, table, "pcd")
