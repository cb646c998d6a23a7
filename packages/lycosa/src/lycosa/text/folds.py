"""Cross-validation folds, softmax and log loss."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def folds(labels: NDArray[np.intp], seed: int, count: int = 3) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield training rows and held-out rows of stratified folds."""
    generator = np.random.default_rng([seed, 7])
    fold_of_row = np.zeros(len(labels), np.intp)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        fold_of_row[generator.permutation(rows)] = (np.arange(len(rows)) + int(label)) % count
    for number in range(count):
        train, held_out = np.flatnonzero(fold_of_row != number), np.flatnonzero(fold_of_row == number)
        if len(train) and len(held_out):
            yield train, held_out


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp(score), normalised per row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return shares


def log_loss(probabilities: NDArray[np.float64], labels: NDArray[np.intp]) -> float:
    """Return the mean of -log of the probability of the true class.

    >>> round(log_loss(np.array([[0.5, 0.5]]), np.array([1])), 3)
    0.693
    """
    return float(-np.log(np.maximum(probabilities[np.arange(len(labels)), labels], 1e-12)).mean())
