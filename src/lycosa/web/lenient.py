"""Answers that are not quite HTTP, read as browsers read them: docs/http.md has the table of what is put up with.

aiohttp's parser refuses what may be meant to fool a server behind a proxy, and loses the whole answer by it. We are the
last who read it and ask nobody else on its account, so all there is to fear is that the bytes of one answer are taken
for the next one: a connection on which anything had to be put right is not used again.

The head of an answer is looked at before the parser sees it, and put right where it has to be; the body comes after it
in a call of its own, so that whatever lies behind its end spoils only the connection, not the answer.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.client_proto import ResponseHandler

if TYPE_CHECKING:
    from aiohttp.connector import Connection

    from lycosa.core.budget import Meter

MOST_HEAD = 262_144
"""Bytes of status line and headers at most, as in Chromium."""

LONGEST_LINE = 65_536
MOST_HEADERS = 1_000

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REGULAR = re.compile(rb"HTTP/1\.[01] [0-9]{3}(?: [^\r\n\0]*)?\r\n(?:" + _TOKEN + rb":[^\r\n\0]*\r\n)*\r\n")
_NAME = re.compile(_TOKEN)
_MOVED = re.compile(rb"HTTP/1\.[01] 30[12378](?s:.*)\n(?i:location):")
_HINT = re.compile(rb"HTTP/1\.[01] 1(?!01)")
_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"(?i:http)(?:/([0-9])\.([0-9]))?[^ \t]*[ \t]+([0-9]{3})(?![0-9])[ \t]*(.*)")


@dataclass(slots=True, frozen=True)
class Mended:
    """The head of an answer that was put right: as it is parsed, and as it was received."""

    head: bytes
    status_line: bytes
    fields: list[tuple[bytes, bytes]]


def _is_plain(data: bytes) -> bool:
    """Whether this is a head like nearly all, and no more of its body than its length says: nothing to look after."""
    head = _REGULAR.match(data)
    if head is None or data.startswith(b"1", 9):
        return False
    low = data[: head.end()].lower()
    length = _length(low)
    return length >= len(data) - head.end() and b"\ntransfer-encoding" not in low and data[9:12] not in (b"204", b"304")


def _length(low: bytes) -> int:
    """The one length that a head in small letters tells; -1 if there is none, or more than one, or it is no number."""
    at = low.find(b"\ncontent-length:")
    size = low[at + 16 : low.find(b"\r", at)].strip(b" \t") if at >= 0 else b""
    return int(size) if size.isdigit() and len(size) < 19 and low.find(b"\ncontent-length", at + 1) < 0 else -1


@dataclass(slots=True)
class Remarks:
    """What was noticed of one answer."""

    mended: Mended | None = None
    broken: str = ""
    """Why its body could not be read to its end: a chunk that is none."""


def mend(head: bytes) -> Mended | None:
    """Put the head of an answer right, up to its empty line; None if there is nothing to mend, or no way to.

    >>> mend(b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\n") is None
    True
    >>> mend(b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n").head
    b'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n'
    """
    low = head.lower()
    framed = b"\ntransfer-encoding" not in low and _length(low) >= 0
    if (framed or b"\ncontent-length" not in low) and _REGULAR.fullmatch(head):
        return None
    first, *lines = head[max(0, low.find(b"http", 0, 8)) :].split(b"\n")
    status = _STATUS.match(first.rstrip(b"\r"))
    if status is None:
        return None
    version = b"1.1" if status[1] and (status[1], status[2]) >= (b"1", b"1") else b"1.0"
    received = _fields(lines)
    fields = _framed(received)
    if fields is None:
        return None
    header_lines = b"".join(b"%b: %b\r\n" % field for field in fields)
    line = b"HTTP/%b %b %b\r\n" % (version, status[3], status[4].replace(b"\0", b"").replace(b"\r", b" "))
    return Mended(line + header_lines + b"\r\n", first.rstrip(b"\r"), received)


def _fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    """The headers that are any: a folded one is joined, a line that is none is left out."""
    fields: list[tuple[bytes, bytes]] = []
    for line in lines:
        line = line.rstrip(b"\r").replace(b"\r", b" ")
        name, colon, value = line.partition(b":")
        name, value = name.rstrip(b" \t"), value.strip(b" \t")
        if line[:1] in (b" ", b"\t"):
            if fields:
                fields[-1] = (fields[-1][0], fields[-1][1] + b" " + line.strip(b" \t").replace(b"\0", b""))
        elif colon and _NAME.fullmatch(name) and b"\0" not in value:
            fields.append((name, value))
    return fields


def _framed(fields: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]] | None:
    """The headers with one word on where the body ends, chunks before a length; None if they contradict each other."""
    sizes = {size.strip(b" \t") for name, value in fields if _is(name, b"content-length") for size in value.split(b",")}
    coding = b",".join(value.lower() for name, value in fields if _is(name, b"transfer-encoding"))
    chunked = b"chunked" in [part.strip(b" \t") for part in coding.split(b",")]
    if len(sizes) > 1 and not chunked:
        return None
    framed = [field for field in fields if not _is(field[0], b"content-length")]
    size = sizes.pop() if sizes else b""
    if chunked or not re.fullmatch(rb"[0-9]{1,18}", size):  # a length that is none: the body ends with the connection
        return framed
    framed = [field for field in framed if not _is(field[0], b"transfer-encoding")]
    return [*framed, (b"Content-Length", size)]


def _is(name: bytes, wanted: bytes) -> bool:
    return name.lower() == wanted


class LenientHandler(ResponseHandler):
    """aiohttp's protocol of one connection, with an eye on the heads of answers and a meter for all bytes."""

    def __init__(self, loop: asyncio.AbstractEventLoop, meter: Meter) -> None:
        super().__init__(loop=loop)
        self.remarks = Remarks()
        """On the answer that comes."""
        self._meter = meter
        self._head: bytearray | None = None  # what has come of a head; None: it is complete

    def set_response_params(self, **params: Any) -> None:
        """A request was sent: a head comes next."""
        self._head, self.remarks = bytearray(), Remarks()
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """The head to the parser as a whole, and right; then the rest."""
        if self._parser is None or not data:  # it is kept for later, or it was kept
            super().data_received(data)
            return
        self._meter.take(len(data))
        if self._head is not None and not self._head and _is_plain(data):
            self._head = None
        while self._head is not None and data:
            data = self._complete(self._head, data)
        if data:
            super().data_received(data)
            if self.exception() is not None and self._payload is not None and not self._payload.is_eof():
                self.remarks.broken = str(self.exception())
                self._payload.feed_eof()  # or whoever reads the body would wait for its end

    def _complete(self, head: bytearray, data: bytes) -> bytes:
        """Add to a head, and give it to the parser when it is complete; returns what came behind it."""
        seen = len(head)
        head += data if seen else data.lstrip(b"\r\n")
        end = _END.search(head, max(0, seen - 2))
        if end is None and len(head) <= MOST_HEAD and (len(head) < 8 or b"http" in head[:8].lower()):
            self.start_timeout()
            return b""
        self._head = None
        if end is None:  # the parser says what is wrong with it
            return bytes(head)
        self._give(bytes(head[: end.end()]))
        if _HINT.match(head):  # the answer follows
            self._head = bytearray()
        return bytes(head[end.end() :])

    def connection_lost(self, exc: BaseException | None) -> None:
        """A redirect is one also without the empty line behind it, if its last line is whole."""
        head = self._head
        if head and exc is None and _MOVED.match(head) and head.endswith(b"\n"):
            self._head = None
            self._give(bytes(head) + b"\r\n")
        super().connection_lost(exc)

    def _give(self, head: bytes) -> None:
        mended = self.remarks.mended = mend(head)
        if mended is not None:
            self.force_close()
        super().data_received(head if mended is None else mended.head)


class LenientResponse(aiohttp.ClientResponse):
    """An answer that knows what was noticed of it."""

    remarks: Remarks

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Read the head. The connection may be another's soon, but the remarks stay ours."""
        assert isinstance(connection.protocol, LenientHandler)
        self.remarks = connection.protocol.remarks
        return await super().start(connection)
