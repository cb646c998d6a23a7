"""Compare two texts: aligned blocks, and the words that changed within them.

    1. Equal blocks are aligned (`align`); the rest falls into gaps between them.
    2. A removed block that occurs elsewhere, word for word, was moved.
    3. Within a gap, words are aligned. Blocks that share many words are joined in one row, also if one block became two
       or two became one. Blocks that share few words were removed and added.
    4. Rows are tidied: the shortest diff is not always the most readable one.

Whitespace and invisible characters are ignored (`blocks`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from rapidfuzz.distance import LCSseq

from lycosa.drawing.formats import visible

RunState: TypeAlias = Literal["kept", "removed", "added"]
RowState: TypeAlias = Literal["same", "changed", "removed", "added", "moved away", "moved here"]

EXACT = 100_000_000  # bits of the exact table; two sequences of 10,000 elements take 60 ms

Places: TypeAlias = list[tuple[int, int]]


class Run(NamedTuple):
    """Consecutive words with the same state."""

    state: RunState
    words: list[str]

    @property
    def text(self) -> str:
        return joined(self.words)

    @property
    def close(self) -> bool:
        """True if the run follows the previous one without a space."""
        return self.words[0] == BREAK or self.words[0][0] == JOINT

    @property
    def length(self) -> int:
        return len(self.words) - self.words.count(BREAK)


class Row(NamedTuple):
    """A block of the old text and its counterpart in the new one, in reading order."""

    state: RowState
    runs: list[Run]

    @property
    def old(self) -> list[Run]:
        return [run for run in self.runs if run.state != "added"]

    @property
    def new(self) -> list[Run]:
        return [run for run in self.runs if run.state != "removed"]


def cut(row: Row, max_length: int) -> Row:
    """Return a row with its first runs only, and a note with the number of further ones.

    >>> cut(Row("changed", [Run("removed", ["a"]), Run("added", ["b"]), Run("kept", ["c"])]), 1).runs[1].text
    '... and 2 places more'
    """
    left = len(row.runs) - max_length
    if left <= 0:
        return row
    return Row(row.state, [*row.runs[:max_length], Run("kept", ["...", "and", f"{left:,}", "places", "more"])])


@dataclass(slots=True)
class Diff:
    """Result of a comparison: rows of blocks, and counts of differing words."""

    rows: list[Row] = field(default_factory=list)
    old_words: int = 0
    new_words: int = 0
    removed: int = 0
    added: int = 0
    moved: int = 0  # words of moved blocks; neither removed nor added

    @property
    def share(self) -> float:
        return (self.removed + self.added) / max(1, self.old_words + self.new_words)


def diff(old: str, new: str) -> Diff:
    """Compare two texts block by block and word by word."""
    return _Comparing(blocks(old), blocks(new)).run()


@dataclass(slots=True)
class Part:
    """Kept words, and the removed and added ones after them."""

    kept: list[str]
    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)

    @property
    def weight(self) -> int:
        return max(len(self.removed), len(self.added))

    def join(self, other: Part) -> None:
        self.removed += other.removed
        self.added += other.added


# adjacent old blocks, the adjacent new blocks they became, and the words of both
Group: TypeAlias = tuple[range, range, list[Part]]


class _Comparing:
    def __init__(self, old: list[Block], new: list[Block]) -> None:
        self.old, self.new = old, new
        self.words: dict[str, int] = {}
        self.diff = Diff(old_words=sum(map(len, old)), new_words=sum(map(len, new)))
        numbers: dict[str, int] = {}
        self.ids_old, self.ids_new = (
            [numbers.setdefault(" ".join(block), len(numbers)) for block in side] for side in (old, new)
        )

    def run(self) -> Diff:
        equal = align(self.ids_old, self.ids_new)
        self.moved_old, self.moved_new = self._moved(equal)
        ends = (len(self.old), len(self.new))
        gaps: list[tuple[range, range, list[Group]]] = []
        before_i = before_j = 0
        for i, j in [*equal, ends]:
            if before_i < i or before_j < j:
                old, new = range(before_i, i), range(before_j, j)
                gaps.append((old, new, self._groups(old, new) if old and new else []))
            before_i, before_j = i + 1, j + 1
        at = 0  # rows are built after all gaps are known, because groups may cancel moves of their blocks
        for old, new, groups in gaps:
            self._same(at, new.start)
            self._gap(old, new, groups)
            at = new.stop
        self._same(at, len(self.new))
        return self.diff

    def _same(self, start: int, stop: int) -> None:
        self.diff.rows += [Row("same", [Run("kept", block)]) for block in self.new[start:stop]]

    def _moved(self, equal: list[tuple[int, int]]) -> tuple[dict[int, int], dict[int, int]]:
        stay_old, stay_new = {i for i, _ in equal}, {j for _, j in equal}
        waiting: dict[int, list[int]] = {}
        for i in range(len(self.old) - 1, -1, -1):
            if i not in stay_old and len(self.old[i]) >= 4:  # shorter blocks repeat by chance
                waiting.setdefault(self.ids_old[i], []).append(i)
        away: dict[int, int] = {}
        if waiting:
            for j, number in enumerate(self.ids_new):
                if j not in stay_new and waiting.get(number):
                    away[waiting[number].pop()] = j
        return away, {j: i for i, j in away.items()}

    def _gap(self, old: range, new: range, groups: list[Group]) -> None:
        i, j = old.start, new.start
        for old_group, new_group, parts in groups:
            self._unlike(range(i, old_group.start), range(j, new_group.start))
            row = _row(parts)
            self.diff.rows.append(row)
            self.diff.removed += sum(run.length for run in row.runs if run.state == "removed")
            self.diff.added += sum(run.length for run in row.runs if run.state == "added")
            i, j = old_group.stop, new_group.stop
        self._unlike(range(i, old.stop), range(j, new.stop))

    def _unlike(self, old: range, new: range) -> None:
        """Build rows of dissimilar blocks: side by side if there are equally many, else one after the other."""
        counts, rows = self.diff, self.diff.rows
        side_by_side = len(old) == len(new) and not any(i in self.moved_old for i in old)
        if side_by_side and not any(j in self.moved_new for j in new):
            for i, j in zip(old, new, strict=True):
                rows.append(Row("changed", [Run("removed", self.old[i]), Run("added", self.new[j])]))
                counts.removed += len(self.old[i])
                counts.added += len(self.new[j])
            return
        for i in old:
            away = i in self.moved_old
            rows.append(Row("moved away" if away else "removed", [Run("removed", self.old[i])]))
            counts.removed += 0 if away else len(self.old[i])
        for j in new:
            here = j in self.moved_new
            rows.append(Row("moved here" if here else "added", [Run("added", self.new[j])]))
            counts.added += 0 if here else len(self.new[j])
            counts.moved += len(self.new[j]) if here else 0

    def _groups(self, old: range, new: range) -> list[Group]:
        words_old, block_old, start_old = _flat(self.old, [i for i in old if i not in self.moved_old])
        words_new, block_new, start_new = _flat(self.new, [j for j in new if j not in self.moved_new])
        if not words_old or not words_new:
            return []
        places = align(self._numbers(words_old), self._numbers(words_new))
        groups = self._linked(places, words_old, block_old, block_new)
        grouped = []
        at = 0
        for old_group, new_group in groups:
            self._cancel_moves(old_group, new_group)
            words_a, local_a = _spread(self.old, old_group, start_old)
            words_b, local_b = _spread(self.new, new_group, start_new)
            while block_old[places[at][0]] < old_group.start:
                at += 1
            matched = []
            while at < len(places) and block_old[places[at][0]] < old_group.stop:
                x, y = places[at]
                if x in local_a and y in local_b:
                    matched.append((local_a[x], local_b[y]))
                at += 1
            grouped.append((old_group, new_group, _parts(words_a, words_b, matched)))
        return grouped

    def _numbers(self, words: list[str]) -> list[int]:
        """Return a number for each distinct word, regardless of preceding spaces."""
        known = self.words
        return [known.setdefault(word if word[0] != JOINT else word[1:], len(known)) for word in words]

    def _linked(
        self, places: list[tuple[int, int]], words: list[str], block_old: list[int], block_new: list[int]
    ) -> list[tuple[range, range]]:
        shared: dict[tuple[int, int], int] = {}
        for x, y in places:
            if words[x] != BREAK:
                pair = block_old[x], block_new[y]
                shared[pair] = shared.get(pair, 0) + 1
        groups: list[tuple[range, range]] = []
        for (i, j), count in shared.items():  # `i` and `j` ascend, as the positions do
            if not _alike(count, len(self.old[i]), len(self.new[j])):
                continue
            if groups and (i in groups[-1][0] or j in groups[-1][1]):
                groups[-1] = range(groups[-1][0].start, i + 1), range(groups[-1][1].start, j + 1)
            else:
                groups.append((range(i, i + 1), range(j, j + 1)))
        return groups

    def _cancel_moves(self, old: range, new: range) -> None:
        """Cancel the moves of blocks that are part of a row."""
        if self.moved_old:
            for i in old:
                if i in self.moved_old:
                    del self.moved_new[self.moved_old.pop(i)]
            for j in new:
                if j in self.moved_new:
                    del self.moved_old[self.moved_new.pop(j)]


def _flat(side: list[Block], numbers: list[int]) -> tuple[list[str], list[int], dict[int, int]]:
    """Return blocks as one list of words with breaks, the block of each word, and the start of each block."""
    words: list[str] = []
    block_of: list[int] = []
    start: dict[int, int] = {}
    for number in numbers:
        block = side[number]
        if words:
            words.append(BREAK)
            block_of.append(number)
        start[number] = len(words)
        words += block
        block_of += [number] * len(block)
    return words, block_of, start


def _spread(side: list[Block], group: range, start: dict[int, int]) -> tuple[list[str], dict[int, int]]:
    """Return the words of adjacent blocks, and their positions by position in the flat list."""
    words: list[str] = []
    local: dict[int, int] = {}
    for number in group:
        first = start.get(number)
        if words:
            if first is not None:
                local[first - 1] = len(words)
            words.append(BREAK)
        if first is not None:
            length = len(side[number])
            local.update(zip(range(first, first + length), range(len(words), len(words) + length), strict=True))
        words += side[number]
    return words, local


def _alike(shared: int, old: int, new: int) -> bool:
    return 2 * shared >= 0.4 * (old + new) or shared >= max(6, 0.7 * min(old, new))


def _parts(old: list[str], new: list[str], matched: list[tuple[int, int]]) -> list[Part]:
    parts = [Part([])]
    i = j = 0
    for x, y in [*matched, (len(old), len(new))]:
        if i < x or j < y:
            parts[-1].removed = old[i:x]
            parts[-1].added = new[j:y]
            parts.append(Part([]))
        parts[-1].kept += new[y : y + 1]
        i, j = x + 1, y + 1
    return parts if parts[-1].kept else parts[:-1]


def _row(parts: list[Part]) -> Row:
    runs: list[Run] = []
    for part in tidy(parts):
        stretches = (Run("kept", part.kept), Run("removed", part.removed), Run("added", part.added))
        runs += [run for run in stretches if run.words]
    return Row("same" if all(run.state == "kept" for run in runs) else "changed", runs)


def tidy(parts: list[Part]) -> list[Part]:
    """Shift changes to the most readable place, and merge large ones separated by one or two words."""
    _slide(parts)
    return _merged(_merged(parts), island=2)


def _slide(parts: list[Part]) -> None:
    """Rewrite `coral [bleach and coral] reefs` as `[coral bleach and] coral reefs`: fewer parts, the same words."""
    for at in range(len(parts) - 2, -1, -1):
        part, following = parts[at], parts[at + 1]
        length = len(part.kept)
        if not 0 < length <= 8 or not following.kept:
            continue
        for alone, other in ((part.added, part.removed), (part.removed, part.added)):
            if not other and len(alone) > length and alone[-length:] == part.kept:
                alone[:] = part.kept + alone[:-length]
                following.kept = part.kept + following.kept
                part.kept = []
                break


def _merged(parts: list[Part], island: int = 0) -> list[Part]:
    """Merge adjacent changes, and large ones separated by up to `island` words that match by chance (`of the`)."""
    merged: list[Part] = []
    for part in parts:
        length = len(part.kept)
        if merged and 0 < length <= island and 3 * length <= min(merged[-1].weight, part.weight):
            merged[-1].join(Part([], part.kept, part.kept))
            part.kept = []
        if merged and not part.kept:
            merged[-1].join(part)
        else:
            merged.append(part)
    return merged


def align(old: Sequence[int], new: Sequence[int]) -> Places:
    """Return a common subsequence of two sequences as pairs of ascending positions.

    The longest one by rapidfuzz's bit-parallel algorithm. Beyond EXACT pairs of positions both are cut into the same
    number of pieces, which are compared separately: correct, but not minimal.
    """
    shared = set(old).intersection(new)
    at_old = [at for at, element in enumerate(old) if element in shared]
    at_new = [at for at, element in enumerate(new) if element in shared]
    a, b = [old[at] for at in at_old], [new[at] for at in at_new]
    pieces = math.ceil(math.sqrt(len(a) * len(b) / EXACT)) or 1
    cuts = [(len(a) * cut // pieces, len(b) * cut // pieces) for cut in range(pieces + 1)]
    places: Places = []
    for (i, j), (i_end, j_end) in pairwise(cuts):
        for step in LCSseq.opcodes(a[i:i_end], b[j:j_end]):
            if step.tag == "equal":
                x, y = range(i + step.src_start, i + step.src_end), range(j + step.dest_start, j + step.dest_end)
                places += ((at_old[one], at_new[other]) for one, other in zip(x, y, strict=True))
    return places


# Blocks are the lines of a text: paragraphs, headings, list items, table rows.

JOINT = "\x03"  # prefix of a word that follows the previous one without a space
BREAK = "\n"  # a separate word: ends a block within a row of several
LONG = 40  # letters; longer words, such as URLs, are cut after punctuation
Block: TypeAlias = list[str]

# Scripts without spaces: each character counts as a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PIECES = re.compile(f"[{_UNSPACED}]|[^{_UNSPACED}]+")
_LONG_PIECES = re.compile(rf"\w{{1,{LONG}}}[^\w\s]*|[^\w\s]+")


def blocks(text: str) -> list[Block]:
    """Return the non-empty blocks of a text, with whitespace normalised."""
    lines = []
    for line in visible(text).split("\n"):
        words = line.split()
        if not line.isascii():
            words = [piece for word in words for piece in _cut(word, _PIECES)]
        if len(line) > LONG and max(map(len, words), default=0) > LONG:
            words = [piece for word in words for piece in (_cut(word, _LONG_PIECES) if len(word) > LONG else (word,))]
        if words:
            lines.append(words)
    return lines


def _cut(word: str, pieces: re.Pattern[str]) -> list[str]:
    if word.isascii() and len(word) <= LONG:
        return [word]
    first, *rest = pieces.findall(bare(word))
    return [JOINT + first if word[0] == JOINT else first, *(JOINT + piece for piece in rest)]


def bare(word: str) -> str:
    return word[1:] if word[0] == JOINT else word


def joined(words: list[str]) -> str:
    return " ".join(words).replace(f" {JOINT}", "").replace(JOINT, "").replace(f" {BREAK} ", BREAK)
