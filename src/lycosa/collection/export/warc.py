"""WARC 1.1: the records of the exported pages, copied byte for byte.

A page that the archive keeps as a revisit, because its body had come before, stays one if the record with the body is
exported, too; otherwise it becomes a response again. All versions of a page are copied unless only the current one is
asked for, and the looks that found nothing new: a record that says "not modified" needs the version that it refers to,
and is left out where that is not archived. The warcinfo of each source file comes along, since the records
name it. Requests follow their responses. robots.txt, redirects and failures stay behind.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import IO

from zlib_ng import zlib_ng as zlib

from lycosa.collection.export.cleaning import count, line
from lycosa.collection.export.selection import Selection, Written
from lycosa.core.errors import DamagedError, StoreError
from lycosa.core.types import Place, Visit
from lycosa.store.warc import LARGEST
from lycosa.version import SOFTWARE

_REVISIT_FIELDS = re.compile(rb"(?:WARC-Profile|WARC-Refers-To[\w-]*): [^\r\n]*\r\n")
_CONFORMS_TO = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


@dataclass(slots=True)
class Copied:
    """The records of a page, as they lie in the new file."""

    visit: Visit
    offset: int
    length: int
    """Of the response alone; its request follows."""
    revisit: bool
    kind: str
    """The content type of the response."""


def write(pages: Selection, out: IO[bytes]) -> Written:
    """Write the records of all pages that are archived."""
    copied = 0
    for _ in copy(pages, out.write, os.path.basename(str(getattr(out, "name", ""))).removesuffix(".part")):
        copied += 1
    return told(pages, copied)


def told(pages: Selection, copied: int) -> Written:
    """What came of it, when so many records were copied."""
    done = Written(pages.archived)
    if missing := pages.total - pages.archived:
        done.remarks.append(f"left out: {count(missing, 'page')} without a record in the archive")
    if pages.versions:
        done.remarks.append(f"and {count(copied - done.pages, 'look')} that found nothing new")
    return done


def copy(pages: Selection, put: Callable[[bytes], object], name: str) -> Iterator[Copied]:
    """Put the records into a file, and say where each page is."""
    offset = 0

    def add(record: bytes) -> int:
        nonlocal offset
        put(record)
        offset += len(record)
        return offset - len(record)

    add(_warcinfo(pages, name))
    source = _Source(pages.collection.path / "archive")
    try:
        for seq, visit in pages.looks():
            if not visit.place.file or (visit.status == 304 and not _stood_is_exported(pages, visit)):
                continue
            if info := source.open(visit.place.file):
                add(info)
            response, request, record = source.read(visit.place)
            head, _, content = record.partition(b"\r\n\r\n")
            revisit = b"\r\nWARC-Type: revisit\r\n" in head
            if revisit and visit.status != 304 and not _original_is_exported(pages, seq, visit, head):
                exchange = pages.collection.exchange(visit)
                if exchange is not None and exchange.body:
                    response, revisit = _as_response(head, content, exchange.body), False
            at = add(response)
            add(request)
            yield Copied(visit, at, len(response), revisit, _content_type(content))
    finally:
        source.close()


class _Source:
    """The archive's files, one open at a time."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._file: IO[bytes] | None = None
        self._path = directory
        self._introduced: set[str] = set()

    def open(self, name: str) -> bytes:
        """Turn to a file; its warcinfo record if it is the first time, else nothing."""
        if self._path.name != name or self._file is None:
            self.close()
            self._path = self.directory / name
            try:
                self._file = open(self._path, "rb")  # noqa: SIM115 - until another one is needed
            except OSError as error:
                raise self._unreadable(error) from error
        if name in self._introduced:
            return b""
        self._introduced.add(name)
        first = self._file.read(65_536)
        info = self._inflate(first, 0)
        return first[: len(first) - len(info[1])] if b"\r\nWARC-Type: warcinfo\r\n" in info[0] else b""

    def read(self, place: Place) -> tuple[bytes, bytes, bytes]:
        """The response as it is stored, what is stored behind it (its request), and the response unpacked."""
        assert self._file is not None
        try:
            self._file.seek(place.offset)
            packed = self._file.read(place.length)
        except OSError as error:
            raise self._unreadable(error) from error
        record, rest = self._inflate(packed, place.offset)
        return packed[: len(packed) - len(rest)], rest, record

    def _inflate(self, packed: bytes, offset: int) -> tuple[bytes, bytes]:
        member = zlib.decompressobj(31)
        try:
            record = member.decompress(packed, LARGEST)
        except zlib.error:  # type: ignore[misc]  # its stubs don't say that it is an exception
            record = b""
        if not member.eof:
            raise DamagedError(f"{self._path}: no whole record at byte {offset}; restore the file from a backup")
        return record, member.unused_data

    def _unreadable(self, error: OSError) -> StoreError:
        return StoreError(f"cannot read {self._path}: {error.strerror}; restore the file from a backup")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _original_is_exported(pages: Selection, seq: int, visit: Visit, head: bytes) -> bool:
    """Whether the record that has a revisit's body is among those that are copied."""
    match = re.search(rb"\r\nWARC-Refers-To-Target-URI: ([^\r\n]*)", head)
    if match is None:
        return False
    original = (match[1].decode("utf-8", "replace"), seq)
    for number, other in pages.log.numbered("node = ? AND file != '' AND seq < ?", given=original):
        if isinstance(other, Visit) and other.digest == visit.digest:  # the first one has the body
            return pages.holds(number)
    return False


def _stood_is_exported(pages: Selection, visit: Visit) -> bool:
    """Whether the version that still stood, when a server said so, is among those that are copied."""
    return any(
        isinstance(other, Visit) and other.started == visit.follows and pages.holds(number)
        for number, other in pages.log.numbered("node = ? AND file != ''", given=(visit.node,))
    )


def _as_response(head: bytes, content: bytes, body: bytes) -> bytes:
    """A revisit with the body that it refers to: the same record, told in full."""
    http, _, _ = content.partition(b"\r\n\r\n")
    block = http + b"\r\n\r\n" + body
    fields = _REVISIT_FIELDS.sub(b"", head + b"\r\n").replace(b"WARC-Type: revisit", b"WARC-Type: response")
    fields = re.sub(rb"(?<=\r\nContent-Length: )\d+", str(len(block)).encode(), fields)
    return _packed(fields + b"\r\n" + block)


def _warcinfo(pages: Selection, name: str) -> bytes:
    subject = line(pages.collection.options.subject)
    block = (
        f"software: {SOFTWARE}\r\nformat: WARC File Format 1.1\r\nconformsTo: {_CONFORMS_TO}\r\n"
        + (f"description: pages of a crawl, topic: {subject}\r\n" if subject else "")
    ).encode()
    fields = (
        f"WARC/1.1\r\nWARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\nWARC-Type: warcinfo\r\n"
        f"WARC-Date: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\r\n"
        + (f"WARC-Filename: {line(name)}\r\n" if name else "")
        + f"Content-Type: application/warc-fields\r\nContent-Length: {len(block)}\r\n\r\n"
    ).encode()
    return _packed(fields + block)


def _packed(record: bytes) -> bytes:
    """A record as a gzip member of its own."""
    member = zlib.compressobj(6, zlib.DEFLATED, 31)
    return member.compress(record + b"\r\n\r\n") + member.flush()


@lru_cache(maxsize=256)
def _media_type(value: bytes) -> str:
    return re.split(r"[;\s]", value.decode("latin-1").strip(), maxsplit=1)[0].lower()


def _content_type(content: bytes) -> str:
    """The content type that an archived answer names, without its parameters."""
    head = content.partition(b"\r\n\r\n")[0]
    match = re.search(rb"\r\ncontent-type:([^\r\n]*)", head, re.IGNORECASE)
    return _media_type(match[1]) if match else ""
