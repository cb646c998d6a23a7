"""Judges that count: how often strings are on a page and close to its links, whatever their case."""

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

Match = Literal["words", "anywhere"]  # whole words and phrases only, or inside longer words, too
_LETTER = r"[^\W\u2e80-\U0010ffff]"  # letter or digit of a script with spaces between words
_GAP = r"(?:[^\S\n]+|[^\S\n]*\n[^\S\n]*)"  # between words of a phrase: any space, one line break, no empty line


class Phrases:
    """Some phrases with weights, found in texts that were folded by `folded`.

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
            raise InputError("the topic has no words to look for: give it at least one")
        self._patterns = [
            (phrase.split()[0], _pattern(phrase, match), weight) for phrase, weight in self.weights.items()
        ]

    def count(self, text: str) -> float:
        """Sum over the phrases of weight times occurrences."""
        return self.count_folded(folded(text))

    def count_folded(self, text: str) -> float:
        """The same for a text that is folded already."""
        return float(sum(weight for _, _, weight in self.places(text)))

    def contained(self, text: str) -> float:
        """The weights of the phrases that a folded text has, however often."""
        return float(sum(weight for head, pattern, weight in self._patterns if any(_all(text, head, pattern))))

    def places(self, text: str) -> Iterator[tuple[int, int, float]]:
        """Where each occurrence begins and ends in a folded text, and its weight; phrase by phrase."""
        for head, pattern, weight in self._patterns:
            for match in _all(text, head, pattern):
                yield match.start(), match.end(), weight

    def links(self, links: Links, names: Iterable[str]) -> dict[str, NDArray[np.float64]]:
        """Occurrences around each link ("context") and in the words of its address ("url")."""
        return {name: np.array([self.count(text) for text in facet_texts(links, name)]) for name in names}


def folded(text: str) -> str:
    """A text in which upper and lower case are one, without the marks of links."""
    return text.replace("\x01", "").replace("\x02", "").casefold()


def _all(text: str, head: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """All matches; they are tried only where the phrase's first word is, which is quick to find."""
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
    >>> said = KeywordJudge("reef").judge(page, None)
    >>> round(said.relevance, 3), round(float(said.link_relevances[0]), 3)        # log(1 + 3), log(1 + 2)
    (1.386, 1.099)

    Paper: Gouriten, Maniu, Senellart 2014, 2.3 (the Wikipedia graphs; one keyword). How the window lies around the link
    is not said there.
    """

    exact = True  # it never guesses

    def __init__(
        self, words: str | Mapping[str, float], threshold: float = 0.69, *, window: int = 100, match: Match = "words"
    ) -> None:
        if window < 1:
            raise ValueError(f"window is {window}: it must be 1 character or more")
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
        relevance = math.log1p(self.phrases.count(page.title) + sum(weight for _, _, weight in places))
        link_relevances = np.log1p(self._windows(marked, len(text), places, links)).astype(np.float32)
        facets = self.phrases.links(links, self.facets)
        return Judgement(
            relevance, link_relevances, facets={name: np.log1p(x).astype(np.float32) for name, x in facets.items()}
        )

    def _windows(
        self, marked: str, length: int, places: list[tuple[int, int, float]], links: Links
    ) -> NDArray[np.float64]:
        """Occurrences in each link's window."""
        starts, ends = _spans(marked)
        if not len(starts):
            return np.array(
                [self.phrases.count(text or anchor) for text, anchor in zip(links.contexts, links.anchors, strict=True)]
            )
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


class WordFrequencyJudge(StatelessJudge):
    """beta = the number of times the search string is repeated in the page; alpha = in the anchor.

    The string is one phrase, looked for in title and text whatever its case. With several strings (a file of terms) it
    is the sum of weight times number. The numbers are not scaled: 1 is one occurrence, so that the threshold of 1
    means a page that has the string at all, and long pages score higher.

    count: `occurrences`, or `lines` that contain the string, however often each does. A line is what the page shows as
    one, before it is wrapped: a paragraph, a heading, a list item, a row of a table; the title is one more.
    match: `words` takes the string as whole words only; `anywhere` also inside longer ones, "art" in "party".
    literal: as the paper's pseudo-code has it, the lines of the page's source that contain the string, anywhere: in
    markup, scripts and comments, too. A page of a space that has no source is counted by the lines that it shows.

    >>> page = Page("ok", title="Corals", marked="A coral is not a rock. Coral grows.\\nNo coral, no reef.")
    >>> WordFrequencyJudge("coral").judge(page, None).relevance, WordFrequencyJudge("coral", count="lines").judge(page, None).relevance
    (3.0, 2.0)

    Paper: Trivedi et al. 2014, III, Relevance Calculation. Its text counts occurrences, its pseudo-code lines of the
    page's source that contain the string. We read the text that is shown, not the source: a string in markup or
    scripts is no use to a reader. `contains` in the pseudo-code is `match=anywhere`; not the default, since short
    words are inside of many others. `literal` is both as printed.
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
        """Count in the page, and in each anchor."""
        phrases, links = self.phrases, page.links
        source = page.source() if self.literal else ""
        title, text = ("", folded(source)) if source else (folded(page.title), folded(page.marked))
        if self.count == "lines":
            relevance = sum(phrases.contained(line) for line in [title, *text.split("\n")])
        else:
            relevance = phrases.count_folded(title) + phrases.count_folded(text)
        link_relevances = np.array([phrases.count(anchor) for anchor in links.anchors], np.float32)
        facets = phrases.links(links, self.facets)
        return Judgement(
            relevance, link_relevances, facets={name: counts.astype(np.float32) for name, counts in facets.items()}
        )
