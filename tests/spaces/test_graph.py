"""Graphs in memory."""

import asyncio

from lycosa.core.types import Task
from lycosa.spaces.graph import GraphSpace
from lycosa.topics.given import Given


def test_links_and_scores() -> None:
    """A node's page has its links, its true beta and the alphas of its links, which the judge reads off."""
    space = GraphSpace({"a": ["b", "c"]}, beta={"a": 0.5}, alpha={("a", "c"): 0.25})
    page = asyncio.run(space.visit(Task("a")))
    judgement = Given().judge(page, None)
    assert ("ok", ["b", "c"]) == (page.outcome, page.links.urls)
    assert (0.5, [0.0, 0.25]) == (judgement.beta, judgement.alphas.tolist())


def test_a_node_that_is_only_linked_to() -> None:
    """A node without an entry is a page without links, and not relevant."""
    page = asyncio.run(GraphSpace({"a": ["b"]}).visit(Task("b")))
    assert ("ok", [], 0.0) == (page.outcome, page.links.urls, Given().judge(page, None).beta)
