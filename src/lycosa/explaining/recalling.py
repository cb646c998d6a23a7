"""A crawl as its log tells it: put together as for `resume`, but only to be looked at.

Nothing is written, nothing is sent, and nobody is locked out: it works beside a running crawl.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from lycosa.core.engine import Engine
from lycosa.core.errors import InputError
from lycosa.core.protocols import Estimator, Log, Space, Strategy, Topic
from lycosa.core.types import Event
from lycosa.crawling import Crawl, _node
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.store.warc import WarcArchive
from lycosa.web.urls import check_seed

Watch = Callable[[int, Event], None]
"""Hears of each event and its number before it is folded."""


class ReadLog(SqliteLog):
    """A log that takes no more events: what is appended is forgotten."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, readonly=True)

    def append(self, event: Event) -> None:
        """Forget it."""

    def rate(self, worths: NDArray[Any]) -> None:
        """Forget them."""

    @contextmanager
    def together(self) -> Iterator[None]:
        """As one."""
        yield


class Recalled(Crawl):
    """The crawl in a directory, brought to where its log ends; one with objects of your own needs them again."""

    def __init__(
        self,
        path: Path,
        *,
        topic: Topic | None = None,
        strategy: Estimator | Strategy | None = None,
        space: Space | None = None,
    ) -> None:
        # A proxy is knocked at before a crawl begins; here it is not needed, and may be gone.
        options = replace(Directory.read_options(path), proxy="", proxy_ca="")
        super().__init__(options, path, topic=topic, guide=strategy, space=space, resuming=True)

    def meant(self, typed: str) -> str | None:
        """The node that a person means, by the rules of the space."""
        return check_seed(typed) if self._space is None else _node(self._space, typed)

    def recall(self, watch: Watch = lambda seq, event: None) -> Engine:
        """Fold the log, once; the engine is not to be run."""
        self._watch = watch
        if asyncio._get_running_loop() is None:
            return asyncio.run(self._recall())
        with ThreadPoolExecutor(1) as pool:  # in a notebook, a loop is running here already
            return pool.submit(asyncio.run, self._recall()).result()

    async def _recall(self) -> Engine:
        try:
            return await self._open()
        finally:
            await self._close()

    def _open_files(self) -> tuple[Log, WarcArchive | None]:
        assert self.path is not None
        self._log = ReadLog(self.path / NAME)
        return self._log, None

    def _remembered(self, log: Log, archive: WarcArchive | None) -> Iterator[Event]:
        assert isinstance(log, SqliteLog)
        for seq, event in log.numbered():
            self._watch(seq, event)
            yield event

    async def _learned(self, space: Space, news: list[Event]) -> dict[str, Any]:
        raise InputError(f"nothing has been crawled in {self.path} yet: start with 'lycosa resume {self.path}'")
