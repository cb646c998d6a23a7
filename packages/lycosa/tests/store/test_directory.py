"""Tests of a crawl's directory."""

from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.core.errors import LockedError, StoreError
from lycosa.core.options import Options
from lycosa.core.types import Exchange, Seed, Visit
from lycosa.store.directory import CONFIG, COPIED_FILES, Directory
from lycosa.store.log import Lock


def test_open_returns_options_of_create(tmp_path: Path) -> None:
    options = Options(topic="coral", budget=7, strategy="scent")
    Directory.create(tmp_path / "new" / "crawl", options).close()
    reopened = Directory.open(tmp_path / "new" / "crawl")
    assert options == reopened.options
    reopened.close()


def test_create_refuses_existing_crawl(tmp_path: Path) -> None:
    Directory.create(tmp_path, Options()).close()
    with raises_input_error("crawl-exists", match="lycosa resume"):
        Directory.create(tmp_path, Options())


def test_open_without_crawl_raises(tmp_path: Path) -> None:
    with raises_input_error("not-a-crawl"):
        Directory.open(tmp_path)


def test_open_locks_directory(tmp_path: Path) -> None:
    first = Directory.create(tmp_path, Options())
    with pytest.raises(LockedError):
        Directory.open(tmp_path)
    first.close()
    Directory.open(tmp_path).close()


def test_save_replaces_config_atomically(tmp_path: Path) -> None:
    directory = Directory.create(tmp_path, Options())
    directory.options.budget = 9
    directory.save()
    directory.close()
    assert 9 == Directory.read_options(tmp_path).budget
    assert [CONFIG, "lock"] == sorted(path.name for path in tmp_path.iterdir())


def test_archive_moves_uncommitted_records_aside(tmp_path: Path) -> None:
    directory = Directory.create(tmp_path, Options(topic="coral"))
    log = directory.log()
    log.append(Seed("http://a.test/"))
    archive = directory.archive(log, "Lycosa/0", 10**9)
    archive.append(Visit("http://a.test/", "page", "ok", 1), Exchange(b"", b"HTTP/1.1 200 OK", [], b"x", b"d" * 32))
    archive.close()
    assert [] == directory.moved
    reopened = directory.archive(log, "Lycosa/0", 10**9)
    assert 1 == len(directory.moved)
    reopened.close()
    log.close()
    directory.close()


def test_create_rejects_invalid_text(tmp_path: Path) -> None:
    with raises_input_error("invalid-text", match=r"\\udcff"):
        Directory.create(tmp_path, Options(topic="\udcff"))
    Lock(tmp_path).release()
    assert "crawl.toml.new" not in [path.name for path in tmp_path.iterdir()]


def test_create_copies_model(tmp_path: Path) -> None:
    (tmp_path / "my.model").write_bytes(b"weights")
    given = Options(model=str(tmp_path / "my.model"))
    made = Directory.create(tmp_path / "crawl", given)
    made.close()
    assert ("topic.model", str(tmp_path / "my.model")) == (made.options.model, given.model)
    assert "topic.model" == Directory.read_options(tmp_path / "crawl").model
    assert b"weights" == (tmp_path / "crawl" / "topic.model").read_bytes()


def test_create_with_missing_model_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot copy .*my\.model"):
        Directory.create(tmp_path / "crawl", Options(model=str(tmp_path / "my.model")))
    assert not (tmp_path / "crawl").exists()


def test_create_copies_all_named_files(tmp_path: Path) -> None:
    names = {}
    for option in COPIED_FILES:
        (tmp_path / f"my {option}, first").write_text(option)
        names[option] = str(tmp_path / f"my {option}, first")
    given = Options(model="m", background="b", strategy="rules,depth=3,file=r").with_files(names)
    Directory.create(tmp_path / "crawl", given).close()
    kept = Directory.read_options(tmp_path / "crawl")
    assert COPIED_FILES == kept.files()
    assert "rules,depth=3,file=strategy.tsv" == kept.strategy
    assert {option: option for option in COPIED_FILES} == {
        option: (tmp_path / "crawl" / name).read_text() for option, name in COPIED_FILES.items()
    }


def test_create_keeps_foreign_files(tmp_path: Path) -> None:
    (tmp_path / "my.model").write_text("mine")
    (tmp_path / "rules.tsv").write_text("rules")
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    (crawl / "strategy.tsv").write_text("older")
    options = Options(model=str(tmp_path / "my.model"), strategy=f"rules,file={tmp_path / 'rules.tsv'}")
    with raises_input_error("file-exists", match=r"strategy\.tsv .*rules\.tsv"):
        Directory.create(crawl, options)
    assert ["strategy.tsv"] == [path.name for path in crawl.iterdir()]
    assert "older" == (crawl / "strategy.tsv").read_text()


def test_create_accepts_existing_copy(tmp_path: Path) -> None:
    (tmp_path / "strategy.tsv").write_text("rules")
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "strategy.tsv").write_text("rules")
    Directory.create(tmp_path / "crawl", Options(strategy=f"rules,file={tmp_path / 'strategy.tsv'}")).close()
    made = Directory.create(tmp_path, Options(strategy=f"rules,file={tmp_path / 'strategy.tsv'}"))
    made.close()
    assert ("rules,file=strategy.tsv", "rules") == (made.options.strategy, (tmp_path / "strategy.tsv").read_text())


def test_create_removes_copies_after_failure(tmp_path: Path) -> None:
    (tmp_path / "my.model").write_text("mine")
    with pytest.raises(StoreError, match=r"cannot copy nowhere\.tsv"):
        Directory.create(
            tmp_path / "crawl", Options(model=str(tmp_path / "my.model"), strategy="rules,file=nowhere.tsv")
        )
    assert ["my.model"] == [path.name for path in tmp_path.iterdir()]
