"""Names of nodes by the million: 8 bytes each, since only 64 bits of their hash are kept.

Two of a million names share a hash once in 37 million crawls.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.table import MAX_HOPS


class Nodes:
    """A number for each of some names, and -1 for all others.

    >>> nodes = Nodes(["http://a.test/", "http://b.test/", "http://a.test/"])
    >>> len(nodes), sorted(nodes.find(["http://a.test/", "http://b.test/"]).tolist()), nodes.find(["else"]).tolist()
    (2, [0, 1], [-1])
    """

    def __init__(self, names: Iterable[str]) -> None:
        every = np.frombuffer(array("Q", (_hash(name) for name in names)), np.uint64)
        every.sort()  # in place, where np.unique would take 40 bytes a name for a while
        first = np.ones(len(every), bool)
        np.not_equal(every[1:], every[:-1], out=first[1:])
        self._sorted = every[first]

    def __len__(self) -> int:
        return len(self._sorted)

    def find(self, names: list[str]) -> NDArray[np.int64]:
        """The number of each name."""
        return self.find_hashes(hashes(names))

    def find_hashes(self, wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The same for names that are hashed already."""
        return _ranks(self._sorted, wanted)


class Detours:
    """Redirects, 16 bytes each: where a name leads in the end."""

    def __init__(self, redirects: Iterable[tuple[str, str]]) -> None:
        pairs = array("Q")
        for source, target in redirects:
            pairs.extend((_hash(source), _hash(target)))
        both = np.frombuffer(pairs, np.uint64).reshape(-1, 2)
        self._sources, first = np.unique(both[:, 0], return_index=True)
        self._targets = both[first, 1]

    def find(self, names: list[str], nodes: Nodes) -> NDArray[np.int64]:
        """The number of each name, or else of where it redirects to."""
        wanted = hashes(names)
        found = nodes.find_hashes(wanted)
        for _ in range(MAX_HOPS):
            lost = np.flatnonzero(found < 0)
            at = _ranks(self._sources, wanted[lost])
            lost, at = lost[at >= 0], at[at >= 0]
            if not len(lost):
                break
            wanted[lost] = self._targets[at]
            found[lost] = nodes.find_hashes(wanted[lost])
        return found


def hashes(names: list[str]) -> NDArray[np.uint64]:
    """64 bits for each name."""
    return np.fromiter(map(_hash, names), np.uint64, len(names))


def _hash(name: str) -> int:
    return xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogatepass"))


def _ranks(ordered: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where in a sorted array each value is, -1 for those that are not."""
    if not len(ordered):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return np.where(ordered[at] == wanted, at, -1)
