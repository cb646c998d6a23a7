"""`lycosa topics` and `lycosa strategies`: lists, and all about one."""

import json
import os
import subprocess
import sys

import pytest

from commands import run
from lycosa.cli.topics import strategies
from lycosa.estimators import STRATEGIES
from lycosa.topics import TOPICS


@pytest.mark.parametrize(("command", "names"), [("topics", TOPICS), ("strategies", STRATEGIES)])
def test_everything_is_listed(
    command: str, names: dict[str, object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each name has a line, with what it needs and the paper, which has a column of its own where there is room."""
    assert run(monkeypatch, command, width=80) == 0
    narrow = capsys.readouterr().out
    assert all(name in narrow for name in names)
    assert max(map(len, narrow.split("\n"))) <= 80
    assert "(Trivedi" in narrow
    assert run(monkeypatch, command, width=120) == 0
    wide = capsys.readouterr().out
    assert "Trivedi" in wide
    assert max(map(len, wide.split("\n"))) <= 120


@pytest.mark.parametrize(("command", "names"), [("topics", TOPICS), ("strategies", STRATEGIES)])
def test_the_list_as_json(
    command: str, names: dict[str, object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Name, summary, needs and paper of each."""
    assert run(monkeypatch, command, "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert list(names) == [row["name"] for row in rows]
    assert {"name", "summary", "needs", "paper"} == set(rows[0])


@pytest.mark.parametrize("name", TOPICS)
def test_one_judge(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What it does, what it needs, its parameters, and a command to try; no examples of code."""
    assert run(monkeypatch, "topics", name, width=80) == 0
    told = capsys.readouterr().out
    assert ">>>" not in told
    assert not TOPICS[name].needs or f"needs {TOPICS[name].needs}" in told
    assert "threshold" in told
    assert f"--judge {name}" in told


def test_parameters_with_types_and_defaults(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As JSON: the type in words, the default as it is."""
    assert run(monkeypatch, "topics", "vector", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    expected = {
        "threshold": ("number", 0.1),
        "tf": ("max or log or raw", "log"),
        "idf": ("background or learned or none", "learned"),
        "link": ("anchor or context", "anchor"),
    }
    assert expected == {row["name"]: (row["type"], row["default"]) for row in told["parameters"]}
    assert told["about"].startswith("Cosine of tf-idf vectors")


def test_one_strategy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Its own parameters with the defaults that its name stands for, and those of every strategy."""
    assert run(monkeypatch, "strategies", "best-first-page", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    defaults = {row["name"]: row["default"] for row in told["parameters"]}
    assert {"page": 1.0, "anchor": 0.0, "merge": "max"} == {key: defaults[key] for key in ("page", "anchor", "merge")}
    assert {"batch", "q", "zeta", "ties"} <= set(defaults)
    assert run(monkeypatch, "strategies", "best-first-page", width=80) == 0
    text = capsys.readouterr().out
    assert "paper Batsakis 2007, 3.2.1" in text
    assert "of every strategy" in text


def test_a_name_with_parameters_is_understood(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What one would type after --judge or --strategy can be asked for as it is."""
    assert run(monkeypatch, "topics", "keyword,window=50") == 0
    assert capsys.readouterr().out.startswith("keyword: ")


@pytest.mark.parametrize("command", ["topics", "strategies"])
def test_what_there_is_not(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown name is refused with those that there are."""
    assert run(monkeypatch, command, "nothing") == 2
    assert "'nothing': there are" in capsys.readouterr().err


def test_the_list_needs_no_strategy_to_be_loaded() -> None:
    """Listing imports the registry only."""
    code = (
        "import sys; from lycosa.cli.topics import strategies; strategies(json=True); "
        "print([name for name in sys.modules if name.startswith('lycosa.estimators.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"}
    )
    assert "[]" == done.stdout.strip().split("\n")[-1]


@pytest.mark.parametrize(
    ("name", "told"),
    [("rules", "--model FILE --target CLASS --strategy rules,file=FILE"), ("oracle", "--strategy oracle,scores=FILE")],
)
def test_examples_name_what_has_to_be_given(name: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is shown to be copied works, once the names of files are put in."""
    strategies(name)
    assert told in capsys.readouterr().out
