"""Streamed responses and quotas."""

from __future__ import annotations

import io
import threading

import pytest

from lycosa_server.people.limits import TooManyAttempts
from lycosa_server.streaming import PIECE, Quota, streamed


def test_streamed_writer_waits_for_its_reader() -> None:
    written = 0
    ended = threading.Event()

    def write(out: io.BufferedIOBase) -> None:
        nonlocal written
        try:
            while True:
                out.write(b"x" * PIECE)
                written += 1
        finally:
            ended.set()

    pieces = streamed(write)  # type: ignore[arg-type]
    assert PIECE == len(next(pieces))
    pieces.close()  # type: ignore[attr-defined]
    assert ended.wait(60)
    assert written <= 6


def test_streamed_failure_reaches_reader() -> None:
    def write(out: io.BufferedIOBase) -> None:
        out.write(b"x" * PIECE)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(streamed(write))  # type: ignore[arg-type]


def test_quota_limits_each_person_and_total() -> None:
    writers = Quota(2, 3, 1, "later")
    with writers.one("ada"), writers.one("ada"):
        with pytest.raises(TooManyAttempts), writers.one("ada"):
            pass
        with writers.one("bob"), pytest.raises(TooManyAttempts), writers.one("eve"):
            pass
        with writers.one("eve"):
            pass
