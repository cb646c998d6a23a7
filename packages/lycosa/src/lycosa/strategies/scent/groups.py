"""Groups of links that share a word, directory, host or place on the page, and the outcomes of their pages.

Groups are numbered by hash, so that memory does not grow with the crawl; number 0 means no group.
"""

from __future__ import annotations

import re
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.strategies.scent.link_words import SLOTS

SHRINK = 3.0  # number of pages at which the lift or mean of a group is halfway between its own and the overall one
PLACE_SLOTS = 1 << 16
DIRECTORIES, HOSTS, PLACES = SLOTS, 2 * SLOTS, 3 * SLOTS  # first group of each kind; groups of anchor words are below
LINK_GROUPS = PLACES + 2 * PLACE_SLOTS
_IDS_AND_CLASSES = re.compile(r"[.#][^ ]*")

Column = NDArray[np.float32]


class OutcomeGroups:
    """Sum of outcomes and number of pages of each group.

    >>> groups = OutcomeGroups(10)
    >>> groups.add(np.array([3, 0]), 1.5)
    >>> lift(*groups.look_up(np.array([3, 4])), mean=.5).tolist()
    [0.25, 0.0]
    """

    def __init__(self, count: int) -> None:
        self.totals = np.zeros((count, 2), np.float32)  # outcome sum and page count of each group

    def add(self, groups: NDArray[np.integer], outcome: float, pages: int = 1) -> None:
        """Add the outcome of a page to groups, once to each."""
        self.totals[groups] += np.array((outcome, pages), np.float32)
        self.totals[0] = 0.0

    def clear_sums(self) -> None:
        """Reset the outcome sums, but keep the page counts."""
        self.totals[:, 0] = 0.0

    def add_outcomes(self, groups: NDArray[np.int32], outcomes: NDArray[np.float64]) -> None:
        """Add outcomes of pages that are already counted; `groups` has a row per page."""
        groups = np.sort(groups, axis=1)
        groups[:, 1:][groups[:, 1:] == groups[:, :-1]] = 0  # add to repeated groups once, as `add` does
        np.add.at(self.totals[:, 0], groups, outcomes.astype(np.float32)[:, None])
        self.totals[0] = 0.0

    def look_up(self, groups: NDArray[np.integer]) -> tuple[Column, Column]:
        """Return the outcome sums and page counts of groups."""
        # Both at once, as an 8-byte integer, which is four times as fast as indexing rows.
        pairs = self.totals.view(np.uint64).take(groups).view(np.float32)
        return pairs[..., 0::2], pairs[..., 1::2].copy()

    def lift_of_words(self, words: NDArray[np.integer], mean: float) -> Column:
        """Return the sum of the lifts of the words of each text; `words` has a column per text."""
        lifts = lift(*self.look_up(words), mean)
        pairs = lifts[0:8:2] + lifts[1:8:2]  # pairwise sum of the first eight words, which keeps rounding errors small
        fours = pairs[0::2] + pairs[1::2]
        total: Column = fours[0] + fours[1]
        for more in lifts[8:]:
            total += more
        return total


def lift(sums: Column, counts: Column, mean: float, shrink: float = SHRINK) -> Column:
    """Return the mean outcome of each group minus the overall mean, shrunk towards 0 while it has few pages."""
    lifts: Column = (sums - np.float32(mean) * counts) / (counts + np.float32(shrink))
    return lifts


class LinkPlaces:
    """Groups of tag paths to links on a host: one by the path with ids and classes, one by the tags alone.

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
        """Return the group of a tag path on a host, and that of its tags alone; 0 without a path."""
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
