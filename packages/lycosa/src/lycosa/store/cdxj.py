"""CDXJ indexes of WARC files: one sorted line per record, as read by pywb and OutbackCDX.

    org,example)/reefs 20261117151336 {"url": "http://example.org/reefs/", "mime": "text/html", "status": "200", ...}

NAME.warc.gz has its index beside it in NAME.cdxj. The index is written when the WARC file is closed or a run ends. It
may be incomplete or missing, in which case the missing records are read from the WARC file.
"""

from __future__ import annotations

import heapq
import io
import json
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
from lycosa.core.files import atomic_write
from lycosa.store.naming import SUFFIX as WARC_ENDING

REVISIT = "warc/revisit"  # media type of revisit records
_MAX_LINE_BYTES = 1 << 20  # limit of a line; URLs are much shorter
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
_LENGTH_AND_OFFSET = re.compile(rb'", "length": "(\d{1,18})", "offset": "(\d{1,18})", "filename": "')
_ESCAPED = re.compile(rb"[\x00-\x20\x7f-\xff#%]")


class CdxjEntry(NamedTuple):
    """Index entry of a record."""

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
        return self.offset + self.length

    @property
    def line(self) -> bytes:
        fields = {
            "url": self.url, "mime": self.mime, "status": self.status, "digest": self.digest,
            "length": str(self.length), "offset": str(self.offset), "filename": self.file,
        }  # fmt: skip
        present = {name: value for name, value in fields.items() if value}
        return f"{self.key} {self.date} {json.dumps(present)}\n".encode()


def index_path(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(WARC_ENDING) + ".cdxj")


def format_date(at: float) -> str:
    """Format a Unix time as 14 digits in UTC."""
    return _second(int(at))


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    # Cached, since strftime is slow and many pages arrive in one second.
    return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d%H%M%S}"


@lru_cache(maxsize=64)
def format_digest(digest: bytes) -> str:
    """Format a SHA-256 digest as in WARC files and indexes; cached, as record, index and crawl.log share it."""
    return "sha256:" + b32encode(digest).decode()


def surt_key(url: str) -> str:
    """Return the lookup key of a URL, equal to that of the `surt` package, which pywb and cdxj-indexer use.

    >>> surt_key("http://www.Example.org:8080/Reefs/?b=2&a=1#top")
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
    """Return the host with its labels reversed, and the port unless it is the scheme's default."""
    name, colon, port = authority.rpartition(":") if not authority.endswith("]") else (authority, "", "")
    if not colon:
        name, port = authority, ""
    name = _WWW.sub("", name, count=1) if _WWW.match(name) else name
    name = name.strip("[]") if name.startswith("[") else ",".join(reversed(name.strip(".").split(".")))
    return name, f":{port}" if port and port != {"http": "80", "https": "443"}[scheme] else ""


def _path(path: str) -> str:
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
    """Decode all percent-encoding, including nested, then encode the characters that need it once."""
    data = text.encode("utf-8", "surrogatepass")
    while b"%" in data and (plain := unquote_to_bytes(data)) != data:
        data = plain
    return _ESCAPED.sub(lambda match: b"%%%02X" % match[0][0], data).decode("ascii")


def parse_line(line: bytes) -> CdxjEntry | None:
    """Parse a line of an index; return None for comments, torn lines and anything else malformed."""
    try:
        key, date, record = line.decode().split(" ", 2)
        fields: dict[str, Any] = json.loads(record)
        named = {name: str(fields.get(name, "")) for name in ("url", "mime", "status", "digest")}
        numbers = int(fields["offset"]), int(fields["length"])
        file = str(fields["filename"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not re.fullmatch(r"\d{14,17}", date, re.ASCII) or min(numbers) < 0:
        return None
    return CdxjEntry(key, date[:14], **named, offset=numbers[0], length=numbers[1], file=file)


def update_index(path: Path, end: int, fresh: Iterable[CdxjEntry] = ()) -> None:
    """Complete the index of a WARC file up to an offset.

    `fresh` are entries of its last records; records that neither the index nor `fresh` contains are read from the WARC
    file. Files are processed line by line, since they may have hundreds of thousands of records.
    """
    index, added = index_path(path), list(fresh)
    gap = min((entry.offset for entry in added), default=end)
    reached = indexed_end(index, gap)
    lacking = sorted(entry.line for entry in [*scan_records(path, reached, gap), *added])
    known = (line for line, end_offset in _spans(index) if end_offset <= gap) if reached else ()
    with atomic_write(index) as file:
        file.writelines(line for line, _ in groupby(heapq.merge(known, lacking)))


def indexed_end(index: Path, end: int) -> int:
    """Return the highest indexed offset that is at most `end`; 0 if the index is torn or unsorted."""
    reached, before = 0, b""
    for line, end_offset in _spans(index):
        if line < before or end_offset < 0:
            return 0
        before = line
        if reached < end_offset <= end:
            reached = end_offset
    return reached


def _spans(index: Path) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of an index with the end offset of each record, -1 for a malformed line."""
    try:
        with open(index, "rb") as file:
            while line := file.readline(_MAX_LINE_BYTES):
                # Fast path for lines in our own format; lines of other programs are parsed in full.
                if line.endswith(b"}\n") and (match := _LENGTH_AND_OFFSET.search(line)):
                    yield line, int(match[1]) + int(match[2])
                else:
                    entry = parse_line(line)
                    yield (entry.line, entry.end) if entry else (line, -1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot read {index}: {error.strerror}") from error


def scan_records(path: Path, start: int, end: int) -> Iterator[CdxjEntry]:
    """Yield the entries of the records that begin in a range of a WARC file, read from the file itself."""
    if start >= end:
        return
    try:
        with open(path, "rb") as file:
            for offset, length, head in _members(file, start, end, path):
                if entry := parse_record(head, offset, length, path.name):
                    yield entry
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}; restore the file from a backup") from error


def entries_in(records: bytes, offset: int, name: str) -> Iterator[CdxjEntry]:
    for at, length, head in _members(io.BytesIO(records), 0, len(records), Path(name)):
        if entry := parse_record(head, offset + at, length, name):
            yield entry


def _members(file: IO[bytes], start: int, end: int, path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield offset, length and the first 64 KiB of content of each gzip member."""
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
        except zlib.error as error:  # type: ignore[misc]  # not declared as an exception in its stubs
            raise DamagedError(f"{path}: no record at byte {offset} ({error}); restore it from a backup") from error
        if not member.eof:
            raise DamagedError(f"{path}: no whole record at byte {offset}; restore the file from a backup")
        yield offset, used, head
        offset += used


def parse_record(head: bytes, offset: int, length: int, file: str) -> CdxjEntry | None:
    """Return the index entry of a record from its first bytes; None for requests and 304 responses."""
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
        if status == "304":  # the previous version has the content
            return None
        mime = REVISIT
    date = re.sub(r"\D", "", named.get(b"warc-date", ""))[:14]
    digest = named.get(b"warc-payload-digest", "")
    return CdxjEntry(surt_key(url), date, url, mime, status, digest, offset, length, file)


def media_type(value: str) -> str:
    """Return a content type without its parameters.

    >>> media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return re.split(r"[;\s]", value.strip(), maxsplit=1)[0].lower()
