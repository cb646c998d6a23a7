"""Work in a child process."""

from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa_server import child

MODULE = """
import time
from lycosa.core.errors import StoreError
from lycosa_server import child
def work(task):
    if task["do"] == "fail":
        raise StoreError("it is damaged")
    time.sleep(task["do"] == "sleep" and 60)
    return {"answer": 42}
child.serve(work)
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lycosa_child_work.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def test_run_returns_result() -> None:
    assert {"answer": 42} == child.run("lycosa_child_work", {"do": "answer"}, 60)


def test_run_raises_reason_of_failure() -> None:
    with raises_input_error("failed", match="it is damaged"):
        child.run("lycosa_child_work", {"do": "fail"}, 60)


def test_run_kills_slow_child() -> None:
    with raises_input_error("timeout"):
        child.run("lycosa_child_work", {"do": "sleep"}, 0.1)


def test_run_kills_cancelled_child() -> None:
    with raises_input_error("cancelled"):
        child.run("lycosa_child_work", {"do": "sleep"}, 60, lambda: True)
