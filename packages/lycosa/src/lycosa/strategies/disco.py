"""DISCO: a bandit that chooses between two ways of finding pages similar to the best ones so far."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Priorities, Rows, Step, Terms

FORWARD, BACKWARD = OPERATORS = ("forward", "backward")
COUNTEREXAMPLES_PER_EXAMPLE = 2  # maximum number of counterexamples per example
PRIOR_WEIGHT = 2.0  # prior weight in Bayesian Sets, as a number of examples: that of the mean of all pages
MAX_WORDS = 2000  # maximum number of words kept per page


class Ucb1:
    """UCB1 for arms that are pulled many times at once: mean reward + sqrt(2 ln(all pulls) / pulls).

    Paper: Auer, Cesa-Bianchi, Fischer 2002; batched as in the code of Pham, Santos, Freire 2019.

    >>> bandit = Ucb1(2)
    >>> bandit.reward(0, .5, pulls=3); bandit.reward(1, .75, pulls=1)
    >>> [round(value, 3) for value in bandit.values()]      # .5 + sqrt(2 ln 4 / 3), .75 + sqrt(2 ln 4 / 1)
    [1.461, 2.415]
    """

    def __init__(self, arms: int) -> None:
        self.pulls = [0] * arms
        self.means = [0.0] * arms

    def values(self) -> list[float]:
        log = 2.0 * math.log(max(1, sum(self.pulls)))
        arms = zip(self.means, self.pulls, strict=True)
        return [mean + math.sqrt(log / pulls) if pulls else math.inf for mean, pulls in arms]

    def order(self) -> list[int]:
        values = self.values()
        return sorted(range(len(values)), key=lambda arm: -values[arm])

    def reward(self, arm: int, reward: float, pulls: int) -> None:
        self.pulls[arm] += pulls
        self.means[arm] += (reward - self.means[arm]) * pulls / self.pulls[arm]


@dataclass
class Disco:
    """DISCO: in each round an operator collects links around the best pages; after their fetch all pages are ranked.

    Pages are ranked by their similarity to the first relevant ones (`ExampleSimilarity`), or by relevance while there
    are none. An operator starts from the `k` best pages that it has not started from yet:

        forward   the links of these pages
        backward  the links of crawled pages that link to them

    The reward of an operator is the mean over its pages of 1 - rank / pages in the new ranking; UCB1 chooses the next
    operator. If the operator finds no new link, it continues with the next k pages, then the other operator is used.
    Priorities are 1 to 1/n for the n links of a round, at most `links` of a page, and 0 for other links, which are
    fetched only when no others are available. A round is over when n pages have arrived.

    Paper: Pham, Santos, Freire 2019, Bootstrapping Domain-Specific Content Discovery on the Web (DISCO), and the
    authors' code (kienpt/site_discovery_public), with its defaults for k and links. Departures: it searches for pages
    on any host instead of sites; the two operators that query a search engine are omitted (`--search` finds start
    pages); backward uses crawled links, theirs queries a backlink service and fetches these pages, too; a round has at
    most k * links pages; start pages are ranked with the others; and see `ExampleSimilarity`.
    """

    k: int = 20
    links: int = 10
    examples: int = 20
    threshold: float = 0.1
    value_: NDArray[np.float64] = column()
    operator_: NDArray[np.int8] = column(np.int8)  # operator that collected each row
    origin_: NDArray[np.int32] = column(np.int32)  # page from which each row was collected
    number_: NDArray[np.int32] = column(np.int32)  # 1-based page number of each row
    pages_: list[int] = learned(list)  # rows of all pages
    betas_: list[float] = learned(list)
    # per operator, ids of the pages that it has expanded
    started_: list[set[int]] = learned(lambda: [set() for _ in OPERATORS])
    bandit_: Ucb1 = learned(lambda: Ucb1(len(OPERATORS)))
    similarity_: ExampleSimilarity = learned()
    ranking_: NDArray[np.intp] = column(np.intp)
    current_: int = learned(lambda: -1)  # operator of this round; -1 for the seeds
    remaining_: int = learned(int)  # pages of this round that are not fetched yet
    first_: int = learned(int)  # number of this round's first page

    def __post_init__(self) -> None:
        if min(self.k, self.links, self.examples) < 1:
            raise ValueError(
                f"'k' is {self.k}, 'links' {self.links}, 'examples' {self.examples}: each must be 1 or more"
            )
        self.similarity_ = ExampleSimilarity(self.examples)

    def learn(self, step: Step, table: Table) -> Rows:
        """Record a page; at the end of a round reward its operator, then choose the next operator and its links."""
        size = len(table)
        self.value_, self.operator_ = fit(self.value_, size), fit(self.operator_, size)
        self.origin_, self.number_ = fit(self.origin_, size), fit(self.number_, size)
        visit, row = step.visit, step.row
        if visit.outcome == "redirect":
            self._pass_on(row, step.children)
            return step.children
        if visit.retry_at or visit.follows or visit.kind != "page":
            return step.children
        if visit.is_page and not visit.same_as and not self.number_[row]:
            self.pages_.append(row)
            self.betas_.append(visit.relevance)
            self.number_[row] = 1 + self.similarity_.add(visit.terms, visit.relevance >= self.threshold)
        self.remaining_ -= not table.is_seed[row]
        if self.remaining_ > 0 or (self.current_ < 0 and table.is_seed[row] and _seeds_to_come(table)):
            return step.children
        return np.union1d(step.children, self._start_round(table))

    def explain(self, row: int, table: Table) -> dict[str, float]:
        value = float(fit(self.value_, len(table))[row])
        if not value:
            return {"no operator has taken it yet": 0.0}
        return {f"{OPERATORS[self.operator_[row]]}, from {table.nodes[self.origin_[row]]}": value}

    def priority(self, rows: Rows, table: Table) -> NDArray[np.float64]:
        return fit(self.value_, len(table))[rows]

    def ranking(self) -> NDArray[np.intp]:
        """Return the numbers of all pages, best first; cached until there are more pages."""
        if len(self.ranking_) < len(self.pages_):
            known = bool(self.similarity_.positive_)
            self.ranking_ = self.similarity_.order() if known else np.argsort(-np.array(self.betas_), kind="stable")
        return self.ranking_

    def _pass_on(self, row: int, targets: Rows) -> None:
        better = targets[self.value_[targets] < self.value_[row]]
        self.value_[better] = self.value_[row]
        self.operator_[better], self.origin_[better] = self.operator_[row], self.origin_[row]

    def _start_round(self, table: Table) -> Rows:
        ranking = self.ranking()
        if self.current_ >= 0:
            self._reward_operator(ranking)
        self.first_, self.remaining_ = len(self.pages_), 1
        for operator in self.bandit_.order():
            taken = self._take_links(operator, ranking, table)
            if taken:
                rows = np.fromiter(taken, np.intp, len(taken))
                self.current_, self.remaining_ = operator, len(rows)
                self.value_[rows] = 1.0 - np.arange(len(rows)) / len(rows)
                self.operator_[rows], self.origin_[rows] = operator, list(taken.values())
                return rows
        # no page to expand: until there is one, fetch links that no operator has collected, one page per round
        self.current_ = max(self.current_, 0)
        return np.zeros(0, np.intp)

    def _reward_operator(self, ranking: NDArray[np.intp]) -> None:
        new = [n for n in range(self.first_, len(self.pages_)) if self._was_taken_by(self.current_, self.pages_[n])]
        if not new:
            return
        place = np.empty(len(ranking))
        place[ranking] = np.arange(len(ranking))
        reward = sum(1.0 - place[n] / len(ranking) for n in new) / len(new)
        self.bandit_.reward(self.current_, float(reward), len(new))

    def _was_taken_by(self, operator: int, row: int) -> bool:
        return bool(self.value_[row] > 0 and self.operator_[row] == operator)

    def _take_links(self, operator: int, ranking: NDArray[np.intp], table: Table) -> dict[int, int]:
        unused = [number for number in ranking.tolist() if number not in self.started_[operator]]
        for begin in range(0, len(unused), self.k):
            start = unused[begin : begin + self.k]
            self.started_[operator].update(start)
            taken: dict[int, int] = {}
            for page in (self.pages_[number] for number in start):
                forward = OPERATORS[operator] == FORWARD
                for source in [page] if forward else table.edges.parents(page)[: self.links].tolist():
                    taken.update((row, page) for row in self._new_links(source, table, taken))
            if taken:
                return dict(list(taken.items())[: self.k * self.links])
        return {}

    def _new_links(self, page: int, table: Table, taken: dict[int, int]) -> Iterator[int]:
        rows = table.edges.children(page)
        unused = rows[(table.state[rows] == OPEN) & (self.value_[rows] == 0) & ~table.is_seed[rows]].tolist()
        return islice((row for row in unused if row not in taken), self.links)


def _seeds_to_come(table: Table) -> bool:
    every = slice(len(table))
    waiting = table.is_seed[every] & (table.state[every] == OPEN) & (table.attempts[every] == 0)
    return bool(waiting.any())


@dataclass
class ExampleSimilarity:
    """DISCO's ranking: the mean of four similarities to the examples.

        Bayesian Sets  the log odds that a page belongs to the set of examples (Ghahramani, Heller 2005), of word
                       frequencies that add up to 1
        classifier     log odds by a logistic regression (penalty |w|^2 / 2) of examples against counterexamples,
                       on tf-idf of length 1; omitted while there are no counterexamples
        cosine         the mean cosine of its word counts with those of the examples
        Jaccard        the mean Jaccard index of the sets of words

    The examples are the first `max_examples` relevant pages, the counterexamples the first irrelevant ones, two for
    each example. A word is used if at least two examples (or the only one) and a tenth of them have it (classifier: of
    examples and counterexamples); Jaccard uses all words.

    Paper: Pham, Santos, Freire 2019, and the authors' code (kienpt/site_discovery_public, `stacking`). Departures: the
    examples are pages that the judge finds relevant; the counterexamples are other pages of the crawl, theirs 200 of a
    web directory; words are stems, theirs words and pairs of words.
    """

    max_examples: int = 20
    positive_: list[int] = learned(list)
    negative_: list[int] = learned(list)
    size_: int = learned(int)
    start_: NDArray[np.int64] = learned(lambda: np.zeros(1, np.int64))
    ids_: NDArray[np.uint32] = column(np.uint32)
    counts_: NDArray[np.uint16] = column(np.uint16)

    def add(self, terms: Terms, relevant: bool) -> int:
        ids, counts = terms.ids, terms.counts
        # words of equal count are kept or dropped together, so that the result does not depend on word ids
        if len(ids) > MAX_WORDS:
            frequent = counts > np.partition(counts, -MAX_WORDS - 1)[-MAX_WORDS - 1]
            ids, counts = ids[frequent], counts[frequent]
        number, begin = self.size_, int(self.start_[self.size_])
        end = begin + len(ids)
        self.ids_, self.counts_ = fit(self.ids_, end), fit(self.counts_, end)
        self.start_ = fit(self.start_, number + 2)
        self.ids_[begin:end], self.counts_[begin:end], self.start_[number + 1] = ids, counts, end
        self.size_ += 1
        if relevant and len(self.positive_) < self.max_examples:
            self.positive_.append(number)
        elif not relevant and len(self.negative_) < COUNTEREXAMPLES_PER_EXAMPLE * self.max_examples:
            self.negative_.append(number)
        return number

    def order(self) -> NDArray[np.intp]:
        return np.argsort(-self.scores(), kind="stable")

    def scores(self) -> Priorities:
        parts = np.array([np.zeros(self.size_), *self.parts().values()])
        scores: Priorities = parts.sum(axis=0) / max(1, len(parts) - 1)
        return scores.round(9)  # so that the summation order of words does not affect ties

    def parts(self) -> dict[str, Priorities]:
        """Return the similarities of each page by name; empty without examples."""
        if not self.positive_:
            return {}
        positive = self.positive_
        negative = self.negative_[: COUNTEREXAMPLES_PER_EXAMPLE * len(positive)]
        entries = _WordCounts.of(self, self._words_of(positive, len(positive)))
        parts = {"Bayesian Sets": bayesian_sets(entries, positive)}
        if negative:
            both = [*positive, *negative]
            counts = _WordCounts.of(self, self._words_of(both, len(positive)))
            parts["classifier"] = _classifier(counts, positive, negative)
        parts["cosine"] = entries.by_length() @ entries.by_length().mean(positive)
        parts["Jaccard"] = self._jaccard(positive)
        return parts

    def _words_of(self, pages: list[int], examples: int) -> NDArray[np.uint32]:
        ids, frequency = np.unique(np.concatenate([self._ids(page) for page in pages]), return_counts=True)
        return ids[frequency >= min(max(2.0, 0.1 * len(pages)), examples)]

    def _ids(self, page: int) -> NDArray[np.uint32]:
        return self.ids_[self.start_[page] : self.start_[page + 1]]

    def _jaccard(self, positive: list[int]) -> Priorities:
        ids = self.ids_[: self.start_[self.size_]]
        lengths = np.diff(self.start_[: self.size_ + 1])
        page = np.repeat(np.arange(self.size_), lengths)
        similarity = np.zeros(self.size_)
        for example in positive:
            example_ids = self._ids(example)
            common = np.bincount(page[np.isin(ids, example_ids)], minlength=self.size_)
            similarity += common / np.maximum(lengths + len(example_ids) - common, 1)
        return similarity / len(positive)


@dataclass
class _WordCounts:
    page: NDArray[np.intp]
    word: NDArray[np.intp]
    value: Priorities
    pages: int
    words: int

    @classmethod
    def of(cls, pages: ExampleSimilarity, words: NDArray[np.uint32]) -> _WordCounts:
        """Return the counts of the given words on each page; `words` must be ascending."""
        end = pages.start_[pages.size_]
        page = np.repeat(np.arange(pages.size_), np.diff(pages.start_[: pages.size_ + 1]))
        kept = np.isin(pages.ids_[:end], words)
        word = np.searchsorted(words, pages.ids_[:end][kept])
        return cls(page[kept], word, pages.counts_[:end][kept].astype(np.float64), pages.size_, len(words))

    def scaled(self, of_page: Priorities, of_word: Priorities | None = None) -> _WordCounts:
        """Divide the counts of each page by its number (unless 0), and multiply those of each word by its number."""
        value = self.value / np.where(of_page > 0, of_page, 1.0)[self.page]
        value = value if of_word is None else value * of_word[self.word]
        return _WordCounts(self.page, self.word, value, self.pages, self.words)

    def by_sum(self) -> _WordCounts:
        return self.scaled(_sum_by(self.page, self.value, self.pages))

    def by_length(self) -> _WordCounts:
        return self.scaled(np.sqrt(_sum_by(self.page, self.value**2, self.pages)))

    def mean(self, pages: list[int]) -> Priorities:
        return self.sum(pages) / len(pages)

    def sum(self, pages: list[int]) -> Priorities:
        among = np.isin(self.page, pages)
        return _sum_by(self.word[among], self.value[among], self.words)

    def dense(self, pages: list[int]) -> Priorities:
        lines = np.zeros((len(pages), self.words))
        for line, page in enumerate(pages):
            here = self.page == page
            lines[line, self.word[here]] = self.value[here]
        return lines

    def __matmul__(self, of_word: Priorities) -> Priorities:
        return _sum_by(self.page, self.value * of_word[self.word], self.pages)


def _sum_by(place: NDArray[np.intp], value: Priorities, size: int) -> Priorities:
    return np.bincount(place, value, size).astype(np.float64)


def bayesian_sets(entries: _WordCounts, examples: list[int]) -> Priorities:
    """Return log p(page | examples) / p(page) for independent Bernoulli words, with a and b from all pages."""
    entries, n = entries.by_sum(), len(examples)
    mean = np.clip(entries.sum(list(range(entries.pages))) / entries.pages, 1e-12, 1.0 - 1e-12)
    a, b, present = PRIOR_WEIGHT * mean, PRIOR_WEIGHT * (1.0 - mean), entries.sum(examples)
    a_then, b_then = a + present, b + n - present
    constant = float(np.sum(np.log(a + b) - np.log(a + b + n) + np.log(b_then) - np.log(b)))
    return constant + entries @ (np.log(a_then) - np.log(a) - np.log(b_then) + np.log(b))


def _classifier(entries: _WordCounts, positive: list[int], negative: list[int]) -> Priorities:
    """Return log odds by a logistic regression on tf-idf; idf = 1 + ln((1 + n) / (1 + df)) over the training pages."""
    both = [*positive, *negative]
    df = np.bincount(entries.word[np.isin(entries.page, both)], minlength=entries.words)
    idf = 1.0 + np.log((1.0 + len(both)) / (1.0 + df))
    weighed = entries.scaled(np.ones(entries.pages), idf).by_length()
    weights, intercept = logistic(weighed.dense(both), np.arange(len(both)) < len(positive))
    return weighed @ weights + intercept


def logistic(x: Priorities, relevant: NDArray[np.bool_]) -> tuple[Priorities, float]:
    """Return the weights and intercept that minimise |w|^2 / 2 + the sum of -log p over the rows of x.

    Newton's method. With few rows and many columns it is faster to solve for alpha, where w = x^T alpha and the sum of
    alpha is 0.

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
