"""The neural network: trained by scikit-learn, predicted here."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lycosa.core.errors import InputError
from lycosa.text.bags import Bags, idf, unit
from lycosa.topics.neural import Network, _go_on, _learner
from lycosa.topics.svm import matrix


def _pages(classes: int, count: int = 90, seed: int = 0) -> tuple[Bags, np.ndarray]:
    """Each class has five words of its own, and five that are everyone's."""
    chance = np.random.default_rng(seed)
    labels = np.arange(count) % classes
    pairs = []
    for label in labels:
        words = np.concatenate([chance.integers(0, 5, 4) + 5 * label, chance.integers(0, 5, 3) + 5 * classes])
        terms, counts = np.unique(words, return_counts=True)
        pairs.append((terms, counts.astype(float)))
    return Bags.of(pairs), labels


@pytest.mark.parametrize("classes", [2, 3])
def test_it_tells_classes_apart(classes: int) -> None:
    """Words of its own are enough to know a class; two classes have one output in scikit-learn, two here."""
    bags, labels = _pages(classes)
    model = Network.fit(bags, labels, classes, 5 * classes + 5)
    test, truth = _pages(classes, seed=1)
    told = model.probabilities(test)
    assert (len(truth), classes) == told.shape
    assert (told.argmax(axis=1) == truth).mean() > 0.95


@pytest.mark.parametrize("classes", [2, 3])
def test_prediction_is_scikit_learns(classes: int) -> None:
    """At temperature 1 our probabilities are those of MLPClassifier, for the same weights."""
    bags, labels = _pages(classes)
    terms = 5 * classes + 5
    weigh = idf(bags.document_frequency(terms), len(bags))
    samples = matrix(bags, unit(bags, weigh), terms).astype(np.float32)
    learner = _learner(90, 0)
    for _ in range(5):
        _go_on(learner, samples, labels, classes)
    out_weights, out_bias = learner.coefs_[1], learner.intercepts_[1]
    if classes == 2:
        out_weights, out_bias = np.hstack([0 * out_weights, out_weights]), np.append(0.0, out_bias)
    ours = Network(weigh, learner.coefs_[0], learner.intercepts_[0], out_weights, out_bias, 1.0)
    assert np.allclose(learner.predict_proba(samples), ours.probabilities(bags), atol=1e-5)


def test_a_handful_of_pages() -> None:
    """Six pages can be trained on, without a warning."""
    bags, labels = _pages(2, 6)
    assert 2 == Network.fit(bags, labels, 2, 15).probabilities(bags).shape[1]


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has not installed it is told how to."""
    monkeypatch.setitem(sys.modules, "sklearn.neural_network", None)
    bags, labels = _pages(2)
    with pytest.raises(InputError, match=r"pip install 'lycosa\[train\]'"):
        Network.fit(bags, labels, 2, 15)
