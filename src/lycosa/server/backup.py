"""All that a server keeps, in one tar file: `lycosa backup` and `lycosa restore`.

    database/TABLE.jsonl          rows, all of one moment; one form for SQLite and PostgreSQL
    crawls/ID/log.sqlite, ...     a crawl's directory; its archive as far as the copied log knows of it
    models/ID                     a model, as its row tells of it
    manifest.json                 the last: schema, and the size and SHA-256 of everything before it

The server may run meanwhile: a crawl's log is copied by SQLite, and what it refers to is on disk before the log tells
so. A crawl that is deleted under our hands is left out. Sessions are not in it: after a restore everyone signs in anew.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sqlite3
import tarfile
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import NAME as MARK
from lycosa.core.files import replacing
from lycosa.people.database import Database, Row, scripts, tables_of, version
from lycosa.people.tables import PASSING, Checker
from lycosa.server.settings import Settings
from lycosa.store import cdxj
from lycosa.store.log import NAME as LOG
from lycosa.store.log import SqliteLog
from lycosa.store.search import NAME as SEARCH
from lycosa.version import __version__

FORM = 1
MANIFEST = "manifest.json"
PASSING_FILES = frozenset({SEARCH, MARK, "lock", "live.json"})
"""Files of a crawl that are of the moment, or made again."""


def is_passing(name: str) -> bool:
    """Whether no backup has a file of a crawl that is called so."""
    return name in PASSING_FILES or name.endswith((".new", "-wal", "-shm", "-journal"))


@dataclass(frozen=True, slots=True)
class Told:
    """What a backup holds."""

    people: int
    crawls: int
    size: int = 0
    damaged: list[str] = field(default_factory=list)
    """Crawls that have something which can't be read any more: what it is, and what to do."""


class Backup:
    """Writes one."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.settings = settings
        self.database = database
        self._members: dict[str, dict[str, Any]] = {}
        self._gone: list[str] = []
        self._beside = Path()

    def write(self, file: Path) -> Told:
        """All into a file, which is there whole or not at all. Only its owner may read it."""
        self._beside = file.absolute().parent  # where there is room for copies, if anywhere
        try:
            with replacing(file, 0o600) as out, tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
                people, crawls, models = self._tables(tar)
                for crawl in crawls:
                    self._crawl(tar, crawl)
                for model in models:
                    self._model(tar, model)
                manifest = {
                    "form": FORM,
                    "version": __version__,
                    "schema": version(self.database),
                    "at": time.time(),
                    "people": people,
                    "crawls": len(crawls) - len(self._gone),
                    "gone": self._gone,
                    "members": dict(self._members),
                }
                told = json.dumps(manifest, indent=1).encode()
                self._add(tar, MANIFEST, io.BytesIO(told), len(told))
        except OSError as error:
            raise InputError(f"cannot write {file}: {error.strerror or error}; nothing was left there") from error
        return Told(people, len(crawls) - len(self._gone), file.stat().st_size)

    def _tables(self, tar: tarfile.TarFile) -> tuple[int, list[str], list[Row]]:
        """The rows; how many people there are, which crawls, and models with a file."""
        with self.database.snapshot():
            present = self.database.tables()
            people = self.database.rows("SELECT id FROM person")
            crawls = self.database.rows("SELECT id FROM crawl ORDER BY created, id")
            models = []
            if "model" in present:
                models = self.database.rows("SELECT id, size, digest FROM model WHERE state = 'ready' ORDER BY id")
            checker = Checker(scripts())
            for table in tables_of(scripts()):
                if table in PASSING or table not in present:
                    continue
                with tempfile.TemporaryFile(dir=self._beside) as rows:
                    for row in self.database.rows(f"SELECT * FROM {table}"):
                        _check(checker, table, row)
                        rows.write(json.dumps(row).encode() + b"\n")
                    size = rows.tell()
                    rows.seek(0)
                    self._add(tar, f"database/{table}.jsonl", rows, size)
        return len(people), [row["id"] for row in crawls], models

    def _model(self, tar: tarfile.TarFile, row: Row) -> None:
        try:
            with open(self.settings.model_file(row["id"]), "rb") as content:
                self._add(tar, f"models/{row['id']}", content, row["size"])
        except FileNotFoundError:
            if self.database.get("model", row["id"]) is not None:
                raise InputError(
                    f"cannot back up: the file of the model {row['id']} is missing; have its owner delete it"
                ) from None  # else it is being deleted

    def _crawl(self, tar: tarfile.TarFile, crawl: str) -> None:
        directory = self.settings.crawl_directory(crawl)
        if not directory.is_dir():
            return  # it waits for its turn, and has nothing yet
        try:
            ends = self._log(tar, directory, f"crawls/{crawl}")
            for name, end in ends.items():
                with open(directory / "archive" / name, "rb") as archive:
                    if os.fstat(archive.fileno()).st_size < end:
                        raise _spoilt(directory, f"{archive.name} has lost its end")
                    self._add(tar, f"crawls/{crawl}/archive/{name}", archive, end)
                    self._index(tar, f"crawls/{crawl}/archive", directory / "archive" / name, end)
            for path in sorted(directory.iterdir()):
                other = path.name not in (LOG, "search.lock") and not is_passing(path.name)
                if other and path.is_file() and not path.is_symlink():
                    with open(path, "rb") as content:
                        self._add(tar, f"crawls/{crawl}/{path.name}", content, path.stat().st_size)
        except FileNotFoundError as error:
            if directory.is_dir() and self.database.row("SELECT id FROM crawl WHERE id = ?", crawl):
                raise _spoilt(directory, f"{error.filename} is missing") from error  # it isn't being deleted
            self._gone.append(crawl)

    def _index(self, tar: tarfile.TarFile, into: str, archive: Path, end: int) -> None:
        """Where the records of a file lie, for other crawls that refer to them: as far as the file is copied."""
        index = cdxj.index_of(archive)
        if index.exists():
            content = b"".join(entry.line for entry in cdxj.read(index) if entry.end <= end)
            self._add(tar, f"{into}/{index.name}", io.BytesIO(content), len(content))

    @staticmethod
    def _copied(source: Path, copy: Path) -> None:
        address = f"{source.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, 30, uri=True)) as log, closing(sqlite3.connect(copy)) as target:
            log.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")

    def _log(self, tar: tarfile.TarFile, directory: Path, into: str) -> dict[str, int]:
        """Copy the log; where each file of the archive ends, as the copy knows it."""
        if not (directory / LOG).exists():
            return {}
        with tempfile.TemporaryDirectory(prefix=".lycosa-backup-", dir=self._beside) as place:
            copy = Path(place) / LOG
            try:
                self._copied(directory / LOG, copy)
                with closing(SqliteLog(copy, readonly=True)) as log:
                    log.check()
                    ends = log.archived()
            except (sqlite3.Error, StoreError) as error:
                if (directory / LOG).exists():
                    why = str(error).replace(str(copy), str(directory / LOG))
                    raise _spoilt(directory, why.partition(". Restore")[0]) from error
                raise FileNotFoundError(2, "No such file or directory", str(directory / LOG)) from error
            with open(copy, "rb") as whole:
                self._add(tar, f"{into}/{LOG}", whole, copy.stat().st_size)
        return ends

    def _add(self, tar: tarfile.TarFile, name: str, content: IO[bytes], size: int) -> None:
        about = tarfile.TarInfo(name)
        about.size, about.mode, about.mtime = size, 0o600, int(time.time())
        counted = _Counted(content)
        tar.addfile(about, counted)
        self._members[name] = {"size": size, "sha256": counted.digest.hexdigest()}


def _spoilt(directory: Path, why: str) -> InputError:
    return InputError(
        f"cannot back up the crawl in {directory}: {why}; mend it from an older backup, or have its owner delete it"
    )


def _check(checker: Checker, table: str, row: Row) -> None:
    """What no restore would take is told now, as long as it can be mended."""
    try:
        checker.row(table, row)
    except InputError as error:
        raise InputError(f"cannot back up: {error}; mend that row in the database first") from error


class _Counted:
    """A file whose digest is taken as it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        part = self._file.read(size)
        self.digest.update(part)
        return part
