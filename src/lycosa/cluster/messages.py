"""What shards and coordinator say to each other: plain values, whoever carries them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Pages of a crawl from which all judges learn. In a larger one each stands for others: there are as many again whenever
# the crawl is e times as large.
EXAMPLES = 500
AT_ONCE = 200  # examples in one message
Example = tuple[str, bytes, int]  # page, what judges need of it, for how many pages it stands


@dataclass(slots=True)
class Examples:
    """Some of somebody's examples, from a place of their list on; and how many of the other's list are known here."""

    teller: str = ""  # owner of the list: a new one begins a new list
    begin: int = 0
    told: list[Example] = field(default_factory=list)
    known: int = 0


@dataclass(slots=True)
class Report:
    """How a shard is getting on: all that the coordinator knows of it, so that one that is new knows as much."""

    shard: int
    epoch: int
    pages: int
    requests: int
    bytes: int
    granted_pages: int
    granted_requests: int  # less what it has given back
    promises: list[float] = field(default_factory=list)  # scores of the best rows that it could fetch beyond its grant
    soon: float = -math.inf  # best score of a host that rests, but not for long
    busy: bool = False  # requests are in flight, wait for a host, or are unconfirmed
    relevant: int = 0
    alone: bool = False  # what is left belongs to hosts that asked for a long pause
    version: str = ""
    examples: Examples = field(default_factory=Examples)
    level: float = 0.0  # subtracted from all of these scores, as shards weigh terms differently
    proportional: bool = True  # half the score promises half as much


@dataclass(slots=True)
class Grant:
    """What a shard may do until it hears more."""

    pages: int = 0
    requests: int = 0  # in all
    seconds: float = 0.0  # of the lease, from when the shard asked
    over: str = ""  # why the crawl is over
    total: int = 0  # pages of all shards
    examples: Examples = field(default_factory=Examples)


Sums = dict[str, Any]  # numbers of groups, a line of sums for each, and sums over all pages


class Totals:
    """The sums of all shards as one: each tells all of its own, in place of what it said before.

    >>> totals = Totals()
    >>> totals.tell(0, {"groups": np.array([2, 5]), "sums": np.ones((2, 2), np.float32), "pages": np.array([3.0])})
    >>> totals.tell(1, {"groups": np.array([5]), "sums": np.ones((1, 2), np.float32), "pages": np.array([1.0])})
    >>> totals.tell(2, {"groups": np.array([5]), "sums": np.ones((1, 2), np.float32), "pages": np.array([1.0])})
    >>> others = totals.others(1)
    >>> others["groups"].tolist(), others["sums"][:, 0].tolist(), others["pages"].tolist()
    ([2, 5], [1.0, 2.0], [4.0])
    """

    def __init__(self) -> None:
        self._told: dict[int, Sums] = {}
        self._groups = np.zeros(0, np.int32)  # all that were met, in order
        self._sums: NDArray[np.float64] = np.zeros((0, 2))

    def tell(self, shard: int, sums: Sums) -> None:
        """All that a shard has learned."""
        if before := self._told.pop(shard, None):
            self._sums[self._groups.searchsorted(before["groups"])] -= before["sums"]
        if not sums:
            return
        self._told[shard] = sums
        groups = np.union1d(self._groups, sums["groups"])
        if len(groups) > len(self._groups):
            known, self._sums = self._sums, np.zeros((len(groups), 2))
            self._sums[groups.searchsorted(self._groups)] = known
            self._groups = groups
        self._sums[self._groups.searchsorted(sums["groups"])] += sums["sums"]

    def others(self, shard: int) -> Sums:
        """What all others have learned; empty if nobody has told anything."""
        told = [sums for number, sums in self._told.items() if number != shard]
        if not told:
            return {}
        sums = self._sums.copy()
        if own := self._told.get(shard):
            sums[self._groups.searchsorted(own["groups"])] -= own["sums"]
        some = np.abs(sums).max(axis=1, initial=0.0) > 1e-6  # rounding, where all was taken out of a sum
        pages = np.sum([told_of["pages"] for told_of in told], axis=0)
        groups = self._groups[some].astype(np.int32)
        return {"groups": groups, "sums": sums[some].astype(np.float32), "pages": pages}
