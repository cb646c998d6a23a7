"""Example pages, turned into a weighted query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.types import Page
from lycosa.judges import JUDGES
from lycosa.text.vocabulary import Vocabulary

TERMS = 60  # terms kept of the centroid


def centroid(pages: Iterable[Page], terms: int = TERMS) -> dict[str, float]:
    """Return the heaviest terms of the mean of the pages' unit vectors (1 + log tf).

    >>> centroid([Page("ok", marked="coral reef"), Page("ok", marked="coral fish")], terms=1)
    {'coral': 0.707}
    """
    words = Vocabulary()
    total: Counter[str] = Counter()
    read = 0
    for page in pages:
        bag = words.read(page).terms
        if not len(bag.ids):
            continue
        read += 1
        vector = 1.0 + np.log(bag.counts)
        vector /= np.sqrt(vector @ vector)
        for number, value in zip(bag.ids.tolist(), vector.tolist(), strict=True):
            total[words.terms[number]] += value
    if not read:
        raise InputError("empty-file", "no example page has any text: give pages with text")
    return {term: round(value / read, 3) for term, value in total.most_common(terms)}


def learn_examples(judge: str, pages: Sequence[Page]) -> dict[str, Any]:
    """Return the data about example pages that a judge stores in the log; by default their centroid."""
    from_examples = getattr(JUDGES.maker(judge), "from_examples", None)
    learned: dict[str, Any] = from_examples(pages) if from_examples is not None else centroid(pages)
    return learned
