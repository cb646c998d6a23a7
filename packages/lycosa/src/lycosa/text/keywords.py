"""Search keywords of a text."""

from __future__ import annotations

import re

from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.stopwords import stop_words
from lycosa.text.tokens import MAX_WORD_LENGTH

_WORD = re.compile(rf"(?<!\w)[^\W\d_]{{3,{MAX_WORD_LENGTH}}}(?!\w)")


def keywords(text: str, language: str = "") -> list[str]:
    """Return the lower-cased words of three letters or more in order, without stop words and numbers.

    Words are not stemmed, since search forms may not match stems.
    """
    stop = stop_words(code_of(language, ENGLISH))
    return [word for word in _WORD.findall(text.lower()) if word not in stop]
