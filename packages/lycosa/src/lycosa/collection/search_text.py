"""Text as it is searched: what of a page is worth finding, and how it is cut into words.

Words are kept as they stand, without case and accents but not stemmed: a collection has many languages, and a stemmer
knows one. (A query asks for the English forms of its words as well; see `querying`.) Where a script does without
blanks, as Chinese, Japanese and Thai do, each character is a word, so that any piece of such a text is a phrase.
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
    """One character for each: its letter without case and accent, or a blank. Text keeps its length."""

    def __missing__(self, code: int) -> str:
        letter = self[code] = _folded(chr(code))
        return letter


def _folded(character: str) -> str:
    if not character.isalnum():
        # Vowel signs belong to the word; accents that could not be joined with their letter are gone with it.
        is_mark = unicodedata.category(character)[0] == "M" and not "\u0300" <= character <= "\u036f"
        return character if is_mark else " "
    parts = unicodedata.normalize("NFKD", character)
    if all("\u0300" <= accent <= "\u036f" for accent in parts[1:]):
        character = parts[0]
    lower = character.lower()
    return lower if len(lower) == 1 else character


_FOLDING = _Folding()


def fold(text: str) -> str:
    """A text of the same length in which words are letters only, and everything else is blank.

    >>> fold("Récifs: L’Eau-2")
    'recifs  l eau 2'
    """
    return _translate(text, _FOLDING)


def _translate(text: str, table: dict[int, str]) -> str:
    if text.isascii():
        return text.translate(table)
    # Line by line, because those that are plain ASCII go thrice as fast.
    return "\n".join([line.translate(table) for line in text.split("\n")])


def spaced(folded: str) -> str:
    """A folded text with blanks between all its words.

    >>> spaced("reef 珊瑚").split()
    ['reef', '珊', '瑚']
    """
    return folded if folded.isascii() else _UNSPACED.sub(r" \1 ", folded)


def cut(text: str) -> list[str]:
    """The words of a text.

    >>> cut("Bleached corals, 2024")
    ['bleached', 'corals', '2024']
    """
    return spaced(fold(unicodedata.normalize("NFC", text))).split()


def said(document: ParsedPage) -> str:
    """What a page says in its main part, fit for a terminal.

    >>> said(Document(marked="\x01Home\x02 Corals bleach.", main="Corals bleach."))
    'Corals bleach.'
    """
    return clean(document.said[:1_000_000])  # characters of a page


def clean(text: str) -> str:
    """Text in composed form, without markers and control characters: fit for a terminal.

    >>> clean("a\x1b[31mb\\tc")
    'a [31mb c'
    """
    return visible(unicodedata.normalize("NFC", text)).strip()
