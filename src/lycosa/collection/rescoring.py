"""Scores of all pages on a shelf by the judge as it is now: what it said of each, corrected by people's yes and no."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.shelf import Shelf
from lycosa.collection.shelved import Shelved
from lycosa.core.columns import fit
from lycosa.topics.lessons import Correction, Lesson, settled

GROWN = 1.2
"""The judge is taught anew when the crawl has so many times the pages that it had: then the average page is another."""

Column = NDArray[np.float64]


class Rescoring:
    """What was worked out is kept: a new page costs no more than itself. Use it with the shelf's lock held."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self._made: tuple[object, ...] = ()
        self._pages = 0
        self._correction = Correction()
        self._said: dict[int, bool] = {}
        self._seqs: NDArray[np.int64] = np.zeros(0, np.int64)
        self._scores: Column = np.zeros(0)

    def scores(self, labels: Mapping[str, bool]) -> tuple[list[Shelved], Column]:
        """All pages, copies among them, and the score of each."""
        with self.shelf.lock:
            pages = self.shelf.pages(copies=True)
            self._teach(labels, len(pages))
            seqs = np.array([page.seq for page in pages], np.int64)
            known = min(len(self._seqs), len(seqs))
            new = np.concatenate([np.flatnonzero(seqs[:known] != self._seqs[:known]), np.arange(known, len(seqs))])
            if len(new):
                scores = np.zeros(len(seqs))
                scores[:known] = self._scores[:known]
                scores[new] = self._judge([pages[at] for at in new.tolist()])
                self._seqs, self._scores = seqs, scores
            return pages, self._scores[: len(pages)]

    def _teach(self, labels: Mapping[str, bool], count: int) -> None:
        shelf = self.shelf
        labelled = [(page, relevant) for node, relevant in labels.items() if (page := shelf.page(node)) is not None]
        made = (shelf.generation, shelf.threshold, tuple((page.seq, relevant) for page, relevant in labelled))
        if made == self._made and (not labelled or count <= GROWN * self._pages):
            return
        lessons = [Lesson(*page.terms, page.base, relevant) for page, relevant in labelled]
        self._correction = Correction(lessons, shelf.threshold, shelf.usual.mean() if labelled else None)
        self._said = {page.seq: relevant for page, relevant in labelled}
        self._made, self._pages = made, count
        self._seqs, self._scores = np.zeros(0, np.int64), np.zeros(0)

    def _judge(self, pages: Sequence[Shelved]) -> Column:
        base = np.array([page.beta if page.foreign else page.base for page in pages])
        if not self._correction.lessons:
            return base
        ids = np.frombuffer(b"".join(page.ids for page in pages), np.uint32)
        counts = np.frombuffer(b"".join(page.counts for page in pages), np.uint16)
        sizes = np.array([len(page.ids) // 4 for page in pages])
        lines = np.repeat(np.arange(len(pages)), sizes)
        damped = 1.0 + np.log(np.maximum(counts, 1))
        weight = fit(self._correction.weights, int(ids.max(initial=0)) + 1)[ids]
        lengths = np.sqrt(np.bincount(lines, damped * damped, len(pages)))
        products = np.bincount(lines, damped * weight, len(pages)) / np.where(sizes > 0, lengths, 1.0)
        correction = self._correction
        deltas = np.where(sizes > 0, correction.reach * (products - correction.level), 0.0)
        still = np.array([page.foreign for page in pages], np.bool_)
        scores = np.where(still, base, np.clip(base + deltas, np.minimum(base, 0.0), np.maximum(base, 1.0)))
        for at, page in enumerate(pages):  # on its own page a person's word is the last
            if page.seq in self._said and not page.foreign:
                scores[at] = settled(float(scores[at]), self._said[page.seq], self.shelf.threshold)
        return scores
