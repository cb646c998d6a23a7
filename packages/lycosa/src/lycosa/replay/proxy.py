"""A local HTTP/1.1 proxy that serves a recording only.

Requests come in four forms:
1. `GET http://host/path` (or https): clients of a proxy.
2. `CONNECT host:443`, then TLS: clients of a proxy for https. TLS ends here, with a certificate for that host.
3. `GET /path` with the Host of a recorded site: clients of a server.
4. `GET /path` with the proxy's own Host: the start page, and the certificate to trust.

Only the user who started it, and root, are served. On Linux the kernel lists the owner of a connection (peers.py); on
other systems clients have to send a password, which is part of the printed URL. Small records are read at once; large
ones and revisits in threads, so that other clients need not wait.
"""

from __future__ import annotations

import asyncio
import base64
import re
import secrets
from collections import Counter
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Self

from lycosa.replay import proxy_pages
from lycosa.replay.certificates import Authority
from lycosa.replay.peers import is_own_user, users_are_known
from lycosa.replay.recording import Recording, Spot
from lycosa.replay.records import Damaged, RecordedResponse

AT_ONCE = 200_000  # bytes of a record in the file; smaller ones are read without a thread, in a millisecond or two
MAX_BODY_BYTES = 10_000_000  # maximum bytes of a request body, which is read and discarded
USERNAME = "lycosa"  # user name that belongs to a proxy's password
Headers = list[tuple[bytes, bytes]]

_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]+\]")
_REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}
_BODILESS = frozenset({204, 304})
_IN_A_304 = frozenset({b"cache-control", b"date", b"etag", b"expires", b"last-modified", b"vary", b"memento-datetime"})


class LocalProxy:
    """Listener on 127.0.0.1 for one user, an asynchronous context manager; each client gets a `connection`."""

    def __init__(self, authority: Authority, port: int = 0) -> None:
        self.authority = authority
        self.port = port
        # Responses by kind; clients that `distrusted` the certificate; requests of `strangers`, that is, other users.
        self.tally: Counter[str] = Counter()
        self.password = "" if users_are_known() else new_password()
        self.connections: set[Connection] = set()
        self._server: asyncio.Server | None = None

    def connection(self) -> Connection:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self.connection, "127.0.0.1", self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        # First stop accepting, then close; otherwise asyncio loses connections that it was about to create.
        for listening in self._server.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
        for _ in range(10):  # accepted sockets take a few turns of the loop to become connections
            await asyncio.sleep(0)
            for connection in list(self.connections):
                await connection.end()
            if accepting := asyncio.all_tasks() - {asyncio.current_task()}:
                await asyncio.wait(accepting, timeout=0.1)
        self._server.close()
        await self._server.wait_closed()

    @property
    def server(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def login(self) -> str:
        """User name and password that clients have to send; empty where users are identified without."""
        return f"{USERNAME}:{self.password}" if self.password else ""

    @property
    def address(self) -> str:
        """The server's URL, with the login if there is one."""
        return self.server.replace("//", f"//{self.login}@") if self.login else self.server

    def admits(self, request: Request) -> bool:
        """Return whether a request has the required login, and remove it so that no other server sees it."""
        if not self.login:
            return True
        direct = request.target.startswith("/")
        given = request.headers.pop("authorization" if direct else "proxy-authorization", "")
        expected = b"Basic " + base64.b64encode(self.login.encode())
        return secrets.compare_digest(given.encode(), expected)

    def own_path(self, url: str) -> str:
        """Return the path of a URL of the proxy itself; empty for others."""
        host, _, path = url.partition("://")[2].partition("/")
        own = host.lower() in ("", *(f"{name}:{self.port}" for name in ("localhost", "127.0.0.1", "[::1]")))
        return f"/{path.partition('?')[0]}" if own else ""


class ReplayProxy(LocalProxy):
    def __init__(self, recording: Recording, authority: Authority, port: int = 0) -> None:
        super().__init__(authority, port)
        self.recording = recording

    def connection(self) -> Connection:
        return _Replaying(self)

    def response(self, url: str, spots: list[Spot]) -> RecordedResponse | Damaged | None:
        try:
            return self.recording.response(url, spots)
        except Damaged as error:
            return error


class Connection(asyncio.Protocol):
    """Connection of one client; its requests are answered in order."""

    def __init__(self, proxy: LocalProxy) -> None:
        self.proxy = proxy
        self.transport: asyncio.Transport | None = None
        self.buffer = bytearray()
        self.to_skip = 0
        self.tunnel = ""  # origin from a CONNECT, such as https://host:port
        self.blocked = False
        self.is_other_user = True
        self.working: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.proxy.connections.add(self)
        self.is_other_user = not self.proxy.password and not is_own_user(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self.proxy.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        self._next()

    def pause_writing(self) -> None:
        self.blocked = True

    def resume_writing(self) -> None:
        self.blocked = False
        self._next()

    async def end(self) -> None:
        if self.working is not None:
            self.working.cancel()
            await asyncio.gather(self.working, return_exceptions=True)
        while self.transport is not None:
            self.transport.abort()
            await asyncio.sleep(0)

    def _next(self) -> None:
        """Respond to the requests in the buffer until one has to wait."""
        while self.working is None and not self.blocked and self.transport and not self.transport.is_closing():
            skipped = min(self.to_skip, len(self.buffer))
            del self.buffer[:skipped]
            self.to_skip -= skipped
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self.buffer) > 65_536:
                    self._refuse(431)
                return
            request = Request(bytes(self.buffer[:end]).lstrip(b"\r\n"))
            del self.buffer[: end + 4]
            if not request.sane:
                self._refuse(400)
            elif self.is_other_user:
                self.proxy.tally["strangers"] += 1
                self._refuse(403, b"This proxy serves only the user who started it: start one of your own.\n")
            elif not self.tunnel and not self.proxy.admits(request):
                self._require_password(request)
            elif request.method == "CONNECT":
                self._connect(request)
            else:
                self._respond(request)

    def _respond(self, request: Request) -> None:
        raise NotImplementedError

    def _connect(self, request: Request) -> None:
        """Start a tunnel to the requested host."""
        assert self.transport is not None
        host, _, port = request.target.lower().rpartition(":")
        if self.tunnel or not _HOST.fullmatch(host) or not port.isdigit():
            self._refuse(400)
            return
        self.transport.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        if port == "80":  # plain HTTP inside a tunnel
            self.tunnel = f"http://{host}"
            return
        self.tunnel = f"https://{host}" if port == "443" else f"https://{host}:{port}"
        self.transport.pause_reading()  # from here on only the TLS layer may read
        self.working = asyncio.ensure_future(self._start_tls(self.transport, host))

    async def _start_tls(self, plain: asyncio.Transport, host: str) -> None:
        try:
            context = self.proxy.authority.context(host)
            secure = await asyncio.get_running_loop().start_tls(plain, self, context, server_side=True)
        except BaseException as error:
            plain.abort()
            self.connection_lost(None)  # asyncio does not call it before TLS is established
            if not isinstance(error, OSError):
                raise
            # Most likely the client does not trust our certificate.
            self.proxy.tally["distrusted"] += 1
            return
        finally:
            self.working = None
        self.transport = secure
        self._next()

    def _send_page(self, request: Request, status: int, body: bytes, called: str, *more: tuple[bytes, bytes]) -> None:
        self._send(request, status, b"", [(b"Content-Type", b"text/html; charset=utf-8"), mark(called), *more], body)

    def _send(self, request: Request, status: int, reason: bytes, headers: Headers, body: bytes) -> None:
        if self.transport is None or self.transport.is_closing():
            return
        lines = [b"HTTP/1.1 %d %b" % (status, reason or _REASONS.get(status, b"Unknown"))]
        lines += [name + b": " + value for name, value in headers]
        if status not in _BODILESS:
            lines.append(b"Content-Length: %d" % len(body))
        if not request.keep or request.version == "HTTP/1.0":
            lines.append(b"Connection: keep-alive" if request.keep else b"Connection: close")
        head = b"\r\n".join(lines) + b"\r\n\r\n"
        self.transport.write(head if request.method == "HEAD" or status in _BODILESS else head + body)
        if not request.keep:
            self.transport.close()

    def _refuse(self, status: int, body: bytes = b"", more: bytes = b"") -> None:
        """Send an error with optional header lines that end with CRLF; then close the connection."""
        assert self.transport is not None
        self.proxy.tally["refused"] += 1
        head = b"HTTP/1.1 %d %b\r\n%bContent-Length: %d\r\nConnection: close\r\n\r\n"
        self.transport.write(head % (status, _REASONS[status], more, len(body)) + body)
        self.transport.close()

    def _require_password(self, request: Request) -> None:
        if request.target.startswith("/"):
            self._refuse(401, more=b'WWW-Authenticate: Basic realm="Lycosa"\r\n')
        else:
            self._refuse(407, more=b'Proxy-Authenticate: Basic realm="Lycosa"\r\n')


class _Replaying(Connection):
    proxy: ReplayProxy

    def _respond(self, request: Request) -> None:
        if not 0 <= request.body <= MAX_BODY_BYTES:
            request.keep = False
        elif request.keep:
            self.to_skip = request.body
        if request.method not in ("GET", "HEAD"):
            self.proxy.tally["refused"] += 1
            self._send_page(request, 405, proxy_pages.only_get(request.method), "only-get", (b"Allow", b"GET, HEAD"))
            return
        url = request.url(self.tunnel)
        own = self.proxy.own_path(url)
        spots = [] if own and request.target.startswith("/") else self.proxy.recording.locate(url, request.at)
        if own and not spots:
            self._send_own_page(request, own)
        elif spots and spots[0].cost > AT_ONCE:
            self.working = asyncio.ensure_future(self._read_in_thread(request, url, spots))
        else:
            self._deliver(request, url, self.proxy.response(url, spots))

    async def _read_in_thread(self, request: Request, url: str, spots: list[Spot]) -> None:
        try:
            response = await asyncio.to_thread(self.proxy.response, url, spots)
        finally:
            self.working = None
        self._deliver(request, url, response)
        self._next()

    def _deliver(self, request: Request, url: str, found: RecordedResponse | Damaged | None) -> None:
        tally = self.proxy.tally
        if isinstance(found, RecordedResponse):
            tally["recorded"] += 1
            headers = [*found.headers, (b"Memento-Datetime", http_date(found.date))]
            if request.has(found):
                self._send(request, 304, b"", [pair for pair in headers if pair[0].lower() in _IN_A_304], b"")
            else:
                self._send(request, found.status, found.reason, headers, found.body)
        elif found is not None:
            tally["damaged"] += 1
            self._send_page(request, 502, proxy_pages.damaged(url, str(found)), "damaged")
        else:
            tally["missing"] += 1
            if url.partition("://")[2].partition("/")[2] == "robots.txt":
                kind = (b"Content-Type", b"text/plain")
                self._send(request, 404, b"", [kind, mark("not-recorded")], b"not recorded\n")
            else:
                self._send_page(request, 404, proxy_pages.not_recorded(url), "not-recorded")

    def _send_own_page(self, request: Request, path: str) -> None:
        proxy, authority = self.proxy, self.proxy.authority
        if path == "/":
            self._send_page(request, 200, proxy_pages.start(proxy), "start")
        elif path == "/ca.pem":
            self._send(request, 200, b"", [(b"Content-Type", b"application/x-x509-ca-cert")], authority.public)
        else:
            self._send_page(request, 404, proxy_pages.not_recorded(path), "not-recorded")


def new_password() -> str:
    return secrets.token_urlsafe(16)


def mark(name: str) -> tuple[bytes, bytes]:
    """Return the header that marks the proxy's own responses."""
    return b"X-Lycosa", name.encode()


class Request:
    """The head of a request, parsed leniently."""

    def __init__(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, _, rest = first.partition(" ")
        target, _, self.version = rest.rpartition(" ")
        # A target should be ASCII; other bytes are most likely UTF-8.
        self.target = target.encode("latin-1").decode("utf-8", "replace")
        fields = (line.partition(":") for line in lines)
        self.headers = {name.strip().lower(): value.strip() for name, _, value in fields}
        options = f"{self.headers.get('connection', '')},{self.headers.get('proxy-connection', '')}".lower()
        self.keep = "close" not in options and (self.version != "HTTP/1.0" or "keep-alive" in options)

    @property
    def sane(self) -> bool:
        return self.version.startswith("HTTP/1.") and bool(self.target)

    @property
    def body(self) -> int:
        """Length of the body; -1 if unknown."""
        if "transfer-encoding" in self.headers:
            return -1
        length = self.headers.get("content-length", "0")
        # lengths of 20 digits are too large as well
        return int(length[:20]) if length.isascii() and length.isdigit() else -1

    @property
    def at(self) -> int | None:
        """Requested time by Accept-Datetime (RFC 7089), in microseconds since 1970; None if there is none."""
        return seconds(self.headers.get("accept-datetime", ""), 1_000_000)

    def url(self, tunnel: str) -> str:
        """Return the requested URL; `tunnel` is the origin of an earlier CONNECT."""
        if not self.target.startswith("/"):
            return self.target
        scheme, _, named = tunnel.partition("://")
        return f"{scheme or 'http'}://{self.headers.get('host') or named}{self.target}"

    def has(self, response: RecordedResponse) -> bool:
        """Return whether the client already has this response."""
        if response.status != 200:
            return False
        if "if-none-match" in self.headers:
            tag = response.header(b"etag").removeprefix("W/")
            tags = [tag.strip().removeprefix("W/") for tag in self.headers["if-none-match"].split(",")]
            return bool(tag) and (tag in tags or tags == ["*"])
        since = seconds(self.headers.get("if-modified-since", ""))
        changed = seconds(response.header(b"last-modified"))
        return since is not None and changed is not None and changed <= since


def seconds(date: str, unit: int = 1) -> int | None:
    """Parse a date header to a number since 1970, in fractions of a second; None if it is invalid.

    >>> seconds("Thu, 01 Jan 1970 00:01:00 GMT"), seconds("yesterday")
    (60, None)
    """
    try:
        return int(parsedate_to_datetime(date).timestamp() * unit)
    except (ValueError, TypeError, OverflowError):
        return None


def http_date(date: int) -> bytes:
    """Format microseconds since 1970 as a date header.

    >>> http_date(60_000_000)
    b'Thu, 01 Jan 1970 00:01:00 GMT'
    """
    return format_datetime(datetime.fromtimestamp(date // 1_000_000, UTC), usegmt=True).encode()
