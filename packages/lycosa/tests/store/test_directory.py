"""A crawl's directory: made once, opened by one at a time."""

from pathlib import Path

import pytest

from lycosa.core.errors import InputError, LockedError, StoreError
from lycosa.core.options import Options
from lycosa.core.types import Exchange, Seed, Visit
from lycosa.store.directory import CONFIG, COPIED_FILES, Directory
from lycosa.store.log import Lock


def test_create_then_open(tmp_path: Path) -> None:
    """The options of a new directory come back when it is opened."""
    options = Options(topic="coral", budget=7, strategy="scent")
    Directory.create(tmp_path / "new" / "crawl", options).close()
    again = Directory.open(tmp_path / "new" / "crawl")
    assert options == again.options
    again.close()


def test_a_crawl_is_not_overwritten(tmp_path: Path) -> None:
    """A directory that holds a crawl is not used for another."""
    Directory.create(tmp_path, Options()).close()
    with pytest.raises(InputError, match=r"already holds a crawl.*lycosa resume"):
        Directory.create(tmp_path, Options())


def test_no_crawl_to_open(tmp_path: Path) -> None:
    """A directory without a crawl can't be gone on with."""
    with pytest.raises(InputError, match="contains no crawl"):
        Directory.open(tmp_path)


def test_one_at_a_time(tmp_path: Path) -> None:
    """A directory in use can't be opened."""
    first = Directory.create(tmp_path, Options())
    with pytest.raises(LockedError):
        Directory.open(tmp_path)
    first.close()
    Directory.open(tmp_path).close()


def test_saving_is_all_or_nothing(tmp_path: Path) -> None:
    """Changed options replace the file; no other file is left behind."""
    directory = Directory.create(tmp_path, Options())
    directory.options.budget = 9
    directory.save()
    directory.close()
    assert 9 == Directory.read_options(tmp_path).budget
    assert [CONFIG, "lock"] == sorted(path.name for path in tmp_path.iterdir())


def test_log_and_archive_belong_together(tmp_path: Path) -> None:
    """A record whose event was not committed is moved aside when the directory is opened again."""
    directory = Directory.create(tmp_path, Options(topic="coral"))
    log = directory.log()
    log.append(Seed("http://a.test/"))
    archive = directory.archive(log, "Lycosa/0", 10**9)
    archive.append(Visit("http://a.test/", "page", "ok", 1), Exchange(b"", b"HTTP/1.1 200 OK", [], b"x", b"d" * 32))
    archive.close()
    assert [] == directory.moved
    again = directory.archive(log, "Lycosa/0", 10**9)
    assert 1 == len(directory.moved)
    again.close()
    log.close()
    directory.close()


def test_options_that_can_not_be_written(tmp_path: Path) -> None:
    """A topic with bytes that are no text, as a shell can pass them, is an error with a message."""
    from lycosa.core.errors import LycosaError

    with pytest.raises(LycosaError) as error:
        Directory.create(tmp_path, Options(topic="\udcff"))
    Lock(tmp_path).release()
    assert "crawl.toml.new" not in [path.name for path in tmp_path.iterdir()]
    assert "\\udcff" in str(error.value)


def test_a_model_is_copied_and_named_as_seen_from_inside(tmp_path: Path) -> None:
    """The crawl keeps its own copy of a model; the options that were given stay as they are."""
    (tmp_path / "my.model").write_bytes(b"weights")
    given = Options(model=str(tmp_path / "my.model"))
    made = Directory.create(tmp_path / "crawl", given)
    made.close()
    assert ("topic.model", str(tmp_path / "my.model")) == (made.options.model, given.model)
    assert "topic.model" == Directory.read_options(tmp_path / "crawl").model
    assert b"weights" == (tmp_path / "crawl" / "topic.model").read_bytes()


def test_a_model_that_cannot_be_copied_leaves_nothing(tmp_path: Path) -> None:
    """Where the model is gone, no half-made crawl stays behind."""
    with pytest.raises(StoreError, match=r"cannot copy .*my\.model"):
        Directory.create(tmp_path / "crawl", Options(model=str(tmp_path / "my.model")))
    assert not (tmp_path / "crawl").exists()


def test_every_file_that_options_name_is_kept(tmp_path: Path) -> None:
    """Model, statistics and rules are copied, and named as seen from inside; all else about the strategy stays."""
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


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    """What lies where a copy would go is neither overwritten nor taken away."""
    (tmp_path / "my.model").write_text("mine")
    (tmp_path / "rules.tsv").write_text("rules")
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    (crawl / "strategy.tsv").write_text("older")
    options = Options(model=str(tmp_path / "my.model"), strategy=f"rules,file={tmp_path / 'rules.tsv'}")
    with pytest.raises(InputError, match=r"strategy\.tsv is in the way of a copy of .*rules\.tsv: move it, or choose"):
        Directory.create(crawl, options)
    assert ["strategy.tsv"] == [path.name for path in crawl.iterdir()]
    assert "older" == (crawl / "strategy.tsv").read_text()


def test_a_file_that_is_there_already_stays(tmp_path: Path) -> None:
    """Rules that were written to where the copy goes are the copy; so is what a start that was killed has left."""
    (tmp_path / "strategy.tsv").write_text("rules")
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "strategy.tsv").write_text("rules")
    Directory.create(tmp_path / "crawl", Options(strategy=f"rules,file={tmp_path / 'strategy.tsv'}")).close()
    made = Directory.create(tmp_path, Options(strategy=f"rules,file={tmp_path / 'strategy.tsv'}"))
    made.close()
    assert ("rules,file=strategy.tsv", "rules") == (made.options.strategy, (tmp_path / "strategy.tsv").read_text())


def test_one_file_that_can_not_be_copied_takes_the_others_along(tmp_path: Path) -> None:
    """No half-made crawl stays behind, nor the copies that were made before."""
    (tmp_path / "my.model").write_text("mine")
    with pytest.raises(StoreError, match=r"cannot copy nowhere\.tsv"):
        Directory.create(
            tmp_path / "crawl", Options(model=str(tmp_path / "my.model"), strategy="rules,file=nowhere.tsv")
        )
    assert ["my.model"] == [path.name for path in tmp_path.iterdir()]
