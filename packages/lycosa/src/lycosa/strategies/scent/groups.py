"""Groups of pages that share a word, a directory, a host or a place, and the outcomes that each group has led to.

Groups are numbered by hash, so that their memory does not grow with the crawl; 0 is no group.
"""

from __future__ import annotations

import re
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.strategies.scent.link_words import SLOTS

SHRINK = 3.0  # lifts and means of a group of so many pages are halfway between those of the group and of all pages
PLACE_SLOTS = 1 << 16
DIRECTORIES, HOSTS, PLACES = SLOTS, 2 * SLOTS, 3 * SLOTS  # first groups of each kind; those of anchor words come before
LINK_GROUPS = PLACES + 2 * PLACE_SLOTS
_IDS_AND_CLASSES = re.compile(r"[.#][^ ]*")

Column = NDArray[np.float32]


class OutcomeGroups:
    """The sum of the outcomes of each group's pages, and their number.

    >>> groups = OutcomeGroups(10)
    >>> groups.add(np.array([3, 0]), 1.5)
    >>> lift(*groups.look_up(np.array([3, 4])), mean=.5).tolist()
    [0.25, 0.0]
    """

    def __init__(self, count: int) -> None:
        self.totals = np.zeros((count, 2), np.float32)  # sum and number of each group

    def add(self, groups: NDArray[np.integer], outcome: float, pages: int = 1) -> None:
        """Add a page to some groups, to each of them once."""
        self.totals[groups] += np.array((outcome, pages), np.float32)
        self.totals[0] = 0.0

    def clear_sums(self) -> None:
        """Forget the outcomes, but not the numbers of pages."""
        self.totals[:, 0] = 0.0

    def add_outcomes(self, groups: NDArray[np.int32], outcomes: NDArray[np.float64]) -> None:
        """Add outcomes of pages that are counted already: a line of groups for each."""
        groups = np.sort(groups, axis=1)
        groups[:, 1:][groups[:, 1:] == groups[:, :-1]] = 0  # each group once, as in `add`
        np.add.at(self.totals[:, 0], groups, outcomes.astype(np.float32)[:, None])
        self.totals[0] = 0.0

    def look_up(self, groups: NDArray[np.integer]) -> tuple[Column, Column]:
        """Return the sums and the numbers of some groups."""
        # Both at once, as one number of eight bytes: four times as fast as line by line.
        pairs = self.totals.view(np.uint64).take(groups).view(np.float32)
        return pairs[..., 0::2], pairs[..., 1::2].copy()

    def lift_of_words(self, words: NDArray[np.integer], mean: float) -> Column:
        """Return the sum of the lifts of each text's words; `words` has a column for each text."""
        lifts = lift(*self.look_up(words), mean)
        pairs = lifts[0:8:2] + lifts[1:8:2]  # eight words two by two, which keeps the rounding error small
        fours = pairs[0::2] + pairs[1::2]
        total: Column = fours[0] + fours[1]
        for more in lifts[8:]:
            total += more
        return total


def lift(sums: Column, counts: Column, mean: float, shrink: float = SHRINK) -> Column:
    """Return how much better than the mean the pages of each group are, shrunk towards 0 while they are few."""
    lifts: Column = (sums - np.float32(mean) * counts) / (counts + np.float32(shrink))
    return lifts


class LinkPlaces:
    """Groups of the paths of tags to links: on one host, those with equal tags, ids and classes, and with equal tags.

    >>> places = LinkPlaces()
    >>> item, other = places.groups("a.test", "ul.menu li a"), places.groups("a.test", "ul.list li a")
    >>> item[0] == other[0], item[1] == other[1], places.groups("b.test", "ul.menu li a") == item
    (False, True, False)
    >>> places.groups("a.test", "")
    (0, 0)
    """

    def __init__(self) -> None:
        self._cache: dict[tuple[str, str], tuple[int, int]] = {}

    def groups(self, host: str, path: str) -> tuple[int, int]:
        """Return the group of a path on the pages of a host, and that of its tags alone; 0 without a path."""
        if not path:
            return 0, 0
        groups = self._cache.get((host, path))
        if groups is None:
            if len(self._cache) >= 10_000:
                self._cache.clear()
            tags = _IDS_AND_CLASSES.sub("", path)
            groups = PLACES + _slot(f"{host} {path}"), PLACES + PLACE_SLOTS + _slot(f"{host} {tags}")
            self._cache[host, path] = groups
        return groups


def _slot(text: str) -> int:
    return 1 + crc32(text.encode("utf-8", "replace")) % (PLACE_SLOTS - 1)
