"""Where pages are read: here, or in a process that can be ended.

Reading is a pure function, so where it happens changes nothing. An ordinary page is read here, at once. One that is
large, or in which a crawl has died before, is read in one of a few processes with limits of time and memory (see
`apart.py`): what exceeds them, or crashes, is `Unreadable`, which is an outcome of that page and nothing else.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import select
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast

from lycosa.web.apart import JOBS as JOBS
from lycosa.web.apart import receive, send
from lycosa.web.html import Document, read_body

LARGE = 500_000
"""Bytes beyond which a body is read in another process: the worst of this size take a third of a second."""

SECONDS = 10
"""Of CPU time, for one page or source."""

MEMORY = 500_000_000
"""Bytes that a process may take for it."""

LONGEST = 60.0
"""Seconds to wait for an answer at most, however busy the machine is."""

PROCESSES = 2
"""That read at the same time."""


class Unreadable(Exception):
    """A body can't be read within the limits; says why."""


class _Process:
    """One that reads."""

    def __init__(self, memory: int) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        self.child = subprocess.Popen(
            [sys.executable, "-m", "lycosa.web.apart", str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C is for us: it goes when we do
            env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"},
        )

    def ask(self, job: str, given: tuple[Any, ...]) -> Any:
        """Have a job done."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        try:
            send(cast(Any, self.child.stdin), (job, SECONDS, given))
            waiting = select.poll()
            waiting.register(self.child.stdout, select.POLLIN)
            if not waiting.poll(1000 * LONGEST):
                raise Unreadable(f"reading it took more than {LONGEST:.0f} s")
            return receive(cast(Any, self.child.stdout))
        except (OSError, EOFError):
            raise Unreadable(self._death()) from None

    def _death(self) -> str:
        self.child.kill()  # in case it is not dead yet; what it died of stays what it was
        code = -self.child.wait()
        if code == signal.SIGXCPU:
            return f"reading it took more than {SECONDS} s of CPU time"
        return f"reading it ended the process ({signal.Signals(code).name if code > 0 else f'exit {-code}'})"

    def end(self) -> None:
        """Be gone."""
        self.child.kill()
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # what it never read
                    continue


class Readers:
    """A few processes, started when they are first needed, and kept."""

    def __init__(self, most: int = PROCESSES, memory: int = MEMORY) -> None:
        self.memory = memory
        self._room = threading.Semaphore(most)
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self.threads = ThreadPoolExecutor(most, "reader")

    def run(self, job: str, *given: Any) -> Any:
        """Have a job done in another process; any thread may ask. OSError if none can be started."""
        with self._room:
            process = self._free() or _Process(self.memory)
            try:
                message = process.ask(job, given)
            except BaseException:
                process.end()
                raise
            if "memory" in message:  # who knows what else it lacks
                process.end()
                raise Unreadable(f"reading it takes more than {self.memory // 1_000_000} MB")
            with self._lock:
                self._idle.append(process)
        if "error" in message:
            raise RuntimeError(message["error"])
        return JOBS[job].unpacked(message["result"])

    def _free(self) -> _Process | None:
        """One that has nothing to do. What died meanwhile did not die of a page."""
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.child.poll() is None:
                    return process
                process.end()
        return None

    def close(self) -> None:
        """End those that have nothing to do."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()


READERS = Readers()
atexit.register(READERS.close)


def read_page(body: bytes, url: str, content_type: str, agent: str = "", *, apart: bool = False) -> Document:
    """Read a body by its content type, in another process if it is large or `apart` is wanted.

    >>> read_page(b"<title>Reefs</title>", "http://a.test/", "text/html").title
    'Reefs'
    """
    if not apart and len(body) <= LARGE:
        return read_body(body, url, content_type, agent)
    document: Document = _elsewhere("page", apart, body, url, content_type, agent)
    return document


def read_again(body: bytes, url: str, content_type: str, *, apart: bool = False) -> Document:
    """The same of a body that was read before; nothing if it can't be, as when it is read on a smaller machine."""
    try:
        return read_page(body, url, content_type, apart=apart)
    except Unreadable:
        return Document()


async def read_elsewhere(job: str, *given: Any, apart: bool = False) -> Any:
    """Have a job done in another process while the loop goes on. `apart`: in no case here."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(READERS.threads, partial(_elsewhere, job, apart, *given))


def _elsewhere(job: str, apart: bool, *given: Any) -> Any:
    try:
        return READERS.run(job, *given)
    except OSError as error:  # no process to be had: what is only large can be read here as well
        if apart:
            raise Unreadable(f"no process can be started to read it: {error.strerror}") from error
        return JOBS[job].read(*given)
