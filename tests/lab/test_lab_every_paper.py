"""All papers, as one command makes them of the embedded web. Otie's, Batsakis' and Gouriten's take long, and have files
of their own where they are made: here they are left out.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run
from lycosa.lab.papers import PAPERS

PARTS = {"personalized": [], "rules": ["rules-table-3", "rules-figure-6"]}


def test_one_command_makes_every_table_and_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`lycosa lab paper all --quick` writes a page for each paper, with its figures as pictures and its claims."""
    for name in set(PAPERS) - set(PARTS):
        monkeypatch.delitem(PAPERS, name)
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
