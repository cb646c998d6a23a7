"""Duplicate pages, exact and near, and soft 404s.

Near-duplicate candidates have a simhash within 4 of 64 bits (Manku et al. 2007). Frequent words dominate a simhash, so
two lists of one template can have the same. So candidates must also share their rare words, estimated by a sketch of
the smallest hashes of all words (Broder 1997).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.state import AppendOnly, State, StateMismatch, TextLines
from lycosa.core.types import Visit
from lycosa.text.fingerprint import NEAR_DUPLICATE_BITS
from lycosa.text.tokens import stems
from lycosa.text.vocabulary import PageWords

MIN_WORDS = 30  # minimum words of a page for near-duplicate detection
DIGEST = 32
SKETCH = 32
MIN_SIMILARITY = 0.75  # minimum estimated share of words that near-duplicates have in common
MAX_BUCKET = 256  # maximum pages per value of a band: the average number with two million pages
BANDS = NEAR_DUPLICATE_BITS + 1  # at most NEAR different bits leave one of NEAR + 1 bands equal (pigeonhole principle)
_WIDTH = 64 // BANDS + 1
_MASK = (1 << _WIDTH) - 1


class DuplicateIndex:
    """The first page with each content, folded from the log.

    A page is never a copy of its own former version or of its former URL. Of a revisited page the first and the
    latest version are remembered.

    >>> from lycosa.core.types import Terms
    >>> import numpy as np
    >>> def page(node, digest, simhash):
    ...     terms = Terms(np.arange(40, dtype=np.uint32), np.full(40, 1, np.uint16))
    ...     return Visit(node, "page", "ok", 1, size=9, digest=digest, simhash=simhash, terms=terms)
    >>> copies = DuplicateIndex()
    >>> copies.learn(page("a", b"1", 0b1111))
    >>> [copies.original(page("b", *other)) for other in ((b"1", 1 << 40), (b"2", 0b0111), (b"3", ~0b1111 & 2**64 - 1))]
    ['a', 'a', '']
    """

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}
        # revisited pages: latest digest (empty if another page had it before) and row
        self._latest: dict[str, tuple[bytes, int]] = {}
        self._first_url: dict[str, str] = {}  # first known URL of pages that moved
        self._nodes: list[str] = []  # pages with enough words and new content, one row each
        self._simhash = np.zeros(0, np.uint64)
        self._words = np.zeros(0, np.int32)
        # smallest word hashes of each page, ascending, padded with the last
        self._sketch = np.zeros((0, SKETCH), np.uint32)
        self._bands: list[dict[int, array[int]]] = [{} for _ in range(BANDS)]  # rows by value, for each band

    def original(self, visit: Visit) -> str:
        same = self._first.get(visit.digest, "") if visit.digest and visit.size else ""
        own = self._at_first(visit.node)
        if same:
            return same if self._at_first(same) != own else ""
        words = _words(visit)
        if words < MIN_WORDS:
            return ""
        others = [row for row in self._near(visit.simhash, words) if self._at_first(self._nodes[row]) != own]
        if not others:
            return ""
        sketch = _hashes(_sketch(visit))
        # a similar simhash is not enough, because pages of one template can all have the same
        alike = (row for row in others[:32] if _shared(sketch, _hashes(self._sketch[row])) >= MIN_SIMILARITY)
        return next((self._nodes[row] for row in alike), "")

    def learn(self, visit: Visit) -> None:
        """Remember a page with new content, or the new URL of a page that moved."""
        if visit.outcome == "redirect" and visit.links.urls and (visit.follows or visit.node in self._first_url):
            self._first_url.setdefault(visit.links.urls[0], self._at_first(visit.node))
        if not visit.is_version or visit.same_as:
            return
        words, row = _words(visit), -1
        if words >= MIN_WORDS:
            row = self._add(visit.node, visit.simhash, words, _sketch(visit))
        digest = visit.digest if visit.size else b""
        if visit.follows:
            self._forget(visit.node)
            self._latest[visit.node] = digest if digest not in self._first else b"", row
        if digest:
            self._first.setdefault(digest, visit.node)
        if row >= 0:
            self._index_row(row, visit.simhash)

    def state(self) -> State:
        """Return digests, simhashes and sketches; raise StateMismatch if revisited pages have changed."""
        if self._latest:
            raise StateMismatch("revisited pages have changed")
        count = len(self._nodes)
        return {
            "digests": AppendOnly(self._first, _joined),
            "firsts": TextLines(self._first.values()),
            "nodes": TextLines(self._nodes),
            "simhashes": self._simhash[:count],
            "words": self._words[:count],
            "sketches": self._sketch[:count],
            "once": dict(self._first_url),
        }

    def restore(self, state: State) -> None:
        digests = state["digests"].tobytes()
        places = range(0, len(digests), DIGEST)
        self._nodes = list(state["nodes"])
        same = {node: node for node in self._nodes}  # to share one str object per page
        firsts = [same.get(node, node) for node in state["firsts"]]
        self._first = dict(zip((digests[at : at + DIGEST] for at in places), firsts, strict=True))
        self._first_url = dict(state["once"])
        self._simhash, self._words, self._sketch = state["simhashes"], state["words"], state["sketches"]
        for row, simhash in enumerate(self._simhash.tolist()):
            self._index_row(row, simhash)

    def _near(self, simhash: int, words: int) -> list[int]:
        """Return the pages with a similar simhash and word count, nearest first."""
        buckets = [band.get(value) for band, value in zip(self._bands, _values(simhash), strict=True)]
        candidates = [np.frombuffer(bucket, np.intc) for bucket in buckets if bucket]
        if not candidates:
            return []
        rows = np.concatenate(candidates)
        apart = np.bitwise_count(self._simhash[rows] ^ np.uint64(simhash))
        lengths = self._words[rows]
        alike = (apart <= NEAR_DUPLICATE_BITS) & (8 * np.abs(lengths - words) <= np.maximum(lengths, words))
        if not alike.any():
            return []
        rows, apart = rows[alike], apart[alike]
        return list(dict.fromkeys(rows[np.argsort(apart, kind="stable")].tolist()))

    def _add(self, node: str, simhash: int, words: int, sketch: NDArray[np.uint32]) -> int:
        row = len(self._nodes)
        self._nodes.append(node)
        if row >= len(self._words):
            for name in ("_simhash", "_words", "_sketch"):
                setattr(self, name, fit(getattr(self, name), row + 1))
        self._simhash[row], self._words[row] = simhash, words
        self._sketch[row] = sketch[-1]
        self._sketch[row, : len(sketch)] = sketch
        return row

    def _index_row(self, row: int, simhash: int) -> None:
        for band, value in zip(self._bands, _values(simhash), strict=True):
            bucket = band.get(value)
            if bucket is None:
                band[value] = array("i", (row,))
                continue
            if len(bucket) == MAX_BUCKET:
                del bucket[0]
            bucket.append(row)

    def _forget(self, node: str) -> None:
        """Forget the previous latest version of a revisited page, so that other pages are not copies of it."""
        if node not in self._latest:
            return
        digest, row = self._latest.pop(node)
        self._first.pop(digest, None)
        if row < 0:
            return
        for band, value in zip(self._bands, _values(int(self._simhash[row])), strict=True):
            bucket = band[value]
            if row in bucket:
                bucket.remove(row)

    def _at_first(self, node: str) -> str:
        return self._first_url.get(node, node)


def _words(visit: Visit) -> int:
    return int(visit.terms.counts.sum(dtype=int))


def _values(simhash: int) -> list[int]:
    return [simhash >> number * _WIDTH & _MASK for number in range(BANDS)]


def _sketch(visit: Visit) -> NDArray[np.uint32]:
    hashes = visit.terms.ids * np.uint32(2654435769)  # Knuth's multiplier, which spreads neighbouring ids
    hashes ^= hashes >> np.uint32(15)
    return np.sort(hashes)[:SKETCH]


def _hashes(sketch: NDArray[np.uint32]) -> set[int]:
    return set(sketch.tolist())


def _joined(digests: Sequence[bytes]) -> NDArray[np.uint8]:
    if any(len(digest) != DIGEST for digest in digests):
        raise StateMismatch(f"a digest has the wrong length: expected {DIGEST} bytes")
    return np.frombuffer(b"".join(digests), np.uint8)


def _shared(one: set[int], other: set[int]) -> float:
    union = sorted(one | other)[:SKETCH]
    return len(one.intersection(other, union)) / len(union) if union else 0.0


MAX_ERROR_PAGE_WORDS = 5_000  # maximum distinct words of an error page

_SORRY = re.compile(
    r"""^\W*(?:error\W*)?404\W*$ | \b404\W+(?:error|not\ found|page)\b | ^\W*error\ 404\W*$ | ^\W*not\ found\W*$
    | \b(?:page|document|file|article|content|url|resource)\ (?:was\ |could\ |can)?not\ (?:be\ )?(?:found|exist)
    | \bnothing\ (?:was\ )?found(?:\W*$|\ for\b)
    | \bno\ (?:results?|matches|pages?|posts?|entries)\ (?:were\ |was\ )?found(?:\W*$|\ for\b)
    | \bpage\ (?:introuvable|non\ trouvée|not\ available) | \bseite\ (?:wurde\ )?nicht\ gefunden
    | \bpágina\ no\ (?:encontrada|existe) | \bpágina\ não\ encontrada | \bpagina\ non\ trovata
    | \bpagina\ niet\ gevonden | \bsidan\ hittades\ inte | \bnie\ znaleziono | \bстраница\ не\ найдена""",
    re.IGNORECASE | re.VERBOSE,
)

Bag = tuple[NDArray[np.int32], NDArray[np.float64]]


class Soft404Detector:
    """Detector of error pages that a host sends with status 200 (Bar-Yossef et al. 2004), folded from the log.

    A page whose title is that of an error page is one. Other pages are compared to the host's response to a probe, a
    URL that can't exist, without words in links and in its own URL: error pages quote the URL and offer random links.

    >>> [bool(_SORRY.search(title)) for title in ("404 Not Found", "Page not found - Reefs", "Lost and found: a novel")]
    [True, True, False]
    """

    def __init__(self) -> None:
        self._faces: dict[str, Bag] = {}

    def recognise(self, visit: Visit, reading: PageWords) -> None:
        """Store the words of a probe's response, or flag a page that is similar to it."""
        if visit.kind == "probe":
            ids, counts = _bag(visit.node, reading)
            if 0 < len(ids) <= MAX_ERROR_PAGE_WORDS:
                visit.data["face"] = [ids.tolist(), counts.tolist()]
            return
        if _SORRY.search(visit.title[:200]):
            visit.flags.append("soft-404")
            return
        face = self._faces.get(_origin(visit.node))
        # cosine similarity of the word counts of two error pages of one host
        if face is not None and _cosine(face, _bag(visit.node, reading)) >= 0.85:
            visit.flags.append("soft-404")

    def learn(self, visit: Visit) -> None:
        if visit.kind == "probe" and visit.outcome == "ok" and "face" in visit.data:
            ids, counts = visit.data["face"]
            self._faces[_origin(visit.node)] = np.array(ids, np.int32), np.array(counts, np.float64)

    def state(self) -> State:
        faces = list(self._faces.values())
        return {
            "hosts": TextLines(self._faces),
            "words": np.array([len(ids) for ids, _ in faces], np.int64),
            "ids": np.concatenate([np.zeros(0, np.int32), *(ids for ids, _ in faces)]),
            "counts": np.concatenate([np.zeros(0), *(counts for _, counts in faces)]),
        }

    def restore(self, state: State) -> None:
        ends = np.cumsum(state["words"])[:-1]
        faces = zip(np.split(state["ids"], ends), np.split(state["counts"], ends), strict=True)
        # np.split returns one part even if there is no host
        self._faces = dict(zip(state["hosts"], faces, strict=False))


def _bag(node: str, reading: PageWords) -> Bag:
    quoted = [reading.vocabulary.id_of.get(stem, -1) for stem in stems(node, reading.language)]
    words = reading.unlinked()
    ids, counts = np.unique(words[~np.isin(words, quoted)], return_counts=True)
    return ids.astype(np.int32), counts.astype(np.float64)


def _cosine(a: Bag, b: Bag) -> float:
    _, left, right = np.intersect1d(a[0], b[0], assume_unique=True, return_indices=True)
    lengths = float(np.sqrt((a[1] @ a[1]) * (b[1] @ b[1])))
    return float(a[1][left] @ b[1][right]) / lengths if lengths else 0.0


def _origin(node: str) -> str:
    return "/".join(node.split("/", 3)[:3])
