"""The features of Gouriten's estimators for all nodes of a graph at once, as if all of it had been crawled.

Paper items:
    gouriten-pearson: `lycosa lab paper gouriten`. Test: lab/test_lab_measures.py::test_pearson_by_hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lycosa.lab.index import Index
from lycosa.lab.measures import Floats, pearson, r_squared

FIRST = ("fl_deg", "fl_n", "fl_e", "fl_ne")
SECOND = ("sl_n", "sl_e", "sl_ne")

BLOCK = 1 << 22
"""Links that are looked at together: what is needed beside the features themselves is a few times this."""


def neighbourhood(
    index: Index, beta: NDArray[np.floating], alpha: NDArray[np.floating], *, literal: bool = False
) -> dict[str, Floats]:
    """fl_deg, fl_n, fl_e, fl_ne, sl_n, sl_e and sl_ne of each node v, not smoothed.

        fl_deg = |P(v)|,  fl_n = sum of beta(u),  fl_e = sum of alpha(u, v),  fl_ne = sum of beta(u) alpha(u, v)
        sl_n   = sum over u in P(v), over children w of u other than v, of beta(w); sl_e of alpha(u, w), sl_ne of both

    The sums over siblings are those over all children of each parent, less what v itself brings to each of them. beta
    is that of the nodes, alpha that of the links in the order of `index.child`.

    Paper: Gouriten et al. 2014, section 7.2, estimator 4, and "a setting where the full graph is known". There V' is
    all of V, so that as printed v is among its own siblings, and a feature contains what it is to predict. In a crawl v
    is not crawled yet and never among them, so it isn't here; `literal` keeps it.

    2.2 million nodes and 35.6 million links take 3.5 s and 330 MB.

    >>> index = Index.of({"u": ["v", "w"]})
    >>> told = neighbourhood(index, np.array([.5, 0, .25]), np.array([1., .5]))
    >>> {name: column.tolist() for name, column in told.items() if name in ("fl_ne", "sl_n")}
    {'fl_ne': [0.0, 0.5, 0.25], 'sl_n': [0.0, 0.25, 0.0]}
    """
    n = len(index)
    made = {name: np.zeros(n) for name in (*FIRST, *SECOND)}
    for first, last in _blocks(index.child_start):
        links = slice(index.child_start[first], index.child_start[last])
        degree = np.diff(index.child_start[first : last + 1])
        parent = np.repeat(np.arange(last - first), degree)
        child = np.asarray(index.child[links], np.intp)
        promise = np.asarray(alpha[links], np.float64)
        given = np.asarray(beta[first:last], np.float64)[parent]
        reached = np.asarray(beta[child], np.float64)
        sums = {
            "fl_n": given,
            "fl_e": promise,
            "fl_ne": given * promise,
            "sl_n": np.bincount(parent, reached, last - first)[parent],
            "sl_e": np.bincount(parent, promise, last - first)[parent],
            "sl_ne": np.bincount(parent, reached * promise, last - first)[parent],
        }
        made["fl_deg"] += np.bincount(child, minlength=n)
        for name, weights in sums.items():
            made[name] += np.bincount(child, weights, n)
    if not literal:
        own = {"sl_n": made["fl_deg"] * beta, "sl_e": made["fl_e"], "sl_ne": made["fl_e"] * beta}
        for name, less in own.items():
            made[name] = _less(made[name], less)
    return made


def _less(sums: Floats, own: Floats) -> Floats:
    """Take a node's own share off; what rounding leaves of a sum that had nothing else is nothing."""
    rest = sums - own
    rest[np.abs(rest) <= 1e-9 * np.abs(sums)] = 0.0
    return rest


def _blocks(start: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of nodes with about BLOCK links each."""
    ends = np.searchsorted(start, np.arange(BLOCK, int(start[-1]) + BLOCK, BLOCK))
    cuts = sorted({0, len(start) - 1, *(min(int(end), len(start) - 1) for end in ends)})
    return list(pairwise(cuts))


@dataclass
class Fit:
    """How the features go with the nodes' scores: correlation of each, and what regressions on them explain."""

    pearson: dict[str, float]
    r_squared: dict[str, float]
    """Of lr_fl (the four features of the first level) and lr_sl (all seven)."""


def fit(features: dict[str, Floats], beta: NDArray[np.floating], *, smooth: bool) -> Fit:
    """Tables 3 and 4, a line of each: features as they are, or with `smooth` log(1 + x) of them. Scores as they are.

    Paper: Gouriten et al. 2014, sections 7.2 and 7.3. What is smoothed is the estimate, not what it is held against:
    "we use the smoothened version of those estimators".

    >>> index = Index.of({"u": ["v", "w"], "w": ["v"]})
    >>> beta = np.array([.5, 1, .25])
    >>> told = fit(neighbourhood(index, beta, np.ones(3)), beta, smooth=False)
    >>> round(told.pearson["fl_deg"], 4)        # parents 0, 2, 1: 1/2 over sqrt(2 * 7/24)
    0.6547
    """
    columns = {name: np.log1p(column) if smooth else column for name, column in features.items()}
    return Fit(
        {name: pearson(column, beta) for name, column in columns.items()},
        {"lr_fl": r_squared([columns[name] for name in FIRST], beta), "lr_sl": r_squared(list(columns.values()), beta)},
    )
