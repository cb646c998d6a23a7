"""Naive Bayes: probabilities by hand, and calibration on long pages."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lycosa.text.bags import Bags
from lycosa.text.folds import log_loss
from lycosa.text.naive_bayes import NaiveBayes, PlainNaiveBayes

# Class 0 has the pages 'coral coral coral reef' and 'coral', class 1 has 'rail'. Terms: coral 0, reef 1, rail 2.
PAGES = Bags.of([([0, 1], [3.0, 1.0]), ([0], [1.0]), ([2], [1.0])])
LABELS = np.array([0, 0, 1])


def test_naive_bayes_product_by_hand() -> None:
    """Counts are log2(1 + f), scaled to the mean length (5/3 words), with Laplace smoothing; priors add one page each.

    Page 1 has coral 2 and reef 1 (3 words), page 2 coral 1, page 3 rail 1. Scaled: page 1 coral 10/9, reef 5/9; page 2
    coral 5/3; page 3 rail 5/3.
    """
    model = NaiveBayes.fit(PAGES, LABELS, 2, 3, smoothing=1, length=math.inf)
    coral, reef, rail, all_0 = 10 / 9 + 5 / 3 + 1, 5 / 9 + 1, 1, 10 / 9 + 5 / 3 + 5 / 9 + 3
    expected = np.log([[coral / all_0, 3 / 14], [reef / all_0, 3 / 14], [rail / all_0, 8 / 14]])
    assert np.allclose(expected, model.log_theta, atol=1e-6)  # class 1: 5/3 + 3 = 14/3, and 1 / (14/3) = 3/14
    assert np.allclose(np.log([3 / 5, 2 / 5]), model.log_prior)  # (2 + 1) / (3 + 2), (1 + 1) / (3 + 2)
    probabilities = model.probabilities(Bags.of([([0, 2], [1.0, 1.0])]))[0]
    both = [3 / 5 * coral / all_0 * rail / all_0, 2 / 5 * 3 / 14 * 8 / 14]
    assert probabilities[0] == pytest.approx(both[0] / sum(both), abs=1e-6)


def test_naive_bayes_effective_length_by_hand() -> None:
    """A text of n words counts as n * L / (n + L) words: with L = 2, two words count as 1, their geometric mean."""
    plain = NaiveBayes.fit(PAGES, LABELS, 2, 3, smoothing=1, length=math.inf)
    short = NaiveBayes(plain.log_theta, plain.log_prior, 2.0)
    theta, prior = np.exp(plain.log_theta.astype(float)), np.exp(plain.log_prior.astype(float))
    score = prior * np.sqrt(theta[0] * theta[2])
    assert np.allclose(score / score.sum(), short.probabilities(Bags.of([([0, 2], [1.0, 1.0])]))[0], atol=1e-6)


def test_naive_bayes_empty_text_has_priors() -> None:
    model = NaiveBayes.fit(PAGES, LABELS, 2, 3)
    assert np.allclose([0.6, 0.4], model.probabilities(Bags.of([([], [])]))[0])


def _pages(count: int, words: int, seed: int) -> tuple[Bags, np.ndarray]:
    """Return pages of two overlapping classes, in which each word is repeated three times."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 2, count)
    pairs = []
    for label in labels:
        own = chance.integers(0, 30, words // 6) + (20 * label)  # words 20 to 29 belong to both classes
        terms, counts = np.unique(np.repeat(own, 3), return_counts=True)
        pairs.append((terms, counts.astype(float)))
    return Bags.of(pairs), labels


def test_naive_bayes_is_calibrated_on_long_pages() -> None:
    train, labels = _pages(300, 12, 1)
    test, truth = _pages(300, 12, 2)
    plain = NaiveBayes.fit(train, labels, 2, 60, length=math.inf, smoothing=1)
    ours = NaiveBayes.fit(train, labels, 2, 60)
    assert log_loss(ours.probabilities(test), truth) < log_loss(plain.probabilities(test), truth)
    assert math.isfinite(ours.length_)


def test_naive_bayes_fit_is_deterministic() -> None:
    train, labels = _pages(60, 30, 1)
    one, other = (NaiveBayes.fit(train, labels, 2, 60, seed=3) for _ in range(2))
    assert one.log_theta.tolist() == other.log_theta.tolist()
    assert (one.length_, one.smoothing_) == (other.length_, other.smoothing_)


def test_naive_bayes_prefers_short_length_for_easy_classes() -> None:
    bags = Bags.of(([label * 3, label * 3 + 1, label * 3 + 2], [5.0, 4.0, 3.0]) for label in [0, 1] * 20)
    model = NaiveBayes.fit(bags, np.array([0, 1] * 20), 2, 6)
    assert model.length_ <= 16
    assert model.probabilities(bags)[0, 0] > 0.95


@pytest.mark.paper("otie-nb", "rules-classifier")
def test_plain_naive_bayes_by_hand() -> None:
    """Each occurrence counts, with Laplace smoothing and priors 3/5 and 2/5.

    Class 0 has coral 3 + 1, reef 1, rail 0, and one more of each: 5, 2, 1 of 8. Class 1: 1, 1, 2 of 4. Coral twice and
    rail once: 3/5 * (5/8)^2 * 1/8 against 2/5 * (1/4)^2 * 2/4.
    """
    model = PlainNaiveBayes.fit(PAGES, LABELS, 2, 3)
    assert np.allclose(np.log([[5 / 8, 1 / 4], [2 / 8, 1 / 4], [1 / 8, 2 / 4]]), model.log_theta, atol=1e-6)
    probabilities = model.probabilities(Bags.of([([0, 2], [2.0, 1.0])]))[0]
    both = [3 / 5 * (5 / 8) ** 2 * 1 / 8, 2 / 5 * (1 / 4) ** 2 * 2 / 4]
    assert probabilities[0] == pytest.approx(both[0] / sum(both), abs=1e-6)
    assert np.allclose([3 / 5, 2 / 5], model.probabilities(Bags.of([([], [])]))[0], atol=1e-6)
    long = model.probabilities(Bags.of([([0, 2], [200.0, 60.0])]))[0]
    assert long[0] > 0.999  # 200 log(5/2) - 60 log 4 is far above 0
    assert np.allclose(
        probabilities, PlainNaiveBayes.from_arrays(model.arrays()).probabilities(Bags.of([([0, 2], [2, 1])]))[0]
    )
