"""Limit BLAS to one thread while a crawl runs: its arrays are so small that more threads only slow it down."""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")

_controller = cache(ThreadpoolController)
_lock = threading.Lock()
_users = 0
_limits: Any = None


def limit_threads() -> None:
    """Limit BLAS to one thread, unless an environment variable sets the number; undone by `restore_threads`."""
    global _users, _limits
    with _lock:
        _users += 1
        if _users == 1 and not any(map(os.environ.get, _VARIABLES)):
            _limits = _controller().limit(limits=1, user_api="blas")


def restore_threads() -> None:
    """Undo `limit_threads`; the last call restores the number of threads."""
    global _users, _limits
    with _lock:
        _users -= 1
        if _users == 0 and _limits is not None:
            _limits.restore_original_limits()
            _limits = None
