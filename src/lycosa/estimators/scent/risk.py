"""How likely a request gives no page: dead links, redirects to nowhere, files of unwanted types, soft 404s."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.estimators.scent.trails import DEAD, DIRECTORY, HOST, NEIGHBOUR_WEIGHT, OF_ANCHOR, Lines

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

_LINK = slice(OF_ANCHOR.start, HOST + 1)
_APART = np.array([*(1 for _ in range(OF_ANCHOR.start, DIRECTORY)), 3, 5], np.int32)
"""Directories and hosts are kept among words, at other places than words of the same number."""

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

    def learn(self, line: Lines, failed: bool) -> None:
        """A request for the row of the line has ended."""
        places = _places(line)[0]
        dead, neighbours = line.known.item(0, DEAD), line.known.item(0, NEIGHBOUR_WEIGHT)
        near = dead / (dead + neighbours + SHRINK)
        root = max(int(np.count_nonzero(places)), 1) ** 0.5
        odds = self._usual + NEAR * near + float(self._weight.take(places).sum()) / root
        wrong = failed - 1.0 / (1.0 + float(np.exp(min(max(-odds, -MOST), MOST))))
        self.failures += failed
        self._usual_moved += wrong * wrong
        self._usual += RATE * wrong / self._usual_moved**0.5
        moved = self._moved.take(places) + np.float32(wrong * wrong)
        # A word that is there twice moves once.
        self._weight[places] = self._weight.take(places) + np.float32(RATE * wrong) / np.sqrt(moved)
        self._moved[places] = moved
        self._weight[0] = 0.0  # the place of no word

    def of(self, lines: Lines) -> Column:
        """The probability that the rows give no page."""
        if not self.failures:
            return np.zeros(len(lines.rows))
        dead = lines.known[:, DEAD].astype(np.float64)
        near = dead / (dead + lines.known[:, NEIGHBOUR_WEIGHT] + SHRINK)
        places = _places(lines)
        root = np.sqrt(np.count_nonzero(places, axis=1).clip(1))
        odds = self._usual + NEAR * near + self._weight.take(places).sum(axis=1) / root
        probability: Column = 1.0 / (1.0 + np.exp(np.minimum(np.maximum(-odds, -MOST), MOST)))
        return probability


def _places(lines: Lines) -> NDArray[np.int32]:
    """Where what is known of each row's words and places is kept; 0 for no word."""
    places = lines.words[:, _LINK] * _APART
    places &= PLACES - 1
    return places
