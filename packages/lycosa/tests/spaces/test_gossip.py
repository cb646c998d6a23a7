"""Gossip between peers, who remember titles of each other's documents."""

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


def test_visit_returns_documents_and_remembered_titles() -> None:
    space = GossipSpace(OVERLAY, DOCUMENTS, known=1.0, stale=0.0)
    page = asyncio.run(space.visit(Task("ann")))
    assert ("Bread\nhow to bake it", ["bob", "cat"]) == (page.marked, page.links.urls)
    assert ["Trains", "The reef"] == page.links.anchors


@pytest.mark.parametrize("judge", ["vector", "word-frequency", "keyword", "weighted-content"])
def test_crawl_accepts_any_judge(judge: str) -> None:
    space = GossipSpace(OVERLAY, DOCUMENTS, known=1.0, stale=0.0)
    visits = list(lycosa.crawl("reef", ["ann"], space=space, judge=judge, concurrency=1, budget=2))
    assert ["ann", "cat"] == [visit.node for visit in visits]
    assert visits[0].relevance == 0.0 < visits[1].relevance


def test_remembered_is_partial_and_stale() -> None:
    many = {f"p{i}": [f"own{i}x{n}\ntext" for n in range(200)] for i in range(2)}
    space = GossipSpace({"p0": ["p1"]}, many, known=0.5, stale=0.3)
    lines = space.remembered("p0", "p1").split("; ")
    assert 80 < len(lines) < 120
    # Stale titles are of documents of both peers, so half of the 30 % are of the neighbour's own.
    assert 0.07 < sum("own0" in line for line in lines) / len(lines) < 0.25
    assert "" == GossipSpace({"p0": ["p1"]}, many, known=0.0).remembered("p0", "p1")
    assert lines == GossipSpace({"p0": ["p1"]}, many, known=0.5, stale=0.3).remembered("p0", "p1").split("; ")
    assert lines != GossipSpace({"p0": ["p1"]}, many, known=0.5, stale=0.3, seed=1).remembered("p0", "p1").split("; ")


def test_gossip_space_passes_checks() -> None:
    assert len(check_space(GossipSpace(OVERLAY, DOCUMENTS), "ann")) > 5


def test_gossip_space_rejects_invalid_shares() -> None:
    with pytest.raises(ValueError, match=r"'known' is 2.* from 0 to 1"):
        GossipSpace(OVERLAY, DOCUMENTS, known=2.0)


@pytest.mark.paper("gouriten-gossip")
def test_gossip_finds_twice_as_much_as_flooding() -> None:
    """On small worlds of 500 peers that remember half of the documents, a tenth of the peers are visited."""
    gossip = _benchmark("networks").gossip
    said = mean(gossip(seed, "best-first", 0.5, 0.1, peers=500) for seed in (1, 2, 3))
    flooded = mean(gossip(seed, "breadth-first", 0.5, 0.1, peers=500) for seed in (1, 2, 3))
    assert said > 2 * flooded
