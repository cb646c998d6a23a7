"""What two sequences have in common, in nearly linear time whatever they hold.

    1. What only one of them holds is left out.
    2. Up to EXACT pairs of places, the longest common subsequence: rapidfuzz's, bit-parallel.
    3. Beyond, anchors: stretches of elements that occur once in each, the longest chain of them that keeps the order,
       and the same again between them with single elements.
    4. Where nothing is unique (a a b a b b ...), both are cut into the same number of pieces, which are compared piece
       by piece: right, but not minimal.

Anchors that are unique on both sides are the idea of B. Cohen's patience diff; stretches in place of lines keep it from
failing where words repeat, and from being misled by a word that is rare by chance.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

EXACT = 10_000_000
"""Bits of the table for the exact way: two sequences of 3,200 elements, 4 ms."""

STRETCHES: tuple[int, ...] = (16, 1)
"""Lengths of anchors."""

_FACTORS = np.array([pow(0x9E3779B97F4A7C15, power, 2**64) for power in range(1, max(STRETCHES) + 1)], np.uint64)

Places: TypeAlias = list[tuple[int, int]]


def align(old: Sequence[int], new: Sequence[int]) -> Places:
    """Places of equal elements, ascending in both.

    >>> align([5, 6, 7, 8], [6, 7, 9, 8])
    [(1, 0), (2, 1), (3, 3)]
    """
    shared = set(old).intersection(new)
    at_old = [at for at, element in enumerate(old) if element in shared]
    at_new = [at for at, element in enumerate(new) if element in shared]
    places = _aligned([old[at] for at in at_old], [new[at] for at in at_new])
    return [(at_old[i], at_new[j]) for i, j in places]


def _aligned(old: list[int], new: list[int]) -> Places:
    places: Places = []
    waiting = [(0, len(old), 0, len(new), STRETCHES)]
    while waiting:
        i, i_end, j, j_end, stretches = waiting.pop()
        a, b = old[i:i_end], new[j:j_end]
        if len(a) * len(b) <= EXACT:
            inner = _exact(a, b)
        elif stretches:
            inner = _anchors(a, b, stretches[0])
            edges = [(-1, -1), *inner, (len(a), len(b))]
            waiting += [
                (i + x + 1, i + next_x, j + y + 1, j + next_y, stretches[1:])
                for (x, y), (next_x, next_y) in pairwise(edges)
                if x + 1 < next_x and y + 1 < next_y
            ]
        else:
            inner = []
            pieces = 1 + int((len(a) * len(b) / EXACT) ** 0.5)
            cuts = [(i + len(a) * cut // pieces, j + len(b) * cut // pieces) for cut in range(pieces + 1)]
            waiting += [(x, next_x, y, next_y, ()) for (x, y), (next_x, next_y) in pairwise(cuts)]
        places += [(i + x, j + y) for x, y in inner]
    places.sort()
    return places


def _exact(a: list[int], b: list[int]) -> Places:
    """The places of a longest common subsequence."""
    places: Places = []
    for step in LCSseq.opcodes(a, b):
        if step.tag == "equal":
            places += zip(range(step.src_start, step.src_end), range(step.dest_start, step.dest_end), strict=True)
    return places


def _anchors(a: list[int], b: list[int], length: int) -> Places:
    """Where stretches begin that occur once in each, as far as they ascend on both sides."""
    if min(len(a), len(b)) < length:
        return []
    (hashes_a, places_a), (hashes_b, places_b) = _once(a, length), _once(b, length)
    _, at_a, at_b = np.intersect1d(hashes_a, hashes_b, assume_unique=True, return_indices=True)
    i, j = places_a[at_a], places_b[at_b]
    order = np.argsort(i)
    anchors = [(x, y) for x, y in zip(i[order].tolist(), j[order].tolist(), strict=True) if a[x] == b[y]]
    return anchors if (np.diff(j[order]) > 0).all() else _chain(anchors)


def _once(elements: list[int], length: int) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """The hashes of stretches that occur once, and where these begin. Two that share one hide each other."""
    windows = sliding_window_view(np.array(elements, np.uint64) + np.uint64(1), length)
    hashes, places, counts = np.unique(windows @ _FACTORS[:length], return_index=True, return_counts=True)
    return hashes[counts == 1], places[counts == 1]


def _chain(anchors: Places) -> Places:
    """The longest part of the anchors that ascends on both sides (patience sorting)."""
    tops: list[int] = []  # of each pile the smallest place in `b` that a chain of this length can end at
    piles: list[int] = []  # and the anchor that is there
    before: list[int] = []
    for number, (_, place) in enumerate(anchors):
        pile = bisect_left(tops, place)
        before.append(piles[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [place]
        piles[pile : pile + 1] = [number]
    chain: Places = []
    number = piles[-1] if piles else -1
    while number >= 0:
        chain.append(anchors[number])
        number = before[number]
    return chain[::-1]
