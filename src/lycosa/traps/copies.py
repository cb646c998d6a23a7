"""Pages that say what another page said: word for word, or nearly (simhash, at most 4 of 64 bits apart)."""

from __future__ import annotations

from collections import defaultdict

from lycosa.core.types import Visit
from lycosa.text.fingerprint import NEAR, distance

FEWEST_WORDS = 30
"""Pages with fewer words are too short to tell near-duplicates by their fingerprints."""

BANDS = NEAR + 1
"""Fingerprints that differ in at most NEAR bits agree in at least one of NEAR + 1 bands (the pigeonhole principle)."""

_WIDTH = 64 // BANDS + 1
_MASK = (1 << _WIDTH) - 1


class Copies:
    """Which page said it first; a fold over the log.

    >>> from lycosa.core.types import Terms
    >>> import numpy as np
    >>> def page(node, digest, simhash):
    ...     return Visit(node, "page", "ok", 1, size=9, digest=digest, simhash=simhash,
    ...         terms=Terms(counts=np.full(40, 1)))
    >>> copies = Copies()
    >>> copies.learn(page("a", b"1", 0b1111))
    >>> [copies.original(page("b", *other)) for other in ((b"1", 1 << 40), (b"2", 0b0111), (b"3", ~0b1111 & 2**64 - 1))]
    ['a', 'a', '']
    """

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}
        self._bands: list[defaultdict[int, list[int]]] = [defaultdict(list) for _ in range(BANDS)]
        self._pages: list[tuple[int, int, str]] = []

    def original(self, visit: Visit) -> str:
        """The page that this one repeats, or empty."""
        same = self._first.get(visit.digest, "") if visit.digest and visit.size else ""
        if same:
            return same if same != visit.node else ""
        words = _words(visit)
        if words < FEWEST_WORDS:
            return ""
        for number, bucket in enumerate(self._bands):
            for index in bucket.get(visit.simhash >> number * _WIDTH & _MASK, ()):
                simhash, length, node = self._pages[index]
                near = distance(simhash, visit.simhash) <= NEAR and abs(length - words) <= max(length, words) // 8
                if near and node != visit.node:
                    return node
        return ""

    def learn(self, visit: Visit) -> None:
        """Remember a page that said something first."""
        if not visit.is_page or visit.same_as:
            return
        if visit.digest and visit.size:
            self._first.setdefault(visit.digest, visit.node)
        if (words := _words(visit)) >= FEWEST_WORDS:
            for number, bucket in enumerate(self._bands):
                bucket[visit.simhash >> number * _WIDTH & _MASK].append(len(self._pages))
            self._pages.append((visit.simhash, words, visit.node))


def _words(visit: Visit) -> int:
    return int(visit.terms.counts.sum(dtype=int))
