"""Parsing of bodies, in this process or in a worker.

Parsing is a pure function, so the choice changes no result. Ordinary pages are parsed here at once. Large pages, pages
during which a crawl has crashed, and documents (`documents/`) are parsed by workers with limits of CPU time and memory
(see `apart.py`); exceeding them, or a crash, raises `Unreadable`, which becomes the outcome of that page. Documents are
never parsed here, because their parsers are native code.

With `--readers` a crawl parses all pages in workers, to use more than one core.
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
LONGEST = 60.0  # seconds to wait for an answer, also on a busy machine

PROGRAM = ("-m", "lycosa.web.apart")


class Unreadable(Exception):
    """Raised if a body can't be parsed within the limits; says why."""


class _Died(Unreadable):
    """The worker died, which need not be the page's fault."""


class _Process:
    """A worker process and its pipes."""

    def __init__(self, memory: int) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        self.child = subprocess.Popen(
            [sys.executable, *PROGRAM, str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C must not reach the worker; it exits with its parent
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
        self.child.kill()  # in case it is still alive; an earlier exit code stays
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
                except OSError:  # unread input
                    continue


class Readers:
    """A pool of worker processes, started on demand and reused."""

    def __init__(self, most: int = 2, memory: int = 500_000_000) -> None:  # bytes
        self.memory = memory
        self._room = threading.Semaphore(most)
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._closed = False
        self._threads = ThreadPoolExecutor(most, "reader")

    def run(self, job: str, *given: Any, again: bool = False) -> Any:
        """Run a job in a worker; thread-safe. Raises OSError if no worker can be started.

        With `again`, a job whose worker dies is retried once in another one.
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
        """Call a function that runs jobs without blocking the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *given))

    def _ask(self, job: str, given: tuple[Any, ...]) -> dict[str, Any]:
        with self._room:
            process, keep = self._free(), False
            try:
                message = process.ask(job, given)
                if "memory" in message:  # its state is unknown after a MemoryError
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
        """Return an idle worker or start one; workers that died while idle are replaced."""
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
        """Stop all workers and refuse further jobs."""
        with self._lock:
            self._closed = True
            for process in self._idle:
                process.end()
            self._idle.clear()
            for process in self._busy:  # its thread notices and ends it
                process.child.kill()
        self._threads.shutdown(wait=False, cancel_futures=True)


READERS = Readers()
atexit.register(READERS.close)


def read_page(body: bytes, url: str, content_type: str, agent: str = "", *, apart: bool = False) -> ParsedPage:
    """Parse a body by its content type; in a worker if it is large or a document, or if `apart` is set.

    >>> read_page(b"<title>Reefs</title>", "http://a.test/", "text/html").title
    'Reefs'
    """
    apart = apart or bool(kind_of(body, url, content_type))
    if not apart and len(body) <= LARGE:
        return read_any(body, url, content_type, agent)
    document: ParsedPage = _elsewhere("page", apart, body, url, content_type, agent)
    return document


def read_again(body: bytes, url: str, content_type: str, *, apart: bool = False) -> ParsedPage:
    """Parse a stored body again; an empty page if that fails, as on a smaller machine."""
    try:
        return read_page(body, url, content_type, apart=apart)
    except Unreadable:
        return ParsedPage()


async def read_elsewhere(job: str, *given: Any, apart: bool = False) -> Any:
    """Run a job in a worker without blocking the event loop; with `apart`, never fall back to this process."""
    return await READERS.while_waiting(_elsewhere, job, apart, *given)


def _elsewhere(job: str, apart: bool, *given: Any) -> Any:
    try:
        return READERS.run(job, *given)
    except OSError as error:  # no worker can be started: a body that is only large can be parsed here
        if apart:
            raise Unreadable(f"no process can be started to read it: {error.strerror}") from error
        return JOBS[job].read(*given)
