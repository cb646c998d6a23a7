"""Texts as vectors: words of like meaning point the same way. Vectors of 32,000 pieces of words come with `wordllama`.

A text is the sum of its words. Each word has length 1 (what its pieces sum to, divided by its length), so that no word
outweighs another by the accident of how it is cut. Stop words are left out. A word counts as

    log(1 + f),  f the sum over its places of 1 / (1 + place / 300)

where the first word that counts is at place 0: what a page is about, it says early; menus further down count less.
Cutting a page into pieces takes 5 ms, so each word is cut once, and its pieces are remembered.

Only the files of `wordllama` are read. It is not imported: that would send the log of this process to the terminal,
and load what downloads vectors. Nothing here touches the network, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.columns import fit
from lycosa.core.errors import InputError
from lycosa.text.background import Background
from lycosa.text.bags import Bags
from lycosa.text.languages import ENGLISH
from lycosa.text.lexicon import Lexicon
from lycosa.text.tokens import OPEN_TOKEN, fold, stem_all

DIMENSIONS = 256
EXTRA = "pip install 'lycosa[meaning]'"

EARLY = 300
"""At this place a word counts half."""

LONGEST = 200_000
"""Characters of a text that are read: a word behind them would count a hundredth."""

REMEMBERED, LANGUAGES = 200_000, 8
"""Words whose pieces are kept, in each of so many languages: about 40 MB each."""

COMMON = 60
"""Of 5,448 pages of English, so many have a stem that is common."""

MOST_STEMS = 256
"""Stems of a bag that are added up, those that count most."""

CUT = 0.4
"""How much a stem counts that is no whole word to the vectors, where others count 1."""

_PARTS = 320
"""Kept vectors are whole numbers of this part of 1."""

_FILES = ("tokenizers/l2_supercat_tokenizer_config.json", "weights/l2_supercat_256.safetensors")
_WORD = "\u2581"
"""What the first piece of a word starts with."""
_SKIP, _BREAK = -1, -2
_APART = b" " + OPEN_TOKEN + b" "

Vectors = NDArray[np.float32]


def vectors(texts: Sequence[str], language: str = ENGLISH) -> Vectors:
    """One row of length 1 for each text; zeros for a text without a word that counts.

    `language` says whose stop words are left out. The vectors know English best.

    >>> doctor, physician, train = vectors(["a doctor", "the physicians", "railway timetable"])
    >>> bool(doctor @ physician > 0.4 > 0.1 > doctor @ train)
    True
    """
    words = _model().words(language)
    bags, values = words.read(texts)
    return unit(bags.times(values, words.model.pieces).astype(np.float32))


class StemVectors:
    """Vectors of bags of stems: for whoever has read a page into stems, and would not read it again.

    A bag is the sum of its stems, each log(1 + f) times. A stem points where the words point that have it, as far as
    the vectors know them as whole words. Other stems that are common in English are cut into pieces, which says less,
    so they count less; and the rest counts nothing, but for those that are asked for. So there are vectors of 11,000
    stems, made once.

    >>> found = StemVectors()
    >>> found.meet(["doctor", "ward", "physician", "railway"])
    >>> doctor, physician, train = (found.bag(np.array([n]), np.array([1])) for n in (0, 2, 3))
    >>> bool(doctor @ physician > 0.4 > 0.1 > doctor @ train)
    True
    >>> bool(found.bag(np.array([0, 1]), np.array([2, 1])) @ physician > 0.3)
    True
    """

    def __init__(self, asked: Iterable[str] = ()) -> None:
        self._row, self._rows, self._weights = _stems()
        if new := [stem for stem in dict.fromkeys(asked) if stem not in self._row]:
            self._row = {**self._row, **{stem: len(self._rows) + nth for nth, stem in enumerate(new)}}
            self._rows = np.concatenate([self._rows, _rounded(_cut(new))])
            self._weights = np.concatenate([self._weights, np.full(len(new), CUT, np.float32)])
        self._row_of = np.zeros(1024, np.int32)
        """By the number of a stem; 0 for those that count nothing."""
        self._met = 0

    def meet(self, stems: Sequence[str]) -> None:
        """The next stems, in the order of their numbers."""
        begin, self._met = self._met, self._met + len(stems)
        self._row_of = fit(self._row_of, self._met)
        self._row_of[begin : self._met] = np.fromiter(map(self._row.get, stems, repeat(0)), np.int32, len(stems))

    def bag(self, numbers: NDArray[Any], counts: NDArray[Any]) -> Vectors:
        """A vector of length 1 for a bag of stems, by those of them that count most."""
        rows = self._row_of[numbers]
        weights = np.log1p(counts, dtype=np.float32) * self._weights[rows]
        if len(rows) > MOST_STEMS:
            kept = np.argpartition(-weights, MOST_STEMS)[:MOST_STEMS]
            rows, weights = rows[kept], weights[kept]
        return unit(weights @ self._rows[rows].astype(np.float32))


@cache
def _stems() -> tuple[dict[str, int], NDArray[np.int8], NDArray[np.float32]]:
    """Stems that have a vector: the row of each, the rows, and what each counts. Row 0 is none."""
    model = _model()
    words = {at: name[1:] for at, name in enumerate(model.names) if name.startswith(_WORD) and name[1:].isalpha()}
    words = {at: word for at, word in words.items() if word.isascii() and word.islower()}
    whole: dict[str, list[int]] = {}
    for at, stem in zip(words, stem_all([word.encode() for word in words.values()]), strict=True):
        if stem:
            whole.setdefault(stem, []).append(at)
    common = Background.load().frequency
    cut = [stem for stem, pages in common.items() if pages >= COMMON and stem not in whole]
    none = np.zeros((1, DIMENSIONS), np.float32)
    found = np.array([model.pieces[pieces].sum(axis=0) for pieces in whole.values()])
    weights = np.concatenate([[0.0], np.ones(len(whole)), np.full(len(cut), CUT)]).astype(np.float32)
    return {stem: row for row, stem in enumerate([*whole, *cut], 1)}, _rounded(none, found, _cut(cut)), weights


def _cut(stems: Sequence[str]) -> Vectors:
    """What the pieces of each stem sum to; it is cut as a word that has it, or nearly: the stemmer turns y into i."""
    words = [f"{stem[:-1]}y" if stem.endswith("i") and len(stem) > 2 else stem for stem in stems]
    pieces, starts = _model().cut(words)
    found: Vectors = np.add.reduceat(_model().pieces[pieces], starts, axis=0)
    return found


def _rounded(*rows: Vectors) -> NDArray[np.int8]:
    """Rows as they are kept."""
    found: NDArray[np.int8] = np.clip(np.rint(unit(np.concatenate(rows)) * _PARTS), -127, 127).astype(np.int8)
    return found


def unit(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows (or one vector) of length 1; zeros stay zeros."""
    lengths = np.sqrt((rows * rows).sum(-1, keepdims=True))
    found: NDArray[Any] = rows / np.where(lengths > 0.0, lengths, 1.0)
    return found


def digest() -> str:
    """What the vectors are, in a few letters: it changes when they do."""
    return _model().digest


@dataclass
class _Model:
    """What comes with wordllama: a vector for each piece of a word, and how to cut words."""

    pieces: Vectors
    tokenizer: Any
    begins: NDArray[np.bool_]
    """Which pieces stand at the beginning of a word."""
    digest: str
    names: list[str]
    """Of the pieces."""
    _words: dict[str, _Words] = field(default_factory=dict)

    def words(self, language: str) -> _Words:
        """The words met in a language; when they are too many, they are met anew."""
        known = self._words.pop(language, None)
        if known is None or known.count > REMEMBERED:
            known = _Words(self, language)
            if len(self._words) >= LANGUAGES:
                del self._words[next(iter(self._words))]
        self._words[language] = known
        return known

    def cut(self, words: list[str]) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """The pieces of some words, one after the other, and where those of each word start."""
        found = self._pieces(" ".join(words))  # all at once: twice as fast
        starts = self.begins[found].nonzero()[0]
        if len(starts) != len(words):
            each = [self._pieces(word) for word in words]
            starts = np.cumsum([0, *map(len, each[:-1])]).astype(np.intp)
            found = np.concatenate(each)
        return found, starts

    def _pieces(self, text: str) -> NDArray[np.int32]:
        found = self.tokenizer.encode(text, add_special_tokens=False).ids
        return np.minimum(np.array(found, np.int32), len(self.pieces) - 1)


class _Words:
    """Words to numbers, numbers to pieces: those of word w are `pieces[starts[w] : starts[w + 1]]`."""

    def __init__(self, model: _Model, language: str) -> None:
        self.model, self.language = model, language
        self.count = 0
        self.starts = np.zeros(1024, np.intp)
        self.pieces = np.zeros(4096, np.int32)
        self.scale = np.zeros(1024)
        """1 / |sum of its pieces|."""
        self._lexicon = Lexicon(self._numbers, bits=18)

    def read(self, texts: Sequence[str]) -> tuple[Bags, NDArray[np.float64]]:
        """The texts as bags of pieces, and how much each piece counts."""
        language = self.language
        # Each on its own: how a text is cut may depend on what else is in it.
        folded = [fold(text[:LONGEST].replace("\x01", " "), language) for text in texts]
        numbers = self._lexicon.ids(_APART.join(folded))
        owners = np.cumsum(numbers == _BREAK)
        kept = numbers >= 0
        numbers, owners = numbers[kept].astype(np.int64), owners[kept]
        first = np.searchsorted(owners, np.arange(len(texts)))
        place = np.arange(len(owners)) - first[owners]
        distinct, at = np.unique(owners << 32 | numbers, return_inverse=True)
        frequency = np.bincount(at, 1.0 / (1.0 + place / EARLY), len(distinct))
        owners, numbers = distinct >> 32, distinct & 0xFFFFFFFF
        counts = self.starts[numbers + 1] - self.starts[numbers]
        ends = np.cumsum(counts)
        places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(self.starts[numbers] - ends + counts, counts)
        owned = np.bincount(owners, counts, len(texts)).astype(np.intp)
        values = np.repeat(np.log1p(frequency) * self.scale[numbers], counts)
        starts = np.concatenate([[0], np.cumsum(owned)]).astype(np.intp)
        return Bags(starts, self.pieces[places].astype(np.intp), values), values

    def _numbers(self, tokens: list[bytes]) -> list[int]:
        """The numbers of raw tokens, for the lexicon to remember."""
        stems = stem_all(tokens, self.language)
        words = [token.decode("utf-8", "ignore") if stem else "" for token, stem in zip(tokens, stems, strict=True)]
        new = iter(range(self.count, self.count + len(words)))
        numbers = [next(new) if word else _SKIP for word in words]
        self._add([word for word in words if word])
        return [_BREAK if token == OPEN_TOKEN else number for token, number in zip(tokens, numbers, strict=True)]

    def _add(self, words: list[str]) -> None:
        if not words:
            return
        pieces, starts = self.model.cut(words)
        begin, count = int(self.starts[self.count]), self.count + len(words)
        counts = np.diff(starts, append=len(pieces))
        sums = self.model.pieces[pieces[starts]]
        for nth in range(1, int(counts.max())):  # add.reduceat takes three times as long
            longer = (counts > nth).nonzero()[0]
            sums[longer] += self.model.pieces[pieces[starts[longer] + nth]]
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        self.pieces = fit(self.pieces, begin + len(pieces))
        self.starts, self.scale = fit(self.starts, count + 1), fit(self.scale, count)
        self.pieces[begin : begin + len(pieces)] = pieces
        self.starts[self.count + 1 : count + 1] = begin + starts + counts
        self.scale[self.count : count] = 1.0 / np.maximum(lengths, 1e-6)
        self.count = count


@cache
def _model() -> _Model:
    """The vectors, read once: .2 s and 80 MB."""
    try:
        from safetensors import safe_open
        from tokenizers import Tokenizer
    except ImportError as error:
        raise InputError(f"word vectors need the package wordllama: {EXTRA}") from error
    cutting, weighing = (_directory() / name for name in _FILES)
    try:
        tokenizer = Tokenizer.from_file(str(cutting))
        with safe_open(weighing, framework="np") as file:
            pieces = np.ascontiguousarray(file.get_tensor("embedding.weight"), np.float32)
    except Exception as error:  # both libraries raise plain Exceptions, too
        raise InputError(f"the vectors of wordllama cannot be read ({error}): install it anew, {EXTRA}") from error
    if pieces.ndim != 2 or pieces.shape[1] != DIMENSIONS or not np.isfinite(pieces).all():
        raise InputError(f"the vectors of wordllama are not those that Lycosa knows: install it anew, {EXTRA}")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    names = [tokenizer.id_to_token(number) or "" for number in range(len(pieces))]
    begins = np.fromiter((name.startswith(_WORD) for name in names), bool, len(pieces))
    content = xxhash.xxh3_64(pieces.data)
    content.update(cutting.read_bytes())
    return _Model(pieces, tokenizer, begins, content.hexdigest(), names)


def _directory() -> Path:
    """Where wordllama is installed, without importing it."""
    spec = find_spec("wordllama")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not places:
        raise InputError(f"word vectors need the package wordllama: {EXTRA}")
    directory = Path(places[0])
    for name in _FILES:
        if not (directory / name).is_file():
            raise InputError(f"this wordllama comes without {name}: install version 0.4, {EXTRA}")
    return directory
