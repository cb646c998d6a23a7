"""The words of a text that are worth searching for."""

from __future__ import annotations

import re

from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.stopwords import stop_words
from lycosa.text.tokens import LONGEST

_WORD = re.compile(rf"(?<!\w)[^\W\d_]{{3,{LONGEST}}}(?!\w)")


def keywords(text: str, language: str = "") -> list[str]:
    """The words as they are written, but for capitals; in order, without stop words, numbers and what is short.

    Not stems: a search form may not know what they stand for.

    >>> keywords("The 3 Reefs of 1998, and why corals bleach")
    ['reefs', 'corals', 'bleach']
    >>> keywords("Die Riffe der Südsee", "de")
    ['riffe', 'südsee']
    """
    stop = stop_words(code_of(language, ENGLISH))
    return [word for word in _WORD.findall(text.lower()) if word not in stop]
