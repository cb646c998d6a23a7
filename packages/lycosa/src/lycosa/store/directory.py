"""Directory of a crawl: crawl.toml, event log, WARC archive, copies of files named by options, and a lock."""

from __future__ import annotations

import filecmp
import re
import shutil
from dataclasses import replace as with_changes
from pathlib import Path

from lycosa.core.errors import InputError, LockedError, LycosaError, StoreError
from lycosa.core.files import atomic_write
from lycosa.core.options import DEFAULT_STRATEGY, Options
from lycosa.store.log import NAME, Lock, SqliteLog, refuse_earlier_release
from lycosa.store.naming import host_name
from lycosa.store.warc import WarcArchive

CONFIG = "crawl.toml"

SHARDS = "shards"  # subdirectory of the shards of a cluster crawl
SHARD = re.compile(r"\d{3}")

COPIED_FILES = {  # names of the copies of files given as options
    "model": "topic.model",
    "background": "background.tsv.zst",
    "ontology": "ontology",
    "strategy": "strategy.tsv",
}


def crawl_of_shard(path: Path) -> Path | None:
    """Return the crawl directory of a shard directory; None if it is not a shard."""
    place = path.resolve()
    crawl, named = place.parent.parent, path.parent.parent
    if place.parent.name != SHARDS or not SHARD.fullmatch(place.name) or not (crawl / CONFIG).is_file():
        return None
    return named if named.name and named.resolve() == crawl else crawl  # keep a relative path relative


def shard_directories(directory: Path) -> list[Path]:
    return sorted((directory / SHARDS).glob("[0-9][0-9][0-9]"))


class Directory:
    """Directory of a crawl, locked for writing. Use `create` or `open`."""

    def __init__(self, path: Path, options: Options, lock: Lock) -> None:
        self.path = path
        self.options = options
        self.moved: list[str] = []  # archive parts not in the log, which `recover` moved aside
        self._lock = lock
        self._copied: list[Path] = []

    @classmethod
    def create(cls, path: Path, options: Options) -> Directory:
        """Create a crawl's directory; raise InputError if it already holds a crawl."""
        if (path / CONFIG).exists() or (path / NAME).exists():
            advice = f"continue it with 'lycosa resume {path}', or choose another directory with --out"
            raise InputError("crawl-exists", f"{path} already holds a crawl: {advice}")
        new = not path.exists()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"cannot create {path}: {error.strerror}; choose another directory with --out"
            raise InputError("cannot-create-directory", message) from error
        lock = Lock(path)
        directory = cls(path, options, lock)
        try:
            directory._copy_files()
            directory.save()
        except LycosaError:  # do not leave an incomplete directory
            lock.release()
            for file in (lock.path, *directory._copied):
                file.unlink(missing_ok=True)
            if new:
                path.rmdir()
            raise
        return directory

    @classmethod
    def open(cls, path: Path, *, shard: bool = False) -> Directory:
        """Lock and open a crawl's directory; raise InputError for a shard's directory unless `shard` is set."""
        options = cls.read_options(path)
        if not shard and (crawl := crawl_of_shard(path)) is not None:
            raise InputError("shard-directory", f"{path} is a shard of the crawl in {crawl}: give that directory")
        return cls(path, options, Lock(path))

    @staticmethod
    def read_options(path: Path) -> Options:
        if not (path / CONFIG).is_file():
            raise InputError("not-a-crawl", f"{path} contains no crawl: give a directory created by 'lycosa crawl'")
        refuse_earlier_release(path)
        options = Options.load(path / CONFIG)
        options.strategy = options.strategy or DEFAULT_STRATEGY  # an empty strategy means the default
        return options

    def _copy_files(self) -> None:
        """Copy the files given as options into the directory, so that it stays complete if these are moved."""
        for option, name in self.options.files().items():
            place = self.path / COPIED_FILES[option]
            if place.exists():
                if Path(name).is_file() and filecmp.cmp(name, place, shallow=False):
                    continue  # already the directory's own copy, or left by a killed start
                message = f"{place} already exists, so {name} cannot be created: move it, or choose another --out"
                raise InputError("file-exists", message)
            self._copy(name, place)
            self._copied.append(place)
        self.options = self.options.with_files({option: COPIED_FILES[option] for option in self.options.files()})

    def replace_model(self, options: Options, model: Path) -> Options:
        """Replace the crawl's copy of its model; return the options with the name of the copy."""
        self._copy(model, self.path / COPIED_FILES["model"])
        return options.with_files({"model": COPIED_FILES["model"]})

    def _copy(self, file: str | Path, place: Path) -> None:
        try:
            with open(file, "rb") as source, atomic_write(place) as copy:
                shutil.copyfileobj(source, copy)
        except OSError as error:
            raise StoreError(f"cannot copy {file} to {self.path}: {error.strerror}; free some space") from error

    def save(self) -> None:
        """Write crawl.toml atomically."""
        # Literal headers and notification URLs may be secrets, so only references to environment variables are saved.
        headers, notify = _environment_references(self.options.headers), _environment_references(self.options.notify)
        kept = with_changes(self.options, headers=headers, notify=notify)
        try:
            with atomic_write(self.path / CONFIG) as file:
                file.write(kept.to_toml().encode())
        except UnicodeEncodeError as error:
            part = error.object[error.start : error.end]
            raise InputError("invalid-text", f"an option is not valid text ({part!r})") from error
        except OSError as error:
            message = f"cannot write {self.path / CONFIG}: {error.strerror}; free some space or choose --out"
            raise StoreError(message) from error

    def log(self) -> SqliteLog:
        return SqliteLog(self.path / NAME)

    def archive(self, log: SqliteLog, software: str, rotate: int, user_agent: str = "") -> WarcArchive:
        """Return the archive, truncated to the offsets in the log."""
        options = self.options
        about = {
            "software": software,
            "operator": options.operator,
            "contact": options.contact,
            "hostname": host_name(),
            "http-header-user-agent": user_agent,
            "isPartOf": self.path.absolute().name,
            "description": f"topic: {options.topic}" if options.topic else "",
        }
        archive = WarcArchive(self.path / "archive", rotate=rotate, prefix=options.warc_prefix, about=about)
        self.moved = archive.recover(log.archived())
        return archive

    def close(self) -> None:
        self._lock.release()


def is_running(directory: Path) -> bool:
    """Return True if a process is crawling in the directory."""
    if not (directory / "lock").exists():
        return False
    try:
        Lock(directory, peek=True).release()
    except LockedError:
        return True
    return False


def with_resolved_files(options: Options, path: Path) -> Options:
    """Return a crawl's options with relative file paths resolved against its directory."""
    files = {name: path / name for name in options.files().values()}
    present = {name: str(file) for name, file in files.items() if file.exists() or not Path(name).exists()}
    return options.with_files({option: present[name] for option, name in options.files().items() if name in present})


def _environment_references(values: list[str]) -> list[str]:
    return [value for value in values if re.search(r"\$\{?\w", value)]
