"""Texts widened by the synonyms of their words."""

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
    """The cosines of Batsakis' equation 10: of a page and the widened topic, of a widened anchor and the widened topic.

    A text is widened by all synonyms of its terms, in every sense; each takes the weight of the term that it came from
    (of several, the largest). The words of a phrase stand beside it, with its weight. Vectors are of stems and phrases,
    w = (1 + log f) idf, f how often a term is there; with `literal`, f idf. (The thesis's f / max f, its eq. 1, is a
    factor of a whole text, and cancels.) As the log keeps the words of a page but not their order, a page is taken to
    have a phrase as often as it has the rarest of its words.

    >>> from lycosa.text.ontology import Ontology
    >>> cars = Ontology.build({"car": ["car", "automobile"], "train": ["train"]}, broader=[])
    >>> expansion = Expansion(Glossary(cars, "car"), Rarity("none"))
    >>> expansion.anchors(["automobiles", "a train"], Vocabulary()).round(3).tolist()   # both are car and automobile
    [1.0, 0.0]

    Paper: Batsakis 2007, section 3.3 (numbered 3.2.3 there), equation 10.
    """

    def __init__(self, glossary: Glossary, rarity: Rarity, literal: bool = False) -> None:
        self.glossary, self.rarity, self.literal = glossary, rarity, literal
        self._wide: dict[str, _Wide] = {}

    def page(self, bag: Terms, vocabulary: Vocabulary, language: str = ENGLISH) -> float:
        """The cosine of a page, given as its words and their counts."""
        wide = self._in(language)
        keys, query = self._topic(wide, vocabulary)
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
        """The cosine of each of some short texts, widened."""
        wide = self._in(language)
        bags = wide.words.bags(texts)
        distinct, at = np.unique(bags.columns, return_inverse=True)
        stems = [wide.words.stems[number] for number in distinct.tolist()]
        rarity = self.rarity.of(stems, vocabulary, language)[at]
        owners, terms, weights = wide.widen(bags.rows(), bags.columns, self._tf(bags.counts) * rarity)
        keys, query = self._topic(wide, vocabulary)
        column = np.zeros(len(wide.keys))
        column[[wide.number[key] for key in keys]] = query
        dots = np.bincount(owners, weights * column[terms], len(bags))
        squares = np.bincount(owners, weights * weights, len(bags)) * float(query @ query)
        cosines: Numbers = np.minimum(1.0, dots / np.where(squares > 0, np.sqrt(squares), 1.0))
        return cosines

    def _in(self, language: str) -> _Wide:
        words, wide = self.glossary.words(language), self._wide.get(language)
        if wide is None or wide.words is not words:
            wide = self._wide[language] = _Wide(words)
        return wide

    def _topic(self, wide: _Wide, vocabulary: Vocabulary) -> tuple[list[Key], Numbers]:
        words = wide.words
        rarity = self.rarity.of([words.stems[number] for number in words.topic.tolist()], vocabulary, words.language)
        _, terms, weights = wide.widen(np.zeros_like(words.topic), words.topic, self.glossary.weights * rarity)
        return [wide.keys[number] for number in terms.tolist()], weights

    def _tf(self, counts: NDArray[Any]) -> Numbers:
        if self.literal:
            return counts.astype(np.float64)
        damped: Numbers = np.where(counts > 0, 1.0 + np.log(np.maximum(counts, 1)), 0.0)
        return damped

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_wide": {}}  # they are only remembered


class _Wide:
    """What each term of a language is widened to, found out once."""

    def __init__(self, words: LanguageTerms) -> None:
        self.words = words
        self.keys: list[Key] = []
        self.number: dict[Key, int] = {}
        self._of: dict[int, list[int]] = {}

    def widen(self, owners: NDArray[Any], terms: NDArray[Any], weights: Numbers) -> tuple[Any, Any, Numbers]:
        """Owners, terms and weights, synonyms included; each term of an owner once, with the largest weight."""
        wider = [self._of.get(term) or self._look(term) for term in terms.tolist()]
        lengths = np.array([len(some) for some in wider], np.intp)
        flat = np.array([number for some in wider for number in some], np.int64)
        pairs, at = np.unique(np.repeat(owners, lengths).astype(np.int64) << 32 | flat, return_inverse=True)
        largest = np.zeros(len(pairs))
        np.maximum.at(largest, at, np.repeat(weights, lengths))
        return pairs >> 32, pairs & 0xFFFFFFFF, largest

    def _look(self, term: int) -> list[int]:
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
    """How often a page has a word; a phrase, as often as the rarest of its words."""
    least = 1 << 16
    for stem in key:
        number = vocabulary.id_of.get(stem)
        at = len(bag.ids) if number is None else int(np.searchsorted(bag.ids, number))
        if at == len(bag.ids) or bag.ids[at] != number:
            return 0
        least = min(least, int(bag.counts[at]))
    return least
