"""DecisionTree: comparison with scikit-learn, leaves by hand, and invalid files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lycosa.judges.classifiers import DecisionTree, matrix
from lycosa.text.bags import Bags, unit


def some_pages(count: int = 120, terms: int = 30, seed: int = 5) -> tuple[Bags, NDArray[np.intp]]:
    """Return pages of three classes with words of their own and common words."""
    generator = np.random.default_rng(seed)
    labels = np.arange(count) % 3
    pairs = []
    for label in labels:
        counts = generator.poisson(0.4, terms)
        counts[label * 5 : label * 5 + 5] += generator.poisson(1.2, 5)
        columns = np.flatnonzero(counts)
        pairs.append((columns, counts[columns].astype(float)))
    return Bags.of(pairs), labels


@pytest.mark.paper("batsakis-decision-tree")
def test_decision_tree_equals_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.tree")
    bags, labels = some_pages()
    tree = DecisionTree.fit(bags, labels, 3, 30)
    samples = matrix(bags, unit(bags, tree.idf), 30).astype(np.float32)
    theirs = sklearn.DecisionTreeClassifier(min_samples_leaf=6, random_state=0).fit(samples, labels)
    leaves = theirs.apply(samples)
    assert len(np.unique(leaves)) > 5
    assert tree.shares[leaves] == pytest.approx(tree.probabilities(bags), abs=1e-6)
    # Ties that smoothing breaks differently are excepted.
    assert (theirs.predict(samples) == tree.probabilities(bags).argmax(axis=1)).mean() > 0.95


def test_decision_tree_leaf_shares_by_hand() -> None:
    """Leaves have smoothed shares: for 12 pages of one class (12 + .5) / 13, and (0 + .5) / 13 for the other."""
    bags = Bags.of([([0], [1]), ([1], [2])] * 12)
    tree = DecisionTree.fit(bags, np.arange(24) % 2, 2, 2)
    assert [[12.5 / 13, 0.5 / 13], [0.5 / 13, 12.5 / 13]] == pytest.approx(tree.probabilities(bags)[:2], abs=1e-6)


def test_decision_tree_batch_equals_single_pages() -> None:
    bags, labels = some_pages()
    tree = DecisionTree.fit(bags, labels, 3, 30)
    together = tree.probabilities(bags)
    alone = np.concatenate([tree.probabilities(bags.take(np.array([row]))) for row in range(20)])
    assert together[:20].tolist() == alone.tolist()
    assert (0, 3) == tree.probabilities(Bags.of([])).shape
    assert together == pytest.approx(DecisionTree.from_arrays(tree.arrays()).probabilities(bags), abs=1e-6)


@pytest.mark.parametrize(("change", "message"), [
    (lambda parts: parts.update(left=np.array([0, 0, 0], np.float32)), "invalid child"),
    (lambda parts: parts.update(right=np.array([3, 0, 0], np.float32)), "invalid child"),
    (lambda parts: parts.update(term=np.array([2, -1, -1], np.float32)), "an unknown term"),
    (lambda parts: parts.update(term=np.array([-2, -1, -1], np.float32)), "an unknown term"),
    (lambda parts: parts.update(term=np.array([0.5, -1, -1], np.float32)), "fractional"),
    (lambda parts: parts.update(cut=np.zeros(2, np.float32)), "differ in length"),
    (lambda parts: parts.update(shares=np.zeros((3, 2), np.float32)), "not positive"),
    (lambda parts: parts.update(shares=np.ones((2, 2), np.float32)), "not positive"),
])  # fmt: skip
def test_decision_tree_from_arrays_rejects_bad_trees(change: Callable[[dict[str, Any]], None], message: str) -> None:
    tree = DecisionTree(
        np.ones(2, np.float32), np.array([1, -1, -1]), np.array([0.5, 0, 0]), np.array([1, 0, 0]),
        np.array([2, 0, 0]), np.full((3, 2), 0.5),
    )  # fmt: skip
    parts = tree.arrays()
    change(parts)
    with pytest.raises(ValueError, match=message):
        DecisionTree.from_arrays(parts)
