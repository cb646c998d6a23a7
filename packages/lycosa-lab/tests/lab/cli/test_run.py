from __future__ import annotations

from collections.abc import Callable
from json import loads
from pathlib import Path
from typing import Any

import pytest

from commands import run as command
from lab_experiments import results_csv


def test_run_command_is_equal_by_flags_and_file(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    words = ["lab", "run", "--workers", "1", "--quiet", "--json"]
    flags = [
        "--strategy",
        "breadth-first",
        "--strategy",
        "best-first",
        "--topics",
        "1",
        "--budget",
        "40",
        "--budget",
        "10",
    ]
    out, again = tmp_path / "out", tmp_path / "again"
    assert 0 == command(monkeypatch, *words, "--corpus", str(corpus), *flags, "--seed-count", "1", "--out", str(out))
    output = loads(capsys.readouterr().out)
    assert ([], [10, 40]) == (output["failed"], output["configuration"]["budgets"])
    assert "6 crawls" in output["summary"]
    assert {"experiment.toml", "results.csv", "report", "runs", "guides"} == {path.name for path in out.iterdir()}
    once_more = [
        "lab",
        "run",
        str(out / "experiment.toml"),
        "--out",
        str(again),
        "--workers",
        "1",
        "--against",
        str(out),
    ]
    assert 0 == command(monkeypatch, *once_more)
    assert results_csv(out) == results_csv(again)
    shown, _, paired = capsys.readouterr().out.partition("Harvest less that of")
    assert 4 == sum(line.split()[2:6] == ["0.000", "0.000", "0.000", "1.000"] for line in paired.splitlines())
    assert [row[0] for row in output["parts"][0]["rows"]] == sorted(
        ["breadth-first", "best-first"], key=lambda text: shown.index(f"\n{text} ")
    )
    assert str(again / "results.csv") in paired


def test_run_command_against_reports_differences(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    words = ["--strategy", "best-first", "--against", "breadth-first", "--topics", "2", "--budget", "20"]
    words += ["--corpus", str(corpus), "--out", str(tmp_path), "--workers", "1", "--quiet", "--json"]
    assert 0 == command(monkeypatch, "lab", "run", *words)
    output = loads(capsys.readouterr().out)
    parts = {part["key"].rpartition("-")[2]: part for part in output["parts"]}
    (line,) = parts["differences"]["rows"]
    assert ["best-first", 20, 2] == [*line[:2], line[-1]]
    means = {row[0]: float(row[2].split()[0]) for row in parts["harvest"]["rows"]}
    assert means["best-first"] - means["breadth-first"] == pytest.approx(line[2], abs=0.0015)
    assert "Harvest less that of breadth-first" in (tmp_path / "report" / "index.html").read_text("utf-8")


def test_run_command_errors_are_one_line(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, own: Callable[[str], str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    base = ["--corpus", str(corpus), "--strategy", "best-first"]
    for words, said in [
        ([], "nothing to run"),
        ([*base, "--topic", "no such thing", "--out", str(tmp_path / "a")], "no class 'no such thing'"),
        ([*base, "--out", str(tmp_path / "mine")], "is not an experiment"),
        (["--corpus", str(tmp_path / "mine"), "--strategy", "best-first"], "lycosa lab index"),
    ]:
        assert 2 == command(monkeypatch, "lab", "run", *words)
        assert said in capsys.readouterr().err
    broken = own("pass")
    module = tmp_path / f"{broken.partition(':')[0]}.py"
    module.write_text(
        module.read_text().replace('if table.nodes[step.row] == "n20"', "if True").replace("pass", "1 / 0")
    )
    words = [*base, "--strategy", broken, "--topics", "1", "--budget", "5", "--workers", "1", "--quiet"]
    assert 1 == command(monkeypatch, "lab", "run", *words, "--out", str(tmp_path / "b"))
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_run_command_interrupted_can_be_resumed(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def stop(*args: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lycosa_lab.experiment_runner._run_all", stop)
    words = ["--corpus", str(corpus), "--strategy", "best-first", "--topics", "1", "--workers", "1", "--out"]
    assert 130 == command(monkeypatch, "lab", "run", *words, str(tmp_path / "out"))
    assert "The same command continues" in capsys.readouterr().err
