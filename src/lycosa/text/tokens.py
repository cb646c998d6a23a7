"""Text to tokens to stems.

The cheap way through plain English (2,800 words in 0.06 ms): the text becomes bytes, one `bytes.translate` folds case
and turns ASCII punctuation into spaces. Only a token never seen before takes the slow way, `stem_all`.

Beyond ASCII: the lead bytes of U+0080-U+00BF and U+2000-U+2FFF (quotes, dashes, no-break spaces) become spaces too, and
the slow way drops the continuation bytes that are left over. Chinese characters are words of their own; other scripts
are folded but not stemmed.
"""

from __future__ import annotations

import re
import unicodedata

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
_ENGLISH = Stemmer.Stemmer("english", 0)


def fold(text: str) -> bytes:
    """A text, marked or not, as raw tokens with spaces between them."""
    text = text.replace("\x01", " \x01 ").replace("\x02", " \x02 ")
    raw = text.encode("utf-8", "replace")
    if len(raw) > len(text) + len(text) // 8:  # a good part isn't ASCII: perhaps a script without spaces
        raw = _HAN.sub(r" \1 ", text).encode("utf-8", "replace")
    return raw.translate(_FOLD)


def stem_all(tokens: list[bytes]) -> list[str]:
    """The stem of each raw token; empty for stop words, single letters and noise.

    >>> stem_all([b"corals", b"the", "\u00c9toile".encode()])
    ['coral', '', '\u00e9toile']
    """
    words = [token.decode() if token.isascii() else _fold_any(token) for token in tokens]
    return [
        (term if 2 <= len(word) <= LONGEST and word not in ENGLISH else "") if word.isascii() else word
        for word, term in zip(words, _ENGLISH.stemWords(words), strict=True)
    ]


def _fold_any(token: bytes) -> str:
    """A token beyond ASCII in one form, whatever its case and composition; empty for noise."""
    if len(token) > 12 * LONGEST:  # not a word in any script; normalising it could take for ever
        return ""
    word = unicodedata.normalize("NFKC", token.lstrip(_LEFTOVER).decode("utf-8", "ignore")).casefold()
    word = word.strip("".join({c for c in word if not c.isalnum()}))
    return word if len(word) <= LONGEST and (len(word) > 1 or word >= "\u3040") else ""


def stems(text: str) -> list[str]:
    """The terms of a short text (a query, an anchor), in order.

    >>> stems("The bleaching of “Coral” reefs")
    ['bleach', 'coral', 'reef']
    """
    return [term for term in stem_all(fold(text).split()) if term]
