"""Letters of a page of PDF put where they belong: by where they stand on it, where their order in the file misleads.

Two things are mended, line by line, and only in lines that need it. Accents that are drawn as letters of their own, as
old TeX fonts do, join the letter above or below which they stand. Lines of Arabic or Hebrew that came out backwards, or
without spaces, are read anew from right to left.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

SPACE = 0.18
"""Width of a gap that is a space, as a share of the height of the letters."""

ACCENTS = dict(
    zip("¨´ˆ˜ˇ˘˙˚˝¸˛¯`", "\u0308\u0301\u0302\u0303\u030c\u0306\u0307\u030a\u030b\u0327\u0328\u0304\u0300", strict=True)
)
_DOTLESS = {"\u0131": "i", "\u0237": "j"}
_ACCENT = re.compile("[¨´ˆ˜ˇ˘˙˚˝¸˛¯]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_NUMERAL = "[0-9\u0660-\u0669\u06f0-\u06f9A-Za-z\u00c0-\u024f]"
_LEFT_TO_RIGHT = re.compile(f"{_NUMERAL}(?:[^\\s\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[ ](?={_NUMERAL}))*")


class Box(NamedTuple):
    """Where a letter stands."""

    left: float
    right: float
    height: float
    bottom: float = 0.0


Boxes = Callable[[int], Box]
"""The place of the letter at some place in the text."""


def needs_mending(text: str) -> bool:
    """Whether a text has anything that may have to be put in its place."""
    return bool(_ACCENT.search(text) or _RIGHT_TO_LEFT.search(text))


def mend(text: str, lines: Sequence[tuple[int, int]], boxes: Boxes) -> list[str]:
    """A text letter by letter, each in the place of one of its own; `lines`: where they begin, how long they are."""
    letters = list(text)
    for start, length in lines:
        line = text[start : start + length]
        if _RIGHT_TO_LEFT.search(line):
            told = line.rstrip()
            turned = _turned(told, [boxes(start + at) for at in range(len(told))])
            if turned is not None:
                letters[start : start + len(told)] = [turned, *[""] * (len(told) - 1)]
        elif _ACCENT.search(line):
            _accent(letters, start, line, [boxes(start + at) for at in range(len(line))])
    return letters


def _accent(letters: list[str], start: int, line: str, boxes: list[Box]) -> None:
    """Let accents join their letters."""
    for at, sign in enumerate(line):
        if sign not in ACCENTS or boxes[at].height <= 0:
            continue
        middle = (boxes[at].left + boxes[at].right) / 2
        below = [
            other
            for other, box in enumerate(boxes)
            if box.height > 0 and box.left <= middle <= box.right and line[other].isalpha()
        ]
        if not below:
            continue
        other = min(below, key=lambda one: abs((boxes[one].left + boxes[one].right) / 2 - middle))
        base = letters[start + other]
        whole = unicodedata.normalize("NFC", _DOTLESS.get(base, base) + ACCENTS[sign])
        if base and len(whole) == 1:
            letters[start + other], letters[start + at] = whole, ""
            _close_up(letters, start, line, at, boxes)


def _close_up(letters: list[str], start: int, line: str, at: int, boxes: list[Box]) -> None:
    """The spaces beside an accent go with it where the letters around it stand side by side."""
    before, after = at - 1, at + 1
    while before >= 0 and (line[before].isspace() or line[before] in ACCENTS):
        before -= 1
    while after < len(line) and (line[after].isspace() or line[after] in ACCENTS):
        after += 1
    if before < 0 or after >= len(line):
        return
    if boxes[after].left - boxes[before].right < SPACE / 2 * boxes[after].height:
        for between in range(before + 1, after):
            letters[start + between] = letters[start + between].strip()


def _turned(line: str, boxes: list[Box]) -> str | None:
    """A line from right to left, by where its letters stand; None if it is right as it is."""
    placed = [(box, letter) for letter, box in zip(line, boxes, strict=True) if box.height > 0 and not letter.isspace()]
    steps = [
        second.left - first.left
        for (first, one), (second, other) in pairwise(placed)
        if _RIGHT_TO_LEFT.match(one) and _RIGHT_TO_LEFT.match(other)
    ]
    backwards = sum(step > 0 for step in steps) > sum(step < 0 for step in steps)
    if not steps or not (backwards or (" " not in line and len(line) > 20)):
        return None
    if backwards:
        placed.reverse()  # letters of one sign, which stand in one place, keep an order: the right one
    rows: list[list[tuple[Box, str]]] = []
    for one in placed:  # what came as one line may be two
        row = next((row for row in rows if abs(row[0][0].bottom - one[0].bottom) < 0.8 * one[0].height), None)
        if row is None:
            rows.append([one])
        else:
            row.append(one)
    return " ".join(map(_from_the_right, rows[:20]))


def _from_the_right(row: list[tuple[Box, str]]) -> str:
    """Letters in order, with spaces where there are gaps; numbers and Latin words the other way round."""
    row.sort(key=lambda one: -(one[0].left + one[0].right))
    parts: list[str] = []
    for at, (box, letter) in enumerate(row):
        if at and row[at - 1][0].left - box.right > SPACE * box.height:
            parts.append(" ")
        parts.append(letter)
    return _LEFT_TO_RIGHT.sub(lambda match: match[0][::-1], "".join(parts))
