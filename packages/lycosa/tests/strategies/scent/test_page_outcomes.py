"""Tests of page outcomes: the judge's part, the cosine part, and feedback."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Terms, Visit
from lycosa.strategies.scent import Scent
from lycosa.strategies.scent.link_words import (
    LinkWords,
    slot_of,
)
from lycosa.strategies.scent.page_outcomes import PageOutcomes
from scent_crawl import SEED, Crawl, close


class OutcomesOfWords:
    """Page outcomes with helpers to learn from pages given as words."""

    def __init__(self, topic: dict[str, float] | None = None, *, feedback: bool = True, **judge: bool) -> None:
        self.outcomes = PageOutcomes(topic or {}, **judge)
        self.outcomes.uses_feedback = self.outcomes.uses_feedback and feedback
        self.table, self.words, self.pages = Table(), LinkWords(), 0

    def page(self, words: str, relevance: float, same_as: str = "") -> float:
        stems, each = self.table.stems, words.split()
        stems += [word for word in dict.fromkeys(each) if word not in stems]
        ids = sorted({stems.index(word) for word in each})
        terms = Terms(np.array(ids, np.uint32), np.array([each.count(stems[n]) for n in ids], np.uint16))
        visit = Visit("x", "page", "ok", 1, relevance=relevance, terms=terms, same_as=same_as)
        self.pages += 1
        return self.outcomes.learn(self.pages, visit, self.table, self.words)


def test_outcome_is_relevance_and_cosine_part() -> None:
    """Outcome is .2 * relevance + .8 * cosine * (sum of relevances / sum of cosines).

    Cosines are .5 and 1, relevances .4 and .2, so the sums are .5 and .4 after one page, 1.5 and .6 after two.
    """
    made = OutcomesOfWords({"coral": 1.0, "reef": 1.0}, feedback=False)
    assert pytest.approx(0.2 * 0.4 + 0.8 * 0.5 * (0.4 / 0.5)) == made.page("coral sea", 0.4)
    assert pytest.approx(0.2 * 0.2 + 0.8 * 1.0 * (0.6 / 1.5)) == made.page("coral reef", 0.2)


def test_outcome_with_probabilities_by_hand() -> None:
    """With probabilities the weights are .8 and .2; a probability below .2 counts as 0, and feedback is off."""
    made = OutcomesOfWords({"coral": 1.0, "reef": 1.0}, probability=True)
    assert pytest.approx(0.8 * 0.4 + 0.2 * 0.5 * (0.4 / 0.5)) == made.page("coral sea", 0.4)
    assert pytest.approx(0.2 * 1.0 * (0.4 / 1.5)) == made.page("coral reef", 0.19)
    made = OutcomesOfWords(probability=True)
    assert {0.9} == {made.page("coral", 0.9) for _ in range(20)}


def test_outcome_of_exact_judge_is_relevance() -> None:
    made = OutcomesOfWords({"coral": 1.0}, exact=True)
    assert [1.4, 0.7, 0.0] * 10 == [made.page(*page) for _ in range(10) for page in
                                    (("coral sea", 1.4), ("train rail", 0.7), ("coral", 0.0))]  # fmt: skip


def test_cosine_part_uses_logarithm_of_counts() -> None:
    """Counts enter as 1 + log f: three times coral and once sea have (1 + log 3) / sqrt((1 + log 3)^2 + 1)."""
    made = OutcomesOfWords({"coral": 2.0}, feedback=False)
    assert pytest.approx(0.5) == made.page("coral", 0.5)
    cosine = (1 + math.log(3)) / math.hypot(1 + math.log(3), 1)
    expected = 0.2 * 0.1 + 0.8 * cosine * (0.5 + 0.1) / (1 + cosine)
    assert pytest.approx(expected) == made.page("coral coral coral sea", 0.1)


def test_outcome_without_cosine_is_relevance() -> None:
    assert 0.4 == OutcomesOfWords().page("coral", 0.4)
    made = OutcomesOfWords({"coral": 1.0})
    assert 0.4 == made.page("", 0.4)
    assert 0.3 == made.page("sea", 0.3)


def test_copy_has_outcome_0_and_is_not_counted() -> None:
    made = OutcomesOfWords()
    made.page("coral", 0.4)
    assert 0 == made.page("coral", 0.9, same_as="x")
    assert (1, 0.4) == (made.outcomes.pages, made.outcomes.total)


def expected_outcomes(pages: Sequence[tuple[str, float]]) -> list[float]:
    """Return the outcomes of pages of one word each by definition, for a topic without words."""
    seen: list[tuple[str, float]] = []
    lifts: list[float] = []
    found = []
    for word, q in pages:
        n = sum(word == known for known, _ in seen)
        mean = sum(relevance for _, relevance in seen) / max(len(seen), 1)
        lift = (sum(relevance for known, relevance in seen if known == word) - mean * n) / (n + 3)
        age = 0.98 ** np.arange(len(seen))[::-1]
        old, feedback = np.array([relevance for _, relevance in seen]), np.array(lifts)
        fed = 0.0
        if len(seen) >= 5:
            mq, mf = age @ old / age.sum(), age @ feedback / age.sum()
            covariance = age @ ((old - mq) * (feedback - mf))
            spread = math.sqrt((age @ (old - mq) ** 2) * (age @ (feedback - mf) ** 2))
            if covariance > 0.2 * spread:
                qq, ff = age @ old**2 + q * q, age @ feedback**2 + lift * lift
                usual = math.sqrt(qq / (age.sum() + 1))
                fed = min(max(lift * math.sqrt(qq / ff), -1.5 * usual), 1.5 * usual)
        found.append(max(0.0, q + 0.5 * fed))
        seen.append((word, q))
        lifts.append(lift)
    return found


def test_feedback_that_agrees_is_used() -> None:
    pages = [("good", 0.9), ("bad", 0.2), ("bad", 0.1), ("good", 0.8), ("good", 0.7), ("bad", 0.3)] * 3
    made = OutcomesOfWords()
    actual = [made.page(word, relevance) for word, relevance in pages]
    assert pytest.approx(expected_outcomes(pages), rel=1e-4, abs=1e-5) == actual
    assert [relevance for _, relevance in pages[:5]] == actual[:5]
    assert all(
        outcome > relevance for (word, relevance), outcome in zip(pages[6:], actual[6:], strict=True) if word == "good"
    )
    assert all(
        outcome < relevance for (word, relevance), outcome in zip(pages[6:], actual[6:], strict=True) if word == "bad"
    )
    assert made.outcomes.trusts_feedback


def test_feedback_that_disagrees_is_ignored() -> None:
    made = OutcomesOfWords()
    for number in range(30):
        for word, relevance in ((f"a{number}", 0.9), (f"b{number}", 0.1), (f"a{number}", 0.1), (f"b{number}", 0.9)):
            assert relevance == made.page(word, relevance)
    assert not made.outcomes.trusts_feedback


def test_feedback_loses_trust_when_it_disagrees() -> None:
    """Feedback agrees for 40 pages; after that, good words are on irrelevant pages, until feedback is ignored."""
    made = OutcomesOfWords()
    for _ in range(20):
        made.page("good", 0.9), made.page("bad", 0.1)
    assert made.page("good", 0.9) > 0.9
    trust = []
    for number in range(60):
        made.page(f"good fresh{number}", 0.05), made.page(f"bad fresh{number}", 0.95)
        trust.append(made.outcomes.trusts_feedback)
    assert trust[0]
    assert False in trust


def test_feedback_is_capped() -> None:
    """Feedback adds at most .5 * 1.5 times the root mean square of relevance, here reached by 100 words."""
    made, many = OutcomesOfWords(), " ".join(f"w{number}" for number in range(100))
    relevances = [0.9, *(20 * [0.9, 0.1]), 0.1]
    outcomes = [made.page(many, 0.9)]
    for _ in range(20):
        outcomes += [made.page("good", 0.9), made.page("bad", 0.1)]
    outcomes.append(made.page(many, 0.1))
    age = 0.98 ** np.arange(len(relevances) - 1)[::-1]
    usual = math.sqrt((age @ np.array(relevances[:-1]) ** 2 + 0.1**2) / (age.sum() + 1))
    assert pytest.approx(0.1 + 0.5 * 1.5 * usual) == outcomes[-1]


def test_feedback_learns_from_relevance() -> None:
    made = OutcomesOfWords()
    for _ in range(10):
        made.page("good", 0.75), made.page("bad", 0.25)
    assert made.page("good", 0.75) > 0.75
    assert [11 * 0.75, 11] == made.outcomes.page_words.totals[slot_of("good")].tolist()
    assert pytest.approx((11 * 0.75 + 10 * 0.25) / 21) == made.outcomes.mean


def test_words_are_counted_without_feedback() -> None:
    made = OutcomesOfWords(exact=True)
    for _ in range(10):
        assert (0.75, 0.25) == (made.page("good", 0.75), made.page("bad", 0.25))
    assert [7.5, 10] == made.outcomes.page_words.totals[slot_of("good")].tolist()


def test_outcome_is_never_negative() -> None:
    made = OutcomesOfWords()
    outcomes = []
    for _ in range(20):
        made.page("good", 0.9)
        outcomes.append(made.page("bad", 0.01))
    assert 0.0 == min(outcomes)


def test_outcome_of_stuffed_page_is_multiplied_by_quality() -> None:
    outcomes: list[float] = []
    for data in ({}, {"quality": 0.1}):
        crawl = Crawl(Scent(words="coral", vectors=False))
        crawl.visit(SEED, 0.5, None, "coral coral", data=data)
        outcomes.append(float(crawl.scent.links_.outcome[crawl.row(SEED)]))
    assert outcomes[1] == close(0.1 * outcomes[0])
