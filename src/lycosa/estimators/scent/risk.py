"""How likely a request gives no page: dead links, redirects to nowhere, files of unwanted types, soft 404s."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Rows
from lycosa.estimators.scent.trails import DEAD, NEIGHBOUR_WEIGHT, OF_ADDRESS, OF_ANCHOR, Trails

PLACES = 1 << 17
"""Room for what is known of words and places, by a hash: 1 MB."""

USUAL = -3.5
"""The log odds before anything is known: 3 %."""

RATE, CALM = 1.0, 1.0
"""How far a word or a place moves at first; the more often it was wrong, the less (AdaGrad, Duchi et al. 2011), as if
it had been wrong so often before: a page where one was expected moves hardly anything."""

MOST = 30.0
"""Log odds beyond which nothing is more certain: so that whatever happens was not impossible."""

NEAR, SHRINK = 2.0, 0.7
"""Log odds that a link has more if all its neighbours gave no page; and how many of them are half believed."""

_LINK = slice(OF_ANCHOR.start, OF_ADDRESS.stop)

Column = NDArray[np.float64]


class Risk:
    """A logistic regression of "gave no page" on the words of anchor and address, directory, host and neighbours.

    It learns from every request that has an end. As long as none has failed, nothing is at risk: exactly 0. What a page
    is worth is learned from pages alone, so that the two can be multiplied. The weights of a link's words and places
    are added up and divided by the root of their number: they say much the same, and one dead link must not condemn all
    that share its words.
    """

    def __init__(self) -> None:
        self.failures = 0
        self._weight = np.zeros(PLACES, np.float32)
        self._moved = np.full(PLACES, CALM, np.float32)
        self._usual, self._usual_moved = USUAL, CALM

    def learn(self, row: int, trails: Trails, failed: bool) -> None:
        """A request for the row has ended."""
        rows = np.array([row])
        wrong = float(failed) - float(self._probability(rows, trails)[0])
        self.failures += failed
        self._usual_moved += wrong * wrong
        self._usual += RATE * wrong / self._usual_moved**0.5
        places = _places(rows, trails)[0]
        moved = self._moved[places] + np.float32(wrong * wrong)
        self._weight[places] += np.float32(RATE * wrong) / np.sqrt(moved)  # a word that is there twice moves once
        self._moved[places] = moved
        self._weight[0] = 0.0  # the place of no word

    def of(self, rows: Rows, trails: Trails) -> Column:
        """The probability that the rows give no page."""
        return self._probability(rows, trails) if self.failures else np.zeros(len(rows))

    def _probability(self, rows: Rows, trails: Trails) -> Column:
        sums = trails.known.take(rows, axis=0)
        dead = sums[:, DEAD].astype(np.float64)
        near = dead / (dead + sums[:, NEIGHBOUR_WEIGHT] + SHRINK)
        places = _places(rows, trails)
        root = np.sqrt(np.count_nonzero(places, axis=1).clip(1))
        odds = self._usual + NEAR * near + self._weight.take(places).sum(axis=1) / root
        probability: Column = 1.0 / (1.0 + np.exp(np.minimum(np.maximum(-odds, -MOST), MOST)))
        return probability


def _places(rows: Rows, trails: Trails) -> NDArray[np.int32]:
    """Where what is known of each row's words and places is kept; 0 for no word."""
    words = trails.words.take(rows, axis=0)[:, _LINK]
    places = np.empty((len(rows), words.shape[1] + 2), np.int32)
    places[:, :-2] = words
    places[:, -2], places[:, -1] = 3 * trails.directory.take(rows), 5 * trails.host.take(rows)
    places &= PLACES - 1
    return places
