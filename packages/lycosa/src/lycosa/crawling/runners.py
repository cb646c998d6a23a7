"""Runners: they run a crawl elsewhere than in this process, for `--cluster`. Installed packages bring them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

from lycosa.core.errors import InputError
from lycosa.core.plugins import missing, named
from lycosa.crawling.request import Request
from lycosa.store.directory import SHARDS, shards_of

RAY = "ray"  # runs crawls where WHERE names no other runner


class RemoteCrawl(Protocol):
    """A crawl that a runner runs; iterate over it until it has ended."""

    path: Path
    notes: list[str]
    progress: dict[str, Any]
    """So far: pages, relevant, requests."""
    shards: int
    """Parts that run at the same time; 0 until they are started."""
    ending: str
    complaint: str
    """Why requests failed, if they did."""

    def stop(self) -> None:
        """End after what is in flight has arrived."""

    def __aiter__(self) -> AsyncIterator[Any]: ...

    async def close(self) -> None:
        """Let go of where it ran."""


class Runner(Protocol):
    """A class with these methods, made with WHERE of `--cluster`; one that is misspelt is an InputError."""

    def __init__(self, where: str) -> None: ...

    def crawl(self, request: Request) -> RemoteCrawl:
        """Return a crawl, new or resumed. What can't run there is an InputError."""

    def join(self, directory: Path) -> None:
        """Bring all that shards have recorded into the directory's own log, which is a plain crawl's then."""


def runner(where: str, what: str = "--cluster") -> Runner:
    """Return the runner that WHERE begins with, or else Ray's; `what` needs it, for the message if it is missing."""
    added, first = named("runners"), re.split(r"\W", where)[0]
    name = first if first in added else RAY
    if name not in added:
        raise missing("runners", RAY, what) or InputError(f"there is no runner {RAY}")
    made: Runner = added[name].load()(where)
    return made


def runner_of(directory: Path) -> Runner:
    """Return the runner of a crawl that ran on a cluster."""
    return runner("local", f"{directory} was crawled on a cluster, which")


def join_shards(directory: Path) -> None:
    """Make a plain crawl of one that ran on a cluster, perhaps broken off while it was shared out."""
    if shards_of(directory) or (directory / f"{SHARDS}.old").exists():
        runner_of(directory).join(directory)
