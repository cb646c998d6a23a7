"""Kills and full disks inside a process, at moments drawn from a seed."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, SimpleNamespace
from typing import Any

from lycosa.store.warc import WarcArchive
from lycosa_server.crawler import running
from soaking.world import Report


def die(report: Report) -> None:
    """Kill this process as with kill -9, and record the time in the journal."""
    with suppress(RuntimeError):  # the loop may have just ended
        report(["died", asyncio.get_running_loop().time()])
    os.kill(os.getpid(), signal.SIGKILL)


def die_after(calls: int, report: Report) -> None:
    """Kill this process after a number of function calls, of Python and C functions."""
    left = calls

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        left -= event in ("call", "c_call")
        if left <= 0:
            sys.setprofile(None)
            die(report)

    sys.setprofile(count)


def die_in_a_write(report: Report) -> None:
    """Kill this process when half of the next record is in the archive."""

    def half(archive: Any, data: bytes) -> None:
        os.write(archive._file, data[: len(data) // 2])
        die(report)

    WarcArchive._write = half  # type: ignore[method-assign]


class Disk:
    """Disk of a process: `fill` limits the size of files, `empty` removes the limit.

    The kernel refuses writes beyond it: logs, archives, the database, feeds. With `reported`, the free space is
    reported as 0, and the server then ends its crawls by itself.
    """

    def __init__(self) -> None:
        self._reported = False
        usage = shutil.disk_usage

        def measured(path: Any) -> Any:
            found = usage(path)
            return SimpleNamespace(total=found.total, used=found.used, free=0 if self._reported else 10**12)

        running.shutil = SimpleNamespace(disk_usage=measured)  # type: ignore[assignment]

    def fill(self, max_bytes: int, reported: bool) -> None:
        """Refuse writes beyond `max_bytes` bytes in a file."""
        self._reported = reported
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, most))

    def empty(self) -> None:
        self._reported = False
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def at(when: float, act: Callable[[], None]) -> None:
    """Call a function at a time of the running loop."""
    asyncio.get_running_loop().call_at(when, act)
