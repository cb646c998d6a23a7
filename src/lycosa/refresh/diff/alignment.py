"""What two long sequences have in common, in nearly linear time whatever they hold.

Exact where it is cheap, anchored where it is not:

    1. What only one of them holds is left out; a common beginning and end is taken off.
    2. Up to EXACT pairs of places, the longest common subsequence (lcs.py).
    3. Beyond, anchors: stretches of 64 elements that occur once in each, the longest chain of them that keeps the
       order, and the same again between them; where there is none, stretches of 16, of 4, single elements.
    4. Where nothing is unique (a a b a b b ...), or after too much searching, both are cut into the same number of
       pieces, which are compared piece by piece: right, but not minimal.

Anchors that are unique on both sides are the idea of B. Cohen's patience diff; stretches in place of lines keep it from
failing where words repeat, and from being misled by a word that is rare by chance.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.refresh.diff.lcs import common

EXACT = 40_000_000
"""Bits of the table for the exact way: two sequences of 6,300 elements, 20 ms."""

PIECE = 4_000_000
"""The same for what lies between anchors: there can be many such pieces."""

STRETCHES = (64, 16, 4, 1)
"""Lengths of anchors, each a power of two."""

SEARCHES = 24
"""How often an element is looked at in search of anchors, on average, before the rest is cut into pieces."""

_FACTOR = np.uint64(0x9E3779B97F4A7C15)

Places = NDArray[np.int64]


def align(old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    """Places of equal elements, ascending in both.

    >>> align([5, 6, 7, 8], [6, 7, 9, 8])
    [(1, 0), (2, 1), (3, 3)]
    """
    if len(old) * len(new) <= EXACT:
        return _short(old, new, 0, 0)
    a, b = np.asarray(old, np.int64), np.asarray(new, np.int64)
    size = int(max(a.max(), b.max())) + 1
    in_a, in_b = np.zeros(size, bool), np.zeros(size, bool)
    in_a[a] = True
    in_b[b] = True
    at_a, at_b = np.flatnonzero(in_b[a]), np.flatnonzero(in_a[b])
    places = _anchored(a[at_a], b[at_b])
    if not places:
        return []
    i, j = np.array(places, np.int64).T
    return list(zip(at_a[i].tolist(), at_b[j].tolist(), strict=True))


def _short(a: Sequence[int], b: Sequence[int], i: int, j: int) -> list[tuple[int, int]]:
    """The exact way, for lists whose first elements are the i-th and j-th of the whole."""
    n, m = len(a), len(b)
    least = min(n, m)
    before = 0
    while before < least and a[before] == b[before]:
        before += 1
    after = 0
    while after < least - before and a[n - 1 - after] == b[m - 1 - after]:
        after += 1
    places = [(i + at, j + at) for at in range(before)]
    if before + after < least:
        inner = common(a[before : n - after], b[before : m - after])
        places += [(i + before + x, j + before + y) for x, y in inner]
    places += [(i + n - after + at, j + m - after + at) for at in range(after)]
    return places


def _anchored(a: Places, b: Places) -> list[tuple[int, int]]:
    """The long way."""
    list_a, list_b = a.tolist(), b.tolist()
    places: list[tuple[int, int]] = []
    budget = SEARCHES * (len(a) + len(b))
    open_ = [(0, len(a), 0, len(b))]
    while open_:
        i, i_end, j, j_end = open_.pop()
        if (i_end - i) * (j_end - j) <= PIECE:
            places += _short(list_a[i:i_end], list_b[j:j_end], i, j)
            continue
        before = _equal(a[i:i_end], b[j:j_end])
        places += [(i + at, j + at) for at in range(before)]
        i, j = i + before, j + before
        after = _equal(a[i:i_end][::-1], b[j:j_end][::-1])
        i_end, j_end = i_end - after, j_end - after
        places += [(i_end + at, j_end + at) for at in range(after)]
        n, m = i_end - i, j_end - j
        if n * m <= PIECE:
            open_.append((i, i_end, j, j_end))
            continue
        found_i = found_j = a[:0]
        for stretch in STRETCHES:
            budget -= n + m
            if len(found_i) or budget < 0:
                break
            found_i, found_j = _chain(*_unique(a[i:i_end], b[j:j_end], stretch))
        if len(found_i):
            found_i, found_j = found_i + i, found_j + j
            places += zip(found_i.tolist(), found_j.tolist(), strict=True)
            open_ += _between(found_i, found_j, (i, i_end, j, j_end))
        else:
            pieces = 1 + int((n * m / PIECE) ** 0.5)
            cuts_i = np.linspace(i, i_end, pieces + 1).astype(int).tolist()
            cuts_j = np.linspace(j, j_end, pieces + 1).astype(int).tolist()
            open_ += zip(cuts_i, cuts_i[1:], cuts_j, cuts_j[1:], strict=False)
    places.sort()
    return places


def _equal(a: Places, b: Places) -> int:
    """How many of the first elements are equal."""
    least = min(len(a), len(b))
    differs = a[:least] != b[:least]
    first = int(differs.argmax()) if least else 0
    return first if least and differs[first] else least


def _between(i: Places, j: Places, whole: tuple[int, int, int, int]) -> list[tuple[int, int, int, int]]:
    """What lies before, between and behind anchors, as far as there is something on both sides."""
    starts_i, ends_i = np.append(whole[0], i + 1), np.append(i, whole[1])
    starts_j, ends_j = np.append(whole[2], j + 1), np.append(j, whole[3])
    some = (starts_i < ends_i) & (starts_j < ends_j)
    columns: list[list[int]] = [c[some].tolist() for c in (starts_i, ends_i, starts_j, ends_j)]
    return list(zip(*columns, strict=True))


def _unique(a: Places, b: Places, stretch: int) -> tuple[Places, Places]:
    """Where stretches begin that occur once in each, ascending in `a`.

    Stretches are told apart by a hash. Two that share one hide each other, and then there is an anchor less.
    """
    if min(len(a), len(b)) < stretch:
        return a[:0], a[:0]
    bits = max(4, (2 * (len(a) + len(b))).bit_length())
    hash_a, hash_b = _hashes(a, stretch, bits), _hashes(b, stretch, bits)
    place_a, once_a = _once(hash_a, bits)
    place_b, once_b = _once(hash_b, bits)
    i = np.sort(place_a[once_a & once_b])
    j = place_b[hash_a[i]]
    same = (a[i] == b[j]) & (a[i + stretch - 1] == b[j + stretch - 1])
    return i[same], j[same]


def _hashes(a: Places, stretch: int, bits: int) -> NDArray[Any]:
    """For each place the hash of the stretch that begins there."""
    hashed = (a.astype(np.uint64) + np.uint64(1)) * _FACTOR
    length = 1
    while length < stretch:
        hashed = (hashed[:-length] ^ (hashed[:-length] >> np.uint64(29))) * _FACTOR + hashed[length:]
        length *= 2
    hashed ^= hashed >> np.uint64(32)
    return ((hashed * _FACTOR) >> np.uint64(64 - bits)).astype(np.int64)


def _once(hashed: NDArray[Any], bits: int) -> tuple[Places, NDArray[np.bool_]]:
    """For each hash a place that has it, and whether that is the only one."""
    numbers = np.arange(len(hashed))
    place = np.zeros(1 << bits, np.int64)
    once = np.zeros(1 << bits, bool)
    place[hashed] = numbers
    once[hashed] = True
    once[hashed[place[hashed] != numbers]] = False
    return place, once


def _chain(i: Places, j: Places) -> tuple[Places, Places]:
    """The longest part of the anchors that ascends on both sides (patience sorting)."""
    if len(j) < 2 or (j[1:] > j[:-1]).all():
        return i, j
    tops: list[int] = []
    top_at: list[int] = []
    before: list[int] = []
    for at, value in enumerate(j.tolist()):
        pile = bisect_left(tops, value)
        before.append(top_at[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(value)
            top_at.append(at)
        else:
            tops[pile] = value
            top_at[pile] = at
    kept = []
    at = top_at[-1]
    while at >= 0:
        kept.append(at)
        at = before[at]
    order = np.array(kept[::-1])
    return i[order], j[order]
