from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run
from lycosa_lab.corpus_index import CorpusIndex


def test_index_prints_statistics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "x")
    assert 0 == run(monkeypatch, "lab", "index", "embedded:pages=40,hosts=4", "--out", out)
    printed = capsys.readouterr()
    assert "40 pages of embedded:pages=40,hosts=4" in printed.out
    assert "same-topic links" in printed.out
    assert 0 == run(monkeypatch, "lab", "index", "embedded:pages=40,hosts=4", "--out", out, "--json")
    printed = capsys.readouterr()
    output = json.loads(printed.out)
    assert (40, CorpusIndex.open(out).fingerprint, "") == (output["pages"], output["fingerprint"], printed.err)
    assert {"name", "pages", "share", "base"} == set(output["topics"][0])
    assert 0 == run(monkeypatch, "lab", "index", "embedded:pages=40", "--out", out, "--quiet")
    assert ("", "") == tuple(capsys.readouterr())


def test_index_stores_scores_of_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "e.tsv").write_text("a\tb\nb\ta\n")
    (tmp_path / "s.tsv").write_text("b\t.5\n")
    words = ["lab", "index", str(tmp_path / "e.tsv"), "--scores", str(tmp_path / "s.tsv"), "--out", str(tmp_path / "x")]
    assert 0 == run(monkeypatch, *words, "-q")
    assert [0.0, 0.5] == CorpusIndex.open(tmp_path / "x").score.tolist()


def test_index_errors_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 != run(monkeypatch, "lab", "index", str(tmp_path / "nothing"), "--out", str(tmp_path / "x"))
    assert "no such source" in capsys.readouterr().err
    assert 0 != run(monkeypatch, "lab", "index", "public:nothing", "--out", str(tmp_path / "x"))
    assert "unknown public corpus 'nothing'" in capsys.readouterr().err
