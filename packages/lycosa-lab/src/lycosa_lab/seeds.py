"""Seeds of crawls: pages on the topic, pages some links away from it, or random nodes with a score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.reachability import FAR, distances_to, leads_to_relevant, links_to_any
from lycosa_lab.subjects import HuntSubject, seeded_random


def seed_sets(
    index: CorpusIndex,
    subject: HuntSubject,
    kind: str,
    *,
    count: int = 5,
    sets: int = 1,
    hops: int = 2,
    random_seed: int = 0,
    disjoint: bool = False,
) -> list[list[int]]:
    """Draw sets of seed nodes, reproducible from the arguments alone.

    - `on-topic`: relevant nodes from which another relevant one can be reached;
    - `off-topic`: nodes at least `hops` links from the nearest relevant one, which must be reachable;
    - `cold`: nodes exactly two links from it: neither they nor their children are relevant;
    - `random`: any nodes with a score above 0 (Gouriten et al. 2014, 7: 50 of them).

    `disjoint` sets have no common node and shrink if there are too few. Excluded nodes and smaller sets are noted in
    the subject's notes; raise InputError if no node is left.
    """
    relevant = subject.truth > 0
    if not relevant.any():
        raise InputError("nothing-to-do", f"no node of the corpus is relevant to {subject.name!r}")
    nodes = np.flatnonzero(relevant) if kind == "random" else _candidates(index, subject, kind, hops)
    most = min(count, max(1, len(nodes) // sets)) if disjoint else count
    chosen: list[list[int]] = []
    for number in range(sets):
        if not len(nodes):
            raise InputError("too-few-pages", f"too few nodes for {number + 1} disjoint sets of {kind} seeds")
        if kind == "random":
            seeds = _random_seeds(index, subject, nodes, most, random_seed, number)
        else:
            order = seeded_random(random_seed, subject.name, kind, number).permutation(nodes)
            seeds = _on_topic_seeds(index, subject, order, most) if kind == "on-topic" else order[:most].tolist()
        if len(seeds) < count:
            subject.note(f"{kind} seeds: only {len(seeds)} of the {count} requested ones exist")
        chosen.append(seeds)
        if disjoint:
            nodes = np.setdiff1d(nodes, seeds)
    return chosen


def _on_topic_seeds(index: CorpusIndex, subject: HuntSubject, order: NDArray[np.int64], count: int) -> list[int]:
    seeds: list[int] = []
    for node in order.tolist():
        if leads_to_relevant(index, [node], subject.truth > 0):
            seeds.append(node)
            if len(seeds) == count:
                break
        else:
            subject.note(f"on-topic seeds: {index.names[node]} is not used: it leads to no other relevant node")
    if not seeds:
        raise InputError("unreachable", f"no node of {subject.name!r} leads to another one: use off-topic seeds")
    return seeds


def _random_seeds(
    index: CorpusIndex, subject: HuntSubject, nodes: NDArray[np.int64], count: int, random_seed: int, number: int
) -> list[int]:
    for attempt in range(50):
        order = seeded_random(random_seed, subject.name, "random", number, attempt).permutation(nodes)
        drawn: list[int] = order[:count].tolist()
        if leads_to_relevant(index, drawn, subject.truth > 0):
            return drawn
    raise InputError("unreachable", f"50 sets of {count} random seeds lead to no other node with a score: use more")


def _candidates(index: CorpusIndex, subject: HuntSubject, kind: str, hops: int) -> NDArray[np.int64]:
    relevant = subject.truth > 0
    distance = distances_to(index, relevant)
    reaching = links_to_any(index, distance < FAR) if kind == "on-topic" else distance < FAR
    among = relevant if kind == "on-topic" else np.ones(len(index), np.bool_)
    if lost := int(np.count_nonzero(among & ~reaching)):
        subject.note(
            f"{kind} seeds: {lost:,} of {np.count_nonzero(among):,} nodes are not used: no relevant node can be "
            "reached from them"
        )
    if kind == "on-topic":
        lonely = f"no node that is relevant to {subject.name!r} leads to another one: take off-topic seeds"
        return _nonempty(among & reaching, lonely)
    if kind == "cold":
        near = f"no node is two links from what is relevant to {subject.name!r}: take off-topic seeds"
        return _nonempty(distance == 2, near)
    farthest = int(distance[reaching].max())
    far = (
        f"no node is {hops} links or more from all that is relevant to {subject.name!r}: the farthest that lead there "
        f"are {farthest} away: ask for fewer hops, or take on-topic seeds"
    )
    return _nonempty(reaching & (distance >= hops), far)


def _nonempty(nodes: NDArray[np.bool_], otherwise: str) -> NDArray[np.int64]:
    if not nodes.any():
        raise InputError("unreachable", otherwise)
    return np.flatnonzero(nodes)
