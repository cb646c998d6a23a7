"""Document frequencies from a large corpus, for idf from the first page on.

The file is one zstd frame: a JSON header line, then one line per stem with a tab and its count, in order of decreasing
frequency (`zstdcat FILE | head` shows it). `lycosa.training.count_words.measure` creates one from other pages.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa import zstd
from lycosa.core.columns import fit
from lycosa.core.errors import InputError
from lycosa.core.files import atomic_write, read_input
from lycosa.text.languages import ENGLISH
from lycosa.text.vocabulary import Vocabulary

FORMAT, VERSION = "lycosa background", 1
SHIPPED = "english.tsv.zst"  # counted in the 5,448 pages of Wikipedia for Schools (2007) by tools/background.py
MAX_BYTES = 100_000_000  # bytes, unpacked


@dataclass(frozen=True)
class Background:
    """Document frequencies of stems.

    >>> words = Background(1000, {"sea": 100, "coral": 10})
    >>> round(words.idf("sea"), 3), round(words.idf("coral"), 3)    # ln(1000 / 100), ln(1000 / 10)
    (2.303, 4.605)
    >>> round(words.idf("lagoon"), 3)                               # unknown stems count as seen once: ln(1000 / 1)
    6.908
    """

    documents: int  # N, number of pages
    frequency: Mapping[str, int] = field(repr=False)  # N_j, number of pages with each stem
    language: str = "en"  # language of the stems; "" if words are not stemmed
    source: str = ""
    digest: str = ""

    def idf(self, stem: str) -> float:
        """Return log(N / N_j) (Batsakis 2007, eq. 1), with N_j = 1 for unknown stems."""
        return math.log(self.documents / self.frequency.get(stem, 1))

    @staticmethod
    def load(path: str | Path | None = None) -> Background:
        """Read a file of statistics; without a path, the English ones that come with the package."""
        if path is None:
            return _shipped()
        return _parse(read_input(Path(path), MAX_BYTES, "the word statistics in"), str(path))

    def save(self, path: Path) -> None:
        """Write a file that `load` reads, atomically."""
        header_line = {
            "format": FORMAT,
            "version": VERSION,
            "documents": self.documents,
            "terms": len(self.frequency),
            "language": self.language,
            "source": self.source,
        }
        ranked = sorted(self.frequency.items(), key=lambda pair: (-pair[1], pair[0]))
        lines = [json.dumps(header_line, ensure_ascii=False), *(f"{stem}\t{count}" for stem, count in ranked)]
        packed = zstd.compress("\n".join(lines).encode() + b"\n", level=19)
        try:
            with atomic_write(path) as file:
                file.write(packed)
        except OSError as error:
            raise InputError("cannot-write", f"cannot write the word statistics to {path}: {error.strerror}") from error


@cache
def _shipped() -> Background:
    return _parse(files("lycosa.text").joinpath(SHIPPED).read_bytes(), SHIPPED)


def _parse(packed: bytes, name: str) -> Background:
    remedy = "recreate it with lycosa.training.count_words.measure"
    try:
        header_line, _, body = zstd.decompress(packed, MAX_BYTES).decode().partition("\n")
        header: dict[str, Any] = json.loads(header_line)
        if header["format"] != FORMAT:
            raise ValueError(f"its first line does not have the format {FORMAT!r}")
        version = header["version"]
        if version == VERSION:
            cells = body.replace("\t", "\n").split("\n")
            counts = list(map(int, cells[1::2]))
            frequency = dict(zip(cells[:-1:2], counts, strict=True))
            documents = int(header["documents"])
            is_valid = documents < 2**53 and all(0 < n <= documents for n in (counts or [0]))
            if not is_valid or len(frequency) != header["terms"] or cells[-1]:
                raise ValueError("its counts are inconsistent")
            language, source = str(header["language"]), str(header["source"])
    except (zstd.ZstdError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        message = f"{name} is not a file of word statistics, or it is damaged ({error}): {remedy}"
        raise InputError("bad-file", message) from error
    if version != VERSION:
        raise InputError("bad-version", f"{name} has format version {version!r}, this Lycosa reads {VERSION}: {remedy}")
    return Background(documents, frequency, language, source, xxhash.xxh3_64_hexdigest(packed))


Idf = Literal["background", "learned", "none"]

Numbers = NDArray[np.float64]


class Rarity:
    """The idf of terms, given by their stems; a phrase has the largest idf of its words.

    `learned` is log((N + 1) / (N_j + .5)) + 1 over the pages that a vocabulary has seen. `background` is log(N / N_j)
    of a `Background`, or `learned` on pages in another language. `none` is 1. N_j = 1 for words that no page has.

    >>> Rarity("learned").of([("coral",), ("coral", "reef")], Vocabulary()).round(3).tolist()    # log(1 / 1.5) + 1
    [0.595, 0.595]
    """

    def __init__(self, idf: Idf = "learned", background: Background | None = None) -> None:
        self.idf = idf
        self.background = background or Background.load() if idf == "background" else None
        self._column: tuple[Vocabulary | None, int, Numbers] = (None, 0, np.zeros(0))

    @property
    def fingerprint(self) -> object:
        return self.idf, self.background.digest if self.background else ""

    def of(self, terms: Sequence[tuple[str, ...]], words: Vocabulary, language: str = ENGLISH) -> Numbers:
        if self.idf == "none" or not terms:
            return np.ones(len(terms))
        if self.background is not None and not self.is_learned(language):
            background = self.background
            return np.array([max(map(background.idf, stems)) for stems in terms])
        id_of = words.id_of
        least = [min(int(words.frequency[id_of[stem]]) if stem in id_of else 0 for stem in stems) for stems in terms]
        return words.idf_by(np.array(least))

    def is_learned(self, language: str = ENGLISH) -> bool:
        """Return true if idf comes from the vocabulary for pages in this language."""
        return self.idf == "learned" or (self.background is not None and self.background.language != language)

    def of_ids(self, ids: NDArray[Any], words: Vocabulary, language: str = ENGLISH) -> Numbers:
        if self.idf == "none":
            return np.ones(len(ids))
        if self.background is None or self.is_learned(language):
            return words.idf(ids)
        owner, length, column = self._column
        if owner is not words:
            length = 0
        if length < len(words.terms):  # look up only new words
            column = fit(column, len(words.terms))
            column[length : len(words.terms)] = [self.background.idf(stem) for stem in words.terms[length:]]
            self._column = words, len(words.terms), column
        idf: Numbers = column[ids]
        return idf

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_column": (None, 0, np.zeros(0))}  # without the cache
