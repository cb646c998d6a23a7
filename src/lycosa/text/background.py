"""Word statistics from elsewhere: in how many pages of a large corpus each word occurs, for idf from the first page on.

The file is one zstd frame: a line of JSON that says what it is, then a stem, a tab and its count a line, the most
frequent first (`zstdcat FILE | head` shows it). `lycosa train background` makes one from pages of your own.

Paper items:
    batsakis-idf-statistics: `--judge vector,idf=background`. Test:
        text/test_background.py::test_idf_is_that_of_the_paper. Departs: statistics that come with the package, or your
        own (`lycosa train background`): the search engine is gone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import xxhash

from lycosa import zstd
from lycosa.core.errors import InputError
from lycosa.core.files import read_input, replacing

FORMAT, VERSION = "lycosa background", 1
SHIPPED = "english.tsv.zst"
"""Counted in the 5,448 pages of Wikipedia for Schools (2007), by tools/background.py; numbers only."""

LARGEST = 100_000_000
"""Bytes that a file may hold, unpacked."""


@dataclass(frozen=True)
class Background:
    """Document frequencies of stems.

    >>> words = Background(1000, {"sea": 100, "coral": 10})
    >>> round(words.idf("sea"), 3), round(words.idf("coral"), 3)    # ln(1000 / 100), ln(1000 / 10)
    (2.303, 4.605)
    >>> round(words.idf("lagoon"), 3)                               # never met: as if met once, ln(1000 / 1)
    6.908
    """

    documents: int
    """N, the number of pages that were counted."""
    frequency: Mapping[str, int] = field(repr=False)
    """N_j, in how many of them each stem occurs."""
    language: str = "en"
    """What language the stems are of; "" for words that are not stemmed."""
    source: str = ""
    """What was counted."""
    digest: str = ""

    def idf(self, stem: str) -> float:
        """log(N / N_j) (Batsakis 2007, eq. 1); a stem that is not there counts as met once."""
        return math.log(self.documents / self.frequency.get(stem, 1))

    @staticmethod
    def load(path: str | Path | None = None) -> Background:
        """Read a file; without a path, the statistics of English that come with the package."""
        if path is None:
            return _shipped()
        return _parse(read_input(Path(path), LARGEST, "the word statistics in"), str(path))

    def save(self, path: Path) -> None:
        """Write a file that `load` reads, whole or not at all."""
        head = {
            "format": FORMAT,
            "version": VERSION,
            "documents": self.documents,
            "terms": len(self.frequency),
            "language": self.language,
            "source": self.source,
        }
        ranked = sorted(self.frequency.items(), key=lambda pair: (-pair[1], pair[0]))
        lines = [json.dumps(head, ensure_ascii=False), *(f"{stem}\t{count}" for stem, count in ranked)]
        packed = zstd.compress("\n".join(lines).encode() + b"\n", level=19)
        try:
            with replacing(path) as file:
                file.write(packed)
        except OSError as error:
            raise InputError(f"cannot write the word statistics to {path}: {error.strerror}") from error


@cache
def _shipped() -> Background:
    return _parse(files("lycosa.text").joinpath(SHIPPED).read_bytes(), SHIPPED)


def _parse(packed: bytes, name: str) -> Background:
    remedy = "make it again with 'lycosa train background SOURCE --out FILE'"
    try:
        head, _, body = zstd.decompress(packed, LARGEST).decode().partition("\n")
        facts: dict[str, Any] = json.loads(head)
        if facts["format"] != FORMAT:
            raise ValueError("its first line says so")
        version = facts["version"]
        if version == VERSION:
            cells = body.replace("\t", "\n").split("\n")
            counts = list(map(int, cells[1::2]))
            frequency = dict(zip(cells[:-1:2], counts, strict=True))
            documents = int(facts["documents"])
            if (
                documents >= 2**53
                or len(frequency) != facts["terms"]
                or cells[-1]
                or not all(0 < n <= documents for n in (counts or [0]))
            ):
                raise ValueError("its numbers do not fit together")
            language, source = str(facts["language"]), str(facts["source"])
    except (zstd.ZstdError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise InputError(f"{name} is not a file of word statistics, or it is damaged ({error}): {remedy}") from error
    if version != VERSION:
        raise InputError(f"{name} has word statistics of version {version!r}, this Lycosa reads {VERSION}: {remedy}")
    return Background(documents, frequency, language, source, xxhash.xxh3_64_hexdigest(packed))
