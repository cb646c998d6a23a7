"""What is learned from a person's yes and no: how far to move a judge's scores, and for which words.

A page is x, the damped and normalised weights of its stems less those of the crawl's average page, and beta, what the
judge said of it. The chance of a yes is

    p = sigmoid(m(beta) + w.x),    m(beta) = s (beta - theta) / theta

so a judge that nobody has corrected (w = 0) says yes from its own threshold theta on. w is that of logistic regression
with a Gaussian prior around 0: few labels move the scores little, only those of pages that share with the labelled ones
what others do not have, and never that of the average page. As p = 1/2 must stay where the threshold is, a score moves
by

    delta(x) = theta / s w.x

With n labels only an n x n system has to be solved: w = v sum_i a_i x_i, and at the optimum a_i = y_i - p_i, which is
how far the judge is off on label i.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit

Column = NDArray[np.float64]

STEEPNESS = 0.5
"""s: how sure the judge's own score is. This little, since a yes to what it liked anyway is to teach something."""
VARIANCE, FEW = 1.0, 2.0
"""v, of each weight before anything is learned: VARIANCE n / (n + FEW) for n labels, as one page proves little."""
MOST = 300
"""Labels that are learned from, the last ones: the work grows with their square and more."""

_WIDE = 4096
"""Words whose products are worked out at once: more would only take memory."""


class Lesson(NamedTuple):
    """One labelled page: its terms by number, in order; how often it has each; what the judge said of it, uncorrected;
    and the label.
    """

    ids: NDArray[Any]
    counts: NDArray[Any]
    beta: float
    relevant: bool


def damped(counts: NDArray[Any]) -> Column:
    """The weights of a page's terms, by how often it has them: 1 + log f, of length 1 together.

    >>> damped(np.array([1, 1, 1, 1])).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    weights: Column = 1.0 + np.log(counts)
    return weights / (float(np.sqrt(weights @ weights)) or 1.0)


class Usual:
    """The average page of a crawl: how much each of its words weighs on its pages.

    >>> usual = Usual()
    >>> usual.add(np.array([0, 2]), np.array([1, 1])); usual.add(np.array([0]), np.array([3]))
    >>> usual.mean()[:3].round(3).tolist()
    [0.854, 0.0, 0.354]
    """

    def __init__(self) -> None:
        self.pages = 0
        self._sums: Column = np.zeros(0)

    def add(self, ids: NDArray[Any], counts: NDArray[Any]) -> None:
        """One more page."""
        if len(ids):
            self._sums = fit(self._sums, int(ids[-1]) + 1)
            self._sums[ids] += damped(counts)
            self.pages += 1

    def mean(self) -> Column:
        """By the numbers of terms."""
        return self._sums / max(self.pages, 1)


class Correction:
    """What lessons teach a judge; `usual` is the crawl's average page.

    >>> reef, train = (np.array([0, 1]), np.array([3, 1])), (np.array([2]), np.array([2]))
    >>> taught = Correction([Lesson(*reef, .05, True)], threshold=.1)
    >>> taught.delta(*reef) > taught.delta(np.array([1]), np.array([1])) > taught.delta(*train) == 0.0
    True
    """

    def __init__(self, lessons: Sequence[Lesson] = (), threshold: float = 0.1, usual: Column | None = None) -> None:
        lessons = lessons[-MOST:]
        self.lessons = len(lessons)
        self.reach = scale(threshold) / STEEPNESS
        """By how much a score moves for each unit of w.x."""
        self.weights: Column = np.zeros(0)
        """w, by the numbers of terms."""
        self.level = 0.0
        """w times the average page."""
        if lessons:
            problem = Problem(lessons, threshold, usual)
            self.weights, self.level = problem.weights(problem.solve())

    def delta(self, ids: NDArray[Any], counts: NDArray[Any]) -> float:
        """By how much the score of a page moves that has these terms so often; not at all if it has none."""
        if not self.lessons or not len(ids):
            return 0.0
        if int(ids[-1]) >= len(self.weights):  # words that came later have no weight
            self.weights = fit(self.weights, int(ids[-1]) + 1)
        return self.moved(float(damped(counts) @ self.weights[ids]))

    def moved(self, product: float) -> float:
        """The same from w times the page's weights."""
        return self.reach * (product - self.level)


def variance(labels: int) -> float:
    """v, for so many labels."""
    return VARIANCE * labels / (labels + FEW)


def scale(threshold: float) -> float:
    """What differences of beta are measured by: the threshold; a tenth for a judge to whom every page counts."""
    return threshold if threshold > 0.0 else 0.1


def revised(beta: float, delta: float) -> float:
    """A score moved, within [0, 1]; some judges go beyond, and may stay there.

    >>> revised(.9, .2), revised(.1, -.2), revised(3.0, .5), revised(3.0, -1.0)
    (1.0, 0.0, 3.0, 2.0)
    """
    return min(max(beta + delta, min(0.0, beta)), max(1.0, beta))


class Problem:
    """Lessons as vectors, ready to be learned from: all of them, or all but some."""

    def __init__(self, lessons: Sequence[Lesson], threshold: float, usual: Column | None = None) -> None:
        last = max((int(lesson.ids[-1]) for lesson in lessons if len(lesson.ids)), default=-1)
        self.usual = fit(np.zeros(0) if usual is None else usual, last + 1)
        self.ids = [lesson.ids for lesson in lessons]
        self.x = [damped(lesson.counts) if len(lesson.ids) else np.zeros(0) for lesson in lessons]
        """Before the average page is taken off. A page without words is as usual as can be."""
        self.empty = np.array([not len(ids) for ids in self.ids])
        self.products = self._products()
        self.yes = np.array([float(lesson.relevant) for lesson in lessons])
        betas = np.array([lesson.beta for lesson in lessons])
        self.threshold, self.betas = threshold, betas
        self.margin = np.clip(STEEPNESS * (betas - threshold) / scale(threshold), -50.0, 50.0)

    def _products(self) -> Column:
        """(x_i - u).(x_j - u) for all pairs, u the average page. A word that one page has alone is in no other product
        than its own, and that is 1.
        """
        n = len(self.x)
        ids, x = (
            np.concatenate([*self.ids, np.zeros(0, np.intp)]).astype(np.intp),
            np.concatenate([*self.x, np.zeros(0)]),
        )
        owners = np.repeat(np.arange(n), [len(x) for x in self.x])
        with_usual = np.bincount(owners, x * self.usual[ids], n)
        _, column, pages = np.unique(ids, return_inverse=True, return_counts=True)
        shared = np.flatnonzero((pages > 1)[column])
        column = (np.cumsum(pages > 1) - 1)[column[shared]]
        order = np.argsort(column, kind="stable")
        column, owners, x = column[order], owners[shared[order]], x[shared[order]]
        products = np.zeros((n, n))
        for first in range(0, int(column[-1]) + 1 if len(column) else 0, _WIDE):
            here = slice(*np.searchsorted(column, (first, first + _WIDE)))
            some = np.zeros((n, _WIDE))
            some[owners[here], column[here] - first] = x[here]
            products += some @ some.T
        np.fill_diagonal(products, 1.0)
        products += float(self.usual @ self.usual) - with_usual[:, None] - with_usual
        products[self.empty] = products[:, self.empty] = 0.0
        return products

    def solve(self, kept: NDArray[np.intp] | None = None) -> Column:
        """a, of the lessons that are kept: Newton's method on the posterior, halving steps that go too far."""
        every = np.arange(len(self.yes)) if kept is None else kept
        kernel = variance(len(every)) * self.products[np.ix_(every, every)]
        margin, yes = self.margin[every], self.yes[every]
        a, f = np.zeros(len(every)), np.zeros(len(every))
        worth = _worth(a, f, margin, yes)
        for _ in range(50):
            p = 1.0 / (1.0 + np.exp(-(margin + f)))
            curve = np.maximum(p * (1.0 - p), 1e-10)
            root = np.sqrt(curve)
            aim = curve * f + yes - p
            system = np.eye(len(every)) + root[:, None] * kernel * root
            step_a = aim - root * np.linalg.solve(system, root * (kernel @ aim)) - a
            step_f, share = kernel @ step_a, 1.0
            while share > 1e-3 and _worth(a + share * step_a, f + share * step_f, margin, yes) < worth - 1e-12:
                share /= 2
            a, f = a + share * step_a, f + share * step_f
            worth = _worth(a, f, margin, yes)
            if share * float(np.abs(step_f).max()) < 1e-9:
                break
        return a

    def weights(self, a: Column) -> tuple[Column, float]:
        """w by the numbers of terms, and w times the average page."""
        w = -float(a[~self.empty].sum()) * self.usual
        for ids, x, share in zip(self.ids, self.x, a.tolist(), strict=True):
            w[ids] += share * x
        w *= variance(len(a))
        return w, float(w @ self.usual)

    def without(self, left_out: NDArray[np.intp]) -> Column:
        """What the scores of some lessons would be, had they not been given."""
        kept = np.setdiff1d(np.arange(len(self.yes)), left_out)
        if not len(kept):
            return self.betas[left_out]
        f = variance(len(kept)) * self.products[np.ix_(left_out, kept)] @ self.solve(kept)
        moved = scale(self.threshold) / STEEPNESS * f
        return np.array([revised(b, d) for b, d in zip(self.betas[left_out].tolist(), moved.tolist(), strict=True)])


def _worth(a: Column, f: Column, margin: Column, yes: Column) -> float:
    """Log posterior, up to a constant: -f'K^-1 f / 2 - sum log(1 + exp(-y (m + f))), y = 1 or -1."""
    return float(-0.5 * a @ f - np.logaddexp(0.0, -(2.0 * yes - 1.0) * (margin + f)).sum())
