"""Simulated browsing sessions with a search goal, for training and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple


class PageView(NamedTuple):
    """A viewed page, and the page with the link to it."""

    url: str
    referrer: str | None


def sessions(
    links: Callable[[str], Sequence[str]],
    is_relevant: Callable[[str], bool],
    starts: Iterable[str],
    *,
    random_seed: int = 0,
    farthest: int = 4,  # links that a user follows to a relevant page
    detours: float = 0.4,  # probability of trying a wrong link before the right one
) -> Iterator[list[PageView]]:
    """Yield a session for each start: a shortest path to a relevant page, with detours, and a few pages beyond it.

    >>> web = {"a": ["b", "x"], "b": ["c"], "x": [], "c": []}
    >>> walk, = sessions(web.get, {"c"}.__contains__, ["a"], detours=0)
    >>> [view.url for view in walk]
    ['a', 'b', 'c']

    Paper: Batsakis 2007, 3.4: the user browses, and labels each page.
    """
    for number, start in enumerate(starts):
        chance = Random(f"{random_seed}/{number}/{start}")
        way = _way(links, is_relevant, start, chance, farthest)
        if way:
            yield [*_walk(links, way, chance, detours), *_linger(links, is_relevant, way, chance)]


def _way(
    links: Callable[[str], Sequence[str]], is_relevant: Callable[[str], bool], start: str, chance: Random, farthest: int
) -> list[str]:
    """Return a random shortest path to a relevant page other than the start; empty if all are too far."""
    came_from: dict[str, str] = {start: ""}
    level = [start]
    for _ in range(farthest):
        relevant: list[str] = []
        following: list[str] = []
        for page in level:
            for target in links(page):
                if target not in came_from:
                    came_from[target] = page
                    (relevant if is_relevant(target) else following).append(target)
        if relevant:
            way = [chance.choice(relevant)]
            while came_from[way[-1]]:
                way.append(came_from[way[-1]])
            return way[::-1]
        if len(came_from) > 2000:  # give up on a start with too many pages
            break
        level = following
    return []


def _walk(links: Callable[[str], Sequence[str]], way: list[str], chance: Random, detours: float) -> Iterator[PageView]:
    before: str | None = None
    for page in way:
        yield PageView(page, before)
        others = [target for target in links(page) if target not in way]
        if page != way[-1] and others and chance.random() < detours:
            yield PageView(chance.choice(others), page)
        before = page


def _linger(
    links: Callable[[str], Sequence[str]], is_relevant: Callable[[str], bool], way: list[str], chance: Random
) -> Iterator[PageView]:
    """Yield the pages viewed after the end of the path: relevant ones, with occasional detours."""
    page, seen = way[-1], set(way)
    for _ in range(4):  # pages viewed after the first relevant page
        new = [target for target in links(page) if target not in seen]
        good = [target for target in new if is_relevant(target)]
        if not new:
            return
        # probability that the next page is relevant, if there is a link to one: users see where links lead
        keen = bool(good) and chance.random() < 0.75
        target = chance.choice(good if keen else new)
        yield PageView(target, page)
        seen.add(target)
        if keen:
            page = target
