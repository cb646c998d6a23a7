"""`lycosa demo`."""

from __future__ import annotations

from pathlib import Path

from commands import Command
from lycosa.cli.demo import MARK


def test_demo_compares_strategies_and_can_be_repeated(tmp_path: Path, command: Command) -> None:
    words = ("demo", "--budget", "20", "--out", tmp_path / "demo")
    for _ in range(2):
        text = command.out(*words)
        assert "harvest rate" in text
        assert f"lycosa show {tmp_path / 'demo' / 'scent'}" in text or "show" in text
    assert (tmp_path / "demo" / MARK).exists()


def test_demo_keeps_other_files(tmp_path: Path, command: Command) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    assert "contains other files" in command.complaint("demo", "--out", tmp_path)
    assert "precious" == (tmp_path / "mine.txt").read_text()


def test_demo_serve_rejects_impossible_web(command: Command) -> None:
    assert "at least 20 pages" in command.complaint("demo", "--serve", "--pages", "3", "--hosts", "2")
