"""Pieces of words and their vectors, as they come with the package: 32,000 pieces, 256 numbers each.

The files are made from those of the package wordllama when Lycosa is built or installed (tools/vectors.py). A word is
cut as the vectors were made for: by byte-pair encoding, where the pair is joined first that makes the earliest piece of
the list.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError

HERE = Path(__file__).parent / "word_vectors"
FILES = ("vectors.npy", "pieces.json")
DIMENSIONS = 256
STEPS = 320
"""A vector of length 1 is kept in whole parts of 1 / STEPS, a byte each: where words are added up, nobody sees the
difference."""

WORD = "\u2581"
"""What the first piece of a word starts with."""

_NEVER = 1 << 30
"""When a pair is joined that makes no piece."""


@dataclass(frozen=True)
class Pieces:
    """What words are made of.

    >>> pieces = Pieces.load()
    >>> [pieces.names[piece] for piece in pieces.cut("lycosidae")]
    ['▁ly', 'cos', 'idae']
    """

    names: list[str]
    rows: NDArray[np.int8]
    """The direction of each piece, in parts of 1 / STEPS; behind them, for no piece, zeros."""
    lengths: NDArray[np.float32]
    digest: str
    """Of the files they were made from: crawls have it in their logs."""
    numbers: dict[str, int]

    @staticmethod
    @cache
    def load(directory: Path = HERE) -> Pieces:
        """Read the files, once."""
        try:
            told = json.loads((directory / FILES[1]).read_text(encoding="utf-8"))
            names, lengths, digest = list(map(str, told["pieces"])), told["lengths"], str(told["digest"])
            rows = np.load(directory / FILES[0], allow_pickle=False)
            if rows.dtype != np.int8 or rows.shape != (len(names), DIMENSIONS) or len(lengths) != len(names):
                raise ValueError("they don't fit together")
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(
                f"the word vectors in {directory} cannot be read ({error}): install lycosa again"
            ) from error
        none = np.zeros((1, DIMENSIONS), np.int8)
        column = np.array([*lengths, 0.0], np.float32)
        return Pieces(names, np.concatenate([rows, none]), column, digest, {name: at for at, name in enumerate(names)})

    def cut(self, word: str) -> list[int]:
        """The pieces of a word by number; letters that the list does not have are cut into bytes."""
        numbers, parts = self.numbers, [WORD, *word]
        made = [numbers.get(left + right, _NEVER) for left, right in pairwise(parts)]
        while made and (first := min(made)) != _NEVER:
            at = made.index(first)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            made[at : at + 1] = []
            if at < len(made):
                made[at] = numbers.get(parts[at] + parts[at + 1], _NEVER)
            if at:
                made[at - 1] = numbers.get(parts[at - 1] + parts[at], _NEVER)
        return [number for part in parts for number in self._of(part)]

    def _of(self, part: str) -> list[int]:
        if part in self.numbers:
            return [self.numbers[part]]
        return [self.numbers[f"<0x{byte:02X}>"] for byte in part.encode("utf-8", "replace")]
