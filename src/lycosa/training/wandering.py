"""Simulated browsing: the record of someone who looks for pages on a topic and finds them, to train and to measure with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

FARTHEST = 4
"""Links that someone follows to a relevant page."""

DETOURS = 0.4
"""How often another link of a page is tried, and found to lead elsewhere, before the right one is taken."""

ON = 2
"""Links of the relevant page that are looked at before the session ends."""

MOST = 2000
"""Pages that are looked through for a way; a session that finds none is left out."""


class Look(NamedTuple):
    """One page that was looked at, and where the link to it was."""

    url: str
    referrer: str | None


def sessions(
    links: Callable[[str], Sequence[str]],
    is_relevant: Callable[[str], bool],
    starts: Iterable[str],
    *,
    random_seed: int = 0,
    farthest: int = FARTHEST,
    detours: float = DETOURS,
) -> Iterator[list[Look]]:
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
            yield list(_walk(links, way, chance, detours))


def _way(
    links: Callable[[str], Sequence[str]],
    is_relevant: Callable[[str], bool],
    start: str,
    chance: Random,
    farthest: int,
) -> list[str]:
    """A shortest way to a relevant page other than the start, any of several; empty if there is none so near."""
    came_from: dict[str, str] = {start: ""}
    level = [start]
    for _ in range(farthest):
        found: list[str] = []
        following: list[str] = []
        for page in level:
            for target in links(page):
                if target not in came_from:
                    came_from[target] = page
                    (found if is_relevant(target) else following).append(target)
        if found:
            way = [chance.choice(found)]
            while came_from[way[-1]]:
                way.append(came_from[way[-1]])
            return way[::-1]
        if len(came_from) > MOST:
            break
        level = following
    return []


def _walk(links: Callable[[str], Sequence[str]], way: list[str], chance: Random, detours: float) -> Iterator[Look]:
    before: str | None = None
    for page, after in zip(way, [*way[1:], ""], strict=True):
        yield Look(page, before)
        others = [target for target in links(page) if target not in way]
        if after and others and chance.random() < detours:
            yield Look(chance.choice(others), page)
        elif not after:
            for target in chance.sample(others, min(ON, len(others))):
                yield Look(target, page)
        before = page
