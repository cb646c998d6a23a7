"""Datasets of crawls and WARC files."""

import gzip
import sys
from pathlib import Path
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa_cluster import datasets
from replay_helpers import http_answer, record, write

HTML = b"<html lang=en><title>Reefs</title><body><main><p>Corals bleach when the water of the sea is too warm.</main>"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def rows(path: Path, text: bool = True) -> list[dict[str, Any]]:
    return list(datasets._Responses(text)({"path": str(path)}))


def test_read_warc_rows_have_decompressed_body_and_text(tmp_path: Path) -> None:
    packed = http_answer(gzip.compress(HTML), more="Content-Encoding: gzip\r\n")
    (row,) = rows(write(tmp_path / "a.warc.gz", record("http://a.example/", packed)))
    assert (row["url"], row["status"], row["body"], row["title"]) == ("http://a.example/", 200, HTML, "Reefs")
    assert "Corals bleach" in row["text"]
    assert (row["date"].isoformat(), row["warc_file"]) == ("2026-03-01T00:00:00+00:00", "a.warc.gz")


def test_read_warc_without_text_leaves_text_columns_empty(tmp_path: Path) -> None:
    (row,) = rows(write(tmp_path / "a.warc.gz", record("http://a.example/", http_answer(HTML))), text=False)
    assert (row["body"], row["title"], row["text"]) == (HTML, "", "")


def test_read_warc_wrong_encoding_gives_empty_body(tmp_path: Path) -> None:
    (row,) = rows(
        write(
            tmp_path / "a.warc",
            record("http://a.example/", http_answer(b"\x1f\x8bno gzip", more="Content-Encoding: gzip\r\n")),
        )
    )
    assert (row["body"], row["text"]) == (b"", "")


def test_read_warc_raises_for_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "_data", lambda: None)
    with raises_input_error("missing-file"):
        datasets.read_warc(tmp_path / "*.warc.gz")


def test_read_crawl_raises_without_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with raises_input_error("missing-package"):
        datasets.read_crawl(tmp_path)
