"""Whose crawl is started next. Nobody has more than their share, and nobody with nothing running waits for somebody who
has something running.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Waiting:
    """A crawl that waits to be started: whose it is, and since when."""

    crawl: str
    person: str
    since: float


def choose(waiting: Iterable[Waiting], running: Mapping[str, int], total: int, per_person: int) -> list[str]:
    """The crawls to start now, in order; `running`: how many each person has under way.

    >>> line = [Waiting("a1", "Ann", 1.0), Waiting("a2", "Ann", 2.0), Waiting("b1", "Bob", 3.0)]
    >>> choose(line, {}, total=3, per_person=2), choose(line, {"Ann": 1}, total=2, per_person=2)
    (['a1', 'b1', 'a2'], ['b1'])
    """
    counts, left, chosen = Counter(running), list(waiting), list[str]()
    while counts.total() < total:
        best = min(
            (each for each in left if counts[each.person] < per_person),
            key=lambda each: (counts[each.person], each.since, each.crawl),
            default=None,
        )
        if best is None:
            break
        left.remove(best)
        counts[best.person] += 1
        chosen.append(best.crawl)
    return chosen


def places(waiting: Iterable[Waiting], running: Mapping[str, int]) -> dict[str, int]:
    """Each waiting crawl's place in the queue, from 1: the order in which they'd be started if there were room."""
    line = list(waiting)
    most = len(line) + sum(running.values())
    return {crawl: place for place, crawl in enumerate(choose(line, running, most, most + 1), 1)}
