"""Memory that is given back is not that of the process any more."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from lycosa.core.cold import give_back


def resident() -> int:
    """Bytes."""
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists() or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="not glibc on Linux"
)
def test_what_was_freed_goes_back() -> None:
    """Many arrays that are small enough for the heap, with one that stays behind them."""
    arrays = [np.ones(1 << 13) for _ in range(3000)]
    last = np.ones(1 << 13)
    with_them = resident()
    arrays.clear()
    give_back()
    assert with_them - resident() > 100_000_000
    assert last.all()
