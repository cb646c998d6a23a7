"""To each target each change, in order: nothing lost, nothing twice.

The log is the queue. What is kept beside it, in `told.sqlite`, is how far each target has got: the number of the last
event that it has acknowledged, and, while a delivery is under way, where that one ends. The latter is committed before
anything is sent, so that a delivery that was cut off by kill -9 is made up of the same changes again, and has the same
id: a target that had it already knows it by that. Everything else is sent once.

A target that is down keeps its place; it is asked again after `pause` seconds, for as long as it takes. A new one
starts at the present end of the log. One that said it wants no more is left alone until the next start.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Protocol
from uuid import uuid5

from lycosa.core.durations import spoken
from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.core.protocols import Clock
from lycosa.refresh.ledger import (
    WHAT_MATTERS,
    Excerpt,
    Told,
    Wanted,
    changes,
    counts,
    end,
    identity,
    nothing,
    plain,
    tally,
)
from lycosa.store.log import SqliteLog, harden

NAME = "told.sqlite"

FIRST, LONGEST = 10.0, 21_600.0
"""Seconds to wait after the first failure at least, and after any at most."""

LATEST = 86_400.0
"""No target is left waiting for longer than this, whatever it or a clock that was wrong has said."""

PATIENCE = 300.0
"""Seconds after which an attempt is given up, if the target itself knows no end."""

EARLY = 0.05
"""Share of its interval that a digest may come early: else a daily one, made by cron, would come every other day."""

WINDOW = 2_000
"""Events to read before others get their turn."""

_FORMAT = 1

_SCHEMA = """
CREATE TABLE target (
    key      TEXT PRIMARY KEY,
    name     TEXT NOT NULL,
    cursor   INTEGER NOT NULL,            -- the last event it has acknowledged
    pending  INTEGER NOT NULL DEFAULT 0,  -- the last event of the delivery under way; 0: none is
    attempts INTEGER NOT NULL DEFAULT 0,  -- that failed, of that delivery
    next     REAL NOT NULL DEFAULT 0,     -- when to try again
    since    REAL NOT NULL,               -- the last success, or when it was first named
    error    TEXT NOT NULL DEFAULT '',
    stopped  INTEGER NOT NULL DEFAULT 0   -- it wants no more
) WITHOUT ROWID;
"""

_COLUMNS = "key, name, cursor, pending, attempts, next, since, error, stopped"


@dataclass(slots=True)
class Standing:
    """How far a target has got; a row of the file."""

    key: str
    name: str
    cursor: int
    pending: int = 0
    attempts: int = 0
    next: float = 0.0
    since: float = 0.0
    error: str = ""
    stopped: int = 0


def pause(delivery: str, failures: int) -> float:
    """Seconds to wait after so many failures in a row: twice as long each time, somewhere in the upper half of that.

    Chance is keyed by delivery and attempt: targets that went down together do not come back together, and a test
    sees the same each time.

    >>> 10 <= pause("a", 1) < 20 <= pause("a", 2) < 40, 10_800 <= pause("a", 5_000) < 21_600
    (True, True)
    """
    longest = min(2 * FIRST * 2.0 ** min(failures - 1, 60), LONGEST)
    digest = hashlib.blake2b(repr((delivery, failures)).encode(), digest_size=8).digest()
    return longest / 2 * (1 + int.from_bytes(digest, "big") / 2**64)


def _due(standing: Standing, target: Target) -> float:
    """When the next delivery may be made, if there is anything to tell."""
    return standing.since + (1 - EARLY) * target.every


class Outbox:
    """Who is to be told, and how far each has been. All of it belongs to one event loop."""

    def __init__(
        self,
        path: Path,
        log: SqliteLog,
        targets: Sequence[Target],
        clock: Clock,
        *,
        title: str = "",
        wanted: Wanted = WHAT_MATTERS,
        excerpt: Excerpt = nothing,
    ) -> None:
        self.path, self.log, self.clock = path, log, clock
        self.title, self.wanted, self.excerpt = title, wanted, excerpt
        self.targets = {target.key: target for target in targets}
        self._at_work = False
        with self._explaining():
            self._db = sqlite3.connect(path, timeout=10, isolation_level=None)
            harden(self._db)
        try:
            self._set_up()
            self._standing = {key: self._meet(target) for key, target in self.targets.items()}
        except BaseException:
            self._db.close()
            raise

    # -- for the watch -----------------------------------------------------------------------------------------

    async def deliver(self) -> list[str]:
        """Tell every target that is due all that it has not heard of yet; what there is to say of it, in a line each.

        Each target goes its own way: one that is slow keeps no other waiting. A second call while the first is at work
        does nothing.
        """
        if self._at_work:
            return []
        self._at_work = True
        notes: list[str] = []
        try:
            deliveries = (self._serve(self._standing[key], target, notes) for key, target in self.targets.items())
            for result in await asyncio.gather(*deliveries, return_exceptions=True):
                if isinstance(result, BaseException):
                    raise result
        finally:
            self._at_work = False
        return notes

    def next_attempt(self) -> float:
        """When `deliver` has something to do although no round has ended: a retry, or a digest whose time comes."""
        now, last = self.clock(), end(self.log)
        moments = [math.inf]
        for key, target in self.targets.items():
            standing = self._standing[key]
            if standing.stopped:
                continue
            if standing.pending:
                moments.append(standing.next)
            elif target.every and standing.cursor < last and _due(standing, target) > now:
                moments.append(_due(standing, target))
        return min(moments)

    def standings(self) -> list[Standing]:
        """How far each target has got."""
        return list(self._standing.values())

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    # -- one target --------------------------------------------------------------------------------------------

    async def _serve(self, standing: Standing, target: Target, notes: list[str]) -> None:
        while not standing.stopped and standing.next <= self.clock():
            if not standing.pending and self.clock() < _due(standing, target):
                return
            delivery = await self._prepare(standing, target)
            if delivery is None:
                if standing.cursor >= end(self.log):
                    return
            elif not await self._attempt(standing, target, delivery, notes):
                return

    async def _prepare(self, standing: Standing, target: Target) -> Delivery | None:
        """What the target has not had yet, as much as goes into one delivery; None if there is nothing."""
        last = standing.pending or end(self.log)
        items: list[Told] = []
        found_of: Counter[str] = Counter()
        at, full = standing.cursor, False
        while at < last and not full:
            upto = min(at + WINDOW, last)
            for item in changes(self.log, after=at, upto=upto, wanted=self.wanted):
                if len(items) < target.most:
                    items.append(item)
                if target.every:  # a digest tells of all, if only by their number
                    found_of[item.change.what] += 1
                elif len(items) == target.most:
                    last, full = item.seq, True
                    break
            at = upto
            await asyncio.sleep(0)
        if not items:
            if (standing.cursor, standing.pending) != (last, 0):
                standing.cursor, standing.pending, standing.attempts, standing.next = last, 0, 0, 0.0
                self._keep(standing)
            return None
        if standing.pending != last:
            self._keep(replace(standing, pending=last))  # first there: if that fails, nothing is under way
            standing.pending = last
        crawl = identity(self.log)
        return Delivery(
            id=uuid5(crawl, f"{target.key} {last} {' '.join(item.id for item in items)}").urn,
            crawl=crawl.urn,
            title=self.title,
            changes=items,
            at=self.clock(),
            tally=found_of if target.every else tally(items),
            excerpt=self.excerpt,
        )

    async def _attempt(self, standing: Standing, target: Target, delivery: Delivery, notes: list[str]) -> bool:
        """Send it, and keep what came of it; whether it was taken."""
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await target.send(delivery)
        except TimeoutError:
            answer = Answer(False, f"no answer within {PATIENCE:.0f} s")
        except Exception as error:  # a target's mistake must not end the crawl
            answer = Answer(False, f"crashed: {type(error).__name__}")
        now = self.clock()
        if answer.taken:
            again = f", at attempt {standing.attempts + 1}" if standing.attempts else ""
            standing.cursor, standing.pending = standing.pending, 0
            standing.attempts, standing.next, standing.since, standing.error = 0, 0.0, now, ""
            notes.append(f"{target.name}: told of {counts(delivery.tally)}{again}")
        elif answer.stop:
            standing.stopped, standing.error = 1, plain(answer.says)
            notes.append(f"{target.name}: wants no more ({standing.error}); not told any longer")
        else:
            standing.attempts += 1
            wait = min(answer.wait, LATEST) or pause(delivery.id, standing.attempts)
            standing.next, standing.error = now + wait, plain(answer.says)
            notes.append(f"{target.name}: {standing.error}; kept, next attempt in {spoken(wait)}")
        self._keep(standing)
        return answer.taken

    # -- the file ----------------------------------------------------------------------------------------------

    def _set_up(self) -> None:
        with self._explaining():
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            new = not version and not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
            if version != _FORMAT and not new:
                raise DamagedError(
                    f"{self.path} has format {version}, this Lycosa reads format {_FORMAT}: use the version of "
                    "Lycosa that wrote it, or delete it (what is not told yet is then not told)"
                )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            if new:
                self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={_FORMAT}; COMMIT;")

    def _meet(self, target: Target) -> Standing:
        """How far a target has got; a new one starts at the end of the log."""
        now, last = self.clock(), end(self.log)
        with self._explaining():
            row = self._db.execute(f"SELECT {_COLUMNS} FROM target WHERE key = ?", (target.key,)).fetchone()
        standing = Standing(*row) if row else Standing(target.key, target.name, last, since=now)
        standing.name, standing.stopped = target.name, 0
        if standing.cursor > last:  # the log was restored from a backup, or lost its end with the power
            standing.cursor, standing.pending = last, 0
        standing.pending = min(standing.pending, last)
        standing.next, standing.since = min(standing.next, now + LATEST), min(standing.since, now)
        self._keep(standing)
        return standing

    def _keep(self, standing: Standing) -> None:
        """Commit it: when this returns it survives kill -9."""
        with self._explaining():
            self._db.execute(
                f"INSERT OR REPLACE INTO target ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)",
                astuple(standing),
            )

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """What SQLite complains of, told as something a person can act upon."""
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "locked" in text or "busy" in text:
                raise LockedError(
                    f"{self.path} is held by another program: close that one, then start the watch again"
                ) from error
            if "malformed" in text or "not a database" in text:
                raise DamagedError(
                    f"{self.path} is damaged ({text}): delete it, and everyone is told of what changes from then on"
                ) from error
            raise StoreError(
                f"cannot write {self.path}: {text}. Nothing is lost, the log has it all: free some space or give "
                "access, then start the watch again"
            ) from error


# -- what is delivered -------------------------------------------------------------------------------------

# What is delivered, who takes it, and what they answer.


@dataclass(slots=True)
class Delivery:
    """Some changes on their way to a target."""

    id: str
    """The same at each attempt: by it a target knows what it has had already."""
    crawl: str
    title: str
    """What is hunted, in a few words."""
    changes: list[Told]
    at: float
    """When this attempt is made."""
    tally: Counter[str] = field(default_factory=Counter)
    """How many of each there are, also of those that a digest has no room for."""
    excerpt: Excerpt = nothing


@dataclass(slots=True, frozen=True)
class Answer:
    """What came of an attempt."""

    taken: bool
    says: str = ""
    """In a few words, without anything that is secret."""
    wait: float = 0.0
    """Seconds after which the target wants to be asked again; 0: it did not say."""
    stop: bool = False
    """Whether it wants no more at all."""


class Target(Protocol):
    """Someone to tell."""

    name: str
    """For people: without credentials, as it is shown in notes and errors."""
    key: str
    """By which its place in the log is kept."""
    most: int
    """Changes in one delivery."""
    every: float
    """Seconds from one delivery to the next at least, and each holds all that is new; 0: at once, in batches."""

    async def send(self, delivery: Delivery) -> Answer:
        """Make an attempt. Whatever the target does is an answer; it is cancelled if it takes too long."""


def key_of(kind: str, address: str) -> str:
    """A target's key: its address may be a secret, and is not kept."""
    return f"{kind}-{hashlib.sha256(address.encode('utf-8', 'backslashreplace')).hexdigest()[:24]}"
