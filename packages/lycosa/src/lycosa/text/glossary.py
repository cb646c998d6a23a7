"""Words and phrases of texts in an ontology, and their similarity to a topic.

All judges and strategies that use an ontology read texts here. Each distinct word of a crawl is looked up once: its
term, stem and row of similarities are cached, so that a page takes a few array operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.errors import InputError
from lycosa.text.bags import Bags
from lycosa.text.languages import ENGLISH
from lycosa.text.ontology import Ontology
from lycosa.text.similarity import Measure, WordSimilarity
from lycosa.text.tokens import OPEN_TOKEN, Lexicon, fold_all, stem_all
from lycosa.text.vocabulary import Vocabulary

MAX_CACHED_WORDS, MAX_CACHED_VALUES = 100_000, 10_000_000  # per language; the cache is emptied when it exceeds them
MAX_TERMS = 200  # each term is compared with the whole ontology, which takes 1 MB for WordNet
_BITS = 20
_TIMES, _MIX = np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(64 - _BITS)

_TOLERANCE = 1e-6  # tolerance of the floor for rounding errors
_WORDS = 3  # words of a phrase that determine its frequency
_BREAK = 0  # id of a break between texts
_NONE, _UNKNOWN = -1, -2  # instead of a term: a stop word, a phrase not looked up yet
Numbers = NDArray[np.float64]


class Glossary:
    """Terms of a topic and of texts. A term is a phrase of the ontology (the longest match first) or a single word.

    The last word of a phrase may be inflected. Terms with the same stem and senses are the same term; stop words are
    dropped. Terms that the ontology does not know are similar only to topic terms with the same stem.

    The words of a topic phrase are terms of the topic as well, and share its weight: 'violin maker' is far from
    'violin' in WordNet, but pages about either of them are relevant. If the ontology has a language (WordNet is
    English), it does not apply to pages in other languages: only equal stems are similar there.

    >>> reefs = Ontology.build(
    ...     {"reef": ["reef"], "coral reef": ["coral reef"], "atoll": ["atoll"]},
    ...     broader=[("coral reef", "reef"), ("atoll", "coral reef")])
    >>> glossary = Glossary(reefs, "bleaching of a coral reef", "ehrig")
    >>> dict(zip(glossary.topic, glossary.weights.tolist()))
    {'bleaching': 1.0, 'coral reef': 1.0, 'coral': 0.5, 'reef': 0.5}
    >>> words = glossary.words()
    >>> bags = words.bags(["Coral reefs, reefs and atolls: bleached!"])
    >>> [words.terms[number] for number in bags.columns], bags.counts.tolist()
    (['bleaching', 'coral reef', 'reef', 'atolls'], [1.0, 1.0, 1.0, 1.0])
    >>> words.similarities(bags.columns).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.5], [0.0, 0.5, 0.0, 1.0], [0.0, 0.5, 0.0, 0.25]]
    """

    def __init__(
        self,
        ontology: Ontology,
        topic: str | Mapping[str, float],
        measure: Measure = "li",
        floor: float = 0.0,
        **parameters: float,
    ) -> None:
        if not 0 <= floor <= 1:
            raise ValueError(f"'floor' is {floor:g}: it must be from 0 to 1")
        self.ontology, self.floor = ontology, floor
        self.topic: tuple[str, ...] = ()
        self._words: dict[str, LanguageTerms] = {}
        reader = LanguageTerms(self, ENGLISH)
        weight_of: dict[int, float] = {}
        for text, weight in topic.items() if isinstance(topic, Mapping) else [(topic, 1.0)]:
            bag = reader.bags([text])
            for number, count in zip(bag.columns.tolist(), bag.counts.tolist(), strict=True):
                parts = reader.parts(number)
                for term, share in ((number, 1.0), *((part, 1 / len(parts)) for part in parts)):
                    weight_of[term] = weight_of.get(term, 0.0) + float(weight) * count * share
        self.topic = tuple(reader.terms[number] for number in weight_of)
        self.weights: Numbers = np.array(list(weight_of.values()))
        if not self.weights.any():
            message = f"the topic {topic!r} has no words to search for: use nouns, not only short or common words"
            raise InputError("empty-topic", message)
        if len(self.topic) > MAX_TERMS:
            message = f"the topic has {len(self.topic):,} terms, each to be compared with all of {ontology.source}"
            advice = f"keep the {MAX_TERMS} most important ones, or use --judge vector"
            raise InputError("too-large", f"{message}: {advice}")
        self.notes = list(ontology.notes)  # shown to the user before the crawl starts
        if not any(map(ontology.is_word, self.topic)):
            words = ", ".join(self.topic[:3])
            self.notes.append(f"{ontology.source} has no word of the topic ({words}): only equal words match")
        self.similarity = WordSimilarity(ontology, self.topic, measure, **parameters)
        self.near_concepts = self.similarity.near_concepts(floor - _TOLERANCE)

    def words(self, language: str = ENGLISH) -> LanguageTerms:
        """Return the cache of terms for pages in a language."""
        words = self._words.pop(language, None)
        if words is None or words.is_full:
            words = LanguageTerms(self, language)
            if len(self._words) >= 8:  # maximum number of cached languages
                del self._words[next(iter(self._words))]
        self._words[language] = words
        return words

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_words": {}}  # without the cache


class LanguageTerms:
    """Terms of one language, numbered in the order in which they are first seen."""

    def __init__(self, glossary: Glossary, language: str) -> None:
        self.glossary, self.language = glossary, language
        self.known = glossary.ontology.language in ("", language)
        self.terms: list[str] = []  # as first seen; phrases as in the ontology
        self.stems: list[tuple[str, ...]] = []  # one for a word, several for a phrase
        self._rows: NDArray[np.float32] = np.zeros((0, len(glossary.topic)), np.float32)
        # base forms and senses of terms without a row
        self._new: dict[int, tuple[tuple[str, ...], tuple[int, ...]]] = {}
        self._ids = np.zeros((0, _WORDS), np.int64)
        self._vocabulary: Vocabulary | None = None
        self._number: dict[tuple[tuple[str, ...], tuple[int, ...]], int] = {}
        self._topic: dict[tuple[str, ...], list[int]] = {}
        # A topic term that is a stop word of this language gets an empty stem, which matches no word.
        own = [stems or ("",) for stems in stems_of(glossary.topic, language)] if glossary.topic else []
        for number, stems in enumerate(own):
            self._topic.setdefault(stems, []).append(number)
        phrases = _Phrases.of(glossary.ontology, language) if self.known else _Phrases(glossary.topic, language)
        self._phrases = phrases
        self._phrase_terms = np.full(len(phrases.texts), _UNKNOWN, np.int32)
        self._tokens = 0
        # For each raw token: its term as a single word, and its hashes inside and at the end of a phrase.
        self._term = np.zeros(0, np.int32)
        self._within, self._last = np.zeros(0, np.uint64), np.zeros(0, np.uint64)
        self._numbers([OPEN_TOKEN])
        self.topic = np.array(self._add(glossary.topic, own), np.intp)
        self._lexicon = Lexicon(self._numbers, bits=18)

    @property
    def is_full(self) -> bool:
        return self._tokens > MAX_CACHED_WORDS or len(self.terms) * len(self.glossary.topic) > MAX_CACHED_VALUES

    def bags(self, texts: Sequence[str]) -> Bags:
        if not texts:
            return Bags.of([])
        ids = self._lexicon.ids(fold_all(texts, self.language))
        owners = np.cumsum(ids == _BREAK)
        terms = self._term[ids]
        if self._phrases.longest:
            self._replace_phrases(ids, terms)
        named = np.flatnonzero(terms >= 0)
        keys, counts = np.unique(owners[named].astype(np.int64) << 32 | terms[named], return_counts=True)
        starts = np.searchsorted(keys, np.arange(len(texts) + 1, dtype=np.int64) << 32)
        return Bags(starts, (keys & 0xFFFFFFFF).astype(np.intp), counts.astype(np.float64))

    def similarities(self, terms: NDArray[Any]) -> Numbers:
        """Return a row of similarities to the topic's terms for each term; values below the floor are 0."""
        self._rows = fit(self._rows, len(self.terms))
        if self._new:
            rows = self.glossary.similarity.rows(list(self._new.values()), self.glossary.near_concepts)
            rows[rows < self.glossary.floor - _TOLERANCE] = 0.0
            self._rows[list(self._new)] = rows
            self._new.clear()
        likenesses: Numbers = self._rows[terms].astype(np.float64)
        return likenesses

    def pages(self, terms: NDArray[Any], vocabulary: Vocabulary) -> NDArray[np.int64]:
        """Return the number of pages with each term; for a phrase, the minimum over its first three words."""
        if self._vocabulary is not vocabulary:
            self._vocabulary, self._ids = vocabulary, self._ids[:0]
        self._ids = fit(self._ids, len(self.terms), _NONE)
        ids = self._ids[terms]
        unknown = np.flatnonzero(ids.min(axis=1, initial=0) < 0)
        if len(unknown):
            new, id_of = terms[unknown], vocabulary.id_of
            stems = [stem for term in new.tolist() for stem in (self.stems[term] * _WORDS)[:_WORDS]]
            numbers = np.array([id_of.get(stem, _NONE) for stem in stems], np.int64)
            ids[unknown] = self._ids[new] = numbers.reshape(-1, _WORDS)
        counts: NDArray[np.int64] = np.where(ids < 0, 0, vocabulary.frequency[ids]).min(axis=1)
        return counts

    def parts(self, number: int) -> list[int]:
        if len(self.stems[number]) < 2:
            return []
        ids = self._lexicon.ids(fold_all([self.terms[number]], self.language))
        return [term for term in self._term[ids].tolist() if term != _NONE]

    def _numbers(self, tokens: list[bytes]) -> list[int]:
        """Number new raw tokens and look up their terms and hashes."""
        first = self._tokens
        self._tokens = last = first + len(tokens)
        self._term = fit(self._term, last)
        self._within, self._last = fit(self._within, last), fit(self._last, last)
        stems = stem_all(tokens, self.language)
        self._within[first:last] = _hashes(tokens)
        self._last[first:last] = _hashes([stem.encode() or token for token, stem in zip(tokens, stems, strict=True)])
        texts = [token.decode("utf-8", "replace") for token in tokens]
        self._term[first:last] = self._add(texts, [(stem,) if stem else () for stem in stems])
        return [_BREAK if token == OPEN_TOKEN else number for number, token in enumerate(tokens, first)]

    def _add(self, texts: Sequence[str], stems: Sequence[tuple[str, ...]]) -> list[int]:
        """Return the number of each term; _NONE for those without a stem."""
        look_up = self.glossary.ontology.look_up
        numbers: list[int] = []
        for text, own in zip(texts, stems, strict=True):
            senses = look_up(text) if own and self.known and not text.isdigit() else ((), ())
            number = self._number.setdefault((own, senses[1]), len(self.terms)) if own else _NONE
            numbers.append(number)
            if number == len(self.terms):
                self.terms.append(text)
                self.stems.append(own)
                if senses[1]:
                    self._new[number] = senses
                elif own in self._topic:
                    self._rows = fit(self._rows, len(self.terms))
                    self._rows[number, self._topic[own]] = 1.0
        return numbers

    def _replace_phrases(self, ids: NDArray[np.int32], terms: NDArray[np.int32]) -> None:
        places, lengths, phrases = self._phrases.find(self._within[ids], self._last[ids])
        numbers = self._phrase_terms[phrases]
        if (numbers == _UNKNOWN).any():
            new = np.unique(phrases[numbers == _UNKNOWN]).tolist()
            texts = [self._phrases.texts[phrase] for phrase in new]
            self._phrase_terms[new] = self._add(texts, stems_of(texts, self.language))
            numbers = self._phrase_terms[phrases]
        for more in range(1, int(lengths.max(initial=0))):
            terms[places[lengths > more] + more] = _NONE
        terms[places] = numbers


class _Phrases:
    """Phrase matcher on word hashes; the last word is hashed by its stem."""

    _all: ClassVar[WeakKeyDictionary[Ontology, dict[str, _Phrases]]] = WeakKeyDictionary()

    def __init__(self, phrases: Sequence[str], language: str) -> None:
        cut = [words.split() for words in fold_all(phrases, language).split(OPEN_TOKEN)]
        usable = [number for number, tokens in enumerate(cut) if 1 < len(tokens) <= 255]  # longer labels are dropped
        self.texts = [phrases[number] for number in usable]
        tokens = [cut[number] for number in usable]
        ends = stem_all([words[-1] for words in tokens], language)
        lengths = np.array([len(words) for words in tokens], np.intp)
        self.longest = int(lengths.max(initial=0))
        keys = np.zeros(len(tokens), np.uint64)
        # Filters by hash: pairs that are a phrase, and the greatest length of phrases that start with three words.
        self._two, self._three = np.zeros(1 << _BITS, bool), np.zeros(1 << _BITS, np.uint8)
        for length in np.unique(lengths).tolist():
            of = np.flatnonzero(lengths == length)
            columns = [_hashes([tokens[number][n] for number in of.tolist()]) for n in range(length - 1)]
            columns.append(_hashes([ends[number].encode() or tokens[number][-1] for number in of.tolist()]))
            keys[of] = _row(columns)
            if length == 2:
                self._two[_slots(keys[of])] = True
            else:
                self._three[_slots(_row(columns[:3]))] = length  # lengths ascend, so the greatest one stays
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    @classmethod
    def of(cls, ontology: Ontology, language: str) -> _Phrases:
        """Return the matcher of all phrases of an ontology (cached)."""
        of_language = cls._all.setdefault(ontology, {})
        if language not in of_language:
            words = ontology.dictionary.words
            labels = {word: None for number in range(len(ontology)) for word in words(number) if not word.isalnum()}
            of_language[language] = cls([word.replace("_", " ") for word in labels], language)
        return of_language[language]

    def find(
        self, within: NDArray[np.uint64], last: NDArray[np.uint64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Return start, length and number of the phrases in a text: leftmost first, the longest at each position."""
        matches: list[tuple[NDArray[np.intp], NDArray[np.intp], int]] = []
        for length, places in self._candidates(within, last):
            places = places[places + length <= len(within)]
            columns = [within[places + n] for n in range(length - 1)]
            keys = _row([*columns, last[places + length - 1]])
            at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            is_match = self._keys[at] == keys
            matches.append((places[is_match], self._order[at[is_match]], length))
        if not matches:
            return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.intp)
        places = np.concatenate([some for some, _, _ in matches])
        phrases = np.concatenate([some for _, some, _ in matches])
        lengths = np.repeat([length for _, _, length in matches], [len(some) for some, _, _ in matches])
        end, chosen = 0, []
        order = np.argsort(places, kind="stable")  # stable: the longest match of a place comes first
        spans = zip(order.tolist(), places[order].tolist(), (places + lengths)[order].tolist(), strict=True)
        for number, start, stop in spans:
            if start >= end:
                chosen.append(number)
                end = stop
        return places[chosen], lengths[chosen], phrases[chosen]

    def _candidates(
        self, within: NDArray[np.uint64], last: NDArray[np.uint64]
    ) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Yield each length, longest first, with the positions where such a phrase may begin."""
        if self.longest > 2 and len(within) > 2:
            two = _row([within[:-2], within[1:-1]])
            at_end, inside = (self._three[_slots(_row([two, third[2:]]))] for third in (last, within))
            max_lengths = np.maximum(at_end, inside)
            for length in range(int(max_lengths.max()), 2, -1):
                yield length, np.flatnonzero(max_lengths >= length)
        if len(within) > 1:
            yield 2, np.flatnonzero(self._two[_slots(_row([within[:-1], last[1:]]))])


def _row(columns: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    row = columns[0]
    for words in columns[1:]:
        row = row * _TIMES ^ words
    return row


def _slots(keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    slots: NDArray[np.intp] = ((keys * _MIX) >> _SHIFT).astype(np.intp)
    return slots


def _hashes(tokens: Sequence[bytes]) -> NDArray[np.uint64]:
    return np.fromiter(map(xxhash.xxh3_64_intdigest, tokens), np.uint64, len(tokens))


def stems_of(texts: Sequence[str], language: str) -> list[tuple[str, ...]]:
    """Return the stems of words or phrases, without stop words.

    >>> stems_of(["heads of state", "the"], "en")
    [('head', 'state'), ()]
    """
    cut = [tokens.split() for tokens in fold_all(texts, language).split(OPEN_TOKEN)]
    stems = iter(stem_all([token for tokens in cut for token in tokens], language))
    return [tuple(stem for _ in tokens if (stem := next(stems))) for tokens in cut]
