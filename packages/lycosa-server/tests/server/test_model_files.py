"""Model files: detection and storage."""

import os
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.strategies.rulebook import RuleBook
from lycosa_server import model_files as files
from lycosa_server.people.database import Database
from lycosa_server.settings import Settings


def test_detect_kind_depends_on_content(tmp_path: Path) -> None:
    book = RuleBook()
    book.add("Sea", "Sea/Reefs")
    book.save(tmp_path / "rules")
    (tmp_path / "other").write_bytes(b"https://a.example/\tSea\n")
    assert ["rules", "directory"] == [files.detect_kind(tmp_path / name) for name in ("rules", "other")]
    assert {"rules": 1, "classes": {"Sea": 0, "Sea/Reefs": 0}} == files.inspect(tmp_path / "rules", "rules")


def test_inspect_never_names_stored_file(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"not a model")
    with pytest.raises(Exception, match="that you gave") as caught:
        files.inspect(tmp_path / "m", "rules")
    assert str(tmp_path) not in str(caught.value)


def test_convert_directory_refuses_compressed_files(tmp_path: Path) -> None:
    (tmp_path / "dump").write_bytes(b"\x1f\x8b compressed")
    with raises_input_error("bad-file"):
        files.convert_directory(tmp_path / "dump", tmp_path / "table")


def test_pages_of_includes_topics_below(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("https://a.example/\tSea/Reefs\nhttps://b.example/\tRail\n")
    assert [("https://a.example/", "Sea/Reefs")] == list(files.pages_of(tmp_path / "d", ["Sea"]))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_remove_orphans_keeps_recent_files(tmp_path: Path, database: Database) -> None:
    settings = Settings(tmp_path)
    directory = files.models_directory(settings)
    for name, age in (("old", 7_200.0), ("new", 60.0)):
        (directory / name).touch()
        os.utime(directory / name, (10_000.0 - age, 10_000.0 - age))
    files.remove_orphans(settings, database, 10_000.0)
    assert ["new"] == [path.name for path in directory.iterdir()]
