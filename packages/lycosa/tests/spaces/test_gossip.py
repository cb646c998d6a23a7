"""Gossip between peers."""

import asyncio
import importlib.util
from statistics import mean
from types import ModuleType

import pytest

import lycosa
from lycosa.checks import check_space
from lycosa.core.types import Task
from lycosa.spaces.gossip import GossipSpace
from places import ROOT

OVERLAY = {"ann": ["bob", "cat"], "bob": ["eve"], "cat": ["dan"]}
DOCUMENTS = {
    "ann": ["Bread\nhow to bake it"],
    "bob": ["Trains\nand when they leave"],
    "cat": ["The reef\na guide"],
    "dan": ["Coral reefs\ncoral, coral and algae"],
}


def _benchmark(name: str) -> ModuleType:
    path = ROOT / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_peer_as_a_page() -> None:
    """Its text is that of its documents, and of nothing else; a neighbour's anchor is what it remembers of it."""
    space = GossipSpace(OVERLAY, DOCUMENTS, known=1.0, stale=0.0)
    page = asyncio.run(space.visit(Task("ann")))
    assert ("Bread\nhow to bake it", ["bob", "cat"]) == (page.marked, page.links.urls)
    assert ["Trains", "The reef"] == page.links.anchors


@pytest.mark.parametrize("judge", ["vector", "word-frequency", "keyword", "weighted-content"])
def test_any_topic_can_be_asked(judge: str) -> None:
    """The query goes to the peer that is said to have something on it, though the one that asks has nothing."""
    space = GossipSpace(OVERLAY, DOCUMENTS, known=1.0, stale=0.0)
    visits = list(lycosa.crawl("reef", ["ann"], space=space, judge=judge, concurrency=1, budget=2))
    assert ["ann", "cat"] == [visit.node for visit in visits]
    assert visits[0].relevance == 0.0 < visits[1].relevance


def test_caches_are_partial_and_stale() -> None:
    """As many documents are known, and as many of these another's, as the shares say."""
    many = {f"p{i}": [f"own{i}x{n}\ntext" for n in range(200)] for i in range(2)}
    space = GossipSpace({"p0": ["p1"]}, many, known=0.5, stale=0.3)
    lines = space.remembered("p0", "p1").split("; ")
    assert 80 < len(lines) < 120
    # A stale one is drawn from both peers: half of the 30 % still look like the neighbour's own.
    assert 0.07 < sum("own0" in line for line in lines) / len(lines) < 0.25
    assert "" == GossipSpace({"p0": ["p1"]}, many, known=0.0).remembered("p0", "p1")
    assert lines == GossipSpace({"p0": ["p1"]}, many, known=0.5, stale=0.3).remembered("p0", "p1").split("; ")
    assert lines != GossipSpace({"p0": ["p1"]}, many, known=0.5, stale=0.3, seed=1).remembered("p0", "p1").split("; ")


def test_it_passes_the_checks() -> None:
    """All that is asked of a space."""
    assert len(check_space(GossipSpace(OVERLAY, DOCUMENTS), "ann")) > 5


def test_bad_shares() -> None:
    """Shares are between 0 and 1."""
    with pytest.raises(ValueError, match=r"known is 2.* from 0 to 1"):
        GossipSpace(OVERLAY, DOCUMENTS, known=2.0)


@pytest.mark.paper("gouriten-gossip")
def test_gossip_finds_more_than_flooding() -> None:
    """On small worlds of 500 peers, with caches that know half of what there is, a tenth of the peers asked by what
    is said of them have twice as much of what is sought as the tenth that are nearest.
    """
    gossip = _benchmark("networks").gossip
    said = mean(gossip(seed, "best-first", 0.5, 0.1, peers=500) for seed in (1, 2, 3))
    flooded = mean(gossip(seed, "breadth-first", 0.5, 0.1, peers=500) for seed in (1, 2, 3))
    assert said > 2 * flooded
