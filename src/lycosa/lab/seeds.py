"""Where crawls start: pages on the topic, pages some links away from it, hubs, or any node that is worth something."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.lab.experiments import SEEDS
from lycosa.lab.index import Index
from lycosa.lab.reach import FAR, distances_to, leads, linking
from lycosa.lab.subjects import Subject, chance

ATTEMPTS = 50  # draws of random seeds until something can be found from a set


def seed_sets(
    index: Index,
    subject: Subject,
    kind: str,
    *,
    count: int = 5,
    sets: int = 1,
    hops: int = 2,
    random_seed: int = 0,
    given: Sequence[str | int] = (),
    disjoint: bool = False,
) -> list[list[int]]:
    """Sets of nodes to start from, drawn by chance; the same for the same numbers, whatever else is drawn.

    - `on-topic`: relevant nodes from which another relevant one can be reached;
    - `off-topic`: nodes from which the nearest relevant one is `hops` links away, or more, but can be reached;
    - `cold`: nodes from which it is exactly two links: nothing is relevant there, nor on what they link to;
    - `directory`: the nodes with the most children from which something relevant can be reached, dealt out to the sets;
    - `random`: any nodes of a score above 0 (Gouriten et al. 2014, 7: 50 of them);
    - `given`: those named, or those that the corpus itself names (a past crawl's seeds); the same in every set.

    `disjoint` sets have no node in common (`directory` has none anyway); where there are too few for that, sets are
    smaller.

    What is left out because nothing can be found from there, and sets that are smaller than asked for, are told in the
    subject's notes; if nothing is left, it is an error.
    """
    if kind not in SEEDS:
        raise InputError(f"there is no kind {kind!r} of seeds: choose one of {', '.join(SEEDS)}")
    if count < 1 or sets < 1 or hops < 1:
        raise InputError(f"seeds: count is {count}, sets {sets}, hops {hops}: each must be 1 or more")
    relevant = subject.truth > 0
    if not relevant.any():
        raise InputError(f"no node of the corpus is relevant to {subject.name!r}: there is nothing to crawl to")
    if kind == "given":
        return [_given(index, relevant, given)] * sets
    if kind == "directory":
        return _directory(index, subject, relevant, count, sets)
    nodes = _candidates(index, subject, kind, hops)
    most = min(count, max(1, len(nodes) // sets)) if disjoint else count
    chosen: list[list[int]] = []
    for number in range(sets):
        chosen.append(_drawn(index, subject, kind, nodes, most, (random_seed, number)))
        if len(chosen[-1]) < count:
            subject.note(f"{kind} seeds: there are {len(chosen[-1])} only, {count} were asked for")
        if disjoint:
            nodes = np.setdiff1d(nodes, chosen[-1])
    return chosen


def _drawn(
    index: Index, subject: Subject, kind: str, nodes: NDArray[np.int64], count: int, drawn_by: tuple[int, int]
) -> list[int]:
    """One set of on-topic, off-topic, cold or random seeds."""
    if not len(nodes):
        raise InputError(f"{kind} seeds: there are too few nodes for {drawn_by[1] + 1} disjoint sets: take fewer sets")
    if kind == "random":
        return _any(index, subject, nodes, count, drawn_by)
    random_seed, number = drawn_by
    order = chance(random_seed, subject.name, kind, number).permutation(nodes)
    return _leading(index, subject, order, count) if kind == "on-topic" else order[:count].tolist()


def _leading(index: Index, subject: Subject, order: NDArray[np.int64], count: int) -> list[int]:
    """The first of some relevant nodes that lead to another one, and not only back to themselves."""
    relevant = subject.truth > 0
    seeds: list[int] = []
    for node in order.tolist():
        if leads(index, [node], relevant):
            seeds.append(node)
            if len(seeds) == count:
                break
        else:
            subject.note(f"on-topic seeds: {index.names[node]} is not used, it leads to no relevant node but itself")
    if not seeds:
        raise InputError(_lonely(subject))
    return seeds


def _any(index: Index, subject: Subject, nodes: NDArray[np.int64], count: int, drawn_by: tuple[int, int]) -> list[int]:
    """Any of the nodes; drawn again if nothing else that is worth anything can be reached from them."""
    random_seed, number = drawn_by
    for attempt in range(ATTEMPTS):
        drawn: list[int] = (
            chance(random_seed, subject.name, "random", number, attempt).permutation(nodes)[:count].tolist()
        )
        if leads(index, drawn, subject.truth > 0):
            if attempt:
                subject.note(
                    f"random seeds: set {number + 1} was drawn {attempt + 1} times, nothing else of a score above 0 "
                    "could be reached from what was drawn before"
                )
            return drawn
    raise InputError(
        f"no other node of a score above 0 can be reached from random seeds, {ATTEMPTS} sets of {count} were tried: "
        "take more seeds, or fewer if they are all there are"
    )


def _lonely(subject: Subject) -> str:
    return f"no node that is relevant to {subject.name!r} leads to another one: take off-topic or directory seeds"


def _candidates(index: Index, subject: Subject, kind: str, hops: int) -> NDArray[np.int64]:
    """The nodes that may be drawn; what is left out is told."""
    relevant = subject.truth > 0
    if kind == "random":
        return np.flatnonzero(relevant)
    distance = distances_to(index, relevant)
    if kind == "on-topic":
        hopeful = linking(index, distance < FAR)
        lost = int(np.count_nonzero(relevant & ~hopeful))
        if lost:
            subject.note(
                f"on-topic seeds: {lost:,} of {int(relevant.sum()):,} relevant nodes are not used, nothing relevant "
                "can be reached from them"
            )
        if not (relevant & hopeful).any():
            raise InputError(_lonely(subject))
        return np.flatnonzero(relevant & hopeful)
    reaching = distance < FAR
    nodes = np.flatnonzero(distance == 2 if kind == "cold" else reaching & (distance >= hops))
    lost = int(np.count_nonzero(~reaching))
    if lost:
        subject.note(f"{kind} seeds: {lost:,} nodes are not used, nothing relevant can be reached from them")
    if not len(nodes) and kind == "cold":
        raise InputError(f"no node is two links from what is relevant to {subject.name!r}: take off-topic seeds")
    if not len(nodes):
        farthest = int(distance[reaching].max())
        remedy = (
            f"the farthest that lead there are {farthest} away ({int((distance == farthest).sum()):,} of them): ask "
            f"for {farthest} hops or fewer"
            if farthest
            else "no other node leads there at all: take on-topic seeds"
        )
        raise InputError(f"no node is {hops} links or more from all that is relevant to {subject.name!r}: {remedy}")
    return nodes


def _directory(index: Index, subject: Subject, relevant: NDArray[np.bool_], count: int, sets: int) -> list[list[int]]:
    degree = np.diff(index.child_start)
    usable = (distances_to(index, relevant) < FAR) & (degree > 0)
    order = np.argsort(-degree, kind="stable")
    best = order[usable[order]][: count * sets]
    passed = int(np.count_nonzero(~usable[order[: len(best)]]))
    if passed:
        subject.note(f"directory seeds: {passed:,} larger hubs are not used, nothing relevant can be reached from them")
    if len(best) < sets:
        raise InputError(
            f"{len(best)} nodes with links lead to what is relevant to {subject.name!r}: too few for {sets} sets"
        )
    if len(best) < count * sets:
        subject.note(f"directory seeds: there are {len(best)} only, {count * sets} were asked for")
    dealt: list[list[int]] = [best[number::sets].tolist() for number in range(sets)]
    for seeds in dealt:
        if not leads(index, seeds, relevant):
            raise InputError(f"from the hubs {seeds} nothing relevant but themselves can be reached: take other seeds")
    return dealt


def _given(index: Index, relevant: NDArray[np.bool_], given: Sequence[str | int]) -> list[int]:
    named = list(given) or list(index.facts.get("seeds", []))
    if not named:
        raise InputError("no seeds are given, and the corpus names none: name some, or take on-topic seeds")
    unknown = [name for name in named if isinstance(name, str) and name not in index.number_of]
    unknown += [str(node) for node in named if isinstance(node, int) and not 0 <= node < len(index)]
    if unknown:
        raise InputError(
            f"{len(unknown):,} of {len(named):,} given seeds are no nodes of the corpus, as {unknown[0]!r}: are the "
            "addresses written the same way?"
        )
    seeds = list(dict.fromkeys(index.number_of[name] if isinstance(name, str) else int(name) for name in named))
    if not leads(index, seeds, relevant):
        raise InputError("nothing relevant can be reached from the given seeds: give others")
    return seeds
