"""Parse a WARC record to a response that can be sent again.

Status, headers in order and encoded body are unchanged, except that hop-by-hop headers and chunks are removed, and the
length is that of the body.
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass, field

from lycosa.replay.captures import RESOURCE, REVISITED, moment

with warnings.catch_warnings():  # fastwarc warns about its own older classes
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator as ArchiveIterator

_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})(?: +([^\r\n]*))?\s*$")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,8})[^\r\n]*\r?\n")
_OF_THE_CONNECTION = frozenset(
    b"""
    connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade
    content-length x-archive-orig-transfer-encoding x-archive-orig-content-length
    """.split()
)


class Damaged(Exception):
    """An unreadable record; the message names it and the reason."""


@dataclass(slots=True)
class RecordedResponse:
    url: str
    date: int  # microseconds since 1970
    status: int = 200
    reason: bytes = b"OK"
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    refers_to: str = ""  # URL of the record with the body of a revisit; with its date and digest
    refers_to_date: int = 0
    digest: str = ""
    revisit: bool = False
    unchanged: bool = False  # true for "not modified" records: the earlier response applies

    def header(self, name: bytes) -> str:
        return next((value.decode("latin-1") for key, value in self.headers if key.lower() == name), "")


def read(data: bytes) -> RecordedResponse:
    try:
        record = next(iter(ArchiveIterator(io.BytesIO(data), parse_http=False)), None)
        if record is None:
            raise Damaged("no WARC record begins at this offset")
        headers = record.headers
        response = RecordedResponse(
            (headers.get("WARC-Target-URI") or "").strip("<> "),
            moment(headers.get("WARC-Date") or ""),
            refers_to=(headers.get("WARC-Refers-To-Target-URI") or "").strip("<> "),
            refers_to_date=moment(headers.get("WARC-Refers-To-Date") or ""),
            digest=headers.get("WARC-Payload-Digest") or "",
            revisit=int(record.record_type) == REVISITED,
            unchanged="not-modified" in (headers.get("WARC-Profile") or ""),
        )
        length = int(headers.get("Content-Length") or 0)
        if length > 200_000_000:
            raise Damaged(f"its Content-Length of {length:,} bytes is too large")
        block = record.reader.read()
    except (OSError, ValueError) as error:
        raise Damaged(str(error)) from error
    if len(block) < length:
        raise Damaged(f"{len(block):,} of its {length:,} bytes are there")
    if int(record.record_type) == RESOURCE:
        response.headers = [(b"Content-Type", (headers.get("Content-Type") or "").encode("latin-1", "replace"))]
        response.body = block
    elif block or not response.revisit:
        _read_http(block, response)
    return response


def _read_http(block: bytes, response: RecordedResponse) -> None:
    while True:
        end = _HEAD_END.search(block)
        head, rest = (block[: end.start()], block[end.end() :]) if end is not None else (block.rstrip(), b"")
        first, *lines = head.split(b"\n")
        status = _STATUS.match(first)
        if status is None:
            raise Damaged("it does not begin with an HTTP status")
        if not status[1].startswith(b"1"):
            break
        block = rest  # skip '100 Continue'
    response.status, response.reason = int(status[1]), status[2] or b""
    headers = _fields(lines)
    coding = {name.lower(): value.lower() for name, value in headers}
    dropped = _OF_THE_CONNECTION | {name.strip() for name in coding.get(b"connection", b"").split(b",")}
    response.body = rest
    if b"chunked" in coding.get(b"transfer-encoding", b""):
        response.body = dechunked(rest)
    if b"gzip" in coding.get(b"content-encoding", b"") and response.body and not response.body.startswith(b"\x1f\x8b"):
        dropped |= {b"content-encoding"}  # written by a tool that unpacked the body but kept the header
    response.headers = [(name, value) for name, value in headers if name.lower() not in dropped]


def _fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Parse header lines to pairs; continuation lines are joined, malformed lines dropped."""
    fields: list[tuple[bytes, bytes]] = []
    for line in lines:
        line = line.rstrip(b"\r")
        if line[:1] in (b" ", b"\t") and fields:
            name, value = fields[-1]
            fields[-1] = (name, value + b" " + line.strip())
            continue
        name, colon, value = line.partition(b":")
        name = name.rstrip()
        if colon and _NAME.fullmatch(name):
            fields.append((name, value.strip().replace(b"\r", b" ").replace(b"\0", b"")))
    return fields


def dechunked(body: bytes) -> bytes:
    """Remove the chunked coding of a body; other bodies are unchanged, truncated ones are read as far as possible.

    >>> dechunked(b"3\\r\\nabc\\r\\n2\\r\\nde\\r\\n0\\r\\n\\r\\n"), dechunked(b"<html>"), dechunked(b"5\\r\\nab")
    (b'abcde', b'<html>', b'ab')
    """
    pieces, place = [], 0
    while chunk := _CHUNK.match(body, place):
        size = int(chunk[1], 16)
        piece = body[chunk.end() : chunk.end() + size]
        place = chunk.end() + size
        if not size or len(piece) < size:
            pieces.append(piece)
            return b"".join(pieces)
        if body[place : place + 2] == b"\r\n":
            place += 2
        elif body[place : place + 1] == b"\n":
            place += 1
        elif place < len(body):
            break
        pieces.append(piece)
    return b"".join(pieces) if pieces and place >= len(body) else body
