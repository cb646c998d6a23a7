"""What shards and coordinator say to each other: plain values, whoever carries them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np


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


Sums = dict[str, Any]
"""What a part has learned, as sums: numbers of groups, a line of sums for each, and what is summed over all pages."""


def added_up(parts: list[Sums]) -> Sums:
    """The sums of several shards as one; empty for none.

    >>> one = {"groups": np.array([2, 5]), "sums": np.ones((2, 2), np.float32), "pages": np.array([3.0])}
    >>> both = added_up([one, {"groups": np.array([5]), "sums": np.ones((1, 2), np.float32), "pages": np.array([1.0])}])
    >>> both["groups"].tolist(), both["sums"][:, 0].tolist(), both["pages"].tolist()
    ([2, 5], [1.0, 2.0], [4.0])
    """
    if not parts:
        return {}
    groups, place = np.unique(np.concatenate([part["groups"] for part in parts]), return_inverse=True)
    sums = np.zeros((len(groups), parts[0]["sums"].shape[1]), np.float32)
    np.add.at(sums, place, np.concatenate([part["sums"] for part in parts]))
    return {"groups": groups.astype(np.int32), "sums": sums, "pages": np.sum([part["pages"] for part in parts], axis=0)}
