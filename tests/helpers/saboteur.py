"""Run the command line in its own process, optionally with a fault POINT:N injected.

The N-th time POINT is reached the process is killed as by `kill -9`. The points named `full-...` and `limit` simulate a
full disk, which raises an error instead.

Importing this module imports everything a crawl needs, so forked processes start at once.
"""

import errno
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lycosa import crawling  # noqa: F401 - loaded once for all
from lycosa.cli import main
from lycosa.collection import summary  # noqa: F401
from lycosa.core import engine
from lycosa.crawling import crawl_log
from lycosa.judges.probability import judge  # noqa: F401
from lycosa.store import directory, log, warc


def die() -> None:
    """Kill this process without cleanup."""
    os.kill(os.getpid(), signal.SIGKILL)


def before_the(number: int, owner: Any, name: str, act: Callable[..., None]) -> None:
    """Call `act` before the N-th call of a function, with its arguments."""
    original, calls = getattr(owner, name), 0

    def replaced(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number:
            act(*args, **options)
        return original(*args, **options)

    setattr(owner, name, replaced)


def after_the(number: int, owner: Any, name: str) -> None:
    """Kill the process after the N-th call of a function, before it returns to its caller."""
    original, calls = getattr(owner, name), 0

    def replaced(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        result = original(*args, **options)
        if calls == number:
            die()
        return result

    setattr(owner, name, replaced)


def half_written(archive: Any, data: bytes) -> None:
    """Write half of the bytes to the file, then die."""
    os.write(archive._file, data[: len(data) // 2])
    die()


def half_a_line(log: Any, *_: Any) -> None:
    """Write half a line to the file, then die."""
    os.write(log._file, b"2026-11-17T15:13:36.005Z   200       1234 http://a.te")
    die()


def uncommitted(log: Any, *event: Any) -> None:
    """Write the event in a transaction that is never committed, then die."""
    if not log._db.in_transaction:
        log._db.execute("BEGIN")
    type(log).put(log, *event)
    die()


def sabotage(point: str, number: int) -> None:
    """Inject the fault."""
    archive = warc.WarcArchive
    match point:
        case "config":  # before crawl.toml is written
            before_the(number, directory.Directory, "save", lambda _: die())
        case "first-commit":  # the log exists, without events
            before_the(number, log.SqliteLog, "append", lambda *_: die())
        case "write":
            before_the(number, archive, "_write", half_written)
        case "unlogged":  # the bytes are in the archive, but the event is not in the log
            after_the(number, archive, "append")
        case "uncommitted":
            before_the(number, log.SqliteLog, "put", uncommitted)
        case "statement":  # any SQL statement of a log that is written
            _count_statements(log, number)
        case "committed":
            after_the(number, engine.Engine, "_record_learned")
        case "created":  # a new, empty archive file
            before_the(number, archive, "_next_file", lambda self: after_the(1, self, "_open"))
        case "warcinfo":  # a new archive file with half of its first record
            before_the(number, archive, "_next_file", lambda self: before_the(1, archive, "_write", half_written))
        case "rotated":  # a new archive file with only its first record
            after_the(number, archive, "_next_file")
        case "log-line":  # half a line of crawl.log
            before_the(number, crawl_log.CrawlLog, "_write", half_a_line)
        case "aside":  # the tail is copied, but the file is not truncated yet
            before_the(number, warc.os, "truncate", lambda *_: die())
        case "full-archive":
            _fill(warc, number)
        case "full-log":
            _fill_log(log, number)
        case "limit":  # maximum file size in bytes
            resource.setrlimit(resource.RLIMIT_FSIZE, (number, number))
        case "impatient":  # milliseconds to wait for a locked log
            log.SqliteLog.__init__.__kwdefaults__["busy_seconds"] = number / 1000
        case _:
            raise ValueError(f"no such point: {point}")


def _fill(warc: Any, room: int) -> None:
    """Limit the bytes left for the archive; the last write is cut short, as on a real full disk."""
    original, left = os.write, room

    def write(file: int, data: bytes) -> int:
        nonlocal left
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = original(file, data[:left])
        left -= written
        return written

    class Disk:
        """The os module as it behaves on a small disk."""

        def __getattr__(self, name: str) -> Any:
            return write if name == "write" else getattr(os, name)

    warc.os = Disk()


def _count_statements(log: Any, number: int) -> None:
    """Kill this process before the N-th SQL statement that changes a log."""
    original, left = log.SqliteLog.__init__, number

    class Connection:
        def __init__(self, db: Any) -> None:
            self.db = db

        def __getattr__(self, name: str) -> Any:
            return getattr(self.db, name)

        def execute(self, sql: str, *given: Any) -> Any:
            nonlocal left
            if not sql.lstrip().startswith(("SELECT", "PRAGMA")):
                left -= 1
                if not left:
                    die()
            return self.db.execute(sql, *given)

        def executemany(self, sql: str, rows: Any) -> Any:
            def counted() -> Any:
                nonlocal left
                for row in rows:
                    left -= 1
                    if not left:
                        die()
                    yield row

            return self.db.executemany(sql, counted())

    def opened(self: Any, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        self._db = Connection(self._db)

    log.SqliteLog.__init__ = opened


def _fill_log(log: Any, pages: int) -> None:
    """Limit the log to `pages` pages of 8 kB; SQLite then reports a full disk."""
    original = log.SqliteLog.__init__

    def opened(self: Any, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        self._db.execute(f"PRAGMA max_page_count={pages}")

    log.SqliteLog.__init__ = opened


def run(args: list[str], fault: str, environment: dict[str, str], out: str, err: str) -> None:
    """Run a command as a shell would, with output redirected to files."""
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY), number)
    os.environ.update(environment)
    if fault:
        where, _, times = fault.partition(":")
        sabotage(where, int(times or 1))
    # Commands see only their own arguments and program name.
    sys.argv = [str(Path(sys.executable).parent / "lycosa"), *args]
    main()
