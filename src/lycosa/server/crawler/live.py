"""What a crawl does at this moment, in its directory, for those who watch: written each second.

What it has done is in its log; this is only what no log can tell. A file that is missing, or older than `STALE`,
means that the crawl does not run.
"""

from __future__ import annotations

import json
import os
from heapq import nlargest
from pathlib import Path
from typing import Any

from lycosa.core.engine import Engine
from lycosa.core.frontier import PARKED, WAITING, Lane
from lycosa.web.authority import View

NAME = "live.json"
STALE = 10.0
"""Seconds after which it says nothing any more."""

MOST_HOSTS = 100


def told(engine: Engine, now: float, ahead: float = 0.0) -> dict[str, Any]:
    """The state of an engine in plain data. `ahead`: by how much the time of day is ahead of the engine's clock."""
    politeness = getattr(engine.space, "politeness", None)
    flying = politeness.flying if isinstance(politeness, View) else {}
    since = {request: at for (_, request), at in flying.items()}
    lanes = nlargest(MOST_HOSTS, (lane for lane in engine.frontier.lanes if lane.heap or lane.in_flight), key=_weight)
    return {
        "at": now + ahead,
        "frontier": engine.table.open_rows,
        "in_flight": [
            {"url": task.node, "since": since.get(task.node, now) + ahead} for task in engine.in_flight.values()
        ],
        "hosts": [_host(lane, now, ahead) for lane in lanes],
    }


def _weight(lane: Lane) -> tuple[int, int]:
    return lane.in_flight, len(lane.heap)


def _host(lane: Lane, now: float, ahead: float) -> dict[str, Any]:
    waits = lane.status == WAITING and lane.until > now
    return {
        "host": lane.name,
        "ready_at": lane.until + ahead if waits else None,
        "why": lane.why if waits or lane.status == PARKED else "",
        "in_flight": lane.in_flight,
        "waiting": len(lane.heap),
    }


def write(directory: Path, data: dict[str, Any]) -> None:
    """Put it there, whole; that it survives a power cut is not worth the wait."""
    place = directory / NAME
    temporary = place.with_suffix(".new")
    temporary.write_text(json.dumps(data, ensure_ascii=True), "ascii")
    os.replace(temporary, place)


def remove(directory: Path) -> None:
    """The crawl does not run any more."""
    (directory / NAME).unlink(missing_ok=True)
