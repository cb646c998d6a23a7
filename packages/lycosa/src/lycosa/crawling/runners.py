"""Runners: they run a crawl elsewhere than in this process, for `--cluster`. Installed packages bring them."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lycosa.core.budget import Budget
from lycosa.core.errors import InputError
from lycosa.core.plugins import missing, named
from lycosa.core.types import Label
from lycosa.crawling.request import CrawlRequest
from lycosa.store.directory import SHARDS, shard_directories

T = TypeVar("T")

RAY = "ray"  # runs crawls where WHERE names no other runner


class RemoteCrawl(Protocol):
    """A crawl that a runner runs; iterate over it until it has ended."""

    path: Path
    notes: list[str]
    progress: dict[str, Any]
    """So far: pages, relevant, requests."""
    budget: Budget
    """May grow while the crawl runs."""
    told: dict[str, Any]
    """How the run ended, as in the log."""
    shards: int
    """Parts that run at the same time; 0 until they are started."""
    ending: str
    complaint: str
    """Why requests failed, if they did."""

    def stop(self) -> None:
        """End after what is in flight has arrived."""

    def __aiter__(self) -> AsyncGenerator[Any, None]: ...

    async def add_labels(self, labels: Sequence[Label]) -> bool:
        """Pass labels on to all parts; False if some of them could not take them."""

    async def tell(self, look: Callable[[Any], T]) -> list[T]:
        """Call a function with the engine of each part, and return the results."""

    async def close(self) -> None:
        """Let go of where it ran."""


class RemoteHosts(Protocol):
    """Processes that run parts of many crawls, as a server needs."""

    count: int
    """Of processes; 0 until they are open."""

    async def open(self) -> None:
        """Start them, unless they run; an error says why that can't be done."""

    def crawl(self, request: CrawlRequest) -> RemoteCrawl:
        """Return a crawl, new or resumed, that runs there."""

    async def close(self) -> None:
        """End them."""


class Runner(Protocol):
    """A class with these methods, made with WHERE of `--cluster`; one that is misspelt is an InputError."""

    def __init__(self, where: str) -> None: ...

    def check(self) -> None:
        """Refuse now what could not be used later."""

    def hosts(self, most: int, note: Callable[[str], None]) -> RemoteHosts:
        """Return hosts for many crawls, each with so many requests in flight; an operator should see the notes."""

    def crawl(self, request: CrawlRequest) -> RemoteCrawl:
        """Return a crawl, new or resumed, on hosts of its own. What can't run there is an InputError."""

    def bring_together(self, directory: Path) -> None:
        """Bring the directory's own log up to where its shards are."""

    def join(self, directory: Path) -> None:
        """The same, and then make it a plain crawl, without shards."""


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
    if _has_shards(directory):
        runner_of(directory).join(directory)


def bring_shards_together(directory: Path) -> None:
    """Bring the log of a crawl that does not run up to where its shards are, if it has any."""
    if _has_shards(directory):
        runner_of(directory).bring_together(directory)


def _has_shards(directory: Path) -> bool:
    return bool(shard_directories(directory)) or (directory / f"{SHARDS}.old").exists()
