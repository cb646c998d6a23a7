"""The runner for --cluster."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from commands import Command
from lycosa_cluster.driving import Unreachable
from lycosa_cluster.reaching import ClusterTarget
from lycosa_cluster.splitting import previous_shard_count


def test_crawl_command_cluster_errors_are_one_line(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    start = ("crawl", "coral reefs", "--seed", "http://a.test/", "--out", tmp_path / "new")
    for where in ("local:many", "local:0", "auto,shards=0", "local:1000"):
        assert "1 to 999" in command.complaint(*start, "--cluster", where)
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "pip install lycosa-cluster" in command.complaint(*start, "--cluster", "local:2")
    assert not (tmp_path / "new").exists()


class DeadHosts:
    """Hosts of a failed cluster: calls raise, or never return."""

    count = 2

    def __init__(self, where: ClusterTarget, note: Any, failure: str) -> None:
        self.failure, self.reasons = failure, iter(["", "", "gcs_server and raylet have ended"])
        self.calls: list[str] = []

    async def open(self, go_on: Any) -> None:
        pass

    def gone(self) -> str:
        return "" if self.failure == "its actors are dead" else next(self.reasons, "gcs_server and raylet have ended")

    async def call(self, number: int, method: str, *given: Any) -> Any:
        self.calls.append(method)
        if self.failure == "its actors are dead":
            raise Unreachable("The actor\n\tnever ran")
        await asyncio.Event().wait()

    async def close(self) -> None:
        assert self.failure == "its actors are dead" or "end" not in self.calls


@pytest.mark.parametrize("failure", ["its processes have ended", "its actors are dead"])
def test_crawl_command_ends_if_cluster_fails(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failure: str
) -> None:
    monkeypatch.setattr("lycosa_cluster.runner.RayHosts", partial(DeadHosts, failure=failure))
    monkeypatch.setattr("lycosa_cluster.running.POLL_SECONDS", 0.01)
    monkeypatch.setattr("lycosa_cluster.running.HOST_TIMEOUT_SECONDS", 0.01)
    start = ("crawl", "coral reefs", "--seed", "http://a.test/", "--out", tmp_path / "new", "--cluster", "local:2")
    message = command.complaint(*start, "--quiet")
    assert f"continue with: lycosa resume {tmp_path / 'new'}" in message
    assert ("gcs_server and raylet have ended" if "processes" in failure else "The actor never ran") in message
    assert 2 == previous_shard_count(tmp_path / "new")
