"""Logistic regression in as many unknowns as there are pages to learn from, with what it says of each when left out.

f = K a, and a maximises sum_i w_i log p(y_i | f_i) - a'K a / (2 C), by iteratively reweighted least squares: with
W = w p (1 - p) and z = f + w (y - p) / W, each step solves (K + (C W)^-1) a = z. What f_i would be without page i
is z_i - a_i / (G^-1)_ii, G the matrix of the last step (Cook, Weisberg 1982, as for any smoother that is linear in z).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STEPS = 6
CURVATURE = 1e-3
FURTHEST = 30.0

Column = NDArray[np.float64]


def fitted(kernel: NDArray[Any], yes: Column, weights: Column, strength: float = 1.0) -> tuple[Column, Column]:
    """a, and f of each page as the others alone would have it.

    >>> x = np.array([1.0, 0.9, -1.0, -0.8])
    >>> a, alone = fitted(np.outer(x, x), np.array([1.0, 1.0, 0.0, 0.0]), np.ones(4))
    >>> (np.outer(x, x) @ a > 0).tolist(), (alone > 0).tolist()
    ([True, True, False, False], [True, True, False, False])
    """
    f = np.zeros(len(yes))
    for _ in range(STEPS):
        p = sigmoid(f)
        curve = np.maximum(weights * p * (1.0 - p), CURVATURE)
        aim = f + weights * (yes - p) / curve
        system = kernel + np.diag(1.0 / (strength * curve))
        a = np.linalg.solve(system, aim)
        f = kernel @ a
    alone = aim - a / np.diag(np.linalg.inv(system))
    return a, np.clip(alone, -FURTHEST, FURTHEST)


def sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    """1 / (1 + exp(-x))."""
    probability: NDArray[Any] = 1.0 / (1.0 + np.exp(-np.clip(x, -FURTHEST, FURTHEST)))
    return probability
