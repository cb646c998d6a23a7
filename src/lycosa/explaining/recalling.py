"""A crawl as its log tells it: put together as for `resume`, but only to be looked at.

Nothing is written, nothing is sent, and nobody is locked out: it works beside a running crawl.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from lycosa.core.engine import Engine
from lycosa.core.types import Event
from lycosa.crawling.assembly import assemble
from lycosa.crawling.files import Files
from lycosa.crawling.request import Request
from lycosa.explaining.standing import rankings
from lycosa.explaining.witness import Witness
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.store.snapshots import Snapshots

Watch = Callable[[Engine, int, Event], None]
"""Hears of each event and its number before the engine folds it."""


class ReadLog(SqliteLog):
    """A log that takes no more events: what is appended is forgotten."""

    def append(self, event: Event) -> None:
        """Forget it."""

    def rate(self, worths: NDArray[Any]) -> None:
        """Forget them."""

    @contextmanager
    def together(self) -> Iterator[None]:
        """As one."""
        yield


class ReadFiles(Files):
    """A crawl's files as they are: only the log is looked at. `watch` hears of its events."""

    readonly = True

    def __init__(self, request: Request, watch: Callable[[int, Event], None], until: float) -> None:
        super().__init__(request)
        self.watch, self.until = watch, until

    def open(self) -> None:
        assert self.request.path is not None
        self.log = ReadLog(self.request.path / NAME, readonly=True)
        self.snapshots = Snapshots(self.request.path)

    def events(self, after: int = 0) -> Iterator[Event]:
        assert isinstance(self.log, SqliteLog)
        for seq, event in self.log.numbered("seq > ?", given=(after,)):
            self.watch(seq, event)
            yield event


def recalled(path: Path, **own: Any) -> Request:
    """The request of the crawl in a directory; one with a topic, strategy or space of your own needs it again."""
    # A proxy is knocked at before a crawl begins; here it is not needed, and may be gone.
    return Request(replace(Directory.read_options(path), proxy="", proxy_ca=""), path, resuming=True, **own)


def recall(
    request: Request,
    watch: Watch = lambda engine, seq, event: None,
    witness: Witness | None = None,
    until: float = math.inf,
) -> Engine:
    """Fold the log; the engine is not to be run. A request is good for one time.

    A `witness` hears what the strategy learns. Where there is a snapshot, only what came after it is folded; `until` is
    the last event that need not be watched.
    """
    if asyncio._get_running_loop() is None:
        return asyncio.run(_recall(request, watch, witness, until))
    with ThreadPoolExecutor(1) as pool:  # in a notebook, a loop is running here already
        return pool.submit(asyncio.run, _recall(request, watch, witness, until)).result()


async def _recall(request: Request, watch: Watch, witness: Witness | None, until: float) -> Engine:
    files = ReadFiles(request, lambda seq, event: watch(assembly.engine, seq, event), until)
    try:
        assembly = await assemble(request, files)
        for ranking in rankings(assembly.engine) if witness is not None else ():
            if witness is not None and witness.attend(ranking.estimator):
                files.until = 0  # all of it has to be heard
        await assembly.take_up()
    finally:
        if request.space is not None:
            await request.space.close()
        files.close()
    return assembly.engine
