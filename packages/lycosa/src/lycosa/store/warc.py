"""WARC 1.1 archive: one gzip member per record, files rotated by size.

Each visit becomes a response record and a request record, written with one `write`. Repeated payloads and 304 responses
become revisit records. Bodies are stored as received (dechunked; Transfer-Encoding is renamed). Each file has an index
(cdxj.py), written when the file is full or a run ends.

The log holds the last valid offset of every file. Data beyond it (a torn write, a record that was not committed, or
later records if an older log was restored from a backup) is moved aside when the archive is opened again, never
deleted.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import struct
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from zlib_ng import zlib_ng as zlib

from lycosa.core.columns import fit
from lycosa.core.errors import DamagedError, StoreError
from lycosa.core.files import sync
from lycosa.core.nodes import Fingerprints, Nodes
from lycosa.core.options import WARC_PREFIX
from lycosa.core.state import State, StateMismatch
from lycosa.core.types import ArchivePlace, Exchange, Visit
from lycosa.store import cdxj
from lycosa.store.naming import file_name, serial_number

MAX_RECORD_BYTES = 1 << 30  # limit of the decompressed size
_STORED_BLOCK = 65535  # largest stored block of deflate
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_COMPRESSED = (b"gzip", b"x-gzip", b"br", b"zstd", b"deflate")


class _PendingEntry(NamedTuple):
    """Record waiting for its index entry; keys and dates are computed for many at once, in a fifth of the time."""

    url: str
    started: float
    mime: str
    status: str
    digest: bytes
    offset: int
    length: int

    def entry(self, name: str) -> cdxj.CdxjEntry:
        date, digest = cdxj.format_date(self.started), cdxj.format_digest(self.digest)
        key = cdxj.surt_key(self.url)
        return cdxj.CdxjEntry(key, date, self.url, self.mime, self.status, digest, self.offset, self.length, name)


class WarcArchive:
    """Append-only archive of WARC files in a directory.

    Lifecycle: `recover` once with the archived offsets of the log, then `append`, then `close`. Invariant: every file
    is valid WARC whenever no `append` is running.
    """

    def __init__(
        self,
        directory: Path,
        *,
        rotate: int = 1_000_000_000,
        prefix: str = WARC_PREFIX,
        about: Mapping[str, str] | None = None,
    ) -> None:
        self.directory = directory
        self.command = "resume"  # subcommand suggested in error messages
        self.rotate = rotate
        self.prefix = prefix
        self.about = {"software": "Lycosa", **(about or {})}  # fields of the warcinfo records
        self._number = 0
        self._file = -1
        self._size = 0
        self._name = ""
        self._info_id = ""
        self._payloads = Payloads()
        self._pending: list[cdxj.CdxjEntry | _PendingEntry] = []  # records of the current file not indexed yet
        self._unindexed: dict[str, int] = {}  # end offset of each full file without an index

    def recover(self, archived: Mapping[str, int]) -> list[str]:
        """Truncate the files to the offsets in the log; return descriptions of the parts moved aside."""
        moved: list[str] = []
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            on_disk = {path.name: path for path in sorted(self.directory.glob("*.warc.gz"))}
            for name, end in archived.items():
                size = on_disk[name].stat().st_size if name in on_disk else 0
                if size < end:
                    message = f"{self.directory / name} has {size} bytes, but the log recorded {end}"
                    raise DamagedError(f"{message}: restore the file from a backup, or restore a log of the same date")
            for name, path in on_disk.items():
                end = archived.get(name, 0)
                if path.stat().st_size == 0:
                    path.unlink()
                elif path.stat().st_size > end:
                    moved.append(self._set_aside(path, end))
            self._number = max(map(serial_number, (*on_disk, *archived)), default=0)
            self._reopen_last(archived)
        except OSError as error:
            raise self._translated(error) from error
        return moved

    def _reopen_last(self, archived: Mapping[str, int]) -> None:
        """Reopen the last file for appending, and find the full files without an index."""
        last = max(archived, key=serial_number, default="")
        if last and serial_number(last) == self._number:
            self._open(last)
        for name, end in archived.items():
            if name != self._name and not cdxj.index_path(self.directory / name).exists():
                self._unindexed[name] = end

    def remember(self, visit: Visit) -> None:
        """Register the payload of a recorded visit, so that repeated payloads become revisit records."""
        if visit.place.file and visit.digest:
            self._payloads.add(visit.digest, visit.node, visit.started)

    def state(self) -> State:
        return self._payloads.state()

    def restore(self, state: State) -> None:
        payloads = Payloads()
        payloads.restore(state)
        self._payloads = payloads

    def append(self, visit: Visit, exchange: Exchange) -> ArchivePlace:
        """Append the records of a visit and return their place; if that fails, the file is unchanged."""
        if self._file < 0 or self._size >= self.rotate:
            self._next_file()
        if exchange.received is not None:
            return self._append_rendered(visit, exchange, exchange.received)
        unmodified = visit.status == 304 and visit.outcome == "unchanged"
        original = self._payloads.get(exchange.digest) if exchange.body else None
        profile, revisit = "identical-payload-digest", ""
        if unmodified:
            original, profile = (visit.node, visit.follows), "server-not-modified"
        if original is not None:
            revisit = (
                f"WARC-Type: revisit\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/{profile}\r\n"
                f"WARC-Refers-To-Target-URI: {original[0]}\r\nWARC-Refers-To-Date: {_date(original[1])}\r\n"
            )
        response, request = self._pair(
            visit.node, visit.started, visit.address, exchange, _record_id(), revisit, has_digest=not unmodified
        )
        place = ArchivePlace(self._name, self._size, len(response) + len(request))
        self._write(response + request)
        if not unmodified:
            kind = cdxj.REVISIT if revisit else cdxj.media_type(exchange.header("content-type"))
            of_response = exchange.digest, place.offset, len(response)
            self._pending.append(_PendingEntry(visit.node, visit.started, kind, str(visit.status), *of_response))
            if len(self._pending) >= 10_000:
                self._index()
            self._payloads.add(exchange.digest, visit.node, visit.started)
        return place

    def _append_rendered(self, visit: Visit, dom: Exchange, received: Exchange) -> ArchivePlace:
        """Append the records of a rendered page: final DOM, response as received, and the resources the browser loaded.

        The DOM is a `resource` record under `urn:dom:URL`, so that it cannot be confused with the response of the
        server.
        """
        url, response_id = visit.node.partition("#")[0], _record_id()
        about = (
            f"WARC-Type: resource\r\nWARC-Target-URI: urn:dom:{visit.node}\r\nWARC-Date: {_date(visit.ended)}\r\n"
            f"WARC-Payload-Digest: {cdxj.format_digest(dom.digest)}\r\nWARC-Concurrent-To: {response_id}\r\n"
            f"WARC-Warcinfo-ID: {self._info_id}\r\n"
        )
        parts = [_member(_record_id(), about, "", b"", dom.body, content_type=dom.header("content-type"))]
        parts += self._pair(url, visit.started, visit.address, received, response_id)
        for one in dom.resources:
            parts += self._pair(one.url, one.started, one.address, one.exchange, _record_id())
        records = b"".join(parts)
        place = ArchivePlace(self._name, self._size, len(records))
        self._write(records)
        self._pending += cdxj.entries_in(records, place.offset, self._name)
        if len(self._pending) >= 10_000:
            self._index()
        return place

    def _pair(
        self,
        url: str,
        started: float,
        address: str,
        exchange: Exchange,
        response_id: str,
        revisit: str = "",
        *,
        has_digest: bool = True,
    ) -> tuple[bytes, bytes]:
        """Return the response and the request record. With `revisit`, its first fields, the former has no body."""
        common = f"WARC-Target-URI: {url}\r\nWARC-Date: {_date(started)}\r\n"
        fields = (
            (f"WARC-Payload-Digest: {cdxj.format_digest(exchange.digest)}\r\n" if has_digest else "")
            + (f"WARC-IP-Address: {address}\r\n" if address else "")
            + (f"WARC-Truncated: {exchange.truncated}\r\n" if exchange.truncated else "")
        )
        info = f"WARC-Warcinfo-ID: {self._info_id}\r\n"
        fields = (revisit or "WARC-Type: response\r\n") + common + fields + info
        head, body = http_head(exchange), b"" if revisit else exchange.body
        response = _member(response_id, fields, "response", head, body, _is_compressed(exchange))
        request_fields = f"WARC-Type: request\r\n{common}WARC-Concurrent-To: {response_id}\r\n{info}"
        return response, _member(_record_id(), request_fields, "request", exchange.request, b"")

    def close(self) -> None:
        """Close the current file, and write missing indexes for at most 30 seconds."""
        self._end_file()
        deadline = time.monotonic() + 30.0
        while self._unindexed and time.monotonic() < deadline:  # the rest is written by a later run
            name, end = self._unindexed.popitem()
            self._make_index(name, end)

    def _end_file(self) -> None:
        if self._file < 0:
            return
        sync(self._file)
        os.close(self._file)
        self._file = -1
        self._index()

    def _index(self) -> None:
        name = self._name
        fresh = [each if isinstance(each, cdxj.CdxjEntry) else each.entry(name) for each in self._pending]
        self._make_index(name, self._size, fresh)
        self._pending = []

    def _make_index(self, name: str, end: int, fresh: Sequence[cdxj.CdxjEntry] = ()) -> None:
        with suppress(OSError, StoreError):  # readers rebuild a missing index
            cdxj.update_index(self.directory / name, end, fresh)

    def _write(self, data: bytes) -> None:
        if not os.fstat(self._file).st_nlink:
            file = self.directory / self._name
            raise StoreError(f"{file} was deleted while the crawl ran: restore it, or start a new crawl")
        try:
            written = 0
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise self._translated(error) from error
        self._size += len(data)

    def _next_file(self) -> None:
        self._end_file()
        self._number += 1
        name = file_name(self.prefix, self._number)
        try:
            self._open(name)
        except OSError as error:
            raise self._translated(error) from error
        try:
            self._write(warcinfo(name, self.about, self._info_id))
        except StoreError:
            os.close(self._file)
            self._file = -1
            (self.directory / name).unlink()  # an empty file is not valid WARC
            raise

    def _open(self, name: str) -> None:
        self._file = os.open(self.directory / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._size = os.fstat(self._file).st_size
        self._name = name
        self._info_id = _first_id(self.directory / name) if self._size else _record_id()

    def _set_aside(self, path: Path, end: int) -> str:
        """Move data beyond `end` into `aside/` and truncate the file; a file unknown to the log is moved entirely."""
        cdxj.index_path(path).unlink(missing_ok=True)
        aside = self.directory / "aside"
        aside.mkdir(exist_ok=True)
        target = aside / f"{path.name}.from-{end}"
        number = 1
        while target.exists():
            number += 1
            target = aside / f"{path.name}.from-{end}.{number}"
        if end == 0:
            path.rename(target)
            return f"{path.name} (whole file) to {target.relative_to(self.directory)}"
        with open(path, "rb") as source:
            source.seek(end)
            with open(target, "wb") as copy:
                while block := source.read(1 << 20):
                    copy.write(block)
                copy.flush()
                sync(copy.fileno())
        os.truncate(path, end)
        return f"the tail of {path.name} from byte {end} to {target.relative_to(self.directory)}"

    def _translated(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write the archive in {self.directory}: {error.strerror or error}. Nothing recorded is lost: "
            f"free some space or give access, then continue with: lycosa {self.command} {self.directory.parent}"
        )


def read_record(path: Path, place: ArchivePlace) -> tuple[bytes, bytes, bytes]:
    """Return the first record at a place, decompressed and as stored, and the stored bytes that follow it."""
    try:
        with open(path, "rb") as file:
            file.seek(place.offset)
            stored = file.read(min(place.length, MAX_RECORD_BYTES))
        member = zlib.decompressobj(31)
        record = member.decompress(stored, MAX_RECORD_BYTES)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}; restore the file from a backup") from error
    except zlib.error as error:  # type: ignore[misc]  # not declared as an exception in its stubs
        raise DamagedError(f"{path}: no record at byte {place.offset} ({error}); restore it from a backup") from error
    if member.unconsumed_tail:
        raise DamagedError(f"{path}: the record at byte {place.offset} has more than {MAX_RECORD_BYTES:,} bytes")
    if not member.eof:
        raise DamagedError(f"{path}: no whole record at byte {place.offset}; restore the file from a backup")
    return record, stored[: len(stored) - len(member.unused_data)], member.unused_data


def read_exchange(path: Path, place: ArchivePlace) -> tuple[Exchange, str]:
    """Return the archived response at a place and, for a revisit record, the URL that it refers to."""
    record, _, _ = read_record(path, place)
    try:
        fields, _, content = record.partition(b"\r\n\r\n")
        content = content.removesuffix(b"\r\n\r\n")
        named = dict(line.split(b": ", 1) for line in fields.split(b"\r\n")[1:])
        if named.get(b"WARC-Type") == b"resource":  # final DOM of a rendered page
            content = b"HTTP/1.1 200 OK\r\nContent-Type: " + named[b"Content-Type"] + b"\r\n\r\n" + content
        head, _, body = content.partition(b"\r\n\r\n")
        status_line, *lines = head.split(b"\r\n")
        headers = [(key, value.strip()) for key, _, value in (line.partition(b":") for line in lines)]
        digest = base64.b32decode(named.get(b"WARC-Payload-Digest", b"").partition(b":")[2])
        truncated = named.get(b"WARC-Truncated", b"").decode()
        refers_to = named.get(b"WARC-Refers-To-Target-URI", b"").decode()
    except ValueError as error:  # also raised for an invalid digest and invalid UTF-8
        raise DamagedError(f"{path}: no record at byte {place.offset} ({error}); restore it from a backup") from error
    return Exchange(b"", status_line, headers, body, digest, truncated), refers_to


def warcinfo(name: str, about: Mapping[str, str], record_id: str = "") -> bytes:
    """Return the warcinfo record at the beginning of a file."""
    fields = {
        **about,
        "robots": about.get("robots", "obey"),
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    }
    block = "".join(f"{key}: {' '.join(value.split())}\r\n" for key, value in fields.items() if value)
    head = f"WARC-Type: warcinfo\r\nWARC-Date: {_date(datetime.now(UTC).timestamp())}\r\n"
    head += f"WARC-Filename: {name}\r\n" if name else ""
    return _member(record_id or _record_id(), head, "", block.encode("utf-8", "replace"), b"")


def _member(
    record_id: str,
    fields: str,
    http: str,
    head: bytes,
    body: bytes,
    is_compressed: bool = False,
    content_type: str = "",
) -> bytes:
    """Return a record as one gzip member; compressed bodies are stored, not compressed a second time."""
    if head or body:
        content_type = f"application/http; msgtype={http}" if http else content_type or "application/warc-fields"
        hashed = hashlib.sha256(head)
        hashed.update(body)
        digest = cdxj.format_digest(hashed.digest())
        fields += f"Content-Type: {content_type}\r\nWARC-Block-Digest: {digest}\r\n"
    length = len(head) + len(body)
    front = f"WARC/1.1\r\nWARC-Record-ID: {record_id}\r\n{fields}Content-Length: {length}\r\n\r\n".encode() + head
    last, compressor = b"\r\n\r\n", zlib.compressobj(1 if body else 9, zlib.DEFLATED, -15)  # headers are repetitive
    if is_compressed and len(body) > 512:
        parts = [_GZIP_HEAD, compressor.compress(front), compressor.flush(zlib.Z_FULL_FLUSH)]
        for start in range(0, len(body), _STORED_BLOCK):
            block = body[start : start + _STORED_BLOCK]
            parts += [struct.pack("<BHH", 0, len(block), 0xFFFF ^ len(block)), block]
        parts += [struct.pack("<BHH", 1, len(last), 0xFFFF ^ len(last)), last]
    else:
        parts = [_GZIP_HEAD, compressor.compress(front + body + last), compressor.flush()]
    content, crc = (front, body, last), 0
    for part in content:
        crc = zlib.crc32(part, crc)
    parts.append(struct.pack("<II", crc, sum(map(len, content)) & 0xFFFFFFFF))
    return b"".join(parts)


def _is_compressed(exchange: Exchange) -> bool:
    encodings = (value for key, value in exchange.headers if key.lower() == b"content-encoding")
    return any(value.strip().lower() in _COMPRESSED for value in encodings)


def http_head(exchange: Exchange) -> bytes:
    """Return status line and headers, modified where they would contradict the stored body."""
    lines = [exchange.status_line]
    for key, value in exchange.headers:
        lower = key.lower()
        if lower == b"transfer-encoding":
            key = b"X-Archive-Orig-Transfer-Encoding"
        elif lower == b"content-length" and exchange.truncated:
            key = b"X-Archive-Orig-Content-Length"
        # A line break in a value would end the header in the archive.
        lines.append(key + b": " + value.replace(b"\r", b" ").replace(b"\n", b" "))
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _record_id() -> str:
    random = os.urandom(16).hex()
    variant = "89ab"[int(random[16], 16) & 3]
    return f"<urn:uuid:{random[:8]}-{random[8:12]}-4{random[13:16]}-{variant}{random[17:20]}-{random[20:]}>"


def _first_id(path: Path) -> str:
    with open(path, "rb") as file:
        head = zlib.decompressobj(31).decompress(file.read(4096), 4096)
    match = re.search(rb"WARC-Record-ID: (<[^>]+>)", head)
    return match[1].decode() if match else _record_id()


def _date(at: float) -> str:
    seconds = int(at)
    return f"{_second(seconds)}.{min(999_999, round((at - seconds) * 1e6)):06d}Z"


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    # Cached, since strftime is slow and many pages arrive in one second.
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


_DIGEST_BYTES = 32  # SHA-256


class Payloads:
    """URL and time of the first record of each payload, by digest, in columns, as there are hundreds of thousands.

    >>> some = Payloads(); some.add(b"1" * 32, "http://a.test/", 5.0); some.add(b"1" * 32, "http://b.test/", 6.0)
    >>> some.get(b"1" * 32), some.get(b"2" * 32), len(some)
    (('http://a.test/', 5.0), None, 1)
    """

    def __init__(self) -> None:
        self._row = Fingerprints()
        self._digests = np.zeros((0, _DIGEST_BYTES), np.uint8)
        self._nodes = Nodes()
        self._started = np.zeros(0)

    def __len__(self) -> int:
        return len(self._nodes)

    def add(self, digest: bytes, node: str, started: float) -> None:
        """Add a payload unless it is known. Of digests that share their first 8 bytes, only the first is added."""
        row, key = len(self), _key(digest)
        if len(digest) != _DIGEST_BYTES or self._row.one(key) >= 0:
            return
        self._digests, self._started = fit(self._digests, row + 1), fit(self._started, row + 1)
        self._digests[row], self._started[row] = np.frombuffer(digest, np.uint8), started
        self._nodes.append(node)
        self._row.put(key, row)

    def get(self, digest: bytes) -> tuple[str, float] | None:
        row = self._row.one(_key(digest))
        if row < 0 or self._digests[row].tobytes() != digest:
            return None
        return self._nodes[row], self._started.item(row)

    def state(self) -> State:
        count = len(self)
        return {"digests": self._digests[:count], "nodes": self._nodes.state(), "started": self._started[:count]}

    def restore(self, state: State) -> None:
        self._nodes.restore(state["nodes"])
        digests, started = state["digests"], state["started"]
        if digests.shape != (len(self), _DIGEST_BYTES) or digests.dtype != np.uint8 or started.shape != (len(self),):
            raise StateMismatch("the columns of archived payloads have the wrong shape or type")
        self._digests, self._started = digests, started
        keys = np.ascontiguousarray(digests[:, :8]).view("<u8").ravel()
        self._row.put_all(keys.astype(np.uint64), np.arange(len(self), dtype=np.int32))


def _key(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "little")
