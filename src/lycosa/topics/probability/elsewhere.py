"""What a shard tells the others of a page, so that their judges learn from it as well: its evidence, in about 1 kB."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from lycosa.text.embeddings import DIMENSIONS
from lycosa.topics.probability.evidence import ANSWERS, FEATURES, SLOTS, Evidence, Pages

# answers, against, quality, relevance, words of a usual page; is it a start page; number of features
_NUMBERS = struct.Struct(f"<{len(ANSWERS) + 4}f?B")


class Told(NamedTuple):
    """A page of another shard."""

    evidence: Evidence
    worth: float
    length: float  # words of a usual page there
    is_start: bool


def packed(pages: Pages, row: int, length: float, is_start: bool) -> bytes:
    """A row of what is known of pages."""
    places = np.flatnonzero(pages.slots[row])
    numbers = *pages.answers[row].tolist(), pages.against[row], pages.quality[row], pages.worth[row], length
    return b"".join(
        (
            _NUMBERS.pack(*numbers, is_start, len(places)),
            pages.vectors[row].tobytes(),
            places.astype(np.uint8).tobytes(),
            pages.amounts[row][places].tobytes(),
            pages.slots[row][places].astype("<i4").tobytes(),
        )
    )


def unpacked(told: bytes) -> Told | None:
    """What it says; None for what can't be that."""
    if len(told) < _NUMBERS.size:
        return None
    *numbers, is_start, count = _NUMBERS.unpack_from(told)
    at = _NUMBERS.size + DIMENSIONS
    if len(told) != at + 6 * count or not np.isfinite(numbers).all():
        return None
    places = np.frombuffer(told, np.uint8, count, at)
    found = np.frombuffer(told, "<i4", count, at + 2 * count)
    if not count or places.max() >= FEATURES or not 0 < found.min() <= found.max() < SLOTS:
        return None
    slots, amounts = np.zeros(FEATURES, np.int32), np.zeros(FEATURES, np.uint8)
    slots[places], amounts[places] = found, np.frombuffer(told, np.uint8, count, at + count)
    answers, (against, quality, worth, length) = np.array(numbers[: len(ANSWERS)], np.float32), numbers[len(ANSWERS) :]
    vector = np.frombuffer(told, np.int8, DIMENSIONS, _NUMBERS.size)
    return Told(Evidence(slots, amounts, answers, vector, against, quality), worth, length, is_start)
