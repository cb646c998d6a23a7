"""Strings to count in texts, whatever their case: what the judges that count have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.types import Links
from lycosa.topics.base import facet_texts

Match = Literal["words", "anywhere"]
"""Whether a string counts as a whole word or phrase only, or inside longer words, too."""

_LETTER = r"[^\W\u2e80-\U0010ffff]"
"""A letter or digit of a script that puts spaces between words."""

_GAP = r"(?:[^\S\n]+|[^\S\n]*\n[^\S\n]*)"
"""Between two words of a phrase: any space, one line break, but no empty line."""


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
