"""Text normalisation and tokenisation for search.

Words are indexed without case and accents, but not stemmed, because a collection has many languages. (`querying` adds
English word forms to a query.) In scripts without spaces, such as Chinese, Japanese and Thai, each character is a word,
so that any piece of text can be searched as a phrase.
"""

from __future__ import annotations

import re
import unicodedata

from lycosa.drawing.formats import visible
from lycosa.web.html import ParsedPage

_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])"
)


class _Folding(dict[int, str]):
    """Translation table from each character to one letter without case and accent, or to a space."""

    def __missing__(self, code: int) -> str:
        letter = self[code] = _folded(chr(code))
        return letter


def _folded(character: str) -> str:
    if not character.isalnum():
        # Vowel signs belong to the word; accents that could not be composed with their letter are dropped.
        is_mark = unicodedata.category(character)[0] == "M" and not "\u0300" <= character <= "\u036f"
        return character if is_mark else " "
    parts = unicodedata.normalize("NFKD", character)
    if all("\u0300" <= accent <= "\u036f" for accent in parts[1:]):
        character = parts[0]
    lower = character.lower()
    return lower if len(lower) == 1 else character


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Return text of the same length, without case and accents, with spaces for everything but letters and digits.

    >>> fold("Récifs: L’Eau-2")
    'recifs  l eau 2'
    """
    return _translate(text, _FOLDING)


def _translate(text: str, table: dict[int, str]) -> str:
    if text.isascii():
        return text.translate(table)
    # Line by line, because ASCII lines are translated three times as fast.
    return "\n".join([line.translate(table) for line in text.split("\n")])


def separate_words(folded: str) -> str:
    """Insert spaces between all words of folded text.

    >>> separate_words("reef 珊瑚").split()
    ['reef', '珊', '瑚']
    """
    return folded if folded.isascii() else _UNSPACED.sub(r" \1 ", folded)


def split_words(text: str) -> list[str]:
    """Split text into normalised words."""
    return separate_words(fold(unicodedata.normalize("NFC", text))).split()


def main_text(document: ParsedPage) -> str:
    """Return the main text of a page, safe to print in a terminal.

    >>> main_text(ParsedPage(marked="\\x01Home\\x02 Corals bleach.", main="Corals bleach."))
    'Corals bleach.'
    """
    return clean(document.content[:1_000_000])


def clean(text: str) -> str:
    """Normalise text to NFC and remove link markers and control characters."""
    return visible(unicodedata.normalize("NFC", text)).strip()
