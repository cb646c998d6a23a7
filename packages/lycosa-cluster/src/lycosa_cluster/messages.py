"""Messages between shards and coordinator: plain values for any transport."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(slots=True)
class ShardReport:
    """Progress of a shard; the coordinator knows nothing else of it."""

    shard: int
    epoch: int
    pages: int
    requests: int
    bytes: int
    granted_pages: int
    granted_requests: int  # granted requests minus those given back
    # priorities of the best rows that it could fetch beyond its grant
    promises: list[float] = field(default_factory=list)
    soon: float = -math.inf  # best priority of a row whose host pauses only briefly
    busy: bool = False  # requests are in flight, wait for a host, or are unconfirmed
    relevant: int = 0
    alone: bool = False  # all remaining hosts requested a long pause
    version: str = ""
    level: float = 0.0  # subtracted from all of these priorities, because shards weight terms differently
    proportional: bool = True  # half the priority means half the expected relevance


@dataclass(slots=True)
class Grant:
    """Permissions of a shard until its next grant."""

    pages: int = 0
    requests: int = 0  # maximum number of requests in total
    seconds: float = 0.0  # length of the lease, counted from the shard's request
    over: str = ""  # reason for the end of the crawl
    total: int = 0  # pages fetched by all shards
