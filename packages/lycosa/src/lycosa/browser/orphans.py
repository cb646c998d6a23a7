"""Ends browsers that nobody owns any more, and those that take too much memory. Standard library only: it also runs
as a small process of its own.

Every browser has a directory, `lycosa-browser-*` in the system's temporary one, whose path is among the arguments it
was started with; a file there names the process that owns it. A keeper waits beside the browser for the end of that
process, however that comes, and cleans up after it. Until then it looks at the memory of the browser, and of the driver
that started it, twenty times a second. What is left when even the keeper was killed is ended by whoever
starts a browser next.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PREFIX = "lycosa-browser-"
OWNER = "owner"
TOO_LARGE = "too-large"  # this file says that the browser was ended for its memory
EVERY = 0.05  # seconds between two looks at memory: a page that fills it as fast as it can gets some 100 MB further


def claim() -> Path:
    """A directory for a browser of ours."""
    place = Path(tempfile.mkdtemp(prefix=PREFIX))
    (place / OWNER).write_text(f"{os.getpid()} {_born(os.getpid())}\n")
    return place


def keeper(place: Path, megabytes: int) -> subprocess.Popen[bytes]:
    """Start the process that watches memory, and cleans up when its input ends: when we close it, or die."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, str(place), str(megabytes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # what is typed at a terminal is not meant for it
    )


def sweep() -> int:
    """End what dead owners have left; how many that were."""
    ended = 0
    for place in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if place.is_symlink() or not place.is_dir() or place.stat().st_uid != os.getuid() or not is_orphan(place):
                continue
            end(place)
            ended += 1
    return ended


def is_orphan(place: Path) -> bool:
    """Whether the process is gone that a directory belongs to."""
    try:
        pid, _, born = (place / OWNER).read_text().strip().partition(" ")
        return not pid.isdigit() or _born(int(pid)) != born
    except OSError:  # made this moment, perhaps
        return time.time() - place.stat().st_mtime > 60


def end(place: Path) -> None:
    """Kill the processes that were started with this directory, and remove it."""
    for attempt in range(50):
        found = processes(str(place))
        if not found:
            break
        for pid in found:
            _kill(pid)
        time.sleep(0.02 * (attempt + 1))
    shutil.rmtree(place, ignore_errors=True)


def processes(named: str) -> list[int]:
    """The processes, ourselves left out, that have this among their arguments, and those of their groups."""
    found, groups = set[int](), set[int]()
    table = _table()
    for pid, group, arguments in table:
        if named in arguments and pid != os.getpid() and __file__ not in arguments:
            found.add(pid)
            groups.add(group)
    groups.discard(os.getpgrp())
    return sorted(found | {pid for pid, group, _ in table if group in groups})


def _kill(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


class Watch:
    """Ends a browser that takes more memory than it may. Where there is no /proc, it does not look."""

    def __init__(self, place: Path, megabytes: int) -> None:
        self.place, self.limit = place, megabytes << 20
        self.group = self.driver = 0
        self._members: set[int] = set()
        self._seen: set[int] = set()

    def look(self) -> None:
        if not (self._find() and self._follow()):
            return
        driver = memory(self.driver)
        if driver + sum(map(memory, self._members)) <= self.limit:
            return
        (self.place / TOO_LARGE).touch()
        for pid in self._members:
            _kill(pid)
        if driver > 0.4 * self.limit:  # 60 MB are usual
            _kill(self.driver)

    def _find(self) -> bool:
        """Whether the browser is there: its first process, which leads its group, and the driver that started it."""
        if self.group:
            return True
        owner = (self.place / OWNER).read_text().partition(" ")[0]
        for pid in processes(str(self.place)):
            fields = _fields(pid)
            if fields[2:3] == [str(pid)]:
                self.group, parent = pid, int(fields[1])
                self.driver = parent if _fields(parent)[1:2] == [owner] else 0
        return bool(self.group)

    def _follow(self) -> bool:
        there = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        self._members &= there
        new = there - self._seen
        self._members |= {pid for pid in new if _fields(pid)[2:3] == [str(self.group)]}
        self._seen = there
        return bool(self._members)


def memory(pid: int) -> int:
    """Bytes of a process that no file has: its own, and those it shares with others in memory."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/status", "rb") as file:
            status = file.read()
        return 1024 * sum(int(status.partition(name)[2].split(None, 1)[0]) for name in (b"RssAnon:", b"RssShmem:"))
    return 0


def _fields(pid: int) -> list[str]:
    """State, parent and group of a process, and what else its status line has; nothing if it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []


def _table() -> list[tuple[int, int, str]]:
    """Processes, their groups and arguments; those that have ended and wait to be told of are left out."""
    if not Path("/proc/self/stat").exists():
        told = subprocess.run(["ps", "-axo", "pid=,pgid=,command="], capture_output=True, text=True, check=False)
        rows = [line.split(None, 2) for line in told.stdout.splitlines()]
        return [(int(row[0]), int(row[1]), row[2]) for row in rows if len(row) == 3]
    table = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError):
            arguments = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            if state[0] not in "ZX":
                table.append((int(name), int(state[2]), arguments))
    return table


def _born(pid: int) -> str:
    """When a process began, so that another one of the same number is not taken for it; empty if there is none."""
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if state[0] in "ZX" else state[19]
    if Path("/proc/self/stat").exists():
        return ""
    told = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return told.stdout.strip()


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watch = Watch(Path(sys.argv[1]), int(sys.argv[2]))
    while not select.select([sys.stdin], [], [], EVERY if Path("/proc/self/stat").exists() else None)[0]:
        with contextlib.suppress(OSError):
            watch.look()
    end(watch.place)
