"""Classifiers trained with scikit-learn: our predictions equal those of scikit-learn."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.judges.classifiers import LinearSvm, NeuralNetwork, _new_network, _platt, _train_round, matrix
from lycosa.text.bags import Bags, idf, unit


def _pages(classes: int, count: int = 90, seed: int = 0) -> tuple[Bags, np.ndarray]:
    """Return pages with five words per class and five common words."""
    generator = np.random.default_rng(seed)
    labels = np.arange(count) % classes
    pairs = []
    for label in labels:
        words = np.concatenate([generator.integers(0, 5, 4) + 5 * label, generator.integers(0, 5, 3) + 5 * classes])
        terms, counts = np.unique(words, return_counts=True)
        pairs.append((terms, counts.astype(float)))
    return Bags.of(pairs), labels


@pytest.mark.paper("otie-nn")
@pytest.mark.parametrize(("kind", "classes"), [(LinearSvm, 2), (LinearSvm, 3), (NeuralNetwork, 2)])
def test_fit_separates_classes(kind: type[LinearSvm] | type[NeuralNetwork], classes: int) -> None:
    bags, labels = _pages(classes)
    model = kind.fit(bags, labels, classes, 5 * classes + 5)
    test, truth = _pages(classes, seed=1)
    probabilities = model.probabilities(test)
    assert (probabilities.argmax(axis=1) == truth).mean() > 0.95
    assert probabilities[np.arange(len(truth)), truth].mean() > 0.8
    assert np.allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize(("kind", "module"), [(LinearSvm, "sklearn.svm"), (NeuralNetwork, "sklearn.neural_network")])
def test_fit_without_scikit_learn_names_extra(
    kind: type[LinearSvm] | type[NeuralNetwork], module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    bags, labels = _pages(2)
    with raises_input_error("missing-package"):
        kind.fit(bags, labels, 2, 15)


@pytest.mark.paper("otie-svm")
def test_linear_svm_distances_equal_scikit_learn() -> None:
    from sklearn.svm import LinearSVC

    bags, labels = _pages(3)
    model = LinearSvm.fit(bags, labels, 3, 20, seed=5)
    theirs = LinearSVC(C=1.0, random_state=5, max_iter=5000).fit(matrix(bags, unit(bags, model.idf), 20), labels)
    ours = bags.times(unit(bags, model.idf), model.weights) + model.bias
    expected = theirs.decision_function(matrix(bags, unit(bags, model.idf), 20))
    assert np.allclose(expected, ours, atol=1e-4)


def test_platt_by_hand() -> None:
    """For groups of two, Platt's targets are 3 / 4 and 1 / 4, (n + 1 or 1) / (n + 2): A d + B = -log 3 at d = 1."""
    a, b = _platt(np.array([-1.0, -1.0, 1.0, 1.0]), np.array([False, False, True, True]))
    assert (a, b) == (pytest.approx(-np.log(3), abs=1e-5), pytest.approx(0.0, abs=1e-6))


def test_platt_without_positive_examples_is_finite() -> None:
    a, b = _platt(np.array([0.5, -0.5, 1.5]), np.array([False, False, False]))
    assert np.isfinite([a, b]).all()
    assert 1 / (1 + np.exp(b)) < 0.5


@pytest.mark.parametrize("classes", [2, 3])
def test_neural_network_probabilities_equal_scikit_learn(classes: int) -> None:
    bags, labels = _pages(classes)
    terms = 5 * classes + 5
    idf_values = idf(bags.document_frequency(terms), len(bags))
    samples = matrix(bags, unit(bags, idf_values), terms).astype(np.float32)
    learner = _new_network(90, 0)
    for _ in range(5):
        _train_round(learner, samples, labels, classes)
    out_weights, out_bias = learner.coefs_[1], learner.intercepts_[1]
    if classes == 2:
        out_weights, out_bias = np.hstack([0 * out_weights, out_weights]), np.append(0.0, out_bias)
    ours = NeuralNetwork(idf_values, learner.coefs_[0], learner.intercepts_[0], out_weights, out_bias, 1.0)
    assert np.allclose(learner.predict_proba(samples), ours.probabilities(bags), atol=1e-5)


def test_neural_network_fit_accepts_six_pages() -> None:
    bags, labels = _pages(2, 6)
    assert 2 == NeuralNetwork.fit(bags, labels, 2, 15).probabilities(bags).shape[1]
