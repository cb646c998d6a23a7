"""Judges that count occurrences of words or phrases, ignoring case."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.types import Judgement, Links, Page
from lycosa.judges.base import StatelessJudge, facet_texts

Match = Literal["words", "anywhere"]  # whole words only, or also inside longer words
_LETTER = r"[^\W\u2e80-\U0010ffff]"  # letter or digit of a script that separates words by spaces
_GAP = r"(?:[^\S\n]+|[^\S\n]*\n[^\S\n]*)"  # gap between the words of a phrase: spaces and at most one line break


class Phrases:
    """Weighted phrases to count in folded texts.

    >>> Phrases({"coral reef": 1.0, "atoll": 2.0}).count("Coral  reefs, a CORAL REEF, an atoll")
    3.0
    >>> Phrases({"coral reef": 1.0}, "anywhere").count("Coral  reefs, a CORAL REEF, an atoll")
    2.0
    """

    def __init__(self, weights: Mapping[str, float], match: Match = "words") -> None:
        self.weights: dict[str, float] = {}
        for text, weight in weights.items():
            if phrase := " ".join(text.casefold().split()):
                self.weights[phrase] = self.weights.get(phrase, 0.0) + float(weight)
        if not any(self.weights.values()):
            raise InputError("empty-topic", "the topic has no words to search for: give at least one")
        by_phrase = self.weights.items()
        self._patterns = [(phrase.split()[0], _pattern(phrase, match), weight) for phrase, weight in by_phrase]

    def count(self, text: str) -> float:
        return self.count_folded(folded(text))

    def count_folded(self, text: str) -> float:
        return float(sum(weight for _, _, weight in self.places(text)))

    def contained(self, text: str) -> float:
        return float(sum(weight for head, pattern, weight in self._patterns if any(_matches(text, head, pattern))))

    def places(self, text: str) -> Iterator[tuple[int, int, float]]:
        """Yield start, end and weight of each occurrence in a folded text, phrase by phrase."""
        for head, pattern, weight in self._patterns:
            for match in _matches(text, head, pattern):
                yield match.start(), match.end(), weight

    def links(self, links: Links, names: Iterable[str]) -> dict[str, NDArray[np.float64]]:
        return {name: np.array([self.count(text) for text in facet_texts(links, name)]) for name in names}


def folded(text: str) -> str:
    """Return the text casefolded and without link marks."""
    return text.replace("\x01", "").replace("\x02", "").casefold()


def _matches(text: str, head: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield all matches; searching for the first word with `str.find` is much faster than `finditer`."""
    place = text.find(head)
    while place >= 0:
        match = pattern.match(text, place)
        if match is not None:
            yield match
        place = text.find(head, match.end() if match is not None else place + 1)


def _pattern(phrase: str, match: Match) -> re.Pattern[str]:
    inside = _GAP.join(re.escape(word) for word in phrase.split())
    if match == "anywhere":
        return re.compile(inside)
    before = f"(?<!{_LETTER})" if re.match(_LETTER, phrase) else ""
    after = f"(?!{_LETTER})" if re.match(_LETTER, phrase[-1]) else ""
    return re.compile(before + inside + after)


_MARK = re.compile("[\x01\x02]")


class KeywordJudge(StatelessJudge):
    """Keyword counts: beta = log(1 + x), x occurrences in the page; alpha = log(1 + y), y occurrences around the link.

    The page is its title and text. The window around a link has 100 characters with the anchor in the middle: the
    remaining characters are split evenly before and after it (an odd one goes after). A longer anchor is its own
    window. Occurrences count if they are entirely in the window. A run of spaces and line breaks is one character.
    Texts without link marks use the 20 words of context instead.

    The occurrences of several words are added up before the logarithm; a phrase of a file of terms counts as a whole,
    times its weight. Words are not stemmed: "reefs" does not match "reef".

    window: Window size in characters.
    match: `words` matches whole words only, `anywhere` also inside longer words.

    >>> page = Page("ok", marked="A reef! \\x01More on the reef\\x02" + " and more" * 20 + " on the reef")
    >>> page.links = Links.to("b", anchors=["More on the reef"])
    >>> judgement = KeywordJudge("reef").judge(page, None)
    >>> round(judgement.relevance, 3), round(float(judgement.link_relevances[0]), 3)        # log(1 + 3), log(1 + 2)
    (1.386, 1.099)

    Paper: Gouriten, Maniu, Senellart 2014, 2.3 (the Wikipedia graphs; one keyword). The paper does not say how the
    window is placed around the link.
    """

    exact = True  # relevance is counted, not estimated

    def __init__(
        self, words: str | Mapping[str, float], threshold: float = 0.69, *, window: int = 100, match: Match = "words"
    ) -> None:
        if window < 1:
            raise ValueError(f"'window' is {window}: it must be 1 or more characters")
        self.threshold = threshold
        self.window, self.match = window, match
        self.phrases = Phrases(dict.fromkeys(words.split(), 1.0) if isinstance(words, str) else words, match)
        self.weights = self.phrases.weights

    def judge(self, page: Page, reading: Any) -> Judgement:
        links = page.links
        marked = " ".join(page.marked.split()).casefold()
        text = _MARK.sub("", marked)
        places = sorted(self.phrases.places(text))
        relevance = math.log1p(self.phrases.count(page.title) + sum(weight for _, _, weight in places))
        link_relevances = np.log1p(self._window_counts(marked, len(text), places, links)).astype(np.float32)
        facets = self.phrases.links(links, self.facets)
        damped = {name: np.log1p(x).astype(np.float32) for name, x in facets.items()}
        return Judgement(relevance, link_relevances, facets=damped)

    def _window_counts(
        self, marked: str, length: int, places: list[tuple[int, int, float]], links: Links
    ) -> NDArray[np.float64]:
        starts, ends = _spans(marked)
        if not len(starts):
            texts = (text or anchor for text, anchor in zip(links.contexts, links.anchors, strict=True))
            return np.array(list(map(self.phrases.count, texts)))
        room = np.maximum(0, self.window - (ends - starts))
        low, high = starts - room // 2, ends + (room - room // 2)
        begins = np.array([begin for begin, _, _ in places])
        stops = np.array([stop for _, stop, _ in places])
        weights = np.array([weight for _, _, weight in places])
        counts = np.zeros(len(starts) + 1)  # the last entry is for links without marks
        for link, (first, last) in enumerate(
            zip(np.searchsorted(begins, low), np.searchsorted(begins, high), strict=True)
        ):
            if first < last:
                counts[link] = weights[first:last][stops[first:last] <= high[link]].sum()
        return counts[np.minimum(np.array(links.positions, np.intp), len(starts))]


def _spans(marked: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the start and end of each link in the text without marks; empty if the marks are unbalanced."""
    marks = [(match.start(), match[0]) for match in _MARK.finditer(marked)]
    if [mark for _, mark in marks] != ["\x01", "\x02"] * (len(marks) // 2):
        marks = []
    places = np.array([place for place, _ in marks], np.intp) - np.arange(len(marks))
    return places[0::2], places[1::2]


class WordFrequencyJudge(StatelessJudge):
    """Word counts: beta = occurrences of the search string in the page; alpha = occurrences in the anchor.

    The string is one phrase, searched for in title and text without regard to case. For several strings (a file of
    terms) it is the sum of weight times occurrences. Counts are not scaled: the threshold of 1 accepts any page that
    contains the string, and long pages score higher.

    count: `occurrences`, or `lines` for the number of lines that contain the string. A line is a block of the page
    before wrapping: paragraph, heading, list item, table row; the title is one more.
    match: `words` matches whole words only; `anywhere` also inside longer words ("art" in "party").
    literal: Count lines of the page's source that contain the string anywhere, including markup, scripts and comments,
    as in the paper's pseudo-code. Pages without a source are counted by their text lines.

    >>> page = Page("ok", title="Corals", marked="A coral is not a rock. Coral grows.\\nNo coral, no reef.")
    >>> WordFrequencyJudge("coral").judge(page, None).relevance
    3.0
    >>> WordFrequencyJudge("coral", count="lines").judge(page, None).relevance
    2.0

    Paper: Trivedi et al. 2014, III, Relevance Calculation. Its text counts occurrences, its pseudo-code counts lines of
    the source that contain the string. Departure: the default searches the visible text, whole words only, because
    markup and longer words match short strings by accident. `literal` is the pseudo-code as printed.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float = 1.0,
        *,
        count: Literal["occurrences", "lines"] = "occurrences",
        match: Match = "words",
        literal: bool = False,
    ) -> None:
        self.threshold, self.literal = threshold, literal
        count, match = ("lines", "anywhere") if literal else (count, match)
        self.count, self.match = count, match
        self.phrases = Phrases({words: 1.0} if isinstance(words, str) else words, match)
        self.weights = self.phrases.weights

    def judge(self, page: Page, reading: Any) -> Judgement:
        phrases, links = self.phrases, page.links
        source = page.source() if self.literal else ""
        title, text = ("", folded(source)) if source else (folded(page.title), folded(page.marked))
        if self.count == "lines":
            relevance = sum(phrases.contained(line) for line in [title, *text.split("\n")])
        else:
            relevance = phrases.count_folded(title) + phrases.count_folded(text)
        link_relevances = np.array([phrases.count(anchor) for anchor in links.anchors], np.float32)
        facets = phrases.links(links, self.facets)
        columns = {name: counts.astype(np.float32) for name, counts in facets.items()}
        return Judgement(relevance, link_relevances, facets=columns)
