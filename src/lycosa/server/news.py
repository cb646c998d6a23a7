"""How many changes are new to somebody, without reading a whole log for it.

What was counted of a log is remembered, with the number of its last event: the next time only what came since is read,
and nothing at all if the file is as it was. Only pages that were looked at again can have changed, so what lies before
the first such look is passed over.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from lycosa.collection.view import Signature, signature_of
from lycosa.core.errors import LycosaError
from lycosa.refresh.ledger import changes, end
from lycosa.store.log import NAME, SqliteLog


@dataclass(slots=True)
class _Known:
    """What was read of a log."""

    stamp: Signature | None = None
    read: int = 0
    first: int = 0  # the first look at a page that was there before; 0: none so far
    times: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class News:
    """Changes by crawl; for all threads of the web process."""

    def __init__(self) -> None:
        self._known: OrderedDict[Path, _Known] = OrderedDict()
        self._lock = threading.Lock()

    def count(self, directory: Path, since: float, until: float | None = None) -> int | None:
        """Changes seen after a time; None if no page was looked at again, or nobody knows yet.

        `until` is the time, by `time.monotonic`, after which no log is opened any more.
        """
        known = self._of(directory, until)
        if known is None or not known.first:
            return None
        return sum(at > since for at in known.times)

    def begins(self, directory: Path) -> int:
        """The number of the event before the first look at a page that was there already; -1 if there is none."""
        known = self._of(directory, None)
        return known.first - 1 if known is not None and known.first else -1

    def _of(self, directory: Path, until: float | None) -> _Known | None:
        with self._lock:
            known = self._known.setdefault(directory, _Known())
            self._known.move_to_end(directory)
            while len(self._known) > 2_000:
                self._known.popitem(last=False)
        with known.lock:
            stamp = signature_of(directory / NAME)
            if stamp and stamp != known.stamp and (until is None or time.monotonic() < until):
                try:
                    _read(directory, known)
                except LycosaError:  # a log that is being made, or was damaged: whoever opens it is told
                    return None
                known.stamp = stamp
            return known if known.stamp and stamp else None


def _read(directory: Path, known: _Known) -> None:
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        last = end(log)
        if last < known.read:  # another log than before
            known.read, known.first, known.times = 0, 0, []
        if not known.first:
            known.first = _first_look(log, known.read, last)
        if known.first:
            after = max(known.read, known.first - 1)
            known.times += [told.at for told in changes(log, after=after, upto=last)]
        known.read = last


def _first_look(log: SqliteLog, after: int, upto: int) -> int:
    found = next(log.rows("seq", "kind = 'revisit' AND seq > ? AND seq <= ?", "seq LIMIT 1", (after, upto)), (0,))
    return int(found[0])
