"""What people type into a search, as clauses: `coral reef*`, `"sea level"`, `-aquarium`.

Whatever is typed means something or nothing, but is never a syntax error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import Stemmer

from lycosa.collection.search_text import clean, cut, spaced
from lycosa.core.errors import InputError
from lycosa.store.search import SearchIndex
from lycosa.web.urls import canonical, host, host_key

SHORTEST_PREFIX = 3  # letters before a star: a shorter prefix begins a good part of the dictionary
MOST_CLAUSES = 50  # each costs a look into the index
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


# -- filters -----------------------------------------------------------------------------------------------

# Which pages somebody asks for: of some hosts, in some languages, from some days, that have changed.

Test = Callable[[str], bool]


@dataclass(slots=True)
class Filters:
    """What a page has to be. Made and checked before anything is read."""

    hosts: list[Test]
    languages: list[Test]
    start: float
    end: float
    changed: float | None = None  # pages that have changed since then, in seconds since the epoch; 0: ever

    @classmethod
    def of(
        cls,
        hosts: Sequence[str] = (),
        languages: Sequence[str] = (),
        since: str | date = "",
        until: str | date = "",
        changed: float | None = None,
    ) -> Filters:
        """Read what a person gave."""
        first, last = _day(since, "since"), _day(until, "until")
        if first and last and first > last:
            raise InputError(f"no day is both since {first} and until {last}: swap them?")
        return cls(
            [_host_test(text) for text in hosts],
            [_language_test(text) for text in languages],
            _midnight(first) if first else 0.0,
            _midnight(last + timedelta(days=1)) if last and last < date.max else float("inf"),
            changed,
        )

    def where(self, index: SearchIndex) -> tuple[str, list[object]]:
        """The pages of an index that pass: the clause for them, and its values."""
        clauses, values = ["fetched >= ?", "fetched < ?"], list[object]((self.start, self.end))
        if self.changed is not None:
            clauses.append("changed >= ?")
            values.append(max(1.0, self.changed))
        for column, tests in (("host", self.hosts), ("language", self.languages)):
            if tests:
                names = [name for name in index.names(column) if any(test(name) for test in tests)]
                clauses.append(f"{column} {among(names, values)}")
        return " AND ".join(clauses), values


def among(wanted: Sequence[object], values: list[object]) -> str:
    """The condition that a column has one of some values, however many they are."""
    values.append(json.dumps(wanted))
    return "IN (SELECT value FROM json_each(?))"


def _host_test(typed: str) -> Test:
    """A host stands for its subdomains, too; without a port it stands for all of them.

    >>> test = _host_test("Example.org")
    >>> test("example.org"), test("www.example.org:8080"), test("badexample.org")
    (True, True, False)
    >>> _host_test("example.org:8080")("example.org")
    False
    """
    text = typed.strip().removeprefix("*.").removeprefix(".")
    url = canonical(text if "//" in text else f"http://{text}")
    if url is None:
        raise InputError(f"{typed!r} is not a host: write it like example.org or example.org:8080")
    wanted, bare = host_key(url), host(url)
    if wanted != bare:
        return lambda name: name == wanted or name.endswith("." + wanted)
    return lambda name: (without_port := _bare(name)) == bare or without_port.endswith("." + bare)


def _bare(name: str) -> str:
    return name if name.endswith("]") else name.rpartition(":")[0] or name


def _language_test(typed: str) -> Test:
    """A language stands for its regions, too; a page may name several.

    >>> test = _language_test("en")
    >>> test("en-gb"), test("de, en"), test("eng"), test("")
    (True, True, False, False)
    """
    wanted = typed.strip().lower().replace("_", "-")
    if not wanted:
        raise InputError("an empty language matches nothing: give a code like en or pt-br")

    def test(name: str) -> bool:
        codes = [code.strip().lower().replace("_", "-") for code in name.split(",")]
        return any(code == wanted or code.startswith(wanted + "-") for code in codes)

    return test


def _day(typed: str | date, what: str) -> date | None:
    if isinstance(typed, datetime):
        return typed.astimezone(UTC).date() if typed.tzinfo else typed.date()
    if isinstance(typed, date):
        return typed
    if not typed.strip():
        return None
    try:
        return date.fromisoformat(typed.strip())
    except ValueError:
        raise InputError(f"--{what} {typed!r} is not a day: write it like 2026-03-01") from None


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
