"""`lycosa doctor`: what it says, and how it leaves."""

from __future__ import annotations

import json

import pytest

from commands import Command
from lycosa.cli import doctor
from lycosa.cli.examining import Finding


def test_this_machine_is_well(command: Command) -> None:
    """Where the tests run, everything that is needed works, and five pages can be crawled."""
    told = command.json("doctor")
    assert told["works"]
    findings = {finding["what"]: finding for finding in told["findings"]}
    assert {"versions", "packages", "SQLite", "clock", "disk", "open files", "terminal", "text"} <= findings.keys()
    assert "5 of 5 pages read back from log and WARC" == findings["trial archive"]["told"]
    assert findings["trial crawl"]["told"].startswith("5 pages over HTTP on this machine in ")


def test_text_is_for_people(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    """Without --json: a line for each finding, the verdict last."""
    bad = Finding("pyarrow", "costs", "not installed", "no tables", "pip install it")
    monkeypatch.setattr(doctor, "try_crawl", lambda: iter([]))
    monkeypatch.setattr(doctor, "examine", lambda: iter([Finding("clock", "ok", "12:00"), bad]))
    assert [
        "  clock    12:00",
        "- pyarrow  not installed",
        "           costs: no tables",
        "           to do: pip install it",
        "Lycosa works here. 1 thing could be better.",
    ] == command.out("doctor").splitlines()


def test_what_is_broken_decides_the_exit_code(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    """Leaves with 1 when something essential is broken, with the verdict as the last line."""
    broken = Finding("numpy", "broken", "not installed", "Lycosa needs it", "pip install numpy")
    monkeypatch.setattr(doctor, "try_crawl", lambda: iter([]))
    monkeypatch.setattr(doctor, "examine", lambda: iter([broken]))
    code, out, _ = command("doctor")
    assert (1, "Lycosa does not work here: 1 thing is broken.") == (code, out.splitlines()[-1])
    code, out, _ = command("doctor", "--json")
    assert (1, False) == (code, json.loads(out)["works"])
