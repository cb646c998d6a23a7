"""Current state of a crawl, written to a file every second by the crawl process and read by the web process.

It holds only state that is not in the log. If the file is missing or older than MAX_AGE_SECONDS, the crawl is not
running.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from heapq import nlargest
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from lycosa.core.engine import Engine
from lycosa.core.frontier import PARKED, WAITING, HostQueue
from lycosa.web.politeness import PolitenessView

FILE_NAME = "live.json"
MAX_AGE_SECONDS = 10.0  # age at which the crawl counts as stopped
MAX_LISTED = 100  # maximum numbers of hosts and of requests in flight that are listed
Time = Annotated[float, Field(allow_inf_nan=False)]


class InFlightRequest(BaseModel):
    url: str
    since: Time


class LiveHost(BaseModel):
    host: str
    ready_at: Time | None = None
    why: str = ""
    in_flight: int = 0
    waiting: int = 0

    @classmethod
    def of(cls, queue: HostQueue, now: float, ahead: float) -> LiveHost:
        waits = queue.status == WAITING and queue.until > now
        why = queue.why if waits or queue.status == PARKED else ""
        ready = queue.until + ahead if waits else None
        return cls(host=queue.name, ready_at=ready, why=why, in_flight=queue.in_flight, waiting=queue.waiting)


class LiveState(BaseModel):
    at: Time = 0.0
    frontier: int | None = None
    in_flight: list[InFlightRequest] = []
    hosts: list[LiveHost] = []

    @classmethod
    def of(cls, engine: Engine, now: float, ahead: float = 0.0) -> LiveState:
        politeness = getattr(engine.space, "politeness", None)
        flying = politeness.requests if isinstance(politeness, PolitenessView) else {}
        since = {request: at for (_, request), at in flying.items()}
        busy = (queue for queue in engine.frontier.queues if queue.waiting or queue.in_flight)
        queues = nlargest(MAX_LISTED, busy, key=lambda queue: (queue.in_flight, queue.waiting))
        nodes = [one.node for one in engine.in_flight.values()]
        flights = [InFlightRequest(url=node, since=since.get(node, now) + ahead) for node in nodes]
        hosts = [LiveHost.of(queue, now, ahead) for queue in queues]
        return cls(at=now + ahead, frontier=engine.table.open_rows, in_flight=flights[:MAX_LISTED], hosts=hosts)

    @classmethod
    def merged(cls, parts: Sequence[LiveState]) -> LiveState:
        listed = (host for part in parts for host in part.hosts)
        hosts = nlargest(MAX_LISTED, listed, key=lambda host: (host.in_flight, host.waiting))
        flights = [flight for part in parts for flight in part.in_flight][:MAX_LISTED]
        at = max((part.at for part in parts), default=0.0)
        return cls(at=at, frontier=sum(part.frontier or 0 for part in parts), in_flight=flights, hosts=hosts)

    @classmethod
    def read(cls, directory: Path, now: float) -> LiveState:
        try:
            with open(directory / FILE_NAME, "rb") as file:
                live = cls.model_validate_json(file.read(2_000_000))
        except (OSError, ValueError):
            return cls()
        return live if now - MAX_AGE_SECONDS <= live.at <= now + MAX_AGE_SECONDS else cls()

    def write(self, directory: Path) -> None:
        """Replace the file atomically, without waiting for the disk."""
        temporary = directory / f"{FILE_NAME}.new"
        temporary.write_text(json.dumps(self.model_dump()), "ascii")
        os.replace(temporary, directory / FILE_NAME)


def of_shard(engine: Engine) -> LiveState:
    now = engine.clock()
    return LiveState.of(engine, now, time.time() - now)
