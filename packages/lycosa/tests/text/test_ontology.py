"""Ontologies built by hand: senses, synonyms, depths, cycles."""

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


def test_concepts_are_found_in_any_spelling() -> None:
    assert (1,) == REEFS.concepts("coral reefs") == REEFS.concepts("CORAL_REEF") == REEFS.concepts("  Coral  reef ")
    assert (1, 2) == REEFS.concepts("reef")
    assert () == REEFS.concepts("coral") == REEFS.concepts("") == REEFS.concepts("x" * 100_000)
    assert REEFS.is_word("atoll")
    assert not REEFS.is_word("lagoon")
    assert ("reefs",) == REEFS.bases("reef")
    assert 2 == REEFS.longest
    assert 5 == len(REEFS.dictionary)


def test_concepts_prefer_labels_to_stems() -> None:
    both = Ontology.build({"a": ["reefs"], "b": ["reefing"]}, broader=[])
    assert (0,) == both.concepts("reefs")
    assert (1,) == both.concepts("reefing")
    assert (0, 1) == both.concepts("reefed")


def test_synonyms_cover_all_senses() -> None:
    assert ["sea habitats"] == REEFS.synonyms("marine habitat")
    assert ["Coral reefs"] == REEFS.synonyms("reef")
    assert [] == REEFS.synonyms("atoll") == REEFS.synonyms("lagoon")


def test_relations_of_concepts_are_numbered() -> None:
    assert [1, 2] == REEFS.parents.of(3).tolist()
    assert [[1, 2], [0, 3], [0, 3, 4], [1, 2], [2]] == [REEFS.related.of(c).tolist() for c in range(5)]
    assert "nowhere" == REEFS.names[4]
    assert [] == list(REEFS.dictionary.words(4))


def test_depth_is_distance_to_nearest_root() -> None:
    assert [0, 1, 0, 1, 0] == REEFS.depth.tolist()
    assert {3: 0, 1: 1, 2: 1, 0: 2} == REEFS.ancestors([3])


def test_build_drops_links_that_close_cycles() -> None:
    round_ = Ontology.build(
        {"a": ["a"], "b": ["b"], "c": ["c"], "d": ["d"]},
        broader=[("a", "b"), ("b", "c"), ("c", "a"), ("d", "d"), ("d", "a")],
    )
    assert [[1], [2], [], [0]] == [round_.parents.of(c).tolist() for c in range(4)]
    assert [2, 1, 0, 3] == round_.depth.tolist()
    assert [
        "dropped an IS-A link that closes a cycle: 'd' below 'd'",
        "dropped an IS-A link that closes a cycle: 'c' below 'a'",
    ] == round_.notes
    assert 0 in round_.related.of(2)


def test_build_limits_notes_on_cycles() -> None:
    names = [f"{number}{letter}" for number in range(100) for letter in "ab"]
    links = [link for n in range(100) for link in ((f"{n}a", f"{n}b"), (f"{n}b", f"{n}a"))]
    notes = Ontology.build({name: [name] for name in names}, broader=links).notes
    assert module.MAX_NOTES + 1 == len(notes)
    assert "dropped 95 more IS-A links that close cycles" == notes[-1]


def test_build_accepts_long_chain() -> None:
    chain = Ontology.build({str(n): [f"word{n}"] for n in range(3_000)}, [(str(n), str(n + 1)) for n in range(2_999)])
    assert 2_999 == chain.depth[0]
    assert [] == chain.notes


def test_build_of_no_terms_is_empty() -> None:
    empty = Ontology.build({}, broader=[])
    assert (0, 0, ()) == (len(empty), empty.longest, empty.concepts("dog"))


def test_digest_depends_on_content() -> None:
    one = Ontology.build({"a": ["a"], "b": ["b"]}, broader=[])
    assert one.digest == Ontology.build({"a": ["a"], "b": ["b"]}, broader=[]).digest
    assert one.digest != Ontology.build({"a": ["a"], "b": ["c"]}, broader=[]).digest
    assert one.digest != Ontology.build({"a": ["a"], "b": ["b"]}, broader=[("a", "b")]).digest


def test_pickle_drops_cached_words() -> None:
    fresh = pickle.dumps(REEFS)
    REEFS.concepts("some word never asked for")
    assert fresh == pickle.dumps(REEFS)
    assert (1, 2) == pickle.loads(fresh).concepts("reef")


def test_look_up_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CACHED_WORDS", 10)
    small = Ontology.build({"a": ["apple"]}, broader=[])
    for number in range(1_000):
        small.concepts(f"word{number}")
        assert len(small._known) <= 10
    assert (0,) == small.concepts("apples")


def test_fold_normalises_letters_and_spaces() -> None:
    assert "strasse" == fold("Straße")
    assert "a_b" == fold("A\u00a0B") == fold("_a__b_") == fold("a \t\n b")


graphs = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
)


@settings(max_examples=50)
@given(graphs)
def test_acyclic_removes_cycles_of_any_graph(graph: tuple[int, list[tuple[int, int]]]) -> None:
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
def test_edges_reverse_twice_is_identity(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, links = graph
    edges = ConceptEdges.between([a for a, _ in links], [b for _, b in links], count)
    again = edges.reverse().reverse()
    assert np.array_equal(edges.starts, again.starts)
    assert np.array_equal(edges.targets, again.targets)
    pairs = {(a, b) for a, b in links if a != b}
    both = edges.both_ways()
    assert pairs | {(b, a) for a, b in pairs} == set(zip(both.sources().tolist(), both.targets.tolist(), strict=True))
