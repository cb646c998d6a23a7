"""A crawl's view on disk, so that looking at a large crawl does not take reading all of its log.

It lies in the directory `view`, written as snapshots are (store/snapshots.py), and is a cache: bound to the log by the
event that it ends with and to the code that makes it, thrown away when in doubt, made again from the log. Whoever has
read much of a log writes it down; nobody writes for a small crawl, which is read in a moment.

A view without what pages say (`content=False`) takes only the rest from there. It is written whole, so such a view is
not written.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash

from lycosa.core.errors import LycosaError
from lycosa.core.state import State, StateMismatch
from lycosa.store.log import SqliteLog
from lycosa.store.snapshots import About, Snapshots

if TYPE_CHECKING:
    from lycosa.collection.view import CrawlView

NAME = "view"

WORTH_IT = 5_000  # events that a view has to take in before it is written down: a second, about
# code that makes a view
_CODE = """
    collection/view.py collection/graph.py collection/tally.py collection/rows.py collection/words.py
    collection/causes.py core/types.py core/budget.py revisit/change.py store/codec.py web/robots.py
""".split()


@cache
def code() -> str:
    """Changes with the code that makes a view."""
    home = Path(__file__).parents[1]
    summed = xxhash.xxh3_128()
    for name in _CODE:
        summed.update((home / name).read_bytes())
    return summed.hexdigest()


def mark(log: SqliteLog, seq: int) -> str:
    """What tells a log that goes as far as an event from others."""
    bodies = log.rows("body", "seq = ? OR seq = (SELECT MIN(seq) FROM event)", given=(seq,))
    return xxhash.xxh3_64_hexdigest(b"".join(body for (body,) in bodies))


def _fits(about: About, log: SqliteLog) -> bool:
    return bool(about["code"] == code() and about["mark"] == mark(log, about["seq"]))


def covered(directory: Path, log: SqliteLog) -> int:
    """The last event that the view on disk knows of; 0 if there is none, or one of another log."""
    about = Snapshots(directory, NAME).about()
    return int(about["seq"]) if about is not None and _fits(about, log) else 0


def take_up(view: CrawlView, log: SqliteLog) -> bool:
    """Have an empty view go on from what is on disk; whether anything that fits was there."""
    kept = Snapshots(view.path, NAME)
    if not kept.path.is_dir():
        return False
    about = kept.about()
    lean = not view.content and about is not None and log.end() - about["seq"] < WORTH_IT
    found = kept.read(lambda about: _fits(about, log), (lambda names: names[0] == "lean") if lean else None)
    if found is None:
        return False
    try:
        view.load(found[1], lean=lean)
    except (StateMismatch, ValueError, KeyError, TypeError, IndexError, AttributeError):  # in spite of its hashes
        view.forget()
        return False
    view.kept = int(found[0]["seq"])
    return True


def write_down(view: CrawlView, log: SqliteLog) -> bool:
    """Keep a view on disk, if nobody else is doing that; whether it was. No room, or no right to write, is no error."""
    kept = Snapshots(view.path, NAME)
    with suppress(OSError, LycosaError, StateMismatch, MemoryError, OverflowError), alone(view.path) as mine:
        if not mine:
            return False
        state: State = view.dump()
        about: dict[str, Any] = {"code": code(), "seq": view.seq, "mark": mark(log, view.seq)}
        try:
            kept.write(about, state)
        except OSError:
            kept.remove()  # what is there of it must not take the crawl's room
            raise
        view.kept = view.seq
        return True
    return False


def remove(directory: Path) -> None:
    """Throw it away: the log is another one."""
    with suppress(OSError):
        (directory / NAME / "lock").unlink(missing_ok=True)
        Snapshots(directory, NAME).remove()


@contextmanager
def alone(directory: Path, name: str = "lock") -> Iterator[bool]:
    """Whether nobody else has the lock of that name: who wants it while the block runs has to wait for another time."""
    if not directory.stat().st_mode & 0o222:  # a superuser could write all the same
        yield False
        return
    (directory / NAME).mkdir(exist_ok=True)
    file = os.open(directory / NAME / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(file)
