"""How the server is: for those who watch it."""

from __future__ import annotations

import json
import math
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from lycosa.core.errors import LycosaError
from lycosa.people.migrating import version
from lycosa.server.metrics import Labels, family
from lycosa.server.site import Site, site_of
from lycosa.server.who import Person, needs, open_to_all
from lycosa.version import __version__

router = APIRouter(tags=["server"])

SILENT = 10.0
"""Seconds after which a process that does not beat is thought to be away."""


class Health(BaseModel):
    """Whether both processes and the database are there."""

    status: str
    database: bool
    crawl_process: bool
    version: str


class Process(BaseModel):
    """A process, and when it was last heard of."""

    name: str
    pid: int
    started: float
    beat: float
    told: dict[str, Any]


class Queue(BaseModel):
    """How many crawls wait and run."""

    queued: int
    running: int


class Server(BaseModel):
    """How it is run."""

    version: str
    schema_version: int
    database: str
    url: str
    limits: dict[str, float]
    processes: list[Process]
    queue: Queue


@router.get("/health")
def health(request: Request, _: None = open_to_all()) -> Health:
    """Whether all is well; `degraded` if the database or the crawl process is away. Always 200: one was answered."""
    site = site_of(request)
    there, beating = True, False
    try:
        row = site.database.row("SELECT MAX(beat) AS beat FROM process WHERE name <> 'web'")
        beating = bool(row and row["beat"] is not None and abs(site.clock() - row["beat"]) < SILENT)
    except LycosaError:
        there = False
    return Health(
        status="ok" if there and beating else "degraded", database=there, crawl_process=beating, version=__version__
    )


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request, _: Person = needs("metrics")) -> Response:
    """Counts and gauges for Prometheus, in its text form."""
    site = site_of(request)
    text = request.app.state.metrics.text() + of_database(site)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/server")
def server(request: Request, _: Person = needs("admin")) -> Server:
    """Limits, processes, and the queue."""
    site = site_of(request)
    settings = site.settings
    states = _states(site)
    return Server(
        version=__version__,
        schema_version=version(site.database),
        database="postgresql" if settings.database else "sqlite",
        url=settings.base,
        limits={
            name: getattr(settings, name)
            for name in ("crawls", "crawls_per_person", "max_budget", "max_interests", "concurrency", "delay")
        },
        processes=[Process(**row | {"told": _told(row["told"])}) for row in _processes(site)],
        queue=Queue(queued=states.get("queued", 0), running=states.get("running", 0)),
    )


def of_database(site: Site) -> str:
    """What the database knows: crawls, people, processes."""
    now = site.clock()
    states = dict.fromkeys(("queued", "running", "paused", "stopped", "finished", "failed"), 0) | _states(site)
    sums = site.database.row("SELECT COALESCE(SUM(pages), 0) AS pages, COALESCE(SUM(found), 0) AS found FROM crawl")
    people = site.database.row("SELECT COUNT(*) AS people FROM person")
    processes = _processes(site)
    told: list[tuple[Labels, float]] = [
        ((("process", row["name"]), ("what", name)), value)
        for row in processes
        for name, value in sorted(_told(row["told"]).items())
        if isinstance(value, int | float) and math.isfinite(value)
    ]
    return (
        family("lycosa_crawls", "gauge", "Crawls by state.", [((("state", s),), n) for s, n in sorted(states.items())])
        + family("lycosa_queue_length", "gauge", "Crawls that wait for their turn.", [((), states["queued"])])
        + family("lycosa_pages", "gauge", "Pages of all crawls that are kept.", [((), (sums or {})["pages"])])
        + family("lycosa_found", "gauge", "Those of them on their topic.", [((), (sums or {})["found"])])
        + family("lycosa_people", "gauge", "Accounts.", [((), (people or {})["people"])])
        + family(
            "lycosa_process_silent_seconds",
            "gauge",
            "Seconds since a process was last heard of.",
            [((("process", row["name"]),), max(0.0, now - row["beat"])) for row in processes],
        )
        + family("lycosa_process_told", "gauge", "Numbers that a process gives of itself.", told)
    )


def _states(site: Site) -> dict[str, int]:
    return {r["state"]: r["n"] for r in site.database.rows("SELECT state, COUNT(*) AS n FROM crawl GROUP BY state")}


def _processes(site: Site) -> list[dict[str, Any]]:
    return site.database.rows("SELECT name, pid, started, beat, told FROM process ORDER BY name")


def _told(text: str) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
