"""How a crawl is going: what the crawl process says of it each second, and what its pages add up to."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from lycosa.collection.view import CrawlView, Harvest
from lycosa.core.jsontext import read_json
from lycosa.server import messages
from lycosa.server.api.crawls import Crawl
from lycosa.server.crawler.live import NAME, STALE

HOSTS = 100
IN_FLIGHT = 100
LARGEST = 2_000_000


class Flight(BaseModel):
    """A request that is under way."""

    url: str
    since: float


class HostNow(BaseModel):
    """One host: what it gave, and when it may be asked again."""

    host: str
    pages: int
    found: int
    state: str
    ready_in: float | None
    why: str
    in_flight: int
    waiting: int


class Failure(BaseModel):
    """One cause of failures, in words."""

    cause: str
    count: int
    meaning: str
    example: str
    outcome: str


class Progress(BaseModel):
    """How a crawl is going."""

    crawl: Crawl
    seq: int
    rate: float
    frontier: int | None
    in_flight: list[Flight]
    errors: list[Failure]
    hosts: list[HostNow]
    curve: Harvest | None = None


@dataclass(slots=True)
class Live:
    """What the crawl process says; empty for a crawl that is not running."""

    frontier: int | None = None
    in_flight: list[Flight] = field(default_factory=list)
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, directory: Path, now: float) -> Live:
        """Read it, whatever state it is in."""
        try:
            with open(directory / NAME, "rb") as file:
                data = read_json(file.read(LARGEST), LARGEST)
            if not isinstance(data, dict) or not now - STALE <= float(data["at"]) <= now + STALE:
                return cls()
            flights = [Flight(url=str(one["url"]), since=float(one["since"])) for one in data["in_flight"][:IN_FLIGHT]]
            return cls(int(data["frontier"]), flights, {str(one["host"]): dict(one) for one in data["hosts"]})
        except (OSError, ValueError, KeyError, TypeError):
            return cls()


def progress_of(view: CrawlView, crawl: Crawl, now: float, *, curve: bool) -> Progress:
    """All of it, of a view that is up to date; the curve only if it is asked for."""
    live = Live.read(view.path, now)
    harvest = view.harvest() if curve else None
    with view.lock:
        failures = _failures(view)
        hosts = _hosts(view, live, now)
        seq = view.seq
    return Progress(
        crawl=crawl,
        seq=seq,
        rate=view.rate(now),
        frontier=live.frontier,
        in_flight=live.in_flight,
        errors=failures,
        hosts=hosts,
        curve=harvest,
    )


def _failures(view: CrawlView) -> list[Failure]:
    """What went wrong, the most frequent first; causes that a reader can't tell apart are one."""
    found: dict[str, Failure] = {}
    for cause in view.tally.causes.values():
        name = messages.cause(cause.kind, cause.outcome, cause.name)
        if name in found:
            found[name].count += cause.count
            continue
        found[name] = Failure(
            cause=name,
            count=cause.count,
            meaning=messages.advice(cause.outcome, cause.advice),
            example=cause.examples[0][0] if cause.examples else "",
            outcome=cause.outcome,
        )
    return sorted(found.values(), key=lambda failure: -failure.count)


def _hosts(view: CrawlView, live: Live, now: float) -> list[HostNow]:
    """Hosts that are asked now come first, then those that wait, then the most fruitful."""
    ranked = [((-host.relevant, -host.pages), host.name) for host in view.hosts() if host.pages]
    ranked = heapq.nsmallest(HOSTS, ranked)  # there may be thousands
    names = dict.fromkeys([*live.hosts, *(name for _, name in ranked)])
    found = [_host(view, name, live.hosts.get(name, {}), now) for name in names]
    found.sort(key=lambda host: (-host.in_flight, -min(host.waiting, 1), -host.found, -host.pages, host.host))
    return found[:HOSTS]


def _host(view: CrawlView, name: str, told: dict[str, Any], now: float) -> HostNow:
    known = view.tally.hosts.get(name)
    try:
        flights, waiting = int(told.get("in_flight") or 0), int(told.get("waiting") or 0)
        ready = max(0.0, float(told["ready_at"]) - now) if told.get("ready_at") is not None else None
    except (TypeError, ValueError, OverflowError):
        flights, waiting, ready = 0, 0, None
    return HostNow(
        host=name,
        pages=known.pages if known else 0,
        found=known.relevant if known else 0,
        state="asked" if flights else "rests" if ready else "waits" if waiting else "quiet",
        ready_in=round(ready, 2) if ready is not None and ready < math.inf else None,
        why=str(told.get("why") or ""),
        in_flight=flights,
        waiting=waiting,
    )
