"""Ways to die and disks without room, inside a process, at moments that a seed decides."""

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
from soaking.world import Tell


def die(progress: Tell) -> None:
    """As by kill -9: nothing is cleaned up. The journal hears when it was."""
    with suppress(RuntimeError):  # the loop may just have ended
        progress(["died", asyncio.get_running_loop().time()])
    os.kill(os.getpid(), signal.SIGKILL)


def die_after(calls: int, progress: Tell) -> None:
    """Be killed when so many functions more have been called, wherever that is: Python's and C's are counted."""
    left = calls

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        left -= event in ("call", "c_call")
        if left <= 0:
            sys.setprofile(None)
            die(progress)

    sys.setprofile(count)


def die_in_a_write(progress: Tell) -> None:
    """Be killed when half of the next record is in the archive."""

    def half(archive: Any, data: bytes) -> None:
        os.write(archive._file, data[: len(data) // 2])
        die(progress)

    WarcArchive._write = half  # type: ignore[method-assign]


class Disk:
    """The disk of a process: `fill` leaves no file room to grow beyond so many bytes, `empty` makes room again.

    It is the kernel that refuses, whoever writes: logs, archives, the people's database, feeds. With `told`, the system
    also says that there is no room: the server then ends its crawls by itself.
    """

    def __init__(self) -> None:
        self._told = False
        usage = shutil.disk_usage

        def measured(path: Any) -> Any:
            found = usage(path)
            return SimpleNamespace(total=found.total, used=found.used, free=0 if self._told else 10**12)

        running.shutil = SimpleNamespace(disk_usage=measured)  # type: ignore[assignment]

    def fill(self, room: int, told: bool) -> None:
        """No file may be larger than `room` bytes."""
        self._told = told
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))

    def empty(self) -> None:
        """All is well again."""
        self._told = False
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def at(when: float, act: Callable[[], None]) -> None:
    """Do something at a time of the running loop."""
    asyncio.get_running_loop().call_at(when, act)
