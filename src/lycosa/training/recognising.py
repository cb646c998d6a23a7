"""Whether relevant pages can be recognised by the training pages nearest to them, each page left out in turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.training.kmeans import Points

NEIGHBOURS = 5
MOST = 300
"""Pages that are left out in turn; of more, so many by chance."""

FEWEST = 20
"""With fewer pages nothing is said."""

_AT_ONCE = 50


class Recognised(NamedTuple):
    """Of some pages, how many are relevant, are taken for relevant, and both."""

    pages: int
    relevant: int
    taken: int
    right: int


def recognise(
    points: Points, relevant: NDArray[np.bool_], groups: NDArray[np.intp], seed: int = 0
) -> Recognised | None:
    """Ask the five nearest other pages, by cosine, whether a page is relevant; the majority decides.

    Copies of a page (`groups`) are not asked: they would be praised for what they have seen. None where there are too
    few pages, or only one kind.
    """
    if len(points) < FEWEST or relevant.all() or not relevant.any():
        return None
    rows = np.sort(np.random.default_rng([seed, 5]).permutation(len(points))[:MOST])
    taken = np.zeros(len(rows), np.bool_)
    for first in range(0, len(rows), _AT_ONCE):
        mine = rows[first : first + _AT_ONCE]
        vectors = points.take(mine).means(np.arange(len(mine)), len(mine))
        near = points.bags.times(points.values, np.ascontiguousarray(vectors.T, np.float32))
        near[groups[:, None] == groups[mine]] = -1.0
        best = np.argsort(-near, axis=0, kind="stable")[:NEIGHBOURS]
        votes = relevant[best] & (np.take_along_axis(near, best, axis=0) > 0)
        taken[first : first + len(mine)] = votes.sum(axis=0) > NEIGHBOURS / 2
    good = relevant[rows]
    return Recognised(len(rows), int(good.sum()), int(taken.sum()), int((taken & good).sum()))
