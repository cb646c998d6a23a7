"""Relevance as the probability that a page belongs to the target classes of a trained model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import runs
from lycosa.core.errors import InputError
from lycosa.core.types import Judgement, Page
from lycosa.judges.base import CONTEXT_SCORE, FACETS, StatelessJudge, facet_texts
from lycosa.judges.model import TrainedModel
from lycosa.judges.taxonomy import resolve_targets
from lycosa.text.bags import Bags
from lycosa.text.model_words import ModelWords
from lycosa.text.vocabulary import PageWords, Vocabulary


class ModelJudge(StatelessJudge):
    """Trained classifier: beta = P(target classes | words of the page); alpha = lift of the anchor over the prior.

    A target names a class, or a branch of the taxonomy with all classes below it; the probabilities of all target
    classes are added. alpha = max(0, (P(target | words) - prior) / (1 - prior)): 0 for an anchor that is no more likely
    than the share of the target classes among the training pages, 1 for certainty. A page or anchor without known words
    gets 0. The facets "context" and "url" are computed like alpha from the words around the link and in its URL;
    "context_score" is P of the words around it, without the prior.

    >>> from lycosa.text.naive_bayes import NaiveBayes
    >>> bags = Bags.of([([0, 1], [2, 1]), ([2, 1], [2, 1])])
    >>> model = TrainedModel(["Sea/Reefs", "Trains"], ["coral", "new", "rail"], [1, 1],
    ...     NaiveBayes.fit(bags, np.array([0, 1]), 2, 3, smoothing=1, length=8))
    >>> judge, words = ModelJudge(model, ["Sea"]), Vocabulary()
    >>> page = Page("ok", marked="Coral, coral, coral")
    >>> judgement = judge.judge(page, words.read(page))
    >>> round(judgement.relevance, 3), judgement.data["classes"][0][0], judgement.data["target"]
    (0.82, 'Sea/Reefs', True)

    Paper: Guan et al. 2008 (classifiers judge pages), Altingovde and Ulusoy 2004 and Chakrabarti et al. 1999 (soft
    focus: the probability of the target topics in a taxonomy). Ours: alpha, which the latter two do not have.
    """

    offers = (*FACETS, CONTEXT_SCORE)

    def __init__(self, model: TrainedModel, targets: Iterable[str] = (), threshold: float = 0.5) -> None:
        if not 0 < threshold <= 1:
            message = f"the threshold is {threshold:g}: with a model it is a probability, above 0 and up to 1"
            raise InputError("out-of-range", message)
        self.model = model
        self.threshold = threshold
        self.targets, is_target = resolve_targets(model.classes, list(targets) or model.default_targets)
        self.is_target = np.array(is_target)
        self.prior = float(model.priors[self.is_target].sum())
        parts = repr((model.digest, sorted(self.targets)))
        self.fingerprint = hashlib.sha256(parts.encode()).hexdigest()
        self._vocabulary: Vocabulary | None = None
        self._words = ModelWords(model.column_of)

    @classmethod
    def load(cls, path: str | Path, targets: Iterable[str] = (), **options: Any) -> ModelJudge:
        return cls(TrainedModel.load(Path(path)), targets, **options)

    def judge(self, page: Page, reading: Any) -> Judgement:
        assert isinstance(reading, PageWords), "the judge needs a reader; pass reader=Vocabulary() to the engine"
        if self._vocabulary is not reading.vocabulary:
            self._vocabulary, self._words = reading.vocabulary, ModelWords(self.model.column_of)
        link_relevances = self._link_relevances(page, reading, self._words.follow(reading.vocabulary.terms))
        facets = self._facets(page, reading.language, link_relevances)
        columns, counts, _ = self._words.of(reading.terms)
        if not len(columns):
            return Judgement(0.0, link_relevances, {"classes": [], "target": False}, facets)
        probabilities = self.model.classifier.probabilities(Bags.of([(columns, counts)]))[0]
        best = np.argsort(-probabilities, kind="stable")[:5]  # the five best classes go into the log
        classes = [[self.model.classes[number], round(float(probabilities[number]), 4)] for number in best.tolist()]
        relevance = min(1.0, float(probabilities[self.is_target].sum()))
        # The target classes count as one class, since their sum may exceed the likeliest other class.
        target = relevance >= float(probabilities[~self.is_target].max(initial=0.0))
        return Judgement(relevance, link_relevances, {"classes": classes, "target": target}, facets)

    def _link_relevances(self, page: Page, reading: PageWords, columns: NDArray[np.int32]) -> NDArray[np.float32]:
        """Judge the anchors by the words between the link marks of the text."""
        starts, ends = reading.spans()
        if not len(starts):
            return self._lift(self._text_probabilities(page.links.anchors, reading.language))
        positions = np.array(page.links.positions, np.intp)
        marked = np.flatnonzero(positions < len(starts))
        begin = starts[positions[marked]]
        lengths = np.minimum(ends[positions[marked]] - begin, 64)  # nested links could make this quadratic
        ids = reading.ids[runs(begin, lengths)]
        links = np.repeat(marked, lengths)
        is_term = ids >= 0
        known = columns[ids[is_term]]
        return self._lift(self._link_probabilities(links[is_term], known.astype(np.intp), len(page.links)))

    def _facets(
        self, page: Page, language: str, link_relevances: NDArray[np.float32]
    ) -> dict[str, NDArray[np.float32]]:
        texts = {"context" if name == CONTEXT_SCORE else name for name in self.facets} & set(FACETS)
        by_text = {name: self._text_probabilities(facet_texts(page.links, name), language) for name in texts}
        facets = {name: self._lift(by_text[name]) if name in by_text else link_relevances for name in self.facets}
        if CONTEXT_SCORE in facets:
            facets[CONTEXT_SCORE] = by_text["context"].astype(np.float32)
        return facets

    def _lift(self, probabilities: NDArray[np.float64]) -> NDArray[np.float32]:
        added = np.clip((probabilities - self.prior) / max(1e-9, 1.0 - self.prior), 0.0, 1.0)
        return added.astype(np.float32)

    def _text_probabilities(self, texts: list[str], language: str) -> NDArray[np.float64]:
        return self._link_probabilities(*self._words.of_texts(texts, language), len(texts))

    def _link_probabilities(
        self, links: NDArray[np.intp], columns: NDArray[np.intp], count: int
    ) -> NDArray[np.float64]:
        by_text = np.zeros(count)
        links, columns = links[columns >= 0], columns[columns >= 0]
        if not len(links):
            return by_text
        keys, counts = np.unique(links * len(self.model.terms) + columns, return_counts=True)
        owners, terms = keys // len(self.model.terms), keys % len(self.model.terms)
        with_words, starts = np.unique(owners, return_index=True)
        bags = Bags(np.append(starts, len(owners)).astype(np.intp), terms, counts.astype(np.float64))
        by_text[with_words] = np.minimum(1.0, self.model.classifier.probabilities(bags)[:, self.is_target].sum(axis=1))
        return by_text
