"""Follow the log of a crawl: take in what is new, in steps, whoever writes it meanwhile.

The log may not exist yet, grow, or be deleted and made anew: then whoever follows it begins anew, too.
"""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lycosa.core.errors import StoreError
from lycosa.core.types import Event
from lycosa.store.log import NAME, SqliteLog

STEP = 200
"""Events that are taken in at once; others wait so long, about 30 ms."""

Signature = tuple[int, ...]


class Follower(ABC):
    """Reads a log once, and later only what has been added. Every method may be called by any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.RLock()
        self.generation = 0
        """Grows when the directory was made anew: numbers of events from before mean nothing then."""
        self.seq = 0
        """The last event that was taken in."""
        self._signature: Signature | None = None
        self._inode = 0
        self.clear()

    @abstractmethod
    def clear(self) -> None:
        """Forget all that was taken in."""

    @abstractmethod
    def set_up(self) -> None:
        """Look at what is beside the log, before events are read."""

    @abstractmethod
    def take(self, events: Sequence[tuple[int, Event]]) -> None:
        """Take in some events, which come in their order; `seq` is set to the last of them."""

    @abstractmethod
    def settle(self, log: SqliteLog) -> None:
        """Called when there are no more events for now."""

    def catch_up(self) -> int:
        """Take in what is new; the number of the last event. Others get their turn between the steps."""
        while self._step():
            time.sleep(0)
        return self.seq

    def _step(self) -> bool:
        """Take in some events; whether there may be more."""
        with self.lock:
            signature = signature_of(self.path / NAME)
            if signature is None or signature[0] != self._inode:
                if self._inode:
                    self.generation += 1
                self._begin_anew()
                if signature is None:
                    return False
                self._inode = signature[0]
            self.set_up()
            if signature == self._signature:
                return False
            try:
                count = self._read()
            except StoreError:
                if (self.path / NAME).exists():
                    raise
                self.generation += 1  # removed while it was read
                self._begin_anew()
                return False
            if count < STEP:
                # What was written within the clock's last tick may have the same time: look again at the next call.
                fresh = time.time_ns() - max(signature[2::3]) < 100_000_000
                self._signature = None if fresh else signature
            return count == STEP

    def _begin_anew(self) -> None:
        self.seq, self._signature, self._inode = 0, None, 0
        self.clear()

    def _read(self) -> int:
        """Read some events, and take them in; how many they were. Of a damaged log, those before the damage."""
        events: list[tuple[int, Event]] = []
        with self.reading() as log:
            try:
                events.extend(log.numbered("seq > ?", f"seq LIMIT {STEP}", (self.seq,)))
            finally:
                self.take(events)
            if len(events) < STEP:
                self.settle(log)
        return len(events)

    @contextmanager
    def reading(self) -> Iterator[SqliteLog]:
        """The log, for as long as the block runs, in this thread."""
        log = SqliteLog(self.path / NAME, readonly=True, busy_seconds=2.0)
        try:
            yield log
        finally:
            log.close()


def signature_of(path: Path) -> Signature | None:
    """What changes when the log does; None where there is none."""
    try:
        log = os.stat(path)
    except OSError:
        return None
    try:
        ahead = os.stat(f"{path}-wal")
    except OSError:
        return (log.st_ino, log.st_size, log.st_mtime_ns)
    return (log.st_ino, log.st_size, log.st_mtime_ns, ahead.st_ino, ahead.st_size, ahead.st_mtime_ns)
