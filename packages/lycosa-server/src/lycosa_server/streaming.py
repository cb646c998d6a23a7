"""Stream a file to the client while it is written, without holding all of it in memory.

The writer runs in a thread of its own, because it may hold a log open, and logs belong to one thread. A pipe connects
the two: it limits how far the writer is ahead, and makes its next write fail when the reader has gone.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO

from lycosa_server.people.limits import TooManyAttempts

PIECE = 65_536


class Quota:
    def __init__(self, per_person: int, total: int, wait: float, message: str) -> None:
        self.per_person, self.total, self.wait, self.message = per_person, total, wait, message
        self.running: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def one(self, person: str) -> Iterator[None]:
        with self._lock:
            if self.running[person] >= self.per_person or self.running.total() >= self.total:
                raise TooManyAttempts(self.wait, self.message)
            self.running[person] += 1
        try:
            yield
        finally:
            with self._lock:
                self.running[person] -= 1
                self.running += Counter()  # drop people without operations


def streamed(write: Callable[[IO[bytes]], object]) -> Iterator[bytes]:
    reading, writing = os.pipe()
    failures: list[BaseException] = []

    def work() -> None:
        with suppress(BrokenPipeError), open(writing, "wb", PIECE) as out:  # the reader has gone
            try:
                write(out)
            except BaseException as error:
                failures.append(error)

    threading.Thread(target=work, name="export", daemon=True).start()
    with open(reading, "rb", PIECE) as pieces:  # closing it makes the writer fail, so no thread is left behind
        while piece := pieces.read(PIECE):
            yield piece
    if failures:  # abort the response, so that the client notices
        raise failures[0]
