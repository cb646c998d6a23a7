"""Crawls to learn from: the events of their logs, with the words that these name, and where redirects lead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lycosa.core.errors import DamagedError, InputError
from lycosa.core.telling import Tell
from lycosa.core.types import Event, Visit
from lycosa.store.log import NAME, SqliteLog


def open_log(path: Path) -> SqliteLog:
    """The log of a crawl, to be read."""
    if not (path / NAME).exists():
        raise InputError(f"nothing has been crawled in {path} yet: start with 'lycosa resume {path}'")
    return SqliteLog(path / NAME, readonly=True)


def events_of(path: Path, stems: list[str], tell: Tell) -> Iterator[Event]:
    """The events of a crawl; `stems` grows by the words that each visit brings, before the visit is given."""
    log = open_log(path)
    try:
        for number, event in enumerate(log, 1):
            if isinstance(event, Visit):
                stems += event.terms.new
                if event.is_page and len(event.terms.ids) and event.terms.ids[-1] >= len(stems):
                    raise DamagedError(
                        f"{path / NAME} is damaged: it has words without a name. Restore it from a backup"
                    )
            yield event
            tell("reading the crawl", number, 0)
    finally:
        log.close()


def end_of(target: str, moved: Mapping[str, str]) -> str:
    """Where an address leads, redirects followed; itself if they turn in a circle."""
    node, passed = target, {target}
    while node in moved:
        node = moved[node]
        if node in passed:
            return target
        passed.add(node)
    return node
