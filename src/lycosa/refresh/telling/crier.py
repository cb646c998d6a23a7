"""The telling as a task beside a crawl: at once when there is news, and whenever a target can be tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from lycosa.core.protocols import Clock
from lycosa.refresh.telling.herald import Herald

LULL = 5.0
"""Seconds between news and telling: changes that come together are told together."""

LONGEST = 3600.0
"""Seconds that it sleeps at most: the clock may have been set."""

GRACE = 20.0
"""Seconds that the last telling may take: people want to stop."""


class Crier:
    """`start`, `news` when something was recorded, `close` at the end. What isn't told by then, the next run tells."""

    def __init__(self, herald: Herald, clock: Clock, say: Callable[[str], None]) -> None:
        self.herald, self.clock, self.say = herald, clock, say
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin with what an earlier run left untold."""
        self._task = asyncio.ensure_future(self._run())

    def news(self) -> None:
        """Something was recorded that people may want to know."""
        self._news.set()

    async def _run(self) -> None:
        while True:
            await self._tell()
            wait = min(max(0.0, self.herald.next_attempt() - self.clock()), LONGEST)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):  # wait_for forgets that it was cancelled if news come just then
                    await self._news.wait()
            if self._news.is_set():
                await asyncio.sleep(LULL)
                self._news.clear()

    async def _tell(self) -> None:
        for note in await self.herald.tell():
            self.say(note)

    async def close(self) -> None:
        """Tell what is left, once, and let go."""
        try:
            if self._task is not None:
                self._task.cancel()
                with suppress(asyncio.CancelledError):
                    await self._task
            with suppress(TimeoutError):  # what is cut off is told by the next run, under the same id
                async with asyncio.timeout(GRACE):
                    await self._tell()
        finally:
            self.herald.close()
