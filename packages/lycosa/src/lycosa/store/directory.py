"""A crawl's directory: `crawl.toml`, the log, `archive/*.warc.gz`, copies of the files it goes by (model, rules ...),
and a lock while someone writes.
"""

from __future__ import annotations

import filecmp
import re
import shutil
from dataclasses import replace as with_changes
from pathlib import Path

from lycosa.core.errors import InputError, LockedError, LycosaError, StoreError
from lycosa.core.files import replacing
from lycosa.core.options import STRATEGY, Options
from lycosa.store.log import NAME, Lock, SqliteLog
from lycosa.store.naming import host_name
from lycosa.store.warc import WarcArchive

CONFIG = "crawl.toml"

SHARDS = "shards"  # directory of the shards of a crawl on a cluster
SHARD = re.compile(r"\d{3}")

# copies of the files that options name
KEPT = {
    "model": "topic.model",
    "background": "background.tsv.zst",
    "ontology": "ontology",
    "strategy": "strategy.tsv",
}


def whole_of(path: Path) -> Path | None:
    """The directory of the crawl whose shard is in this one; None if it is no shard."""
    place = path.resolve()
    whole, named = place.parent.parent, path.parent.parent
    if place.parent.name != SHARDS or not SHARD.fullmatch(place.name) or not (whole / CONFIG).is_file():
        return None
    return named if named.name and named.resolve() == whole else whole  # as it was named, if it was


def shards_of(directory: Path) -> list[Path]:
    """The directories of a crawl's shards, if it runs on a cluster."""
    return sorted((directory / SHARDS).glob("[0-9][0-9][0-9]"))


class Directory:
    """The right to write in a crawl's directory. Make a new one with `create`, go on in one with `open`."""

    def __init__(self, path: Path, options: Options, lock: Lock) -> None:
        self.path = path
        self.options = options
        self.moved: list[str] = []  # what `recover` found beyond the log and moved aside
        self._lock = lock
        self._copied: list[Path] = []

    @classmethod
    def create(cls, path: Path, options: Options) -> Directory:
        """Start a directory; it must not hold a crawl yet."""
        if (path / CONFIG).exists() or (path / NAME).exists():
            raise InputError(
                f"{path} already holds a crawl: continue with it by 'lycosa resume {path}', "
                "or choose another directory with --out"
            )
        new = not path.exists()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot create {path}: {error.strerror}; choose another directory with --out") from error
        lock = Lock(path)
        directory = cls(path, options, lock)
        try:
            directory._keep_files()
            directory.save()
        except LycosaError:  # leave nothing half-written
            lock.release()
            for file in (lock.path, *directory._copied):
                file.unlink(missing_ok=True)
            if new:
                path.rmdir()
            raise
        return directory

    @classmethod
    def open(cls, path: Path, *, shard: bool = False) -> Directory:
        """Take over a directory that holds a crawl. One of a cluster's `shard` is no crawl by itself."""
        options = cls.read_options(path)
        if not shard and (whole := whole_of(path)) is not None:
            raise InputError(f"{path} is a shard of the crawl in {whole}: name that directory")
        return cls(path, options, Lock(path))

    @staticmethod
    def read_options(path: Path) -> Options:
        """The options of the crawl in a directory."""
        if not (path / CONFIG).is_file():
            raise InputError(
                f"{path} contains no crawl (there is no {CONFIG} in it): name a directory that 'lycosa crawl' made"
            )
        options = Options.load(path / CONFIG)
        options.strategy = options.strategy or STRATEGY  # a space or a file may name none
        return options

    def _keep_files(self) -> None:
        """Copy the files that the crawl goes by, so that the directory stands on its own: it may be moved, they may
        change or be lost.
        """
        for option, name in self.options.files().items():
            place = self.path / KEPT[option]
            if place.exists():
                if Path(name).is_file() and filecmp.cmp(name, place, shallow=False):
                    continue  # itself, or what a start that was killed has left
                raise InputError(
                    f"{place} is in the way of a copy of {name}: move it, or choose another directory with --out"
                )
            try:
                with open(name, "rb") as source, replacing(place) as copy:
                    shutil.copyfileobj(source, copy)
                self._copied.append(place)
            except OSError as error:
                raise StoreError(f"cannot copy {name} to {self.path}: {error.strerror}; free some space") from error
        self.options = self.options.with_files({option: KEPT[option] for option in self.options.files()})

    def keep_model(self, options: Options, model: Path) -> Options:
        """Copy another model in the place of the one that the crawl went by; the options with the copy's name."""
        try:
            with open(model, "rb") as source, replacing(self.path / KEPT["model"]) as copy:
                shutil.copyfileobj(source, copy)
        except OSError as error:
            raise StoreError(f"cannot copy {model} to {self.path}: {error.strerror}; free some space") from error
        return options.with_files({"model": KEPT["model"]})

    def save(self) -> None:
        """Write crawl.toml, all of it or nothing."""
        # A header or an address that is written out is a secret, and no part of a directory that is passed on.
        headers, notify = self.options.headers, self.options.notify
        kept = with_changes(self.options, headers=_of_environment(headers), notify=_of_environment(notify))
        try:
            with replacing(self.path / CONFIG) as file:
                file.write(kept.to_toml().encode())
        except UnicodeEncodeError as error:
            raise InputError(f"an option is not valid text ({error.object[error.start : error.end]!r})") from error
        except OSError as error:
            raise StoreError(
                f"cannot write {self.path / CONFIG}: {error.strerror}; free some space or choose --out"
            ) from error

    def log(self) -> SqliteLog:
        """The log, for writing."""
        return SqliteLog(self.path / NAME)

    def archive(
        self,
        log: SqliteLog,
        software: str,
        rotate: int,
        user_agent: str = "",
    ) -> WarcArchive:
        """The archive, brought to where the log ends."""
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
        """Let others write."""
        self._lock.release()


def is_running(directory: Path) -> bool:
    """Whether someone is crawling in the directory."""
    if not (directory / "lock").exists():
        return False
    try:
        Lock(directory, peek=True).release()
    except LockedError:
        return True
    return False


def located(options: Options, path: Path) -> Options:
    """A crawl's options with whole paths: what it goes by lies in its directory, and is named as seen from there."""
    return options.with_files(
        {
            option: str(path / name)
            for option, name in options.files().items()
            if (path / name).exists() or not Path(name).exists()
        }
    )


def _of_environment(values: list[str]) -> list[str]:
    """Those that name an environment variable."""
    return [value for value in values if re.search(r"\$\{?\w", value)]
