"""Logs with changes, for tests of change lists and notifications."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lycosa.core.types import Event, Kind, Outcome, Seed, Setting, Visit
from lycosa.revisit.change import Change
from lycosa.revisit.ledger import REFRESH_SETTING
from lycosa.store.log import NAME, SqliteLog

START = 1_700_000_000.0
"""2023-11-14 22:13:20 UTC."""

HOUR = 3_600.0

REEF = "http://www.reef.example/coral"


def make_log(directory: Path, *events: Event, refreshed: bool = True) -> SqliteLog:
    """Return a log that begins with a refresh, or with a seed."""
    log = SqliteLog(directory / NAME)
    log.append(Setting(REFRESH_SETTING, value=True, at=START) if refreshed else Seed(REEF, START))
    for event in events:
        log.append(event)
    return log


def page(url: str = REEF, at: float = START, title: str = "Coral reefs", relevance: float = 0.5, **more: Any) -> Visit:
    """Return a first visit of a page."""
    return Visit(url, "page", "ok", 1, started=at, ended=at + 1, title=title, relevance=relevance, **more)


def look(
    change: Change | None = None,
    url: str = REEF,
    at: float = START + HOUR,
    outcome: Outcome | None = None,
    *,
    title: str = "Coral reefs",
    relevance: float = 0.5,
    follows: float = START,
    kind: Kind = "revisit",
    origin: str = "",
) -> Visit:
    """Return a revisit with the given change, or an unchanged one."""
    data: dict[str, Any] = {"follows": follows} | ({"change": change.as_data()} if change else {})
    found = outcome or ("ok" if change else "unchanged")
    return Visit(
        url, kind, found, 1, started=at, ended=at + 1, title=title, relevance=relevance, origin=origin, data=data
    )  # fmt: skip


def text(magnitude: float = 0.25) -> Change:
    """Return a change of the text."""
    return Change("changed", "text", magnitude, ["main-text"], ["12 of 48 words are others"])


COSMETIC = Change("changed", "cosmetic", 0.01, ["digest"], ["other bytes"])
VANISHED = Change("vanished", says=["404 Not Found"])
MOVED = Change("moved", target="http://www.reef.example/new")
