"""Evidence of a page for the topic, from its visit in the log: match scores ("answers"), features and a word vector.

Features, by which pages are compared, are hashed to slots: the most distinctive stems, the words of the URL, and the
URLs that the page links to.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
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


class Answer(IntEnum):
    """Match scores of a page with the topic, by column."""

    BODY = 0  # BM25 of the topic's words in the main text, as a share of its maximum
    HEAD = 1  # share of the words that are in the title or the URL
    LEAD = 2  # share of the words that are in headings or the first paragraphs
    MEANING = 3  # cosine of the page's vector with the topic's


MAX_STEMS, MAX_WORDS, MAX_LINKS = 96, 16, 48  # features kept of a page: stems, words of its URL, links
FEATURES = MAX_STEMS + MAX_WORDS + MAX_LINKS
MAX_LINKS_READ = 400
# Columns of each kind of features, and its weight in comparisons of pages; vectors have weight 4.
KINDS = {
    "stems": (slice(0, MAX_STEMS), 6.0),
    "address": (slice(MAX_STEMS, MAX_STEMS + MAX_WORDS), 2.0),
    "links": (slice(MAX_STEMS + MAX_WORDS, FEATURES), 4.0),
}
VECTOR_SCALE = 2.0  # square root of the weight of vectors in comparisons of pages
SLOTS = 1 << 18
LINK = 1  # hash seed of links; that of words is 0
AMOUNT_STEPS = 16  # 1 + log f is stored in steps of 1 / AMOUNT_STEPS
_LOG_COUNTS = 1.0 + np.log(np.maximum(np.arange(1 << 16, dtype=np.uint16), 1))  # 1 + log of each count
SATURATION, LENGTH = 1.2, 0.75  # k1 and b of BM25 (Robertson et al. 1995)
BACKGROUND_PAGES = 100.0  # weight of the packaged word statistics, in pages of the crawl
MAX_LANGUAGES = 40
Column = NDArray[np.float32]


@dataclass(slots=True)
class Evidence:
    slots: NDArray[np.int32]  # feature slots; 0 means no feature
    amounts: NDArray[np.uint8]  # feature amounts, in steps of 1 / AMOUNT_STEPS
    answers: Column
    vector: NDArray[np.int8]
    against: float = 0.0  # from 0 to 1: excluded words (-word) on the page, and missing phrases
    quality: float = 1.0


def slot_of(text: str, kind: int = 0) -> int:
    return 1 + xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), kind) % (SLOTS - 1)


def slots_of(texts: Collection[str], kind: int = 0) -> NDArray[np.int32]:
    hashes = [xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), kind) for text in texts]
    return _slots(np.array(hashes, np.uint64))


def _slots(hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
    return (1 + hashes % (SLOTS - 1)).astype(np.int32)


@dataclass(slots=True)
class _TopicSlots:
    """Slots of the topic's stems in one language."""

    wanted: list[int]
    in_address: list[int]  # slots of the same stems in an address
    weights: list[float]  # weights of the wanted stems, which add up to 1
    against: list[int]


# Attributes derived from the topic or computed on demand, and so not part of the state.
_DERIVED = (
    "meaning", "_words", "_against", "_is_literal", "_background", "_idf", "_topic_slots", "_is_topical",
    "_topical_language",
)  # fmt: skip


class EvidenceReader:
    """Reader of the evidence of pages; knows the topic, and how common each feature is on the pages so far."""

    def __init__(
        self, words: Mapping[str, float], against: Sequence[str], meaning: Column | None, is_literal: bool = False
    ) -> None:
        self.pages = 0
        self.frequency = np.zeros(SLOTS, np.float32)  # number of pages with each feature
        self.share = np.zeros(SLOTS, np.float32)  # share of background pages with each stem
        self.meaning = meaning
        self._words, self._against = dict(words), tuple(against)
        self._is_literal = is_literal  # the words have no stems, and are searched for like phrases
        self._background = Background.load()
        self.length = 0.0  # total number of words of all pages
        self._slot_of_stem = np.zeros(1024, np.int32)
        self.names: list[str] = []  # stems of the crawl, by id
        self._common = np.full(SLOTS, 0.5, np.float32)  # frequency and share combined
        self._idf: Column | None = None
        self._topic_slots: dict[str, _TopicSlots] = {}  # by language
        self._is_topical = np.zeros(SLOTS, np.bool_)  # slots of the topic in the language last read
        self._topical_language: str | None = None

    def add_stems(self, new: Sequence[str], hashes: NDArray[np.uint64] | None = None) -> None:
        """Add the next stems of the crawl in the order of their ids, with their hashes if these are known."""
        if not new:
            return
        before = len(self.names)
        self.names += new
        self._slot_of_stem = fit(self._slot_of_stem, len(self.names))
        slots = slots_of(new) if hashes is None else _slots(hashes)
        self._slot_of_stem[before : len(self.names)] = slots
        background = self._background
        counts = np.fromiter(map(background.frequency.get, new, repeat(1)), np.float32, len(new))
        share = np.maximum(self.share.take(slots), counts / background.documents)
        self.share[slots] = share
        # Read again, because of several stems in one slot the last has set the share.
        self._recount(slots, self.frequency.take(slots), self.share.take(slots))

    def _recount(self, slots: NDArray[np.int32], frequency: Column, share: Column) -> None:
        self._common[slots] = frequency + BACKGROUND_PAGES * share + 0.5
        self._idf = None

    def idf(self) -> Column:
        """Return the inverse document frequency of each feature, over the crawl's pages and the background pages."""
        if self._idf is None:  # cached, since each model update uses it twice
            rare: Column = np.log((self.pages + BACKGROUND_PAGES + 1.0) / self._common)
            self._idf = np.maximum(rare, 0.0)
        return self._idf

    def state(self) -> State:
        return {"names": TextLines(self.names), "numbers": state_of_attributes(self, "names", *_DERIVED)}

    def restore(self, state: State) -> None:
        self.names, self._idf = state["names"], None
        restore_attributes(self, state["numbers"])

    def slots(self, terms: Terms) -> NDArray[np.int32]:
        return self._slot_of_stem.take(terms.ids)

    def read(
        self,
        slots: NDArray[np.int32],
        terms: Terms,
        node: str,
        links: Sequence[str],
        language: str,
        data: Mapping[str, Any],
        title: str = "",
    ) -> Evidence:
        """Return the evidence of a page; `slots` are those of its terms, `data` is the judge's data of the visit."""
        vector = data.get("vector")
        has_vector = isinstance(vector, bytes) and len(vector) == DIMENSIONS
        evidence = Evidence(
            *self._features(slots, terms, node, links, language),
            np.zeros(len(Answer), np.float32),
            np.frombuffer(vector, np.int8) if has_vector and vector else np.zeros(DIMENSIONS, np.int8),
            quality=float(data.get("quality", 1.0)),
        )
        self._answer(evidence, slots, terms, language, title)
        phrases = data.get("phrases")
        if phrases is not None and self._is_literal:
            evidence.answers[Answer.BODY] = float(phrases)
        elif phrases is not None:  # a page without the phrases of the topic is less relevant than its words suggest
            evidence.against = max(evidence.against, 0.5 - 0.5 * float(phrases))
        return evidence

    def count(self, evidence: Evidence, words: float) -> None:
        """Count the features of a page of the crawl."""
        self.pages += 1
        self.length += words
        slots = evidence.slots
        frequency = self.frequency.take(slots)
        frequency += slots != 0
        self.frequency[slots] = frequency
        self._recount(slots, frequency, self.share.take(slots))

    def _features(
        self, stem_slots: NDArray[np.int32], terms: Terms, node: str, links: Sequence[str], language: str
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        slots, amounts = np.zeros(FEATURES, np.int32), np.zeros(FEATURES, np.uint8)
        if not len(stem_slots):  # pages without words have no features
            return slots, amounts
        log_counts = _LOG_COUNTS.take(terms.counts)
        rows: Any = slice(None)
        if len(stem_slots) > MAX_STEMS:
            light = log_counts * (np.log(self._common.take(stem_slots)) - math.log(self.pages + BACKGROUND_PAGES + 1.0))
            rows = light.argpartition(MAX_STEMS)[:MAX_STEMS]
            rows.sort()
        own = stem_slots[rows]
        slots[: len(own)] = own
        amounts[: len(own)] = np.minimum(AMOUNT_STEPS * log_counts[rows], 255.0)
        words = [_slot_of_word(word, language) for word in url_words(node).lower().split()]
        words = list(dict.fromkeys(slot for slot in words if slot))[:MAX_WORDS]
        address, _ = KINDS["address"]
        slots[address][: len(words)] = words
        amounts[address][: len(words)] = AMOUNT_STEPS
        targets = set(links[:MAX_LINKS_READ])
        targets.discard(node)
        if targets:
            link_slots = np.array(sorted(set(map(_slot_of_link, targets))), np.int32)
            if len(link_slots) > MAX_LINKS:  # keep those that other pages link to as well, the rarest first
                pages = self.frequency[link_slots]
                link_slots = link_slots[np.argsort(np.where(pages > 0, pages, np.inf), kind="stable")[:MAX_LINKS]]
            columns, _ = KINDS["links"]
            slots[columns][: len(link_slots)] = link_slots
            amounts[columns][: len(link_slots)] = AMOUNT_STEPS
        return slots, amounts

    def _answer(self, evidence: Evidence, slots: NDArray[np.int32], terms: Terms, language: str, title: str) -> None:
        topic = self._topic_in(language)
        answers = evidence.answers
        if self.meaning is not None:
            answers[Answer.MEANING] = float(evidence.vector @ self.meaning) / STEPS
        places = self._is_topical.take(slots).nonzero()[0].tolist()
        columns, _ = KINDS["address"]
        in_address = set(evidence.slots[columns].tolist()).intersection(topic.in_address)
        if not places and not in_address:
            return
        place_of = {int(slots[at]): at for at in reversed(places)}
        marks = terms.marks
        if not len(marks):  # the log has no positions of the words
            in_title = [slot_of(stem) for stem in stems(title, language)]
            marks = np.where(np.isin(slots, in_title), np.uint8(TITLE), np.uint8(0))
        length = float(terms.counts.sum())
        mean_length = self.length / self.pages if self.pages else length or 1.0
        damping = SATURATION * (1.0 - LENGTH + LENGTH * length / (mean_length or 1.0))
        for slot, address, weight in zip(topic.wanted, topic.in_address, topic.weights, strict=True):
            mark = 0
            if slot in place_of:
                count, mark = float(terms.counts[place_of[slot]]), int(marks[place_of[slot]])
                answers[Answer.BODY] += weight * count / (count + damping)
            if address in in_address or mark & (TITLE | ADDRESS):
                answers[Answer.HEAD] += weight
            if mark:
                answers[Answer.LEAD] += weight * bool(mark & (LEAD | HEADING))
        for at in [place_of[slot] for slot in topic.against if slot in place_of]:
            is_prominent = bool(int(marks[at]) & (TITLE | HEADING | LEAD))
            against = 1.0 if is_prominent else min(1.0, float(terms.counts[at]) / 4.0)
            evidence.against = max(evidence.against, against)

    def _topic_in(self, language: str) -> _TopicSlots:
        topic = self._topic_slots.get(language)
        if topic is None:
            weights: dict[str, float] = {}
            for text, weight in self._words.items():
                for stem in stems(text, language):
                    rare = self._background.idf(stem) if language == ENGLISH else 1.0
                    weights[stem] = weights.get(stem, 0.0) + weight * max(rare, 0.5)
            whole = sum(weights.values()) or 1.0
            against = dict.fromkeys(stem for text in self._against for stem in stems(text, language))
            topic = _TopicSlots(
                [slot_of(stem) for stem in weights],
                [slot_of(f"address {stem}") for stem in weights],
                [weight / whole for weight in weights.values()],
                [slot_of(stem) for stem in against if stem not in weights],
            )
            if len(self._topic_slots) > MAX_LANGUAGES:
                self._topic_slots.clear()
            self._topic_slots[language] = topic
        if language != self._topical_language:
            self._is_topical[:] = False
            self._is_topical[[*topic.wanted, *topic.against]] = True
            self._topical_language = language
        return topic


@lru_cache(maxsize=50_000)
def _slot_of_word(word: str, language: str) -> int:
    stem = next(iter(stems(word, language)), "")
    return slot_of(f"address {stem}") if stem else 0


@lru_cache(maxsize=50_000)  # cached, since the menu of a site is on all of its pages
def _slot_of_link(url: str) -> int:
    return slot_of(url, LINK)


PAGES_AT_ONCE = 4096  # pages per batch when features are computed
IN_MEMORY = 65_536  # pages with features and vectors in memory; the rest is in a file, read for model updates only


class EvidenceTable:
    """Evidence of all pages so far: a row of 1.1 kB for each page version, in the order of the log."""

    _COLUMNS = ("answers", "against", "quality", "has_features", "is_first", "relevance_now")

    def __init__(self) -> None:
        self.count = 0
        self.slots = SpilledArray((FEATURES,), np.int32, IN_MEMORY)
        self.amounts = SpilledArray((FEATURES,), np.uint8, IN_MEMORY)
        self.vectors = SpilledArray((DIMENSIONS,), np.int8, IN_MEMORY)
        self.answers = np.zeros((0, len(Answer)), np.float32)
        self.against = np.zeros(0, np.float32)
        self.quality = np.zeros(0, np.float32)
        self.has_features = np.zeros(0, np.bool_)
        self.is_first = np.zeros(0, np.bool_)  # true for the first version of a page that is not a copy
        self.first_count = 0
        self.relevance_now = np.zeros(0, np.float32)

    def add(self, evidence: Evidence, relevance_now: float, is_first: bool) -> int:
        """Add a row and return its number."""
        row = self.count
        self.count += 1
        if self.count > len(self.relevance_now):
            for name in self._COLUMNS:
                setattr(self, name, fit(getattr(self, name), self.count))
        self.slots.append(evidence.slots)
        self.amounts.append(evidence.amounts)
        self.vectors.append(evidence.vector)
        self.answers[row], self.has_features[row] = evidence.answers, evidence.slots.any()
        self.against[row], self.quality[row] = evidence.against, evidence.quality
        self.is_first[row], self.relevance_now[row] = is_first, relevance_now
        self.first_count += is_first
        return row

    def features(self, rows: NDArray[np.intp], idf: Column) -> Column:
        """Return tf times idf of the features of rows, each kind scaled to its weight; 0 for empty slots."""
        values: Column = self.amounts[rows].astype(np.float32) * (idf[self.slots[rows]] / np.float32(AMOUNT_STEPS))
        for columns, weight in KINDS.values():
            lengths = np.sqrt((values[:, columns] ** 2).sum(axis=1, keepdims=True))
            values[:, columns] *= np.float32(weight**0.5) / np.where(lengths > 0.0, lengths, np.float32(1.0))
        return values

    def directions(self, rows: NDArray[np.intp], mean: Column) -> Column:
        return directions(self.vectors[rows], mean)


def directions(vectors: NDArray[np.int8], mean: Column) -> Column:
    """Return unit vectors from the mean page to each page, scaled by VECTOR_SCALE; zeros for pages without a vector."""
    rows: Column = vectors.astype(np.float32) / np.float32(STEPS) - mean
    rows[~vectors.any(axis=1)] = 0.0
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    rows *= np.float32(VECTOR_SCALE) / np.where(lengths > 0.0, lengths, np.float32(1.0))
    return rows
