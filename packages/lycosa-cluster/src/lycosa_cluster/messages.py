"""Messages between shards and coordinator: plain values for any transport."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(slots=True)
class ShardReport:
    """Progress of a shard: the coordinator's complete knowledge of it."""

    shard: int
    epoch: int
    pages: int
    requests: int
    bytes: int
    granted_pages: int
    granted_requests: int  # minus those given back
    # priorities of the best rows that it could fetch beyond its grant
    promises: list[float] = field(default_factory=list)
    soon: float = -math.inf  # best priority of a host that rests only briefly
    busy: bool = False  # requests are in flight, wait for a host, or are unconfirmed
    relevant: int = 0
    alone: bool = False  # the remaining hosts asked for a long pause
    version: str = ""
    level: float = 0.0  # subtracted from all of these priorities, because shards weight terms differently
    proportional: bool = True  # half the priority promises half as much


@dataclass(slots=True)
class Grant:
    """Permissions of a shard until the next grant."""

    pages: int = 0
    requests: int = 0  # in total
    seconds: float = 0.0  # length of the lease, from the shard's request on
    over: str = ""  # reason for the end of the crawl
    total: int = 0  # pages of all shards
