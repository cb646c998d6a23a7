"""What is seen of a page. All of it comes from the visit as the log keeps it, so that a page can be judged again.

How a page answers the words that were asked for (`ANSWERS`):

    body     BM25 of the words in the main part, as a share of the most it can be
    head     the share of the words that stand in the title or the address
    lead     the share that stands in the headings or the first paragraphs
    meaning  the cosine of the page's vector with that of the words

What a page is made of, so that it can be likened to others: its features. Each is a slot (a hash) and how often it is
there: the stems that stand out most, the words of the address, and the addresses it links to.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.columns import SpilledArray, fit
from lycosa.core.state import State, TextLines, restore_attributes, state_of_attributes
from lycosa.core.types import ADDRESS, HEADING, LEAD, TITLE, Terms
from lycosa.judges.embedding import STEPS
from lycosa.text.background import Background
from lycosa.text.embeddings import DIMENSIONS
from lycosa.text.languages import ENGLISH
from lycosa.text.tokens import stems, url_words

ANSWERS = ("body", "head", "lead", "meaning")

STEMS, WORDS, LINKS = 96, 16, 48  # features kept of a page: stems, words of its address, links
FEATURES = STEMS + WORDS + LINKS
PARTS = (slice(0, STEMS), slice(STEMS, STEMS + WORDS), slice(STEMS + WORDS, FEATURES))
SHARES = (6.0, 2.0, 4.0)  # weight of each kind when pages are compared; a page's vector counts 4
SLOTS = 1 << 18
LINK = 1  # kind of a feature that is a link; words are 0
TENTHS = 16  # 1 + log f is kept in parts of 1 / TENTHS
# 1 + log f of every count that a page can have
_OFTEN = 1.0 + np.log(np.maximum(np.arange(1 << 16, dtype=np.uint16), 1))
SATURATION, LENGTH = 1.2, 0.75  # k1 and b of BM25 (Robertson et al. 1995)
BACKGROUND = 100.0  # pages that the packaged word statistics count for; the crawl's own pages come to that
Column = NDArray[np.float32]


@dataclass(slots=True)
class Evidence:
    """One page."""

    slots: NDArray[np.int32]  # 0 where there is none
    amounts: NDArray[np.uint8]
    answers: Column
    vector: NDArray[np.int8]
    against: float = 0.0  # from 0 to 1: words against the topic, and missing phrases
    quality: float = 1.0


def slot_of(text: str, kind: int = 0) -> int:
    """Where what is known of a feature is kept."""
    return 1 + xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), kind) % (SLOTS - 1)


def slots_of(texts: Collection[str], kind: int = 0) -> NDArray[np.int32]:
    """The same for many texts of one kind."""
    hashed = [xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), kind) for text in texts]
    return _slots(np.array(hashed, np.uint64))


def _slots(hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
    return (1 + hashes % (SLOTS - 1)).astype(np.int32)


# made from the topic, or on demand
_MADE = (
    "meaning", "_words", "_against", "_background", "_idf", "_wanted", "_is_wanted", "_wanted_in"
)  # fmt: skip


class Looking:
    """Sees pages: knows the words that were asked for, and how common each feature is on the pages so far."""

    def __init__(self, words: Mapping[str, float], against: Sequence[str], meaning: Column | None) -> None:
        self.pages = 0
        self.frequency = np.zeros(SLOTS, np.float32)  # pages with each feature
        self.share = np.zeros(SLOTS, np.float32)  # share of pages elsewhere with each stem
        self.meaning = meaning
        self._words, self._against = dict(words), tuple(against)
        self._background = Background.load()
        self.length = 0.0  # words of all pages
        self._slot_of = np.zeros(1024, np.int32)
        self.names: list[str] = []  # words of the crawl, by id
        self._common = np.full(SLOTS, 0.5, np.float32)  # both combined; read for every word of a page
        self._idf: Column | None = None
        self._wanted: dict[str, tuple[list[int], list[float], list[int]]] = {}
        self._is_wanted = np.zeros(SLOTS, np.bool_)  # features asked for, or against, in the language `_wanted_in`
        self._wanted_in = ""

    # -- the crawl's words -------------------------------------------------------------------------------------

    def meet(self, new: Sequence[str], hashes: NDArray[np.uint64] | None = None) -> None:
        """The next words of the crawl, in the order of their numbers; with their hashes, where somebody has them."""
        if not new:
            return
        before = len(self.names)
        self.names += new
        self._slot_of = fit(self._slot_of, len(self.names))
        slots = slots_of(new) if hashes is None else _slots(hashes)
        self._slot_of[before : len(self.names)] = slots
        background = self._background
        counts = np.fromiter(map(background.frequency.get, new, repeat(1)), np.float32, len(new))
        share = np.maximum(self.share.take(slots), counts / background.documents)
        self.share[slots] = share
        # Of several words in one slot the last one has left its share there.
        self._recount(slots, self.frequency.take(slots), self.share.take(slots))

    def _recount(self, slots: NDArray[np.int32], frequency: Column, share: Column) -> None:
        self._common[slots] = frequency + BACKGROUND * share + 0.5
        self._idf = None

    def idf(self) -> Column:
        """How rare each feature is by now: log of one over its share, on pages here and elsewhere."""
        if self._idf is None:  # asked for twice with each lesson
            rare: Column = np.log((self.pages + BACKGROUND + 1.0) / self._common)
            self._idf = np.maximum(rare, 0.0)
        return self._idf

    def state(self) -> State:
        return {"names": TextLines(self.names), "numbers": state_of_attributes(self, "names", *_MADE)}

    def restore(self, state: State) -> None:
        self.names, self._idf = state["names"], None
        restore_attributes(self, state["numbers"])

    # -- seeing ------------------------------------------------------------------------------------------------

    def slots(self, terms: Terms) -> NDArray[np.int32]:
        """Of a page's words."""
        return self._slot_of.take(terms.ids)

    def see(
        self,
        found: NDArray[np.int32],
        terms: Terms,
        node: str,
        links: Sequence[str],
        language: str,
        data: Mapping[str, Any],
        title: str = "",
    ) -> Evidence:
        """What there is on a page; `found` are the slots of its words, `data` what the judge has put into the visit."""
        vector = data.get("vector")
        has_vector = isinstance(vector, bytes) and len(vector) == DIMENSIONS
        evidence = Evidence(
            *self._features(found, terms, node, links, language),
            np.zeros(len(ANSWERS), np.float32),
            np.frombuffer(vector, np.int8) if has_vector and vector else np.zeros(DIMENSIONS, np.int8),
            quality=float(data.get("quality", 1.0)),
        )
        self._answer(evidence, found, terms, language, title)
        phrased = data.get("phrases")
        if phrased is not None:  # without the phrases that were asked for, their words alone say less
            evidence.against = max(evidence.against, 0.5 - 0.5 * float(phrased))
        return evidence

    def count(self, evidence: Evidence, words: float) -> None:
        """The page is one of the crawl's: what is on it is more common now."""
        self.pages += 1
        self.length += words
        slots = evidence.slots
        frequency = self.frequency.take(slots)
        frequency += slots != 0
        self.frequency[slots] = frequency
        self._recount(slots, frequency, self.share.take(slots))

    def _features(
        self, found: NDArray[np.int32], terms: Terms, node: str, links: Sequence[str], language: str
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        slots, amounts = np.zeros(FEATURES, np.int32), np.zeros(FEATURES, np.uint8)
        if not len(found):  # a page without a word, whatever its address
            return slots, amounts
        often = _OFTEN.take(terms.counts)
        rows: Any = slice(None)
        if len(found) > STEMS:
            light = often * (np.log(self._common.take(found)) - math.log(self.pages + BACKGROUND + 1.0))
            rows = light.argpartition(STEMS)[:STEMS]
            rows.sort()
        own = found[rows]
        slots[: len(own)] = own
        amounts[: len(own)] = np.minimum(TENTHS * often[rows], 255.0)
        words = [_slot_of_word(word, language) for word in url_words(node).lower().split()]
        words = list(dict.fromkeys(slot for slot in words if slot))[:WORDS]
        slots[STEMS : STEMS + len(words)] = words
        amounts[STEMS : STEMS + len(words)] = TENTHS
        distinct = set(links[:400])  # links read of a page
        distinct.discard(node)
        if distinct:
            leads = np.array(sorted(set(map(_slot_of_link, distinct))), np.int32)
            if len(leads) > LINKS:  # those that other pages have as well, the rarest first
                often_met = self.frequency[leads]
                leads = leads[np.argsort(np.where(often_met > 0, often_met, np.inf), kind="stable")[:LINKS]]
            slots[STEMS + WORDS : STEMS + WORDS + len(leads)] = leads
            amounts[STEMS + WORDS : STEMS + WORDS + len(leads)] = TENTHS
        return slots, amounts

    def _answer(self, evidence: Evidence, found: NDArray[np.int32], terms: Terms, language: str, title: str) -> None:
        wanted, weights, against = self._asked(language)
        if self.meaning is not None:
            evidence.answers[3] = float(evidence.vector @ self.meaning) / STEPS
        places = self._is_wanted.take(found).nonzero()[0].tolist()
        if not places:
            return
        place_of = {int(found[at]): at for at in reversed(places)}
        marks = terms.marks
        if not len(marks):  # nobody has looked where words occur
            own = [slot_of(stem) for stem in stems(title, language)]
            marks = np.where(np.isin(found, own), np.uint8(TITLE), np.uint8(0))
        length = float(terms.counts.sum())
        mean = self.length / self.pages if self.pages else length or 1.0
        damp = SATURATION * (1.0 - LENGTH + LENGTH * length / (mean or 1.0))
        answers = evidence.answers
        asked = [(place_of[slot], weight) for slot, weight in zip(wanted, weights, strict=True) if slot in place_of]
        for at, weight in asked:
            count, mark = float(terms.counts[at]), int(marks[at])
            answers[0] += weight * count / (count + damp)
            answers[1] += weight * bool(mark & (TITLE | ADDRESS))
            answers[2] += weight * bool(mark & (LEAD | HEADING))
        for at in [place_of[slot] for slot in against if slot in place_of]:
            is_prominent = bool(int(marks[at]) & (TITLE | HEADING | LEAD))
            cost = 1.0 if is_prominent else min(1.0, float(terms.counts[at]) / 4.0)
            evidence.against = max(evidence.against, cost)

    def _asked(self, language: str) -> tuple[list[int], list[float], list[int]]:
        """The stems that were asked for in a language, what each weighs of 1, and those that speak against."""
        wanted = self._wanted.get(language)
        if wanted is None:
            weights: dict[str, float] = {}
            for text, weight in self._words.items():
                for stem in stems(text, language):
                    rare = self._background.idf(stem) if language == ENGLISH else 1.0
                    weights[stem] = weights.get(stem, 0.0) + weight * max(rare, 0.5)
            whole = sum(weights.values()) or 1.0
            against = dict.fromkeys(stem for text in self._against for stem in stems(text, language))
            wanted = (
                [slot_of(stem) for stem in weights],
                [weight / whole for weight in weights.values()],
                [slot_of(stem) for stem in against if stem not in weights],
            )
            if len(self._wanted) > 40:
                self._wanted.clear()
            self._wanted[language] = wanted
        if language != self._wanted_in:
            self._is_wanted[:] = False
            self._is_wanted[[*wanted[0], *wanted[2]]] = True
            self._wanted_in = language
        return wanted


@lru_cache(maxsize=50_000)
def _slot_of_word(word: str, language: str) -> int:
    """Return the slot of a word in addresses; 0 if it has no stem."""
    stem = next(iter(stems(word, language)), "")
    return slot_of(f"address {stem}") if stem else 0


@lru_cache(maxsize=50_000)  # a site's menu is on all of its pages
def _slot_of_link(url: str) -> int:
    return slot_of(url, LINK)


# -- of all pages ------------------------------------------------------------------------------------------

# The evidence of all pages so far, in columns: about 1.1 kB a page, of the first of them in memory.

AT_ONCE = 4096  # pages whose values are computed in one batch
VECTOR = 2.0  # root of the weight of vectors when pages are compared
# pages whose features and vectors are in memory; the others are in a file, read for model updates only
IN_MEMORY = 65_536
_COLUMNS = ("answers", "against", "quality", "filled", "first", "relevance_now")


class Pages:
    """One row for each version of a page that the log has, in its order."""

    def __init__(self) -> None:
        self.count = 0
        self.slots = SpilledArray((FEATURES,), np.int32, IN_MEMORY)
        self.amounts = SpilledArray((FEATURES,), np.uint8, IN_MEMORY)
        self.vectors = SpilledArray((DIMENSIONS,), np.int8, IN_MEMORY)
        self.answers = np.zeros((0, len(ANSWERS)), np.float32)
        self.against = np.zeros(0, np.float32)
        self.quality = np.zeros(0, np.float32)
        self.filled = np.zeros(0, np.bool_)  # rows with features
        self.first = np.zeros(0, np.bool_)  # rows of a page's first version that is no copy
        self.firsts = 0  # their number
        self.relevance_now = np.zeros(0, np.float32)

    def add(self, evidence: Evidence, relevance_now: float, first: bool) -> int:
        """One more row, and its number."""
        row = self.count
        self.count += 1
        if self.count > len(self.relevance_now):
            for name in _COLUMNS:
                setattr(self, name, fit(getattr(self, name), self.count))
        self.slots.append(evidence.slots)
        self.amounts.append(evidence.amounts)
        self.vectors.append(evidence.vector)
        self.answers[row], self.filled[row] = evidence.answers, evidence.slots.any()
        self.against[row], self.quality[row] = evidence.against, evidence.quality
        self.first[row], self.relevance_now[row] = first, relevance_now
        self.firsts += first
        return row

    def values(self, rows: NDArray[np.intp], idf: Column) -> Column:
        """Return tf times idf of some rows' features, each kind scaled to its share; empty slots count 0."""
        weights: Column = self.amounts[rows].astype(np.float32) * (idf[self.slots[rows]] / np.float32(TENTHS))
        for part, share in zip(PARTS, SHARES, strict=True):
            lengths = np.sqrt((weights[:, part] ** 2).sum(axis=1, keepdims=True))
            weights[:, part] *= np.float32(share**0.5) / np.where(lengths > 0.0, lengths, np.float32(1.0))
        return weights

    def placed(self, rows: NDArray[np.intp], mean: Column) -> Column:
        """The vectors of some rows, seen from the mean page."""
        return placed(self.vectors[rows], mean)


def placed(vectors: NDArray[np.int8], mean: Column) -> Column:
    """Vectors from the mean page on; zeros for pages that have none."""
    rows: Column = vectors.astype(np.float32) / np.float32(STEPS) - mean
    rows[~vectors.any(axis=1)] = 0.0
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    rows *= np.float32(VECTOR) / np.where(lengths > 0.0, lengths, np.float32(1.0))
    return rows
