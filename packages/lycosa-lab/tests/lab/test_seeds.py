from __future__ import annotations

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.seeds import seed_sets
from lycosa_lab.subjects import HuntSubject


def test_seed_sets_cold_are_two_links_away() -> None:
    index = CorpusIndex.of({"z": ["a"], "a": ["b", "d"], "b": ["c"], "d": []})
    subject = HuntSubject("x", np.array([float(name == "c") for name in index.names], np.float32))
    assert [["a"]] == [[index.names[node] for node in seeds] for seeds in seed_sets(index, subject, "cold", count=3)]
    near = HuntSubject("x", np.array([float(name in "bczd") for name in index.names], np.float32))
    with raises_input_error("unreachable"):
        seed_sets(index, near, "cold")


def subject(truth: list[float]) -> HuntSubject:
    return HuntSubject("x", np.array(truth, np.float32))


CHAIN = {"a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"], "e": ["d"], "f": []}
"""a -> b -> c -> d <-> e, and f without links; nodes 0 to 5."""


@pytest.mark.paper("batsakis-off-topic-seeds")
def test_seed_sets_off_topic_lead_to_relevant_nodes() -> None:
    wanted = subject([0, 0, 0, 1, 0, 0])
    assert [0, 1] == sorted(seed_sets(CorpusIndex.of(CHAIN), wanted, "off-topic", count=2)[0])
    assert [[0]] == seed_sets(CorpusIndex.of(CHAIN), wanted, "off-topic", count=1, hops=3)
    assert ["off-topic seeds: 1 of 6 nodes are not used: no relevant node can be reached from them"] == wanted.notes


def test_seed_sets_too_many_hops_names_farthest() -> None:
    with raises_input_error("unreachable", r"no node is 4 links.*farthest that lead there are 3 away"):
        seed_sets(CorpusIndex.of(CHAIN), subject([0, 0, 0, 1, 0, 0]), "off-topic", hops=4)


def test_seed_sets_fewer_than_requested_is_noted() -> None:
    wanted = subject([0, 0, 0, 1, 0, 0])
    assert 2 == len(seed_sets(CorpusIndex.of(CHAIN), wanted, "off-topic", count=5)[0])
    assert "off-topic seeds: only 2 of the 5 requested ones exist" in wanted.notes


def test_seed_sets_on_topic_lead_to_relevant_nodes() -> None:
    wanted = subject([0, 0, 1, 0, 1, 1])
    assert [[2]] == seed_sets(CorpusIndex.of(CHAIN), wanted, "on-topic", count=3)
    assert [
        "on-topic seeds: 1 of 3 nodes are not used: no relevant node can be reached from them",
        "on-topic seeds: e is not used: it leads to no other relevant node",
        "on-topic seeds: only 1 of the 3 requested ones exist",
    ] == sorted(wanted.notes, key=lambda note: ("of 3" not in note, "not used" not in note))


def test_seed_sets_are_disjoint() -> None:
    ring = CorpusIndex.of({str(node): [str((node + 1) % 7)] for node in range(7)})
    every = subject([1.0] * 7)
    apart = seed_sets(ring, every, "on-topic", count=3, sets=3, disjoint=True)
    assert [2, 2, 2] == [len(set(seeds)) for seeds in apart]
    assert 6 == len(set().union(*map(set, apart)))
    assert "on-topic seeds: only 2 of the 3 requested ones exist" in every.notes
    for kind in ("on-topic", "random"):
        with raises_input_error("too-few-pages", "too few nodes for 8 disjoint sets"):
            seed_sets(ring, every, kind, count=1, sets=8, disjoint=True)
    one, other = seed_sets(ring, every, "on-topic", count=5, sets=2)
    assert len(set(one) & set(other)) >= 3


def test_seed_sets_on_topic_need_second_relevant_node() -> None:
    for truth in ([0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0]):
        with raises_input_error("unreachable"):
            seed_sets(CorpusIndex.of(CHAIN), subject([float(x) for x in truth]), "on-topic")


@pytest.mark.paper("gouriten-configurations")
def test_seed_sets_random_have_scores() -> None:
    ring = CorpusIndex.of({str(n): [str((n + 1) % 6)] for n in range(6)})
    drawn = seed_sets(ring, subject([0, 0, 1, 0.5, 0, 0.1]), "random", count=2, sets=8, random_seed=3)
    assert {2, 3, 5} == {node for seeds in drawn for node in seeds}
    assert [2] * 8 == [len(set(seeds)) for seeds in drawn]


def test_seed_sets_random_need_reachable_relevant_node() -> None:
    with raises_input_error("unreachable", "50 sets of 2"):
        seed_sets(CorpusIndex.of(CHAIN), subject([0, 0, 1, 1, 0, 0]), "random", count=2)


def test_seed_sets_random_are_redrawn_until_they_reach_scores() -> None:
    index = CorpusIndex.of({"0": ["1"], **{str(n): [] for n in range(1, 10)}})
    drawn = seed_sets(index, subject([1.0] * 10), "random", count=2, sets=10)
    assert all(0 in seeds and 1 not in seeds for seeds in drawn)


def test_seed_sets_are_reproducible() -> None:
    index = CorpusIndex.of({str(n): [str((n + 1) % 50)] for n in range(50)})
    wanted = subject([1.0] * 50)
    first = seed_sets(index, wanted, "on-topic", sets=3, random_seed=1)
    assert first == seed_sets(index, wanted, "on-topic", sets=5, random_seed=1)[:3]
    assert first[0] != first[1]
    assert first != seed_sets(index, wanted, "on-topic", sets=3, random_seed=2)


def test_seed_sets_without_relevant_nodes_raise() -> None:
    with raises_input_error("nothing-to-do"):
        seed_sets(CorpusIndex.of(CHAIN), subject([0] * 6), "random")
