"""`lycosa doctor`: what it says, and how it leaves."""

from __future__ import annotations

import json
import sys

import pytest

from lycosa.cli import doctor, main
from lycosa.cli.examining import Finding


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run the command in this process; its exit code."""
    monkeypatch.setattr(sys, "argv", ["lycosa", "doctor", *words])
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


def test_this_machine_is_well(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the tests run, everything that is needed works, and a crawl of five pages takes less than a second."""
    assert 0 == run(monkeypatch, "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["works"]
    findings = {finding["what"]: finding for finding in told["findings"]}
    assert {"versions", "packages", "SQLite", "clock", "disk", "open files", "terminal", "text"} <= findings.keys()
    assert "5 of 5 pages read back from log and WARC" == findings["trial archive"]["told"]
    trial = findings["trial crawl"]["told"]
    assert trial.startswith("5 pages over HTTP on this machine in ")
    assert float(trial.split()[-2]) < 1.0


def test_text_is_for_people(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --json: a line for each finding, the verdict last."""
    bad = Finding("pyarrow", "costs", "not installed", "no tables", "pip install it")
    monkeypatch.setattr(doctor, "try_crawl", lambda: iter([]))
    monkeypatch.setattr(doctor, "examine", lambda: iter([Finding("clock", "ok", "12:00"), bad]))
    assert 0 == run(monkeypatch)
    assert [
        "  clock    12:00",
        "- pyarrow  not installed",
        "           costs: no tables",
        "           to do: pip install it",
        "Lycosa works here. 1 thing could be better.",
    ] == capsys.readouterr().out.splitlines()


def test_what_is_broken_decides_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Leaves with 1 when something essential is broken, with the verdict as the last line."""
    broken = Finding("numpy", "broken", "not installed", "Lycosa needs it", "pip install numpy")
    monkeypatch.setattr(doctor, "try_crawl", lambda: iter([]))
    monkeypatch.setattr(doctor, "examine", lambda: iter([broken]))
    assert 1 == run(monkeypatch)
    assert "Lycosa does not work here: 1 thing is broken." == capsys.readouterr().out.splitlines()[-1]
    assert 1 == run(monkeypatch, "--json")
    assert json.loads(capsys.readouterr().out)["works"] is False
