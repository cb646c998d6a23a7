"""The archive: WARC 1.1, one gzip member per record, files rotated at a size.

Each visit is a response record and the request that brought it, written with one `write`; a payload that was archived
before, and an answer that says "not modified", become revisit records. Bodies are kept as received (dechunked; the
header that says otherwise is renamed). Beside each file lies its index (cdxj.py), written when the file is full or a
run ends.
The log knows the last byte of every file that counts: what lies beyond (a torn write, a record whose commit did not
happen, the tail behind a restored older log) is moved aside when the archive is opened again, never deleted.
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
from lycosa.core.state import State, Untold
from lycosa.core.types import Exchange, Place, Visit
from lycosa.store import cdxj
from lycosa.store.naming import file_name, serial_of

LARGEST = 1 << 30  # bytes of a record, inflated: a larger one is a bomb
UNINDEXED = 10_000  # records that the index of a file may lack while the file is written
_STORED_BLOCK = 65535
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_PACKED = (b"gzip", b"x-gzip", b"br", b"zstd", b"deflate")


class _Noted(NamedTuple):
    """A record that is to be in the index. Keys and dates of many are made at once, when the index is written: in a
    row that takes a fifth of what it takes in between everything else that is done for a page."""

    url: str
    started: float
    mime: str
    status: str
    digest: bytes
    offset: int
    length: int

    def entry(self, name: str) -> cdxj.Entry:
        """The same as it stands in the index of a file."""
        date, digest = cdxj.date_of(self.started), cdxj.digest_of(self.digest)
        key = cdxj.key_of(self.url)
        return cdxj.Entry(key, date, self.url, self.mime, self.status, digest, self.offset, self.length, name)


class WarcArchive:
    """Append records to files in a directory; naming.py says how they are called.

    Lifecycle: `recover` once with what the log knows, then `append`, then `close`. Invariant: every file is a valid
    WARC whenever no `append` is running.
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
        self.command = "resume"  # continues the crawl when there is room again: for messages
        self.rotate = rotate
        self.prefix = prefix
        self.about = {"software": "Lycosa", **(about or {})}  # written into each file: software, operator, ...
        self._number = 0
        self._file = -1
        self._size = 0
        self._name = ""
        self._info_id = ""
        self._seen = Payloads()
        self._fresh: list[cdxj.Entry | _Noted] = []  # what the index of the present file lacks
        self._unindexed: dict[str, int] = {}  # files that are full and have no index, and where they end

    def recover(self, archived: Mapping[str, int]) -> list[str]:
        """Bring the files to where the log ends; says what was moved aside."""
        moved: list[str] = []
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            on_disk = {path.name: path for path in sorted(self.directory.glob("*.warc.gz"))}
            for name, end in archived.items():
                size = on_disk[name].stat().st_size if name in on_disk else 0
                if size < end:
                    raise DamagedError(
                        f"{self.directory / name} holds {size} bytes, but the log knows of {end}: restore the file "
                        "from a backup, or restore a log that is as old as the file"
                    )
            for name, path in on_disk.items():
                end = archived.get(name, 0)
                if path.stat().st_size == 0:
                    path.unlink()
                elif path.stat().st_size > end:
                    moved.append(self._set_aside(path, end))
            self._number = max(map(serial_of, (*on_disk, *archived)), default=0)
            self._take_up(archived)
        except OSError as error:
            raise self._explained(error) from error
        return moved

    def _take_up(self, archived: Mapping[str, int]) -> None:
        """Continue the last file; note which of the full ones lack an index."""
        last = max(archived, key=serial_of, default="")
        if last and serial_of(last) == self._number:
            self._open(last)
        for name, end in archived.items():
            if name != self._name and not cdxj.index_of(self.directory / name).exists():
                self._unindexed[name] = end

    def remember(self, visit: Visit) -> None:
        """A recorded visit, so that its payload is known when it comes again."""
        if visit.place.file and visit.digest:
            self._seen.add(visit.digest, visit.node, visit.started)

    def state(self) -> State:
        return self._seen.state()

    def restore(self, state: State) -> None:
        """Know of them; unchanged if the state does not fit."""
        seen = type(self._seen)()
        seen.restore(state)
        self._seen = seen

    def append(self, visit: Visit, exchange: Exchange) -> Place:
        """Write the records of one visit; returns where the response is. All of it or nothing."""
        if self._file < 0 or self._size >= self.rotate:
            self._next_file()
        if exchange.received is not None:
            return self._append_rendered(visit, exchange, exchange.received)
        date, unmodified = _date(visit.started), visit.status == 304 and visit.outcome == "unchanged"
        response_id = _record_id()
        packed = any(
            key.lower() == b"content-encoding" and value.strip().lower() in _PACKED for key, value in exchange.headers
        )
        head = http_head(exchange)
        common = (
            f"WARC-Target-URI: {visit.node}\r\nWARC-Date: {date}\r\n"
            + ("" if unmodified else f"WARC-Payload-Digest: {cdxj.digest_of(exchange.digest)}\r\n")
            + (f"WARC-IP-Address: {visit.address}\r\n" if visit.address else "")
            + (f"WARC-Truncated: {exchange.truncated}\r\n" if exchange.truncated else "")
            + f"WARC-Warcinfo-ID: {self._info_id}\r\n"
        )
        original = self._seen.get(exchange.digest) if exchange.body else None
        profile = "identical-payload-digest"
        if unmodified:
            original, profile = (visit.node, visit.follows), "server-not-modified"
        if original is not None:
            fields = (
                "WARC-Type: revisit\r\n"
                f"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/{profile}\r\n"
                f"WARC-Refers-To-Target-URI: {original[0]}\r\nWARC-Refers-To-Date: {_date(original[1])}\r\n"
            )
            response = _member(response_id, fields + common, "response", head, b"", packed)
        else:
            response = _member(response_id, "WARC-Type: response\r\n" + common, "response", head, exchange.body, packed)
        request = _member(
            _record_id(),
            f"WARC-Type: request\r\nWARC-Target-URI: {visit.node}\r\nWARC-Date: {date}\r\n"
            f"WARC-Concurrent-To: {response_id}\r\nWARC-Warcinfo-ID: {self._info_id}\r\n",
            "request",
            exchange.request,
            b"",
            False,
        )
        place = Place(self._name, self._size, len(response) + len(request))
        self._write(response + request)
        if not unmodified:
            self._note(visit, exchange, place.offset, len(response), original is not None, bool(head))
            self._seen.add(exchange.digest, visit.node, visit.started)
        return place

    def _append_rendered(self, visit: Visit, dom: Exchange, received: Exchange) -> Place:
        """The final DOM, then the answer as it was received, then what the browser fetched: one place for all.

        The DOM is a record of the type `resource` under `urn:dom:URL`: nobody should take it for what the server said.
        """
        url, response_id = visit.node.partition("#")[0], _record_id()
        about = (
            f"WARC-Type: resource\r\nWARC-Target-URI: urn:dom:{visit.node}\r\nWARC-Date: {_date(visit.ended)}\r\n"
            f"WARC-Payload-Digest: {cdxj.digest_of(dom.digest)}\r\nWARC-Concurrent-To: {response_id}\r\n"
            f"WARC-Warcinfo-ID: {self._info_id}\r\n"
        )
        parts = [_member(_record_id(), about, "", b"", dom.body, False, dom.header("content-type"))]
        parts += self._pair(url, visit.started, visit.address, received, response_id)
        for one in dom.resources:
            parts += self._pair(one.url, one.started, one.address, one.exchange, _record_id())
        records = b"".join(parts)
        place = Place(self._name, self._size, len(records))
        self._write(records)
        self._fresh += cdxj.entries_in(records, place.offset, self._name)
        if len(self._fresh) >= UNINDEXED:
            self._index()
        return place

    def _pair(
        self, url: str, started: float, address: str, exchange: Exchange, response_id: str
    ) -> tuple[bytes, bytes]:
        """A response in full, and its request."""
        packed = any(
            key.lower() == b"content-encoding" and value.strip().lower() in _PACKED for key, value in exchange.headers
        )
        common = f"WARC-Target-URI: {url}\r\nWARC-Date: {_date(started)}\r\n"
        told = (
            f"WARC-Payload-Digest: {cdxj.digest_of(exchange.digest)}\r\n"
            + (f"WARC-IP-Address: {address}\r\n" if address else "")
            + (f"WARC-Truncated: {exchange.truncated}\r\n" if exchange.truncated else "")
        )
        info = f"WARC-Warcinfo-ID: {self._info_id}\r\n"
        response = _member(
            response_id,
            f"WARC-Type: response\r\n{common}{told}{info}",
            "response",
            http_head(exchange),
            exchange.body,
            packed,
        )
        asked = f"WARC-Type: request\r\n{common}WARC-Concurrent-To: {response_id}\r\n{info}"
        return response, _member(_record_id(), asked, "request", exchange.request, b"", False)

    def close(self) -> None:
        """End the present file, and index what is not indexed yet."""
        self._end_file()
        until = time.monotonic() + 30.0  # seconds that a run may take at its end to make missing indexes
        while self._unindexed and time.monotonic() < until:  # what is left is made when a later run ends
            name, end = self._unindexed.popitem()
            self._make_index(name, end)

    def _end_file(self) -> None:
        if self._file < 0:
            return
        sync(self._file)
        os.close(self._file)
        self._file = -1
        self._index()

    def _note(self, visit: Visit, exchange: Exchange, offset: int, length: int, revisit: bool, told: bool) -> None:
        kind = cdxj.REVISIT if revisit else cdxj.media_type(exchange.header("content-type"))
        status = str(visit.status) if told else ""
        self._fresh.append(_Noted(visit.node, visit.started, kind, status, exchange.digest, offset, length))
        if len(self._fresh) >= UNINDEXED:
            self._index()

    def _index(self) -> None:
        """Write the index of the present file. Without one it is made anew when it is asked for: no reason to fail."""
        name = self._name
        fresh = [each if isinstance(each, cdxj.Entry) else each.entry(name) for each in self._fresh]
        self._make_index(name, self._size, fresh)
        self._fresh = []

    def _make_index(self, name: str, end: int, fresh: Sequence[cdxj.Entry] = ()) -> None:
        path = self.directory / name
        with suppress(OSError, StoreError):
            cdxj.extend(path, end, fresh)

    def _write(self, data: bytes) -> None:
        """Append all of it, or leave the file as it was and say why."""
        if not os.fstat(self._file).st_nlink:
            raise StoreError(
                f"{self.directory / self._name} was deleted while the crawl ran: what it held is lost; "
                "restore it, or start a new crawl"
            )
        try:
            written = 0
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise self._explained(error) from error
        self._size += len(data)

    def _next_file(self) -> None:
        self._end_file()
        self._number += 1
        name = file_name(self.prefix, self._number)
        try:
            self._open(name)
        except OSError as error:
            raise self._explained(error) from error
        try:
            self._write(warcinfo(name, self.about, self._info_id))
        except StoreError:
            os.close(self._file)
            self._file = -1
            (self.directory / name).unlink()  # an empty file is not a WARC
            raise

    def _open(self, name: str) -> None:
        self._file = os.open(self.directory / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._size = os.fstat(self._file).st_size
        self._name = name
        self._info_id = _first_id(self.directory / name) if self._size else _record_id()

    def _set_aside(self, path: Path, end: int) -> str:
        """Move what lies beyond `end` into `aside/`, then cut the file; a file the log does not know goes whole."""
        cdxj.index_of(path).unlink(missing_ok=True)
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

    def _explained(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write the archive in {self.directory}: {error.strerror or error}. Nothing recorded is lost: "
            f"free some space or give access, then continue with: lycosa {self.command} {self.directory.parent}"
        )


def read_record(path: Path, place: Place) -> tuple[bytes, bytes, bytes]:
    """The first record at a place, unpacked; the same as it is stored; and what is stored behind it."""
    try:
        with open(path, "rb") as file:
            file.seek(place.offset)
            packed = file.read(min(place.length, LARGEST))
        member = zlib.decompressobj(31)
        record = member.decompress(packed, LARGEST)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}; restore the file from a backup") from error
    except zlib.error as error:  # type: ignore[misc]  # its stubs don't say that it is an exception
        raise DamagedError(f"{path}: no record at byte {place.offset} ({error}); restore it from a backup") from error
    if member.unconsumed_tail:
        raise DamagedError(f"{path}: the record at byte {place.offset} has more than {LARGEST:,} bytes")
    if not member.eof:
        raise DamagedError(f"{path}: no whole record at byte {place.offset}; restore the file from a backup")
    return record, packed[: len(packed) - len(member.unused_data)], member.unused_data


def read_exchange(path: Path, place: Place) -> tuple[Exchange, str]:
    """The response that `append` wrote there, and, if it is a revisit, the URL whose body it shares."""
    record, _, _ = read_record(path, place)
    try:
        fields, _, content = record.partition(b"\r\n\r\n")
        content = content.removesuffix(b"\r\n\r\n")
        named = dict(line.split(b": ", 1) for line in fields.split(b"\r\n")[1:])
        if named.get(b"WARC-Type") == b"resource":  # the final DOM of a page that was rendered
            content = b"HTTP/1.1 200 OK\r\nContent-Type: " + named[b"Content-Type"] + b"\r\n\r\n" + content
        head, _, body = content.partition(b"\r\n\r\n")
        status_line, *lines = head.split(b"\r\n")
        headers = [(key, value.strip()) for key, _, value in (line.partition(b":") for line in lines)]
        digest = base64.b32decode(named.get(b"WARC-Payload-Digest", b"").partition(b":")[2])
        truncated = named.get(b"WARC-Truncated", b"").decode()
        refers_to = named.get(b"WARC-Refers-To-Target-URI", b"").decode()
    except ValueError as error:  # the digest and the texts, too
        raise DamagedError(f"{path}: no record at byte {place.offset} ({error}); restore it from a backup") from error
    return Exchange(b"", status_line, headers, body, digest, truncated), refers_to


def warcinfo(name: str, about: Mapping[str, str], record_id: str = "") -> bytes:
    """The record with which a file begins: who made it, with what, how and from where."""
    told = {
        **about,
        "robots": about.get("robots", "obey"),
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    }
    fields = "".join(f"{key}: {' '.join(value.split())}\r\n" for key, value in told.items() if value)
    head = f"WARC-Type: warcinfo\r\nWARC-Date: {_date(datetime.now(UTC).timestamp())}\r\n"
    head += f"WARC-Filename: {name}\r\n" if name else ""
    return _member(record_id or _record_id(), head, "", fields.encode("utf-8", "replace"), b"", False)


def _member(
    record_id: str, fields: str, http: str, head: bytes, body: bytes, packed: bool, content_type: str = ""
) -> bytes:
    """One record as one gzip member. A body that is compressed already is stored, not compressed again."""
    content_type = f"application/http; msgtype={http}" if http else content_type or "application/warc-fields"
    kind = f"Content-Type: {content_type}\r\n"
    if not head and not body:
        kind = ""
    hashed = hashlib.sha256(head)
    hashed.update(body)
    digest = cdxj.digest_of(hashed.digest())
    told = f"{fields}{kind}" + (f"WARC-Block-Digest: {digest}\r\n" if head or body else "")
    length = len(head) + len(body)
    front = f"WARC/1.1\r\nWARC-Record-ID: {record_id}\r\n{told}Content-Length: {length}\r\n\r\n".encode() + head
    compressor = zlib.compressobj(1 if body else 9, zlib.DEFLATED, -15)  # heads alone are short, and all alike
    if packed and len(body) > 512:
        parts = [_GZIP_HEAD, compressor.compress(front), compressor.flush(zlib.Z_FULL_FLUSH)]
        for start in range(0, len(body), _STORED_BLOCK):
            block = body[start : start + _STORED_BLOCK]
            parts += [struct.pack("<BHH", 0, len(block), 0xFFFF ^ len(block)), block]
        last = b"\r\n\r\n"
        parts += [struct.pack("<BHH", 1, len(last), 0xFFFF ^ len(last)), last]
        whole = (front, body, last)
    else:
        parts = [_GZIP_HEAD, compressor.compress(front + body + b"\r\n\r\n"), compressor.flush()]
        whole = (front, body, b"\r\n\r\n")
    crc = 0
    for part in whole:
        crc = zlib.crc32(part, crc)
    parts.append(struct.pack("<II", crc, sum(map(len, whole)) & 0xFFFFFFFF))
    return b"".join(parts)


def http_head(exchange: Exchange) -> bytes:
    """Status line and headers, true of the body as it is kept."""
    lines = [exchange.status_line]
    for key, value in exchange.headers:
        lower = key.lower()
        if lower == b"transfer-encoding":
            key = b"X-Archive-Orig-Transfer-Encoding"
        elif lower == b"content-length" and exchange.truncated:
            key = b"X-Archive-Orig-Content-Length"
        # A stray line break in a header would end it early in the archive.
        lines.append(key + b": " + value.replace(b"\r", b" ").replace(b"\n", b" "))
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _record_id() -> str:
    random = os.urandom(16).hex()
    variant = "89ab"[int(random[16], 16) & 3]
    return f"<urn:uuid:{random[:8]}-{random[8:12]}-4{random[13:16]}-{variant}{random[17:20]}-{random[20:]}>"


def _first_id(path: Path) -> str:
    """The id of a file's first record, its warcinfo."""
    with open(path, "rb") as file:
        head = zlib.decompressobj(31).decompress(file.read(4096), 4096)
    match = re.search(rb"WARC-Record-ID: (<[^>]+>)", head)
    return match[1].decode() if match else _record_id()


def _date(at: float) -> str:
    seconds = int(at)
    return f"{_second(seconds)}.{min(999_999, round((at - seconds) * 1e6)):06d}Z"


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    # Many pages arrive in one second, and strftime is slow.
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


# -- which record has a payload ----------------------------------------------------------------------------

# Which record of an archive has a payload: an array for each column, as a large crawl has hundreds of thousands.

DIGEST = 32  # bytes of a digest: SHA-256


class Payloads:
    """The address and the moment of the first record with a payload, by its digest.

    >>> some = Payloads(); some.add(b"1" * 32, "http://a.test/", 5.0); some.add(b"1" * 32, "http://b.test/", 6.0)
    >>> some.get(b"1" * 32), some.get(b"2" * 32), len(some)
    (('http://a.test/', 5.0), None, 1)
    """

    def __init__(self) -> None:
        self._row = Fingerprints()
        self._digests = np.zeros((0, DIGEST), np.uint8)
        self._nodes = Nodes()
        self._started = np.zeros(0)

    def __len__(self) -> int:
        return len(self._nodes)

    def add(self, digest: bytes, node: str, started: float) -> None:
        """One more, unless the payload is known. Of two that begin alike only the first is: the other is kept twice."""
        row, key = len(self), _key(digest)
        if len(digest) != DIGEST or self._row.one(key) >= 0:
            return
        self._digests, self._started = fit(self._digests, row + 1), fit(self._started, row + 1)
        self._digests[row], self._started[row] = np.frombuffer(digest, np.uint8), started
        self._nodes.append(node)
        self._row.put(key, row)

    def get(self, digest: bytes) -> tuple[str, float] | None:
        """Where it is."""
        row = self._row.one(_key(digest))
        if row < 0 or self._digests[row].tobytes() != digest:
            return None
        return self._nodes[row], self._started.item(row)

    def state(self) -> State:
        count = len(self)
        return {"digests": self._digests[:count], "nodes": self._nodes.state(), "started": self._started[:count]}

    def restore(self, state: State) -> None:
        """Know those."""
        self._nodes.restore(state["nodes"])
        digests, started = state["digests"], state["started"]
        if digests.shape != (len(self), DIGEST) or digests.dtype != np.uint8 or started.shape != (len(self),):
            raise Untold("payloads do not fit")
        self._digests, self._started = digests, started
        keys = np.ascontiguousarray(digests[:, :8]).view("<u8").ravel()
        self._row.put_all(keys.astype(np.uint64), np.arange(len(self), dtype=np.int32))


def _key(digest: bytes) -> int:
    """How a digest is looked up: nobody can aim at its first bytes."""
    return int.from_bytes(digest[:8], "little")
