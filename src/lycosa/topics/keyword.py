"""Occurrences of a keyword, in the page and close to each link.

Paper items:
    gouriten-smoothing: `--judge keyword`. Test: topics/test_keyword.py::test_beta.
    gouriten-window: `--judge keyword,window=100`. Test: topics/test_keyword.py::test_alpha_counts_in_the_window.
        Departs: the anchor in the middle: the paper does not say how it lies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Judgement, Links, Page
from lycosa.topics.base import Judge
from lycosa.topics.phrases import Match, Phrases

_MARK = re.compile("[\x01\x02]")


class Keyword(Judge):
    """beta = log(1 + x), x occurrences of the keyword in the page; alpha = log(1 + y), y of them around the link.

    The page is its title and text. Around a link is a window of 100 characters with the anchor in its middle: what the
    anchor leaves of the 100 is divided, one half before it and one behind it (the odd one behind). An anchor that is
    longer is the window. An occurrence counts if it lies in the window with all its letters. Runs of spaces and line
    breaks are one character. Where the text has no marks of links, their 20 words of context stand in.

    Several words: their occurrences are added up before the logarithm is taken; each phrase of a file of terms counts
    as a whole, times its weight. Words are compared as they are written, but for case: "reefs" is not "reef".

    window: its size in characters. match: `words` takes a keyword as a whole word, `anywhere` inside others, too.

    >>> page = Page("ok", marked="A reef! \\x01More on the reef\\x02" + " and more" * 20 + " on the reef")
    >>> page.links = Links.to("b", anchors=["More on the reef"])
    >>> said = Keyword("reef").judge(page, None)
    >>> round(said.beta, 3), round(float(said.alphas[0]), 3)        # log(1 + 3), log(1 + 2)
    (1.386, 1.099)

    Paper: Gouriten, Maniu, Senellart 2014, 2.3 (the Wikipedia graphs; one keyword). How the window lies around the link
    is not said there.
    """

    exact = True
    """What it says of a page is what counts, not a guess at it: nobody should know better."""

    def __init__(
        self, words: str | Mapping[str, float], threshold: float = 0.69, *, window: int = 100, match: Match = "words"
    ) -> None:
        if window < 1:
            raise ValueError(f"window is {window}: it has to be 1 character or more")
        self.threshold = threshold
        self.window, self.match = window, match
        self.phrases = Phrases(dict.fromkeys(words.split(), 1.0) if isinstance(words, str) else words, match)
        self.weights = self.phrases.weights

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Count in the page, in the window of each link, and where else is wanted."""
        links = page.links
        marked = " ".join(page.marked.split()).casefold()
        text = _MARK.sub("", marked)
        places = sorted(self.phrases.places(text))
        beta = math.log1p(self.phrases.count(page.title) + sum(weight for _, _, weight in places))
        alphas = np.log1p(self._windows(marked, len(text), places, links)).astype(np.float32)
        facets = self.phrases.links(links, self.facets)
        return Judgement(beta, alphas, facets={name: np.log1p(x).astype(np.float32) for name, x in facets.items()})

    def _windows(
        self, marked: str, length: int, places: list[tuple[int, int, float]], links: Links
    ) -> NDArray[np.float64]:
        """Occurrences in each link's window."""
        starts, ends = _spans(marked)
        if not len(starts):
            return np.array([self.phrases.count(text or anchor) for text, anchor in _near(links)])
        room = np.maximum(0, self.window - (ends - starts))
        low, high = starts - room // 2, ends + (room - room // 2)
        begins = np.array([begin for begin, _, _ in places])
        stops = np.array([stop for _, stop, _ in places])
        weights = np.array([weight for _, _, weight in places])
        counts = np.zeros(len(starts) + 1)  # one more, for links that have no marks
        for link, (first, last) in enumerate(
            zip(np.searchsorted(begins, low), np.searchsorted(begins, high), strict=True)
        ):
            if first < last:
                counts[link] = weights[first:last][stops[first:last] <= high[link]].sum()
        return counts[np.minimum(np.array(links.positions, np.intp), len(starts))]


def _spans(marked: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each link begins and ends, in the text without marks; nothing if the marks do not pair up."""
    marks = [(match.start(), match[0]) for match in _MARK.finditer(marked)]
    if [mark for _, mark in marks] != ["\x01", "\x02"] * (len(marks) // 2):
        marks = []
    places = np.array([place for place, _ in marks], np.intp) - np.arange(len(marks))
    return places[0::2], places[1::2]


def _near(links: Links) -> list[tuple[str, str]]:
    return list(zip(links.contexts, links.anchors, strict=True))
