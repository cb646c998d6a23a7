"""`lycosa restore`: a backup becomes a server's data again. A backup may come from anywhere, so nothing of it is
believed. First all of the file is checked: names, kinds and sizes of its members, digests, every row of every table.
Then all is written beside the place that it is for, and crawls are checked there: their options, their logs. Then it is
put in its place in one step.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from lycosa.core.errors import InputError, StoreError
from lycosa.core.spec import parse
from lycosa.people.database import Database, is_id, migrate, scripts, version
from lycosa.people.tables import LONGEST_ROW, PASSING, Checker, read_json, rows_of, short, tables
from lycosa.server.backup import FORM, MANIFEST, Told, is_passing
from lycosa.server.models import inspect
from lycosa.server.settings import Settings
from lycosa.server.validation import TAUGHT, harmless, harmless_wishes
from lycosa.store.directory import CONFIG, KEPT, Directory
from lycosa.store.earlier import located
from lycosa.store.log import NAME as LOG
from lycosa.store.log import SqliteLog

PART = 1 << 20
LARGEST_MANIFEST = 256 << 20
LARGEST_CONFIG = 1 << 20
MOST_MEMBERS = 1_000_000
LARGEST_HEADER = 64 << 10
"""Bytes of what tells of a member, beside the 512 that every one has."""

TABLE = re.compile(r"database/([a-z_]+)\.jsonl", re.ASCII)
FILE = re.compile(r"crawls/([\w-]{1,64})/(?:archive/)?(\w[\w.-]{0,150})", re.ASCII)
MODEL = re.compile(r"models/([\w-]{1,64})", re.ASCII)
"""The only names that a backup has: no way leads out of the directory."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself."""

    schema: int
    people: int
    crawls: int
    gone: frozenset[str]
    members: dict[str, dict[str, Any]]


@dataclass(slots=True)
class _Contents:
    """What is in a backup."""

    members: dict[str, dict[str, Any]] = field(default_factory=dict)
    tables: set[str] = field(default_factory=set)
    crawls: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)


def restore(file: Path, data: Path, database: str = "") -> Told:
    """Check the file, then make the directory and the database from it. Nothing is left behind if it fails."""
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise InputError(f"{data} is not empty: a backup is restored into a directory that is new or empty")
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise InputError(f"{file} is not a file: name one that 'lycosa backup' made")
        with open(file, "rb") as opened:
            manifest = verify(opened, file)
            opened.seek(0)
            damaged = _put(opened, file, manifest, data, database)
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
        raise _broken(file, _told(error)) from error
    except MemoryError as error:
        raise _broken(file, "it takes more memory than there is") from error
    except OSError as error:
        raise InputError(f"cannot restore {file} to {data}: {error.strerror or error}") from error
    return Told(manifest.people, manifest.crawls, damaged=damaged)


def verify(opened: IO[bytes], file: Path) -> Manifest:
    """Read all of a backup, compare it with what it says of itself, and look at every row."""
    contents, manifest = _read_members(opened, file)
    for name in sorted(contents.members.keys() | manifest.members.keys()):
        if contents.members.get(name) != manifest.members.get(name):
            raise _broken(file, f"{short(name)} is not what was written")
    if manifest.schema > len(scripts()):
        raise InputError(
            f"{file} has schema {manifest.schema}, but this Lycosa knows {len(scripts())}: install the newer version"
        )
    _check_rows(opened, file, manifest, contents)
    return manifest


def _read_members(opened: IO[bytes], file: Path) -> tuple[_Contents, Manifest]:
    """Each member with its size and digest; the last is the manifest."""
    contents = _Contents()
    manifest: Manifest | None = None
    size = file.stat().st_size
    for tar, member in _members(opened, file):
        if manifest is not None or member.name in contents.members:
            raise _broken(file, f"{short(member.name)} should not be there")
        if member.offset_data + member.size > size:
            raise _broken(file, "it ends too early")
        if len(contents.members) >= MOST_MEMBERS:
            raise _broken(file, f"it has more than {MOST_MEMBERS:,} files")
        if member.name == MANIFEST:
            manifest = _read_manifest(tar, member, file)
            continue
        _check_name(member.name, contents, file)
        digest = hashlib.file_digest(_content(tar, member), "sha256")  # type: ignore[arg-type]
        contents.members[member.name] = {"size": member.size, "sha256": digest.hexdigest()}
    if manifest is None:
        raise _broken(file, "it has no end: the copy is not complete")
    return contents, manifest


class _Member(tarfile.TarInfo):
    """A plain file of a tar: links, devices, sparse files and all else are refused before they are looked into."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        header = self.type == tarfile.XHDTYPE and self.size <= LARGEST_HEADER
        if not header and self.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            raise tarfile.ReadError(f"no backup has a member {short(self.name)} of this kind")
        found: tarfile.TarInfo = super()._proc_member(tar)  # type: ignore[misc]
        if found.issparse():
            raise tarfile.ReadError(f"no backup has a member {short(self.name)} of this kind")
        return found


def _members(opened: IO[bytes], file: Path) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    opened.seek(0)
    with tarfile.open(fileobj=opened, mode="r:", tarinfo=_Member) as tar:
        while (member := tar.next()) is not None:
            tar.members = []  # type: ignore[attr-defined]  # it would keep all of them
            yield tar, member


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = tar.extractfile(member)
    assert content is not None
    return content


def _check_name(name: str, contents: _Contents, file: Path) -> None:
    if table := TABLE.fullmatch(name):
        if table[1] in PASSING:
            raise _broken(file, f"{table[1]} is of the moment, no backup has it")
        contents.tables.add(table[1])
    elif (found := FILE.fullmatch(name)) and not is_passing(found[2]):
        contents.crawls.add(found[1])
    elif model := MODEL.fullmatch(name):
        contents.models.add(model[1])
    else:
        raise _broken(file, f"no backup has a member {short(name)}")


def _read_manifest(tar: tarfile.TarFile, member: tarfile.TarInfo, file: Path) -> Manifest:
    if member.size > LARGEST_MANIFEST:
        raise _broken(file, "its manifest is too large")
    try:
        data: Any = read_json(_content(tar, member).read(), LARGEST_MANIFEST)
        if data["form"] != FORM:
            raise InputError(f"{file} is a backup of form {short(data['form'])}: this Lycosa reads form {FORM}")
        schema, people, crawls = counts = [data[name] for name in ("schema", "people", "crawls")]
        gone, members = data["gone"], data["members"]
        if not all(type(count) is int and count >= 0 for count in counts) or not schema:
            raise TypeError("a count is not a number")
        if not isinstance(gone, list) or not all(map(is_id, gone)) or not isinstance(members, dict):
            raise TypeError("a list of members is none")
    except (KeyError, TypeError, ValueError) as error:
        raise _broken(file, f"its manifest can't be read: {error}") from error
    return Manifest(schema, people, crawls, frozenset(gone), members)


def _check_rows(opened: IO[bytes], file: Path, manifest: Manifest, contents: _Contents) -> None:
    """Every table is there, every row of it fits, and so do the rows together; files belong to crawls."""
    checker = Checker(scripts()[: manifest.schema])
    for table in sorted(checker.tables.keys() ^ contents.tables):
        raise _broken(file, f"{table} is {'no table' if table in contents.tables else 'missing'}")
    for tar, member in _members(opened, file):
        if match := TABLE.fullmatch(member.name):
            try:
                for row in rows_of(_lines(_content(tar, member))):
                    _check_row(checker, match[1], row, contents.members)
            except InputError as error:
                raise _broken(file, f"{member.name}: {error}") from error
    try:
        checker.finish()
    except InputError as error:
        raise _broken(file, str(error)) from error
    crawls = checker.ids["crawl"]
    if manifest.people != len(checker.ids["person"]) or manifest.crawls != len(crawls - manifest.gone):
        raise _broken(file, "it has other people or crawls than its manifest says")
    for model in sorted(contents.models - checker.ids.get("model", set())):
        raise _broken(file, f"it has the file of {model}, which is not a model")
    for crawl in sorted(contents.crawls - crawls):
        raise _broken(file, f"it has files of {crawl}, which is not a crawl")


def _check_row(checker: Checker, table: str, row: Any, members: dict[str, dict[str, Any]]) -> None:
    checker.row(table, row)
    told = {"size": row["size"], "sha256": row["digest"]} if table == "model" else {}
    if told and members.get(f"models/{row['id']}", told) != told:  # it may be missing: deleted meanwhile
        raise InputError(f"the model {row['id']} is not what its row tells of")
    if table == "interest":
        harmless_wishes(row["wishes"])


def _lines(content: IO[bytes]) -> Iterator[bytes]:
    """Of a bounded length: one that is longer is cut, and refused by whoever reads it."""
    while line := content.readline(LONGEST_ROW + 2):
        yield line


def _put(opened: IO[bytes], file: Path, manifest: Manifest, data: Path, address: str) -> list[str]:
    data.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{data.name}-", dir=data.parent))
    moved = False
    database: Database | None = None
    try:
        rows = _extract(opened, file, manifest, beside)
        _check_models(beside, rows, file)
        damaged = _check_crawls(beside, data, file, _owners(rows))
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
    return damaged


def _move(beside: Path, data: Path) -> None:
    with suppress(FileNotFoundError):
        data.rmdir()
    beside.rename(data)


def _extract(opened: IO[bytes], file: Path, manifest: Manifest, into: Path) -> Path:
    """Write the files; where the tables' rows lie."""
    for tar, member in _members(opened, file):
        crawl = member.name.split("/")[1] if member.name.startswith("crawls/") else ""
        if member.name not in manifest.members or crawl in manifest.gone:  # the manifest itself, or changed meanwhile
            continue
        target = into / member.name
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "xb") as copy:
            shutil.copyfileobj(_content(tar, member), copy, PART)
    return into / "database"


def _check_models(beside: Path, rows: Path, file: Path) -> None:
    """Whether each model is one that could have been uploaded."""
    if not (rows / "model.jsonl").exists():
        return
    with open(rows / "model.jsonl", "rb") as lines:
        for row in rows_of(_lines(lines)):
            place = beside / "models" / row["id"]
            if place.exists():
                try:
                    inspect(place, row["kind"])
                except InputError as error:
                    raise _broken(file, f"the model {row['id']}: {error}") from error


def _owners(rows: Path) -> dict[str, str]:
    """Whose each crawl is."""
    owner_of: dict[str, str] = {}
    with open(rows / "interest.jsonl", "rb") as lines:
        owner_of.update((row["id"], row["owner"]) for row in rows_of(_lines(lines)))
    with open(rows / "crawl.jsonl", "rb") as lines:
        return {row["id"]: owner_of.get(row["interest"], "") for row in rows_of(_lines(lines))}


def _check_crawls(beside: Path, data: Path, file: Path, owners: Mapping[str, str]) -> list[str]:
    """Whether each crawl is one that a server may have; of those with events that can't be read, what to do."""
    damaged: list[str] = []
    crawls = beside / "crawls"
    for directory in sorted(crawls.iterdir()) if crawls.is_dir() else ():
        try:
            if (directory / CONFIG).exists():
                if (directory / CONFIG).stat().st_size > LARGEST_CONFIG:
                    raise InputError(f"{CONFIG} is too large")
                _check_options(directory, owners)
            if (directory / LOG).exists():
                with closing(SqliteLog(directory / LOG, readonly=True)) as log:
                    log.check()
                    damaged += [told.replace(str(beside), str(data)) for told in log.unreadable(1)]
        except (InputError, StoreError) as error:
            why = str(error).replace(f"{directory}/", "").replace(str(directory), directory.name)
            raise _broken(file, f"the crawl {directory.name}: {why.partition('. Restore')[0][:300]}") from error
    return damaged


def _check_options(directory: Path, owners: Mapping[str, str]) -> None:
    """What a crawl is told, the copies of models that it goes by, and whose crawls it refers to."""
    options = Directory.read_options(directory)
    harmless(options)
    for source in located(options.dedupe, directory):
        if owners.get(source.name, owners.get(directory.name)) != owners.get(directory.name):
            raise InputError(f"its option dedupe names another person's crawl: {source.name}")
    name, given = parse(options.strategy)
    kinds = {"model": "classifier" if options.model else "", "strategy": TAUGHT.get(name, "") if given else ""}
    for option, kind in kinds.items():
        if kind:
            if not (directory / KEPT[option]).is_file():
                raise InputError(f"its {KEPT[option]} is missing")
            inspect(directory / KEPT[option], kind)


def _fill(database: Database, manifest: Manifest, rows: Path) -> None:
    """The schema that the backup is of, its rows, and then what has become of the schema since."""
    migrate(database, manifest.schema)
    for table in tables(scripts()[: manifest.schema]):
        if table in PASSING:
            continue
        with open(rows / f"{table}.jsonl", "rb") as lines:
            for row in rows_of(_lines(lines)):
                if manifest.gone.isdisjoint({row["id"] if table == "crawl" else row.get("crawl")}):
                    database.insert(table, row)
    migrate(database)


def _broken(file: Path, why: str) -> InputError:
    return InputError(f"{file} is not a complete backup ({why}): nothing was restored; take another one")


def _told(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return (str(error).splitlines() or ["it ends too early"])[0][:200]
