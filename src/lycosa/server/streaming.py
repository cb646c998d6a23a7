"""What is written to a file, as an answer that is sent while it is written: nothing of it is kept whole.

The writer has a thread of its own, as it may hold a log open, which belongs to one thread. It is some pieces ahead of
the reader at most; when the reader is gone, its next write fails, and it ends.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, cast

PIECE = 65_536
AHEAD = 8
"""Pieces that wait for the reader at most."""

PATIENCE = 0.25
"""Seconds between two looks whether the other side is still there."""


class Busy(Exception):
    """There are as many as may be."""


class Writers:
    """How many answers are being written now, by person: each takes a thread, and most of a core."""

    def __init__(self, each: int = 2, most: int = 8) -> None:
        self.each, self.most = each, most
        self._running: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def one(self, person: str) -> Iterator[None]:
        """One more of theirs, until the block is left; `Busy` if they, or all together, have as many as may be."""
        with self._lock:
            if self._running[person] >= self.each or self._running.total() >= self.most:
                raise Busy
            self._running[person] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[person] -= 1
                self._running += Counter()  # forget who has none


class _Gone(Exception):
    """Nobody reads any more."""


class _Pipe:
    """A binary file that can be written, and nothing else."""

    def __init__(self) -> None:
        self.pieces: queue.Queue[bytes | BaseException | None] = queue.Queue(AHEAD)
        self.gone = threading.Event()
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> int:
        if self.gone.is_set():
            raise _Gone
        piece = bytes(data)
        self._held.append(piece)
        self._size += len(piece)
        if self._size >= PIECE:
            self.flush_all()
        return len(piece)

    def flush(self) -> None:
        """Small pieces are sent together: nothing to do."""

    def flush_all(self) -> None:
        """Send what is held."""
        if self._held:
            self.put(b"".join(self._held))
            self._held, self._size = [], 0

    def put(self, piece: bytes | BaseException | None) -> None:
        while not self.gone.is_set():
            try:
                self.pieces.put(piece, timeout=PATIENCE)
                return
            except queue.Full:
                continue
        raise _Gone


def streamed(write: Callable[[IO[bytes]], object]) -> Iterator[bytes]:
    """What `write` writes, piece by piece.

    >>> b"".join(streamed(lambda out: out.write(b"coral") and out.write(b" reefs")))
    b'coral reefs'
    """
    pipe = _Pipe()

    def work() -> None:
        try:
            write(cast(IO[bytes], pipe))
            pipe.flush_all()
            pipe.put(None)
        except _Gone:
            pass
        except BaseException as error:  # told to whoever reads: the answer breaks off, and is seen to
            with suppress(_Gone):
                pipe.put(error)

    threading.Thread(target=work, name="export", daemon=True).start()
    try:
        while True:
            piece = pipe.pieces.get()
            if piece is None:
                return
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        pipe.gone.set()  # no waiting for the writer: this may be the thread that answers everyone
