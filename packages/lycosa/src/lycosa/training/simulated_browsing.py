"""Simulated browsing sessions with a search goal, for training and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple


class PageView(NamedTuple):
    """Viewed page, and the page with the link to it."""

    url: str
    referrer: str | None


def sessions(
    links: Callable[[str], Sequence[str]],
    is_relevant: Callable[[str], bool],
    starts: Iterable[str],
    *,
    random_seed: int = 0,
    max_distance: int = 4,  # links that a user follows to a relevant page
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
        generator = Random(f"{random_seed}/{number}/{start}")
        path = _shortest_path(links, is_relevant, start, generator, max_distance)
        if path:
            yield [*_walk(links, path, generator, detours), *_linger(links, is_relevant, path, generator)]


def _shortest_path(
    links: Callable[[str], Sequence[str]],
    is_relevant: Callable[[str], bool],
    start: str,
    generator: Random,
    max_distance: int,
) -> list[str]:
    """Return a random shortest path to a relevant page other than the start; empty if all are too far."""
    came_from: dict[str, str] = {start: ""}
    level = [start]
    for _ in range(max_distance):
        relevant: list[str] = []
        following: list[str] = []
        for page in level:
            for target in links(page):
                if target not in came_from:
                    came_from[target] = page
                    (relevant if is_relevant(target) else following).append(target)
        if relevant:
            path = [generator.choice(relevant)]
            while came_from[path[-1]]:
                path.append(came_from[path[-1]])
            return path[::-1]
        if len(came_from) > 2000:  # give up on a start with too many pages
            break
        level = following
    return []


def _walk(
    links: Callable[[str], Sequence[str]], path: list[str], generator: Random, detours: float
) -> Iterator[PageView]:
    before: str | None = None
    for page in path:
        yield PageView(page, before)
        others = [target for target in links(page) if target not in path]
        if page != path[-1] and others and generator.random() < detours:
            yield PageView(generator.choice(others), page)
        before = page


def _linger(
    links: Callable[[str], Sequence[str]], is_relevant: Callable[[str], bool], path: list[str], generator: Random
) -> Iterator[PageView]:
    """Yield the pages viewed after the end of the path: relevant ones, with occasional detours."""
    page, seen = path[-1], set(path)
    for _ in range(4):  # pages viewed after the first relevant page
        new = [target for target in links(page) if target not in seen]
        relevant = [target for target in new if is_relevant(target)]
        if not new:
            return
        # probability of choosing a link to a relevant page, if there is one, as users see where links lead
        is_relevant_next = bool(relevant) and generator.random() < 0.75
        target = generator.choice(relevant if is_relevant_next else new)
        yield PageView(target, page)
        seen.add(target)
        if is_relevant_next:
            page = target
