"""One thread for linear algebra while a crawl works: its arrays are small, and threads would wait for each other.

The command line sets the variables below before numpy is loaded. A program may have loaded numpy long before and wants
its threads back afterwards.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")

_controller = cache(ThreadpoolController)
_lock = threading.Lock()
_working = 0
_limits: Any = None


def begin() -> None:
    """Limit BLAS to one thread, unless a variable sets the number. Each call needs an `end`."""
    global _working, _limits
    with _lock:
        _working += 1
        if _working == 1 and not any(map(os.environ.get, _VARIABLES)):
            _limits = _controller().limit(limits=1, user_api="blas")


def end() -> None:
    """Restore the number of threads when the last one ends."""
    global _working, _limits
    with _lock:
        _working -= 1
        if _working == 0 and _limits is not None:
            _limits.restore_original_limits()
            _limits = None
