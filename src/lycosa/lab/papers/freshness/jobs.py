"""Runs spread over processes; each keeps what it measured in a file, so that a second call finishes the first."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from lycosa.core.errors import LycosaError
from lycosa.core.telling import Tell

Given = TypeVar("Given")
Made = TypeVar("Made")


def spread(work: Callable[[Given], Made], items: Sequence[Given], workers: int, what: str, tell: Tell) -> list[Made]:
    """Do the same work on all items, the results in their order; with one worker in this process."""
    many = min(workers or os.cpu_count() or 1, len(items))
    tell(what, 0, len(items))
    if many <= 1:
        made = []
        for number, item in enumerate(items, 1):
            made.append(work(item))
            tell(what, number, len(items))
        return made
    pool = ProcessPoolExecutor(many, multiprocessing.get_context("spawn"), _start)
    try:
        futures = [pool.submit(work, item) for item in items]
        for number, future in enumerate(as_completed(futures), 1):
            future.result()  # the first failure ends it all
            tell(what, number, len(items))
        pool.shutdown()
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            raise LycosaError(
                "a worker process has died, perhaps for want of memory: what is done is kept; go on with fewer workers "
                "(--workers 1)"
            ) from error
        raise
    return [future.result() for future in futures]


def _start() -> None:
    """The beginning of a worker's life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes: the first one decides
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
