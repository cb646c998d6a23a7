"""Pages that say what another page said: word for word, or nearly.

Candidates are found by simhash (at most 4 of 64 bits apart; Manku et al. 2007). Frequent words rule a simhash, so two
lists made by one template can have the same: a candidate must share its rare words, too, by a sketch of the set of
all its words (the smallest hashes; Broder 1997).

Paper items:
    rules-seen-content: `--traps`. Test: traps/test_copies.py::test_the_same_bytes_are_a_copy. Departs: near copies,
        too; they are held back, not thrown away.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.state import Grown, State, Texts, Untold
from lycosa.core.types import Visit
from lycosa.text.fingerprint import NEAR, distance

FEWEST_WORDS = 30
"""Pages with fewer words are too short to tell near-duplicates by their fingerprints."""

DIGEST = 32
"""Bytes of a digest: SHA-256."""

SKETCH = 32
"""Hashes in a sketch."""

ALIKE = 0.75
"""Share of its words that a near-duplicate has in common with its original, by their sketches."""

MOST_KNOWN = 256
"""Pages that are remembered for each value of a band: on average there are that many among two million."""

MOST_COMPARED = 32
"""Pages that one is compared with word by word: those of one template can all have the same simhash."""

BANDS = NEAR + 1
"""Fingerprints that differ in at most NEAR bits agree in at least one of NEAR + 1 bands (the pigeonhole principle)."""

_WIDTH = 64 // BANDS + 1
_MASK = (1 << _WIDTH) - 1


class _Known(NamedTuple):
    """A page that said something first."""

    simhash: int
    words: int
    node: str
    sketch: bytes
    """The smallest hashes of its words, in order; empty where it has few words."""


class Copies:
    """Which page said it first; a fold over the log.

    No page is a copy of its own former version, nor of what it was where it has moved from. Of a page that is visited
    again, its first version and its last are remembered.

    >>> from lycosa.core.types import Terms
    >>> import numpy as np
    >>> def page(node, digest, simhash):
    ...     terms = Terms(np.arange(40, dtype=np.uint32), np.full(40, 1, np.uint16))
    ...     return Visit(node, "page", "ok", 1, size=9, digest=digest, simhash=simhash, terms=terms)
    >>> copies = Copies()
    >>> copies.learn(page("a", b"1", 0b1111))
    >>> [copies.original(page("b", *other)) for other in ((b"1", 1 << 40), (b"2", 0b0111), (b"3", ~0b1111 & 2**64 - 1))]
    ['a', 'a', '']
    """

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}
        self._latest: dict[str, tuple[bytes, _Known]] = {}
        """Of pages that were visited again what they said last; the digest is empty if someone had said it before."""
        self._once: dict[str, str] = {}
        """Of addresses that pages moved to, the one that each had at first."""
        self._said: list[_Known] = []
        """All that said something first, in order."""
        self._bands = [defaultdict[int, deque[_Known]](lambda: deque(maxlen=MOST_KNOWN)) for _ in range(BANDS)]

    def original(self, visit: Visit) -> str:
        """The page that this one repeats, or empty."""
        same = self._first.get(visit.digest, "") if visit.digest and visit.size else ""
        own = self._at_first(visit.node)
        if same:
            return same if self._at_first(same) != own else ""
        words = _words(visit)
        if words < FEWEST_WORDS:
            return ""
        near: dict[_Known, None] = {}  # each once, in the order in which they are met
        for number, bucket in enumerate(self._bands):
            for known in bucket.get(visit.simhash >> number * _WIDTH & _MASK, ()):
                alike = distance(known.simhash, visit.simhash) <= NEAR
                if alike and 8 * abs(known.words - words) <= max(known.words, words):
                    near[known] = None
        others = [known for known in near if self._at_first(known.node) != own]
        sketch = _sketch(visit) if others else b""
        nearest = nsmallest(MOST_COMPARED, others, key=lambda known: distance(known.simhash, visit.simhash))
        return next((known.node for known in nearest if _shared(sketch, known.sketch) >= ALIKE), "")

    def learn(self, visit: Visit) -> None:
        """Remember a page that said something first; and where one has moved."""
        if visit.outcome == "redirect" and visit.links.urls and (visit.follows or visit.node in self._once):
            self._once.setdefault(visit.links.urls[0], self._at_first(visit.node))
        if not visit.is_version or visit.same_as:
            return
        words = _words(visit)
        known = _Known(visit.simhash, words, visit.node, _sketch(visit) if words >= FEWEST_WORDS else b"")
        digest = visit.digest if visit.size else b""
        if visit.follows:
            self._forget(visit.node)
            self._latest[visit.node] = digest if digest not in self._first else b"", known
        if digest:
            self._first.setdefault(digest, visit.node)
        if words >= FEWEST_WORDS:
            self._said.append(known)
            for bucket in self._buckets(known):
                bucket.append(known)

    def state(self) -> State:
        """Who has said what. What pages have said before they were looked at again can't be told."""
        if self._latest:
            raise Untold("some pages say something else by now")
        return {
            "digests": Grown(self._first, _joined),
            "firsts": Texts(self._first.values()),
            "simhashes": Grown(self._said, lambda some: np.array([known.simhash for known in some], np.uint64)),
            "words": Grown(self._said, lambda some: np.array([known.words for known in some], np.int64)),
            "nodes": Texts(self._said, lambda known: known.node),
            "hashes": Grown(self._said, lambda some: np.array([len(known.sketch) for known in some], np.int32)),
            "sketches": Grown(self._said, lambda some: _bytes(known.sketch for known in some)),
            "once": dict(self._once),
        }

    def restore(self, state: State) -> None:
        """Know them all."""
        digests = state["digests"].tobytes()
        places = range(0, len(digests), DIGEST)
        self._first = dict(zip((digests[at : at + DIGEST] for at in places), state["firsts"], strict=True))
        self._once = dict(state["once"])
        joined, ends = state["sketches"].tobytes(), np.cumsum(state["hashes"]).tolist()
        sketches = (joined[begin:end] for begin, end in zip([0, *ends], ends, strict=False))
        simhashes: NDArray[np.uint64] = state["simhashes"]
        columns = (simhashes.tolist(), state["words"].tolist(), state["nodes"], sketches)
        self._said = [_Known(*line) for line in zip(*columns, strict=True)]
        for number, band in enumerate(self._bands):
            values = (simhashes >> np.uint64(number * _WIDTH)) & np.uint64(_MASK)
            for value, known in zip(values.tolist(), self._said, strict=True):
                band[value].append(known)

    def _forget(self, node: str) -> None:
        """What a page said when it was last visited again, it says no more: it must not drive out what others say."""
        if node not in self._latest:
            return
        digest, known = self._latest.pop(node)
        self._first.pop(digest, None)
        for bucket in self._buckets(known):
            if known in bucket:
                bucket.remove(known)

    def _buckets(self, known: _Known) -> list[deque[_Known]]:
        return [band[known.simhash >> number * _WIDTH & _MASK] for number, band in enumerate(self._bands)]

    def _at_first(self, node: str) -> str:
        return self._once.get(node, node)


def _words(visit: Visit) -> int:
    return int(visit.terms.counts.sum(dtype=int))


def _sketch(visit: Visit) -> bytes:
    """The smallest hashes of the page's words."""
    hashes = visit.terms.ids * np.uint32(2654435769)  # Knuth's multiplier: ids that are neighbours end up far apart
    hashes ^= hashes >> np.uint32(15)
    return np.sort(hashes)[:SKETCH].tobytes()


def _joined(digests: Sequence[bytes]) -> NDArray[np.uint8]:
    if any(len(digest) != DIGEST for digest in digests):
        raise Untold("digests of another kind")
    return _bytes(digests)


def _bytes(some: Iterable[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(some), np.uint8)


def _shared(one: bytes, other: bytes) -> float:
    """Words in common, as a share of all words of both: estimated from the smallest hashes of the union."""
    a, b = (set(np.frombuffer(sketch, np.uint32).tolist()) for sketch in (one, other))
    union = sorted(a | b)[:SKETCH]
    return len(a.intersection(b, union)) / len(union) if union else 0.0
