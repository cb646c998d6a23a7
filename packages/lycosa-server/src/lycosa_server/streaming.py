"""What is written to a file, as an answer that is sent while it is written: nothing of it is kept whole.

The writer has a thread of its own, as it may hold a log open, which belongs to one thread. Between the two is a pipe:
the writer is some pieces ahead at most, and when the reader is gone, its next write fails, and it ends.
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
    """How many of something are under way now, by person: so many of each, and of all together."""

    def __init__(self, each: int, most: int, wait: float, told: str) -> None:
        self.each, self.most, self.wait, self.told = each, most, wait, told
        self.running: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def one(self, person: str) -> Iterator[None]:
        """One more of theirs, until the block is left; `TooManyAttempts` if they, or all together, have as many as may be."""
        with self._lock:
            if self.running[person] >= self.each or self.running.total() >= self.most:
                raise TooManyAttempts(self.wait, self.told)
            self.running[person] += 1
        try:
            yield
        finally:
            with self._lock:
                self.running[person] -= 1
                self.running += Counter()  # forget who has none


def streamed(write: Callable[[IO[bytes]], object]) -> Iterator[bytes]:
    """What `write` writes, piece by piece.

    >>> b"".join(streamed(lambda out: out.write(b"coral") and out.write(b" reefs")))
    b'coral reefs'
    """
    reading, writing = os.pipe()
    failures: list[BaseException] = []

    def work() -> None:
        with suppress(BrokenPipeError), open(writing, "wb", PIECE) as out:  # broken: nobody reads any more
            try:
                write(out)
            except BaseException as error:
                failures.append(error)

    threading.Thread(target=work, name="export", daemon=True).start()
    with open(reading, "rb", PIECE) as pieces:  # once it is closed, the writer fails: nobody waits for it
        while piece := pieces.read(PIECE):
            yield piece
    if failures:  # the answer breaks off, and is seen to
        raise failures[0]
