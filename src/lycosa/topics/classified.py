"""A trained model as a topic: the probability that a page is of a wanted class."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.errors import InputError
from lycosa.core.types import Judgement, Page, Visit
from lycosa.text.addresses import words_of
from lycosa.text.bags import Bags
from lycosa.text.tokens import OPEN_TOKEN, fold, stem_all
from lycosa.text.vocabulary import Reading, Vocabulary
from lycosa.topics.model import Model
from lycosa.topics.taxonomy import wanted

BEST = 5
"""Classes that are remembered of a page."""

MOST_WORDS = 64
"""Words of an anchor that count: links may be nested, and then the words of one are those of all."""

_MOST_TOKENS = 200_000


class Classified:
    """beta = P(wanted classes | words of the page), alpha = what the words of the anchor add to the prior.

    P is the model's: Naive Bayes, SVM or neural network. A target names a class or a branch of the taxonomy, which
    means all classes below it; the wanted classes count together. alpha = max(0, (P(wanted | words) - prior) / (1 -
    prior)), so it is 0 for an anchor that says no more than the share of the wanted classes among the training pages,
    and 1 for one that leaves no doubt. Page or anchor without a word that the model knows: 0. The facets "context" and
    "url" are computed as alpha is, from the words around the link and in its address.

    Parameters: the `model`, the `targets` (none: see taxonomy.wanted), the `threshold`.

    >>> from lycosa.text.naive_bayes import NaiveBayes
    >>> bags = Bags.of([([0, 1], [2, 1]), ([2, 1], [2, 1])])
    >>> model = Model(["Sea/Reefs", "Trains"], ["coral", "new", "rail"], [1, 1],
    ...     NaiveBayes.fit(bags, np.array([0, 1]), 2, 3, smoothing=1, length=8))
    >>> topic, words = Classified(model, ["Sea"]), Vocabulary()
    >>> page = Page("ok", marked="Coral, coral, coral")
    >>> found = topic.judge(page, words.read(page))
    >>> round(found.beta, 3), found.data["classes"][0][0], found.data["target"]
    (0.82, 'Sea/Reefs', True)

    Paper: Guan et al. 2008 (classifiers judge pages), Altingovde and Ulusoy 2004 and Chakrabarti et al. 1999 (soft
    focus: the probability of the target topics in a taxonomy). Ours: alpha, which the latter two do not have.
    """

    def __init__(self, model: Model, targets: Iterable[str] = (), threshold: float = 0.5) -> None:
        if not 0 < threshold <= 1:
            raise InputError(f"the threshold is {threshold:g}: with a model it is a probability, above 0 and up to 1")
        self.model = model
        self.threshold = threshold
        self.facets: tuple[str, ...] = ()
        self.targets, marks = wanted(model.classes, targets)
        self.wanted = np.array(marks)
        self.prior = float(model.priors[self.wanted].sum())
        parts = repr((model.digest, sorted(self.targets)))
        self.fingerprint = hashlib.sha256(parts.encode()).hexdigest()
        self._vocabulary: Vocabulary | None = None
        self._columns = np.zeros(0, np.int32)
        self._mapped = 0
        self._tokens: dict[str, dict[bytes, int]] = {}

    @classmethod
    def load(cls, path: str | Path, targets: Iterable[str] = (), **own: Any) -> Classified:
        """With the model in a file."""
        return cls(Model.load(Path(path)), targets, **own)

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Classify the page, and what each link says."""
        assert isinstance(reading, Reading), "a model needs a reader; pass reader=Vocabulary() to the engine"
        columns = self._columns_of(reading.vocabulary)
        mine = columns[reading.terms.ids]
        in_model = mine >= 0
        alphas = self._alphas(page, reading, columns)
        facets = {name: self._facet(name, page, reading.language, alphas) for name in self.facets}
        if not in_model.any():
            return Judgement(0.0, alphas, {"classes": [], "target": False}, facets)
        own_columns = mine[in_model].astype(np.intp)
        bag = Bags(
            np.array([0, len(own_columns)], np.intp), own_columns, reading.terms.counts[in_model].astype(np.float64)
        )
        probabilities = self.model.classifier.probabilities(bag)[0]
        best = np.argsort(-probabilities, kind="stable")[:BEST]
        classes = [[self.model.classes[number], round(float(probabilities[number]), 4)] for number in best.tolist()]
        beta = min(1.0, float(probabilities[self.wanted].sum()))
        # The wanted classes count as one: together they may outweigh the likeliest other.
        target = beta >= float(probabilities[~self.wanted].max(initial=0.0))
        return Judgement(beta, alphas, {"classes": classes, "target": target}, facets)

    def learn(self, visit: Visit) -> None:
        """Nothing to learn: the model is finished."""

    # -- words to columns of the model -----------------------------------------------------------------------------

    def _columns_of(self, words: Vocabulary) -> NDArray[np.int32]:
        """For each term of the vocabulary its column, -1 for none; only new terms are looked up."""
        if self._vocabulary is not words:
            self._vocabulary, self._mapped = words, 0
        if self._mapped < len(words.terms):
            column_of = self.model.column_of
            new = words.terms[self._mapped :]
            self._columns = fit(self._columns, len(words.terms))
            self._columns[self._mapped : len(words.terms)] = [column_of.get(term, -1) for term in new]
            self._mapped = len(words.terms)
        return self._columns

    def _alphas(self, page: Page, reading: Reading, columns: NDArray[np.int32]) -> NDArray[np.float32]:
        """What the anchors say; their words are those between the marks in the text."""
        starts, ends = reading.spans()
        if not len(starts):
            return self._said(*self._texts(page.links.anchors, reading.language), len(page.links))
        positions = np.array(page.links.positions, np.intp)
        marked = np.flatnonzero(positions < len(starts))
        begin = starts[positions[marked]]
        lengths = np.minimum(ends[positions[marked]] - begin, MOST_WORDS)
        first = np.cumsum(lengths) - lengths
        ids = reading.ids[np.repeat(begin - first, lengths) + np.arange(int(lengths.sum()))]
        links = np.repeat(marked, lengths)
        real = ids >= 0
        mine = columns[ids[real]]
        return self._said(links[real][mine >= 0], mine[mine >= 0].astype(np.intp), len(page.links))

    def _facet(self, name: str, page: Page, language: str, alphas: NDArray[np.float32]) -> NDArray[np.float32]:
        if name == "context":
            texts = page.links.contexts
        elif name == "url":
            texts = [words_of(url) for url in page.links.urls]
        else:
            return alphas
        return self._said(*self._texts(texts, language), len(page.links))

    def _texts(self, texts: Sequence[str], language: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The known words of some texts: for each the number of its text, and its column."""
        joined = "\x01".join(text.replace("\x01", " ").replace("\x02", " ") for text in texts)
        tokens = fold(joined, language).split()
        if sum(map(len, self._tokens.values())) > _MOST_TOKENS:
            self._tokens.clear()
        columns_of = self._tokens.setdefault(language, {})
        new = [token for token in dict.fromkeys(tokens) if token not in columns_of]
        column_of = self.model.column_of
        columns_of.update(
            (token, column_of.get(stem, -1)) for token, stem in zip(new, stem_all(new, language), strict=True)
        )
        columns_of[OPEN_TOKEN] = -2
        columns = np.array([columns_of[token] for token in tokens], np.intp)
        text = np.cumsum(columns == -2)
        return text[columns >= 0], columns[columns >= 0]

    def _said(self, links: NDArray[np.intp], columns: NDArray[np.intp], count: int) -> NDArray[np.float32]:
        """alpha of each link, given its known words; `links` and `columns` go together."""
        alphas = np.zeros(count, np.float32)
        if not len(links):
            return alphas
        keys, counts = np.unique(links * len(self.model.terms) + columns, return_counts=True)
        owners, terms = keys // len(self.model.terms), keys % len(self.model.terms)
        speaking, starts = np.unique(owners, return_index=True)
        bags = Bags(np.append(starts, len(owners)).astype(np.intp), terms, counts.astype(np.float64))
        probabilities = self.model.classifier.probabilities(bags)[:, self.wanted].sum(axis=1)
        alphas[speaking] = np.clip((probabilities - self.prior) / max(1e-9, 1.0 - self.prior), 0.0, 1.0)
        return alphas
