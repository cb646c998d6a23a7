"""`lycosa backup` and `lycosa restore`: a server's data in one tar file.

    crawls/ID/crawl.sqlite, ...   crawl directories; archives cut to the length recorded in the copied log, no indices
    models/ID                     model files
    lycosa.sqlite                 a snapshot of all rows, from SQLite or PostgreSQL; always the last member

The server may keep running. Sessions are left out: after a restore everyone signs in again.
"""

from __future__ import annotations

import re
import sqlite3
import tarfile
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import atomic_write
from lycosa.store.log import NAME as LOG
from lycosa.store.log import SqliteLog
from lycosa_server.people.database import Database
from lycosa_server.people.erasing import erase_crawl
from lycosa_server.people.migrating import migrate, newest, revision
from lycosa_server.people.schema import metadata
from lycosa_server.settings import Settings

DATABASE = "lycosa.sqlite"
MEMBER = re.compile(rf"{re.escape(DATABASE)}|crawls/[\w-]+/(archive/)?\w[\w.-]*|models/[\w-]+", re.ASCII)
LEFT_OUT = re.compile(rf"{LOG}|search\..*|working-on|lock|live\.json|.*(\.new|-wal|-shm|-journal)|\..*")


def write_backup(settings: Settings, database: Database, file: Path) -> tuple[int, int]:
    """Write a backup atomically, readable only by its owner. Return the numbers of people and crawls."""
    with (
        tempfile.TemporaryDirectory(prefix=".lycosa-backup-", dir=file.absolute().parent) as temporary,
        atomic_write(file, 0o600) as out,
        tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT, dereference=True) as tar,
    ):
        place = Path(temporary)
        with closing(Database(place / DATABASE)) as rows:
            _copy_rows(database, rows)
            for row in rows.rows("SELECT id FROM crawl ORDER BY created, id"):
                directory = settings.crawl_directory(row["id"])
                if directory.is_dir():  # otherwise it is queued for the first time
                    _add_crawl(tar, directory, place, database)
                if database.get("crawl", row["id"]) is None:  # deleted meanwhile
                    erase_crawl(rows, row["id"])
            for row in rows.rows("SELECT id FROM model WHERE state = 'ready' ORDER BY id"):
                with suppress(FileNotFoundError):  # deleted meanwhile
                    _add(tar, f"models/{row['id']}", settings.model_file(row["id"]))
            counts = rows.count("person"), rows.count("crawl")
            rows.rows("PRAGMA journal_mode = DELETE")  # merge the write-ahead log into the file
        _add(tar, DATABASE, place / DATABASE)
    return counts


def restore(file: Path, data: Path, address: str = "") -> tuple[int, int]:
    """Restore a backup into an empty directory and SQLite there, or the empty database at `address`; all or nothing."""
    if not file.is_file():
        raise InputError("missing-file", f"{file} is not a file: give one written by 'lycosa backup'")
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise InputError("not-empty", f"{data} is not empty: give a new or empty directory")
    data.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{data.name}-", dir=data.parent) as temporary:
        place = Path(temporary) / "data"
        place.mkdir(0o700)
        _extract(file, place)
        with closing(Database(place / DATABASE)) as rows:
            if revision(rows) != newest():
                raise InputError("bad-backup", f"{file} is incomplete, or from another version: nothing restored")
            counts = rows.count("person"), rows.count("crawl")
            if address:
                with closing(Database(address)) as target:
                    _copy_rows(rows, target)
        if address:
            (place / DATABASE).unlink()
        place.replace(data)
    return counts


def _copy_rows(source: Database, target: Database) -> None:
    if revision(target):
        raise InputError("not-empty", "the database is not empty: give the address of a new one")
    with source.transaction(snapshot=True), target.transaction():
        migrate(target)
        for table in (it.name for it in metadata.sorted_tables):  # parents before tables that reference them
            if table not in ("session", "attempt", "process"):
                for row in source.rows(f"SELECT * FROM {table}"):
                    target.insert(table, row)


def _add_crawl(tar: tarfile.TarFile, directory: Path, temporary: Path, database: Database) -> None:
    name, copy = f"crawls/{directory.name}", temporary / LOG
    try:
        if (directory / LOG).exists():
            for archive, end in _copy_log(directory / LOG, copy).items():
                _add(tar, f"{name}/archive/{archive}", directory / "archive" / archive, end)
            _add(tar, f"{name}/{LOG}", copy)
        for path in sorted(directory.iterdir()):
            if path.is_file() and not path.is_symlink() and not LEFT_OUT.fullmatch(path.name):
                _add(tar, f"{name}/{path.name}", path)
    except (FileNotFoundError, sqlite3.Error, StoreError) as error:
        if database.get("crawl", directory.name) is not None:
            why = str(error).replace(str(copy), str(directory / LOG)).partition(". Restore")[0]
            raise InputError("bad-crawl", f"cannot back up {directory}: {why}; repair or delete it") from error


def _copy_log(log: Path, copy: Path) -> dict[str, int]:
    address = f"{log.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, 30, uri=True)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
    with closing(SqliteLog(copy, readonly=True)) as copied:
        copied.check()
        return copied.archived()


def _add(tar: tarfile.TarFile, name: str, path: Path, end: int | None = None) -> None:
    with open(path, "rb") as content:
        info = tar.gettarinfo(arcname=name, fileobj=content)
        if end is not None:
            if info.size < end:
                raise StoreError(f"{path.name} is truncated")
            info.size = end
        tar.addfile(info, content)


def _extract(file: Path, into: Path) -> None:
    try:
        with tarfile.open(file, "r:") as tar:
            for member in tar:
                if not member.isreg() or not MEMBER.fullmatch(member.name) or (into / member.name).exists():
                    raise tarfile.TarError(f"unexpected member {ascii(member.name)[:80]}")
                tar.extract(member, into, filter="data")
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise InputError("bad-backup", f"{file} is not a complete backup ({error}): nothing was restored") from error
