"""Crawls whose records refer to those of another (their *heirs*), and what becomes of them when it is deleted.

A crawl that lies beside others can be told of them (`dedupe`), and each of those notes in a file who was. Before it is
deleted, every heir is given what its records refer to: the records themselves go into a file of its own, and from then
on it looks there. Of the rest nothing is left. A process may be killed at any moment: until the heir's `crawl.toml` is
written it has all where it was, and handing down once more does no harm.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from lycosa.core.errors import DamagedError, LycosaError, StoreError
from lycosa.core.files import replacing, sync
from lycosa.store import cdxj
from lycosa.store.directory import CONFIG, Directory
from lycosa.store.earlier import Source, located, sources_of
from lycosa.store.log import NAME as LOG
from lycosa.store.log import SqliteLog
from lycosa.store.naming import ENDING

NAME = "heirs"  # file in a crawl's directory with the names of its heirs, one a line
MOST = 10_000
LONGEST = 200  # heirs, and characters of a name


def note(source: Path, heir: Path) -> None:
    """Have a crawl know that another one goes by it: on disk, before there is anything to refer to."""
    source, heir = _plain(source), _plain(heir)
    if heir in _noted(source):
        return
    try:
        with open(source / NAME, "ab") as file:
            file.write(f"\n{heir.name}\n".encode())  # a line that was torn is one of its own
            file.flush()
            sync(file.fileno())
    except OSError as error:
        raise StoreError(f"cannot write {source / NAME}: {error.strerror}; free some space") from error


def heirs_of(source: Path) -> list[Path]:
    """The crawls that may refer to one: beside it, and told of it."""
    source = _plain(source)
    return [heir for heir in _noted(source) if source in _sources(heir)]


def _noted(source: Path) -> list[Path]:
    try:
        with open(source / NAME, "rb") as file:
            names = file.read(MOST * LONGEST).decode("utf-8", "replace").split("\n")
    except OSError:
        return []
    plain = dict.fromkeys(name for name in names if name and Path(name).name == name and len(name) <= LONGEST)
    return [source.parent / name for name in plain]


def _sources(crawl: Path) -> list[Path]:
    """What a crawl's options name."""
    with suppress(LycosaError):  # one that is not there, or damaged, goes by nothing
        return located(Directory.read_options(crawl).dedupe, crawl)
    return []


def hand_down(source: Path, heir: Path) -> int:
    """Give an heir, whose lock somebody holds or in which nobody writes, what it refers to; how many records it was."""
    source, heir = _plain(source), _plain(heir)
    if source not in _sources(heir):
        return 0
    file = heir / f"earlier-{source.name}{ENDING}"
    entries = _copy(source, file, _wanted(heir))
    options = Directory.read_options(heir)
    others = [path for path in _sources(source) if path != heir and path.parent == source.parent and path.is_dir()]
    named = [name for name, path in zip(options.dedupe, _sources(heir), strict=True) if path != source]
    named += [cdxj.index_of(file).name] if entries else []
    for path in others:
        note(path, heir)
        named.append(f"../{path.name}")
    try:
        with replacing(heir / CONFIG) as config:
            config.write(replace(options, dedupe=list(dict.fromkeys(named))).to_toml().encode())
    except OSError as error:
        raise StoreError(f"cannot write {heir / CONFIG}: {error.strerror}; free some space") from error
    return entries


def needed(crawl: Path, among: frozenset[Path] = frozenset()) -> Iterator[bytes]:
    """The records that a crawl's own refer to, as they lie in the archives of others, but for those `among` them."""
    sources = [source for source in sources_of(map(str, _sources(crawl)), crawl) if source.path not in among]
    wanted = _wanted(crawl) if sources else set()
    for source in sources:
        for entry, record in _records(source, wanted):
            wanted.discard(entry.digest)
            yield record


def _wanted(crawl: Path) -> set[str]:
    """The digests of bodies that records of a crawl refer to."""
    return {entry.digest for entry, _ in _entries(Source(crawl)) if entry.mime == cdxj.REVISIT}


def _copy(source: Path, file: Path, wanted: set[str]) -> int:
    """Write the records of a crawl with these digests, and those it was handed down itself, with their index."""
    entries: list[cdxj.Entry] = []
    kept = [Source(path) for path in _sources(source) if path.parent == source]
    try:
        with replacing(file) as out:
            for origin in (Source(source), *kept):
                for entry, record in _records(origin, wanted):
                    entries.append(entry._replace(offset=out.tell(), length=len(record), file=file.name))
                    out.write(record)
        if entries:
            cdxj.write(cdxj.index_of(file), sorted(entries, key=lambda entry: entry.line))
        else:
            file.unlink()
    except OSError as error:
        raise StoreError(f"cannot write {file}: {error.strerror}; free some space") from error
    return len(entries)


def _records(source: Source, wanted: set[str]) -> Iterator[tuple[cdxj.Entry, bytes]]:
    """The records of a source with these digests; those that can't be read are left out."""
    for entry, archive in _entries(source):
        if entry.mime == cdxj.REVISIT or entry.digest not in wanted or Path(entry.file).name != entry.file:
            continue
        with suppress(OSError, DamagedError), open(archive / entry.file, "rb") as file:
            file.seek(entry.offset)
            record = file.read(entry.length)
            found = list(cdxj.entries_in(record, 0, entry.file))
            if len(found) == 1 and found[0].digest == entry.digest:
                yield entry, record


def _entries(source: Source) -> Iterator[tuple[cdxj.Entry, Path]]:
    """All records that a source has, and in which directory: also of files whose index lacks something."""
    if source.is_crawl and (source.path / LOG).exists():
        with closing(SqliteLog(source.path / LOG, readonly=True)) as log:
            ends = log.archived()
        archive = source.path / "archive"
        for name, end in ends.items():
            with suppress(StoreError):  # gone, or damaged
                yield from ((entry, archive) for entry in cdxj.stream(archive / name, end))
        return
    for index, archive in source.files():
        yield from ((entry, archive) for entry in cdxj.read(index))


def _plain(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))
