"""Runners execute a crawl outside of this process, for `--cluster`; they are provided by plugins."""

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

RAY = "ray"  # the default runner


class RemoteCrawl(Protocol):
    """A crawl executed by a runner; iterate over it until it ends."""

    path: Path
    notes: list[str]
    progress: dict[str, Any]  # number of pages, relevant pages and requests so far
    budget: Budget  # may grow while the crawl runs
    summary: dict[str, Any]  # end-of-run summary, as in the log
    shards: int  # number of parts running in parallel; 0 until they have started
    ending: str
    complaint: str  # most recent reason for failed requests

    def stop(self) -> None:
        pass

    def __aiter__(self) -> AsyncGenerator[Any, None]: ...

    async def add_labels(self, labels: Sequence[Label]) -> bool:
        """Pass labels to all parts; return false if a part could not take them."""

    async def query(self, look: Callable[[Any], T]) -> list[T]:
        """Call a function with the engine of each part of the crawl and return the results."""

    async def close(self) -> None:
        pass


class RemoteHosts(Protocol):
    """Processes that execute parts of many crawls for a server."""

    count: int  # number of processes; 0 until open

    async def open(self) -> None:
        """Start the processes unless running; raise InputError if that fails."""

    def crawl(self, request: CrawlRequest) -> RemoteCrawl:
        """Return a crawl, new or resumed, on these processes."""

    async def close(self) -> None:
        pass


class Runner(Protocol):
    """Interface of runners, created with the value of `--cluster`; raise InputError if it is invalid."""

    def __init__(self, where: str) -> None: ...

    def check(self) -> None:
        """Raise InputError if the runner can't be used."""

    def hosts(self, limit: int, note: Callable[[str], None]) -> RemoteHosts:
        """Return processes for many crawls of up to `limit` requests in flight; `note` gets messages for operators."""

    def crawl(self, request: CrawlRequest) -> RemoteCrawl:
        """Return a crawl, new or resumed, on its own processes; raise InputError if it can't run there."""

    def merge_shards(self, directory: Path) -> None:
        """Update the directory's own log from its shards."""

    def join(self, directory: Path) -> None:
        """Merge the shards into a plain crawl."""


def runner(where: str, noun: str = "--cluster") -> Runner:
    """Return the runner for a `--cluster` value, by default Ray's; `noun` names the feature if it is missing."""
    added, first = named("runners"), re.split(r"\W", where)[0]
    name = first if first in added else RAY
    if name not in added:
        raise missing("runners", RAY, noun) or InputError("missing-package", f"the runner {RAY} is not installed")
    instance: Runner = added[name].load()(where)
    return instance


def runner_of(directory: Path) -> Runner:
    """Return the runner of a crawl that ran on a cluster."""
    return runner("local", f"{directory} was crawled on a cluster, which")


def join_shards(directory: Path) -> None:
    """Convert a crawl that ran on a cluster into a plain one, even if splitting it was interrupted."""
    if _has_shards(directory):
        runner_of(directory).join(directory)


def collect_shards(directory: Path) -> None:
    """Update the log of a stopped crawl from its shards, if it has any."""
    if _has_shards(directory):
        runner_of(directory).merge_shards(directory)


def _has_shards(directory: Path) -> bool:
    return bool(shard_directories(directory)) or (directory / f"{SHARDS}.old").exists()
