"""Map words to the columns of a trained model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.types import Terms
from lycosa.text.tokens import OPEN_TOKEN, fold, stem_all

UNKNOWN = -1  # word that the model does not have
_NO_WORD, _NEXT = -2, -3  # instead of a column: a stop word, a break between texts


@dataclass
class ModelWords:
    """Columns of a model by word."""

    column_of: dict[str, int] = field(repr=False)
    columns_: NDArray[np.int32] = column(np.int32)  # column of each word of the crawl
    size_: int = learned(int)
    tokens_: dict[str, dict[bytes, int]] = learned(dict)

    def follow(self, stems: Sequence[str]) -> NDArray[np.int32]:
        """Return the column of each word of a crawl, by its id; looks up new words only."""
        if len(stems) > self.size_:
            self.columns_ = fit(self.columns_, len(stems), UNKNOWN)
            new = stems[self.size_ :]
            self.columns_[self.size_ : len(stems)] = [self.column_of.get(stem, UNKNOWN) for stem in new]
            self.size_ = len(stems)
        return self.columns_

    def of(self, terms: Terms) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Return columns and counts of the page's words in the model, and the counts of the other words."""
        counts = terms.counts.astype(np.float64)
        if not len(terms.ids):
            return np.zeros(0, np.intp), counts, counts
        columns = fit(self.columns_, int(terms.ids.max()) + 1, UNKNOWN)[terms.ids]
        in_model = columns >= 0
        return columns[in_model].astype(np.intp), counts[in_model], counts[~in_model]

    def of_texts(self, texts: Sequence[str], language: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the text number and the column of each word of short texts, without stop words."""
        joined = "\x01".join(text.replace("\x01", " ").replace("\x02", " ") for text in texts)
        tokens = fold(joined, language).split()
        if sum(map(len, self.tokens_.values())) > 100_000:  # maximum size of the cache
            self.tokens_.clear()
        columns_of = self.tokens_.setdefault(language, {})
        new = [token for token in dict.fromkeys(tokens) if token not in columns_of]
        for token, stem in zip(new, stem_all(new, language), strict=True):
            columns_of[token] = self.column_of.get(stem, UNKNOWN) if stem else _NO_WORD
        columns_of[OPEN_TOKEN] = _NEXT
        columns = np.array([columns_of[token] for token in tokens], np.intp)
        owner = np.cumsum(columns == _NEXT)
        return owner[columns > _NO_WORD], columns[columns > _NO_WORD]
