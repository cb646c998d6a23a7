"""Health, metrics and server status, for monitoring."""

from __future__ import annotations

import math

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from pydantic import BaseModel

from lycosa.core.errors import LycosaError
from lycosa.version import __version__
from lycosa_server.api import JsonColumn
from lycosa_server.guards import Caller, ServerContext, needs, open_to_all, site_of
from lycosa_server.people.crawls import OVER, UNDER_WAY
from lycosa_server.people.migrating import revision

router = APIRouter(tags=["server"])


class Health(BaseModel):
    status: str
    database: bool
    crawl_process: bool
    version: str


class ProcessHealth(BaseModel):
    name: str
    pid: int
    started: float
    heartbeat: float
    stats: JsonColumn


class QueueHealth(BaseModel):
    queued: int
    running: int


class ServerHealth(BaseModel):
    version: str
    schema_version: str
    database: str
    url: str
    limits: dict[str, float]
    processes: list[ProcessHealth]
    queue: QueueHealth


@router.get("/health")
def health(request: Request, _: None = open_to_all()) -> Health:
    """Return `ok`, or `degraded` if the database or the crawl process does not respond, always with status 200."""
    site = site_of(request)
    database_up, crawler_up = True, False
    try:
        row = site.database.row("SELECT MAX(heartbeat) AS heartbeat FROM process WHERE name <> 'web'")
        crawler_up = bool(row and row["heartbeat"] is not None and abs(site.clock() - row["heartbeat"]) < 10.0)
    except LycosaError:
        database_up = False
    status = "ok" if database_up and crawler_up else "degraded"
    return Health(status=status, database=database_up, crawl_process=crawler_up, version=__version__)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request, person: Caller = needs("metrics")) -> Response:
    """Return metrics in the text format of Prometheus."""
    text = generate_latest(request.app.state.metrics.registry) + generate_latest(_gauges(person.site))
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/server")
def server(person: Caller = needs("admin")) -> ServerHealth:
    """Return limits, processes, and the queue."""
    site, settings = person.site, person.site.settings
    states = _states(site)
    limits = ("crawls", "crawls_per_person", "max_budget", "max_interests", "max_models", "concurrency", "delay")
    return ServerHealth(
        version=__version__,
        schema_version=revision(site.database),
        database="postgresql" if settings.database else "sqlite",
        url=settings.base,
        limits={name: getattr(settings, name) for name in limits},
        processes=_processes(site),
        queue=QueueHealth(queued=states["queued"], running=states["running"]),
    )


def _gauges(site: ServerContext) -> CollectorRegistry:
    states, processes, now, collected = _states(site), _processes(site), site.clock(), CollectorRegistry()
    columns = "COALESCE(SUM(pages), 0) AS pages, COALESCE(SUM(relevant), 0) AS relevant"
    [sums] = site.database.rows(f"SELECT {columns} FROM crawl")

    def gauge(name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(f"lycosa_{name}", meaning, labels, registry=collected)

    gauge("queue_length", "Queued crawls.").set(states["queued"])
    gauge("pages", "Pages of all stored crawls.").set(sums["pages"])
    gauge("relevant_pages", "Relevant pages of all stored crawls.").set(sums["relevant"])
    gauge("people", "Accounts.").set(site.database.count("person"))
    crawls = gauge("crawls", "Crawls by state.", "state")
    for state, number in sorted(states.items()):
        crawls.labels(state).set(number)
    age = gauge("process_heartbeat_age_seconds", "Seconds since the last heartbeat of a process.", "process")
    stat = gauge("process_stat", "Statistics reported by a process.", "process", "name")
    for process in processes:
        age.labels(process.name).set(max(0.0, now - process.heartbeat))
        for name, value in sorted(process.stats.items()):
            if isinstance(value, int | float) and math.isfinite(value):
                stat.labels(process.name, name).set(value)
    return collected


def _states(site: ServerContext) -> dict[str, int]:
    rows = site.database.rows("SELECT state, COUNT(*) AS n FROM crawl GROUP BY state")
    return dict.fromkeys((*UNDER_WAY, *OVER), 0) | {row["state"]: row["n"] for row in rows}


def _processes(site: ServerContext) -> list[ProcessHealth]:
    rows = site.database.rows("SELECT name, pid, started, heartbeat, stats FROM process ORDER BY name")
    return [ProcessHealth(**row) for row in rows]
