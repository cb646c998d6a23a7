"""Freshness of a watch (see revisit_trials.py) against the known changes. Integrals are exact, times Unix seconds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lycosa.testweb.changing import ChangingWeb

DAY = 86_400.0
Span = tuple[float, float]  # start, and exclusive end


@dataclass(frozen=True)
class Timeline:
    """Known changes of a page, and the time in which it counts."""

    url: str
    weight: float
    fetched: float
    changes: tuple[float, ...]  # real changes since the fetch
    counts: tuple[Span, ...]  # spans in which the page exists and is on the topic


def timeline(web: ChangingWeb, url: str, weight: float, fetched: float, start: float, end: float) -> Timeline:
    """Return the history of a page; it counts until it vanishes or moves, except while its content is off the topic."""
    real_changes = [change for change in web.changes(url, fetched, end) if change.real]
    until = min(end, web.fate(url).time)
    turns = [change.time for change in real_changes if change.kind == "topic"]
    edges = [fetched, *turns, until]
    on = [span for number, span in enumerate(pairwise(edges)) if number % 2 == 0]
    counts = tuple((max(a, start), min(b, until)) for a, b in on if min(b, until) > max(a, start))
    return Timeline(url, weight, fetched, tuple(change.time for change in real_changes), counts)


def spans(copies: Sequence[float], changes: Sequence[float], end: float) -> tuple[list[Span], list[Span]]:
    """Return the spans in which the copy is current, and those in which it is outdated."""
    fresh, stale = [], []
    left = iter(changes)
    change = next(left, math.inf)
    for begin, until in pairwise([*copies, end]):
        while change <= begin:
            change = next(left, math.inf)
        fresh.append((begin, min(change, until)))
        stale.append((min(change, until), until))
    return [(a, b) for a, b in fresh if b > a], [(a, b) for a, b in stale if b > a]


def intersection(spans: Iterable[Span], within: Iterable[Span]) -> list[Span]:
    whole = list(within)
    cut = ((max(a, x), min(b, y)) for a, b in spans for x, y in whole)
    return [(a, b) for a, b in cut if b > a]


class PageCheck(NamedTuple):
    """A revisit of a page: time, outcome and HTTP status."""

    at: float
    outcome: str
    status: int

    @property
    def has_body(self) -> bool:
        """True if the response had a body; a 304 leaves the copy as it was."""
        return self.outcome in ("ok", "unchanged") and self.status != 304


@dataclass
class Upkeep:
    """Freshness and requests of a watch."""

    freshness: float  # mean over time of the weighted share of pages with a current copy
    age: float  # weighted mean of the days since the first change that the copy lacks, 0 for fresh copies
    false_304s: float  # weighted share of time in which a copy was outdated after its host had returned 304
    days: list[float]  # freshness day by day
    watched: int  # number of pages
    checks: int
    unmodified: int  # responses with status 304
    other: int  # requests for robots.txt, sitemaps, probes, redirect targets


def share_over_time(
    weights: Sequence[float], fresh: Sequence[Sequence[Span]], counts: Sequence[Sequence[Span]], start: float,
    end: float, step: float = DAY,
) -> tuple[float, list[float]]:  # fmt: skip
    """Return the mean over time of (fresh weight) / (counted weight), and its means per step.

    Both are step functions, constant between two events, so the integral is a sum. Time in which nothing counts is
    excluded. Two pages, weights 1 and 3: the first is fresh until 2 of 4, the second counts and is fresh until 1.

    >>> share_over_time([1.0, 3.0], [[(0.0, 2.0)], [(0.0, 1.0)]], [[(0.0, 4.0)], [(0.0, 1.0)]], 0.0, 4.0, 2.0)
    (0.5, [1.0, 0.0])
    """
    steps = max(1, round((end - start) / step))
    edges = np.linspace(start, end, steps + 1)
    events = [(float(edge), 0.0, 0.0) for edge in edges]
    for weight, good, all_of_it in zip(weights, fresh, counts, strict=True):
        for a, b in good:
            events += [(a, weight, 0.0), (b, -weight, 0.0)]
        for a, b in all_of_it:
            events += [(a, 0.0, weight), (b, 0.0, -weight)]
    table = np.array(sorted(events))
    time, whole = table[:, 0], np.cumsum(table[:, 2])[:-1]
    width = np.diff(time)
    known = (whole > 1e-9 * max(weights, default=1.0)) & (time[:-1] >= start) & (time[1:] <= end) & (width > 0)
    ratio = np.divide(np.cumsum(table[:, 1])[:-1], whole, out=np.zeros(len(whole)), where=known)
    width = np.where(known, width, 0.0)
    place = np.clip(np.searchsorted(edges, time[:-1], "right") - 1, 0, steps - 1)
    lasted = np.bincount(place, width, steps)
    by_step = np.bincount(place, ratio * width, steps)
    means = np.divide(by_step, lasted, out=np.full(steps, np.nan), where=lasted > 0)
    return float((ratio * width).sum() / width.sum()) if width.sum() > 0 else math.nan, means.tolist()


def measure(
    pages: Sequence[Timeline], checks: Sequence[Sequence[PageCheck]], start: float, end: float, other: int = 0
) -> Upkeep:
    """Measure a watch from `start` to `end`; `checks` has the checks of each page in order."""
    fresh = []
    aged = false_304s = whole = 0.0  # integrals over weight and counted time
    for page, own in zip(pages, checks, strict=True):
        whole += page.weight * sum(b - a for a, b in page.counts)
        good, stale = spans([page.fetched, *(check.at for check in own if check.has_body)], page.changes, end)
        fresh.append(intersection(good, page.counts))
        for since, until in stale:
            denied = min((one.at for one in own if one.status == 304 and since <= one.at < until), default=until)
            for a, b in intersection([(since, until)], page.counts):
                aged += page.weight * ((b - since) ** 2 - (a - since) ** 2) / 2
                false_304s += page.weight * max(0.0, b - max(a, denied))
    counts = [page.counts for page in pages]
    mean, days = share_over_time([page.weight for page in pages], fresh, counts, start, end)
    unmodified = sum(check.status == 304 for own in checks for check in own)
    return Upkeep(
        mean, aged / whole / DAY if whole else math.nan, false_304s / whole if whole else math.nan, days, len(pages),
        sum(map(len, checks)), unmodified, other,
    )  # fmt: skip
