"""What shards and coordinator say to each other: plain values, whoever carries them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(slots=True)
class ShardReport:
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
