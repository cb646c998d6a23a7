"""Ontologies made by hand: senses, synonyms, depths, cycles."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.text import ontology as module
from lycosa.text.ontology import ConceptEdges, Ontology, acyclic, depths, fold

REEFS = Ontology.build(
    {
        "1": ["Marine habitats", "sea habitats"],
        "2": ["Coral reefs", "Reefs"],
        "3": ["Reefs"],
        "4": ["Atolls"],
    },
    broader=[("2", "1"), ("4", "2"), ("4", "3")],
    related=[("1", "3"), ("3", "nowhere")],
    source="by hand",
)


def test_words_in_any_form() -> None:
    """A label is found in any case, with spaces or underscores, in singular or plural; unknown words have no sense."""
    assert (1,) == REEFS.concepts("coral reefs") == REEFS.concepts("CORAL_REEF") == REEFS.concepts("  Coral  reef ")
    assert (1, 2) == REEFS.concepts("reef")
    assert () == REEFS.concepts("coral") == REEFS.concepts("") == REEFS.concepts("x" * 100_000)
    assert REEFS.is_word("atoll")
    assert not REEFS.is_word("lagoon")
    assert ("reefs",) == REEFS.bases("reef")
    assert 2 == REEFS.longest
    assert 5 == len(REEFS.dictionary)


def test_a_label_goes_before_its_stem() -> None:
    """A word that is a label means that label only, though another has the same stem."""
    both = Ontology.build({"a": ["reefs"], "b": ["reefing"]}, broader=[])
    assert (0,) == both.concepts("reefs")
    assert (1,) == both.concepts("reefing")
    assert (0, 1) == both.concepts("reefed")


def test_synonyms() -> None:
    """All words that share a sense, without the word itself in any form."""
    assert ["sea habitats"] == REEFS.synonyms("marine habitat")
    assert ["Coral reefs"] == REEFS.synonyms("reef")
    assert [] == REEFS.synonyms("atoll") == REEFS.synonyms("lagoon")


def test_relations() -> None:
    """IS-A leads up; every relation is there both ways; a concept that only a relation names has no words."""
    assert [1, 2] == REEFS.parents.of(3).tolist()
    assert [[1, 2], [0, 3], [0, 3, 4], [1, 2], [2]] == [REEFS.related.of(c).tolist() for c in range(5)]
    assert "nowhere" == REEFS.names[4]
    assert [] == list(REEFS.dictionary.words(4))


def test_depth_is_to_the_nearest_root() -> None:
    """Atolls are two below habitats but one below a root: 1."""
    assert [0, 1, 0, 1, 0] == REEFS.depth.tolist()
    assert {3: 0, 1: 1, 2: 1, 0: 2} == REEFS.ancestors([3])


def test_cycles_are_cut_and_told() -> None:
    """Of a cycle the link that closes it is left out of IS-A, with a note; it stays a relation."""
    round_ = Ontology.build(
        {"a": ["a"], "b": ["b"], "c": ["c"], "d": ["d"]},
        broader=[("a", "b"), ("b", "c"), ("c", "a"), ("d", "d"), ("d", "a")],
    )
    assert [[1], [2], [], [0]] == [round_.parents.of(c).tolist() for c in range(4)]
    assert [2, 1, 0, 3] == round_.depth.tolist()
    assert [
        "IS-A link left out, since it closes a cycle: 'd' below 'd'",
        "IS-A link left out, since it closes a cycle: 'c' below 'a'",
    ] == round_.notes
    assert 0 in round_.related.of(2)


def test_many_cycles_make_few_notes() -> None:
    """A hundred cycles are counted, not listed."""
    names = [f"{number}{letter}" for number in range(100) for letter in "ab"]
    links = [link for n in range(100) for link in ((f"{n}a", f"{n}b"), (f"{n}b", f"{n}a"))]
    notes = Ontology.build({name: [name] for name in names}, broader=links).notes
    assert module.MAX_NOTES + 1 == len(notes)
    assert "95 more IS-A links that close cycles are left out" == notes[-1]


def test_a_long_chain() -> None:
    """No depth is too deep: a chain of 3,000 concepts, in any order, is read without recursion."""
    chain = Ontology.build({str(n): [f"word{n}"] for n in range(3_000)}, [(str(n), str(n + 1)) for n in range(2_999)])
    assert 2_999 == chain.depth[0]
    assert [] == chain.notes


def test_nothing_at_all() -> None:
    """An ontology without concepts knows no word."""
    empty = Ontology.build({}, broader=[])
    assert (0, 0, ()) == (len(empty), empty.longest, empty.concepts("dog"))


def test_the_digest_tells_ontologies_apart() -> None:
    """Another word or another link is another digest; the same is the same."""
    one = Ontology.build({"a": ["a"], "b": ["b"]}, broader=[])
    assert one.digest == Ontology.build({"a": ["a"], "b": ["b"]}, broader=[]).digest
    assert one.digest != Ontology.build({"a": ["a"], "b": ["c"]}, broader=[]).digest
    assert one.digest != Ontology.build({"a": ["a"], "b": ["b"]}, broader=[("a", "b")]).digest


def test_pickling_leaves_memories_behind() -> None:
    """What was looked up is no part of an ontology; the copy knows the same words."""
    fresh = pickle.dumps(REEFS)
    REEFS.concepts("some word never asked for")
    assert fresh == pickle.dumps(REEFS)
    assert (1, 2) == pickle.loads(fresh).concepts("reef")


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many words a crawl meets, only so many are remembered, and the answers stay right."""
    monkeypatch.setattr(module, "MAX_CACHED_WORDS", 10)
    small = Ontology.build({"a": ["apple"]}, broader=[])
    for number in range(1_000):
        small.concepts(f"word{number}")
        assert len(small._known) <= 10
    assert (0,) == small.concepts("apples")


def test_fold_beyond_ascii() -> None:
    """Case is folded in every script, and every kind of space joins words."""
    assert "strasse" == fold("Straße")
    assert "a_b" == fold("A\u00a0B") == fold("_a__b_") == fold("a \t\n b")


graphs = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
)


@settings(max_examples=50)
@given(graphs)
def test_whatever_the_links_no_cycle_is_left(graph: tuple[int, list[tuple[int, int]]]) -> None:
    """Links that are kept make no cycle, those left out would each make one, and depths are those of a plain search."""
    count, links = graph
    given_links = ConceptEdges.between([a for a, _ in links], [b for _, b in links], count)
    kept, closing = acyclic(given_links)
    assert set(closing) | set(zip(kept.sources().tolist(), kept.targets.tolist(), strict=True)) == {
        (a, b) for a, b in links if a != b
    }
    above = [_all_above(kept, concept) for concept in range(count)]
    assert all(concept not in above[concept] for concept in range(count))
    assert all(below in above[top] for below, top in closing)
    assert [_plain_depth(kept, concept) for concept in range(count)] == depths(kept).tolist()


def _all_above(edges: ConceptEdges, concept: int) -> set[int]:
    found: set[int] = set()
    waiting = edges.of(concept).tolist()
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += edges.of(one).tolist()
    return found


def _plain_depth(edges: ConceptEdges, concept: int) -> int:
    level, depth = {concept}, 0
    while all(len(edges.of(one)) for one in level):
        level = {int(parent) for one in level for parent in edges.of(one)}
        depth += 1
    return depth


@settings(max_examples=50)
@given(graphs)
def test_edges_turned_twice_are_the_same(graph: tuple[int, list[tuple[int, int]]]) -> None:
    """Turning loses nothing, and both ways are one way and the other."""
    count, links = graph
    edges = ConceptEdges.between([a for a, _ in links], [b for _, b in links], count)
    again = edges.reverse().reverse()
    assert np.array_equal(edges.starts, again.starts)
    assert np.array_equal(edges.targets, again.targets)
    pairs = {(a, b) for a, b in links if a != b}
    both = edges.both_ways()
    assert pairs | {(b, a) for a, b in pairs} == set(zip(both.sources().tolist(), both.targets.tolist(), strict=True))
