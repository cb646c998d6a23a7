"""Decision tree: questions about one word at a time, until the class is clear.

Paper items:
    batsakis-decision-tree: `lycosa train --kind tree`. Test:
        topics/test_decision_tree.py::test_it_says_what_scikit_learn_says. Departs: only named there; CART, with the
        sizes below.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.text.bags import Bags, idf, unit
from lycosa.topics.svm import MISSING, Kept, matrix

LEAST = 20
"""Pages of a leaf, at least; of a small set a twentieth. On WebKB leaves of 1, 5, 10 and 20 pages were right for 61.7,
62.4, 63.0 and 63.0 % of the pages, and their probabilities off by 30, 16, 10 and 6 %."""

MOST_NODES = 1 << 24
"""Numbers of nodes are kept as they are in 32 bits of floating point: up to here each is exact."""


@dataclass
class Tree(Kept):
    """CART on tf-idf vectors of unit length: at node i go left if the value of term `term[i]` is at most `cut[i]`.

    A leaf asks nothing (its term is -1); P(c) is its share of class c among the training pages there, with as many more
    pages as the leaf's one of the whole set: (n_c + P_all(c)) / (n + 1).

    Trained by scikit-learn (`DecisionTreeClassifier`, Gini, leaves of 20 pages or more), which only training needs;
    what is predicted, is predicted here.

    >>> tree = Tree(np.ones(2, np.float32), term=np.array([1, -1, -1]), cut=np.array([.5, 0, 0]),
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
    shares: NDArray[Any] = field(repr=False)
    """A row for each node."""

    def __post_init__(self) -> None:
        for name in ("term", "left", "right"):
            numbers = np.asarray(getattr(self, name))
            if (numbers != np.floor(numbers)).any():
                raise ValueError(f"{name} has numbers that are not whole")
            setattr(self, name, numbers.astype(np.intp))
        self._check()

    @classmethod
    def fit(cls, bags: Bags, labels: NDArray[np.intp], classes: int, terms: int, seed: int = 0) -> Tree:
        """Grow a tree."""
        try:
            from sklearn.tree import DecisionTreeClassifier
        except ImportError as error:
            raise InputError(MISSING.format(kind=cls.kind)) from error
        weigh = idf(bags.document_frequency(terms), len(bags))
        least = max(1, min(LEAST, len(bags) // 20))
        learner = DecisionTreeClassifier(min_samples_leaf=least, random_state=seed % 2**32)
        learner.fit(matrix(bags, unit(bags, weigh), terms).astype(np.float32), labels)
        grown = learner.tree_
        shares = np.zeros((grown.node_count, classes))
        shares[:, learner.classes_] = grown.value[:, 0, :]
        shares /= shares.sum(axis=1, keepdims=True)  # counts in older versions, shares in newer ones
        pages = grown.n_node_samples[:, None]
        shares = (shares * pages + shares[0]) / (pages + 1)
        term = np.where(grown.feature < 0, -1, grown.feature)
        below = [np.maximum(0, part) for part in (grown.children_left, grown.children_right)]
        return cls(weigh, term, grown.threshold.astype(np.float32), below[0], below[1], shares.astype(np.float32))

    def probabilities(self, bags: Bags) -> NDArray[np.float64]:
        """P(c | words) for each bag."""
        width = len(self.idf) + 1
        keys = bags.rows() * width + bags.columns
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], unit(bags, self.idf).astype(np.float32)[order]
        at = np.zeros(len(bags), np.intp)
        going = np.flatnonzero(self.term[at] >= 0)
        while len(going):  # one question of each bag a turn; children have larger numbers, so it ends
            node = at[going]
            wanted = going * width + self.term[node]
            place = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
            has = keys[place] == wanted if len(keys) else np.zeros(len(going), bool)
            value = np.where(has, values[place] if len(keys) else 0.0, 0.0)
            at[going] = np.where(value <= self.cut[node], self.left[node], self.right[node])
            going = going[self.term[at[going]] >= 0]
        shares = self.shares[at].astype(np.float64)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    @staticmethod
    def shapes(classes: int, terms: int) -> dict[str, tuple[int, ...]]:
        """The shape of each array; -1 stands for any size."""
        return {
            "idf": (terms,), "term": (-1,), "cut": (-1,), "left": (-1,), "right": (-1,), "shares": (-1, classes),
        }  # fmt: skip

    def _check(self) -> None:
        """Refuse what is no tree: a walk down from the root has to end at a leaf with shares."""
        nodes = len(self.term)
        if not 1 <= nodes <= MOST_NODES or any(len(part) != nodes for part in (self.cut, self.left, self.right)):
            raise ValueError("the parts of the tree do not fit together")
        asks, number = self.term >= 0, np.arange(nodes)
        if (self.term < -1).any() or (self.term >= len(self.idf)).any():
            raise ValueError("a node of the tree asks for a term that there is not")
        for below in (self.left[asks], self.right[asks]):
            if (below <= number[asks]).any() or (below >= nodes).any():
                raise ValueError("a node of the tree leads up, or nowhere")
        if len(self.shares) != nodes or not ((self.shares >= 0).all() and (self.shares.sum(axis=1) > 0).all()):
            raise ValueError("the shares of a leaf are not positive")
