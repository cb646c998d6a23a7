"""Text to tokens to stems.

The cheap way through plain English (2,800 words in 0.06 ms): the text becomes bytes, one `bytes.translate` folds case
and turns ASCII punctuation into spaces. Only a token never seen before takes the slow way, `stem_all`.

Beyond ASCII: the lead bytes of U+0080-U+00BF and U+2000-U+2FFF (quotes, dashes, no-break spaces) become spaces too, and
the slow way drops the continuation bytes that are left over. Chinese characters are words of their own.

Words are stemmed by the language of their page, English unless told otherwise. In English, words beyond ASCII are
folded but not stemmed; in the other languages every word goes through the language's stemmer, English ones as well.

Paper items:
    batsakis-stemming: `lycosa crawl`. Test: text/test_tokens.py::test_stems. Departs: Snowball's English stemmer,
        Porter's own revision; other languages have theirs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import Stemmer

from lycosa.text.languages import ENGLISH, Language, code_of
from lycosa.text.languages import language as language_of
from lycosa.text.stopwords import ENGLISH as STOP_WORDS

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

_SPACED = bytes(range(0xE3))
"""Bytes of UTF-8 that are no part of a character beyond U+2FFF."""

_HAN = re.compile("([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_LEFTOVER = bytes(range(0x80, 0xC0))
_ENGLISH = Stemmer.Stemmer("english", 0)

_LONGEST_TOKEN = 12 * LONGEST
"""Bytes: a longer token is not a word in any script, and normalising it could take for ever."""


def fold(text: str, language: str = ENGLISH) -> bytes:
    """A text, marked or not, as raw tokens with spaces between them."""
    if language != ENGLISH and (code := code_of(language)) != ENGLISH:
        text = language_of(code).prepare(text.replace("\x01", " \x01 ").replace("\x02", " \x02 "))
        raw = text.encode("utf-8", "replace")
        if len(raw) > len(text):
            raw = _HAN.sub(r" \1 ", text).encode("utf-8", "replace")
        return raw.translate(_FOLD)
    bare = text.encode("utf-8", "replace")
    raw = _marks_apart(bare)
    length = len(text) + len(raw) - len(bare)
    if len(raw) > length + length // 8:  # Chinese characters are looked for only where a good part isn't ASCII
        raw = _marks_apart(_HAN.sub(r" \1 ", text).encode("utf-8", "replace"))
    return raw.translate(_FOLD)


def _marks_apart(text: bytes) -> bytes:
    """The marks of links with spaces around them: a tenth of what it takes in a `str`."""
    return text.replace(OPEN_TOKEN, b" \x01 ").replace(CLOSE_TOKEN, b" \x02 ")


def fold_all(texts: Sequence[str], language: str = ENGLISH) -> bytes:
    """Texts one after the other, an OPEN_TOKEN between one and the next, and no mark in any of them.

    >>> fold_all(["Coral reefs", "", "a \\x01 fish"])
    b'coral reefs \\x01  \\x01 a   fish'
    """
    mark, end = OPEN_TOKEN.decode(), CLOSE_TOKEN.decode()
    joined = f" {mark} ".join(texts)
    # How a text is cut may depend on what else is in it, unless all of it is written with spaces.
    if joined.count(mark) == len(texts) - 1 and end not in joined:
        if language == ENGLISH:
            raw = joined.encode("utf-8", "replace")
            if raw.isascii() or not raw.translate(None, _SPACED):
                return raw.translate(_FOLD)
        elif joined.isascii():
            return fold(joined, language)
    apart = (fold(text.replace(mark, " ").replace(end, " "), language) for text in texts)
    return (b" " + OPEN_TOKEN + b" ").join(apart)


def stem_all(tokens: list[bytes], language: str = ENGLISH) -> list[str]:
    """The stem of each raw token; empty for stop words, single letters and noise.

    `language` is a code as pages declare it; of a language without a stemmer, and of none (""), words stay as they are.

    >>> stem_all([b"corals", b"the", "\u00c9toile".encode()])
    ['coral', '', '\u00e9toile']
    >>> stem_all(["\u00c9toiles".encode(), b"les"], "fr"), stem_all([b"corals", b"the"], "")
    (['\u00e9toil', ''], ['corals', 'the'])
    """
    if language != ENGLISH and (code := code_of(language)) != ENGLISH:
        return _stem_any(tokens, language_of(code))
    words = [token.decode() if token.isascii() else _fold_any(token) for token in tokens]
    return [
        (term if 2 <= len(word) <= LONGEST and word not in STOP_WORDS else "") if word.isascii() else word
        for word, term in zip(words, _ENGLISH.stemWords(words), strict=True)
    ]


def _stem_any(tokens: list[bytes], language: Language) -> list[str]:
    """The stems of raw tokens of a language other than English."""
    words = [_word(token, language) for token in tokens]
    return [stem if word else "" for word, stem in zip(words, language.stems(words), strict=True)]


def _word(token: bytes, language: Language) -> str:
    """A raw token as the language's stemmer wants it; empty for a stop word or noise."""
    if len(token) > _LONGEST_TOKEN:
        return ""
    if token.isascii():
        word = language.tidy(token.decode())
    else:
        word = unicodedata.normalize("NFKC", _compose(token))  # folding case may take letters apart
        # Some scripts write vowels as marks: they end words, but never begin them.
        word = word.strip("".join({c for c in word if not c.isalnum() and not _is_mark(c)}))
        word = language.tidy(word.lstrip("".join({c for c in word if not c.isalnum()})))
    lone = len(word) < 2 and word < "\u3040"
    return "" if lone or len(word) > LONGEST or word in language.stop_words else word


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter)[0] == "M"


def _compose(token: bytes) -> str:
    """A token beyond ASCII in one form, whatever its case and composition."""
    return unicodedata.normalize("NFKC", token.lstrip(_LEFTOVER).decode("utf-8", "ignore")).casefold()


def _fold_any(token: bytes) -> str:
    """A token beyond ASCII on an English page; empty for noise."""
    if len(token) > _LONGEST_TOKEN:
        return ""
    word = _compose(token)
    word = word.strip("".join({c for c in word if not c.isalnum()}))
    return word if len(word) <= LONGEST and (len(word) > 1 or word >= "\u3040") else ""


def stems(text: str, language: str = ENGLISH) -> list[str]:
    """The terms of a short text (a query, an anchor), in order.

    >>> stems("The bleaching of “Coral” reefs")
    ['bleach', 'coral', 'reef']
    >>> stems("Die Häuser an den Straßen", "de-AT")
    ['haus', 'strass']
    """
    return [term for term in stem_all(fold(text, language).split(), language) if term]
