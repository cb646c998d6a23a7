from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.core.types import Page
from lycosa_lab.corpus_index import COLUMNS, FACTS, NAMES, STEMS, TEXTS, CorpusIndex
from lycosa_lab.index_writer import RecordedPage, save_index, unfinished_index, write_index
from three_pages import GONE, A, B, C, page, web


def test_page_has_recorded_content(tmp_path: Path) -> None:
    recorded = page(A, GONE, B, C)
    index = write_index([recorded, page(B), page(C)], tmp_path / "x", source="pages")
    found = index.page(0)
    assert recorded.page is not None
    assert (recorded.page.title, recorded.page.marked) == (found.title, found.marked)
    assert ([B, C], ["link 1", "link 2"]) == (found.links.urls, found.links.anchors)
    assert ["coral", "reef"] == [index.stems[n] for n in index.terms(1).ids.tolist()][-2:]


def test_sizes_count_pages_of_branches_once(tmp_path: Path) -> None:
    classes = (["a/b", "a/c"], ["a"], ["a-b", "a/b/c"], ["a0", "ab"], [])
    pages = [RecordedPage(f"http://x/{n}", Page("ok", marked="w"), classes=names) for n, names in enumerate(classes)]
    index = write_index(pages, tmp_path / "i", source="test")
    expected = {"a": 3, "a-b": 1, "a/b": 2, "a/b/c": 1, "a/c": 1, "a0": 1, "ab": 1}
    assert expected == index.sizes()
    assert expected == {name: int(index.of_class(name).sum()) for name in index.branches()}
    assert [True, True, True, False, False] == index.of_class("a").tolist()
    assert not index.of_class("b").any()


def test_node_names_default_to_numbers(tmp_path: Path) -> None:
    with unfinished_index(tmp_path / "x") as beside:
        start = np.array([0, 1, 2, 2], np.int64)
        columns = {"child": np.array([1, 2], np.int32), "child_start": start, "link_start": start}
        index = save_index(beside, tmp_path / "x", columns, [], [], {"source": "numbers"})
    assert ["0", "1", "2"] == list(index.names) == index.names[:]
    assert (3, "2", 1) == (len(index.names), index.names[-1], index.number_of["1"])
    with pytest.raises(IndexError, match="node 3 does not exist"):
        index.names[3]


@pytest.mark.parametrize("name", [*(f"{column}.npy" for column in COLUMNS), NAMES, TEXTS, STEMS, FACTS])
def test_open_missing_file_is_error(tmp_path: Path, name: str) -> None:
    write_index(web(), tmp_path / "x", source="s")
    (tmp_path / "x" / name).unlink()
    with raises_input_error("not-an-index", f"not an index .{name} is missing"):
        CorpusIndex.open(tmp_path / "x")


@pytest.mark.parametrize("keep", [0, 5, 100, 0.5, 0.95])
@pytest.mark.parametrize("name", ["child.npy", "child_start.npy", "term.npy", "text_start.npy", NAMES, TEXTS, FACTS])
def test_open_truncated_file_is_error(tmp_path: Path, name: str, keep: float) -> None:
    write_index(web(), tmp_path / "x", source="s", labels={A: ["x"]})
    file = tmp_path / "x" / name
    content = file.read_bytes()
    cut = int(keep if keep >= 1 else keep * len(content))
    if cut >= len(content):
        cut = len(content) - 1
    file.write_bytes(content[:cut])
    with raises_input_error("bad-index"):
        CorpusIndex.open(tmp_path / "x")


@pytest.mark.parametrize(
    "facts", ["[]", "null", "{}", '{"format": 99}', "not json", "\xff", '{"format": 1, "classes": 3}', "[" * 100_000]
)
def test_open_malformed_facts_is_error(tmp_path: Path, facts: str) -> None:
    write_index(web(), tmp_path / "x", source="s")
    (tmp_path / "x" / FACTS).write_text(facts, encoding="latin-1")
    with pytest.raises(InputError) as caught:
        CorpusIndex.open(tmp_path / "x")
    assert caught.value.code in ("bad-index", "unknown-version")


def test_open_column_is_npz_archive(tmp_path: Path) -> None:
    write_index(web(), tmp_path / "x", source="s")
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    (tmp_path / "other.npz").replace(tmp_path / "x" / "child.npy")
    with raises_input_error("bad-index"):
        CorpusIndex.open(tmp_path / "x")


def test_open_inconsistent_columns_is_error(tmp_path: Path) -> None:
    for number, (name, column) in enumerate(
        {
            "child": np.zeros(3, np.int64), "score": np.zeros(2, np.float32), "count": np.zeros(1, np.uint16),
            "link_start": np.zeros(4, np.int64), "simhash": np.zeros((3, 1), np.uint64),
        }.items()
    ):  # fmt: skip
        path = tmp_path / str(number)
        write_index(web(), path, source="s")
        np.save(path / f"{name}.npy", column)
        with raises_input_error("bad-index", name):
            CorpusIndex.open(path)


def test_page_and_stems_damaged_is_error(tmp_path: Path) -> None:
    write_index(web(), tmp_path / "x", source="s")
    for name in (TEXTS, STEMS):
        file = tmp_path / "x" / name
        file.write_bytes(b"\xc1" * file.stat().st_size)
    index = CorpusIndex.open(tmp_path / "x")
    with raises_input_error("bad-index", "page 0"):
        index.page(0)
    with raises_input_error("bad-index"):
        index.stems  # noqa: B018
