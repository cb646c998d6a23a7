"""Tokenise and stem text.

The fast path for plain English (2,800 words in 0.06 ms) works on bytes: one `bytes.translate` folds case and turns
ASCII punctuation into spaces. Only new tokens take the slow path, `stem_all`.

Beyond ASCII: the lead bytes of U+0080-U+00BF and U+2000-U+2FFF (quotes, dashes, no-break spaces) become spaces too, and
the slow path drops the remaining continuation bytes. Each Chinese character is a word, each run of Katakana, and each
pair of syllables of another script without spaces.

Words are stemmed by the language of their page (default: English). In English, words beyond ASCII are folded but not
stemmed; in other languages every word is stemmed by the language's stemmer, including English words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import cast
from urllib.parse import unquote

import numpy as np
import Stemmer
from numpy.typing import NDArray

from lycosa.text.languages import ENGLISH, Language, code_of
from lycosa.text.languages import language as language_of
from lycosa.text.stopwords import ENGLISH as STOP_WORDS

OPEN_TOKEN, CLOSE_TOKEN = b"\x01", b"\x02"  # start and end of a link
MAX_WORD_LENGTH = 40
_TABLE = bytearray(range(256))
for _byte in range(128):
    _TABLE[_byte] = ord(chr(_byte).lower()) if chr(_byte).isalnum() else 32
_TABLE[0xC2] = _TABLE[0xE2] = 32
_TABLE[1], _TABLE[2] = 1, 2
_FOLD = bytes(_TABLE)

_SPACED = bytes(range(0xE3))  # UTF-8 bytes below U+3000
# a Chinese character, or a run of Katakana
_HAN = re.compile("([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff\u3099\u309a]+)")
# Thai, Lao, Tibetan, Burmese, Khmer: a letter with its vowels and tones, and a run of these
_UNSPACED = [chr(code) for code in (*range(0x0E01, 0x1000), *range(0x1000, 0x10A0), *range(0x1780, 0x17D4))]
_SIGNS = "".join(sign for sign in _UNSPACED if unicodedata.category(sign) in ("Mn", "Mc"))
_LETTERS = "".join(letter for letter in _UNSPACED if unicodedata.category(letter) in ("Lo", "Lm"))
_SYLLABLE = re.compile(f"[{_LETTERS}][{_SIGNS}]*")
_SYLLABLES = re.compile(f"(?:[{_LETTERS}][{_SIGNS}]*){{3,}}")
_LEFTOVER = bytes(range(0x80, 0xC0))
_ENGLISH = Stemmer.Stemmer("english", 0)

_MAX_TOKEN_BYTES = 12 * MAX_WORD_LENGTH  # no word in any script is longer, and normalising could be very slow


def fold(text: str, language: str = ENGLISH) -> bytes:
    """Return a text, with or without link marks, as raw tokens separated by spaces."""
    if language != ENGLISH and (code := code_of(language)) != ENGLISH:
        text = language_of(code).prepare(text.replace("\x01", " \x01 ").replace("\x02", " \x02 "))
        raw = text.encode("utf-8", "replace")
        if len(raw) > len(text):
            raw = _segmented(text).encode("utf-8", "replace")
        return raw.translate(_FOLD)
    bare = text.encode("utf-8", "replace")
    raw = _marks_apart(bare)
    length = len(text) + len(raw) - len(bare)
    if len(raw) > length + length // 8:  # search for Chinese characters only if a large part is not ASCII
        raw = _marks_apart(_segmented(text).encode("utf-8", "replace"))
    return raw.translate(_FOLD)


def _segmented(text: str) -> str:
    """Put spaces between words of scripts that have none: pairs of syllables, for want of a dictionary.

    >>> _segmented("コーラルの白化 ปะการัง").split()
    ['コーラル', 'の', '白', '化', 'ปะ', 'ะก', 'กา', 'ารั', 'รัง']
    """
    return _SYLLABLES.sub(_pairs, _HAN.sub(r" \1 ", text))


def _pairs(run: re.Match[str]) -> str:
    syllables = _SYLLABLE.findall(run[0])
    return " ".join(map("".join, pairwise(syllables)))


def _marks_apart(text: bytes) -> bytes:
    """Put spaces around link marks; ten times faster on bytes than on `str`."""
    return text.replace(OPEN_TOKEN, b" \x01 ").replace(CLOSE_TOKEN, b" \x02 ")


def fold_all(texts: Sequence[str], language: str = ENGLISH) -> bytes:
    """Fold several texts, separated by OPEN_TOKEN and without link marks.

    >>> fold_all(["Coral reefs", "", "a \\x01 fish"])
    b'coral reefs \\x01  \\x01 a   fish'
    """
    mark, end = OPEN_TOKEN.decode(), CLOSE_TOKEN.decode()
    joined = f" {mark} ".join(texts)
    # Only scripts with spaces between words tokenise independently of the other texts.
    if joined.count(mark) == len(texts) - 1 and end not in joined:
        if language == ENGLISH:
            raw = joined.encode("utf-8", "replace")
            if raw.isascii() or not raw.translate(None, _SPACED):
                return raw.translate(_FOLD)
        elif joined.isascii():
            return fold(joined, language)
    folded_texts = (fold(text.replace(mark, " ").replace(end, " "), language) for text in texts)
    return (b" " + OPEN_TOKEN + b" ").join(folded_texts)


def stem_all(tokens: list[bytes], language: str = ENGLISH) -> list[str]:
    """Return the stem of each raw token; empty for stop words, single letters and noise.

    `language` is a code as declared by pages; words of a language without a stemmer, and of "", are not stemmed.

    >>> stem_all([b"corals", b"the", "\u00c9toile".encode()])
    ['coral', '', '\u00e9toile']
    >>> stem_all(["\u00c9toiles".encode(), b"les"], "fr"), stem_all([b"corals", b"the"], "")
    (['\u00e9toil', ''], ['corals', 'the'])
    """
    if language != ENGLISH and (code := code_of(language)) != ENGLISH:
        known = language_of(code)
        words = [_word(token, known) for token in tokens]
        return [stem if word else "" for word, stem in zip(words, known.stems(words), strict=True)]
    words = [token.decode() if token.isascii() else _fold_any(token) for token in tokens]
    return [
        (term if 2 <= len(word) <= MAX_WORD_LENGTH and word not in STOP_WORDS else "") if word.isascii() else word
        for word, term in zip(words, _ENGLISH.stemWords(words), strict=True)
    ]


def _word(token: bytes, language: Language) -> str:
    """Normalise a raw token for the language's stemmer; empty for a stop word or noise."""
    if len(token) > _MAX_TOKEN_BYTES:
        return ""
    if token.isascii():
        word = language.normalise(token.decode())
    else:
        word = unicodedata.normalize("NFKC", _compose(token))  # again, as case folding may decompose letters
        # Some scripts write vowels as marks, which can end a word but not begin it.
        word = word.strip("".join({c for c in word if not c.isalnum() and unicodedata.category(c)[0] != "M"}))
        word = language.normalise(word.lstrip("".join({c for c in word if not c.isalnum()})))
    lone = len(word) < 2 and word < "\u3040"
    return "" if lone or len(word) > MAX_WORD_LENGTH or word in language.stop_words else word


def _compose(token: bytes) -> str:
    return unicodedata.normalize("NFKC", token.lstrip(_LEFTOVER).decode("utf-8", "ignore")).casefold()


def _fold_any(token: bytes) -> str:
    """Normalise a token beyond ASCII on an English page; empty for noise."""
    if len(token) > _MAX_TOKEN_BYTES:
        return ""
    word = _compose(token)
    word = word.strip("".join({c for c in word if not c.isalnum()}))
    return word if len(word) <= MAX_WORD_LENGTH and (len(word) > 1 or word >= "\u3040") else ""


def stems(text: str, language: str = ENGLISH) -> list[str]:
    """Return the terms of a short text (a query, an anchor), in order."""
    return [term for term in stem_all(fold(text, language).split(), language) if term]


# Raw tokens to ids, a page at a time: 2,800 tokens in 0.12 ms, compared with 0.4 ms for a dictionary of bytes. Creating
# and hashing a Python object per token is slow, so the page stays one buffer. The key of a token is its first eight
# bytes as an integer, with the rest mixed in; the key selects a slot of a table. Slots are never reassigned: the first
# token keeps its slot, and frequent words come first. The few tokens of empty or taken slots are in a dictionary.

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)  # masks that keep the first n bytes of eight
_MAX_WORD_BYTES = 4 * MAX_WORD_LENGTH
_PAD = b" " * (_MAX_WORD_BYTES + 16)
_MAX_TOKENS = 1_000_000
_BITS = 20


class Lexicon:
    """Ids of raw tokens; calls `look_up` for new tokens.

    The table has 2^`bits` slots of 12 bytes; it is cleared after `max_tokens` tokens (default: a million).

    >>> lexicon = Lexicon(look_up=lambda tokens: [len(token) for token in tokens])
    >>> lexicon.ids(b"coral reef bleaching coral").tolist()
    [5, 4, 9, 5]
    """

    def __init__(
        self, look_up: Callable[[list[bytes]], list[int]], *, bits: int = _BITS, max_tokens: int | None = None
    ) -> None:
        self._look_up = look_up
        self._max_tokens = max_tokens if max_tokens is not None else _MAX_TOKENS
        self._shift = np.uint64(64 - bits)
        self._keys = np.zeros(1 << bits, np.uint64)
        self._ids = np.zeros(1 << bits, np.int32)
        self._known: dict[bytes, int] = {}

    def ids(self, folded: bytes) -> NDArray[np.int32]:
        """Return the ids of the tokens of a folded text, in order."""
        buffer = b" " + folded + _PAD
        letters = np.frombuffer(buffer, np.uint8) != 32
        edges = (letters[1:] != letters[:-1]).nonzero()[0]
        edges += 1
        starts, ends = edges[0::2].copy(), edges[1::2]
        keys = _keys(buffer, starts, ends - starts)
        slots = ((keys * _MIX) >> self._shift).view(np.intp)
        ids = self._ids.take(slots)
        misses = (self._keys.take(slots) != keys).nonzero()[0]
        if len(misses):
            pairs = zip(starts[misses].tolist(), ends[misses].tolist(), strict=True)
            ids[misses] = new_ids = np.array(self.of([buffer[start:end] for start, end in pairs]), np.int32)
            slots, keys = slots[misses], keys[misses]
            empty = self._keys[slots] == 0
            self._keys[slots[empty]] = keys[empty]
            # If several new tokens share a slot, the last one has written its key, so only its id may be stored.
            in_slot = self._keys[slots] == keys
            self._ids[slots[in_slot]] = new_ids[in_slot]
        return ids

    def of(self, tokens: list[bytes], look_up: Callable[[list[bytes]], list[int]] | None = None) -> list[int]:
        """Return the ids of some raw tokens, with `look_up` in place of the default one."""
        id_of = self._known
        if len(id_of) >= self._max_tokens:
            id_of.clear()
            self._keys[:] = 0
        ids = list(map(id_of.get, tokens))
        if None not in ids:
            return cast(list[int], ids)
        new = list(dict.fromkeys([token for token, known in zip(tokens, ids, strict=True) if known is None]))
        id_of.update(zip(new, (look_up or self._look_up)(new), strict=True))
        return [id_of[token] for token in tokens]


class Tokens:
    """Raw tokens of a language, numbered in first-seen order, with their stems.

    Other modules keep per-token data (terms, vectors) in columns by these numbers, so that a text is tokenised once.

    >>> tokens = Tokens()
    >>> tokens.read(b"corals of the reef corals").tolist(), tokens.stems
    ([1, 2, 3, 4, 1], ['', 'coral', '', '', 'reef'])
    """

    def __init__(self, language: str = ENGLISH, *, bits: int = _BITS) -> None:
        self.language = language
        self.names: list[bytes] = []
        self.stems: list[str] = []  # empty for stop words, link marks and noise
        self._lexicon = Lexicon(self._add, bits=bits)
        self.mark = int(self.read(OPEN_TOKEN)[0])  # id of the mark between texts

    def read(self, folded: bytes) -> NDArray[np.int32]:
        return self._lexicon.ids(folded)

    def _add(self, tokens: list[bytes]) -> list[int]:
        before = len(self.names)
        self.names += tokens
        self.stems += stem_all(tokens, self.language)
        return list(range(before, len(self.names)))


def new_among(numbers: NDArray[np.int32], known: NDArray[np.int32], unknown: int) -> list[int]:
    """Return the distinct numbers whose `known` value is `unknown`, in order of occurrence.

    >>> new_among(np.array([2, 0, 2, 1], np.int32), np.array([-9, -9, -9, 5], np.int32), -9)
    [2, 0]
    """
    return list(dict.fromkeys(numbers[known == unknown].tolist()))


def _keys(buffer: bytes, starts: NDArray[np.intp], lengths: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return a key for each token: exact up to eight bytes, a hash beyond; bytes past the longest word are ignored."""
    words = np.ndarray((len(buffer) - 7,), "<u8", buffer, strides=(1,))
    keys: NDArray[np.uint64] = words[starts]
    keys &= _FIRST.take(lengths, mode="clip")
    long = (lengths > 8).nonzero()[0]
    offset = 8
    while len(long) and offset <= _MAX_WORD_BYTES:
        size = lengths.take(long)
        more = words[starts.take(long) + offset]
        more &= _FIRST.take(size - offset, mode="clip")
        keys[long] = (keys.take(long) * _MIX) ^ more
        offset += 8
        long = long[size > offset]
    return keys


# file extensions that carry no meaning
_ENDING = re.compile(r"\.(?:[sx]?html?|php\d?|aspx?|jspx?|cgi|do)$", re.IGNORECASE)
# boundaries in camelCase, except after a single lowercase letter: iPhone, eBay
_CAMEL_BORDER = re.compile(r"(?<=[a-z][a-z])(?=[A-Z])|(?<=[A-Z][A-Z])(?=[A-Z][a-z])")
# letters with one or two digits among them (mp3, covid19), or a year
_WORD = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|[^\W\d_]+(?:\d{1,2}(?!\d)[^\W\d_]*)*")
# second-level labels of country domains: co.uk, com.au
_UNDER_COUNTRIES = frozenset(("ac", "co", "com", "edu", "go", "gob", "gov", "govt", "ne", "net", "or", "org"))
MAX_URL_LENGTH = 2000


@lru_cache(maxsize=1 << 14)  # cached, as menu links recur on every page of a site
def url_words(url: str) -> str:
    """Return the words of a URL's host, path and query, separated by spaces, in original case.

    Percent-encoding is decoded; words are split at punctuation, camelCase and long numbers. Dropped are `www` and the
    public suffix of the host (a heuristic: `co.uk` is recognised, `github.io` is not), scheme, port, password,
    fragment, extensions such as `.html`, and numbers except years. A URL without a scheme is read as a path.
    """
    scheme, mark, rest = url[:MAX_URL_LENGTH].partition("://")
    if not mark:
        host, rest = "", scheme
    else:
        end = rest.find("/")
        if end < 0 or "?" in rest[:end] or "#" in rest[:end]:
            end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
        host, rest = _host(rest[:end]), rest[end:]
    path, _, query = rest.partition("#")[0].partition("?")
    text = f"{host} {_ENDING.sub('', path)} {query.replace('+', ' ')}"
    if "%" in text:
        text = unquote(text)
    if not text.islower():
        text = _CAMEL_BORDER.sub(" ", text)
    return " ".join(_WORD.findall(text))


@lru_cache(maxsize=1 << 12)
def _host(authority: str) -> str:
    """Return the significant labels of a host; empty for an IP address."""
    name = authority.rpartition("@")[2]
    if name.startswith("["):
        return ""
    labels = name.partition(":")[0].lower().rstrip(".").split(".")
    if labels[-1].isdigit():
        return ""
    names = labels[:-1]
    if len(names) > 1 and len(labels[-1]) == 2 and names[-1] in _UNDER_COUNTRIES:
        names = names[:-1]
    return " ".join(_decode_label(label) for label in names if label != "www")


def _decode_label(label: str) -> str:
    if label.startswith("xn--"):
        try:
            return label[4:].encode("ascii").decode("punycode")
        except UnicodeError:
            return ""
    return label
