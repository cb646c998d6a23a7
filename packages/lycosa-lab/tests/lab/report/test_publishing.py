from __future__ import annotations

import sys
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa_lab import report
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.papers import Bench
from lycosa_lab.report import publishing


def test_publish_caches_embedded_web(papers: list[Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "EMBEDDED", 60)
    calls: list[tuple[str, int, int]] = []
    publishing.publish(["rules"], tmp_path, "", progress=lambda *output: calls.append(output))
    assert ("rules: crawling", 1, 2) == calls[-1]
    (kept,) = (tmp_path / "cache").iterdir()
    result = (kept / "index.json").stat().st_mtime_ns
    publishing.publish(["rules"], tmp_path, "")
    assert result == (kept / "index.json").stat().st_mtime_ns
    (kept / "child.npy").unlink()
    publishing.publish(["rules"], tmp_path, "")
    assert papers[0].index.fingerprint == papers[2].index.fingerprint == CorpusIndex.open(kept).fingerprint


def test_publish_missing_package_is_reported_first(
    papers: list[Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "find_spec", lambda name: None if name == "pyarrow" else sys)
    with raises_input_error("missing-package"):
        publishing.publish(["otie"], tmp_path, "")
    assert [] == papers
