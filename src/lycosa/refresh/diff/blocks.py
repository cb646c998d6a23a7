"""A text as blocks of words: its lines, which are paragraphs, headings, items of lists, rows of tables."""

from __future__ import annotations

import re
from typing import TypeAlias

from lycosa.drawing.formats import visible

JOINT = "\x03"
"""Begins a word that stands close to the one before it."""

BREAK = "\n"
"""A word of its own: where a block ends and the next one begins, within a row that holds several."""

LONG = 40
"""Letters of a word beyond which it is cut behind its punctuation: addresses, long chains of anything."""

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
