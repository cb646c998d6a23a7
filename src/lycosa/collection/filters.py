"""Which pages a search is about: of some hosts, in some languages, from some days, above a score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.store.search import COPY, Index
from lycosa.web.urls import canonical, host, lane

Test = Callable[[str], bool]


@dataclass(slots=True)
class Filters:
    """What a page has to be. Made and checked before anything is read."""

    hosts: list[Test]
    languages: list[Test]
    start: float
    end: float
    score: float
    copies: bool
    changed: float | None = None
    """Only pages that have changed since then, in seconds since the epoch; 0: that have ever."""
    worths: Mapping[int, float] = field(default_factory=dict)
    """What pages are worth by now, by the numbers of their events, where that may not be what the index says."""

    @classmethod
    def of(
        cls,
        hosts: Sequence[str] = (),
        languages: Sequence[str] = (),
        since: str | date = "",
        until: str | date = "",
        score: float = 0.0,
        copies: bool = False,
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
            score,
            copies,
            changed,
        )

    def mask(self, pages: NDArray[np.void], index: Index) -> NDArray[np.bool_]:
        """The pages that pass."""
        passing = np.ones(len(pages), np.bool_)
        if not self.copies:
            passing &= pages["flags"] & COPY == 0
        if self.start > 0:
            passing &= pages["fetched"] >= self.start
        if self.end < float("inf"):
            passing &= pages["fetched"] < self.end
        if self.changed is not None:
            passing &= pages["changed"] >= max(1.0, self.changed)
        if self.score > 0:
            scores = pages["score"]
            if self.worths:
                recorded = zip(pages["seq"].tolist(), scores.tolist(), strict=True)
                scores = np.array([self.worths.get(seq, score) for seq, score in recorded])
            passing &= scores >= self.score
        for kind, tests in (("host", self.hosts), ("language", self.languages)):
            if tests:
                ids = [number for number, text in index.names(kind) if any(test(text) for test in tests)]
                passing &= np.isin(pages[kind], ids)
        return passing


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
