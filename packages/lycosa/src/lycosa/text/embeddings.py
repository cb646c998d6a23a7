"""Text embeddings from the vectors of 32,000 word pieces that come with the package.

The vector of a text is the weighted sum of its words, without stop words. Each word has length 1 (the sum of its
pieces, normalised), so that the number of pieces does not matter. The weight of a word is

    log(1 + f),  f the sum over its places of 1 / (1 + place / 300)

where place 0 is the first word that is not a stop word: the topic of a page is at its beginning, menus further down
count less. Cutting the words of a page into pieces takes 5 ms, so word vectors are cached. The module needs no network
access.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.errors import InputError
from lycosa.text.background import Background
from lycosa.text.bags import Bags
from lycosa.text.languages import ENGLISH
from lycosa.text.stopwords import ENGLISH as STOP_WORDS
from lycosa.text.tokens import MAX_WORD_LENGTH, OPEN_TOKEN, Lexicon, Tokens, fold, fold_all, new_among, stem_all

HALF_WEIGHT_PLACE = 300  # position in the text at which a word has half the weight of the first word
MAX_CHARACTERS = 200_000  # characters read of a text; later words would have less than a hundredth of the weight
_WEIGHTS = 1.0 / (1.0 + np.arange(MAX_CHARACTERS) / HALF_WEIGHT_PLACE)  # weight of a word by its position
MAX_CACHED_WORDS = 200_000  # per language, about 60 MB
MAX_CACHED_LANGUAGES = 8
_SKIP, _BREAK, _UNKNOWN = -1, -2, -9
_EMPTY = np.zeros(0, np.int32)
_BATCH_SIZE = 64  # words whose pieces are looked up in one batch
Vectors = NDArray[np.float32]


def vectors(texts: Sequence[str], language: str = ENGLISH, *, rare: bool = True) -> Vectors:
    """Return a unit vector for each text; zeros for a text without known words.

    Stop words of `language` are left out. With `rare=False`, only words that are a single piece or common in English
    count: cutting a word takes 10 us, a page has dozens of new ones, and they hardly change the vector of a long text.

    >>> doctor, physician, train = vectors(["a doctor", "the physicians", "railway timetable"])
    >>> bool(doctor @ physician > 0.4 > 0.1 > doctor @ train)
    True
    """
    words = _model().words(language, rare)
    bags = words.read(texts)
    return unit(bags.times(bags.counts, words.rows).astype(np.float32))


def vector(text: str, language: str = ENGLISH, *, rare: bool = True) -> Vectors:
    """Return the vector of one text; equal to `vectors([text])[0]`, but faster.

    >>> bool((vector("a doctor saw a doctor") == vectors(["a doctor saw a doctor"])[0]).all())
    True
    """
    words = _model().words(language, rare)
    return words.sum(words.read_one(text))


def vector_from(tokens: Tokens, numbers: NDArray[np.int32], *, rare: bool = True) -> Vectors:
    """Return the vector of a text that is already tokenised.

    >>> tokens = Tokens()
    >>> bool((vector_from(tokens, tokens.read(b"a doctor saw a doctor")) == vector("a doctor saw a doctor")).all())
    True
    """
    words = _model().words(tokens.language, rare)
    return words.sum(words.numbers_of(tokens, numbers))


def word_vectors(words: Sequence[str]) -> Vectors:
    """Return the vectors of single lower-case words; skips tokenisation and cache, which is faster than `vectors`."""
    if len(words) < 2:
        return vectors(words)
    known = [at for at, word in enumerate(words) if _is_plain(word)]
    others = [at for at, word in enumerate(words) if not word.isascii()]
    rows = np.zeros((len(words), DIMENSIONS), np.int8)
    if known:
        rows[known] = _model().rows([words[at] for at in known])
    found = unit((rows * np.log1p(1.0)).astype(np.float32))  # weight of a word in a text of one word
    if others:  # with an extra row, because a single row would be rounded differently
        found[others] = vectors([*(words[at] for at in others), ""])[:-1]
    return found


def _is_plain(word: str) -> bool:
    return word.isascii() and 2 <= len(word) <= MAX_WORD_LENGTH and word not in STOP_WORDS


def unit(rows: NDArray[Any]) -> NDArray[Any]:
    """Scale rows (or one vector) to length 1; zeros stay zeros."""
    lengths = np.sqrt(np.add.reduce(rows * rows, axis=-1, keepdims=True))
    unit_rows: NDArray[Any] = rows / np.maximum(lengths, 1e-30)
    return unit_rows


def vectors_digest() -> str:
    return _model().pieces.digest


@dataclass
class _Model:
    """Word pieces, and a cache of words per language."""

    pieces: Pieces
    whole: dict[str, int]  # words that are a single piece
    _words: dict[tuple[str, bool], _Words] = field(default_factory=dict)

    def words(self, language: str, rare: bool) -> _Words:
        """Return the word cache of a language, which is emptied when it is too large."""
        words = self._words.pop((language, rare), None)
        if words is None or words.count > MAX_CACHED_WORDS:
            words = _Words(self, language, rare)
            if len(self._words) >= MAX_CACHED_LANGUAGES:
                del self._words[next(iter(self._words))]
        self._words[language, rare] = words
        return words

    def rows(self, words: list[str]) -> NDArray[np.int8]:
        """Return the sum of the pieces of each word, scaled to length STEPS."""
        if len(words) > _BATCH_SIZE:
            return np.concatenate([self.rows(words[at : at + _BATCH_SIZE]) for at in range(0, len(words), _BATCH_SIZE)])
        pieces = [[self.whole[word]] if word in self.whole else self.pieces.cut(word) for word in words]
        most, padding = max(map(len, pieces), default=1), len(self.pieces.names)
        padded = np.array([each + [padding] * (most - len(each)) for each in pieces], np.intp).reshape(-1, most)
        each = self.pieces.rows.take(padded, axis=0) * self.pieces.lengths.take(padded)[..., None]
        rows = unit(np.add.reduce(each, axis=1))
        rows *= np.float32(STEPS)
        np.rint(rows, out=rows)
        np.minimum(rows, 127.0, out=rows)
        np.maximum(rows, -127.0, out=rows)
        return rows.astype(np.int8)


class _Words:
    """Cache of words and their vectors in one language."""

    def __init__(self, model: _Model, language: str, rare: bool) -> None:
        self.model, self.language = model, language
        self._common = None if rare else Background.load().frequency
        self.count = 0
        self.rows = np.zeros((1024, DIMENSIONS), np.int8)  # sum of the pieces of each word, scaled to length STEPS
        self._lexicon = Lexicon(self._numbers, bits=18)
        self._columns: WeakKeyDictionary[Tokens, NDArray[np.int32]] = WeakKeyDictionary()

    def read(self, texts: Sequence[str]) -> Bags:
        numbers = self._lexicon.ids(fold_all([text[:MAX_CHARACTERS] for text in texts], self.language))
        owners = np.cumsum(numbers == _BREAK)
        counted = numbers >= 0
        numbers, owners = numbers[counted].astype(np.int64), owners[counted]
        first = np.searchsorted(owners, np.arange(len(texts)))
        place = np.arange(len(owners)) - first[owners]
        distinct, at = np.unique(owners << 32 | numbers, return_inverse=True)
        frequency = np.bincount(at, 1.0 / (1.0 + place / HALF_WEIGHT_PLACE), len(distinct))
        starts = np.searchsorted(distinct >> 32, np.arange(len(texts) + 1))
        return Bags(starts, (distinct & 0xFFFFFFFF).astype(np.intp), np.log1p(frequency))

    def read_one(self, text: str) -> NDArray[np.int32]:
        return self._lexicon.ids(fold(text[:MAX_CHARACTERS].replace("\x01", " "), self.language))

    def numbers_of(self, tokens: Tokens, cut: NDArray[np.int32]) -> NDArray[np.int32]:
        column = fit(self._columns.get(tokens, _EMPTY), len(tokens.names), _UNKNOWN)
        numbers = column.take(cut)
        new = new_among(cut, numbers, _UNKNOWN)
        if new:
            # the stems are known, so skip the stemmer
            stem_of = {tokens.names[token]: tokens.stems[token] for token in new}
            column[new] = self._lexicon.of(list(stem_of), lambda names: self._add(names, [stem_of[n] for n in names]))
            numbers = column.take(cut)
        self._columns[tokens] = column
        return numbers

    def sum(self, numbers: NDArray[np.int32]) -> Vectors:
        numbers = numbers[numbers >= 0]
        if not len(numbers):
            return np.zeros(DIMENSIONS, np.float32)
        order = numbers.argsort(kind="stable")
        ordered = numbers[order]
        starts = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
        counts = np.log1p(np.add.reduceat(_WEIGHTS.take(order), starts)).astype(np.float32)
        total: Vectors = counts @ self.rows.take(ordered[starts], axis=0).astype(np.float32)
        length = np.sqrt((total * total).sum())
        return total / length if length > 0.0 else total

    def _numbers(self, tokens: list[bytes]) -> list[int]:
        return self._add(tokens, stem_all(tokens, self.language))

    def _add(self, tokens: list[bytes], stems: list[str]) -> list[int]:
        words = [token.decode("utf-8", "ignore") if stem else "" for token, stem in zip(tokens, stems, strict=True)]
        if self._common is not None:
            whole, common = self.model.whole, self._common
            # stems on at least 60 of the background's 5,448 pages
            is_known = (word in whole or common.get(stem, 0) >= 60 for word, stem in zip(words, stems, strict=True))
            words = [word if counts else "" for word, counts in zip(words, is_known, strict=True)]
        new = iter(range(self.count, self.count + len(words)))
        numbers = [next(new) if word else _SKIP for word in words]
        self._look_up([word for word in words if word])
        return [_BREAK if token == OPEN_TOKEN else number for token, number in zip(tokens, numbers, strict=True)]

    def _look_up(self, words: list[str]) -> None:
        if not words:
            return
        count = self.count + len(words)
        self.rows = fit(self.rows, count)
        self.rows[self.count : count] = self.model.rows(words)
        self.count = count


@cache
def _model() -> _Model:
    pieces = Pieces.load()
    return _Model(pieces, {name[1:]: number for number, name in enumerate(pieces.names) if name.startswith(WORD)})


# Vectors of word pieces: 32,000 pieces with 256 numbers each. The files are converted from those of the package
# wordllama when Lycosa is built or installed (hatch_build.py). Words are split by byte-pair encoding, as in training:
# the pair that forms the earliest piece of the list is joined first.

VECTORS_DIRECTORY = Path(__file__).parent / "word_vectors"
FILES = ("vectors.npy", "pieces.json")
DIMENSIONS = 256
STEPS = 320  # a vector of length 1 is stored as int8 multiples of 1 / STEPS; rounding errors cancel in sums
WORD = "\u2581"  # starts the first piece of a word
_NEVER = 1 << 30  # rank of a pair that is not a piece


@dataclass(frozen=True)
class Pieces:
    """Word pieces and their vectors.

    >>> pieces = Pieces.load()
    >>> [pieces.names[piece] for piece in pieces.cut("lycosidae")]
    ['▁ly', 'cos', 'idae']
    """

    names: list[str]
    rows: NDArray[np.int8]  # direction of each piece, in multiples of 1 / STEPS; the last row is zero, for padding
    lengths: NDArray[np.float32]
    digest: str  # digest of the source files, stored in logs
    numbers: dict[str, int]

    @staticmethod
    @cache
    def load(directory: Path = VECTORS_DIRECTORY) -> Pieces:
        try:
            header = json.loads((directory / FILES[1]).read_text(encoding="utf-8"))
            names, lengths, digest = list(map(str, header["pieces"])), header["lengths"], str(header["digest"])
            rows = np.load(directory / FILES[0], allow_pickle=False)
            if rows.dtype != np.int8 or rows.shape != (len(names), DIMENSIONS) or len(lengths) != len(names):
                raise ValueError("vectors and word pieces differ in number")
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            message = f"the word vectors in {directory} cannot be read ({error}): reinstall lycosa"
            raise InputError("unreadable-file", message) from error
        padding = np.zeros((1, DIMENSIONS), np.int8)
        column = np.array([*lengths, 0.0], np.float32)
        numbers = {name: at for at, name in enumerate(names)}
        return Pieces(names, np.concatenate([rows, padding]), column, digest, numbers)

    def cut(self, word: str) -> list[int]:
        """Return the piece numbers of a word; unknown letters are split into bytes."""
        numbers, parts = self.numbers, [WORD, *word]
        ranks = [numbers.get(left + right, _NEVER) for left, right in pairwise(parts)]
        while ranks and (first := min(ranks)) != _NEVER:
            at = ranks.index(first)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            ranks[at : at + 1] = []
            if at < len(ranks):
                ranks[at] = numbers.get(parts[at] + parts[at + 1], _NEVER)
            if at:
                ranks[at - 1] = numbers.get(parts[at - 1] + parts[at], _NEVER)
        return [number for part in parts for number in self._of(part)]

    def _of(self, part: str) -> list[int]:
        if part in self.numbers:
            return [self.numbers[part]]
        return [self.numbers[f"<0x{byte:02X}>"] for byte in part.encode("utf-8", "replace")]
