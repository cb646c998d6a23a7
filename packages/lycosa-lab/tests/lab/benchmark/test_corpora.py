from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa_lab.benchmark.corpora import (
    CORPORA,
    DEVELOPMENT,
    REPORT,
    BenchmarkCorpus,
    checksum,
    half_of,
    open_corpora,
    pinned_topics,
    topics_of_half,
)
from lycosa_lab.corpus_index import CorpusIndex


def classified(sizes: dict[str, int], pages: int) -> CorpusIndex:
    """Return a graph whose first nodes are of the first class, and so on."""
    index = CorpusIndex.of({f"n{number}": [] for number in range(pages)})
    of = [place for place, size in enumerate(sizes.values()) for _ in range(size)]
    columns = dict(index.columns)
    columns["class_of"] = np.array(of, np.int32)
    columns["class_start"] = np.minimum(np.arange(pages + 1), len(of)).astype(np.int64)
    return replace(index, columns=columns, facts={**index.facts, "classes": list(sizes)})


def test_half_of_webkb_classes_are_used() -> None:
    names = ["course", "department", "faculty", "project", "staff", "student"]
    assert ["course", "faculty", "student"] == [name for name in names if half_of(name) == REPORT]


def test_topics_of_half_are_split_by_name_and_size() -> None:
    sizes = {"a": 30, "b": 24, "c": 40, "d/e": 30, "d/f": 26, "g": 650, "h": 1500}
    index = classified(sizes, 3000)
    both = {half: topics_of_half(index, half) for half in (DEVELOPMENT, REPORT)}
    for half, names in both.items():
        assert all(half_of(name) == half for name in names)
        assert not {"b", "h"} & set(names)  # 24 pages are more than a third
        assert names == topics_of_half(index, half)
    every = both[DEVELOPMENT] + both[REPORT]
    assert {"a", "c", "g"} <= set(every)
    assert both[half_of("g")][-1] == "g"


def test_pinned_topics_reject_changes() -> None:
    index = classified({"a": 30, "c": 40}, 300)
    half = half_of("a")
    names = topics_of_half(index, half)
    assert pinned_topics(index, half, "mine", checksum(names)) == names
    with raises_input_error("wrong-file", f"checksum is {checksum(names)}, not 0123"):
        pinned_topics(index, half, "mine", "0123")


def test_open_corpora_rejects_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.warc.gz").write_bytes(b"other")
    (tmp_path / "mine.tsv").write_bytes(b"")
    monkeypatch.setitem(CORPORA, "mine", BenchmarkCorpus("mine.warc.gz", "mine.tsv", ("aa", "bb")))
    with raises_input_error("wrong-file", r"mine.warc.gz is not the file of the benchmark: its SHA-256 begins with"):
        open_corpora(["mine"], tmp_path, REPORT, tmp_path / "keep", quick=False, full=False)
    empty = tmp_path / "empty"
    empty.mkdir()
    with raises_input_error("missing-file"):
        open_corpora([], empty, REPORT, tmp_path, quick=False, full=False)
    with raises_input_error("missing-option"):
        open_corpora(["mdn"], None, REPORT, tmp_path, quick=False, full=False)
    with raises_input_error("unknown-name"):
        open_corpora(["moon"], None, REPORT, tmp_path, quick=False, full=False)
