"""What people type into a search, as clauses: `coral reef*`, `"sea level"`, `-aquarium`.

Whatever is typed means something or nothing, but is never a syntax error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import Stemmer

from lycosa.collection.words import clean, cut, spaced
from lycosa.core.errors import InputError

SHORTEST_PREFIX = 3
"""Letters before a star: with fewer, a good part of the dictionary begins so."""

MOST_CLAUSES = 50
"""Nobody types more by hand, and each costs a look into the index."""

_PIECE = re.compile(r"""(?P<minus>-?)(?:["“”„«»](?P<quoted>[^"“”„«»]*)(?:["“”„«»]|$)|(?P<plain>[^\s"“”„«»]+))""")
_ENGLISH = Stemmer.Stemmer("english", 0)


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing to look for: a word in all its forms, exactly, or by its beginning; or words side by side."""

    words: tuple[str, ...]
    prefix: bool = False
    exact: bool = False

    @property
    def is_phrase(self) -> bool:
        return len(self.words) > 1

    def __str__(self) -> str:
        if self.is_phrase or self.exact:
            return f'"{" ".join(self.words)}"'
        return self.words[0] + ("*" if self.prefix else "")


@dataclass(slots=True)
class Query:
    """What a page must have, and what it must not."""

    wanted: list[Clause] = field(default_factory=list)
    unwanted: list[Clause] = field(default_factory=list)


def parse(typed: str) -> Query:
    """Read a query.

    >>> query = parse('coral "sea level" -aquarium reef*')
    >>> [str(clause) for clause in query.wanted], [str(clause) for clause in query.unwanted]
    (['coral', '"sea level"', 'reef*'], ['aquarium'])
    """
    query = Query()
    for piece in _PIECE.finditer(typed):
        quoted = piece["quoted"] is not None
        text = piece["quoted"] if quoted else piece["plain"]
        words = tuple(cut(text))
        if not words:
            continue
        # A character that is a word by itself begins every word that it is in.
        prefix = not quoted and text.endswith("*") and spaced(words[-1]) == words[-1]
        if prefix and len(words) == 1 and len(words[0]) < SHORTEST_PREFIX:
            raise InputError(f"{words[0]}* could be nearly any word: give it {SHORTEST_PREFIX} letters or more")
        clause = Clause(words, prefix=prefix and len(words) == 1, exact=quoted and len(words) == 1)
        into = query.unwanted if piece["minus"] else query.wanted
        if clause not in into:
            into.append(clause)
    if not query.wanted:
        shown = clean(typed).replace("\n", " ")[:50]
        raise InputError(
            f"nothing to look for in {shown!r}: give a word that the pages have"
            + (", -word only leaves pages out" if query.unwanted else "")
        )
    if len(query.wanted) + len(query.unwanted) > MOST_CLAUSES:
        raise InputError(f"more than {MOST_CLAUSES} words to look for: leave some out, or quote them as a phrase")
    return query


def joined(arguments: Sequence[str]) -> str:
    """Words of a command line as one query. A shell takes the quotes off `coral "sea level"`: they are put back.

    >>> joined(["coral", "sea level"]), joined(["coral reef"])
    ('coral "sea level"', 'coral reef')
    """
    if len(arguments) == 1:
        return arguments[0]
    return " ".join(f'"{word}"' if " " in word.strip() and '"' not in word else word for word in arguments)


def beginning(word: str) -> str:
    """What the other English forms of a word begin with; empty for a word that has none.

    >>> beginning("studies"), beginning("reefs"), beginning("récif")
    ('stud', 'ree', '')
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return ""
    stem: str = _ENGLISH.stemWord(word)
    return stem[:-1] if len(stem) > 3 else stem


def forms(word: str, words: Sequence[str]) -> list[str]:
    """Those of the known words that have the word's English stem.

    >>> forms("reefs", ["reed", "reef", "reefed", "reefs"])
    ['reef', 'reefed', 'reefs']
    """
    stem = _ENGLISH.stemWord(word)
    return [other for other, own in zip(words, _ENGLISH.stemWords(list(words)), strict=True) if own == stem]
