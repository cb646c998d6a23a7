"""The evidence of all pages so far, in columns: about 1.1 kB a page, of the first of them in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import Spilled, fit
from lycosa.text.embeddings import DIMENSIONS
from lycosa.topics.embedding import STEPS
from lycosa.topics.probability.evidence import ANSWERS, FEATURES, PARTS, SHARES, TENTHS, Evidence

AT_ONCE = 4096
"""Pages whose values are worked out at once."""

VECTOR = 2.0
"""The root of how much vectors count when pages are likened."""

Column = NDArray[np.float32]


IN_MEMORY = 65_536
"""Pages whose features and vectors are; those of the others are in a file, as they are only read for lessons."""

_COLUMNS = ("answers", "against", "quality", "filled", "first", "worth", "stands", "own")


class Pages:
    """One row for each version of a page that the log has, in its order; and for pages that other shards told of."""

    def __init__(self) -> None:
        self.count = 0
        self.slots = Spilled((FEATURES,), np.int32, IN_MEMORY)
        self.amounts = Spilled((FEATURES,), np.uint8, IN_MEMORY)
        self.vectors = Spilled((DIMENSIONS,), np.int8, IN_MEMORY)
        self.answers = np.zeros((0, len(ANSWERS)), np.float32)
        self.against = np.zeros(0, np.float32)
        self.quality = np.zeros(0, np.float32)
        self.filled = np.zeros(0, np.bool_)
        """Whether it has any features."""
        self.first = np.zeros(0, np.bool_)
        """Whether the row is a page's first version, and no copy of another page."""
        self.firsts = 0
        """How many there are, with those that rows stand for."""
        self.worth = np.zeros(0, np.float32)
        self.stands = np.zeros(0, np.int32)
        """For how many pages a row stands: 1, but for some of those that another shard has fetched."""
        self.own = np.zeros(0, np.bool_)
        """Whether the log of this crawl, or shard, has the page."""

    def add(self, evidence: Evidence, worth: float, first: bool, *, own: bool = True, stands: int = 1) -> int:
        """One more row, and its number."""
        row = self.count
        self.count += 1
        if self.count > len(self.worth):
            for name in _COLUMNS:
                setattr(self, name, fit(getattr(self, name), self.count))
        self.slots.append(evidence.slots)
        self.amounts.append(evidence.amounts)
        self.vectors.append(evidence.vector)
        self.answers[row], self.filled[row] = evidence.answers, evidence.slots.any()
        self.against[row], self.quality[row] = evidence.against, evidence.quality
        self.first[row], self.worth[row] = first, worth
        self.stands[row], self.own[row] = stands, own
        self.firsts += first * stands
        return row

    def values(self, rows: NDArray[np.intp], idf: Column) -> Column:
        """What each feature of some rows weighs."""
        return values(self.slots[rows], self.amounts[rows], idf)

    def placed(self, rows: NDArray[np.intp], mean: Column) -> Column:
        """The vectors of some rows, seen from the mean page."""
        return placed(self.vectors[rows], mean)


def values(slots: NDArray[np.int32], amounts: NDArray[np.uint8], idf: Column) -> Column:
    """tf times idf, each kind of features of the length that it counts. What is no feature has an amount of 0."""
    weights: Column = amounts.astype(np.float32) * (idf[slots] / np.float32(TENTHS))
    for part, share in zip(PARTS, SHARES, strict=True):
        lengths = np.sqrt((weights[:, part] ** 2).sum(axis=1, keepdims=True))
        weights[:, part] *= np.float32(share**0.5) / np.where(lengths > 0.0, lengths, np.float32(1.0))
    return weights


def placed(vectors: NDArray[np.int8], mean: Column) -> Column:
    """Vectors from the mean page on; zeros for pages that have none."""
    rows: Column = vectors.astype(np.float32) / np.float32(STEPS) - mean
    rows[~vectors.any(axis=1)] = 0.0
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    rows *= np.float32(VECTOR) / np.where(lengths > 0.0, lengths, np.float32(1.0))
    return rows
