"""`lycosa restore`: a backup becomes a server's data again. First all of the file is checked, then all is written
beside the place it is for, then it is put there in one step.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from lycosa.core.errors import InputError
from lycosa.people.database import Database
from lycosa.people.migrating import migrate, scripts, tables_of, version
from lycosa.server.backup import FORM, MANIFEST, Told
from lycosa.server.settings import Settings

PART = 1 << 20
LARGEST_MANIFEST = 256 << 20
ALLOWED = re.compile(r"database/[a-z_]+\.jsonl|crawls/[\w-]+/(archive/)?\w[\w.-]*", re.ASCII)
"""The only names that a backup has: no way leads out of the directory."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself."""

    schema: int
    people: int
    crawls: int
    gone: frozenset[str]
    members: dict[str, dict[str, Any]]


def restore(file: Path, data: Path, database: str = "") -> Told:
    """Check the file, then make the directory and the database from it. Nothing is left behind if it fails."""
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise InputError(f"{data} is not empty: a backup is restored into a directory that is new or empty")
    try:
        with open(file, "rb") as opened:
            manifest = verify(opened, file)
            opened.seek(0)
            _put(opened, manifest, data, database)
    except (tarfile.TarError, EOFError) as error:
        raise _broken(file, str(error) or "it ends too early") from error
    except OSError as error:
        raise InputError(f"cannot restore {file} to {data}: {error.strerror or error}") from error
    return Told(manifest.people, manifest.crawls)


def verify(opened: IO[bytes], file: Path) -> Manifest:
    """Read all of a backup and compare it with what it says of itself."""
    seen: dict[str, dict[str, Any]] = {}
    told: Any = None
    with tarfile.open(fileobj=opened, mode="r:") as tar:
        for member in tar:
            if told is not None or member.name in seen:
                raise _broken(file, f"{member.name!r} should not be there")
            plain = member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not member.issparse()
            if not plain or not (member.name == MANIFEST or ALLOWED.fullmatch(member.name)):
                raise _broken(file, f"no backup has a member {member.name!r} of this kind")
            content = tar.extractfile(member)
            assert content is not None
            if member.name == MANIFEST:
                told = _parsed(content.read(LARGEST_MANIFEST), file)
                continue
            digest = hashlib.sha256()
            while part := content.read(PART):
                digest.update(part)
            seen[member.name] = {"size": member.size, "sha256": digest.hexdigest()}
    if told is None:
        raise _broken(file, "it has no end: the copy is not complete")
    manifest = _checked(told, file)
    for name in sorted(seen.keys() | manifest.members.keys()):
        if seen.get(name) != manifest.members.get(name):
            raise _broken(file, f"{name} is not what was written")
    if manifest.schema > len(scripts()):
        raise InputError(
            f"{file} has schema {manifest.schema}, but this Lycosa knows {len(scripts())}: install the newer version"
        )
    return manifest


def _parsed(text: bytes, file: Path) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise _broken(file, "its manifest can't be read") from error


def _checked(told: Any, file: Path) -> Manifest:
    try:
        if told["form"] != FORM:
            raise InputError(f"{file} is a backup of form {told['form']!r}: this Lycosa reads form {FORM}")
        schema, people, crawls = (told[name] for name in ("schema", "people", "crawls"))
        if not all(type(number) is int and number >= 0 for number in (schema, people, crawls)) or not schema:
            raise TypeError
        return Manifest(schema, people, crawls, frozenset(map(str, told["gone"])), dict(told["members"]))
    except (KeyError, TypeError, ValueError) as error:
        raise _broken(file, "its manifest can't be read") from error


def _put(opened: IO[bytes], manifest: Manifest, data: Path, address: str) -> None:
    data.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{data.name}-", dir=data.parent))
    moved = False
    database: Database | None = None
    try:
        rows = _extract(opened, manifest, beside)
        database = Database.open(Settings(beside, address).database_address)
        if version(database):
            raise InputError("the database is not empty: a backup is restored into a new one")
        with database.transaction():
            _fill(database, manifest, rows)
            shutil.rmtree(rows)
            if address:  # the directory has to be there before the database says so
                _move(beside, data)
                moved = True
        if not address:
            database.close()
            _move(beside, data)
            moved = True
    except BaseException:
        if moved:
            shutil.rmtree(data, ignore_errors=True)
        raise
    finally:
        if database is not None:
            database.close()
        shutil.rmtree(beside, ignore_errors=True)


def _move(beside: Path, data: Path) -> None:
    with suppress(FileNotFoundError):
        data.rmdir()
    beside.rename(data)


def _extract(opened: IO[bytes], manifest: Manifest, into: Path) -> Path:
    """Write the files; where the tables' rows lie."""
    with tarfile.open(fileobj=opened, mode="r:") as tar:
        for member in tar:
            crawl = member.name.split("/")[1] if member.name.startswith("crawls/") else ""
            if member.name == MANIFEST or crawl in manifest.gone:
                continue
            target = into / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            content = tar.extractfile(member)
            assert content is not None
            with open(target, "xb") as copy:
                shutil.copyfileobj(content, copy, PART)
    return into / "database"


def _fill(database: Database, manifest: Manifest, rows: Path) -> None:
    """The schema that the backup is of, its rows, and then what has become of the schema since."""
    migrate(database, manifest.schema)
    columns = database.tables()
    for table in tables_of(scripts()[: manifest.schema]):
        for row in _rows(rows / f"{table}.jsonl"):
            if not row.keys() <= set(columns[table]) or not all(
                value is None or isinstance(value, str | int | float) for value in row.values()
            ):
                raise InputError(f"the backup's table {table} has a row that doesn't fit: it was not written by Lycosa")
            if manifest.gone.isdisjoint({row["id"] if table == "crawl" else row.get("crawl")}):
                database.insert(table, row)
    migrate(database)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    with open(path, "rb") as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InputError(f"the backup's {path.name} can't be read: {error}") from error
            if not isinstance(row, dict):
                raise InputError(f"the backup's {path.name} has something else than rows")
            yield row


def _broken(file: Path, why: str) -> InputError:
    return InputError(f"{file} is no whole backup ({why}): nothing was restored; take another one")
