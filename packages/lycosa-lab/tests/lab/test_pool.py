from __future__ import annotations

from collections.abc import Callable

import pytest

from lycosa.core.durations import format_duration
from lycosa.core.errors import LycosaError
from lycosa_lab.pool import map_parallel


def test_map_parallel_keeps_order_and_reports_failure() -> None:
    calls: list[tuple[str, int, int]] = []
    for workers in (1, 2):
        assert ["6h", "1d", "3d"] == map_parallel(
            format_duration, [21_600.0, 86_400.0, 259_200.0], workers, "formatting", lambda *call: calls.append(call)
        )
    assert ("formatting", 3, 3) == calls[-1]
    failing: Callable[[str], float] = _fail
    with pytest.raises(LycosaError, match="no such thing"):
        map_parallel(failing, ["a", "b"], 1, "failing", lambda *call: None)


def _fail(text: str) -> float:
    raise LycosaError("no such thing")
