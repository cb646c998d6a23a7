"""Seeds: on the topic, off it, hubs, any; and never such that nothing can be found from."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.reachability import FAR, distances_to, leads_to_relevant
from lycosa_lab.seeds import seed_sets
from lycosa_lab.subjects import HuntSubject


def subject(truth: list[float]) -> HuntSubject:
    """A subject with this truth."""
    return HuntSubject("x", np.array(truth, np.float32))


CHAIN = {"a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"], "e": ["d"], "f": []}
"""a -> b -> c -> d <-> e, and f alone; nodes 0 to 5."""


def searched(links: dict[str, list[str]], relevant: NDArray[np.bool_]) -> list[int]:
    """Distances as a plain search from every node finds them."""
    index = CorpusIndex.of(links)
    found = []
    for start in range(len(index)):
        level, seen, distance = {start}, {start}, 0
        while level and not any(relevant[node] for node in level):
            level = {int(child) for node in level for child in index.children(node)} - seen
            seen |= level
            distance += 1
        found.append(distance if level else int(FAR))
    return found


def test_distances_are_those_of_a_plain_search() -> None:
    """On random graphs."""
    chance = np.random.default_rng(5)
    for _ in range(20):
        names = [str(number) for number in range(30)]
        links = {name: chance.choice(names, int(chance.integers(0, 3))).tolist() for name in names}
        relevant = np.zeros(len(CorpusIndex.of(links)), np.bool_)
        relevant[:2] = True
        assert searched(links, relevant) == distances_to(CorpusIndex.of(links), relevant).tolist()


@pytest.mark.paper("batsakis-off-topic-seeds")
def test_off_topic_seeds_are_hops_away_and_lead_there() -> None:
    """With d relevant, a and b are two links away or more; f leads nowhere, and that is told."""
    wanted = subject([0, 0, 0, 1, 0, 0])
    assert [0, 1] == sorted(seed_sets(CorpusIndex.of(CHAIN), wanted, "off-topic", count=2)[0])
    assert [[0]] == seed_sets(CorpusIndex.of(CHAIN), wanted, "off-topic", count=1, hops=3)
    assert ["off-topic seeds: 1 of 6 nodes are not used, nothing relevant can be reached from them"] == wanted.notes


def test_too_many_hops_are_an_error_with_the_farthest_there_is() -> None:
    """It says what to ask for."""
    with pytest.raises(InputError, match=r"no node is 4 links.*farthest that lead there are 3 away"):
        seed_sets(CorpusIndex.of(CHAIN), subject([0, 0, 0, 1, 0, 0]), "off-topic", hops=4)


def test_fewer_seeds_than_asked_for_are_told() -> None:
    """All there are, and a note."""
    wanted = subject([0, 0, 0, 1, 0, 0])
    assert 2 == len(seed_sets(CorpusIndex.of(CHAIN), wanted, "off-topic", count=5)[0])
    assert "off-topic seeds: there are 2 only, 5 were asked for" in wanted.notes


def test_on_topic_seeds_lead_to_another_relevant_node() -> None:
    """Of c, e and f: from c one gets to e; e leads back to itself only; f has no links."""
    wanted = subject([0, 0, 1, 0, 1, 1])
    assert [[2]] == seed_sets(CorpusIndex.of(CHAIN), wanted, "on-topic", count=3)
    assert [
        "on-topic seeds: 1 of 3 nodes are not used, nothing relevant can be reached from them",
        "on-topic seeds: e is not used, it leads to no relevant node but itself",
        "on-topic seeds: there are 1 only, 3 were asked for",
    ] == sorted(wanted.notes, key=lambda note: ("of 3" not in note, "not used" not in note))


def test_disjoint_sets_have_no_node_in_common() -> None:
    """Of seven relevant nodes in a ring three sets of three can't be had: they have two each; eight sets are too many.

    Without the option sets are drawn on their own, and two of five out of seven always share three or more.
    """
    ring = CorpusIndex.of({str(node): [str((node + 1) % 7)] for node in range(7)})
    every = subject([1.0] * 7)
    apart = seed_sets(ring, every, "on-topic", count=3, sets=3, disjoint=True)
    assert [2, 2, 2] == [len(set(seeds)) for seeds in apart]
    assert 6 == len(set().union(*map(set, apart)))
    assert "on-topic seeds: there are 2 only, 3 were asked for" in every.notes
    for kind in ("on-topic", "random"):
        with pytest.raises(InputError, match="too few nodes for 8 disjoint sets"):
            seed_sets(ring, every, kind, count=1, sets=8, disjoint=True)
    one, other = seed_sets(ring, every, "on-topic", count=5, sets=2)
    assert len(set(one) & set(other)) >= 3


def test_relevant_nodes_that_lead_to_no_other_are_an_error() -> None:
    """One relevant node alone is nothing to start from on its topic, nor one that leads back to itself only."""
    for truth in ([0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0]):
        with pytest.raises(InputError, match="leads to another one"):
            seed_sets(CorpusIndex.of(CHAIN), subject([float(x) for x in truth]), "on-topic")


@pytest.mark.paper("gouriten-configurations")
def test_random_seeds_are_worth_something() -> None:
    """Only nodes of a score above 0 are drawn, whatever links they have, as long as the set leads on."""
    ring = CorpusIndex.of({str(n): [str((n + 1) % 6)] for n in range(6)})
    drawn = seed_sets(ring, subject([0, 0, 1, 0.5, 0, 0.1]), "random", count=2, sets=8, random_seed=3)
    assert {2, 3, 5} == {node for seeds in drawn for node in seeds}
    assert [2] * 8 == [len(set(seeds)) for seeds in drawn]


def test_random_seeds_that_lead_to_nothing_else_are_an_error() -> None:
    """All that is worth anything is a seed already."""
    with pytest.raises(InputError, match="50 sets of 2 were tried: take more seeds, or fewer"):
        seed_sets(CorpusIndex.of(CHAIN), subject([0, 0, 1, 1, 0, 0]), "random", count=2)


def test_random_seeds_that_lead_nowhere_are_drawn_again() -> None:
    """Of ten nodes that are worth something, one only leads to another: it is in every set."""
    index = CorpusIndex.of({"0": ["1"], **{str(n): [] for n in range(1, 10)}})
    drawn = seed_sets(index, subject([1.0] * 10), "random", count=2, sets=10)
    assert all(0 in seeds and 1 not in seeds for seeds in drawn)


def test_the_same_numbers_draw_the_same_seeds() -> None:
    """And a set does not depend on how many others are drawn; other seeds of chance draw others."""
    index = CorpusIndex.of({str(n): [str((n + 1) % 50)] for n in range(50)})
    wanted = subject([1.0] * 50)
    first = seed_sets(index, wanted, "on-topic", sets=3, random_seed=1)
    assert first == seed_sets(index, wanted, "on-topic", sets=5, random_seed=1)[:3]
    assert first[0] != first[1]
    assert first != seed_sets(index, wanted, "on-topic", sets=3, random_seed=2)


def test_nothing_relevant_is_an_error() -> None:
    with pytest.raises(InputError, match="nothing to crawl to"):
        seed_sets(CorpusIndex.of(CHAIN), subject([0] * 6), "random")


def test_a_seed_itself_is_no_find() -> None:
    """From d the way leads to e and back: that finds e, but not d."""
    index = CorpusIndex.of(CHAIN)
    relevant = np.array([False, False, False, True, False, False])
    assert not leads_to_relevant(index, [3], relevant)
    assert leads_to_relevant(index, [4], relevant)
