"""Which pages somebody asks for: of some hosts, in some languages, from some days, that have changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from lycosa.core.errors import InputError
from lycosa.store.search import Index
from lycosa.web.urls import canonical, host, lane

Test = Callable[[str], bool]


@dataclass(slots=True)
class Filters:
    """What a page has to be. Made and checked before anything is read."""

    hosts: list[Test]
    languages: list[Test]
    start: float
    end: float
    changed: float | None = None
    """Only pages that have changed since then, in seconds since the epoch; 0: that have ever."""

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

    def where(self, index: Index) -> tuple[str, list[object]]:
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
    wanted, bare = lane(url), host(url)
    if wanted != bare:
        return lambda name: name == wanted or name.endswith("." + wanted)
    return lambda name: (without_port := _bare(name)) == bare or without_port.endswith("." + bare)


def _bare(name: str) -> str:
    """A host without its port."""
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
