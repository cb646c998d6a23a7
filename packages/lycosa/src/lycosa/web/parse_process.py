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
from typing import Any, cast

from lycosa.web.apart import JOBS as JOBS
from lycosa.web.apart import read_message, write_message
from lycosa.web.documents import read_any
from lycosa.web.documents.kinds import kind_of
from lycosa.web.html import ParsedPage

LARGE_BODY = 500_000  # bytes: the worst body of this size takes a third of a second
CPU_SECONDS = 10  # CPU time for one page or source
RESULT_TIMEOUT = 60.0  # seconds to wait for a result, also on a busy machine
PROGRAM = ("-m", "lycosa.web.apart")


class Unreadable(Exception):
    """Raised if a body can't be parsed within the limits; the message says why."""


class _WorkerDied(Unreadable):
    """The worker died, which need not be the page's fault."""


class _Worker:
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

    def request(self, job: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        try:
            write_message(cast(Any, self.child.stdin), (job, CPU_SECONDS, arguments))
            poller = select.poll()
            poller.register(self.child.stdout, select.POLLIN)
            if not poller.poll(1000 * RESULT_TIMEOUT):
                raise Unreadable(f"parsing took more than {RESULT_TIMEOUT:.0f} s")
            message = read_message(cast(Any, self.child.stdout))
        except (OSError, EOFError, ValueError):
            raise self._death_error() from None
        if not isinstance(message, dict):
            raise self._death_error()
        return message

    def _death_error(self) -> Unreadable:
        self.child.kill()  # in case it is still alive; an earlier exit code stays
        code = -self.child.wait()
        if code == signal.SIGXCPU:
            return Unreadable(f"parsing took more than {CPU_SECONDS} s of CPU time")
        return _WorkerDied(f"parsing killed the worker ({signal.Signals(code).name if code > 0 else f'exit {-code}'})")

    def end(self) -> None:
        self.child.kill()
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # unread input
                    continue


class WorkerPool:
    """A pool of worker processes, started on demand and reused."""

    def __init__(self, max_workers: int = 2, memory: int = 500_000_000) -> None:  # bytes
        self.memory = memory
        self._slots = threading.Semaphore(max_workers)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._closed = False
        self._threads = ThreadPoolExecutor(max_workers, "parser")

    def run(self, job: str, *arguments: Any, retry: bool = False) -> Any:
        """Run a job in a worker, with `retry` once more if the worker dies; OSError if no worker can be started."""
        try:
            message = self._request(job, arguments)
        except _WorkerDied:
            if not retry:
                raise
            message = self._request(job, arguments)
        if "error" in message:
            raise RuntimeError(message["error"])
        return JOBS[job].decode(message["result"])

    async def run_in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Call `work`, which waits for worker jobs, in a thread, so that the event loop is not blocked."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def _request(self, job: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
        with self._slots:
            process, keep = self._free(), False
            try:
                message = process.request(job, arguments)
                if "memory" in message:  # the worker's state is unknown after a MemoryError
                    raise Unreadable(f"parsing takes more than {self.memory // 1_000_000} MB")
                keep = True
            finally:
                with self._lock:
                    self._busy.discard(process)
                    if keep and not self._closed:
                        self._idle.append(process)
                    else:
                        process.end()
        return message

    def _free(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise OSError(errno.ESHUTDOWN, "the worker pool is closed")
            while self._idle:
                process = self._idle.pop()
                if process.child.poll() is None:
                    break
                process.end()
            else:
                process = _Worker(self.memory)
            self._busy.add(process)
            return process

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for process in self._idle:
                process.end()
            self._idle.clear()
            for process in self._busy:  # the thread that waits for it ends it
                process.child.kill()
        self._threads.shutdown(wait=False, cancel_futures=True)


WORKERS = WorkerPool()
atexit.register(WORKERS.close)


def read_page(body: bytes, url: str, content_type: str, agent: str = "", *, in_worker: bool = False) -> ParsedPage:
    """Parse a body by its content type; in a worker if it is large or a document, or if `in_worker` is set."""
    in_worker = in_worker or bool(kind_of(body, url, content_type))
    if not in_worker and len(body) <= LARGE_BODY:
        return read_any(body, url, content_type, agent)
    document: ParsedPage = _run_in_worker("page", in_worker, body, url, content_type, agent)
    return document


def reparse_page(body: bytes, url: str, content_type: str, *, in_worker: bool = False) -> ParsedPage:
    """Parse a stored body again; return an empty page if that fails, as it may on a smaller machine."""
    try:
        return read_page(body, url, content_type, in_worker=in_worker)
    except Unreadable:
        return ParsedPage()


async def read_in_worker(job: str, *arguments: Any, in_worker: bool = False) -> Any:
    """Run a job in a worker without blocking the event loop; with `in_worker`, never fall back to this process."""
    return await WORKERS.run_in_thread(_run_in_worker, job, in_worker, *arguments)


def _run_in_worker(job: str, in_worker: bool, *arguments: Any) -> Any:
    try:
        return WORKERS.run(job, *arguments)
    except OSError as error:  # no worker can be started: a body that is only large can be parsed here
        if in_worker:
            raise Unreadable(f"no worker process could be started: {error.strerror}") from error
        return JOBS[job].read(*arguments)
