"""Repair the letter order of PDF pages by letter positions, where the order in the file misleads.

Two repairs, in lines that need them. Accents drawn as separate letters, as old TeX fonts do, are merged with the letter
above or below them. Lines of Arabic or Hebrew are reordered from right to left, or from left to right where most of the
line is Latin and the rest came out backwards: letters by position, marks with their letters, numbers and Latin words
reversed, spaces at gaps.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

# minimum gap that counts as a space, as a share of the letter height: without and with a space in the file
MIN_GAP, MIN_GAP_AT_SPACE = 0.18, 0.06
SAME_ROW = 0.6  # letters are on one line if their lower edges differ by less than this share of the letter height
JOINER = "\u200c"  # between letters of one word that do not join, as in Persian

ACCENTS = dict(
    zip("¨´ˆ˜ˇ˘˙˚˝¸˛¯`", "\u0308\u0301\u0302\u0303\u030c\u0306\u0307\u030a\u030b\u0327\u0328\u0304\u0300", strict=True)
)
_DOTLESS = {"\u0131": "i", "\u0237": "j"}
_ACCENT = re.compile("[¨´ˆ˜ˇ˘˙˚˝¸˛¯]")
_RIGHT = "\u0590-\u065f\u066a-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_LATIN = "0-9A-Za-z\u00c0-\u024f"
_MARK = "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
_RIGHT_TO_LEFT = re.compile(f"[{_RIGHT}]")
_NUMERAL = f"[\u0660-\u0669\u06f0-\u06f9{_LATIN}]"
_LEFT_TO_RIGHT = re.compile(f"{_NUMERAL}(?:{_NUMERAL}|[^\\s{_RIGHT}]|[ ](?={_NUMERAL}))*")
_RTL_RUN = re.compile(f"[{_RIGHT}](?:[^{_LATIN}]*[{_RIGHT}])?")
_CLUSTER = re.compile(f"[^{_MARK}][{_MARK}]*|[{_MARK}]+")


class Box(NamedTuple):
    left: float
    right: float
    height: float
    bottom: float = 0.0
    is_unknown: bool = False  # the font has no Unicode mapping for it


def needs_repair(text: str) -> bool:
    return bool(_ACCENT.search(text) or _RIGHT_TO_LEFT.search(text))


def repair_letters(text: str, lines: Sequence[tuple[int, int]], boxes: Callable[[int], Box]) -> list[str]:
    """Return the letters of a text, repaired; `lines` are (start, length) pairs."""
    letters = list(text)
    for start, length in lines:
        line = text[start : start + length]
        if _RIGHT_TO_LEFT.search(line):
            content = line.rstrip()
            reordered = _reorder(content, [boxes(start + at) for at in range(len(content))])
            if reordered is not None:
                letters[start : start + len(content)] = [reordered, *[""] * (len(content) - 1)]
        elif _ACCENT.search(line):
            _accent(letters, start, line, [boxes(start + at) for at in range(len(line))])
    return letters


def _accent(letters: list[str], start: int, line: str, boxes: list[Box]) -> None:
    for at, glyph in enumerate(line):
        if glyph not in ACCENTS or boxes[at].height <= 0:
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
        whole = unicodedata.normalize("NFC", _DOTLESS.get(base, base) + ACCENTS[glyph])
        if base and len(whole) == 1:
            letters[start + other], letters[start + at] = whole, ""
            _close_up(letters, start, line, at, boxes)


def _close_up(letters: list[str], start: int, line: str, at: int, boxes: list[Box]) -> None:
    before, after = at - 1, at + 1
    while before >= 0 and (line[before].isspace() or line[before] in ACCENTS):
        before -= 1
    while after < len(line) and (line[after].isspace() or line[after] in ACCENTS):
        after += 1
    if before < 0 or after >= len(line):
        return
    if boxes[after].left - boxes[before].right < MIN_GAP / 2 * boxes[after].height:
        for between in range(before + 1, after):
            letters[start + between] = letters[start + between].strip()


def _reorder(line: str, boxes: list[Box]) -> str | None:
    """Return a line of Arabic or Hebrew reordered by position; None if it is right as it is."""
    glyphs, spaced = _glyphs(line, boxes)
    rights = [_RIGHT_TO_LEFT.match(glyph.letter) is not None for glyph in glyphs]
    steps = [
        second.middle - first.middle
        for (first, one), (second, other) in pairwise(zip(glyphs, rights, strict=True))
        if one and other and not first.marks and not second.marks
    ]
    backwards = sum(step > 0 for step in steps) > sum(step < 0 for step in steps)
    others = sum(glyph.letter.isalpha() for glyph in glyphs) - sum(rights)
    if not glyphs or (others > sum(rights) and not backwards):
        return None
    if backwards:
        glyphs.reverse()  # letters of a ligature share one position; reversing keeps their order right
    heights = sorted(glyph.box.height for glyph in glyphs)
    height = heights[len(heights) * 9 // 10]  # some files give the inked height only, so dots would distort a mean
    parts = [_row(row, spaced, height, right_to_left=others <= sum(rights)) for row in _rows(glyphs, height)]
    return " ".join(parts)


class _Glyph(NamedTuple):
    """A letter or mark and its box. Letters are numbered in file order; a mark has the number of its letter."""

    letter: str
    box: Box
    number: int

    @property
    def middle(self) -> float:
        return (self.box.left + self.box.right) / 2

    def holds(self, mark: _Glyph) -> bool:
        slack = 0.1 * self.box.height
        return self.box.left - slack <= mark.middle <= self.box.right + slack

    def covers(self, other: _Glyph) -> bool:
        if not (_RIGHT_TO_LEFT.match(self.letter) and _RIGHT_TO_LEFT.match(other.letter)):
            return False
        one, two = self.box, other.box
        shared = min(one.right, two.right) - max(one.left, two.left)
        return shared > 0.3 * min(one.right - one.left, two.right - two.left)

    @property
    def marks(self) -> bool:
        return unicodedata.category(self.letter) == "Mn"


def _glyphs(line: str, boxes: list[Box]) -> tuple[list[_Glyph], set[int]]:
    glyphs: list[_Glyph] = []
    spaced: set[int] = set()
    number = -1
    for letter, box in zip(line, boxes, strict=True):
        if letter.isspace() or letter == JOINER:
            spaced.add(number)
        elif box.height > 0 and not box.is_unknown:
            glyph = _Glyph(letter, box, number)
            number += not glyph.marks
            glyphs.append(glyph._replace(number=number))
    return glyphs, spaced


def _rows(glyphs: list[_Glyph], height: float) -> list[list[_Glyph]]:
    rows: list[list[_Glyph]] = [[]]
    row = rows[0]
    for glyph in glyphs:
        if not glyph.marks and row and abs(row[0].box.bottom - glyph.box.bottom) >= SAME_ROW * height:
            near = (one for one in rows if abs(one[0].box.bottom - glyph.box.bottom) < SAME_ROW * height)
            found = next(near, rows[-1] if len(rows) >= 20 else None)
            if found is None:
                rows.append(found := [])
            row = found
        if glyph.marks or not row or not row[0].marks:
            row.append(glyph)
        else:  # marks before the first letter: a row's position is that of its first letter
            row.insert(0, glyph)
    return rows


def _row(row: list[_Glyph], spaced: set[int], height: float, right_to_left: bool) -> str:
    bases = [glyph for glyph in row if not glyph.marks]
    if not bases:
        return "".join(glyph.letter for glyph in row)
    order = {glyph.number: at for at, glyph in enumerate(bases)}
    bases.sort(key=lambda glyph: -glyph.middle if right_to_left else glyph.middle)
    for at in range(1, len(bases) if right_to_left else 0):  # overlapping letters: keep the order of the file
        before, after = bases[at - 1], bases[at]
        if order[before.number] - order[after.number] == 1 and before.covers(after):
            bases[at - 1], bases[at] = after, before
    above = _marks(row, bases)
    parts: list[str] = []
    for at, glyph in enumerate(bases):
        if at:
            parts.append(_between(bases[at - 1], glyph, spaced, height))
        parts.append(glyph.letter + above.get(glyph.number, ""))
    text = "".join(parts)
    if right_to_left:
        return _LEFT_TO_RIGHT.sub(_reverse, text)
    return _RTL_RUN.sub(_reverse, text)


def _marks(row: list[_Glyph], bases: list[_Glyph]) -> dict[int, str]:
    """Assign each mark to the overlapping letter next to it in the file, or else to the nearest letter of the line."""
    above: dict[int, str] = {}
    places = sorted((glyph.middle, glyph.number) for glyph in bases)
    behind = [glyph for glyph in row if not glyph.marks]
    last: _Glyph | None = None
    seen = 0
    for glyph in row:
        if not glyph.marks:
            last, seen = glyph, seen + 1
            continue
        near = [one for one in (last, *behind[seen : seen + 1]) if one is not None and one.holds(glyph)]
        if near:
            number = near[0].number
        else:
            at = bisect_left(places, (glyph.middle, -1))
            _, number = min(places[max(0, at - 1) : at + 1], key=lambda place: abs(place[0] - glyph.middle))
        above[number] = above.get(number, "") + glyph.letter
    return above


def _between(before: _Glyph, after: _Glyph, spaced: set[int], height: float) -> str:
    """Return a space at a gap, or a joiner if the file has a space that is not visible."""
    gap = max(before.box.left - after.box.right, after.box.left - before.box.right)
    first, second = sorted((before.number, after.number))
    if second == first + 1:
        content = first in spaced
    else:  # neighbours in reading order that are apart in the file: both must be next to a space
        content = all(one.number in spaced or one.number - 1 in spaced for one in (before, after))
    rights = [_RIGHT_TO_LEFT.match(one.letter) is not None for one in (before, after)]
    if not any(rights):  # numbers and Latin text may be set smaller
        height = min(height, max(before.box.height, after.box.height, SAME_ROW * height))
    if gap > (MIN_GAP_AT_SPACE if content else MIN_GAP) * height:
        return " "
    return JOINER if content and all(rights) else ""


def _reverse(match: re.Match[str]) -> str:
    return "".join(reversed(_CLUSTER.findall(match[0])))
