"""Scan a WARC file once for its captures.

Damaged records are skipped: the scan continues at the next record. An incomplete record at the end of the file (a crawl
may be writing it) is ignored.
"""

from __future__ import annotations

import io
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError
from lycosa.replay.captures import Captures
from lycosa.replay.records import ArchiveIterator

GZIP, PLAIN = b"\x1f\x8b\x08", b"WARC/"

BLOCK = 1 << 20

_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"\nContent-Length:[ \t]*(\d{1,18})[ \t]*(?=\r|\n|\Z)", re.IGNORECASE)

ScanProgress = Callable[[int, int], None]  # progress callback: byte offset, number of captures


def segments(path: Path, size: int) -> list[tuple[int, int]]:
    """Return the byte ranges of WARC data in a file: all of it, or the files in a WACZ."""
    if path.suffix != ".wacz":
        return [(0, size)]
    spans = []
    try:
        with zipfile.ZipFile(path) as bundle, open(path, "rb") as file:
            for entry in bundle.infolist():
                if not entry.filename.startswith("archive/") or entry.is_dir():
                    continue
                if entry.compress_type != zipfile.ZIP_STORED:
                    raise InputError(
                        "bad-file",
                        f"{path}: {entry.filename} is compressed within the zip file: unpack it, and give the "
                        "unpacked file",
                    )
                file.seek(entry.header_offset + 26)  # lengths of the two variable fields of the header
                name, extra = struct.unpack("<HH", file.read(4))
                start = entry.header_offset + 30 + name + extra
                spans.append((start, start + entry.file_size))
    except (zipfile.BadZipFile, struct.error) as error:
        raise InputError("bad-file", f"{path} is not a WACZ file ({error})") from error
    return spans


def scan(path: Path, segment: tuple[int, int], into: Captures, progress: ScanProgress) -> int:
    """Add the captures of a segment; return the offset up to which it is complete."""
    begin, end = segment
    if begin == end:
        return end
    with open(path, "rb") as file:
        return _Walk(_FilePart(file.fileno(), end), path, begin, into, progress).note_all()


class _FilePart:
    """File up to an offset. It is not memory-mapped, so truncating it meanwhile raises an error instead of SIGBUS."""

    def __init__(self, descriptor: int, end: int) -> None:
        self.descriptor, self.end = descriptor, end

    def read(self, start: int, size: int) -> bytes:
        return os.pread(self.descriptor, max(0, min(size, self.end - start)), start)

    def find(self, wanted: bytes, start: int) -> int:
        """Return the offset of the next occurrence of some bytes, or -1."""
        while block := self.read(start, BLOCK):
            at = block.find(wanted)
            if at >= 0:
                return start + at
            if len(block) < BLOCK:
                break
            start += BLOCK - len(wanted) + 1
        return -1


class _Walk:
    def __init__(self, part: _FilePart, path: Path, begin: int, into: Captures, progress: ScanProgress) -> None:
        self.part, self.path, self.begin, self.into, self.progress = part, path, begin, into, progress
        self.magic = GZIP if part.read(begin, 2) == GZIP[:2] else PLAIN

    def note_all(self) -> int:
        last, whole, place = self.begin, -1, self.begin
        while place >= 0:
            try:
                for record, here in self._records(place):
                    self._check(here)
                    last = here
                    self.into.note(record, here)
            except OSError:
                pass  # damaged or torn, so look for further records
            whole = (_end_of_plain if self.magic == PLAIN else _end_of_packed)(self.part, last)
            if whole == self.part.end:
                break
            place = self._next(max(whole, last + 1, place + 1))
            if place >= 0:
                self.into.close(place)
        if whole < 0:
            self.into.forget(last)
            return last
        self.into.close(whole)
        return whole

    def _records(self, start: int) -> Iterator[tuple[Any, int]]:
        window = _Window(self.part, start)
        for number, record in enumerate(ArchiveIterator(window, parse_http=False, inplace=True)):
            here = start + record.stream_pos
            if number % 4096 == 0:
                self.progress(here, len(self.into))
            yield record, here

    def _check(self, place: int) -> None:
        """Raise InputError unless records are compressed individually."""
        if self.magic != PLAIN and self.part.read(place, len(self.magic)) != self.magic:
            raise InputError(
                "bad-file",
                f"{self.path} is compressed as one block, so single records cannot be read: "
                "unpack it, and give the .warc file",
            )

    def _next(self, place: int) -> int:
        """Return the offset of the next possible record, or -1."""
        if self.magic != PLAIN:
            return self.part.find(self.magic, place)
        at = self.part.find(b"\r\n\r\nWARC/", max(0, place - 4))
        return at + 4 if at >= 0 else -1


def _end_of_plain(part: _FilePart, start: int) -> int:
    """Return the end of a record, or -1 if it is incomplete."""
    begun = part.read(start, BLOCK)
    head = _BLANK_LINE.search(begun)
    length = _LENGTH.search(begun, 0, head.start()) if head is not None else None
    if head is None or length is None or start + head.end() + int(length[1]) > part.end:
        return -1
    place = start + head.end() + int(length[1])
    after = part.read(place, 4)
    return place + len(after) - len(after.lstrip(b"\r\n"))


def _end_of_packed(part: _FilePart, start: int) -> int:
    """Return the end of a compressed record, or -1; decompresses in blocks to bound memory."""
    place, unpacker = start, zlib.decompressobj(31)
    try:
        while not unpacker.eof and (data := part.read(place, 65_536)):
            place += len(data)
            unpacker.decompress(data)
    except zlib.error:
        return -1
    return place - len(unpacker.unused_data) if unpacker.eof else -1


class _Window(io.RawIOBase):
    """Read-only file object over a `_FilePart` from an offset on."""

    def __init__(self, part: _FilePart, start: int) -> None:
        self._part, self._start, self._place = part, start, start

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place - self._start

    def read(self, size: int = -1) -> bytes:
        data = self._part.read(self._place, size if size >= 0 else self._part.end)
        self._place += len(data)
        return data
