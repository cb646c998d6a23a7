"""How much pages are like some examples: DISCO's ranking, a mean of four."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.types import Scores, Terms

RATIO = 2
"""Counterexamples for each example, at most."""

SPREAD = 0.1
"""Share of the pages that have a word, at least; and two of them."""

CONCENTRATION = 2.0
"""Bayesian Sets: how much the mean of all pages counts, in examples."""

MOST = 2000
"""Words of a page that are kept."""

DIGITS = 9
"""Scores are rounded, so that the numbers which words happen to have decide nothing."""


@dataclass
class Likeness:
    """Ranks pages by the mean of four scores: how much each is like the examples.

        Bayesian Sets  the log odds that a page belongs to the set of examples (Ghahramani, Heller 2005), of word
                       frequencies that add up to 1
        classifier     log odds by a logistic regression (penalty |w|^2 / 2) that tells examples from counterexamples,
                       of tf-idf of length 1; left out while there are no counterexamples
        cosine         the mean cosine of its word counts with those of the examples
        Jaccard        the mean share of words in common, of all words that the two have

    The raw scores are averaged, as the authors do it. The examples are the first `most` pages that are said to be
    relevant, the counterexamples the first ones that are not, two for each example. Words count that at least two
    examples have, if there are two, and a tenth of them (the classifier: of examples and counterexamples); for Jaccard
    all words count.

    Paper: Pham, Santos, Freire 2019, and the authors' code (kienpt/site_discovery_public, `stacking`). We depart: the
    examples are pages that the judge finds relevant, as a crawl is told a topic and no sites; the counterexamples are
    other pages of the crawl, theirs 200 of a web directory; words are stems, theirs words and pairs of words. One-class
    SVM and biased SVM, which they also compare, are not in their ensemble.

    >>> like = Likeness()
    >>> pages = ({1: 2, 2: 1}, {1: 1, 2: 2}, {1: 1, 2: 1}, {3: 4})
    >>> for page in pages:
    ...     terms = Terms(np.array(list(page), np.uint32), np.array(list(page.values()), np.uint16))
    ...     _ = like.add(terms, relevant=3 not in page)
    >>> like.parts()["Jaccard"].round(3).tolist(), like.order().tolist()[-1]
    ([1.0, 1.0, 1.0, 0.0], 3)
    """

    most: int = 20
    positive_: list[int] = learned(list)
    negative_: list[int] = learned(list)
    size_: int = learned(int)
    start_: NDArray[np.int64] = learned(lambda: np.zeros(1, np.int64))
    ids_: NDArray[np.uint32] = column(np.uint32)
    counts_: NDArray[np.uint16] = column(np.uint16)

    def add(self, terms: Terms, relevant: bool) -> int:
        """One page more; its number."""
        ids, counts = terms.ids, terms.counts
        if len(ids) > MOST:  # words that occur equally often stay or go together, whatever their numbers
            often = counts > np.partition(counts, -MOST - 1)[-MOST - 1]
            ids, counts = ids[often], counts[often]
        number, begin = self.size_, int(self.start_[self.size_])
        end = begin + len(ids)
        self.ids_, self.counts_ = fit(self.ids_, end), fit(self.counts_, end)
        self.start_ = fit(self.start_, number + 2)
        self.ids_[begin:end], self.counts_[begin:end], self.start_[number + 1] = ids, counts, end
        self.size_ += 1
        if relevant and len(self.positive_) < self.most:
            self.positive_.append(number)
        elif not relevant and len(self.negative_) < RATIO * self.most:
            self.negative_.append(number)
        return number

    def order(self) -> NDArray[np.intp]:
        """The numbers of all pages, those most like the examples first; of equal ones the first."""
        return np.argsort(-self.scores(), kind="stable")

    def scores(self) -> Scores:
        """The mean of the four, of each page; 0 while there is no example."""
        parts = np.array([np.zeros(self.size_), *self.parts().values()])
        scores: Scores = parts.sum(axis=0) / max(1, len(parts) - 1)
        return scores.round(DIGITS)

    def parts(self) -> dict[str, Scores]:
        """Each of the four, of each page; none while there is no example."""
        if not self.positive_:
            return {}
        positive = self.positive_
        negative = self.negative_[: RATIO * len(positive)]
        entries = _Entries.of(self, self._words_of(positive, len(positive)))
        parts = {"Bayesian Sets": bayesian_sets(entries, positive)}
        if negative:
            both = [*positive, *negative]
            parts["classifier"] = _classifier(
                _Entries.of(self, self._words_of(both, len(positive))), positive, negative
            )
        parts["cosine"] = entries.by_length() @ entries.by_length().mean(positive)
        parts["Jaccard"] = self._jaccard(positive)
        return parts

    def _words_of(self, pages: list[int], examples: int) -> NDArray[np.uint32]:
        """Words that enough of these pages have."""
        ids, often = np.unique(np.concatenate([self._ids(page) for page in pages]), return_counts=True)
        return ids[often >= min(max(2.0, SPREAD * len(pages)), examples)]

    def _ids(self, page: int) -> NDArray[np.uint32]:
        return self.ids_[self.start_[page] : self.start_[page + 1]]

    def _jaccard(self, positive: list[int]) -> Scores:
        ids = self.ids_[: self.start_[self.size_]]
        lengths = np.diff(self.start_[: self.size_ + 1])
        page = np.repeat(np.arange(self.size_), lengths)
        likeness = np.zeros(self.size_)
        for example in positive:
            theirs = self._ids(example)
            common = np.bincount(page[np.isin(ids, theirs)], minlength=self.size_)
            likeness += common / np.maximum(lengths + len(theirs) - common, 1)
        return likeness / len(positive)


@dataclass
class _Entries:
    """A sparse matrix: of each page the words that count, and a number for each."""

    page: NDArray[np.intp]
    word: NDArray[np.intp]
    value: Scores
    pages: int
    words: int

    @classmethod
    def of(cls, pages: Likeness, words: NDArray[np.uint32]) -> _Entries:
        """How often each page has each of these words, which are in ascending order."""
        end = pages.start_[pages.size_]
        page = np.repeat(np.arange(pages.size_), np.diff(pages.start_[: pages.size_ + 1]))
        kept = np.isin(pages.ids_[:end], words)
        word = np.searchsorted(words, pages.ids_[:end][kept])
        return cls(page[kept], word, pages.counts_[:end][kept].astype(np.float64), pages.size_, len(words))

    def scaled(self, of_page: Scores, of_word: Scores | None = None) -> _Entries:
        """Divided by a number for each page, where that is not 0; and times one for each word."""
        value = self.value / np.where(of_page > 0, of_page, 1.0)[self.page]
        return _Entries(
            self.page, self.word, value if of_word is None else value * of_word[self.word], self.pages, self.words
        )

    def by_sum(self) -> _Entries:
        """The numbers of a page add up to 1."""
        return self.scaled(_added(self.page, self.value, self.pages))

    def by_length(self) -> _Entries:
        """A page has the length 1."""
        return self.scaled(np.sqrt(_added(self.page, self.value**2, self.pages)))

    def mean(self, pages: list[int]) -> Scores:
        """The mean of some pages, word by word."""
        return self.sum(pages) / len(pages)

    def sum(self, pages: list[int]) -> Scores:
        """The sum over some pages, word by word."""
        among = np.isin(self.page, pages)
        return _added(self.word[among], self.value[among], self.words)

    def dense(self, pages: list[int]) -> Scores:
        """Some pages, line by line."""
        lines = np.zeros((len(pages), self.words))
        for line, page in enumerate(pages):
            here = self.page == page
            lines[line, self.word[here]] = self.value[here]
        return lines

    def __matmul__(self, of_word: Scores) -> Scores:
        """The product of each page with a number for each word."""
        return _added(self.page, self.value * of_word[self.word], self.pages)


def _added(place: NDArray[np.intp], value: Scores, size: int) -> Scores:
    """The sum of the values at each place."""
    return np.bincount(place, value, size).astype(np.float64)


def bayesian_sets(entries: _Entries, examples: list[int]) -> Scores:
    """log p(page | examples) / p(page) for independent Bernoulli words; a and b from the mean of all pages."""
    entries, n = entries.by_sum(), len(examples)
    mean = np.clip(entries.sum(list(range(entries.pages))) / entries.pages, 1e-12, 1.0 - 1e-12)
    a, b, there = CONCENTRATION * mean, CONCENTRATION * (1.0 - mean), entries.sum(examples)
    a_then, b_then = a + there, b + n - there
    constant = float(np.sum(np.log(a + b) - np.log(a + b + n) + np.log(b_then) - np.log(b)))
    return constant + entries @ (np.log(a_then) - np.log(a) - np.log(b_then) + np.log(b))


def _classifier(entries: _Entries, positive: list[int], negative: list[int]) -> Scores:
    """Log odds by a logistic regression on tf-idf; idf = 1 + ln((1 + n) / (1 + df)) over what it is trained on."""
    both = [*positive, *negative]
    df = np.bincount(entries.word[np.isin(entries.page, both)], minlength=entries.words)
    idf = 1.0 + np.log((1.0 + len(both)) / (1.0 + df))
    weighed = entries.scaled(np.ones(entries.pages), idf).by_length()
    weights, intercept = logistic(weighed.dense(both), np.arange(len(both)) < len(positive))
    return weighed @ weights + intercept


def logistic(x: Scores, relevant: NDArray[np.bool_]) -> tuple[Scores, float]:
    """Weights and intercept that minimise |w|^2 / 2 + the sum of -log p over some lines, by Newton's method.

    There are few lines and many columns: so it's solved for w = x^T alpha, where the sum of alpha is 0.

    >>> w, b = logistic(np.array([[1.0], [-1.0]]), np.array([True, False]))
    >>> round(float(w[0]), 6) == round(float(2 / (1 + np.exp(w[0]))), 6), round(b, 9) == 0     # 0 = w - 2 (1 - p)
    (True, True)
    """
    n, kernel = len(x), x @ x.T
    alpha, intercept = np.zeros(n), 0.0
    for _ in range(50):
        f = kernel @ alpha + intercept
        p = 1.0 / (1.0 + np.exp(-np.clip(f, -30.0, 30.0)))
        certainty = np.maximum(p * (1.0 - p), 1e-9)
        system = np.ones((n + 1, n + 1))
        system[:n, :n] = kernel + np.diag(1.0 / certainty)
        system[n, n] = 0.0
        solved = np.linalg.solve(system, np.append(f + (relevant - p) / certainty, 0.0))
        moved = float(np.abs(solved[:n] - alpha).max())
        alpha, intercept = solved[:n], float(solved[n])
        if moved < 1e-12:
            break
    return x.T @ alpha, intercept
