"""HTTP client for single requests: checked by the guard, limited in bytes and time; responses are kept as received.

Redirects are not followed, bodies are not decompressed and cookies are not kept. Every failure is a FetchError whose
outcome is logged.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import aiohttp
from aiohttp.client_proto import ResponseHandler
from yarl import URL

from lycosa.core.budget import Meter
from lycosa.core.errors import FetchError, InputError
from lycosa.core.protocols import Clock
from lycosa.web.guard import AddressRefused, DnsCache, Guard, Resolver, is_refusal
from lycosa.web.politeness import Politeness
from lycosa.web.urls import host, host_key

if TYPE_CHECKING:
    from aiohttp.connector import Connection


@dataclass(slots=True)
class Response:
    """An HTTP response as received: headers in order, body still encoded."""

    status: int
    status_line: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes
    address: str = ""
    truncated: str = ""  # why the body is incomplete: "length" (our limit), "disconnect", "time", "unwanted"
    fields: dict[str, str] = field(default_factory=dict)  # by lower-case name, the last value of each


@dataclass(slots=True, frozen=True)
class FetchLimits:
    body: int = 10_000_000
    seconds: float = 60.0
    connect_seconds: float = 15.0
    rate: float = 500.0  # minimum bytes per second after the first ten seconds


class Transport(Protocol):
    """Interface for sending one request; tests use a simulated implementation."""

    async def address(self, url: str) -> str: ...

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str]) -> Response: ...

    async def close(self) -> None: ...


class HttpTransport:
    """HTTP client based on aiohttp. The guard checks IP addresses after name resolution and again before connecting.

    With a proxy, all connections go there and no name is resolved here; `on_proxy_failure` is called if it fails.
    """

    def __init__(
        self,
        clock: Clock,
        guard: Guard,
        names: DnsCache,
        politeness: Politeness,
        limits: FetchLimits | None = None,
        proxy: ProxySettings | None = None,
        on_proxy_failure: Callable[[str], None] = lambda why: None,
    ) -> None:
        self.clock = clock
        self.guard = guard
        self.names = names
        self.politeness = politeness
        self.limits = limits or FetchLimits()
        self.proxy = proxy
        self.on_proxy_failure = on_proxy_failure
        self.meter = Meter()
        self._session: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        return self._session or self._open()

    async def address(self, url: str) -> str:
        """Return the IP address to connect to, "" with a proxy; raise FetchError if the guard allows none."""
        if self.proxy is not None:
            self._check_literal(url)
            return ""
        addresses = await self.names.resolve(host(url))
        allowed = next(filter(self.guard.allows, addresses), "")
        if not allowed:
            self._check(addresses[0], dialled=addresses[0])
        return allowed

    def _check_literal(self, url: str) -> None:
        """Refuse literal addresses and localhost names; no other names can be checked before a proxy."""
        for address in self.names.cached(host(url)):
            self._check(address)

    def _check(self, address: str, dialled: str = "") -> None:
        try:
            self.guard.check(address)
        except AddressRefused as error:
            raise FetchError("refused", error.strerror or str(error), address=dialled) from error

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str] = frozenset()) -> Response:
        """GET a URL. If `wanted` is not empty, bodies of other content types are not read."""
        limits, address = self.limits, ""
        if self.proxy is not None:
            self._check_literal(url)
        else:
            address = next(filter(self.guard.allows, self.names.cached(host(url))), "")
        try:
            async with asyncio.timeout(limits.seconds):
                return await self._exchange(url, headers, wanted, address)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self.failure(error, address) from error

    def failure(self, error: Exception, address: str) -> FetchError:
        """Return the FetchError for an exception of aiohttp; the order of the cases matters."""
        match error:
            case aiohttp.ServerTimeoutError():
                why = f"no data for {self.limits.connect_seconds:.0f} s"
                return FetchError("timeout", why, again=True, address=address)
            case TimeoutError():
                why = f"no complete response within {self.limits.seconds:.0f} s"
                return FetchError("timeout", why, again=True, address=address)
            case aiohttp.ClientSSLError():  # not retried: a bad certificate stays bad
                hint = "; --proxy-ca names a certificate of the proxy's own" if self.proxy is not None else ""
                return FetchError("unreachable", _brief(error) + hint, address=address)
            case aiohttp.ClientProxyConnectionError() if self.proxy is not None:
                return self._proxy_failed(self.proxy.no_response(error.os_error))
            case aiohttp.ClientHttpProxyError():
                return self._proxy_failed(f"the proxy returned {error.status} {error.message}", error.status)
            case aiohttp.ClientConnectorError() if is_refusal(error):
                return FetchError("refused", error.os_error.strerror or str(error))
            case aiohttp.ClientConnectionError() | aiohttp.ClientPayloadError() | OSError():
                return FetchError("unreachable", _brief(error), again=True, address=address)
        return FetchError("invalid", _brief(error), address=address)

    def _proxy_failed(self, why: str, status: int = 0) -> FetchError:
        """Return the error of a failed proxy; without a connection, or after status 407, it cannot be used at all."""
        is_unusable = status in (0, 407)
        if is_unusable:
            self.on_proxy_failure(why)
        return FetchError("unreachable", why, again=is_unusable or status >= 500)

    async def _exchange(self, url: str, headers: dict[str, str], wanted: frozenset[str], address: str) -> Response:
        get = self.session.get(URL(url, encoded=True), headers=headers, allow_redirects=False, trace_request_ctx=url)
        async with get as incoming:
            fields = _fields(incoming.headers)
            kind = fields.get("content-type", "").partition(";")[0].strip().lower()
            version = incoming.version
            line = f"HTTP/{version.major}.{version.minor} {incoming.status} {incoming.reason or ''}" if version else ""
            if self.proxy is not None and incoming.status == 407:
                raise self._proxy_failed(f"the proxy returned 407 {incoming.reason}", 407)
            if self.proxy is None:  # only the proxy knows the IP address
                address = _peer(incoming) or address
            assert isinstance(incoming, LenientResponse)
            repaired = incoming.remarks.repaired
            status_line = repaired.status_line if repaired else line.rstrip().encode("latin-1", "replace")
            received = list(repaired.fields if repaired else incoming.raw_headers)
            response = Response(incoming.status, status_line, received, b"", address, fields=fields)
            if wanted and kind and kind not in wanted and 200 <= incoming.status < 300:
                response.truncated = "unwanted"
                incoming.close()  # closing is cheaper than reading the body
                return response
            await self._read(incoming, response)
            if incoming.remarks.error:
                if not response.body:
                    raise FetchError("invalid", incoming.remarks.error, address=address)
                response.truncated = response.truncated or "disconnect"
            return response

    async def _read(self, incoming: aiohttp.ClientResponse, response: Response) -> None:
        """Read the body within the limits of size and rate; a broken connection keeps the part received."""
        limits, content = self.limits, incoming.content
        chunks: list[bytes] = []
        size = 0
        started = self.clock()
        try:
            while chunk := await self._chunk(content):
                chunks.append(chunk)
                size += len(chunk)
                if size > limits.body:
                    chunks[-1] = chunk[: len(chunk) - (size - limits.body)]
                    response.truncated = "length"
                    incoming.close()
                    break
                seconds = self.clock() - started
                if seconds > 10.0 and size < limits.rate * seconds:
                    incoming.close()
                    raise FetchError("slow", f"only {size / seconds:.0f} bytes per second", address=response.address)
        except (aiohttp.ClientPayloadError, aiohttp.ClientConnectionError, TimeoutError) as error:
            if not chunks and isinstance(error, TimeoutError):
                why = f"no data for {limits.connect_seconds:.0f} s"
                raise FetchError("timeout", why, again=True, address=response.address) from error
            if not chunks:
                raise
            response.truncated = "time" if isinstance(error, TimeoutError) else "disconnect"
        response.body = chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def _chunk(self, content: aiohttp.StreamReader) -> bytes:
        async with asyncio.timeout(self.limits.connect_seconds):
            return await content.readany()

    def _open(self) -> aiohttp.ClientSession:
        seconds, proxy = self.limits.connect_seconds, self.proxy
        traces: list[aiohttp.TraceConfig] = []
        if self.politeness.at_once > 1 and self.politeness.delay:
            # The delay between requests counts from the moment a request is sent, not from when it was picked.
            trace = aiohttp.TraceConfig()
            trace.on_request_headers_sent.append(self._sent)
            traces.append(trace)
        connector = aiohttp.TCPConnector(
            resolver=Resolver(self.names),
            use_dns_cache=False,
            limit=0,
            keepalive_timeout=15.0,
            socket_factory=self.guard.socket_factory if proxy is None else None,
            ssl=True if proxy is None else proxy.tls,
        )
        # aiohttp has no public way to set the protocol class.
        connector._factory = partial(LenientHandler, asyncio.get_running_loop(), self.meter)  # type: ignore[assignment]
        self._session = aiohttp.ClientSession(
            trace_configs=traces,
            connector=connector,
            response_class=LenientResponse,
            proxy=None if proxy is None else proxy.url,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding"),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds),
            max_line_size=MAX_LINE_BYTES,
            max_field_size=MAX_LINE_BYTES,
            max_headers=1_000,
        )
        # aiohttp resends a GET at once when a kept-alive connection turns out to be closed, which would bypass the
        # host's delay. We retry ourselves, after a delay and logged.
        self._session._retry_connection = False
        return self._session

    async def _sent(self, session: object, context: SimpleNamespace, sent: object) -> None:
        self.politeness.sent(host_key(context.trace_request_ctx))

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self.names.close()


def _fields(headers: Mapping[str, str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for name, value in headers.items():
        key = name.lower()
        fields[key] = f"{fields[key]}\n{value}" if key == "x-robots-tag" and key in fields else value
    return fields


def _peer(incoming: aiohttp.ClientResponse) -> str:
    connection = incoming.connection
    peer = connection and connection.transport and connection.transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]


# The user named the proxy, so the guard does not check its address. It still refuses literal addresses and localhost
# names in URLs, but cannot see what the proxy resolves other names to.

PROXY_LOGIN_VARIABLE = "LYCOSA_PROXY_AUTH"  # environment variable with the proxy's name:password


class ProxySettings:
    """URL, login and trusted certificates of the proxy."""

    def __init__(self, address: str, authority: str = "", login: str = "") -> None:
        if not address:
            raise InputError("missing-option", "--proxy-ca needs --proxy URL")
        if "@" in address:  # a password would end up in crawl.toml and in shared reports
            hint = f"set {PROXY_LOGIN_VARIABLE}=name:password in the environment"
            raise InputError("password-in-url", f"--proxy must not contain a name or password: {hint}")
        try:
            self.url = URL(address if re.match(r"[\w.+-]+://", address) else f"http://{address}")
            host, port = self.url.host, self.url.port
        except ValueError as error:
            raise InputError("bad-url", f"--proxy {address}: {error}; write it like http://127.0.0.1:8080") from error
        if self.url.scheme not in ("http", "https"):
            raise InputError("bad-url", f"--proxy {address}: not an HTTP proxy; write it like http://127.0.0.1:8080")
        if not host or not port or self.url.path != "/" or self.url.query_string or self.url.fragment:
            raise InputError("bad-url", f"--proxy {address}: not a proxy URL; write it like http://127.0.0.1:8080")
        if login:
            name, _, password = login.partition(":")
            self.url = self.url.with_user(name).with_password(password)
        self.host, self.port = host, port
        self.tls = ssl.create_default_context()
        try:
            if authority:
                self.tls.load_verify_locations(authority)
        except ssl.SSLError as error:
            raise InputError("bad-file", f"--proxy-ca {authority}: not a PEM certificate ({error.reason})") from error
        except OSError as error:
            raise InputError("unreadable-file", f"--proxy-ca {authority}: can't be read: {error.strerror}") from error

    def __str__(self) -> str:
        return f"{self.url.scheme}://{self.host}:{self.port}"

    def check(self) -> None:
        try:
            socket.create_connection((self.host, self.port), 5.0).close()
        except OSError as error:
            raise InputError("no-proxy", f"{self.no_response(error)}; start it, or leave out --proxy") from error

    def no_response(self, error: OSError) -> str:
        # HTTP clients put their own text into strerror; the text of failed lookups is usable.
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
        return f"the proxy {self} does not respond ({why})"


# Responses that violate HTTP are read as browsers read them; docs/http.md lists the tolerated violations.
#
# aiohttp's parser rejects every possible request-smuggling attack behind a proxy. This client forwards nothing; the
# only risk is that bytes of one response are taken for the next one, so a connection is closed after any repair.
#
# The head is checked and repaired before the parser sees it. The body is passed in a separate call, so that garbage
# after its end breaks the connection but not the response.

MAX_HEAD_BYTES = 262_144  # bytes of status line and headers, as in Chromium
MAX_LINE_BYTES = 65_536
_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REGULAR = re.compile(rb"HTTP/1\.[01] [0-9]{3}(?: [^\r\n\0]*)?\r\n(?:" + _TOKEN + rb":[^\r\n\0]*\r\n)*\r\n")
_NAME = re.compile(_TOKEN)
_REDIRECT = re.compile(rb"HTTP/1\.[01] 30[12378](?s:.*)\n(?i:location):")
_INTERIM = re.compile(rb"HTTP/1\.[01] 1(?!01)")
_HEAD_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"(?i:http)(?:/([0-9])\.([0-9]))?[^ \t]*[ \t]+([0-9]{3})(?![0-9])[ \t]*(.*)")


@dataclass(slots=True, frozen=True)
class RepairedHead:
    """A repaired head: the bytes to parse, and the status line and fields as received."""

    head: bytes
    status_line: bytes
    fields: list[tuple[bytes, bytes]]


def _is_plain(data: bytes) -> bool:
    """Return True for a regular head followed by no more body bytes than its Content-Length: no repair needed."""
    head = _REGULAR.match(data)
    if head is None or data.startswith(b"1", 9):
        return False
    low = data[: head.end()].lower()
    length = _length(low)
    return length >= len(data) - head.end() and b"\ntransfer-encoding" not in low and data[9:12] not in (b"204", b"304")


def _length(low: bytes) -> int:
    """Return the Content-Length of a lower-case head; -1 if it is missing, repeated or not a number."""
    at = low.find(b"\ncontent-length:")
    size = low[at + 16 : low.find(b"\r", at)].strip(b" \t") if at >= 0 else b""
    return int(size) if size.isdigit() and len(size) < 19 and low.find(b"\ncontent-length", at + 1) < 0 else -1


@dataclass(slots=True)
class Remarks:
    repaired: RepairedHead | None = None
    error: str = ""  # why the body could not be read to its end


def repair_head(head: bytes) -> RepairedHead | None:
    """Repair the head of a response, up to its empty line; None if it needs no repair or cannot be repaired."""
    low = head.lower()
    framed = b"\ntransfer-encoding" not in low and _length(low) >= 0
    if (framed or b"\ncontent-length" not in low) and _REGULAR.fullmatch(head):
        return None
    first, *lines = head[max(0, low.find(b"http", 0, 8)) :].split(b"\n")
    status = _STATUS.match(first.rstrip(b"\r"))
    if status is None:
        return None
    version = b"1.1" if status[1] and (status[1], status[2]) >= (b"1", b"1") else b"1.0"
    received = _raw_fields(lines)
    fields = _framed(received)
    if fields is None:
        return None
    header_lines = b"".join(b"%b: %b\r\n" % field for field in fields)
    line = b"HTTP/%b %b %b\r\n" % (version, status[3], status[4].replace(b"\0", b"").replace(b"\r", b" "))
    return RepairedHead(line + header_lines + b"\r\n", first.rstrip(b"\r"), received)


def _raw_fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
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
    """Remove contradictory framing: chunked wins over Content-Length. None if lengths contradict each other."""
    named = [(name.lower(), value) for name, value in fields]
    sizes = {size.strip(b" \t") for name, value in named if name == b"content-length" for size in value.split(b",")}
    coding = b",".join(value.lower() for name, value in named if name == b"transfer-encoding")
    chunked = b"chunked" in [part.strip(b" \t") for part in coding.split(b",")]
    if len(sizes) > 1 and not chunked:
        return None
    framed = [field for field in fields if field[0].lower() != b"content-length"]
    size = sizes.pop() if sizes else b""
    if chunked or not re.fullmatch(rb"[0-9]{1,18}", size):  # no valid length: the body ends with the connection
        return framed
    framed = [field for field in framed if field[0].lower() != b"transfer-encoding"]
    return [*framed, (b"Content-Length", size)]


class LenientHandler(ResponseHandler):
    """aiohttp's connection protocol, with repaired response heads and a byte meter."""

    def __init__(self, loop: asyncio.AbstractEventLoop, meter: Meter) -> None:
        super().__init__(loop=loop)
        self.remarks = Remarks()
        self._meter = meter
        self._head: bytearray | None = None  # bytes of an incomplete head; None once it is complete

    def set_response_params(self, **params: Any) -> None:
        self._head, self.remarks = bytearray(), Remarks()
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        if self._parser is None or not data:  # the connection is being upgraded or is idle
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
                self.remarks.error = str(self.exception())
                self._payload.feed_eof()  # otherwise the reader of the body would wait forever

    def _complete(self, head: bytearray, data: bytes) -> bytes:
        """Append to an incomplete head and parse it once complete; return the bytes after it."""
        seen = len(head)
        head += data if seen else data.lstrip(b"\r\n")
        end = _HEAD_END.search(head, max(0, seen - 2))
        if end is None and len(head) <= MAX_HEAD_BYTES and (len(head) < 8 or b"http" in head[:8].lower()):
            self.start_timeout()
            return b""
        self._head = None
        if end is None:  # the parser reports the error
            return bytes(head)
        self._parse_head(bytes(head[: end.end()]))
        if _INTERIM.match(head):  # an interim response (1xx): the final one follows
            self._head = bytearray()
        return bytes(head[end.end() :])

    def connection_lost(self, exc: BaseException | None) -> None:
        """Accept a redirect that lacks the empty line after its head, if its last line is complete."""
        head = self._head
        if head and exc is None and _REDIRECT.match(head) and head.endswith(b"\n"):
            self._head = None
            self._parse_head(bytes(head) + b"\r\n")
        super().connection_lost(exc)

    def _parse_head(self, head: bytes) -> None:
        repaired = self.remarks.repaired = repair_head(head)
        if repaired is not None:
            self.force_close()
        super().data_received(head if repaired is None else repaired.head)


class LenientResponse(aiohttp.ClientResponse):
    remarks: Remarks

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Read the head; the remarks stay with this response when the connection is reused."""
        assert isinstance(connection.protocol, LenientHandler)
        self.remarks = connection.protocol.remarks
        return await super().start(connection)
