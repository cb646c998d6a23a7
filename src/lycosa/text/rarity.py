"""idf of terms: how rare they are, learned as a crawl goes or told by statistics from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.text.background import Background
from lycosa.text.languages import ENGLISH
from lycosa.text.vocabulary import Vocabulary

Idf = Literal["background", "learned", "none"]

Numbers = NDArray[np.float64]


class Rarity:
    """The idf of terms, given by their stems; a phrase is as rare as the rarest of its words.

    `learned` is log((N + 1) / (N_j + .5)) + 1 over the pages that a vocabulary has seen; `background` is log(N / N_j)
    of statistics, and learned on pages in another language than theirs; `none` is 1. N_j = 1 for a word that no page
    has.

    >>> Rarity("learned").of([("coral",), ("coral", "reef")], Vocabulary()).round(3).tolist()    # log(1 / 1.5) + 1
    [0.595, 0.595]
    """

    def __init__(self, idf: Idf = "learned", background: Background | None = None) -> None:
        self.idf = idf
        self.background = background or Background.load() if idf == "background" else None
        self._column: tuple[Vocabulary | None, int, Numbers] = (None, 0, np.zeros(0))

    @property
    def fingerprint(self) -> object:
        """What it depends on, for the log."""
        return self.idf, self.background.digest if self.background else ""

    def of(self, terms: Sequence[tuple[str, ...]], words: Vocabulary, language: str = ENGLISH) -> Numbers:
        """One number for each term."""
        if self.idf == "none" or not terms:
            return np.ones(len(terms))
        if self.background is not None and not self.is_learned(language):
            background = self.background
            return np.array([max(map(background.idf, stems)) for stems in terms])
        id_of = words.id_of
        met = [min(int(words.frequency[id_of[stem]]) if stem in id_of else 0 for stem in stems) for stems in terms]
        return words.idf_by(np.array(met))

    def of_words(self, stems: list[str], words: Vocabulary, language: str = ENGLISH) -> Numbers:
        """The same for words, in fewer steps.

        >>> Rarity("learned").of_words(["coral"], Vocabulary()).round(3).tolist()
        [0.595]
        """
        if not self.is_learned(language) or not stems:
            return self.of([(stem,) for stem in stems], words, language)
        ids = np.fromiter(map(words.id_of.get, stems, repeat(-1)), np.intp, len(stems))
        return words.idf_by(np.where(ids >= 0, words.frequency[ids], np.uint32(0)))

    def is_learned(self, language: str = ENGLISH) -> bool:
        """Whether it comes from the vocabulary, for pages in a language."""
        return self.idf == "learned" or (self.background is not None and self.background.language != language)

    def of_ids(self, ids: NDArray[Any], words: Vocabulary, language: str = ENGLISH) -> Numbers:
        """The same for words, by their numbers in the vocabulary."""
        if self.idf == "none":
            return np.ones(len(ids))
        if self.background is None or self.is_learned(language):
            return words.idf(ids)
        whose, length, column = self._column
        if whose is not words:
            length = 0
        if length < len(words.terms):  # each is looked up once
            column = fit(column, len(words.terms))
            column[length : len(words.terms)] = [self.background.idf(stem) for stem in words.terms[length:]]
            self._column = words, len(words.terms), column
        idf: Numbers = column[ids]
        return idf

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_column": (None, 0, np.zeros(0))}  # it is only remembered
