"""Words, weighted or not: how near a page and an anchor are to them in the vector space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.types import Judgement, Page, Visit
from lycosa.text.tokens import stems
from lycosa.text.vocabulary import Reading, Vocabulary


class Query:
    """Cosine of (1 + log tf) idf vectors, page against query (beta) and anchor against query (alpha).

    idf is learned as the crawl goes; before the first page all words weigh the same. A weight of a term multiplies its
    idf in the query. `stemmed` says that the words are stems already.

    >>> topic, words = Query("coral reef"), Vocabulary()
    >>> page = Page("ok", marked="coral coral reef")
    >>> round(topic.judge(page, words.read(page)).beta, 3)      # (1.693 + 1) / sqrt(2 (1.693^2 + 1))
    0.968
    """

    def __init__(self, words: str | Mapping[str, float], threshold: float = 0.1, *, stemmed: bool = False) -> None:
        self.threshold = threshold
        self.weights: dict[str, float] = {}
        pairs = words.items() if isinstance(words, Mapping) else [(words, 1.0)]
        for text, weight in pairs:
            for stem in [text] if stemmed else stems(text):
                self.weights[stem] = self.weights.get(stem, 0.0) + float(weight)
        if not self.weights or not any(self.weights.values()):
            raise InputError(
                f"the topic {words!r} has no words to look for: give it nouns, not only short or common words"
            )

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Score the page, and each link by its anchor."""
        assert isinstance(reading, Reading), "a query needs a reader; pass reader=Vocabulary() to the engine"
        words = reading.vocabulary
        wanted, weights = self._known(words)
        alphas = np.zeros(len(page.links), np.float32)
        if not len(wanted):
            return Judgement(0.0, alphas)
        query = weights * words.idf(wanted)
        length = float(np.sqrt(self._unknown(words, query)))
        terms = reading.terms
        at = np.searchsorted(terms.ids, wanted)
        at[at == len(terms.ids)] = 0
        hit = terms.ids[at] == wanted if len(terms.ids) else np.zeros(len(wanted), bool)
        if not hit.any():
            return Judgement(0.0, alphas)
        vector = (1.0 + np.log(terms.counts)) * words.idf(terms.ids)
        beta = float(vector[at[hit]] @ query[hit]) / (float(np.sqrt(vector @ vector)) * length)
        self._score_anchors(page, reading, dict(zip(wanted.tolist(), query.tolist(), strict=True)), length, alphas)
        return Judgement(min(1.0, beta), alphas)

    def learn(self, visit: Visit) -> None:
        """What there is to learn (idf), the vocabulary learns."""

    def _known(self, words: Vocabulary) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """The query's terms that some page has used, as sorted ids, and their weights."""
        pairs = sorted((words.id_of[stem], weight) for stem, weight in self.weights.items() if stem in words.id_of)
        return np.array([i for i, _ in pairs], np.uint32), np.array([w for _, w in pairs])

    def _unknown(self, words: Vocabulary, query: NDArray[np.float64]) -> float:
        """Squared length of the query, with the terms that no page has used yet."""
        rest = sum(weight**2 for stem, weight in self.weights.items() if stem not in words.id_of)
        rarest = float(np.log((words.pages + 1) / 0.5)) + 1.0
        return float(query @ query) + rest * rarest**2

    def _score_anchors(
        self,
        page: Page,
        reading: Reading,
        query: dict[int, float],
        length: float,
        alphas: NDArray[np.float32],
    ) -> None:
        """Only links with a word of the query in them can score: find those, and work them out one by one."""
        starts, ends = reading.spans()
        ids, links = reading.ids, page.links
        if not len(starts):
            id_of = reading.vocabulary.id_of
            for number, anchor in enumerate(links.anchors):
                terms = [id_of[stem] for stem in stems(anchor) if stem in id_of]
                if not query.keys().isdisjoint(terms):
                    alphas[number] = self._cosine(terms, query, length, reading.vocabulary)
            return
        wanted = np.zeros(len(reading.vocabulary.terms) + 3, bool)  # three more, for the ids that are no terms
        wanted[list(query)] = True
        places = np.flatnonzero(wanted[ids])
        inside = np.searchsorted(starts, places, side="right") - 1
        inside = inside[(inside >= 0) & (places < ends[inside])]
        hit = set(inside.tolist())
        for number, position in enumerate(links.positions):
            if position in hit:
                words = ids[starts[position] : ends[position]]
                terms = words[words >= 0].tolist()
                alphas[number] = self._cosine(terms, query, length, reading.vocabulary)

    @staticmethod
    def _cosine(terms: list[int], query: dict[int, float], length: float, words: Vocabulary) -> float:
        counts = Counter(terms)
        ids = np.fromiter(counts, np.uint32, len(counts))
        vector = (1.0 + np.log(np.fromiter(counts.values(), np.float64, len(counts)))) * words.idf(ids)
        dot: float = sum(value * query.get(term, 0.0) for term, value in zip(counts, vector.tolist(), strict=True))
        return min(1.0, dot / (float(np.sqrt(vector @ vector)) * length))
