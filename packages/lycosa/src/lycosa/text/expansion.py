"""Query expansion by synonyms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Terms
from lycosa.text.background import Rarity
from lycosa.text.glossary import Glossary, LanguageTerms, stems_of
from lycosa.text.languages import ENGLISH
from lycosa.text.vocabulary import Vocabulary

Numbers = NDArray[np.float64]
Key = tuple[str, ...]  # stems of a word or phrase


class Expansion:
    """The two cosines of Batsakis' equation 10: page and expanded topic, expanded anchor and expanded topic.

    A text is expanded by all synonyms of its terms, in every sense; each gets the weight of the term that it came from
    (the largest of several). The words of a phrase are added with the weight of the phrase. Vectors are of stems and
    phrases, w = (1 + log f) idf with f the term frequency; with `literal`, f idf. (The thesis's f / max f, its eq. 1,
    cancels.) The log keeps the words of a page but not their order, so the frequency of a phrase is that of its rarest
    word.

    >>> from lycosa.text.ontology import Ontology
    >>> cars = Ontology.build({"car": ["car", "automobile"], "train": ["train"]}, broader=[])
    >>> expansion = Expansion(Glossary(cars, "car"), Rarity("none"))
    >>> expansion.anchors(["automobiles", "a train"], Vocabulary()).round(3).tolist()   # both are car and automobile
    [1.0, 0.0]

    Paper: Batsakis 2007, section 3.3 (numbered 3.2.3 there), equation 10.
    """

    def __init__(self, glossary: Glossary, rarity: Rarity, literal: bool = False) -> None:
        self.glossary, self.rarity, self.literal = glossary, rarity, literal
        self._expansions: dict[str, _LanguageExpansions] = {}

    def page(self, bag: Terms, vocabulary: Vocabulary, language: str = ENGLISH) -> float:
        expansions = self._in(language)
        keys, query = self._topic(expansions, vocabulary)
        counts = np.array([_count(key, bag, vocabulary) for key in keys], np.float64)
        if not counts.any():
            return 0.0
        weights = self._tf(counts) * self.rarity.of(keys, vocabulary, language)
        rest = self._tf(bag.counts) * self.rarity.of_ids(bag.ids, vocabulary, language)
        phrases = np.array([len(key) > 1 for key in keys])
        square = float(rest @ rest) + float(weights[phrases] @ weights[phrases])
        length = np.sqrt(square * float(query @ query))
        return min(1.0, float(weights @ query) / float(length)) if length else 0.0

    def anchors(self, texts: Sequence[str], vocabulary: Vocabulary, language: str = ENGLISH) -> Numbers:
        """Return the cosine of each expanded text and the expanded topic."""
        expansions = self._in(language)
        bags = expansions.words.bags(texts)
        distinct, at = np.unique(bags.columns, return_inverse=True)
        stems = [expansions.words.stems[number] for number in distinct.tolist()]
        rarity = self.rarity.of(stems, vocabulary, language)[at]
        owners, terms, weights = expansions.expand(bags.rows(), bags.columns, self._tf(bags.counts) * rarity)
        keys, query = self._topic(expansions, vocabulary)
        column = np.zeros(len(expansions.keys))
        column[[expansions.number[key] for key in keys]] = query
        dots = np.bincount(owners, weights * column[terms], len(bags))
        squares = np.bincount(owners, weights * weights, len(bags)) * float(query @ query)
        cosines: Numbers = np.minimum(1.0, dots / np.where(squares > 0, np.sqrt(squares), 1.0))
        return cosines

    def _in(self, language: str) -> _LanguageExpansions:
        words, expansions = self.glossary.words(language), self._expansions.get(language)
        if expansions is None or expansions.words is not words:
            expansions = self._expansions[language] = _LanguageExpansions(words)
        return expansions

    def _topic(self, expansions: _LanguageExpansions, vocabulary: Vocabulary) -> tuple[list[Key], Numbers]:
        words = expansions.words
        rarity = self.rarity.of([words.stems[number] for number in words.topic.tolist()], vocabulary, words.language)
        _, terms, weights = expansions.expand(np.zeros_like(words.topic), words.topic, self.glossary.weights * rarity)
        return [expansions.keys[number] for number in terms.tolist()], weights

    def _tf(self, counts: NDArray[Any]) -> Numbers:
        if self.literal:
            return counts.astype(np.float64)
        damped: Numbers = np.where(counts > 0, 1.0 + np.log(np.maximum(counts, 1)), 0.0)
        return damped

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_expansions": {}}  # without the cache


class _LanguageExpansions:
    """Cache of the expansion of each term of a language."""

    def __init__(self, words: LanguageTerms) -> None:
        self.words = words
        self.keys: list[Key] = []
        self.number: dict[Key, int] = {}
        self._of: dict[int, list[int]] = {}

    def expand(self, owners: NDArray[Any], terms: NDArray[Any], weights: Numbers) -> tuple[Any, Any, Numbers]:
        """Return owners, terms and weights including synonyms; each term of an owner once, with its largest weight."""
        expanded = [self._of.get(term) or self._expand_term(term) for term in terms.tolist()]
        lengths = np.array([len(some) for some in expanded], np.intp)
        flat = np.array([number for some in expanded for number in some], np.int64)
        pairs, at = np.unique(np.repeat(owners, lengths).astype(np.int64) << 32 | flat, return_inverse=True)
        largest = np.zeros(len(pairs))
        np.maximum.at(largest, at, np.repeat(weights, lengths))
        return pairs >> 32, pairs & 0xFFFFFFFF, largest

    def _expand_term(self, term: int) -> list[int]:
        words = self.words
        own = words.stems[term]
        keys = [own, *((stem,) for stem in own)]
        if words.known:
            keys += stems_of(words.glossary.ontology.synonyms(words.terms[term]), words.language)
        synonyms = self._of[term] = []
        for key in dict.fromkeys(keys):
            if key:
                synonyms.append(self.number.setdefault(key, len(self.keys)))
                if synonyms[-1] == len(self.keys):
                    self.keys.append(key)
        return synonyms


def _count(key: Key, bag: Terms, vocabulary: Vocabulary) -> int:
    """Return the frequency of a word in a page; for a phrase, that of its rarest word."""
    least = 1 << 16
    for stem in key:
        number = vocabulary.id_of.get(stem)
        at = len(bag.ids) if number is None else int(np.searchsorted(bag.ids, number))
        if at == len(bag.ids) or bag.ids[at] != number:
            return 0
        least = min(least, int(bag.counts[at]))
    return least
