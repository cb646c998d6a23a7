"""Tests of the runner of crawls on a cluster."""

from pathlib import Path
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa.crawling import runners
from lycosa.store.directory import SHARDS


class RunnerStub:
    def __init__(self, where: str) -> None:
        self.where, self.joined = where, list[Path]()

    def join(self, directory: Path) -> None:
        self.joined.append(directory)


class PluginStub:
    def load(self) -> Any:
        return RunnerStub


@pytest.mark.parametrize(("where", "installed"), [("slurm:node1", "slurm"), ("local", "ray"), ("10.0.0.1:8080", "ray")])
def test_runner_is_found_by_name_or_default(monkeypatch: pytest.MonkeyPatch, where: str, installed: str) -> None:
    monkeypatch.setattr(runners, "named", lambda group: {installed: PluginStub()})
    made = runners.runner(where)
    assert isinstance(made, RunnerStub)
    assert where == made.where


def test_runner_not_installed_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "named", lambda group: {})
    with raises_input_error("missing-package", "--cluster needs the package lycosa-cluster"):
        runners.runner("local")


def test_join_shards_only_if_there_are_any(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stub = RunnerStub("local")
    monkeypatch.setattr(runners, "runner_of", lambda directory: stub)
    runners.join_shards(tmp_path)
    assert [] == stub.joined
    (tmp_path / f"{SHARDS}.old").mkdir()
    runners.join_shards(tmp_path)
    assert [tmp_path] == stub.joined
