"""What was really so: when each watched page changed, and from when until when it counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lycosa.testing.changing import ChangingWeb

Span = tuple[float, float]
"""From a time, and until before another."""


@dataclass(frozen=True)
class Timeline:
    """A page as the truth has it; times are seconds since the epoch."""

    url: str
    weight: float
    fetched: float
    """When the crawl had it."""
    changes: tuple[float, ...]
    """When it really changed, since it was fetched."""
    counts: tuple[Span, ...]
    """When it is there, and on the topic."""
    rate: float = 0.0
    """Real changes a day, in the long run."""
    process: str = ""


def timeline(web: ChangingWeb, url: str, weight: float, fetched: float, start: float, end: float) -> Timeline:
    """What becomes of a page from `start` to `end`.

    It counts until it vanishes or moves for the first time, but for the time in which it has turned to another topic:
    nobody wants a fresh copy of that.
    """
    made = [change for change in web.changes(url, fetched, end) if change.real]
    until = min(end, web.fate(url).time)
    turns = [change.time for change in made if change.kind == "topic"]
    edges = [fetched, *turns, until]
    on = [span for number, span in enumerate(pairwise(edges)) if number % 2 == 0]
    counts = tuple((max(a, start), min(b, until)) for a, b in on if min(b, until) > max(a, start))
    process = web.process(url)
    return Timeline(url, weight, fetched, tuple(change.time for change in made), counts, process.real, process.name)


def fresh_spans(copies: Sequence[float], changes: Sequence[float], end: float) -> list[Span]:
    """When the copy is as the page is: from each fetch of the page itself until it really changes.

    Fetched at 0 and 5, changed at 2 and 6, until 10: fresh from 0 to 2, and from 5 to 6.

    >>> fresh_spans([0.0, 5.0], [2.0, 6.0], 10.0)
    [(0.0, 2.0), (5.0, 6.0)]
    """
    return [(begin, stale) for begin, stale, _ in _cycles(copies, changes, end) if stale > begin]


def stale_spans(copies: Sequence[float], changes: Sequence[float], end: float) -> list[Span]:
    """When it is not: from a real change until the next fetch.

    >>> stale_spans([0.0, 5.0], [2.0, 6.0], 10.0)
    [(2.0, 5.0), (6.0, 10.0)]
    """
    return [(stale, until) for _, stale, until in _cycles(copies, changes, end) if until > stale]


def _cycles(copies: Sequence[float], changes: Sequence[float], end: float) -> Iterable[tuple[float, float, float]]:
    """For each copy: when it was fetched, when it is out of date, when the next one comes."""
    left = iter(changes)
    change = next(left, float("inf"))
    for begin, until in pairwise([*copies, end]):
        while change <= begin:
            change = next(left, float("inf"))
        yield begin, min(change, until), until


def common(spans: Iterable[Span], within: Iterable[Span]) -> list[Span]:
    """The parts of spans that lie within others.

    >>> common([(0.0, 4.0), (5.0, 9.0)], [(1.0, 6.0)])
    [(1.0, 4.0), (5.0, 6.0)]
    """
    whole = list(within)
    cut = ((max(a, x), min(b, y)) for a, b in spans for x, y in whole)
    return [(a, b) for a, b in cut if b > a]
