"""Tests of atomic export files."""

from __future__ import annotations

import fcntl
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.collection.export import choose_format, export
from lycosa.core.errors import StoreError
from synthetic_crawl import SyntheticCrawl, crawled, html, many, prose

NAMES = ["t.jsonl", "t.csv.gz", "t.parquet", "t.warc.gz", "t.wacz", "t.txt"]


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many(tmp_path_factory.mktemp("target") / "crawl", 60, 400)


@contextmanager
def disk_of(size: int) -> Iterator[None]:
    """Limit the size of files, which acts like a full disk. SQLite needs 32 kB to read the log."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(("name", "old"), [*((name, True) for name in NAMES), ("t.jsonl", False)])
def test_export_to_full_disk_keeps_old_file(crawl: Path, tmp_path: Path, name: str, old: bool) -> None:
    if old:
        (tmp_path / name).write_text("before")
    with disk_of(40_000), pytest.raises(StoreError, match=rf"cannot write .*{name}: File too large.*--out"):
        export(crawl, tmp_path / name)
    assert ([name] if old else []) == [path.name for path in tmp_path.iterdir()]
    assert not old or "before" == (tmp_path / name).read_text()
    assert 60 == export(crawl, tmp_path / name).pages
    assert [name] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("name", NAMES)
def test_export_interrupted_keeps_old_file(crawl: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("before")

    def interrupt(what: str, done: int, total: int) -> None:
        if what.startswith("writing") and done == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(crawl, tmp_path / name, progress=interrupt)
    assert ["before"] == [path.read_text() for path in tmp_path.iterdir()]


def test_export_locks_its_temporary_file(crawl: Path, tmp_path: Path) -> None:
    part = tmp_path / "t.jsonl.part"
    part.write_text("left behind " * 100_000)
    with open(part, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with raises_input_error("locked"):
            export(crawl, tmp_path / "t.jsonl")
    assert part.read_text().startswith("left behind")
    export(crawl, tmp_path / "t.jsonl")
    assert 60 == (tmp_path / "t.jsonl").read_bytes().count(b"\n")
    assert b"left behind" not in (tmp_path / "t.jsonl").read_bytes()
    assert ["t.jsonl"] == [path.name for path in tmp_path.iterdir()]


def test_export_replaces_target_of_symlink(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "t.jsonl").symlink_to(tmp_path / "real" / "t.jsonl")
    export(crawl, tmp_path / "t.jsonl")
    assert (tmp_path / "t.jsonl").is_symlink()
    assert 60 == (tmp_path / "real" / "t.jsonl").read_bytes().count(b"\n")


def test_export_to_full_device_raises(crawl: Path) -> None:
    with pytest.raises(StoreError, match="cannot write /dev/full: No space left on device"):
        export(crawl, "/dev/full", "jsonl")
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize(
    ("out", "form", "code", "message"),
    [
        ("folder", "csv", "not-a-file", "give a file"),
        ("t.doc", "", "unknown-format", r"t\.doc: end it with one of \.jsonl"),
        ("t", "", "unknown-format", "unknown format of"),
        ("t.csv", "xlsx", "unknown-format", "'xlsx': choose one of jsonl, csv, parquet, warc, wacz, text"),
    ],
)
def test_export_rejects_bad_targets(crawl: Path, tmp_path: Path, out: str, form: str, code: str, message: str) -> None:
    (tmp_path / "folder").mkdir()
    with raises_input_error(code, match=message):
        export(crawl, tmp_path / out, form)
    assert ["folder"] == [path.name for path in tmp_path.iterdir()]


def test_export_creates_missing_directory(crawl: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot write .*No such file or directory"):
        export(crawl, tmp_path / "nowhere/t.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("form", "out", "expected"),
    [
        ("", "", "jsonl"),
        ("CSV", "", "csv"),
        ("", "a.JSONL.GZ", "jsonl"),
        ("", "a.b.parquet", "parquet"),
        ("csv", "a.txt", "csv"),
        ("", "a.txt", "text"),
        ("text", "a.corpus", "text"),
    ],
)
def test_choose_format_uses_form_or_file_name(form: str, out: str, expected: str) -> None:
    assert expected == choose_format(form, out).name


@pytest.mark.parametrize(
    "name", ["crawl.sqlite", "crawl.sqlite-wal", "crawl.toml", "archive/lycosa-00001.warc.gz", "archive/x.warc.gz", "."]
)
def test_export_protects_crawl_files(tmp_path: Path, name: str) -> None:
    directory = many(tmp_path / "crawl", 3)
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    with raises_input_error("protected-file"):
        export(directory, directory / name, "text" if name == "." else "warc")
    assert before == {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    assert 3 == export(directory, directory / "p.warc.gz").pages


@pytest.mark.parametrize("name", NAMES)
def test_export_while_crawl_is_running(tmp_path: Path, name: str) -> None:
    running = SyntheticCrawl(tmp_path / "crawl")
    try:
        for i in range(5):
            running.page(f"http://a.test/{i}", html(f"P{i}", prose(i)), links=[("http://a.test/new", "", 0.5)])

        def record(what: str, done: int, total: int) -> None:
            running.page(f"http://a.test/{what}{done}", html("New", prose(1000 + done)))

        done = export(tmp_path / "crawl", tmp_path / name, progress=record)
        assert 5 == done.pages
        later = export(tmp_path / "crawl", tmp_path / name)
        assert later.pages > 5
    finally:
        running.close()


def test_export_without_crawl_raises(tmp_path: Path) -> None:
    with raises_input_error("not-a-crawl"):
        export(tmp_path, tmp_path / "t.csv")
    with crawled(tmp_path / "crawl"):
        pass
    for name in NAMES:
        assert 0 == export(tmp_path / "crawl", tmp_path / name).pages
