"""A process beside a large crawl that keeps up to date what shows and searches it: `lycosa index DIR --follow`.

It has the lowest priority, and only reads: a crawl goes on as it would without. It ends when the crawl has, and all of
it is indexed; if it dies, it is started again a while later.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from lycosa.core.types import Visit

LARGE = 20_000
"""Pages from which on a crawl is followed: to read and index fewer takes less than a minute."""

LOWEST = 19
"""The priority that lets everybody else go first."""

EVERY = 5_000
"""Pages after which it is looked after."""


class Follower:
    """Started when a crawl gets large."""

    def __init__(self, directory: Path, pages: int) -> None:
        self.directory = directory
        self._pages, self._next = pages, max(pages, LARGE)
        self._process: subprocess.Popen[bytes] | None = None

    def visited(self, visit: Visit) -> None:
        """One more visit is recorded."""
        self._pages += visit.is_page
        if self._pages < self._next:
            return
        self._next = self._pages + EVERY
        if self._process is None or self._process.poll() is not None:
            self._process = begin(self.directory, follow=True)

    def close(self) -> None:
        """The crawl is over: whoever follows it notices by itself, and has something to do until then."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0)
            self._process.returncode = self._process.returncode or 0  # nobody waits for it: no warning of that


def begin(directory: Path, *, follow: bool = False) -> subprocess.Popen[bytes] | None:
    """Start one that goes on when this process has ended; None where that is not possible."""
    command = [sys.executable, "-m", "lycosa", "index", str(directory.absolute()), *(["--follow"] if follow else [])]
    with suppress(OSError):
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
        with suppress(OSError):  # it may have ended
            os.setpriority(os.PRIO_PROCESS, process.pid, LOWEST)
        return process
    return None
