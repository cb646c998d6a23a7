"""Backup and restore between both databases, while crawls run and are deleted."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa.core.types import ArchivePlace, Visit
from lycosa.store.log import SqliteLog
from lycosa_server import backup
from lycosa_server.backup import restore, write_backup
from lycosa_server.people.database import Database, Row
from lycosa_server.people.migrating import migrate, newest, revision
from lycosa_server.settings import Settings
from people_rows import fill

CRAWL = "crawl-0"


def make(address: str, data: Path) -> tuple[Settings, Database]:
    """Write a server's data: rows in every table, and a crawl whose archive is longer than recorded in its log."""
    settings = Settings(data, address if "://" in address else "")
    data.mkdir(exist_ok=True)
    database = Database(settings.database_address)
    migrate(database)
    fill(database)
    directory = settings.crawl_directory(CRAWL)
    (directory / "archive").mkdir(parents=True)
    (directory / "crawl.toml").write_text('topic = "reefs"\n')
    for name in ("live.json", "working-on", "search.sqlite", "lock", "crawl.sqlite-wal"):
        (directory / name).touch()
    (directory / "archive" / "a.warc.gz").write_bytes(b"x" * 150)
    settings.model_file("model-0").parent.mkdir()
    settings.model_file("model-0").write_bytes(b"https://a.example/\tSea/Reefs\n")
    database.update("model", "model-0", {"kind": "directory", "state": "ready"})
    log = SqliteLog(directory / "crawl.sqlite")
    log.append(Visit("https://a.example/", "page", "ok", 1, place=ArchivePlace("a.warc.gz", 0, 100)))
    log.close()
    return settings, database


def everything(database: Database) -> dict[str, list[Row]]:
    return {
        table: sorted(database.rows(f"SELECT * FROM {table}"), key=str)
        for table in database.tables()
        if table not in ("session", "attempt", "process", "alembic_version")
    }


def test_restore_returns_everything(database_address: str, tmp_path: Path) -> None:
    settings, database = make(database_address, tmp_path / "data")
    before = everything(database)
    assert all(before.values())
    assert (2, 2) == write_backup(settings, database, tmp_path / "b.tar")
    assert 0o600 == (tmp_path / "b.tar").stat().st_mode & 0o777
    database.close()
    assert (2, 2) == restore(tmp_path / "b.tar", tmp_path / "new")
    assert {"data", "b.tar", "new"} == {path.name for path in tmp_path.iterdir()}
    assert {"lycosa.sqlite", "crawls", "models"} == {path.name for path in (tmp_path / "new").iterdir()}
    with closing(Database(tmp_path / "new" / "lycosa.sqlite")) as again:
        assert before == everything(again)
        assert [] == again.rows("SELECT id FROM session")
    directory = tmp_path / "new" / "crawls" / CRAWL
    assert b"x" * 100 == (directory / "archive" / "a.warc.gz").read_bytes()
    assert {"archive", "crawl.toml", "crawl.sqlite"} == {path.name for path in directory.iterdir()}
    assert b"https://a.example/\tSea/Reefs\n" == (tmp_path / "new" / "models" / "model-0").read_bytes()
    with closing(SqliteLog(directory / "crawl.sqlite", readonly=True)) as log:
        assert ["https://a.example/"] == [event.node for event in log if isinstance(event, Visit)]


def test_restore_into_either_database_returns_all_rows(database_address: str, tmp_path: Path) -> None:
    settings, database = make(str(tmp_path / "data" / "lycosa.sqlite"), tmp_path / "data")
    before = everything(database)
    write_backup(settings, database, tmp_path / "b.tar")
    database.close()
    address = database_address if "://" in database_address else ""
    restore(tmp_path / "b.tar", tmp_path / "new", address)
    with closing(Database(Settings(tmp_path / "new", address).database_address)) as again:
        assert before == everything(again)
        assert newest() == revision(again)
    assert (not address) == (tmp_path / "new" / "lycosa.sqlite").exists()


def test_restore_refuses_directory_or_database_in_use(database_address: str, tmp_path: Path) -> None:
    settings, database = make(database_address, tmp_path / "data")
    write_backup(settings, database, tmp_path / "b.tar")
    with raises_input_error("not-empty"):
        restore(tmp_path / "b.tar", tmp_path / "data")
    if settings.database:
        with raises_input_error("not-empty"):
            restore(tmp_path / "b.tar", tmp_path / "new", settings.database)
        assert not (tmp_path / "new").exists()
    database.close()


def test_write_backup_while_crawl_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, database = make("", tmp_path / "data")
    copy = backup._copy_log

    def delete(log: Path, to: Path) -> dict[str, int]:
        ends = copy(log, to)
        database.run("DELETE FROM crawl WHERE id = :crawl", crawl=CRAWL)
        (log.parent / "archive" / "a.warc.gz").unlink()
        return ends

    monkeypatch.setattr(backup, "_copy_log", delete)
    assert (2, 1) == write_backup(settings, database, tmp_path / "b.tar")
    database.close()
    assert (2, 1) == restore(tmp_path / "b.tar", tmp_path / "new")
    with closing(Database(tmp_path / "new" / "lycosa.sqlite")) as again:
        assert ["crawl-1"] == [row["id"] for row in again.rows("SELECT id FROM crawl")]
        assert again.row("SELECT * FROM deleted_crawl WHERE crawl = :crawl", crawl=CRAWL) is not None


def test_write_backup_while_crawl_appends(tmp_path: Path) -> None:
    settings, database = make("", tmp_path / "data")
    with closing(SqliteLog(settings.crawl_directory(CRAWL) / "crawl.sqlite")) as log:
        log.append(Visit("https://a.example/2", "page", "ok", 1, place=ArchivePlace("a.warc.gz", 100, 30)))
        log._db.execute("BEGIN")
        log.append(Visit("https://a.example/3", "page", "ok", 1, place=ArchivePlace("a.warc.gz", 130, 20)))
        write_backup(settings, database, tmp_path / "b.tar")
        log._db.execute("ROLLBACK")
    database.close()
    restore(tmp_path / "b.tar", tmp_path / "new")
    directory = tmp_path / "new" / "crawls" / CRAWL
    with closing(SqliteLog(directory / "crawl.sqlite", readonly=True)) as copied:
        assert 2 == sum(isinstance(event, Visit) for event in copied)
    assert 130 == (directory / "archive" / "a.warc.gz").stat().st_size


def _unlink(directory: Path) -> None:
    (directory / "archive" / "a.warc.gz").unlink()


def _cut(directory: Path) -> None:
    (directory / "archive" / "a.warc.gz").write_bytes(b"x" * 99)


def _damage(directory: Path) -> None:
    log = directory / "crawl.sqlite"
    log.write_bytes(log.read_bytes()[:100] + b"x" * (log.stat().st_size - 100))


@pytest.mark.parametrize(("spoil", "why"), [(_unlink, "a.warc.gz"), (_cut, "truncated"), (_damage, "malformed")])
def test_write_backup_of_damaged_crawl_names_it(tmp_path: Path, spoil: Callable[[Path], None], why: str) -> None:
    settings, database = make("", tmp_path / "data")
    directory = settings.crawl_directory(CRAWL)
    spoil(directory)
    with raises_input_error("bad-crawl") as caught:
        write_backup(settings, database, tmp_path / "b.tar")
    assert f"{directory}: " in str(caught.value)
    assert why in str(caught.value)
    assert ".lycosa-backup" not in str(caught.value)
    assert [tmp_path / "data"] == list(tmp_path.iterdir())
    database.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    place = tmp_path_factory.mktemp("whole")
    settings, database = make("", place / "data")
    write_backup(settings, database, place / "b.tar")
    database.close()
    return (place / "b.tar").read_bytes()


def with_member(whole: bytes, **fields: Any) -> bytes:
    """Return the backup with changed fields of one member."""
    out = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(whole)) as old, tarfile.open(fileobj=out, mode="w") as new:
        for member in old:
            content = old.extractfile(member)
            if member.name.endswith("crawl.toml"):
                for name, value in fields.items():
                    setattr(member, name, value)
            new.addfile(member, content if member.isreg() else None)
    return out.getvalue()


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda whole: b"",
    "no tar": lambda whole: b"no tar" * 1000,
    "half": lambda whole: whole[: len(whole) // 2],
    "without its end": lambda whole: whole[: whole.rindex(b"lycosa.sqlite")],
    "a name that leads out": lambda whole: with_member(whole, name="crawls/crawl-0/../../../out"),
    "an absolute name": lambda whole: with_member(whole, name="/tmp/lycosa-out"),
    "an unknown name": lambda whole: with_member(whole, name="other/crawl.toml"),
    "a symbolic link": lambda whole: with_member(whole, type=tarfile.SYMTYPE, linkname="/etc/passwd"),
    "a hard link": lambda whole: with_member(whole, type=tarfile.LNKTYPE, linkname="/etc/passwd"),
    "a device": lambda whole: with_member(whole, type=tarfile.CHRTYPE),
}


@pytest.mark.parametrize("name", SPOILT)
def test_restore_of_damaged_file_writes_nothing(whole: bytes, tmp_path: Path, name: str) -> None:
    (tmp_path / "b.tar").write_bytes(SPOILT[name](whole))
    with raises_input_error("bad-backup", match=r"b\.tar"):
        restore(tmp_path / "b.tar", tmp_path / "new")
    assert [tmp_path / "b.tar"] == list(tmp_path.iterdir())


def test_restore_refuses_another_version(whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b.tar").write_bytes(whole)
    monkeypatch.setattr(backup, "newest", lambda: "a later one")
    with raises_input_error("bad-backup"):
        restore(tmp_path / "b.tar", tmp_path / "new")
    assert [tmp_path / "b.tar"] == list(tmp_path.iterdir())
