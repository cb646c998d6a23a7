"""Where pages are read: here, or in a process that can be ended.

Reading is a pure function, so where it happens changes nothing. An ordinary page is read here, at once. One that is
large, in which a crawl has died before, or that is a document (`documents/`), is read in one of a few processes with
limits of time and memory (see `apart.py`): what exceeds them, or crashes, is `Unreadable`, which is an outcome of that
page and nothing else. Documents are never read here, whatever happens: their readers are native code.

A crawl may also have all its pages read in such processes (`--readers`), to use more than one core.
"""

from __future__ import annotations

import asyncio
import atexit
import errno
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast

from lycosa.web.apart import JOBS as JOBS
from lycosa.web.apart import receive, send
from lycosa.web.documents import read_any
from lycosa.web.documents.kinds import kind_of
from lycosa.web.html import ParsedPage

LARGE = 500_000  # bytes: the worst body of this size takes a third of a second
SECONDS = 10  # CPU time for one page or source
LONGEST = 60.0  # seconds to wait for an answer, however busy the machine is

PROGRAM = ("-m", "lycosa.web.apart")


class Unreadable(Exception):
    """A body can't be read within the limits; says why."""


class _Died(Unreadable):
    """The process that read it is gone, which need not be its fault."""


class _Process:
    """One that reads."""

    def __init__(self, memory: int) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        self.child = subprocess.Popen(
            [sys.executable, *PROGRAM, str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C is for us: it goes when we do
            env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"},
        )

    def ask(self, job: str, given: tuple[Any, ...]) -> dict[str, Any]:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        try:
            send(cast(Any, self.child.stdin), (job, SECONDS, given))
            waiting = select.poll()
            waiting.register(self.child.stdout, select.POLLIN)
            if not waiting.poll(1000 * LONGEST):
                raise Unreadable(f"reading it took more than {LONGEST:.0f} s")
            message = receive(cast(Any, self.child.stdout))
        except (OSError, EOFError, ValueError):
            raise self.death() from None
        if not isinstance(message, dict):
            raise self.death()
        return message

    def death(self) -> Unreadable:
        self.child.kill()  # in case it is not dead yet; what it died of stays what it was
        code = -self.child.wait()
        if code == signal.SIGXCPU:
            return Unreadable(f"reading it took more than {SECONDS} s of CPU time")
        return _Died(f"reading it ended the process ({signal.Signals(code).name if code > 0 else f'exit {-code}'})")

    def end(self) -> None:
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

    def __init__(self, most: int = 2, memory: int = 500_000_000) -> None:  # bytes
        self.memory = memory
        self._room = threading.Semaphore(most)
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._closed = False
        self._threads = ThreadPoolExecutor(most, "reader")

    def run(self, job: str, *given: Any, again: bool = False) -> Any:
        """Have a job done in another process; any thread may call this. OSError if none can be started.

        With `again`, a job whose process dies is done once more by another one.
        """
        try:
            message = self._ask(job, given)
        except _Died:
            if not again:
                raise
            message = self._ask(job, given)
        if "error" in message:
            raise RuntimeError(message["error"])
        return JOBS[job].unpacked(message["result"])

    async def while_waiting(self, work: Callable[..., Any], *given: Any) -> Any:
        """Call something that runs jobs while the event loop goes on."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *given))

    def _ask(self, job: str, given: tuple[Any, ...]) -> dict[str, Any]:
        with self._room:
            process, keep = self._free(), False
            try:
                message = process.ask(job, given)
                if "memory" in message:  # who knows what else it lacks
                    raise Unreadable(f"reading it takes more than {self.memory // 1_000_000} MB")
                keep = True
            finally:
                with self._lock:
                    self._busy.discard(process)
                    if keep and not self._closed:
                        self._idle.append(process)
                    else:
                        process.end()
        return message

    def _free(self) -> _Process:
        """One that has nothing to do. What died meanwhile did not die of a page."""
        with self._lock:
            if self._closed:
                raise OSError(errno.ESHUTDOWN, "the readers were closed")
            while self._idle:
                process = self._idle.pop()
                if process.child.poll() is None:
                    break
                process.end()
            else:
                process = _Process(self.memory)
            self._busy.add(process)
            return process

    def close(self) -> None:
        """End all processes, and refuse further jobs."""
        with self._lock:
            self._closed = True
            for process in self._idle:
                process.end()
            self._idle.clear()
            for process in self._busy:  # its thread hears of it, and ends it
                process.child.kill()
        self._threads.shutdown(wait=False, cancel_futures=True)


READERS = Readers()
atexit.register(READERS.close)


def read_page(body: bytes, url: str, content_type: str, agent: str = "", *, apart: bool = False) -> ParsedPage:
    """Read a body by its content type, in another process if it is large or a document, or `apart` is wanted.

    >>> read_page(b"<title>Reefs</title>", "http://a.test/", "text/html").title
    'Reefs'
    """
    apart = apart or bool(kind_of(body, url, content_type))
    if not apart and len(body) <= LARGE:
        return read_any(body, url, content_type, agent)
    document: ParsedPage = _elsewhere("page", apart, body, url, content_type, agent)
    return document


def read_again(body: bytes, url: str, content_type: str, *, apart: bool = False) -> ParsedPage:
    """The same of a body that was read before; nothing if it can't be, as when it is read on a smaller machine."""
    try:
        return read_page(body, url, content_type, apart=apart)
    except Unreadable:
        return ParsedPage()


async def read_elsewhere(job: str, *given: Any, apart: bool = False) -> Any:
    """Have a job done in another process while the loop goes on. `apart`: in no case here."""
    return await READERS.while_waiting(_elsewhere, job, apart, *given)


def _elsewhere(job: str, apart: bool, *given: Any) -> Any:
    try:
        return READERS.run(job, *given)
    except OSError as error:  # no process to be had: what is only large can be read here as well
        if apart:
            raise Unreadable(f"no process can be started to read it: {error.strerror}") from error
        return JOBS[job].read(*given)
