"""A neural network with one hidden layer.

Paper items:
    otie-nn: `lycosa train --kind nn`. Test: topics/test_classifiers.py::test_it_tells_classes_apart. Departs: size and
        training are ours: the paper does not say.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.text.bags import Bags, idf, unit
from lycosa.text.folds import folds, log_loss, softmax
from lycosa.topics.svm import MISSING, Kept, matrix

HIDDEN = 32
BATCH = 128
"""Pages between two steps; fewer where there are few, or a round would be over in a step."""

MOST_ROUNDS = 60
"""How often the pages are gone through at most; large sets need five to ten rounds, small ones fifty."""

PATIENCE = 3
"""Rounds that may pass without anything getting better."""

ENOUGH = 0.01
"""Log loss that is not worth being surer for. On classes that are never mistaken, certainty would always win."""

TEMPERATURES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0)


@dataclass
class Network(Kept):
    """softmax((relu(x W + b) V + c) / t) on tf-idf vectors x of unit length, with 32 hidden units.

    How many rounds to train is found with a third of the pages left out: as many as bring the log loss on those down.
    The temperature t, found there too, corrects what the network is too sure of. Then all pages are used.

    Trained by scikit-learn (`MLPClassifier`, Adam), which only training needs; what is predicted, is predicted here.

    >>> bags = Bags.of([([0], [1]), ([1], [1])])
    >>> network = Network(np.ones(2, np.float32), np.array([[1, 0], [0, 1]], np.float32), np.zeros(2, np.float32),
    ...     np.array([[2, 0], [0, 2]], np.float32), np.zeros(2, np.float32), 1.0)
    >>> network.probabilities(bags).round(2).tolist()
    [[0.88, 0.12], [0.12, 0.88]]

    Paper: Guan et al. 2008 (a neural network judges pages). Its size and training are ours: the paper does not say.
    """

    kind: ClassVar[str] = "nn"
    name: ClassVar[str] = "neural network"

    idf: NDArray[np.float32] = field(repr=False)
    weights: NDArray[np.float32] = field(repr=False)
    """W, a row for each term."""
    bias: NDArray[np.float32] = field(repr=False)
    out_weights: NDArray[np.float32] = field(repr=False)
    out_bias: NDArray[np.float32]
    temperature: float

    @classmethod
    def fit(cls, bags: Bags, labels: NDArray[np.intp], classes: int, terms: int, seed: int = 0) -> Network:
        """Train on a part to see how long to train and what the scores are worth, then on all."""
        weigh = idf(bags.document_frequency(terms), len(bags))
        samples = matrix(bags, unit(bags, weigh), terms).astype(np.float32)
        rounds, temperature = MOST_ROUNDS, 1.0
        for train, left_out in folds(labels, seed):
            rounds, temperature = _tried(samples, labels, classes, train, left_out, seed)
            break
        learner = _learner(len(bags), seed)
        for _ in range(rounds):
            _go_on(learner, samples, labels, classes)
        weights, out_weights = learner.coefs_
        bias, out_bias = learner.intercepts_
        if out_weights.shape[1] < classes:  # of two classes there is one unit, the second's
            out_weights, out_bias = _both(out_weights), _both(out_bias)
        parts = [np.ascontiguousarray(part, np.float32) for part in (weights, bias, out_weights, out_bias)]
        return cls(weigh, parts[0], parts[1], parts[2], parts[3], temperature)

    def probabilities(self, bags: Bags) -> NDArray[np.float64]:
        """P(c | words) for each bag."""
        hidden = np.maximum(0.0, bags.times(unit(bags, self.idf), self.weights) + self.bias)
        scores = np.asarray(hidden @ self.out_weights + self.out_bias, np.float64)
        return softmax(scores / self.temperature)

    def __post_init__(self) -> None:
        self.temperature = float(np.ravel(self.temperature)[0])
        if not self.temperature > 0:
            raise ValueError("the temperature is not positive")
        if self.bias.shape[0] != self.weights.shape[1] or self.bias.shape[0] != len(self.out_weights):
            raise ValueError("the layers do not fit together")

    @staticmethod
    def shapes(classes: int, terms: int) -> dict[str, tuple[int, ...]]:
        """The shape of each array; -1 stands for any size."""
        return {
            "idf": (terms,),
            "weights": (terms, -1),
            "bias": (-1,),
            "out_weights": (-1, classes),
            "out_bias": (classes,),
            "temperature": (1,),
        }


def _learner(pages: int, seed: int) -> Any:
    try:
        from sklearn.neural_network import MLPClassifier
    except ImportError as error:
        raise InputError(MISSING.format(kind="nn")) from error
    return MLPClassifier((HIDDEN,), batch_size=max(4, min(BATCH, pages // 20)), alpha=1e-4, random_state=seed % 2**32)


def _go_on(learner: Any, samples: Any, labels: NDArray[np.intp], classes: int) -> None:
    """Go through all pages once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of batches that are larger than the set
        learner.partial_fit(samples, labels, classes=np.arange(classes))


def _tried(
    samples: Any,
    labels: NDArray[np.intp],
    classes: int,
    kept: NDArray[np.intp],
    left_out: NDArray[np.intp],
    seed: int,
) -> tuple[int, float]:
    """How many rounds do best on pages that were left out, and at which temperature."""
    learner = _learner(len(kept), seed)
    best, setting = np.inf, (1, 1.0)
    for rounds in range(1, MOST_ROUNDS + 1):
        _go_on(learner, samples[kept], labels[kept], classes)
        scores = np.log(np.maximum(learner.predict_proba(samples[left_out]).astype(np.float64), 1e-30))
        losses = {t: log_loss(softmax(scores / t), labels[left_out]) for t in TEMPERATURES}
        loss = min(losses.values())
        temperature = max(t for t in TEMPERATURES if losses[t] <= loss + ENOUGH)
        if loss < best - 1e-4:
            best, setting = loss, (rounds, temperature)
        elif rounds >= setting[0] + PATIENCE:
            break
    return setting


def _both(column: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of the logit of the second class, those of both."""
    column = column.reshape(-1, 1)
    both: NDArray[np.float32] = np.hstack([-column / 2, column / 2])
    return both if len(column) > 1 else both[0]
