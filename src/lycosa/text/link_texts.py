"""What is said of a page's links (contexts, anchors, addresses), cut into tokens once for all who read it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import runs
from lycosa.core.types import Links
from lycosa.text.addresses import words_of
from lycosa.text.lexicon import Tokens
from lycosa.text.tokens import fold_all

PARTS = ("context", "anchor", "url")
"""In this order, each for all links."""


@dataclass(slots=True)
class LinkTexts:
    """Texts as numbers of tokens, one after the other; those of text i are `numbers[starts[i] : starts[i + 1]]`.

    >>> links = Links(["http://a.test/reef"], ["Reefs"], ["On reefs"], [""], [0])
    >>> read = LinkTexts.of(links, Tokens())
    >>> [read.tokens.names[number] for number in read.part("context")[1]]
    [b'on', b'reefs']
    """

    tokens: Tokens
    numbers: NDArray[np.int32]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, links: Links, tokens: Tokens) -> LinkTexts:
        """All texts of a page's links."""
        return cls.cut([*links.contexts, *links.anchors, *map(words_of, links.urls)], tokens)

    @classmethod
    def cut(cls, texts: list[str], tokens: Tokens) -> LinkTexts:
        """Any texts."""
        numbers = tokens.read(fold_all(texts, tokens.language))
        is_mark = numbers == tokens.mark
        marks = is_mark.nonzero()[0]
        starts = np.zeros(len(texts) + 1, np.intp)
        starts[1:-1] = marks - np.arange(len(marks))
        starts[-1] = len(numbers) - len(marks)
        return cls(tokens, numbers[~is_mark], starts)

    def starts_of(self, name: str) -> NDArray[np.intp]:
        """Where among the numbers the texts of one part start, and where the last one ends."""
        n = (len(self.starts) - 1) // len(PARTS)
        first = PARTS.index(name) * n
        return self.starts[first : first + n + 1]

    def part(self, name: str) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The tokens of one part, and of each the number of its link."""
        starts = self.starts_of(name)
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts)), self.numbers[starts[0] : starts[-1]]

    def take(self, texts: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The tokens of some texts, in this order, and of each the place of its text among these."""
        starts = self.starts[texts]
        lengths = self.starts[texts + 1] - starts
        return np.repeat(np.arange(len(texts)), lengths), self.numbers.take(runs(starts, lengths))
