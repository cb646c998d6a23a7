"""Watchdog that kills browsers whose owner has died or that take too much memory. It also runs as a separate process,
so it imports the standard library only.

Every browser has a directory `lycosa-browser-*` in the temporary directory, whose path is among its arguments; a file
in it names the owning process. A watchdog process waits for the end of the owner and then kills the browser and removes
the directory. Until then it measures the memory of browser and driver 20 times a second. If the watchdog was killed as
well, the next browser to start cleans up.
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
TOO_LARGE = "too-large"  # file that marks a browser killed for its memory
CHECK_SECONDS = 0.05  # seconds between memory checks: in this time a page can allocate about 100 MB


def create_directory() -> Path:
    directory = Path(tempfile.mkdtemp(prefix=PREFIX))
    (directory / OWNER).write_text(f"{os.getpid()} {_start_time(os.getpid())}\n")
    return directory


def start_watchdog(directory: Path, megabytes: int) -> subprocess.Popen[bytes]:
    """Start the watchdog of a browser; it cleans up when its input is closed, as by the death of this process."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, str(directory), str(megabytes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C must not reach it
    )


def sweep() -> int:
    """Kill the browsers of dead owners; return their number."""
    ended = 0
    for directory in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            is_ours = directory.is_dir() and not directory.is_symlink() and directory.stat().st_uid == os.getuid()
            if is_ours and is_orphan(directory):
                clean_up(directory)
                ended += 1
    return ended


def is_orphan(directory: Path) -> bool:
    try:
        pid, _, started = (directory / OWNER).read_text().strip().partition(" ")
        return not pid.isdigit() or _start_time(int(pid)) != started
    except OSError:  # the owner file may not be written yet
        return time.time() - directory.stat().st_mtime > 60


def clean_up(directory: Path) -> None:
    """Kill the processes that were started with this directory, and remove it."""
    for attempt in range(50):
        found = processes(str(directory))
        if not found:
            break
        for pid in found:
            _kill(pid)
        time.sleep(0.02 * (attempt + 1))
    shutil.rmtree(directory, ignore_errors=True)


def processes(named: str) -> list[int]:
    """Return all processes with this text among their arguments, and those of their groups, except ourselves."""
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


class MemoryWatch:
    """Kills a browser that exceeds its memory limit; does nothing without /proc."""

    def __init__(self, directory: Path, megabytes: int) -> None:
        self.directory, self.limit = directory, megabytes << 20
        self.group = self.driver = 0
        self._members: set[int] = set()
        self._seen: set[int] = set()

    def check(self) -> None:
        if not (self._find() and self._update_members()):
            return
        driver = memory(self.driver)
        if driver + sum(map(memory, self._members)) <= self.limit:
            return
        (self.directory / TOO_LARGE).touch()
        for pid in self._members:
            _kill(pid)
        if driver > 0.4 * self.limit:  # 60 MB are usual
            _kill(self.driver)

    def _find(self) -> bool:
        """Find the browser's first process, which leads its group, and the driver that started it."""
        if self.group:
            return True
        owner = (self.directory / OWNER).read_text().partition(" ")[0]
        for pid in processes(str(self.directory)):
            fields = _fields(pid)
            if fields[2:3] == [str(pid)]:
                self.group, parent = pid, int(fields[1])
                self.driver = parent if _fields(parent)[1:2] == [owner] else 0
        return bool(self.group)

    def _update_members(self) -> bool:
        there = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        self._members &= there
        new = there - self._seen
        self._members |= {pid for pid in new if _fields(pid)[2:3] == [str(self.group)]}
        self._seen = there
        return bool(self._members)


def memory(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/status", "rb") as file:
            status = file.read()
        return 1024 * sum(int(status.partition(name)[2].split(None, 1)[0]) for name in (b"RssAnon:", b"RssShmem:"))
    return 0


def _fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on: state, parent, group, ...; [] if the process is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []


def _table() -> list[tuple[int, int, str]]:
    if not Path("/proc/self/stat").exists():
        output = subprocess.run(["ps", "-axo", "pid=,pgid=,command="], capture_output=True, text=True, check=False)
        rows = [line.split(None, 2) for line in output.stdout.splitlines()]
        return [(int(row[0]), int(row[1]), row[2]) for row in rows if len(row) == 3]
    table = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError):
            arguments = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            if (fields := _fields(int(name))) and fields[0] not in "ZX":
                table.append((int(name), int(fields[2]), arguments))
    return table


def _start_time(pid: int) -> str:
    """Return the start time of a process, to recognise reused ids; "" if there is no such process."""
    if fields := _fields(pid):
        return "" if fields[0] in "ZX" else fields[19]
    if Path("/proc/self/stat").exists():
        return ""
    output = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return output.stdout.strip()


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watch = MemoryWatch(Path(sys.argv[1]), int(sys.argv[2]))
    while not select.select([sys.stdin], [], [], CHECK_SECONDS if Path("/proc/self/stat").exists() else None)[0]:
        with contextlib.suppress(OSError):
            watch.check()
    clean_up(watch.directory)
