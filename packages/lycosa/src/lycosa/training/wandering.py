"""Simulated browsing: the record of someone who looks for pages on a topic and finds them; for training and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple


class PageView(NamedTuple):
    """One page that was looked at, and where the link to it was."""

    url: str
    referrer: str | None


def sessions(
    links: Callable[[str], Sequence[str]],
    is_relevant: Callable[[str], bool],
    starts: Iterable[str],
    *,
    random_seed: int = 0,
    farthest: int = 4,  # links that a user follows to a relevant page
    detours: float = 0.4,  # chance of trying a wrong link before the right one
) -> Iterator[list[PageView]]:
    """A session for each start: over a shortest way to a relevant page, with detours, and a little beyond it.

    >>> web = {"a": ["b", "x"], "b": ["c"], "x": [], "c": []}
    >>> walk, = sessions(web.get, {"c"}.__contains__, ["a"], detours=0)
    >>> [look.url for look in walk]
    ['a', 'b', 'c']

    Batsakis 2007, 3.4: the user browses, and says of each page whether it is relevant.
    """
    for number, start in enumerate(starts):
        chance = Random(f"{random_seed}/{number}/{start}")
        way = _way(links, is_relevant, start, chance, farthest)
        if way:
            yield [*_walk(links, way, chance, detours), *_linger(links, is_relevant, way, chance)]


def _way(
    links: Callable[[str], Sequence[str]], is_relevant: Callable[[str], bool], start: str, chance: Random, farthest: int
) -> list[str]:
    """A shortest way to a relevant page other than the start, any of several; empty if there is none so near."""
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
        if len(came_from) > 2000:  # a session without a way is left out
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
    """What is looked at from the end of the way on: from relevant page to relevant page, now and then beside them."""
    page, seen = way[-1], set(way)
    for _ in range(4):  # pages viewed from the relevant page on, before the session ends
        new = [target for target in links(page) if target not in seen]
        good = [target for target in new if is_relevant(target)]
        if not new:
            return
        # chance that the next one is relevant, if there is a link to any: people see where links lead
        keen = bool(good) and chance.random() < 0.75
        target = chance.choice(good if keen else new)
        yield PageView(target, page)
        seen.add(target)
        if keen:
            page = target
