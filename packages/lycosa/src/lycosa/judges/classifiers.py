"""Classifiers trained with scikit-learn: linear SVM, neural network and decision tree. Prediction needs only NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.text.bags import Bags, idf, unit
from lycosa.text.folds import folds, log_loss, softmax

MISSING = "--kind {kind} needs scikit-learn: pip install 'lycosa[train]', or use --kind nb"


def _sklearn_class(kind: str, name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(import_module(f"sklearn.{module}"), attribute)
    except ImportError as error:
        raise InputError("missing-package", MISSING.format(kind=kind)) from error


class ArrayClassifier:
    """Base class of classifiers: dataclasses of arrays, which are all that a model file stores."""

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        return {name: np.atleast_1d(np.asarray(value, np.float32)) for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float32]]) -> Self:
        return cls(**arrays)


@dataclass
class LinearSvm(ArrayClassifier):
    """One-vs-rest linear SVM on tf-idf vectors of unit length, with Platt probabilities.

    The decision value of class c is d_c = w_c x + b_c, and P(c) = 1 / (1 + exp(A_c d_c + B_c)), normalised over the
    classes. A and B are fitted on held-out pages (three folds). Trained with scikit-learn's `LinearSVC`.

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
    weights: NDArray[np.float32] = field(repr=False)  # one row per term
    bias: NDArray[np.float32]
    platt: NDArray[np.float32]  # A and B of each class

    @classmethod
    def fit(cls, bags: Bags, labels: NDArray[np.intp], classes: int, terms: int, seed: int = 0) -> LinearSvm:
        idf_values = idf(bags.document_frequency(terms), len(bags))
        values = unit(bags, idf_values)
        distances = np.zeros((len(bags), classes))
        is_held_out = np.zeros(len(bags), bool)
        for train, held_out in folds(labels, seed):
            if len(np.unique(labels[train])) < 2:
                continue
            weights, bias = _fit_machines(bags, values, train, labels, classes, terms, seed)
            part = bags.take(held_out)
            distances[held_out] = part.times(unit(part, idf_values), weights) + bias
            is_held_out[held_out] = True
        fitted = [_platt(distances[is_held_out, c], labels[is_held_out] == c) for c in range(classes)]
        platt = np.array(fitted, np.float32)
        weights, bias = _fit_machines(bags, values, np.arange(len(bags)), labels, classes, terms, seed)
        return cls(idf_values, weights, bias, platt)

    def probabilities(self, bags: Bags) -> NDArray[np.float64]:
        distance = bags.times(unit(bags, self.idf), self.weights) + self.bias
        independent = 1.0 / (1.0 + np.exp(np.clip(self.platt[:, 0] * distance + self.platt[:, 1], -500, 500)))
        shares: NDArray[np.float64] = independent / independent.sum(axis=1, keepdims=True)
        return shares

    @staticmethod
    def shapes(classes: int, terms: int) -> dict[str, tuple[int, ...]]:
        """Return the expected shape of each array; -1 means any size."""
        return {"idf": (terms,), "weights": (terms, classes), "bias": (classes,), "platt": (classes, 2)}


def matrix(bags: Bags, values: NDArray[np.float64], terms: int) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((values, bags.columns, bags.starts), shape=(len(bags), terms))


def _fit_machines(
    bags: Bags,
    values: NDArray[np.float64],
    rows: NDArray[np.intp],
    labels: NDArray[np.intp],
    classes: int,
    terms: int,
    seed: int,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the weights and bias of each class; a class without pages in `rows` gets a decision value of -1."""
    # C = .3 and 1 performed equally well on WebKB; on Wikispeedia 1 was better by two points of accuracy
    machine = _sklearn_class("svm", "svm.LinearSVC")(C=1.0, random_state=seed % 2**32, max_iter=5000)
    machine.fit(matrix(bags, values, terms)[rows], labels[rows])
    weights = np.zeros((terms, classes), np.float32)
    bias = np.full(classes, -1.0, np.float32)
    if len(machine.classes_) == 2:  # scikit-learn returns a single machine for two classes
        weights[:, machine.classes_] = np.outer(machine.coef_[0], [-1.0, 1.0])
        bias[machine.classes_] = machine.intercept_[0] * np.array([-1.0, 1.0])
    else:
        weights[:, machine.classes_] = machine.coef_.T
        bias[machine.classes_] = machine.intercept_
    return weights, bias


def _platt(distance: NDArray[np.float64], true: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the A and B with the least log loss, by Newton's method with Platt's smoothed targets.

    >>> [round(value, 2) for value in _platt(np.array([-1.0, 1.0, 3.0]), np.array([False, False, True]))]
    [-0.47, 0.99]
    """
    positives, negatives = float(true.sum()), float((~true).sum())
    target = np.where(true, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    a, b = 0.0, float(np.log((negatives + 1) / (positives + 1)))

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


MAX_ROUNDS = 60  # large training sets need five to ten rounds, small ones fifty
TEMPERATURES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0)


@dataclass
class NeuralNetwork(ArrayClassifier):
    """Neural network: softmax((relu(x W + b) V + c) / t) on tf-idf vectors x of unit length, with 32 hidden units.

    The number of training rounds and the temperature t, which corrects overconfidence, minimise the log loss on a
    held-out third of the pages. The final network is trained on all pages, with scikit-learn's `MLPClassifier` (Adam).

    >>> bags = Bags.of([([0], [1]), ([1], [1])])
    >>> network = NeuralNetwork(np.ones(2, np.float32), np.array([[1, 0], [0, 1]], np.float32), np.zeros(2, np.float32),
    ...     np.array([[2, 0], [0, 2]], np.float32), np.zeros(2, np.float32), 1.0)
    >>> network.probabilities(bags).round(2).tolist()
    [[0.88, 0.12], [0.12, 0.88]]

    Paper: Guan et al. 2008 (a neural network judges pages). Size and training are ours, as the paper does not give
    them.
    """

    kind: ClassVar[str] = "nn"
    name: ClassVar[str] = "neural network"

    idf: NDArray[np.float32] = field(repr=False)
    weights: NDArray[np.float32] = field(repr=False)  # W, one row per term
    bias: NDArray[np.float32] = field(repr=False)
    out_weights: NDArray[np.float32] = field(repr=False)
    out_bias: NDArray[np.float32]
    temperature: float

    @classmethod
    def fit(cls, bags: Bags, labels: NDArray[np.intp], classes: int, terms: int, seed: int = 0) -> NeuralNetwork:
        idf_values = idf(bags.document_frequency(terms), len(bags))
        samples = matrix(bags, unit(bags, idf_values), terms).astype(np.float32)
        rounds, temperature = MAX_ROUNDS, 1.0
        for train, held_out in folds(labels, seed):
            rounds, temperature = _choose_rounds(samples, labels, classes, train, held_out, seed)
            break
        learner = _new_network(len(bags), seed)
        for _ in range(rounds):
            _train_round(learner, samples, labels, classes)
        weights, out_weights = learner.coefs_
        bias, out_bias = learner.intercepts_
        if out_weights.shape[1] < classes:  # scikit-learn uses a single output unit for two classes
            out_weights, out_bias = _both_logits(out_weights), _both_logits(out_bias)
        parts = [np.ascontiguousarray(part, np.float32) for part in (weights, bias, out_weights, out_bias)]
        return cls(idf_values, parts[0], parts[1], parts[2], parts[3], temperature)

    def probabilities(self, bags: Bags) -> NDArray[np.float64]:
        hidden = np.maximum(0.0, bags.times(unit(bags, self.idf), self.weights) + self.bias)
        scores = np.asarray(hidden @ self.out_weights + self.out_bias, np.float64)
        return softmax(scores / self.temperature)

    def __post_init__(self) -> None:
        self.temperature = float(np.ravel(self.temperature)[0])
        if not self.temperature > 0:
            raise ValueError("the temperature is not positive")
        if self.bias.shape[0] != self.weights.shape[1] or self.bias.shape[0] != len(self.out_weights):
            raise ValueError("the sizes of the layers differ")

    @staticmethod
    def shapes(classes: int, terms: int) -> dict[str, tuple[int, ...]]:
        return {
            "idf": (terms,),
            "weights": (terms, -1),
            "bias": (-1,),
            "out_weights": (-1, classes),
            "out_bias": (classes,),
            "temperature": (1,),
        }


def _new_network(pages: int, seed: int) -> Any:
    # smaller batches for few pages, as a round would be a single step otherwise
    make, batch = _sklearn_class("nn", "neural_network.MLPClassifier"), max(4, min(128, pages // 20))
    return make((32,), batch_size=batch, alpha=1e-4, random_state=seed % 2**32)


def _train_round(learner: Any, samples: Any, labels: NDArray[np.intp], classes: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns about batches larger than the set
        learner.partial_fit(samples, labels, classes=np.arange(classes))


def _choose_rounds(
    samples: Any,
    labels: NDArray[np.intp],
    classes: int,
    kept: NDArray[np.intp],
    held_out: NDArray[np.intp],
    seed: int,
) -> tuple[int, float]:
    """Return the number of rounds and the temperature with the least log loss on held-out pages."""
    learner = _new_network(len(kept), seed)
    best, setting = np.inf, (1, 1.0)
    for rounds in range(1, MAX_ROUNDS + 1):
        _train_round(learner, samples[kept], labels[kept], classes)
        scores = np.log(np.maximum(learner.predict_proba(samples[held_out]).astype(np.float64), 1e-30))
        losses = {t: log_loss(softmax(scores / t), labels[held_out]) for t in TEMPERATURES}
        loss = min(losses.values())
        # The highest temperature close to the optimum: the log loss favours certainty for classes never confused.
        temperature = max(t for t in TEMPERATURES if losses[t] <= loss + 0.01)
        if loss < best - 1e-4:
            best, setting = loss, (rounds, temperature)
        elif rounds >= setting[0] + 3:  # three rounds without improvement
            break
    return setting


def _both_logits(column: NDArray[np.float32]) -> NDArray[np.float32]:
    """Split the logit of the second of two classes into one logit per class."""
    column = column.reshape(-1, 1)
    logits: NDArray[np.float32] = np.hstack([-column / 2, column / 2])
    return logits if len(column) > 1 else logits[0]


@dataclass
class DecisionTree(ArrayClassifier):
    """CART decision tree on tf-idf vectors: node i goes left if the value of term `term[i]` is at most `cut[i]`.

    Leaves have term -1. P(c) is the share of class c among the training pages of a leaf, smoothed with one page of the
    whole set: (n_c + P_all(c)) / (n + 1). Trained with scikit-learn's `DecisionTreeClassifier` (Gini, leaves of 20
    pages or more).

    >>> tree = DecisionTree(np.ones(2, np.float32), term=np.array([1, -1, -1]), cut=np.array([.5, 0, 0]),
    ...     left=np.array([1, 0, 0]), right=np.array([2, 0, 0]), shares=np.array([[.5, .5], [.9, .1], [.2, .8]]))
    >>> tree.probabilities(Bags.of([([0], [1]), ([0, 1], [1, 1]), ([], [])])).tolist()
    [[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]]

    Paper: named in Batsakis 2007, 2.5; Breiman et al. 1984.
    """

    kind: ClassVar[str] = "tree"
    name: ClassVar[str] = "decision tree"

    idf: NDArray[np.float32] = field(repr=False)
    term: NDArray[Any] = field(repr=False)
    cut: NDArray[Any] = field(repr=False)
    left: NDArray[Any] = field(repr=False)
    right: NDArray[Any] = field(repr=False)
    shares: NDArray[Any] = field(repr=False)  # one row per node

    def __post_init__(self) -> None:
        for name in ("term", "left", "right"):
            numbers = np.asarray(getattr(self, name))
            if (numbers != np.floor(numbers)).any():
                raise ValueError(f"{name} has fractional numbers")
            setattr(self, name, numbers.astype(np.intp))
        self._check()

    @classmethod
    def fit(cls, bags: Bags, labels: NDArray[np.intp], classes: int, terms: int, seed: int = 0) -> DecisionTree:
        make = _sklearn_class(cls.kind, "tree.DecisionTreeClassifier")
        idf_values = idf(bags.document_frequency(terms), len(bags))
        # On WebKB, leaves of 1, 5, 10, 20 pages classified 61.7, 62.4, 63.0, 63.0 % of the pages correctly, and their
        # probabilities were off by 30, 16, 10, 6 %.
        min_leaf = max(1, min(20, len(bags) // 20))
        learner = make(min_samples_leaf=min_leaf, random_state=seed % 2**32)
        learner.fit(matrix(bags, unit(bags, idf_values), terms).astype(np.float32), labels)
        tree = learner.tree_
        shares = np.zeros((tree.node_count, classes))
        shares[:, learner.classes_] = tree.value[:, 0, :]
        shares /= shares.sum(axis=1, keepdims=True)  # older versions of scikit-learn store counts, newer ones shares
        pages = tree.n_node_samples[:, None]
        shares = (shares * pages + shares[0]) / (pages + 1)
        term = np.where(tree.feature < 0, -1, tree.feature)
        below = [np.maximum(0, part) for part in (tree.children_left, tree.children_right)]
        return cls(idf_values, term, tree.threshold.astype(np.float32), below[0], below[1], shares.astype(np.float32))

    def probabilities(self, bags: Bags) -> NDArray[np.float64]:
        width = len(self.idf) + 1
        keys = bags.rows() * width + bags.columns
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], unit(bags, self.idf).astype(np.float32)[order]
        at = np.zeros(len(bags), np.intp)
        active = np.flatnonzero(self.term[at] >= 0)
        while len(active):  # one level per pass; terminates because children have higher numbers than their parent
            node = at[active]
            searched = active * width + self.term[node]
            place = np.minimum(np.searchsorted(keys, searched), max(0, len(keys) - 1))
            is_present = keys[place] == searched if len(keys) else np.zeros(len(active), bool)
            value = np.where(is_present, values[place] if len(keys) else 0.0, 0.0)
            at[active] = np.where(value <= self.cut[node], self.left[node], self.right[node])
            active = active[self.term[at[active]] >= 0]
        shares = self.shares[at].astype(np.float64)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    @staticmethod
    def shapes(classes: int, terms: int) -> dict[str, tuple[int, ...]]:
        return {
            "idf": (terms,), "term": (-1,), "cut": (-1,), "left": (-1,), "right": (-1,), "shares": (-1, classes),
        }  # fmt: skip

    def _check(self) -> None:
        """Raise ValueError unless every path from the root ends at a leaf with positive shares."""
        nodes = len(self.term)
        # node numbers are stored as 32-bit floats, which are exact up to 2^24
        if not 1 <= nodes <= (1 << 24) or any(len(part) != nodes for part in (self.cut, self.left, self.right)):
            raise ValueError("the arrays of the tree differ in length")
        is_inner, number = self.term >= 0, np.arange(nodes)
        if (self.term < -1).any() or (self.term >= len(self.idf)).any():
            raise ValueError("a node of the tree has an unknown term")
        for below in (self.left[is_inner], self.right[is_inner]):
            if (below <= number[is_inner]).any() or (below >= nodes).any():
                raise ValueError("a node of the tree has an invalid child")
        if len(self.shares) != nodes or not ((self.shares >= 0).all() and (self.shares.sum(axis=1) > 0).all()):
            raise ValueError("the shares of a node are not positive")
