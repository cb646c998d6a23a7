"""From visits to a graph: each page once, what was said of it, and from which page to which the visitor went."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lycosa.training.record import Record, Visited


@dataclass
class Trail:
    """The pages of a record, and the steps between them."""

    urls: list[str]
    said: NDArray[np.intp]
    """1: relevant, 0: irrelevant, -1: nobody said anything."""
    steps: NDArray[np.intp]
    """(n, 2): page i was followed by page j, as often as that happened; never by itself."""
    how: str
    """Where the steps come from: referrers, order, links."""
    notes: list[str] = field(default_factory=list)


def trail_of(record: Record, gap: float) -> Trail:
    """The graph of a record.

    Links that are known are the steps. Otherwise referrers are, if any visit has one: a page that was visited without
    one starts a path, and a referrer that is not in the record is no page. Without any referrer the visits follow each
    other, by their times if all have one, and `gap` minutes of rest begin a new path.

    >>> record = Record(visits=[Visited("a", time=0), Visited("b", True, time=60), Visited("c", time=9000)])
    >>> trail = trail_of(record, gap=30)
    >>> trail.urls, trail.said.tolist(), trail.steps.tolist(), trail.how
    (['a', 'b', 'c'], [-1, 1, -1], [[0, 1]], 'order')
    """
    visits = record.visits
    if all(visit.time is not None for visit in visits):
        visits = sorted(visits, key=lambda visit: visit.time or 0.0)
    number: dict[str, int] = {}
    labels: dict[str, bool] = {}
    changed: set[str] = set()
    for visit in visits:
        number.setdefault(visit.url, len(number))
        if visit.relevant is not None:
            if labels.get(visit.url, visit.relevant) != visit.relevant:
                changed.add(visit.url)
            labels[visit.url] = visit.relevant
    notes = []
    if changed:
        notes.append(f"{len(changed):,} pages have both labels: the last one counts")
    if record.steps is not None:
        how, pairs = "links", list(dict.fromkeys(record.steps))
    elif any(visit.referrer for visit in visits):
        how, pairs = "referrers", [(visit.referrer, visit.url) for visit in visits if visit.referrer]
        strange = sum(before not in number for before, _ in pairs)
        if strange:
            notes.append(f"{strange:,} visits came from pages that are not in the record: they start a path")
    else:
        how, pairs = "order", _in_order(visits, gap * 60)
        notes.append("no visit has a referrer: each page is taken to have led to the next")
    steps = [(number[a], number[b]) for a, b in pairs if a != b and a in number and b in number]
    return Trail(
        list(number),
        np.array([int(labels[url]) if url in labels else -1 for url in number], np.intp),
        np.array(steps, np.intp).reshape(-1, 2),
        how,
        notes,
    )


def _in_order(visits: list[Visited], gap: float) -> list[tuple[str, str]]:
    return [
        (before.url, after.url)
        for before, after in pairwise(visits)
        if before.time is None or after.time is None or abs(after.time - before.time) <= gap
    ]
