"""All who are to be told, as the options name them: one thing to call when there is news.

Telling never ends a watch. What can't be written or delivered now is said, and done the next time: the log has it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path

from lycosa.core.errors import InputError, StoreError
from lycosa.core.options import Options
from lycosa.core.protocols import Clock
from lycosa.refresh.change import KINDS
from lycosa.refresh.ledger import Wanted
from lycosa.refresh.telling.feeds import Feeds
from lycosa.refresh.telling.making import targets_of
from lycosa.refresh.telling.outbox import NAME, Outbox
from lycosa.refresh.telling.words import Excerpt, nothing
from lycosa.store.log import SqliteLog


def wanted_by(options: Options) -> Wanted:
    """Which changes are told."""
    kinds = tuple(kind for kind in KINDS if kind in options.tell_kinds)
    if unknown := set(options.tell_kinds) - set(KINDS):
        raise InputError(f"--tell-kind is {min(unknown)!r}: it has to be one of {', '.join(KINDS)}")
    return Wanted(kinds=kinds, at_least=options.tell_at_least, cosmetic="cosmetic" in kinds)


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
        targets, title = targets_of(options, environment), options.subject
        wanted = wanted_by(options)
        self.feeds = (
            Feeds(directory, log, title=title, wanted=wanted, address=options.feed_url, excerpt=excerpt)
            if options.feeds
            else None
        )
        self.outbox = (
            Outbox(directory / NAME, log, targets, clock, title=title, wanted=wanted, excerpt=excerpt)
            if targets
            else None
        )

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
