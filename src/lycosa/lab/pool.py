"""Work spread over processes: the one pool of the lab."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from lycosa.core.errors import LycosaError
from lycosa.core.telling import Tell

Given = TypeVar("Given")
Made = TypeVar("Made")


def nothing() -> None:
    """What a worker does first that needs nothing at hand."""


def spread(
    work: Callable[[Given], Made],
    items: Sequence[Given],
    workers: int,
    what: str,
    tell: Tell,
    first: Callable[[], None] = nothing,
) -> list[Made]:
    """Do the same work on all items, and give the results in their order; 0 workers: one for each core.

    With one worker it is done in this process. Others start afresh, and do `first` before their first work.
    """
    many = min(workers or os.cpu_count() or 1, len(items))
    tell(what, 0, len(items))
    if many <= 1:
        made = []
        for number, item in enumerate(items, 1):
            made.append(work(item))
            tell(what, number, len(items))
        return made
    with _pool(many, first) as pool:
        futures = [pool.submit(work, item) for item in items]
        for number, future in enumerate(as_completed(futures), 1):
            future.result()  # the first failure ends it all
            tell(what, number, len(items))
    return [future.result() for future in futures]


@contextmanager
def _pool(many: int, first: Callable[[], None]) -> Iterator[ProcessPoolExecutor]:
    before = {child.pid for child in multiprocessing.active_children()}
    pool = ProcessPoolExecutor(many, multiprocessing.get_context("spawn"), _start, (first,))
    try:
        yield pool
        pool.shutdown()
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        ours = [child for child in multiprocessing.active_children() if child.pid not in before]
        for child in ours:
            child.terminate()
        for child in ours:
            child.join(10)
        if isinstance(error, BrokenProcessPool):
            raise LycosaError(
                "a worker process has died, perhaps for want of memory: what is done is kept; go on with fewer "
                "workers (--workers 1). In a script of your own, call run() behind 'if __name__ == \"__main__\":'"
            ) from error
        raise


def _start(first: Callable[[], None]) -> None:
    """The beginning of a worker's life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes: the first one decides
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    first()


def _leave_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
