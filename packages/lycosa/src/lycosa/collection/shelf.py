"""On-disk cache of a crawl's view, so that opening a large crawl does not require reading its whole log.

Stored in the directory `view` in the format of snapshots (store/snapshots.py). The cache is valid for the log whose
last event it contains and for the code that wrote it; otherwise it is discarded and rebuilt. Small crawls are not
cached. A view without page contents (`content=False`) loads only part of the cache and never writes it.
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

MIN_NEW_EVENTS = 5_000  # new events after which the view is written again, about a second of work
# Source files whose changes invalidate the cache.
_SOURCE_FILES = """
    collection/view.py collection/link_graph.py collection/tally.py collection/page_rows.py collection/search_text.py
    collection/causes.py core/types.py core/budget.py revisit/change.py store/codec.py web/robots.py
""".split()


@cache
def code_digest() -> str:
    """Return a digest of the code that computes a view."""
    home = Path(__file__).parents[1]
    summed = xxhash.xxh3_128()
    for name in _SOURCE_FILES:
        summed.update((home / name).read_bytes())
    return summed.hexdigest()


def log_digest(log: SqliteLog, seq: int) -> str:
    """Return a digest of the first event and the given one, which identifies the log."""
    bodies = log.rows("body", "seq = ? OR seq = (SELECT MIN(seq) FROM event)", given=(seq,))
    return xxhash.xxh3_64_hexdigest(b"".join(body for (body,) in bodies))


def _fits(facts: About, log: SqliteLog) -> bool:
    return bool(facts["code"] == code_digest() and facts["mark"] == log_digest(log, facts["seq"]))


def cached_seq(directory: Path, log: SqliteLog) -> int:
    """Return the last event in the cached view; 0 if there is none or it belongs to another log."""
    about = Snapshots(directory, NAME).about()
    return int(about["seq"]) if about is not None and _fits(about, log) else 0


def load_cached(view: CrawlView, log: SqliteLog) -> bool:
    """Load the cached view into an empty one; return True if it was valid."""
    cache_files = Snapshots(view.path, NAME)
    if not cache_files.path.is_dir():
        return False
    about = cache_files.about()
    lean = not view.content and about is not None and log.end() - about["seq"] < MIN_NEW_EVENTS
    loaded = cache_files.read(lambda about: _fits(about, log), (lambda names: names[0] == "lean") if lean else None)
    if loaded is None:
        return False
    try:
        view.load(loaded[1], lean=lean)
    # invalid content with correct hashes
    except (StateMismatch, ValueError, KeyError, TypeError, IndexError, AttributeError):
        view.forget()
        return False
    view.cached_seq = int(loaded[0]["seq"])
    return True


def save(view: CrawlView, log: SqliteLog) -> bool:
    """Write the cache unless another process is doing so; return True if it was written. A full disk is no error."""
    cache_files = Snapshots(view.path, NAME)
    with suppress(OSError, LycosaError, StateMismatch, MemoryError, OverflowError), try_lock(view.path) as has_lock:
        if not has_lock:
            return False
        state: State = view.dump()
        about: dict[str, Any] = {"code": code_digest(), "seq": view.seq, "mark": log_digest(log, view.seq)}
        try:
            cache_files.write(about, state)
        except OSError:
            cache_files.remove()  # a partial file must not take up the crawl's disk space
            raise
        view.cached_seq = view.seq
        return True
    return False


def remove(directory: Path) -> None:
    with suppress(OSError):
        (directory / NAME / "lock").unlink(missing_ok=True)
        Snapshots(directory, NAME).remove()


@contextmanager
def try_lock(directory: Path, name: str = "lock") -> Iterator[bool]:
    """Try to take the named lock for the block; yield False if another process holds it."""
    if not directory.stat().st_mode & 0o222:  # a superuser could write there nevertheless
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
