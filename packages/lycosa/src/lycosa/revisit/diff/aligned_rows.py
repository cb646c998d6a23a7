"""Two texts side by side: which block became which, and within those that changed, which words.

    1. Blocks that are equal are aligned (`align`); the rest falls into gaps between them.
    2. A block that is gone here and stands elsewhere, word for word, was moved.
    3. Within a gap, words are aligned. Blocks that share many of them belong together, in one row; one block that
       became two, or two that became one, make one row as well. Blocks that share little were removed and added.
    4. Rows are tidied: the shortest diff is not always the one that a person would write.

Blanks do not count, and neither do characters that can't be seen (`blocks`).
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

EXACT = 100_000_000  # bits of the exact table: two sequences of 10,000 elements, 60 ms

Places: TypeAlias = list[tuple[int, int]]


class Run(NamedTuple):
    """Words in a row with the same fate."""

    state: RunState
    words: list[str]

    @property
    def text(self) -> str:
        return joined(self.words)

    @property
    def close(self) -> bool:
        """Whether it follows what is before it without a blank."""
        return self.words[0] == BREAK or self.words[0][0] == JOINT

    @property
    def length(self) -> int:
        return len(self.words) - self.words.count(BREAK)


class Row(NamedTuple):
    """A block of the old text and what became of it in the new one, in the order of reading."""

    state: RowState
    runs: list[Run]

    @property
    def old(self) -> list[Run]:
        return [run for run in self.runs if run.state != "added"]

    @property
    def new(self) -> list[Run]:
        return [run for run in self.runs if run.state != "removed"]


def cut(row: Row, most: int) -> Row:
    """The first runs of a row, and how many more there are: who reads ten thousand in one paragraph?

    >>> cut(Row("changed", [Run("removed", ["a"]), Run("added", ["b"]), Run("kept", ["c"])]), 1).runs[1].text
    '... and 2 places more'
    """
    left = len(row.runs) - most
    if left <= 0:
        return row
    return Row(row.state, [*row.runs[:most], Run("kept", ["...", "and", f"{left:,}", "places", "more"])])


@dataclass(slots=True)
class Diff:
    """Two texts side by side, and the words that differ, counted."""

    rows: list[Row] = field(default_factory=list)
    old_words: int = 0
    new_words: int = 0
    removed: int = 0
    added: int = 0
    moved: int = 0  # words in blocks that only changed their place; neither removed nor added

    @property
    def share(self) -> float:
        return (self.removed + self.added) / max(1, self.old_words + self.new_words)


def diff(old: str, new: str) -> Diff:
    """Compare two texts.

    >>> found = diff("Reefs\\nCorals grow slowly in the sea.", "Reefs\\nCorals grow very slowly in the warm sea.")
    >>> [(run.state, run.text) for run in found.rows[1].runs]
    [('kept', 'Corals grow'), ('added', 'very'), ('kept', 'slowly in the'), ('added', 'warm'), ('kept', 'sea.')]
    >>> found.removed, found.added, round(found.share, 2)
    (0, 2, 0.12)
    """
    return _Comparing(blocks(old), blocks(new)).run()


@dataclass(slots=True)
class Part:
    """Words that were kept, and what was removed and added behind them."""

    kept: list[str]
    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)

    @property
    def weight(self) -> int:
        return max(len(self.removed), len(self.added))

    def join(self, other: Part) -> None:
        """Take in a change that follows with nothing between."""
        self.removed += other.removed
        self.added += other.added


Group: TypeAlias = tuple[range, range, list[Part]]  # old neighbours that became new neighbours, and their words


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
        at = 0  # rows are made when all gaps are known: a group ends the moves of the blocks that it takes in
        for old, new, groups in gaps:
            self._same(at, new.start)
            self._gap(old, new, groups)
            at = new.stop
        self._same(at, len(self.new))
        return self.diff

    def _same(self, start: int, stop: int) -> None:
        self.diff.rows += [Row("same", [Run("kept", block)]) for block in self.new[start:stop]]

    def _moved(self, equal: list[tuple[int, int]]) -> tuple[dict[int, int], dict[int, int]]:
        """Blocks that stand elsewhere now: each with its other place."""
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
        """The rows of blocks that are not equal."""
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
        """Blocks with little in common: beside each other where there are as many of them, else one after the other."""
        counts, rows = self.diff, self.diff.rows
        beside = len(old) == len(new) and not any(i in self.moved_old for i in old)
        if beside and not any(j in self.moved_new for j in new):
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
        """Blocks that belong together, with the words they share."""
        words_old, block_old, start_old = _flat(self.old, [i for i in old if i not in self.moved_old])
        words_new, block_new, start_new = _flat(self.new, [j for j in new if j not in self.moved_new])
        if not words_old or not words_new:
            return []
        places = align(self._numbers(words_old), self._numbers(words_new))
        groups = self._linked(places, words_old, block_old, block_new)
        grouped = []
        at = 0
        for old_group, new_group in groups:
            self._stay(old_group, new_group)
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
        """A number for each word; the same words have the same, whatever blanks are before them."""
        known = self.words
        return [known.setdefault(word if word[0] != JOINT else word[1:], len(known)) for word in words]

    def _linked(
        self, places: list[tuple[int, int]], words: list[str], block_old: list[int], block_new: list[int]
    ) -> list[tuple[range, range]]:
        """Blocks that share many words, as ranges of neighbours."""
        shared: dict[tuple[int, int], int] = {}
        for x, y in places:
            if words[x] != BREAK:
                pair = block_old[x], block_new[y]
                shared[pair] = shared.get(pair, 0) + 1
        groups: list[tuple[range, range]] = []
        for (i, j), count in shared.items():  # ascending in both, as the places are
            if not _alike(count, len(self.old[i]), len(self.new[j])):
                continue
            if groups and (i in groups[-1][0] or j in groups[-1][1]):
                groups[-1] = range(groups[-1][0].start, i + 1), range(groups[-1][1].start, j + 1)
            else:
                groups.append((range(i, i + 1), range(j, j + 1)))
        return groups

    def _stay(self, old: range, new: range) -> None:
        """A moved block in the middle of a row is part of that row, and its other place is no end of a move."""
        if self.moved_old:
            for i in old:
                if i in self.moved_old:
                    del self.moved_new[self.moved_old.pop(i)]
            for j in new:
                if j in self.moved_new:
                    del self.moved_old[self.moved_new.pop(j)]


def _flat(side: list[Block], numbers: list[int]) -> tuple[list[str], list[int], dict[int, int]]:
    """Blocks as one list of words with breaks between; for each word its block; and where each block starts."""
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
    """The words of some neighbours, and for places in the flat list their places here."""
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
    """What was kept, removed and added, one after the other."""
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
    """As a person would mark it: changes slide to where they read best, and islands go.

    >>> told = tidy([Part(["coral"], [], ["bleach", "and", "coral"]), Part(["reefs"])])
    >>> [(part.kept, part.added) for part in told]
    [([], ['coral', 'bleach', 'and']), (['coral', 'reefs'], [])]
    """
    _slide(parts)
    return _merged(_merged(parts), island=2)


def _slide(parts: list[Part]) -> None:
    """`coral [bleach and coral] reefs` is `[coral bleach and] coral reefs`: fewer pieces, the same words."""
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
    """Changes with nothing between them are one, and so are large ones with an island of a word or two between them: it
    is there by chance (`of the`), and changed with the rest."""
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
    """What two sequences have in common: places of equal elements, ascending in both.

    The longest common subsequence: rapidfuzz's, bit-parallel. Beyond EXACT pairs of places both are cut into the same
    number of pieces, which are compared piece by piece: right, but not minimal.

    >>> align([5, 6, 7, 8], [6, 7, 9, 8])
    [(1, 0), (2, 1), (3, 3)]
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


# -- blocks ------------------------------------------------------------------------------------------------

# A text as blocks of words: its lines, which are paragraphs, headings, items of lists, rows of tables.

JOINT = "\x03"  # begins a word that stands close to the one before it
BREAK = "\n"  # a word of its own: ends a block within a row that holds several
LONG = 40  # letters; longer words are cut behind their punctuation: addresses, long chains
Block: TypeAlias = list[str]

# Scripts without blanks: each character counts as a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PIECES = re.compile(f"[{_UNSPACED}]|[^{_UNSPACED}]+")
_LONG_PIECES = re.compile(rf"\w{{1,{LONG}}}[^\w\s]*|[^\w\s]+")


def blocks(text: str) -> list[Block]:
    """The blocks of a text, without empty ones. Blanks are a matter of layout: any number of them counts as one.

    >>> blocks("Reefs  bleach\\n\\n\\tagain")
    [['Reefs', 'bleach'], ['again']]
    >>> joined(blocks("reef 珊瑚")[0])
    'reef 珊瑚'
    """
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
    """A word in pieces that know that they belong together."""
    if word.isascii() and len(word) <= LONG:
        return [word]
    first, *rest = pieces.findall(bare(word))
    return [JOINT + first if word[0] == JOINT else first, *(JOINT + piece for piece in rest)]


def bare(word: str) -> str:
    """A word as it is compared: blanks before it do not matter."""
    return word[1:] if word[0] == JOINT else word


def joined(words: list[str]) -> str:
    """Words as a text."""
    return " ".join(words).replace(f" {JOINT}", "").replace(JOINT, "").replace(f" {BREAK} ", BREAK)
