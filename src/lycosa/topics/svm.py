"""Linear support vector machine: a line between each class and the rest.

Paper items:
    otie-svm: `lycosa train --kind svm`. Test: topics/test_classifiers.py::test_distances_are_scikit_learns. Departs:
        linear, with probabilities by Platt: kernel and scores are not said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.text.bags import Bags, idf, unit
from lycosa.text.folds import folds

MISSING = "kind {kind} is trained with scikit-learn, which is not installed: pip install 'lycosa[train]', or --kind nb"

COST = 1.0
"""C of the machine. On WebKB .3 and 1 did equally well, on Wikispeedia 1 was two points of accuracy better."""


class Kept:
    """Base of classifiers, dataclasses of arrays: all of these are kept in a file, and it is made of them again."""

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """What has to be kept."""
        return {name: np.atleast_1d(np.asarray(value, np.float32)) for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float32]]) -> Self:
        """The model that `arrays` was made of."""
        return cls(**arrays)


@dataclass
class LinearSvm(Kept):
    """One linear machine per class against the rest, on tf-idf vectors of unit length, with probabilities by Platt.

    The machine of class c gives d_c = w_c x + b_c; P(c) = 1 / (1 + exp(A_c d_c + B_c)), made to sum to 1 over the
    classes. A and B are fitted to machines that had not seen the pages (out of three folds).

    Trained by scikit-learn (`LinearSVC`), which only training needs; what is predicted, is predicted here.

    >>> bags = Bags.of([([0, 1], [2, 1]), ([2, 1], [1, 1])])
    >>> machine = LinearSvm(np.ones(3, np.float32), np.array([[1, -1], [0, 0], [-1, 1]], np.float32),
    ...     np.zeros(2, np.float32), np.array([[-2, 0], [-2, 0]], np.float32))
    >>> machine.probabilities(bags).round(2).tolist()
    [[0.85, 0.15], [0.2, 0.8]]

    Paper: Guan et al. 2008 (an SVM judges pages); Platt 1999 for the probabilities; Batsakis 2007, eq. 1 for tf-idf.
    """

    kind: ClassVar[str] = "svm"
    name: ClassVar[str] = "linear SVM"

    idf: NDArray[np.float32] = field(repr=False)
    weights: NDArray[np.float32] = field(repr=False)
    """A row for each term."""
    bias: NDArray[np.float32]
    platt: NDArray[np.float32]
    """A and B of each class."""

    @classmethod
    def fit(cls, bags: Bags, labels: NDArray[np.intp], classes: int, terms: int, seed: int = 0) -> LinearSvm:
        """Train on all, after training on parts to see what the distances are worth."""
        weigh = idf(bags.document_frequency(terms), len(bags))
        values = unit(bags, weigh)
        distances = np.zeros((len(bags), classes))
        seen = np.zeros(len(bags), bool)
        for train, left_out in folds(labels, seed):
            if len(np.unique(labels[train])) < 2:
                continue
            weights, bias = _machines(bags, values, train, labels, classes, terms, seed)
            some = bags.take(left_out)
            distances[left_out] = some.times(unit(some, weigh), weights) + bias
            seen[left_out] = True
        platt = np.array([_platt(distances[seen, c], labels[seen] == c) for c in range(classes)], np.float32)
        weights, bias = _machines(bags, values, np.arange(len(bags)), labels, classes, terms, seed)
        return cls(weigh, weights, bias, platt)

    def probabilities(self, bags: Bags) -> NDArray[np.float64]:
        """P(c | words) for each bag."""
        distance = bags.times(unit(bags, self.idf), self.weights) + self.bias
        alone = 1.0 / (1.0 + np.exp(np.clip(self.platt[:, 0] * distance + self.platt[:, 1], -500, 500)))
        shares: NDArray[np.float64] = alone / alone.sum(axis=1, keepdims=True)
        return shares

    @staticmethod
    def shapes(classes: int, terms: int) -> dict[str, tuple[int, ...]]:
        """The shape of each array; -1 stands for any size."""
        return {"idf": (terms,), "weights": (terms, classes), "bias": (classes,), "platt": (classes, 2)}


def matrix(bags: Bags, values: NDArray[np.float64], terms: int) -> Any:
    """The bags as scikit-learn takes them."""
    from scipy.sparse import csr_matrix

    return csr_matrix((values, bags.columns, bags.starts), shape=(len(bags), terms))


def _machines(
    bags: Bags,
    values: NDArray[np.float64],
    rows: NDArray[np.intp],
    labels: NDArray[np.intp],
    classes: int,
    terms: int,
    seed: int,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights and bias of each class. One that has no page among these rows is never near."""
    try:
        from sklearn.svm import LinearSVC
    except ImportError as error:
        raise InputError(MISSING.format(kind="svm")) from error
    machine = LinearSVC(C=COST, random_state=seed % 2**32, max_iter=5000)
    machine.fit(matrix(bags, values, terms)[rows], labels[rows])
    weights = np.zeros((terms, classes), np.float32)
    bias = np.full(classes, -1.0, np.float32)
    if len(machine.classes_) == 2:  # one machine for both
        weights[:, machine.classes_] = np.outer(machine.coef_[0], [-1.0, 1.0])
        bias[machine.classes_] = machine.intercept_[0] * np.array([-1.0, 1.0])
    else:
        weights[:, machine.classes_] = machine.coef_.T
        bias[machine.classes_] = machine.intercept_
    return weights, bias


def _platt(distance: NDArray[np.float64], true: NDArray[np.bool_]) -> tuple[float, float]:
    """A and B with the least log loss, by Newton's method; targets are smoothed as Platt does.

    >>> [round(value, 2) for value in _platt(np.array([-1.0, 1.0, 3.0]), np.array([False, False, True]))]
    [-0.47, 0.99]
    """
    right, wrong = float(true.sum()), float((~true).sum())
    target = np.where(true, (right + 1) / (right + 2), 1 / (wrong + 2))
    a, b = 0.0, float(np.log((wrong + 1) / (right + 1)))

    def loss(a: float, b: float) -> float:
        z = a * distance + b
        return float((target * z + np.logaddexp(0.0, -z)).sum())

    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(np.clip(a * distance + b, -500, 500)))
        error, spread = target - p, p * (1.0 - p)
        gradient = np.array([error @ distance, error.sum()])
        if np.abs(gradient).max() < 1e-6:
            break
        cross = spread @ distance
        curve = np.array([[spread @ distance**2 + 1e-10, cross], [cross, spread.sum() + 1e-10]])
        step = np.linalg.solve(curve, gradient)
        size, now = 1.0, loss(a, b)
        while size > 1e-8 and loss(a - size * step[0], b - size * step[1]) > now:
            size /= 2
        a, b = a - size * float(step[0]), b - size * float(step[1])
        if size <= 1e-8:
            break
    return a, b
