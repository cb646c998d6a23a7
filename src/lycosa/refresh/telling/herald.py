"""All who are to be told, as the options name them: one thing to call when there is news.

Telling never ends a watch. What can't be written or delivered now is said, and done the next time: the log has it.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from lycosa.core.durations import seconds
from lycosa.core.errors import InputError, StoreError
from lycosa.core.options import Options
from lycosa.core.protocols import Clock
from lycosa.refresh.change import KINDS
from lycosa.refresh.ledger import Excerpt, Wanted, nothing
from lycosa.refresh.telling.feeds import Feeds
from lycosa.refresh.telling.mail import PASSWORD, Mail, Server
from lycosa.refresh.telling.outbox import NAME, Outbox, Target
from lycosa.refresh.telling.webhook import SECRET, Webhook
from lycosa.store.log import SqliteLog

LULL = 5.0
"""Seconds between news and telling: changes that come together are told together."""

LONGEST = 3600.0
"""Seconds that the crier sleeps at most: the clock may have been set."""

GRACE = 20.0
"""Seconds that the last telling may take: people want to stop."""


def wanted_by(options: Options) -> Wanted:
    """Which changes are told."""
    kinds = tuple(kind for kind in KINDS if kind in options.tell_kinds)
    if unknown := set(options.tell_kinds) - set(KINDS):
        raise InputError(f"--tell-kind is {min(unknown)!r}: it must be one of {', '.join(KINDS)}")
    return Wanted(kinds=kinds, at_least=options.tell_at_least, cosmetic="cosmetic" in kinds)


def targets_of(options: Options, environment: Mapping[str, str] = os.environ) -> list[Target]:
    """Whom to tell. Secrets come from the environment, never from the options: those are written to crawl.toml.

    >>> [t.name for t in targets_of(Options(webhooks=["https://a.example/h"]), {"LYCOSA_WEBHOOK_SECRET": "s"})]
    ['webhook https://a.example/...']
    """
    targets: list[Target] = [Webhook(hook, environment.get(SECRET, "").strip()) for hook in options.webhooks]
    if options.mail_to and not options.smtp:
        raise InputError("--mail-to wants a mail server: name it with --smtp smtp://user@mail.example.org:587")
    # The interval is looked at also where nobody gets mail: it is kept for when somebody does.
    every = seconds(options.digest_every, "--digest-every")
    if options.smtp:
        server = Server(options.smtp, environment.get(PASSWORD, ""))
        targets += [Mail(to, options.mail_from or options.mail_to[0], server, every=every) for to in options.mail_to]
    return list({target.key: target for target in targets}.values())


class Herald:
    """Feeds and outbox of a crawl. Make it before anything is fetched: it refuses targets that can't be."""

    def __init__(
        self,
        directory: Path,
        log: SqliteLog,
        options: Options,
        clock: Clock,
        *,
        excerpt: Excerpt = nothing,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        targets, title, wanted = targets_of(options, environment), options.subject, wanted_by(options)
        self.feeds: Feeds | None = None
        self.outbox: Outbox | None = None
        if options.feeds:
            self.feeds = Feeds(directory, log, title=title, wanted=wanted, address=options.feed_url, excerpt=excerpt)
        if targets:
            self.outbox = Outbox(directory / NAME, log, targets, clock, title=title, wanted=wanted, excerpt=excerpt)

    async def tell(self) -> list[str]:
        """Bring the feeds up to date, and tell every target that is due; what there is to say of it."""
        notes: list[str] = []
        try:
            if self.feeds is not None:
                self.feeds.write()
        except StoreError as error:
            notes.append(str(error))
        try:
            if self.outbox is not None:
                notes += await self.outbox.deliver()
        except StoreError as error:
            notes.append(str(error))
        return notes

    def next_attempt(self) -> float:
        """When to `tell` although there is no news; never, if nobody waits."""
        return self.outbox.next_attempt() if self.outbox is not None else math.inf

    def close(self) -> None:
        """Let go of the files."""
        if self.outbox is not None:
            self.outbox.close()


class Crier:
    """The telling as a task beside a crawl: at once when there is news, and whenever a target can be tried again.

    `start`, `news` when something was recorded, `close` at the end. What isn't told by then, the next run tells.
    """

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
