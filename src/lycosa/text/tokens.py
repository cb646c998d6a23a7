"""Text to tokens to stems.

The cheap way through plain English (2,800 words in 0.06 ms): the text becomes bytes, one `bytes.translate` folds case
and turns ASCII punctuation into spaces. Only a token never seen before takes the slow way, `stem`.

Beyond ASCII: the lead bytes of U+0080-U+00BF and U+2000-U+2FFF (quotes, dashes, no-break spaces) become spaces too, and
the slow way drops the continuation bytes that are left over. Chinese characters are words of their own; other scripts
are folded but not stemmed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import Stemmer

from lycosa.text.stopwords import ENGLISH

OPEN_TOKEN, CLOSE_TOKEN = b"\x01", b"\x02"
"""Where a link begins and ends."""

LONGEST = 40
"""A longer token is not a word."""

_TABLE = bytearray(range(256))
for _byte in range(128):
    _TABLE[_byte] = ord(chr(_byte).lower()) if chr(_byte).isalnum() else 32
_TABLE[0xC2] = _TABLE[0xE2] = 32
_TABLE[1], _TABLE[2] = 1, 2
_FOLD = bytes(_TABLE)

_HAN = re.compile("([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_LEFTOVER = bytes(range(0x80, 0xC0))
_ENGLISH_STEM: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord


def fold(text: str) -> bytes:
    """A text, marked or not, as raw tokens with spaces between them."""
    text = text.replace("\x01", " ").replace("\x02", " ")
    text = text.replace("\ue000", " \x01 ").replace("\ue001", " \x02 ")
    raw = text.encode("utf-8", "replace")
    if len(raw) > len(text) + len(text) // 8:  # a good part isn't ASCII: perhaps a script without spaces
        raw = _HAN.sub(r" \1 ", text).encode("utf-8", "replace")
    return raw.translate(_FOLD)


def stem(token: bytes) -> str:
    """A raw token's stem; empty for stop words, single letters and noise."""
    if token.isascii():
        word = token.decode()
        if len(word) < 2 or len(word) > LONGEST or word in ENGLISH:
            return ""
        return _ENGLISH_STEM(word)
    if len(token) > 12 * LONGEST:  # not a word in any script; normalising it could take for ever
        return ""
    word = unicodedata.normalize("NFKC", token.lstrip(_LEFTOVER).decode("utf-8", "ignore")).casefold()
    word = word.strip("".join({c for c in word if not c.isalnum()}))
    if not word or len(word) > LONGEST or (len(word) < 2 and word < "\u3040") or word in ENGLISH:
        return ""
    return _ENGLISH_STEM(word) if word.isascii() else word


def stems(text: str) -> list[str]:
    """The terms of a short text (a query, an anchor), in order.

    >>> stems("The bleaching of “Coral” reefs")
    ['bleach', 'coral', 'reef']
    """
    return [term for token in fold(text).split() if token not in (OPEN_TOKEN, CLOSE_TOKEN) and (term := stem(token))]
