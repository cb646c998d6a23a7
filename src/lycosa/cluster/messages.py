"""What shards and coordinator say to each other: plain values, whoever carries them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-6
"""What is left of a sum from which all was taken out."""


EXAMPLES = 500
"""Pages of a crawl that all judges hear of. Of a larger one each stands for others: there are as many again whenever
the crawl is e times as large."""

AT_ONCE = 200
"""Examples in one message, at most."""

Example = tuple[str, bytes, int]
"""A page for judges to learn from: what they need of it, and for how many pages it stands."""


@dataclass(slots=True)
class Examples:
    """Some of somebody's examples, from a place of their list on; and how many of the other's list are known here."""

    teller: str = ""
    """Whose list it is, or was asked for: somebody who is new begins a new one."""
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
    granted_requests: int
    """What it may spend in all by what it was granted, and has not given back."""
    promises: list[float] = field(default_factory=list)
    """The scores of the best rows that it could fetch at once, beyond what it was granted."""
    soon: float = -math.inf
    """The best score of a host that rests, but not for long."""
    busy: bool = False
    """Whether something is in flight, waits for a host, or is not confirmed by its receiver yet."""
    relevant: int = 0
    alone: bool = False
    """Whether what is left belongs to hosts that asked to be left alone for long."""
    version: str = ""
    examples: Examples = field(default_factory=Examples)
    level: float = 0.0
    """What was taken out of all of these scores, as shards weigh terms differently: it has more by so much itself."""
    proportional: bool = True
    """Whether a score that is half of another promises half as much, so that a choosy crawl can compare them."""


@dataclass(slots=True)
class Grant:
    """What a shard may do until it hears more."""

    pages: int = 0
    requests: int = 0
    """In all."""
    seconds: float = 0.0
    """For how long the lease holds, from when the shard asked."""
    over: str = ""
    """Why the crawl is over; empty while it goes on."""
    total: int = 0
    """Pages of all shards together."""
    examples: Examples = field(default_factory=Examples)


Sums = dict[str, Any]
"""What a part has learned, as sums: numbers of groups, a line of sums for each, and what is summed over all pages."""


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
        self._groups = np.zeros(0, np.int32)
        """Those that anybody has met, in order; and the sums of each."""
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
        some = np.abs(sums).max(axis=1, initial=0.0) > ROUNDING
        pages = np.sum([told_of["pages"] for told_of in told], axis=0)
        groups = self._groups[some].astype(np.int32)
        return {"groups": groups, "sums": sums[some].astype(np.float32), "pages": pages}
