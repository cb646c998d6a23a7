"""Simhash (Charikar 2002): fingerprints of near-duplicate pages differ in few of 64 bits.

Each term votes with its frequency for or against each bit. A page edited by 2 % differs by 3 bits (95th percentile),
unrelated pages by 11 or more (1st percentile), so 4 is a good limit.
"""

from __future__ import annotations

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.columns import fit

NEAR_DUPLICATE_BITS = 4  # near-duplicates differ in at most this number of bits


class TermHashes:
    """Hash of each term, by term id."""

    def __init__(self) -> None:
        self.hashes = np.zeros(4096, np.uint64)  # XXH3 of each term
        self._known = 0

    def extend(self, terms: list[str]) -> None:
        if self._known == len(terms):
            return
        self.hashes, new = fit(self.hashes, len(terms)), terms[self._known :]
        self.hashes[self._known : len(terms)] = [xxhash.xxh3_64_intdigest(term.encode()) for term in new]
        self._known = len(terms)

    def simhash(self, ids: NDArray[np.uint32], counts: NDArray[np.uint16]) -> int:
        """Return the fingerprint of a page; 0 for a page without words."""
        if not len(ids):
            return 0
        bits = np.unpackbits(self.hashes[ids].view(np.uint8).reshape(-1, 8), axis=1)
        weights = counts.astype(np.float32)
        votes = weights @ bits.astype(np.float32)
        return int.from_bytes(np.packbits(votes * 2 > weights.sum()).tobytes(), "big")


def distance(a: int, b: int) -> int:
    return (a ^ b).bit_count()
