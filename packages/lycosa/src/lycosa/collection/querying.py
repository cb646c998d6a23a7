"""Search query syntax: `coral reef*`, `"sea level"`, `-aquarium`.

Any input parses; unknown characters are ignored rather than reported as syntax errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import Stemmer

from lycosa.collection.search_text import clean, separate_words, split_words
from lycosa.core.errors import InputError
from lycosa.store.search import SearchIndex
from lycosa.web.urls import canonical, host, host_key

MIN_PREFIX_LETTERS = 3  # minimum number of letters before a star, as shorter prefixes match too much of the vocabulary
MAX_CLAUSES = 50  # each clause takes an index lookup
_PIECE = re.compile(r"""(?P<minus>-?)(?:["“”„«»](?P<quoted>[^"“”„«»]*)(?:["“”„«»]|$)|(?P<plain>[^\s"“”„«»]+))""")
_ENGLISH = Stemmer.Stemmer("english", 0)


@dataclass(frozen=True, slots=True)
class Clause:
    """One search term: a word in all its forms, an exact word, a prefix, or a phrase."""

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
    """Clauses that a page must match, and clauses that it must not match."""

    wanted: list[Clause] = field(default_factory=list)
    unwanted: list[Clause] = field(default_factory=list)


def parse(typed: str) -> Query:
    """Parse a query.

    >>> query = parse('coral "sea level" -aquarium reef*')
    >>> [str(clause) for clause in query.wanted], [str(clause) for clause in query.unwanted]
    (['coral', '"sea level"', 'reef*'], ['aquarium'])
    """
    query = Query()
    for piece in _PIECE.finditer(typed):
        quoted = piece["quoted"] is not None
        text = piece["quoted"] if quoted else piece["plain"]
        words = tuple(split_words(text))
        if not words:
            continue
        # A character of a script without spaces is a word by itself, so a prefix search for it is not needed.
        prefix = not quoted and text.endswith("*") and separate_words(words[-1]) == words[-1]
        if prefix and len(words) == 1 and len(words[0]) < MIN_PREFIX_LETTERS:
            raise InputError("short-prefix", f"{words[0]}* is too short: give {MIN_PREFIX_LETTERS} letters or more")
        clause = Clause(words, prefix=prefix and len(words) == 1, exact=quoted and len(words) == 1)
        into = query.unwanted if piece["minus"] else query.wanted
        if clause not in into:
            into.append(clause)
    if not query.wanted:
        shown, hint = clean(typed).replace("\n", " ")[:50], "; -word only excludes pages" if query.unwanted else ""
        raise InputError("empty-query", f"no word to search for in {shown!r}: give a word of the pages{hint}")
    if len(query.wanted) + len(query.unwanted) > MAX_CLAUSES:
        raise InputError("too-many-words", f"the query has more than {MAX_CLAUSES} words: leave some out")
    return query


def join_arguments(arguments: Sequence[str]) -> str:
    """Join command line arguments to one query. Restore the quotes that the shell has removed from phrases.

    >>> join_arguments(["coral", "sea level"]), join_arguments(["coral reef"])
    ('coral "sea level"', 'coral reef')
    """
    if len(arguments) == 1:
        return arguments[0]
    return " ".join(f'"{word}"' if " " in word.strip() and '"' not in word else word for word in arguments)


def stem_prefix(word: str) -> str:
    """Return a common prefix of the English forms of a word, or an empty string if it has none.

    >>> stem_prefix("studies"), stem_prefix("reefs"), stem_prefix("récif")
    ('stud', 'ree', '')
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return ""
    stem: str = _ENGLISH.stemWord(word)
    return stem[:-1] if len(stem) > 3 else stem


def word_forms(word: str, words: Sequence[str]) -> list[str]:
    """Return the words that have the same English stem as `word`.

    >>> word_forms("reefs", ["reed", "reef", "reefed", "reefs"])
    ['reef', 'reefed', 'reefs']
    """
    stem = _ENGLISH.stemWord(word)
    return [other for other, own in zip(words, _ENGLISH.stemWords(list(words)), strict=True) if own == stem]


NameTest = Callable[[str], bool]


@dataclass(slots=True)
class Filters:
    """Search filters: hosts, languages, days, changes."""

    hosts: list[NameTest]
    languages: list[NameTest]
    start: float
    end: float
    changed: float | None = None  # only pages that changed since this Unix time; 0 for pages that ever changed

    @classmethod
    def of(
        cls,
        hosts: Sequence[str] = (),
        languages: Sequence[str] = (),
        since: str | date = "",
        until: str | date = "",
        changed: float | None = None,
    ) -> Filters:
        """Parse the values that a user gave; raise InputError for invalid ones."""
        first, last = _day(since, "since"), _day(until, "until")
        if first and last and first > last:
            raise InputError("bad-range", f"--since {first} is after --until {last}: swap them")
        return cls(
            [_host_test(text) for text in hosts],
            [_language_test(text) for text in languages],
            _midnight(first) if first else 0.0,
            _midnight(last + timedelta(days=1)) if last and last < date.max else float("inf"),
            changed,
        )

    def where(self, index: SearchIndex) -> tuple[str, list[object]]:
        """Return an SQL condition for the pages of an index that pass the filters, and its parameters."""
        clauses, values = ["fetched >= ?", "fetched < ?"], list[object]((self.start, self.end))
        if self.changed is not None:
            clauses.append("changed >= ?")
            values.append(max(1.0, self.changed))
        for column, tests in (("host", self.hosts), ("language", self.languages)):
            if tests:
                names = [name for name in index.names(column) if any(test(name) for test in tests)]
                clauses.append(f"{column} {sql_in(names, values)}")
        return " AND ".join(clauses), values


def sql_in(wanted: Sequence[object], values: list[object]) -> str:
    """Return the SQL condition that a column has one of any number of values."""
    values.append(json.dumps(wanted))
    return "IN (SELECT value FROM json_each(?))"


def _host_test(typed: str) -> NameTest:
    """Return a test for a host and its subdomains; without a port it matches all ports."""
    text = typed.strip().removeprefix("*.").removeprefix(".")
    url = canonical(text if "//" in text else f"http://{text}")
    if url is None:
        raise InputError("bad-host", f"{typed!r} is not a host: write it like example.org or example.org:8080")
    wanted, name_only = host_key(url), host(url)
    if wanted != name_only:
        return lambda name: name == wanted or name.endswith("." + wanted)
    return lambda name: (bare := _without_port(name)) == name_only or bare.endswith("." + name_only)


def _without_port(name: str) -> str:
    return name if name.endswith("]") else name.rpartition(":")[0] or name


def _language_test(typed: str) -> NameTest:
    """Return a test for a language and its regions; a page may have several, separated by commas."""
    wanted = typed.strip().lower().replace("_", "-")
    if not wanted:
        raise InputError("bad-language", "an empty language matches nothing: give a code like en or pt-br")

    def test(name: str) -> bool:
        codes = [code.strip().lower().replace("_", "-") for code in name.split(",")]
        return any(code == wanted or code.startswith(wanted + "-") for code in codes)

    return test


def _day(typed: str | date, option: str) -> date | None:
    if isinstance(typed, datetime):
        return typed.astimezone(UTC).date() if typed.tzinfo else typed.date()
    if isinstance(typed, date):
        return typed
    if not typed.strip():
        return None
    try:
        return date.fromisoformat(typed.strip())
    except ValueError:
        raise InputError("bad-date", f"--{option} {typed!r} is not a day: write it like 2026-03-01") from None


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
