"""All five papers, as one command makes them of the embedded web."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run
from lycosa.lab.papers import PAPERS

PARTS = {
    "otie": ["otie-figure-1", "otie-figure-2"],
    "batsakis": [f"batsakis-figure-{number}" for number in range(12, 18)],
    "personalized": [],
    "gouriten": [
        *(f"gouriten-table-{number}" for number in range(1, 8)),
        *(f"gouriten-figure-{number}" for number in range(1, 4)),
    ],
    "rules": ["rules-table-3", "rules-figure-6"],
}


def test_one_command_makes_every_table_and_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`lycosa lab paper all --quick` writes a page for each paper, with its figures as pictures and its claims."""
    code = run(monkeypatch, "lab", "paper", "all", "--quick", "--out", str(tmp_path), "--workers", "1", "--quiet")
    assert 0 == code, capsys.readouterr()
    assert (tmp_path / "index.html").is_file()
    for paper in PAPERS:
        told = json.loads((tmp_path / paper / "report.json").read_text(encoding="utf-8"))
        found = told.get("findings", told)
        text = json.dumps(found)
        for key in PARTS[paper]:
            assert f'"{key}' in text, f"{paper} has no {key}"
        assert (tmp_path / paper / "index.html").stat().st_size > 10_000
        assert '"verdict"' in text
        for picture in (tmp_path / paper / "figures").glob("*.svg"):
            assert picture.with_suffix(".png").is_file()
