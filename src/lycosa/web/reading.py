"""Where pages are read: here, or in a process that can be ended.

Reading is a pure function, so where it happens changes nothing. An ordinary page is read here, at once. One that is
large, in which a crawl has died before, or that is a document (`documents/`), is read in one of a few processes with
limits of time and memory (see `apart.py`): what exceeds them, or crashes, is `Unreadable`, which is an outcome of that
page and nothing else. Documents are never read here, whatever happens: their readers are native code.

A crawl may also have all its pages read in such processes (`--readers`, `ReaderPool`), to use more than one core.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast

from lycosa.web.apart import JOBS as JOBS
from lycosa.web.apart import packed, receive, send, unpacked
from lycosa.web.documents import read_any
from lycosa.web.documents.kinds import kind_of
from lycosa.web.html import Document

LARGE = 500_000  # bytes: the worst body of this size takes a third of a second
SECONDS = 10  # CPU time for one page or source
MEMORY = 500_000_000  # bytes
LONGEST = 60.0  # seconds to wait for an answer, however busy the machine is

PIPE = 1 << 20  # bytes: a page, mostly
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

    def ask(self, job: str, given: tuple[Any, ...]) -> Any:
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
            raise self.death() from None

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

    def __init__(self, most: int = 2, memory: int = MEMORY) -> None:
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
                raise _too_much(self.memory)
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


def _too_much(memory: int) -> Unreadable:
    return Unreadable(f"reading it takes more than {memory // 1_000_000} MB")


class _Worker(_Process):
    """One that an event loop asks: it is answered without a thread that waits."""

    def __init__(self, memory: int, pool: ReaderPool) -> None:
        super().__init__(memory)
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.pool, self.loop = pool, asyncio.get_running_loop()
        self.to, self.back = self.child.stdin.fileno(), self.child.stdout.fileno()
        self.timer: asyncio.TimerHandle | None = None
        for pipe in (self.to, self.back):
            os.set_blocking(pipe, False)
            with contextlib.suppress(OSError, AttributeError):  # no Linux, or no more room for pipes
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)

    def begin(self, message: bytes, answer: asyncio.Future[Any]) -> None:
        """Ask for a job; `answer` will be told."""
        self.left, self.answer, self.told = memoryview(message), answer, bytearray()
        late = Unreadable(f"reading it took more than {LONGEST:.0f} s")
        self.timer = self.loop.call_later(LONGEST, self._fail, late)
        self.loop.add_reader(self.back, self._read)
        self._write()

    def _write(self) -> None:
        try:
            self.left = self.left[os.write(self.to, self.left) :]
        except BlockingIOError:
            pass
        except OSError:  # it is gone, and there will be no answer
            self.left = self.left[:0]
        if self.left:
            self.loop.add_writer(self.to, self._write)
        else:
            self.loop.remove_writer(self.to)

    def _read(self) -> None:
        try:
            piece = os.read(self.back, PIPE)
        except BlockingIOError:
            return
        self.told += piece
        size = int.from_bytes(self.told[:8], "big") if len(self.told) >= 8 else 1
        if not piece or not 0 < size <= self.pool.memory:
            self._fail(self.death())
        elif len(self.told) >= 8 + size:
            self._end_of(size)

    def _end_of(self, size: int) -> None:
        try:
            message = unpacked(memoryview(self.told)[8 : 8 + size])
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self._fail(self.death())
        elif "memory" in message:  # who knows what else it lacks
            self._fail(_too_much(self.pool.memory))
        else:
            self.rest()
            if not self.answer.done():
                self.answer.set_result(message)
            self.pool.free(self)

    def _fail(self, why: Unreadable) -> None:
        self.rest()
        if not self.answer.done():
            self.answer.set_exception(why)
        self.pool.drop(self)

    def rest(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self.loop.remove_reader(self.back)
        self.loop.remove_writer(self.to)


class ReaderPool:
    """Processes that read the pages of a crawl while its loop goes on: one page each, the others wait.

    A page whose process dies is read by another once more. Who asks sees to it that not too many wait.
    """

    def __init__(self, number: int, memory: int = MEMORY) -> None:
        self.number, self.memory = number, memory
        self._workers: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._waiting: deque[tuple[bytes, asyncio.Future[Any]]] = deque()

    async def run(self, job: str, *given: Any) -> Any:
        """Have a job done. OSError if no process can be started."""
        asked = packed((job, SECONDS, given))
        try:
            message = await self._ask(asked)
        except _Died:
            message = await self._ask(asked)
        if "error" in message:
            raise RuntimeError(message["error"])
        return JOBS[job].unpacked(message["result"])

    def _ask(self, message: bytes) -> asyncio.Future[Any]:
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append((message, answer))
        self._next()
        return answer

    def free(self, worker: _Worker) -> None:
        """It has nothing to do any more: whoever waits is next."""
        self._idle.append(worker)
        self._next()

    def drop(self, worker: _Worker) -> None:
        """It is of no use any more: another takes its place."""
        worker.end()
        self._workers.discard(worker)
        self._next()

    def _next(self) -> None:
        while self._waiting:
            if self._waiting[0][1].done():  # given up
                self._waiting.popleft()
            elif (worker := self._ready()) is not None:
                worker.begin(*self._waiting.popleft())
            else:
                return

    def _ready(self) -> _Worker | None:
        while self._idle:
            worker = self._idle.pop()
            if worker.child.poll() is None:
                return worker
            worker.end()  # what died meanwhile did not die of a page
            self._workers.discard(worker)
        if len(self._workers) == self.number:
            return None
        try:
            worker = _Worker(self.memory, self)
        except OSError as error:
            if not self._workers:  # nobody else will ever answer
                for _, answer in self._waiting:
                    if not answer.done():
                        answer.set_exception(error)
                self._waiting.clear()
            return None
        self._workers.add(worker)
        return worker

    def close(self) -> None:
        self._waiting.clear()
        self._idle.clear()
        workers, self._workers = self._workers, set()
        for worker in workers:
            worker.rest()
            worker.end()


READERS = Readers()
atexit.register(READERS.close)


def read_page(body: bytes, url: str, content_type: str, agent: str = "", *, apart: bool = False) -> Document:
    """Read a body by its content type, in another process if it is large or a document, or `apart` is wanted.

    >>> read_page(b"<title>Reefs</title>", "http://a.test/", "text/html").title
    'Reefs'
    """
    apart = apart or bool(kind_of(body, url, content_type))
    if not apart and len(body) <= LARGE:
        return read_any(body, url, content_type, agent)
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
