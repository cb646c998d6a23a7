"""Gossip and acquaintance spaces by `--space`, with networks and people from files."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import lycosa
from lycosa.core.errors import InputError
from lycosa.core.types import Task
from lycosa.spaces.acquaintance import AcquaintanceSpace, read_traits

NETWORK = "ann\tbob\nann\tcat\nbob\teve\ncat\tdan\n"
DOCUMENTS = "bob\tTrains\ncat\tThe reef, a guide\ncat\tBread\ndan\tCoral reefs, corals and algae\n"
TRAITS = "bob\twork\tbaker\ncat\tplace\t1 1\ndan\tplace\t1 2\ndan\twork\tsailor\ndan\thobbies\tchess, choir\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a directory with a network, documents and traits."""
    for name, text in {"network": NETWORK, "documents": DOCUMENTS, "traits": TRAITS}.items():
        (tmp_path / f"{name}.tsv").write_text(text, encoding="utf-8")
    return tmp_path


def test_gossip_reads_files(files: Path) -> None:
    space = f"gossip,file={files}/network.tsv,documents={files}/documents.tsv,known=1,stale=0"
    visits = list(lycosa.crawl("coral reef", ["ann"], space=space, concurrency=1, budget=3))
    assert ["ann", "cat", "dan"] == [visit.node for visit in visits]


def test_acquaintance_reads_files(files: Path) -> None:
    space = f"acquaintance,file={files}/network.tsv,traits={files}/traits.tsv,receiver=dan"
    crawl = lycosa.crawl(None, ["ann"], space=space, strategy="best-first-anchor", concurrency=1, budget=3)
    assert [("ann", 0.0), ("cat", 0.0), ("dan", 1.0)] == [(visit.node, visit.relevance) for visit in crawl]


def test_nearness_from_file_by_hand(files: Path) -> None:
    """Nearness is the mean over the three traits of dan; cat lives at a distance of 1: (1 / (1 + 1) + 0 + 0) / 3."""
    traits = read_traits(f"{files}/traits.tsv")
    assert {"place": (1.0, 2.0), "work": "sailor", "hobbies": {"chess", "choir"}} == traits["dan"]
    space = AcquaintanceSpace({"ann": ["cat"]}, traits, receiver="dan")
    assert [0.5 / 3] == asyncio.run(space.visit(Task("ann"))).data["alpha"]


@pytest.mark.parametrize(
    ("space", "wrong"),
    [
        ("gossip", "gossip,file=...,documents=..."),
        ("gossip,file=network.tsv,documents=traits.tsv", "is not a peer, a tab, and the text of a document"),
        ("acquaintance,file=network.tsv,traits=documents.tsv,receiver=dan", "is not a person, a tab, a trait"),
        ("acquaintance,file=network.tsv,traits=traits.tsv,receiver=zoe", "the receiver 'zoe' has no traits"),
        ("acquaintance,file=network.tsv,traits=traits.tsv", "receiver=NAME"),
    ],
)
def test_invalid_files_and_parameters_are_rejected(
    space: str, wrong: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    with pytest.raises(InputError, match=wrong) as told:
        list(lycosa.crawl("coral reef", ["ann"], space=space, budget=1))
    assert "\n" not in str(told.value)
