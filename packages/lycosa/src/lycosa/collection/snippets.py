"""Search result snippets: the passage of a page that best matches the query."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import TypeAlias

from lycosa.collection.search_text import fold, separate_words

Match: TypeAlias = tuple[int, int, int]  # start, end, number of the highlight
MAX_MATCHES = 60  # maximum number of matches considered per highlight
_SENTENCE = re.compile(r"[.!?]\s+|\n\s*|[。！？]")
_BLANK = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """Passage of a text, and the spans of its matches."""

    text: str = ""
    spans: list[tuple[int, int]] = field(default_factory=list)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Highlight:
    """Adjacent words to find in a text, and their weight; with `prefix`, the last word is a prefix."""

    words: tuple[str, ...]
    weight: float = 1.0
    prefix: bool = False
    group: int = 0  # highlights of a group (forms of a word) count once in a passage


def snippet(text: str, marks: Sequence[Highlight], width: int = 240) -> Snippet:
    """Return the passage of about `width` characters with the largest weight of highlights; without any, the beginning.

    >>> found = snippet("Long ago there was water. Today the coral reef is white.", [Highlight(("reef",))], 30)
    >>> found.text, [found.text[start:end] for start, end in found.spans]
    ('… Today the coral reef is white.', ['reef'])
    """
    # Highlights of little weight are ignored, such as `the` in a query for `the reef`.
    min_weight = 0.05 * max((mark.weight for mark in marks), default=0.0)
    significant = [mark for mark in marks if mark.weight >= min_weight]
    matches = _find_matches(text, significant, width)
    begin, stop = _best_window(matches, significant, 3 * width // 4)  # leaves a quarter for context
    start, end = _widen(text, begin, stop, width)
    passage = " ".join(text[start:end].split())
    passage = ("… " if text[:start].strip() else "") + passage + (" …" if text[end:].strip() else "")
    return Snippet(passage, _drop_overlaps((begin, stop) for begin, stop, _ in _find_matches(passage, marks, width)))


def _find_matches(text: str, marks: Sequence[Highlight], width: int) -> list[Match]:
    """Return the matches in text order; of a frequent highlight, the first ones and those near the rarest highlight."""
    # Every word is surrounded by spaces.
    padded = f" {fold(text)} ".replace("\n", " ")
    patterns = [_pattern(mark) for mark in marks]
    matches = [list(_matches(padded, patterns, number)) for number in range(len(marks))]
    rarest = min(filter(None, matches), key=len, default=[])
    for number, places in enumerate(matches):
        if len(places) == MAX_MATCHES > len(rarest):
            for begin, stop, _ in rarest[:10]:
                places += _matches(padded, patterns, number, max(0, begin - width), stop + width)
    return sorted({place for places in matches for place in places})


def _matches(
    padded: str, patterns: Sequence[tuple[re.Pattern[str], int]], number: int, start: int = 0, end: int = sys.maxsize
) -> Iterator[Match]:
    pattern, ahead = patterns[number]
    for match in islice(pattern.finditer(padded, start, end), MAX_MATCHES):
        yield match.start() - 1 + ahead, match.end() - 1, number


def _pattern(mark: Highlight) -> tuple[re.Pattern[str], int]:
    """Return a pattern for padded text and the number of its leading spaces; a literal space makes the search fast."""
    is_unspaced = [separate_words(word) != word for word in mark.words]
    gaps = [" *" if left or right else " +" for left, right in pairwise(is_unspaced)]
    inside = "".join(re.escape(word) + gap for word, gap in zip(mark.words, [*gaps, ""], strict=True))
    suffix = "" if is_unspaced[-1] else "[^ ]*" if mark.prefix else "(?= )"
    return re.compile(inside + suffix if is_unspaced[0] else " " + inside + suffix), int(not is_unspaced[0])


def _best_window(matches: Sequence[Match], marks: Sequence[Highlight], width: int) -> tuple[int, int]:
    """Return the window within the width with the largest weight of matches; distinct words outweigh repetitions."""
    best, chosen = 0.0, (0, 0)
    counts: Counter[int] = Counter()
    weight, first = 0.0, 0
    for last, (begin, stop, number) in enumerate(matches):
        mark = marks[number]
        weight += 0.0 if counts[mark.group] else mark.weight
        counts[mark.group] += 1
        while stop - matches[first][0] > width and matches[first][0] < begin:
            dropped = marks[matches[first][2]]
            counts[dropped.group] -= 1
            weight -= 0.0 if counts[dropped.group] else dropped.weight
            first += 1
        value = weight * (1 + 0.02 * min(last - first, 10))
        if value > best + 1e-9:
            best, chosen = value, (matches[first][0], stop)
    return chosen


def _widen(text: str, begin: int, stop: int, width: int) -> tuple[int, int]:
    """Widen a window to `width`: start at a sentence if one begins nearby, and do not split words."""
    room = max(0, width - (stop - begin))
    start = max(0, begin - 2 * room // 3)
    before = text[start:begin]
    if sentence := list(_SENTENCE.finditer(before)):
        start += sentence[-1].end()
    elif start and (blank := _BLANK.search(before)):
        start += blank.end()
    end = min(len(text), max(start + width, stop))
    if end < len(text) and (blanks := list(_BLANK.finditer(text, stop, end + 1))):
        end = blanks[-1].start()
    return start, end


def _drop_overlaps(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    distinct: list[tuple[int, int]] = []
    for begin, stop in spans:
        if not distinct or begin >= distinct[-1][1]:
            distinct.append((begin, stop))
    return distinct
