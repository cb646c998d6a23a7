"""What each table may hold, column by column: what rows from outside are checked against before any of them is used.

Types, what has to be there, keys and references are read off the schema's scripts; what a value means beyond that is
said once, in `RULES`. Whatever Lycosa itself has ever written fits.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from lycosa.core.errors import InputError
from lycosa.people import models, notices
from lycosa.people.accounts import ROLES, check_name, fold
from lycosa.people.crawls import OVER, UNDER_WAY
from lycosa.people.database import Row, is_id, statements
from lycosa.people.interests import LONGEST_NAME, checked_again
from lycosa.people.sharing import MODES
from lycosa.people.typed import line, number
from lycosa.people.wishes import FORMAT, Wishes

PASSING = frozenset({"session", "attempt", "process", "rubbish"})
"""Tables that are of the moment: no backup has them."""

MOST_ROWS = 10_000_000
"""Of one table."""

LONGEST_ROW = 8 << 20
"""Bytes of a row as JSON."""

LONGEST_TEXT = 100_000
"""Characters of a text of which nothing else is known; an address may be as long as the web made it."""

LARGEST_INTEGER = 2**31 - 1
"""That PostgreSQL keeps in a column."""

LARGEST = 1e12
"""Of other numbers: times, and what judges say."""

MOST_PAGES = 1_000_000_000
"""That a crawl may be allowed, whatever the operator says."""

Rule = Callable[[Any], object]
"""Raises `ValueError` or `InputError` for a value that can't be; what it returns does not matter."""


@dataclass(slots=True)
class Column:
    """What the schema says of one."""

    kind: str
    """TEXT, INTEGER or DOUBLE."""
    required: bool
    refers: str = ""
    """The table whose ids it holds."""


@dataclass(slots=True)
class Table:
    """What the schema says of one."""

    columns: dict[str, Column] = field(default_factory=dict)
    unique: list[tuple[str, ...]] = field(default_factory=list)
    """Columns of which no two rows have the same."""


def tables(known: Iterable[str]) -> dict[str, Table]:
    """The tables that scripts make, in an order in which each comes after those that it refers to.

    >>> made = tables(["CREATE TABLE a (\\n    id TEXT PRIMARY KEY,\\n    b TEXT REFERENCES a (id)\\n);"])
    >>> made["a"].columns["b"], made["a"].unique
    (Column(kind='TEXT', required=False, refers='a'), [('id',)])
    """
    tables: dict[str, Table] = {}
    for statement in (part for script in known for part in statements(script)):
        if made := re.match(r"CREATE TABLE (\w+) \(", statement):
            table = tables[made[1]] = Table()
            for part in statement.splitlines()[1:-1]:
                _take(table, part.strip().rstrip(","))
        elif added := re.match(r"ALTER TABLE (\w+) ADD COLUMN (.+)", statement):
            _take(tables[added[1]], added[2])
    return tables


def _take(table: Table, said: str) -> None:
    """One line of a table: a column, or a key of several."""
    if several := re.match(r"(?:PRIMARY KEY|UNIQUE) \((.+)\)", said):
        table.unique.append(tuple(name.strip() for name in several[1].split(",")))
        return
    name, kind, *_ = said.split()
    refers = re.search(r"REFERENCES (\w+)", said)
    required = "NOT NULL" in said or "PRIMARY KEY" in said
    table.columns[name] = Column(kind, required, refers[1] if refers else "")
    if "PRIMARY KEY" in said or "UNIQUE" in said:
        table.unique.append((name,))


# -- what values mean ------------------------------------------------------------------------------------------


def _rule(fits: Callable[[Any], object], message: str) -> Rule:
    def check(value: Any) -> None:
        if not fits(value):
            raise ValueError(message)

    return check


def _one_of(*words: str | int) -> Rule:
    return _rule(words.__contains__, f"it must be one of {', '.join(map(repr, words))}")


def _like(pattern: str, what: str) -> Rule:
    return _rule(re.compile(pattern, re.ASCII).fullmatch, f"it is no {what}")


def _at_most(most: int) -> Rule:
    return _rule(lambda value: len(value) <= most, f"it has more than {most:,} characters")


def _from(least: float, most: float) -> Rule:
    return lambda value: number(value, "it", least, most)


def _line(most: int) -> Rule:
    return lambda value: line(value, "it", most, 1)


def _object(most: int) -> Rule:
    return _rule(lambda value: isinstance(read_json(value, most), dict), "it is not a JSON object")


MOST_MEMORY, MOST_WORK = 262_144, 4_000_000
"""Of a password's hash: kB, and kB times rounds. Ours have 65,536 and three rounds."""


def _password(value: Any) -> None:
    """An argon2 hash at a cost that a machine can bear: it is computed when somebody signs in."""
    shape = r"\$argon2id\$v=\d{1,3}\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{1,100}\$[A-Za-z0-9+/]{1,200}"
    parts = re.fullmatch(shape, value, re.ASCII)
    if not parts:
        raise ValueError("it is no argon2id hash")
    memory, rounds, lanes = map(int, parts.groups())
    if memory > MOST_MEMORY or memory * rounds > MOST_WORK or lanes > 16:
        raise ValueError("it is an argon2id hash that costs too much")


def _wishes(value: Any) -> None:
    kept = read_json(value, LONGEST_ROW)
    if not isinstance(kept, dict):
        raise ValueError("it is not a JSON object")
    written = kept.pop("format", 1)
    if type(written) is not int or not 1 <= written <= FORMAT:
        raise ValueError(f"its format is not among 1 to {FORMAT}")
    Wishes.read(kept, MOST_PAGES)


def _is_texts(value: Any) -> bool:
    kept = read_json(value, LONGEST_TEXT)
    return isinstance(kept, list) and len(kept) <= 100 and all(isinstance(text, str) for text in kept)


_ID = _rule(is_id, "it is not an id")
_DIGEST = _like("[0-9a-f]{64}", "digest")
_TRUTH = _one_of(0, 1)
_COUNT = _from(0, LARGEST_INTEGER)

RULES: dict[str, Rule] = {
    "id": _ID,
    "digest": _DIGEST,
    "role": _one_of(*ROLES),
    "person.name": _rule(lambda name: check_name(name) == name, "it is not a name as Lycosa writes it"),
    "person.password": _password,
    "person.disabled": _TRUTH,
    "person.preferences": _object(LONGEST_TEXT),
    "token.scopes": _like("([a-z]+( [a-z]+)*)?", "list of scopes"),
    "audit.person": _like("[0-9A-Za-z_-]{0,64}", "id"),
    "interest.name": _line(LONGEST_NAME),
    "interest.wishes": _wishes,
    "interest.look_again": checked_again,
    "share.mode": _one_of(*MODES),
    "crawl.number": _from(1, LARGEST_INTEGER),
    "crawl.task": _one_of("crawl", "refresh"),
    "crawl.wanted": _one_of("run", "pause", "stop"),
    "crawl.state": _one_of(*UNDER_WAY, *OVER),
    "crawl.budget": _from(1, MOST_PAGES),
    "crawl.pages": _COUNT,
    "crawl.found": _COUNT,
    "crawl.lessons": _COUNT,
    "crawl.asked": _COUNT,
    "crawl.everything": _TRUTH,
    "crawl.look_first": _rule(_is_texts, "it is not a JSON list of texts"),
    "crawl.judging": _one_of("", "labels", "threshold", "topic"),
    "feedback.relevant": _TRUTH,
    "opened.times": _COUNT,
    "suggestion.kind": _one_of("seed", "term", "page"),
    "suggestion.answer": _one_of("accepted", "dismissed"),
    "seen.feed": _DIGEST,
    "notice.kind": _one_of(*notices.KINDS),
    "notice.text": _at_most(notices.LONGEST),
    "model.name": _line(LONGEST_NAME),
    "model.kind": _one_of(*models.KINDS),
    "model.state": _one_of(*models.STATES),
    "model.sources": _object(models.LONGEST_SOURCES),
    "model.about": _object(models.LONGEST_ABOUT),
    "model.size": _from(0, models.LARGEST),
}
"""What is known of a column beyond its type, by its name, with that of its table where it is not the same in all."""


def _typed(value: Any, kind: str) -> None:
    if kind == "TEXT":
        if not isinstance(value, str):
            raise ValueError("it must be text")
        if "\0" in value or (not value.isascii() and any("\ud800" <= letter < "\ue000" for letter in value)):
            raise ValueError("it has a character that is not text")
    elif kind == "INTEGER":
        if type(value) is not int or abs(value) > LARGEST_INTEGER:
            raise ValueError(f"it must be a whole number up to {LARGEST_INTEGER:,}")
    elif type(value) not in (int, float) or not math.isfinite(value) or abs(value) > LARGEST:
        raise ValueError(f"it must be a number up to {LARGEST:,.0f}")


def check_value(table: str, name: str, column: Column, value: Any) -> None:
    """Whether a column may hold this; a `ValueError` or `InputError` says why not."""
    if value is None:
        if column.required:
            raise ValueError("it is missing")
        return
    _typed(value, column.kind)
    rule = _ID if column.refers else RULES.get(f"{table}.{name}") or RULES.get(name)
    if rule is not None:
        rule(value)
    elif column.kind == "TEXT":
        _at_most(LONGEST_TEXT)(value)


class Checker:
    """Goes through all rows of all tables, in any order, and says what is wrong with the first that does not fit."""

    def __init__(self, known: Iterable[str]) -> None:
        self.tables = {name: table for name, table in tables(known).items() if name not in PASSING}
        self.ids: dict[str, set[str]] = {name: set() for name in self.tables}
        self.rows = dict.fromkeys(self.tables, 0)
        self._keys: dict[tuple[str, tuple[str, ...]], set[int]] = {}
        self._wanted: dict[tuple[str, str], set[str]] = {}

    def row(self, table: str, row: Any) -> None:
        """Check one; what it refers to is looked at in the end."""
        self.rows[table] += 1
        if self.rows[table] > MOST_ROWS:
            raise InputError(f"{table} has more than {MOST_ROWS:,} rows")
        where = f"row {self.rows[table]:,} of {table}"
        if not isinstance(row, dict):
            raise InputError(f"{where} is not a row")
        about = self.tables[table]
        for name in row.keys() ^ about.columns.keys():
            wrong = "is missing" if name in about.columns else "is not a column"
            raise InputError(f"{where} does not fit: {name[:60]!a} {wrong}")
        for name, column in about.columns.items():
            try:
                check_value(table, name, column, row[name])
            except (ValueError, TypeError, InputError) as error:
                raise InputError(f"{where} does not fit: {name} is {short(row[name])}: {error}") from error
        if table == "person" and row["folded"] != fold(row["name"]):
            raise InputError(f"{where} does not fit: folded is another name than name")
        self._note(table, row, where)

    def _note(self, table: str, row: Row, where: str) -> None:
        about = self.tables[table]
        for columns in about.unique:
            given = tuple(row[name] for name in columns)
            known = self._keys.setdefault((table, columns), set())
            if None not in given and hash(given) in known:
                raise InputError(f"{where} does not fit: another one has the same {' and '.join(columns)}")
            known.add(hash(given))
        if "id" in about.columns:
            self.ids[table].add(row["id"])
        for name, column in about.columns.items():
            if column.refers and row[name] is not None:
                self._wanted.setdefault((table, name), set()).add(row[name])

    def finish(self) -> None:
        """All rows were seen: whatever they refer to has to be among them."""
        for (table, name), wanted in self._wanted.items():
            refers = self.tables[table].columns[name].refers
            for missing in wanted - self.ids[refers]:
                raise InputError(f"{table} does not fit: its {name} {missing} is no {refers} of the backup")


def rows_of(lines: Iterable[bytes]) -> Iterator[Any]:
    """The rows of a table that is written as JSON, one a line."""
    for count, text in enumerate(lines, 1):
        try:
            yield read_json(text, LONGEST_ROW)
        except ValueError as error:
            raise InputError(f"line {count:,} can't be read: {error}") from error


def short(value: Any) -> str:
    """A stranger's value as it can stand in a message."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


# -- JSON from outside -------------------------------------------------------------------------------------

# JSON that comes from outside: of a bounded size and depth, and with numbers that are numbers.

DEEPEST = 32
"""Lists and objects within each other."""


def read_json(text: bytes | str, most: int, deepest: int = DEEPEST) -> Any:
    """What a text of at most so many bytes says; a `ValueError` in words for everything that is not plain JSON.

    >>> read_json('{"a": [1, 2]}', 100)
    {'a': [1, 2]}
    >>> read_json("[" * 100_000, 200_000)
    Traceback (most recent call last):
    ValueError: it is nested more than 32 deep
    >>> read_json("[1e999, NaN]", 100)
    Traceback (most recent call last):
    ValueError: NaN is not a number
    """
    if len(text) > most:
        raise ValueError(f"it has more than {most:,} bytes")
    try:
        found = json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError(f"it is nested more than {deepest} deep") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error.msg} at character {error.pos}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not text: byte {error.start}") from error
    _check(found, deepest)
    return found


def _check(found: Any, deepest: int) -> None:
    """Level by level, so that depth costs no stack."""
    level = [found]
    for _ in range(deepest + 1):
        below: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                below += part.values()
            elif isinstance(part, list):
                below += part
            elif isinstance(part, float) and not math.isfinite(part):
                raise ValueError("a number is too large")
        if not below:
            return
        level = below
    raise ValueError(f"it is nested more than {deepest} deep")


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
