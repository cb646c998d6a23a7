"""Tests of the `lycosa report` command."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lycosa.cli import main
from lycosa.core.types import Seed
from synthetic_report import page, write


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    return write(tmp_path / "reefs", [Seed("http://a.test/"), page("http://a.test/", 0.9)])


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run the command in this process; return its exit code."""
    monkeypatch.setattr(sys, "argv", ["lycosa", "report", *words])
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_report_default_path_is_in_directory(
    crawl: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == run(monkeypatch, str(crawl))
    text = (crawl / "report.html").read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    output = capsys.readouterr().out
    assert 1 == output.count("\n")
    for part in (str(crawl / "report.html"), " kB", (crawl / "report.html").as_uri()):
        assert part in output


def test_report_out_replaces_file(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a report.html"
    target.write_text("old")
    assert 0 == run(monkeypatch, str(crawl), "--out", str(target))
    assert "old" != target.read_text("utf-8")
    assert not (crawl / "report.html").exists()
    assert {"a report.html", "reefs"} == {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("out", "complaint"),
    [("missing/report.html", "choose another file with --out"), (".", "is a directory: give a file with --out")],
)
def test_report_unwritable_target_raises(
    crawl: Path, tmp_path: Path, out: str, complaint: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert 2 == run(monkeypatch, str(crawl), "--out", str(tmp_path / out))
    error = capsys.readouterr().err
    assert error.startswith("lycosa: ")
    assert complaint in error
    assert 1 == error.count("\n")


def test_report_without_crawl_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == run(monkeypatch, str(tmp_path))
    assert "contains no crawl" in capsys.readouterr().err


def test_failed_report_keeps_old_file(
    crawl: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (crawl / "report.html").write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert 2 == run(monkeypatch, str(crawl))
    assert "No space left on device" in capsys.readouterr().err
    assert "old" == (crawl / "report.html").read_text()
    assert not list(crawl.glob("report.html.*"))
