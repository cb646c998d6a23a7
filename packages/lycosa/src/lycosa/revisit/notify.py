"""Notifications of changes: feed files in the crawl's directory, and messages through apprise.

Apprise bypasses the address guard, so its URLs come from the command line, crawl.toml or the operator of a server,
never from a member of a server.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from string import Template
from typing import Any

from lycosa.core.durations import parse_duration
from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import atomic_write, read_whole
from lycosa.core.options import Options
from lycosa.revisit.change import KINDS
from lycosa.revisit.feeds import Feeds
from lycosa.revisit.ledger import (
    ChangeFilter,
    Excerpt,
    LoggedChange,
    changes,
    day_and_time,
    end,
    format_counts,
    name,
    nothing,
    plain_line,
    story,
)
from lycosa.store.log import SqliteLog

NAME = "notified.json"


class Channel:
    """One apprise URL; `$NAME` in it is replaced by an environment variable."""

    def __init__(self, address: str) -> None:
        try:
            from apprise import Apprise, OverflowMode

            address = Template(address).substitute(os.environ)
        except ImportError as error:
            raise InputError("missing-package", "--notify needs apprise: pip install 'lycosa[notify]'") from error
        except (KeyError, ValueError) as error:
            message = f"--notify: the environment variable {error} is not set; write $$ for a dollar"
            raise InputError("missing-variable", message) from error
        logging.getLogger("apprise").addHandler(logging.NullHandler())
        self._apprise = Apprise()
        if not self._apprise.add(address):  # the URL is not part of the message, because it may contain a password
            raise InputError("bad-notify", "--notify: apprise does not know this kind of URL; use mailto://...")
        plugin: Any = self._apprise[0]
        if "overflow=" not in address:
            plugin.overflow_mode = OverflowMode.TRUNCATE  # send a single message of any length
        self.key = hashlib.sha256(address.encode("utf-8", "backslashreplace")).hexdigest()[:24]
        self.name = str(plugin.url(privacy=True)).partition("?")[0]

    async def send(self, title: str, body: str) -> str:
        """Send a message; return the reason of a failure, or an empty string."""
        return await asyncio.to_thread(self._send, title, body)

    def _send(self, title: str, body: str) -> str:
        from apprise import LogCapture

        with LogCapture(level=logging.WARNING, fmt="%(message)s") as log:  # type: ignore[no-untyped-call]
            sent = self._apprise.notify(title=title, body=body, body_format="text")
            return "" if sent else plain_line(log.getvalue(), 200).rstrip(".") or "it failed"


def channels_of(addresses: Iterable[str]) -> list[Channel]:
    return [Channel(address) for address in dict.fromkeys(addresses)]


def wanted_by(options: Options) -> ChangeFilter:
    kinds = tuple(kind for kind in KINDS if kind in options.tell_kinds)
    if unknown := set(options.tell_kinds) - set(KINDS):
        raise InputError("unknown-name", f"--tell-kind is {min(unknown)!r}: it must be one of {', '.join(KINDS)}")
    return ChangeFilter(kinds=kinds, at_least=options.tell_at_least, cosmetic="cosmetic" in kinds)


class Notifier:
    """Sender of feeds and messages of a running crawl: `start`, `news` when a change was recorded, `close` at the end.

    Errors are passed to `say` and never end the crawl. `notified.json` holds the last event that each channel was
    notified of; a message that could not be sent becomes part of the next one.
    """

    def __init__(
        self, directory: Path, log: SqliteLog, options: Options, say: Callable[[str], None], excerpt: Excerpt = nothing
    ) -> None:
        self.log, self.title, self.say, self.excerpt = log, options.subject, say, excerpt
        self.channels, self.every = channels_of(options.notify), parse_duration(options.notify_every, "--notify-every")
        self.wanted = wanted_by(options)
        feeds = Feeds(directory, log, title=self.title, wanted=self.wanted, address=options.feed_url, excerpt=excerpt)
        self.feeds = feeds if options.feeds else None
        self._file, last, known = directory / NAME, end(log), {}
        with suppress(OSError, ValueError):
            known = dict(json.loads(read_whole(self._file, 1_000_000)))
        self._notified = {channel.key: min(int(known.get(channel.key, last)), last) for channel in self.channels}
        self._news, self._sending = asyncio.Event(), asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._save()
        self._tasks = [asyncio.create_task(self._keep_feeds()), asyncio.create_task(self._keep_sending())]

    def news(self) -> None:
        self._news.set()

    async def _keep_feeds(self) -> None:
        while True:
            self._write_feeds()
            await self._news.wait()
            await asyncio.sleep(5)  # batch changes that arrive together
            self._news.clear()

    async def _keep_sending(self) -> None:
        while True:
            await asyncio.sleep(self.every)
            await self.send()

    def _write_feeds(self) -> None:
        try:
            if self.feeds is not None:
                self.feeds.write()
        except StoreError as error:
            self.say(str(error))

    async def send(self) -> None:
        """Send each channel one message with all changes since its last."""
        async with self._sending:
            for channel in self.channels:
                last, items, tally = end(self.log), list[LoggedChange](), Counter[str]()
                for item in changes(self.log, after=self._notified[channel.key], upto=last, wanted=self.wanted):
                    tally[item.change.what] += 1
                    items += [item] if len(items) < 50 else []  # further changes are only counted
                if items and (failure := await channel.send(*self.message(items, tally))):
                    self.say(f"{channel.name}: {failure}; retried with the next changes")
                    continue
                self._notified[channel.key] = last
                self._save()

    def message(self, items: list[LoggedChange], tally: Counter[str]) -> tuple[str, str]:
        title, more = plain_line(self.title, 100), tally.total() - len(items)
        blocks = [
            "\n".join((name(it), plain_line(it.url, 2_000), story(it, self.excerpt(it)), day_and_time(it.at)))
            for it in items
        ]
        blocks += [f"And {more:,} more: 'lycosa changes' lists them."] if more else []
        return f"{format_counts(tally)}: {title}" if title else format_counts(tally), "\n\n".join(blocks)

    def _save(self) -> None:
        if not self.channels:
            return
        try:
            with atomic_write(self._file) as file:
                file.write(json.dumps(self._notified).encode())
        except OSError as error:
            self.say(f"cannot write {self._file}: {error.strerror}; free some space")

    async def close(self) -> None:
        """Write the feeds and send remaining messages; after a timeout the next run sends them."""
        with suppress(TimeoutError):
            async with asyncio.timeout(20):
                async with self._sending:  # wait for a message being sent instead of cancelling it
                    for task in self._tasks:
                        task.cancel()
                self._write_feeds()
                await self.send()
