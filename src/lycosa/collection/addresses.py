"""A number for every address that a crawl has seen, in little memory: hashes in a table of our own, no text.

A crawl of ten thousand pages sees a million addresses. A dict of them would take 100 MB, this takes 25.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

FULL = 0.6
"""Share of the table's places that are taken before it grows."""


class Addresses:
    """Numbers from 0, as addresses come; two of a million share one with a chance of one to forty million.

    >>> seen = Addresses()
    >>> one, other, again = seen.numbers(["a", "b", "a"]).tolist()
    >>> one == again, one == other, len(seen), seen.number("b") == other, seen.number("c")
    (True, False, 2, True, -1)
    """

    def __init__(self) -> None:
        self._keys = np.zeros(1 << 10, np.uint64)
        self._values = np.full(1 << 10, -1, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def size(self) -> int:
        """Bytes."""
        return self._keys.nbytes + self._values.nbytes

    def number(self, node: str) -> int:
        """The number of an address; -1 for one that was never seen."""
        wanted = xxhash.xxh3_64_intdigest(node.encode("utf-8", "surrogatepass"))
        mask = len(self._keys) - 1
        at = wanted & mask
        while (value := int(self._values[at])) >= 0:
            if int(self._keys[at]) == wanted:
                return value
            at = (at + 1) & mask
        return -1

    def numbers(self, nodes: Sequence[str]) -> NDArray[np.int32]:
        """The number of each, new ones for those that were not seen before."""
        if not nodes:
            return np.zeros(0, np.int32)
        if self._count + len(nodes) > FULL * len(self._keys):
            self._grow(self._count + len(nodes))
        hashes, which = np.unique(_hashes(nodes), return_inverse=True)
        return self._find(hashes)[which]

    def _find(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The numbers of different hashes, each sought from its own place onwards; new ones get the next free."""
        mask = np.uint64(len(self._keys) - 1)
        at = (hashes & mask).astype(np.intp)
        found = np.full(len(hashes), -1, np.int32)
        pending = np.arange(len(hashes))
        while len(pending):
            places = at[pending]
            values = self._values[places]
            free = values < 0
            hit = ~free & (self._keys[places] == hashes[pending])
            found[pending[hit]] = values[hit]
            if free.any():
                self._keys[places[free]] = hashes[pending[free]]  # of those that want one place the last gets it
                won = free & (self._keys[places] == hashes[pending])
                numbers = np.arange(self._count, self._count + np.count_nonzero(won), dtype=np.int32)
                found[pending[won]] = self._values[places[won]] = numbers
                self._count += len(numbers)
            left = found[pending] < 0
            onward = pending[left & ~free]
            at[onward] = (at[onward] + 1) & int(mask)
            pending = pending[left]
        return found

    def _grow(self, count: int) -> None:
        taken = self._values >= 0
        keys, values = self._keys[taken], self._values[taken]
        size = len(self._keys)
        while count > FULL * size:
            size *= 2
        self._keys, self._values = np.zeros(size, np.uint64), np.full(size, -1, np.int32)
        self._count = 0
        order = self._find(keys)
        renumbered = np.empty(len(keys), np.int32)
        renumbered[order] = values
        filled = self._values >= 0
        self._values[filled] = renumbered[self._values[filled]]
        self._count = len(keys)


def _hashes(nodes: Sequence[str]) -> NDArray[np.uint64]:
    digest = xxhash.xxh3_64_intdigest
    return np.array([digest(node.encode("utf-8", "surrogatepass")) for node in nodes], np.uint64)
