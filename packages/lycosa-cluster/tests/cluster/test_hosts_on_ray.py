"""Ray actors."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace

import pytest

from lycosa_cluster.driving import COORDINATOR, Unreachable
from lycosa_cluster.hosts_on_ray import Actors, RayHosts
from lycosa_cluster.reaching import ClusterTarget


def test_call_raises_unreachable_without_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False))

    async def work() -> None:
        for who in (RayHosts(ClusterTarget("local", 1)), Actors("none")):
            with pytest.raises(Unreachable):
                await who.call(COORDINATOR, "end", "one")

    asyncio.run(work())
