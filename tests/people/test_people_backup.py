"""Backups: from either database to either, while crawls run and things are deleted, whole or not at all."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lycosa.core.errors import InputError
from lycosa.core.types import Place, Visit
from lycosa.people.database import Database, scripts, version
from lycosa.server.backup import Backup, Told
from lycosa.server.restore import restore
from lycosa.server.settings import Settings
from lycosa.store.log import SqliteLog
from made_backups import CRAWL, Archive, everything, make


def test_all_comes_back(database_address: str, tmp_path: Path) -> None:
    """Rows, settings, log and archive are as they were; sessions and what is of the moment are not there."""
    settings, database = make(database_address, tmp_path / "data")
    before = everything(database)
    told = Backup(settings, database).write(tmp_path / "b.tar")
    assert (2, 2) == (told.people, told.crawls)
    database.close()
    assert Told(2, 2) == restore(tmp_path / "b.tar", tmp_path / "new")
    again = Database.open(tmp_path / "new" / "lycosa.sqlite")
    assert before == everything(again)
    assert [] == again.rows("SELECT id FROM session")
    again.close()
    directory = tmp_path / "new" / "crawls" / CRAWL
    assert b"x" * 100 == (directory / "archive" / "a.warc.gz").read_bytes()
    assert {"archive", "crawl.toml", "log.sqlite"} == {path.name for path in directory.iterdir()}
    assert b"https://a.example/\tSea/Reefs\n" == (tmp_path / "new" / "models" / "model-0").read_bytes()
    log = SqliteLog(directory / "log.sqlite", readonly=True)
    assert ["https://a.example/"] == [event.node for event in log if isinstance(event, Visit)]
    log.close()


def test_a_backup_of_sqlite_is_restored_into_either(database_address: str, tmp_path: Path) -> None:
    """The file is of one form for both databases."""
    settings, database = make(str(tmp_path / "data" / "lycosa.sqlite"), tmp_path / "data")
    before = everything(database)
    Backup(settings, database).write(tmp_path / "b.tar")
    database.close()
    address = database_address if "://" in database_address else ""
    restore(tmp_path / "b.tar", tmp_path / "new", address)
    again = Database.open(Settings(tmp_path / "new", address).database_address)
    assert before == everything(again)
    assert len(scripts()) == version(again)
    again.close()


def test_only_into_an_empty_place(database_address: str, tmp_path: Path) -> None:
    """Neither a directory nor a database that is in use is written over."""
    settings, database = make(database_address, tmp_path / "data")
    Backup(settings, database).write(tmp_path / "b.tar")
    with pytest.raises(InputError, match="not empty"):
        restore(tmp_path / "b.tar", tmp_path / "data")
    if settings.database:
        with pytest.raises(InputError, match="not empty"):
            restore(tmp_path / "b.tar", tmp_path / "new", settings.database)
        assert not (tmp_path / "new").exists()
    database.close()


def test_what_is_deleted_meanwhile_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crawl whose directory goes while it is copied is in neither the rows nor the files of the restored server."""
    settings, database = make(str(tmp_path / "data" / "lycosa.sqlite"), tmp_path / "data")
    log = Backup._log

    def delete(self: Backup, tar: tarfile.TarFile, directory: Path, into: str) -> dict[str, int]:
        ends = log(self, tar, directory, into)
        database.run("DELETE FROM crawl WHERE id = ?", CRAWL)
        (directory / "archive" / "a.warc.gz").unlink()
        return ends

    monkeypatch.setattr(Backup, "_log", delete)
    Backup(settings, database).write(tmp_path / "b.tar")
    database.close()
    assert Told(2, 1) == restore(tmp_path / "b.tar", tmp_path / "new")
    again = Database.open(tmp_path / "new" / "lycosa.sqlite")
    assert ["crawl-1"] == [row["id"] for row in again.rows("SELECT id FROM crawl")]
    assert not (tmp_path / "new" / "crawls" / CRAWL).exists()
    again.close()


def _unlink(directory: Path) -> None:
    (directory / "archive" / "a.warc.gz").unlink()


def _cut(directory: Path) -> None:
    (directory / "archive" / "a.warc.gz").write_bytes(b"x" * 99)


def _no_database(directory: Path) -> None:
    (directory / "log.sqlite").write_bytes(b"x" * 5000)


def _damage(directory: Path) -> None:
    log = directory / "log.sqlite"
    log.write_bytes(log.read_bytes()[:100] + b"x" * (log.stat().st_size - 100))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [(_unlink, "is missing"), (_cut, "lost its end"), (_no_database, "not a database"), (_damage, "malformed")],
)
def test_a_spoilt_crawl_is_told(tmp_path: Path, spoil: Callable[[Path], None], why: str) -> None:
    """A crawl that is there, but is not whole, is not taken for a backup: which one it is and what to do is said."""
    settings, database = make("", tmp_path / "data")
    directory = settings.crawl_directory(CRAWL)
    spoil(directory)
    with pytest.raises(InputError) as told:
        Backup(settings, database).write(tmp_path / "b.tar")
    assert f"the crawl in {directory}: " in str(told.value)
    assert why in str(told.value)
    assert ".lycosa-backup" not in str(told.value)
    assert [tmp_path / "data"] == list(tmp_path.iterdir())
    database.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a backup."""
    tmp_path = tmp_path_factory.mktemp("whole")
    settings, database = make(str(tmp_path / "data" / "lycosa.sqlite"), tmp_path / "data")
    Backup(settings, database).write(tmp_path / "b.tar")
    database.close()
    return (tmp_path / "b.tar").read_bytes()


def rewritten(whole: bytes, change: Callable[[tarfile.TarInfo, bytes], tuple[tarfile.TarInfo, bytes]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(whole)) as old, tarfile.open(fileobj=out, mode="w") as new:
        for member in old:
            file = old.extractfile(member)
            assert file is not None
            info, content = change(member, file.read())
            info.size = len(content)
            new.addfile(info, io.BytesIO(content))
    return out.getvalue()


def renamed(to: str) -> Callable[[bytes], bytes]:
    def change(member: tarfile.TarInfo, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
        if member.name.endswith("crawl.toml"):
            member.name = to
        return member, content

    return lambda whole: rewritten(whole, change)


def linked(kind: bytes) -> Callable[[bytes], bytes]:
    def change(member: tarfile.TarInfo, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
        if member.name.endswith("crawl.toml"):
            member.type, member.linkname = kind, "/etc/passwd"
            return member, b""
        return member, content

    return lambda whole: rewritten(whole, change)


def resaid(**said: Any) -> Callable[[bytes], bytes]:
    def change(member: tarfile.TarInfo, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
        if member.name == "manifest.json":
            content = json.dumps(json.loads(content) | said).encode()
        return member, content

    return lambda whole: rewritten(whole, change)


def changed(member: tarfile.TarInfo, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
    return member, content.replace(b"reefs", b"wrecks"[:5])


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda whole: b"",
    "no tar": lambda whole: os.urandom(5000),
    "half": lambda whole: whole[: len(whole) // 2],
    "without its end": lambda whole: whole[: whole.rindex(b"manifest.json")],
    "a changed byte": lambda whole: whole.replace(b"reefs", b"roofs"),
    "a changed file": lambda whole: rewritten(whole, changed),
    "a name that leads out": renamed("crawls/crawl-0/../../../out"),
    "an absolute name": renamed("/tmp/lycosa-out"),
    "an unknown name": renamed("other/crawl.toml"),
    "a symbolic link": linked(tarfile.SYMTYPE),
    "a hard link": linked(tarfile.LNKTYPE),
    "a device": linked(tarfile.CHRTYPE),
    "nothing in the manifest": resaid(members=None),
    "a newer form": resaid(form=2),
    "a newer schema": resaid(schema=99),
    "no schema": resaid(schema="x"),
}


def test_a_spoilt_backup_is_refused(whole: bytes, tmp_path: Path) -> None:
    """Truncated, tampered with, or never a backup: one clear error, and nothing is written anywhere."""
    for spoil in SPOILT.values():
        (tmp_path / "b.tar").write_bytes(spoil(whole))
        before = sorted(tmp_path.iterdir())
        with pytest.raises(InputError, match=r"b\.tar"):
            restore(tmp_path / "b.tar", tmp_path / "new")
        assert before == sorted(tmp_path.iterdir())


def test_rows_that_do_not_fit_leave_nothing(database_address: str, whole: bytes, tmp_path: Path) -> None:
    """A column that isn't one (whatever its digest says) is refused, and neither directory nor database is touched."""
    address = database_address if "://" in database_address else ""
    archive = Archive.read(whole)
    archive.change(archive.at("notice.jsonl"), b'{"id) VALUES (1); --": 1}\n')
    (tmp_path / "odd.tar").write_bytes(archive.write())
    with pytest.raises(InputError, match=r"row 1 of notice does not fit: .* (is missing|is not a column)"):
        restore(tmp_path / "odd.tar", tmp_path / "new", address)
    assert not (tmp_path / "new").exists()
    assert [] == [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]
    if address:
        left = Database.open(address)
        assert {} == left.tables()
        left.close()


def test_a_log_that_is_being_written_is_copied_whole(tmp_path: Path) -> None:
    """While a crawl appends, the copy ends between two events."""
    settings, database = make(str(tmp_path / "data" / "lycosa.sqlite"), tmp_path / "data")
    log = SqliteLog(settings.crawl_directory(CRAWL) / "log.sqlite")
    log.append(Visit("https://a.example/2", "page", "ok", 1, place=Place("a.warc.gz", 100, 50)))
    Backup(settings, database).write(tmp_path / "b.tar")
    log.close()
    database.close()
    restore(tmp_path / "b.tar", tmp_path / "new")
    copied = sqlite3.connect(tmp_path / "new" / "crawls" / CRAWL / "log.sqlite")
    assert (2,) == copied.execute("SELECT COUNT(*) FROM event").fetchone()
    copied.close()
    assert 150 == (tmp_path / "new" / "crawls" / CRAWL / "archive" / "a.warc.gz").stat().st_size
