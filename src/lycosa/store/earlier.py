"""What earlier crawls hold: payloads that need not be archived again, and where to read them.

A source is a crawl's directory, whose WARC files have indexes beside them, or an index (CDXJ) of other files. A crawl
that went by sources itself brings them along.

To write, all digests are known: 16 bytes in memory for each, and a look into the index for what seems to be there.
Where the file is at hand, its record is looked at, too: what is gone is archived again. To read, an index is searched
for the address that a revisit record names, and nothing has to be known before.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from base64 import b32encode
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest as hash64
from zlib_ng import zlib_ng as zlib

from lycosa.core.errors import DamagedError, InputError, LycosaError, StoreError
from lycosa.core.options import Options
from lycosa.core.types import Exchange, Place, Visit
from lycosa.store import cdxj, moving
from lycosa.store.directory import CONFIG, is_running
from lycosa.store.log import NAME, VERSIONS, SqliteLog, is_place
from lycosa.store.warc import Original, read_exchange

_DIGEST = re.compile(rb'"digest": ?"([^"]{1,200})"')


@dataclass(frozen=True)
class Source:
    """Where earlier archives lie."""

    path: Path

    @property
    def is_crawl(self) -> bool:
        return (self.path / CONFIG).is_file()

    def check(self) -> None:
        """Whether there is anything."""
        if self.is_crawl or (self.path.is_file() and self.path.name.endswith(cdxj.ENDING)):
            return
        if not self.path.is_dir() or not any(self.path.glob(f"*{cdxj.ENDING}")):
            raise InputError(
                f"--dedupe {self.path} is not a crawl's directory, nor an index (*{cdxj.ENDING}) or a directory of "
                "them; to continue a crawl without it, remove it from the crawl's crawl.toml"
            )

    def files(self) -> Iterator[tuple[Path, Path]]:
        """Indexes, and the directory in which the files of each lie."""
        if self.is_crawl:
            archive = self.path / "archive"
            yield from ((index, archive) for index in sorted(archive.glob(f"*{cdxj.ENDING}")))
        elif self.path.is_dir():
            yield from ((index, self.path) for index in sorted(self.path.glob(f"*{cdxj.ENDING}")))
        else:
            beside = (self.path.parent, self.path.parent / "archive", self.path.parent.parent / "archive")
            first = next((entry.file for entry in cdxj.read(self.path)), "")
            yield self.path, next((place for place in beside if (place / first).is_file()), self.path.parent)

    def complete(self) -> list[tuple[Path, Path]]:
        """The same, indexes that lack something made whole: beside the files, or where that can't be, for now."""
        if not self.is_crawl or not (self.path / NAME).exists():
            return list(self.files())
        archive = self.path / "archive"
        with closing(SqliteLog(self.path / NAME, readonly=True)) as log:
            ends = log.archived()
        return [(_whole(archive / name, end), archive) for name, end in ends.items()]


def _whole(path: Path, end: int) -> Path:
    """An index that lacks nothing of a file up to a byte."""
    index = cdxj.index_of(path)
    if not path.exists():
        return index
    if not any(True for _ in cdxj.scan(path, cdxj.reach(index, end), end)):
        return index
    entries = list(cdxj.stream(path, end))
    try:
        if is_running(path.parent.parent):
            raise OSError
        cdxj.write(index, entries)
        return index
    except OSError:
        with tempfile.NamedTemporaryFile(prefix="lycosa-", suffix=cdxj.ENDING, delete=False) as file:
            file.writelines(entry.line for entry in entries)
        return Path(file.name)


def sources_of(named: Iterable[str], directory: Path) -> list[Source]:
    """The sources of the crawl in a directory, and those of each, each once. Names are seen from the directory."""
    found: dict[Path, Source] = {}
    waiting = located(named, directory)
    while waiting and len(found) < 1_000:  # those of its sources included
        path = waiting.pop(0)
        if path in found:
            continue
        source = found[path] = Source(path)
        if source.is_crawl:
            with suppress(LycosaError):
                waiting += located(Options.load(path / CONFIG).dedupe, path)
    return list(found.values())


def located(named: Iterable[str], directory: Path) -> list[Path]:
    """Where sources lie whose names are seen from a directory."""
    return [Path(os.path.normpath(directory.absolute() / name)) for name in named]


class Earlier:
    """Payloads of some sources, to be asked for by their digests."""

    def __init__(self, named: Iterable[str], directory: Path) -> None:
        self.files: list[tuple[Path, Path]] = []
        self._temporary: list[Path] = []
        self._handles: dict[int, int] = {}
        hashes, places = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
        self.kinds: set[str] = set()  # algorithms of the digests
        for source in sources_of(named, directory):
            source.check()
            for index, archive in source.complete():
                if index.parent != archive and source.is_crawl:
                    self._temporary.append(index)
                of_file, at = self._read(index)
                places.append(at | np.uint64(len(self.files) << 44))
                hashes.append(of_file)
                self.files.append((index, archive))
        order = np.argsort(np.concatenate(hashes), kind="stable")
        self._hashes, self._places = np.concatenate(hashes)[order], np.concatenate(places)[order]

    def __len__(self) -> int:
        return len(self._hashes)

    def _read(self, index: Path) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The digests in an index, hashed, and where their lines begin."""
        hashes, places, at = [], [], 0
        try:
            with open(index, "rb") as file:
                for line in file:
                    match = _DIGEST.search(line)
                    if match and cdxj.REVISIT.encode() not in line:
                        digest = _normal(match[1].decode("utf-8", "replace"))
                        self.kinds.add(digest.partition(":")[0])
                        hashes.append(hash64(digest.encode()))
                        places.append(at)
                    at += len(line)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StoreError(f"cannot read {index}: {error.strerror}") from error
        return np.array(hashes, np.uint64), np.array(places, np.uint64)

    def find(self, exchange: Exchange) -> Original | None:
        """The record of an earlier crawl that has this body."""
        for kind in self.kinds:
            digest = _digest(kind, exchange)
            wanted = np.uint64(hash64(digest.encode()))
            first, last = (int(self._hashes.searchsorted(wanted, side)) for side in ("left", "right"))
            for place in self._places[first:last]:
                if original := self._original(int(place), digest):
                    return original
        return None

    def _original(self, place: int, digest: str) -> Original | None:
        number, at = place >> 44, place & ((1 << 44) - 1)
        index, archive = self.files[number]
        try:
            if number not in self._handles:
                self._handles[number] = os.open(index, os.O_RDONLY)
            line = os.pread(self._handles[number], 16_384, at).partition(b"\n")[0]
        except OSError:
            return None
        entry = cdxj.parse(line)
        if entry is None or _normal(entry.digest) != digest:
            return None
        return _looked_at(entry, archive)

    def close(self) -> None:
        for handle in self._handles.values():
            os.close(handle)
        self._handles = {}
        for path in self._temporary:
            path.unlink(missing_ok=True)


def _looked_at(entry: cdxj.Entry, archive: Path) -> Original | None:
    """The record itself, if its file should be there: None if it isn't."""
    path = archive / entry.file
    said = entry.date
    date = f"{said[:4]}-{said[4:6]}-{said[6:8]}T{said[8:10]}:{said[10:12]}:{said[12:14]}Z"
    if path.parent != archive or not archive.is_dir():  # a name that leads elsewhere is none of ours
        return None
    try:
        with open(path, "rb") as file:
            file.seek(entry.offset)
            head = zlib.decompressobj(31).decompress(file.read(8_192), 8_192)
    except FileNotFoundError:
        # The files of others' indexes may lie anywhere. Those of a crawl may have been moved, or else they are gone.
        trusted = not (archive.parent / CONFIG).is_file() or entry.file in moving.manifest(archive)
        return Original(entry.url, date) if trusted else None
    except (OSError, zlib.error):  # type: ignore[misc]
        return None
    named = dict(re.findall(rb"^(WARC-[\w-]+): ([^\r\n]*)", head, re.MULTILINE))
    if named.get(b"WARC-Type") not in (b"response", b"resource"):
        return None
    http = head.partition(b"\r\n\r\n")[2]
    whole = http.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if b"\r\n\r\n" in http else b""
    return Original(entry.url, named.get(b"WARC-Date", date.encode()).decode("ascii", "replace"), whole)


def body_of(sources: Iterable[Source], url: str, digest: bytes) -> Exchange | None:
    """The answer with this body that an earlier archive has under an address."""
    wanted, key = {cdxj.digest_of(digest)}, cdxj.key_of(url)
    for source in sources:
        for index, archive in source.files():
            for entry in cdxj.find(index, key):
                if entry.mime == cdxj.REVISIT or entry.url != url:
                    continue
                if entry.digest.startswith("sha256:") and entry.digest not in wanted:
                    continue
                if not is_place(place := Place(entry.file, entry.offset, entry.length)):
                    continue
                with suppress(StoreError):  # gone, or damaged: another one may have it
                    exchange, _ = read_exchange(archive / entry.file, place)
                    if hashlib.sha256(exchange.body).digest() == digest:
                        return exchange
    return None


def _digest(kind: str, exchange: Exchange) -> str:
    if kind == "sha256":
        return cdxj.digest_of(exchange.digest)
    with suppress(ValueError):
        return f"{kind}:{b32encode(hashlib.new(kind, exchange.body).digest()).decode()}"
    return ""


def _normal(digest: str) -> str:
    """A digest with its algorithm, which some leave out.

    >>> _normal("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"), _normal("sha256:AA==")
    ('sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ', 'sha256:AA==')
    """
    return digest if ":" in digest else f"sha1:{digest}"


# -- versions of a page ------------------------------------------------------------------------------------

# The versions of a page that a crawl's directory holds, and the bytes of each.
#
# A page has one version when it is first fetched, and another whenever a revisit brings other content. What was fetched
# before under any address is archived once: later records only refer to it.


class Versions:
    """What the log and the archive know of pages over time; reads only, also beside a running crawl."""

    def __init__(self, log: SqliteLog, archive: Path) -> None:
        self.log = log
        self.archive = archive

    def of(self, node: str) -> list[Visit]:
        """Every version of a page, the oldest first."""
        return list(self.log.visits(f"node = ? AND {VERSIONS}", given=(node,)))

    def last(self, node: str) -> Visit | None:
        """The version that stands now."""
        return next(self.log.visits(f"node = ? AND {VERSIONS}", "seq DESC LIMIT 1", (node,)), None)

    def exchange(self, visit: Visit) -> Exchange | None:
        """The answer as it was received, None where nothing is archived; the body of a revisit is its original's.

        Of a page that was rendered it is the final DOM: what it says.
        A visit that found nothing new has the body of the version that still stood.
        """
        if not visit.place.file:
            return None
        exchange, refers_to = self._record(visit)
        if refers_to and visit.digest:
            original = self._original(visit, refers_to)
            if original is None:
                return exchange
            if not exchange.status_line:  # all of it is as it was
                exchange.status_line, exchange.headers = original.status_line, original.headers
            exchange.body = original.body
        elif refers_to:  # not modified
            stood = [event for event in self.of(visit.node) if event.started <= visit.started]
            before = self.exchange(stood[-1]) if stood else None
            return before or exchange
        return exchange

    def _original(self, visit: Visit, refers_to: str) -> Exchange | None:
        """What a revisit refers to, of this crawl or of an earlier one."""
        for original in self.log.visits("node = ? AND file != ''", given=(refers_to,)):
            if original.digest == visit.digest and (exchange := self._record(original)[0]).body:
                return exchange
        sources = self.earlier
        if not sources:
            return None
        found = body_of(sources, refers_to, visit.digest)
        if found is None:
            named = ", ".join(str(source.path) for source in sources)
            raise StoreError(
                f"the body of {visit.node} lies in the archive of an earlier crawl ({named}), and is not there any "
                "more: bring that archive back"
            )
        return found

    @cached_property
    def earlier(self) -> list[Source]:
        """The crawls whose archives have bodies of this one."""
        directory = self.archive.parent
        config = directory / CONFIG
        return sources_of(Options.load(config).dedupe, directory) if config.is_file() else []

    def _record(self, visit: Visit) -> tuple[Exchange, str]:
        """The visit's record, and the URL whose body it shares if it is a revisit."""
        path = self.archive / visit.place.file
        try:
            exchange, refers_to = read_exchange(path, visit.place)
        except (KeyError, ValueError) as error:  # inflated well, but into something else
            raise DamagedError(
                f"{path}: no record of {visit.node} at byte {visit.place.offset}; restore it from a backup"
            ) from error
        if not refers_to and len(exchange.body) < visit.size and "render" not in visit.data:
            raise DamagedError(f"{path}: the record of {visit.node} is cut short; restore it from a backup")
        return exchange, refers_to
