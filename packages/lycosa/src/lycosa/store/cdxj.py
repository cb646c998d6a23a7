"""CDXJ: where each record of a WARC file lies, one line a record, sorted; what pywb, OutbackCDX and others look up.

    org,example)/reefs 20261117151336 {"url": "http://example.org/reefs/", "mime": "text/html", "status": "200", ...}

Each WARC file has such a file beside it, NAME.cdxj for NAME.warc.gz. It is written whole when the WARC file is closed
or a run ends, and it may lag behind: what it lacks is read from the WARC file itself. So it is never missed, and one
that was deleted is made again.
"""

from __future__ import annotations

import heapq
import io
import json
import os
import re
from base64 import b32encode
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import unquote_to_bytes

from zlib_ng import zlib_ng as zlib

from lycosa.core.errors import DamagedError, StoreError
from lycosa.core.files import replacing
from lycosa.store.naming import ENDING as WARC_ENDING

REVISIT = "warc/revisit"  # type of a record whose body lies in another
LARGEST = 1 << 20  # bytes of a line: addresses are much shorter
_FIELD = re.compile(rb"^([\w-]+):[ \t]*([^\r\n]*)", re.MULTILINE)
_STATUS = re.compile(rb"\S+ +(\d{3})\b")
_TYPE = re.compile(rb"\r\ncontent-type:([^\r\n]*)", re.IGNORECASE)
_WWW = re.compile(r"www\d*\.")
_SESSIONS = [
    re.compile(rf"^(.*)(?:{name})(?:&(.*))?$", re.IGNORECASE | re.DOTALL)
    for name in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
]
_ASPX_SESSION = re.compile(r"^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)|\([0-9a-z]{24}\))/([^?]+\.aspx.*)$", re.IGNORECASE)
_SPAN = re.compile(rb'", "length": "(\d{1,18})", "offset": "(\d{1,18})", "filename": "')
_ESCAPED = re.compile(rb"[\x00-\x20\x7f-\xff#%]")


class Entry(NamedTuple):
    """A record that an index knows."""

    key: str
    date: str  # 14 digits, in UTC
    url: str
    mime: str
    status: str
    digest: str
    offset: int
    length: int
    file: str

    @property
    def end(self) -> int:
        """The byte behind the record."""
        return self.offset + self.length

    @property
    def line(self) -> bytes:
        """The entry as it stands in a file."""
        fields = {
            "url": self.url, "mime": self.mime, "status": self.status, "digest": self.digest,
            "length": str(self.length), "offset": str(self.offset), "filename": self.file,
        }  # fmt: skip
        told = {name: value for name, value in fields.items() if value}
        return f"{self.key} {self.date} {json.dumps(told)}\n".encode()


def index_of(path: Path) -> Path:
    """Where the index of a WARC file lies."""
    return path.with_name(path.name.removesuffix(WARC_ENDING) + ".cdxj")


def date_of(at: float) -> str:
    """A moment in 14 digits."""
    return _second(int(at))


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    # Many pages arrive in one second, and strftime is slow.
    return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d%H%M%S}"


@lru_cache(maxsize=64)
def digest_of(digest: bytes) -> str:
    """A payload's digest, as WARC files and indexes have it: record, index and crawl.log ask for the same one."""
    return "sha256:" + b32encode(digest).decode()


# -- keys --------------------------------------------------------------------------------------------------------


def key_of(url: str) -> str:
    """An address as it is looked up: names from the top, in lower case; no www, no session, parameters in order.

    Those of the package `surt`, which pywb and cdxj-indexer use.

    >>> key_of("http://www.Example.org:8080/Reefs/?b=2&a=1#top")
    'org,example:8080)/reefs?a=1&b=2'
    """
    scheme, colon, rest = url.partition("://")
    if not colon or scheme.lower() not in ("http", "https"):
        return url
    rest = rest.partition("#")[0]
    authority, path, query = re.fullmatch(r"([^/?]*)([^?]*)(?:\?(.*))?", rest, re.DOTALL).groups()  # type: ignore[union-attr]
    name, port = _host(authority.rpartition("@")[2].lower(), scheme.lower())
    path = _path(_plain(path)).lower()
    if match := _ASPX_SESSION.fullmatch(path):
        path = match[1] + match[2]
    path = path.rstrip("/") if len(path) > 1 and path.endswith("/") else path
    return f"{name}{port}){path or '/'}{_query(query or '')}"


def _host(authority: str, scheme: str) -> tuple[str, str]:
    """Name, turned round, and port, if it is not the usual one."""
    name, colon, port = authority.rpartition(":") if not authority.endswith("]") else (authority, "", "")
    if not colon:
        name, port = authority, ""
    name = _WWW.sub("", name, count=1) if _WWW.match(name) else name
    name = name.strip("[]") if name.startswith("[") else ",".join(reversed(name.strip(".").split(".")))
    return name, f":{port}" if port and port != {"http": "80", "https": "443"}[scheme] else ""


def _path(path: str) -> str:
    """Without dots, and with single slashes."""
    parts: list[str] = []
    for part in path.split("/")[1:]:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/" + "/".join([*filter(None, parts[:-1]), *parts[-1:]])


def _query(query: str) -> str:
    query = _plain(query)
    for pattern in _SESSIONS:
        if match := pattern.fullmatch(query):
            query = match[1] + (match[2] or "")
    pairs = sorted(part.split("=", 1) for part in query.lower().split("&"))
    return "?" + "&".join(map("=".join, pairs)) if query else ""


def _plain(text: str) -> str:
    """What is escaped without need is not, however often it was; what needs it, is, once."""
    data = text.encode("utf-8", "surrogatepass")
    while b"%" in data and (plain := unquote_to_bytes(data)) != data:
        data = plain
    return _ESCAPED.sub(lambda match: b"%%%02X" % match[0][0], data).decode("ascii")


# -- reading -----------------------------------------------------------------------------------------------------


def parse(line: bytes) -> Entry | None:
    """The entry of a line; None for one that is none (a comment, a torn line, something else)."""
    try:
        key, date, told = line.decode().split(" ", 2)
        fields: dict[str, Any] = json.loads(told)
        named = {name: str(fields.get(name, "")) for name in ("url", "mime", "status", "digest")}
        numbers = int(fields["offset"]), int(fields["length"])
        file = str(fields["filename"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not re.fullmatch(r"\d{14,17}", date, re.ASCII) or min(numbers) < 0:
        return None
    return Entry(key, date[:14], **named, offset=numbers[0], length=numbers[1], file=file)


def read(path: Path) -> Iterator[Entry]:
    """The entries of an index, in its order; none where there is no such file."""
    try:
        with open(path, "rb") as file:
            while line := file.readline(LARGEST):
                if entry := parse(line):
                    yield entry
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error


def find(path: Path, key: str) -> Iterator[Entry]:
    """The entries of a key, looked up in the sorted file: it is not read whole."""
    wanted = f"{key} ".encode()
    try:
        with open(path, "rb") as file:
            _seek(file, wanted)
            while (line := file.readline(LARGEST)) and line < wanted:
                pass
            while line.startswith(wanted):
                if entry := parse(line):
                    yield entry
                line = file.readline(LARGEST)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error


def _seek(file: IO[bytes], wanted: bytes) -> None:
    """Go to the beginning of a line before which every line is smaller."""
    low, high = 0, os.fstat(file.fileno()).st_size
    while low < high:  # the first line that begins behind `low` is the first that may be large enough
        middle = (low + high) // 2
        file.seek(middle)
        file.readline(LARGEST)
        line = file.readline(LARGEST)
        if line and line < wanted:
            low = middle + 1
        else:
            high = middle
    file.seek(low)
    if low:
        file.readline(LARGEST)
    else:
        file.seek(0)


# -- making ------------------------------------------------------------------------------------------------------


def extend(path: Path, end: int, fresh: Iterable[Entry] = ()) -> None:
    """Make the index of a WARC file know all of it up to a byte: beside what is there the `fresh` entries, which are of
    its last records, and what both lack. Line by line: a file may have hundreds of thousands.
    """
    index, added = index_of(path), list(fresh)
    gap = min((entry.offset for entry in added), default=end)
    reached = reach(index, gap)
    lacking = sorted(entry.line for entry in [*scan(path, reached, gap), *added])
    known = (line for line, behind in _spans(index) if behind <= gap) if reached else ()
    with replacing(index) as file:
        file.writelines(line for line, _ in groupby(heapq.merge(known, lacking)))


def reach(index: Path, end: int) -> int:
    """The byte behind the last record that an index knows, of those that end before another byte; 0 if it is torn or
    not in order, so that nothing can be looked up.
    """
    reached, before = 0, b""
    for line, behind in _spans(index):
        if line < before or behind < 0:
            return 0
        before = line
        if reached < behind <= end:
            reached = behind
    return reached


def _spans(index: Path) -> Iterator[tuple[bytes, int]]:
    """Each line of an index, and the byte behind its record, -1 if it is none; nothing where there is no such file."""
    try:
        with open(index, "rb") as file:
            while line := file.readline(LARGEST):
                # As we write it; of lines that others wrote all is read.
                if line.endswith(b"}\n") and (match := _SPAN.search(line)):
                    yield line, int(match[1]) + int(match[2])
                else:
                    entry = parse(line)
                    yield (entry.line, entry.end) if entry else (line, -1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot read {index}: {error.strerror}") from error


def scan(path: Path, start: int, end: int) -> Iterator[Entry]:
    """The entries of the records that begin between two bytes, from the WARC file itself."""
    if start >= end:
        return
    try:
        with open(path, "rb") as file:
            for offset, length, head in _members(file, start, end, path):
                if entry := entry_of(head, offset, length, path.name):
                    yield entry
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}; restore the file from a backup") from error


def entries_in(records: bytes, offset: int, name: str) -> Iterator[Entry]:
    """The entries of records that lie, or will lie, from a byte of a file on."""
    for at, length, head in _members(io.BytesIO(records), 0, len(records), Path(name)):
        if entry := entry_of(head, offset + at, length, name):
            yield entry


def _members(file: IO[bytes], start: int, end: int, path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Each gzip member: where it is, and how its content begins."""
    file.seek(start)
    offset, ahead = start, b""
    while offset < end:
        member, head, used = zlib.decompressobj(31), b"", 0
        try:
            while not member.eof and (data := ahead or file.read(1 << 16)):
                part = member.decompress(data)
                head += part[: (1 << 16) - len(head)]
                ahead = member.unused_data
                used += len(data) - len(ahead)
        except zlib.error as error:  # type: ignore[misc]  # its stubs don't say that it is an exception
            raise DamagedError(f"{path}: no record at byte {offset} ({error}); restore it from a backup") from error
        if not member.eof:
            raise DamagedError(f"{path}: no whole record at byte {offset}; restore the file from a backup")
        yield offset, used, head
        offset += used


def entry_of(head: bytes, offset: int, length: int, file: str) -> Entry | None:
    """The entry of a record, given how it begins; None for one that nobody looks up: a request, a 304."""
    fields, _, http = head.partition(b"\r\n\r\n")
    named = {name.lower(): value.decode("utf-8", "replace") for name, value in _FIELD.findall(fields)}
    kind, url = named.get(b"warc-type", ""), named.get(b"warc-target-uri", "").strip("<>")
    if kind not in ("response", "revisit", "resource") or not url:
        return None
    if kind == "resource":
        mime, status = media_type(named.get(b"content-type", "")), ""
    else:
        status = match[1].decode() if (match := _STATUS.match(http)) else ""
        found = _TYPE.search(http.partition(b"\r\n\r\n")[0])
        mime = media_type(found[1].decode("latin-1")) if found else ""
    if kind == "revisit":
        if status == "304":  # nothing to be seen there that the version before does not show
            return None
        mime = REVISIT
    date = re.sub(r"\D", "", named.get(b"warc-date", ""))[:14]
    digest = named.get(b"warc-payload-digest", "")
    return Entry(key_of(url), date, url, mime, status, digest, offset, length, file)


def media_type(value: str) -> str:
    """A content type without its parameters.

    >>> media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return re.split(r"[;\s]", value.strip(), maxsplit=1)[0].lower()
