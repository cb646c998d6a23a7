"""How a crawl is going: what the crawl process says of it each second, and what its pages add up to."""

from __future__ import annotations

import heapq

from pydantic import BaseModel

from lycosa.collection.view import CrawlView, Harvest
from lycosa.server import messages
from lycosa.server.api.crawls import Crawl
from lycosa.server.crawler.live import Flight, Live, LiveHost

HOSTS = 100


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
            meaning=messages.ADVICE.get(cause.outcome, cause.advice),
            example=cause.examples[0][0] if cause.examples else "",
            outcome=cause.outcome,
        )
    return sorted(found.values(), key=lambda failure: -failure.count)


def _hosts(view: CrawlView, live: Live, now: float) -> list[HostNow]:
    """Hosts that are asked now come first, then those that wait, then the most fruitful."""
    ranked = [((-host.relevant, -host.pages), host.name) for host in view.hosts() if host.pages]
    busy = {host.host: host for host in live.hosts}
    names = dict.fromkeys([*busy, *(name for _, name in heapq.nsmallest(HOSTS, ranked))])  # there may be thousands
    hosts = [_host(view, busy.get(name) or LiveHost(host=name), now) for name in names]
    hosts.sort(key=lambda host: (-host.in_flight, -min(host.waiting, 1), -host.found, -host.pages, host.host))
    return hosts[:HOSTS]


def _host(view: CrawlView, live: LiveHost, now: float) -> HostNow:
    known = view.tally.hosts.get(live.host)
    ready = None if live.ready_at is None else round(max(0.0, live.ready_at - now), 2)
    return HostNow(
        host=live.host,
        pages=known.pages if known else 0,
        found=known.relevant if known else 0,
        state="asked" if live.in_flight else "rests" if ready else "waits" if live.waiting else "quiet",
        ready_in=ready,
        why=live.why,
        in_flight=live.in_flight,
        waiting=live.waiting,
    )
