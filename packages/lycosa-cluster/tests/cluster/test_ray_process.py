"""Joining and starting Ray."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lycosa.core.errors import StoreError
from lycosa_cluster import ray_process
from lycosa_cluster.ray_process import await_all


def test_await_all_raises_for_small_cluster_or_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    def wait(ready: list[int], num_returns: int, timeout: float) -> tuple[list[int], list[int]]:
        waits.append(timeout)
        return ready[:1], ready[1:] if len(waits) < 4 else []

    inner = SimpleNamespace(worker=SimpleNamespace(_global_node=None))
    small, large = (
        SimpleNamespace(wait=wait, cluster_resources=lambda has=has: {"CPU": has}, _private=inner) for has in (1.0, 3.0)
    )
    monkeypatch.setattr(ray_process, "START_SECONDS", 0.0)
    with pytest.raises(StoreError, match="cores for only 0 of 3 shards"):
        await_all(small, [0, 1, 2], 3)
    answers = iter([True, True, False, False])
    with pytest.raises(StoreError, match="stopped before all shards were started"):
        await_all(large, [0, 1, 2], 3, lambda: next(answers))
    assert 2 == len(waits)
    await_all(large, [0, 1, 2], 3)
    assert 4 == len(waits)
