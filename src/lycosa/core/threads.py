"""Linear algebra on one thread while somebody works on pages, which are small: threads would only wait for each other.

The command line says so before numpy is loaded, by variables. Who uses the library may have loaded numpy long before,
and want its threads again: so numpy's OpenBLAS is told, and told otherwise in the end. Of other libraries nothing is
known here; they go by their variables.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache

import numpy as np

_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
_SPELLINGS = [(f"{first}openblas_", last) for first in ("scipy_", "") for last in ("64_", "")]

_lock = threading.Lock()
_working = 0
_before = 1


def begin() -> None:
    """One thread from now on, unless somebody has said how many by a variable. Each time needs an `end`."""
    global _working, _before
    with _lock:
        _working += 1
        if _working == 1 and (library := _openblas()) is not None and not any(map(os.environ.get, _VARIABLES)):
            count, set_count = library
            _before = count()
            set_count(1)


def end() -> None:
    """As many as there were before, once nobody works any more."""
    global _working, _before
    with _lock:
        _working -= 1
        if _working == 0 and _before > 1 and (library := _openblas()) is not None:
            library[1](_before)
            _before = 1


@cache
def _openblas() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """How to ask numpy's OpenBLAS for its number of threads, and how to set it; None if it has another library."""
    try:
        library = ctypes.CDLL(np.linalg._umath_linalg.__file__)
    except (AttributeError, OSError):
        return None
    for first, last in _SPELLINGS:
        try:
            return library[f"{first}get_num_threads{last}"], library[f"{first}set_num_threads{last}"]
        except AttributeError:
            continue
    return None
