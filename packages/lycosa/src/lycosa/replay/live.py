"""Proxy to the live web that records which pages a person opened.

It records browsing (Batsakis 2007, fig. 8, component I): pages in order of the visits, with the page that led to each,
their text, and the person's labels from the proxy's own page. `lycosa train browse` learns from the record. Connections
and TLS are those of proxy.py; outgoing connections pass the crawler's address guard.
"""

from __future__ import annotations

import asyncio
import html
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import aiohttp
from yarl import URL

from lycosa.core.errors import InputError
from lycosa.replay import proxy_pages
from lycosa.replay.certificates import Authority
from lycosa.replay.proxy import MAX_BODY_BYTES, Connection, Headers, LocalProxy, Request, mark
from lycosa.replay.trail import VisitorTrail
from lycosa.web.fetch import HttpTransport, LenientResponse
from lycosa.web.inflate import BadEncoding, charset_of, decode, inflate

MAX_PAGE_BYTES = 4_000_000  # maximum bytes and characters that are recorded; the browser gets the whole page
# Hop-by-hop headers, and those written by this proxy.
_HOP = frozenset(
    b"connection proxy-connection keep-alive te trailer transfer-encoding upgrade proxy-authenticate "
    b"proxy-authorization alt-svc host content-length".split()
)
_PAGES = ("text/html", "application/xhtml+xml", "text/plain")
_TITLE = re.compile(r"<title[^>]*>([^<]{0,1000})", re.IGNORECASE)


@dataclass
class Opened:
    url: str
    title: str
    relevant: bool | None = None


class Recorder:
    """Writer of a browsing record: a line of JSON per visit or label.

    An existing file is continued. Only its owner may read it, because it contains what a person has read.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path, self.clock = path, clock
        self.opened: list[Opened] = []  # pages opened in this run
        self._trail = VisitorTrail()
        try:
            broken_off = _ends_within_line(path)
            number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError as error:
            raise InputError("unwritable-file", f"cannot write the recording {path}: {error.strerror}") from error
        self._file: TextIO = os.fdopen(number, "a", encoding="utf-8")
        self._file.write("\n" if broken_off else "")

    def visit(self, url: str, referrer: str, text: str, *, plain: bool = False) -> None:
        title = "" if plain else html.unescape(found[1]) if (found := _TITLE.search(text, 0, 100_000)) else ""
        self.opened.append(Opened(url, " ".join(title.split())[:200]))
        line = {"url": url, "relevant": None, "referrer": self._trail.step(url, referrer) or None}
        self._write({**line, "time": round(self.clock(), 3), "text" if plain else "html": text[:MAX_PAGE_BYTES]})

    def label(self, number: int, relevant: bool) -> None:
        """Label the page of a visit as relevant or not."""
        url = self.opened[number].url
        for each in self.opened:
            each.relevant = relevant if each.url == url else each.relevant
        self._write({"url": url, "relevant": relevant, "visit": False})

    def _write(self, line: dict[str, object]) -> None:
        self._file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _ends_within_line(path: Path) -> bool:
    """Return whether an existing record ends within a line, as after a kill; raise InputError for other files."""
    if not path.exists():
        return False
    if not path.is_file():
        raise InputError("bad-file", f"the recording {path} is not a file")
    with open(path, "rb") as file:
        if not file.peek(1):
            return False
        if not file.read(20).lstrip().startswith(b"{"):
            raise InputError(
                "bad-file",
                f"{path} exists and is not a recording of browsing: choose another file with --record",
            )
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


class RecordingProxy(LocalProxy):
    """Proxy that forwards requests to the web and passes pages to a recorder."""

    def __init__(self, recorder: Recorder, transport: HttpTransport, authority: Authority, port: int = 0) -> None:
        super().__init__(authority, port)
        self.recorder, self.transport = recorder, transport
        self.token = secrets.token_urlsafe(16)  # known only to our own page, so other pages cannot label visits

    def connection(self) -> Connection:
        """Return a connection; the tally counts responses `passed`, `recorded`, `unwritten` and `failed`."""
        return _Live(self)

    async def __aexit__(self, *error: object) -> None:
        await super().__aexit__(*error)
        await self.transport.close()
        self.recorder.close()


class _Live(Connection):
    proxy: RecordingProxy

    def __init__(self, proxy: RecordingProxy) -> None:
        super().__init__(proxy)
        self.arrived, self.writable = asyncio.Event(), asyncio.Event()
        self.writable.set()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.arrived.set()

    def pause_writing(self) -> None:
        self.writable.clear()
        super().pause_writing()

    def resume_writing(self) -> None:
        self.writable.set()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.arrived.set()
        self.writable.set()

    def _respond(self, request: Request) -> None:
        url = request.url(self.tunnel)
        if not 0 <= request.body <= MAX_BODY_BYTES:
            self._refuse(411 if request.body < 0 else 413)
        elif own := self.proxy.own_path(url):
            self.to_skip = request.body
            self._send_own_page(request, own)
        elif not url.startswith(("http://", "https://")):
            self._refuse(400)
        else:
            self.working = asyncio.ensure_future(self._forward(request, url))

    async def _forward(self, request: Request, url: str) -> None:
        transport = self.proxy.transport
        try:
            body = await self._body(request.body)
            is_page = _is_page(request)
            asking = transport.session.request(
                request.method, URL(url, encoded=True), headers=_forwarded_headers(request, is_page), data=body or None,
                allow_redirects=False,
            )  # fmt: skip
            async with asking as response:
                self.proxy.tally["passed"] += 1
                await self._stream(request, url, response, is_page)
        except (aiohttp.ClientError, OSError, ValueError, TimeoutError) as error:
            self.proxy.tally["failed"] += 1
            self._send_page(
                request, 502, proxy_pages.out_of_reach(url, str(transport.failure(error, ""))), "out-of-reach"
            )
        finally:
            self.working = None
        self._next()

    async def _body(self, length: int) -> bytes:
        while len(self.buffer) < length:
            if self.transport is None:
                raise ConnectionResetError("the client closed the connection")
            self.arrived.clear()
            await self.arrived.wait()
        body = bytes(self.buffer[:length])
        del self.buffer[:length]
        return body

    async def _stream(self, request: Request, url: str, response: aiohttp.ClientResponse, is_page: bool) -> None:
        """Forward a response as it arrives; record the page when it is complete."""
        assert isinstance(response, LenientResponse)
        mended = response.remarks.repaired
        fields: Headers = [
            (name, value)
            for name, value in (mended.fields if mended else response.raw_headers)
            if name.lower() not in _HOP
        ]
        kind = response.headers.get("Content-Type", "").lower()
        keeps = is_page and response.status == 200 and kind.startswith(_PAGES)
        body = bytearray()
        end = self._begin(request, response, fields)
        try:
            async for chunk in response.content.iter_any():
                if self.transport is None or self.transport.is_closing():
                    return
                body += chunk if keeps and len(body) < MAX_PAGE_BYTES else b""
                self.transport.write(b"%x\r\n%b\r\n" % (len(chunk), chunk) if end else chunk)
                await self.writable.wait()
        except (aiohttp.ClientError, OSError, TimeoutError):
            if self.transport is not None:  # close the connection, because a truncated response must not look complete
                self.transport.abort()
            return
        if self.transport is not None:
            self.transport.write(end)
            if not request.keep:
                self.transport.close()
        if keeps:
            self._record(url, request, bytes(body), kind, response.headers.get("Content-Encoding", ""))

    def _begin(self, request: Request, response: aiohttp.ClientResponse, fields: Headers) -> bytes:
        """Send the head of a response; return the bytes that end a body of unknown length."""
        length = response.headers.get("Content-Length", "") if "Transfer-Encoding" not in response.headers else ""
        bodiless = request.method == "HEAD" or response.status in (204, 304)
        end = b""
        if length.isascii() and length.isdigit():
            fields.append((b"Content-Length", length.encode()))
        elif not bodiless and request.version == "HTTP/1.0":
            request.keep = False
        elif not bodiless:
            fields.append((b"Transfer-Encoding", b"chunked"))
            end = b"0\r\n\r\n"
        if not request.keep:
            fields.append((b"Connection", b"close"))
        head = [b"HTTP/1.1 %d %b" % (response.status, (response.reason or "").encode("latin-1", "replace"))]
        head += [name + b": " + value for name, value in fields]
        if self.transport is not None:
            self.transport.write(b"\r\n".join(head) + b"\r\n\r\n")
        return end

    def _record(self, url: str, request: Request, body: bytes, kind: str, encoding: str) -> None:
        try:
            inflated, _ = inflate(body, encoding, MAX_PAGE_BYTES)
        except BadEncoding:
            return
        plain = kind.startswith("text/plain")
        text = decode(inflated, charset_of(kind), markup=not plain)
        try:
            self.proxy.recorder.visit(url, request.headers.get("referer", ""), text, plain=plain)
            self.proxy.tally["recorded"] += 1
        except OSError:  # for instance a full disk; the browser already has the response
            self.proxy.tally["unwritten"] += 1

    def _send_own_page(self, request: Request, path: str) -> None:
        proxy, authority = self.proxy, self.proxy.authority
        if path == "/":
            self._send_page(request, 200, proxy_pages.browsing(proxy), "browsing", (b"Cache-Control", b"no-store"))
        elif path == "/ca.pem":
            self._send(request, 200, b"", [(b"Content-Type", b"application/x-x509-ca-cert")], authority.public)
        elif request.method == "POST" and self._label(path):
            self._send(request, 303, b"", [(b"Location", b"/"), mark("labelled")], b"")
        else:
            self._send_page(
                request, 404, proxy_pages.page("Not here", "<p>This proxy has no page with this URL.</p>"), "not-here"
            )

    def _label(self, path: str) -> bool:
        """Apply a label path such as /label/TOKEN/NUMBER/yes; return whether it was one."""
        recorder = self.proxy.recorder
        label = re.fullmatch(r"/label/([\w-]+)/(\d{1,9})/(yes|no)", path, re.ASCII)
        if label is None or not secrets.compare_digest(label[1], self.proxy.token):
            return False
        if int(label[2]) >= len(recorder.opened):
            return False
        recorder.label(int(label[2]), label[3] == "yes")
        return True


def _is_page(request: Request) -> bool:
    """Return whether a person opens a page: not a frame, an image, or a prefetch."""
    if request.method != "GET" or "prefetch" in request.headers.get("sec-purpose", request.headers.get("purpose", "")):
        return False
    meant = request.headers.get("sec-fetch-dest", "")
    return meant == "document" if meant else "text/html" in request.headers.get("accept", "")


def _forwarded_headers(request: Request, is_page: bool) -> dict[str, str]:
    """Return the headers to forward; pages are requested unconditionally so that their text can be recorded."""
    left_out: Iterable[str] = ("if-none-match", "if-modified-since") if is_page else ()
    return {
        name: value
        for name, value in request.headers.items()
        if name.encode("latin-1") not in _HOP and name not in left_out
    }
