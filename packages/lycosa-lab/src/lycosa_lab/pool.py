"""Parallel map over spawned worker processes, which ignore Ctrl-C and exit with their parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from lycosa.core import blas_threads as threads
from lycosa.core.errors import LycosaError
from lycosa.core.progress import ProgressCallback

Item = TypeVar("Item")
Result = TypeVar("Result")

_shared: tuple[Any, ...]  # arguments common to all items; set when a worker starts


def map_parallel(
    work: Callable[..., Result],
    items: Sequence[Item],
    workers: int,
    noun: str,
    progress: ProgressCallback,
    *shared: Any,
) -> list[Result]:
    """Return `work(*shared, item)` for each item in order; `shared` is sent to each process once.

    `workers` 0 means one process per core, 1 runs in this process.
    """
    many = min(workers or os.cpu_count() or 1, len(items))
    progress(noun, 0, len(items))
    if many <= 1:
        results = []
        for number, item in enumerate(items, 1):
            results.append(work(*shared, item))
            progress(noun, number, len(items))
        return results
    before = {child.pid for child in multiprocessing.active_children()}
    pool = ProcessPoolExecutor(many, multiprocessing.get_context("spawn"), _start, shared)
    try:
        futures = [pool.submit(_work, work, item) for item in items]
        for number, future in enumerate(as_completed(futures), 1):
            future.result()  # the first failure cancels the remaining items
            progress(noun, number, len(items))
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
                "a worker process has died, perhaps because memory ran out; finished crawls are kept. Continue with "
                "fewer "
                "workers (--workers 1). In a script of your own, call run() behind 'if __name__ == \"__main__\":'"
            ) from error
        raise
    return [future.result() for future in futures]


def _work(work: Callable[..., Result], item: Any) -> Result:
    return work(*_shared, item)


def _start(*shared: Any) -> None:
    global _shared
    _shared = shared
    import numpy  # noqa: F401  # before its threads are limited: cores are spread over already

    threads.limit_threads()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes, but only the parent handles it
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
