"""One HTTP request: guarded, bounded in bytes and in time, archived as received.

Redirects are not followed here, nothing is inflated here, no cookies are kept. Whatever goes wrong is a FetchError
whose outcome is recorded.

Paper items:
    batsakis-timeouts: `--timeout`, `--min-rate`. Test: web/test_fetch.py::test_a_body_too_slow. Departs: the thesis
        gives no numbers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Protocol

import aiohttp
from yarl import URL

from lycosa.core.budget import Meter
from lycosa.core.errors import FetchError
from lycosa.core.protocols import Clock
from lycosa.web.dns import Names, Resolver
from lycosa.web.guard import AddressRefused, Guard, is_refusal
from lycosa.web.lenient import LONGEST_LINE, MOST_HEADERS, LenientHandler, LenientResponse
from lycosa.web.politeness import Politeness
from lycosa.web.proxy import Proxy
from lycosa.web.urls import host, lane


@dataclass(slots=True)
class Response:
    """An answer as received: headers in order, body still encoded."""

    status: int
    status_line: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes
    address: str = ""
    truncated: str = ""
    """Why the body is not whole: `length` (our cap), `disconnect`, or empty."""
    fields: dict[str, str] = field(default_factory=dict)
    """The headers by lower-case name, the last of each."""


@dataclass(slots=True, frozen=True)
class Limits:
    """What one request may take."""

    body: int = 10_000_000
    seconds: float = 60.0
    connect_seconds: float = 15.0
    rate: float = 500.0
    """Bytes a second that a body must keep up after the first ten seconds."""


class Transport(Protocol):
    """Sends one request. The real one speaks HTTP; a simulated one makes tests exact."""

    async def address(self, url: str) -> str: ...

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str]) -> Response: ...

    async def close(self) -> None: ...


class HttpTransport:
    """Requests over aiohttp. Every connection passes the guard, at resolution and again when it is dialled.

    With a proxy, all of them go there and no name is looked up here; `lost` hears of it when the proxy is gone.
    """

    def __init__(
        self,
        clock: Clock,
        guard: Guard,
        names: Names,
        politeness: Politeness,
        limits: Limits | None = None,
        proxy: Proxy | None = None,
        lost: Callable[[str], None] = lambda why: None,
    ) -> None:
        self.clock = clock
        self.guard = guard
        self.names = names
        self.politeness = politeness
        self.limits = limits or Limits()
        self.proxy = proxy
        self.lost = lost
        self.meter = Meter()
        """Counts what is received, of all answers."""
        self._session: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        """Guarded connections, also for requests that `fetch` does not send."""
        return self._session or self._open()

    async def address(self, url: str) -> str:
        """The address that will be dialled for a URL; FetchError if it has none that the guard allows.

        Empty if that is the proxy's business.
        """
        if self.proxy is not None:
            self._check_spelled_out(url)
            return ""
        addresses = await self.names.resolve(host(url))
        allowed = next(filter(self.guard.allows, addresses), "")
        if not allowed:
            self._check(addresses[0], dialled=addresses[0])
        return allowed

    def _check_spelled_out(self, url: str) -> None:
        """Refuse an address that stands in the URL itself, or a localhost name: all that can be seen before a proxy."""
        for address in self.names.known(host(url)):
            self._check(address)

    def _check(self, address: str, dialled: str = "") -> None:
        try:
            self.guard.check(address)
        except AddressRefused as error:
            raise FetchError("refused", error.strerror or str(error), address=dialled) from error

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str] = frozenset()) -> Response:
        """GET a URL; the body of an answer whose type isn't wanted (when any are named) is not read."""
        limits, address = self.limits, ""
        if self.proxy is not None:
            self._check_spelled_out(url)
        else:
            address = next(filter(self.guard.allows, self.names.known(host(url))), "")
        try:
            async with asyncio.timeout(limits.seconds):
                return await self._exchange(url, headers, wanted, address)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self.failure(error, address) from error

    def failure(self, error: Exception, address: str) -> FetchError:
        """What an error means; the first that fits counts."""
        match error:
            case aiohttp.ServerTimeoutError():
                why = f"silent for {self.limits.connect_seconds:.0f} s"
                return FetchError("timeout", why, again=True, address=address)
            case TimeoutError():
                why = f"no complete answer within {self.limits.seconds:.0f} s"
                return FetchError("timeout", why, again=True, address=address)
            case aiohttp.ClientSSLError():  # a bad certificate will not be better in a minute
                hint = "; --proxy-ca names a certificate of the proxy's own" if self.proxy is not None else ""
                return FetchError("unreachable", _brief(error) + hint, address=address)
            case aiohttp.ClientProxyConnectionError() if self.proxy is not None:
                return self._proxy_failed(self.proxy.silent(error.os_error))
            case aiohttp.ClientHttpProxyError():
                return self._proxy_failed(f"the proxy said {error.status} {error.message}", error.status)
            case aiohttp.ClientConnectorError() if is_refusal(error):
                return FetchError("refused", error.os_error.strerror or str(error))
            case aiohttp.ClientConnectionError() | aiohttp.ClientPayloadError() | OSError():
                return FetchError("unreachable", _brief(error), again=True, address=address)
        return FetchError("invalid", _brief(error), address=address)

    def _proxy_failed(self, why: str, status: int = 0) -> FetchError:
        """The proxy itself could not, or would not; where it is silent or wants a password, nothing else will work."""
        hopeless = status in (0, 407)
        if hopeless:
            self.lost(why)
        return FetchError("unreachable", why, again=hopeless or status >= 500)

    async def _exchange(self, url: str, headers: dict[str, str], wanted: frozenset[str], address: str) -> Response:
        get = self.session.get(URL(url, encoded=True), headers=headers, allow_redirects=False, trace_request_ctx=url)
        async with get as answer:
            fields = _fields(answer.headers)
            kind = fields.get("content-type", "").partition(";")[0].strip().lower()
            version = answer.version
            line = f"HTTP/{version.major}.{version.minor} {answer.status} {answer.reason or ''}" if version else ""
            if self.proxy is not None and answer.status == 407:
                raise self._proxy_failed(f"the proxy said 407 {answer.reason}", 407)
            if self.proxy is None:  # what it dials, only a proxy knows
                address = _peer(answer) or address
            assert isinstance(answer, LenientResponse)
            mended = answer.remarks.mended
            response = Response(
                status=answer.status,
                status_line=mended.status_line if mended else line.rstrip().encode("latin-1", "replace"),
                headers=list(mended.fields if mended else answer.raw_headers),
                body=b"",
                address=address,
                fields=fields,
            )
            if wanted and kind and kind not in wanted and 200 <= answer.status < 300:
                response.truncated = "unwanted"
                answer.close()  # reading on would only be waste
                return response
            await self._read(answer, response)
            if answer.remarks.broken:
                if not response.body:
                    raise FetchError("invalid", answer.remarks.broken, address=address)
                response.truncated = response.truncated or "disconnect"
            return response

    async def _read(self, answer: aiohttp.ClientResponse, response: Response) -> None:
        """Read the body under the cap and above the minimum rate; what came before a break is kept."""
        limits, content = self.limits, answer.content
        chunks: list[bytes] = []
        size = 0
        begun = self.clock()
        try:
            while chunk := await self._chunk(content):
                chunks.append(chunk)
                size += len(chunk)
                if size > limits.body:
                    chunks[-1] = chunk[: len(chunk) - (size - limits.body)]
                    response.truncated = "length"
                    answer.close()
                    break
                seconds = self.clock() - begun
                if seconds > 10.0 and size < limits.rate * seconds:
                    answer.close()
                    raise FetchError("slow", f"{size / seconds:.0f} bytes a second", address=response.address)
        except (aiohttp.ClientPayloadError, aiohttp.ClientConnectionError, TimeoutError) as error:
            if not chunks and isinstance(error, TimeoutError):
                why = f"silent for {limits.connect_seconds:.0f} s"
                raise FetchError("timeout", why, again=True, address=response.address) from error
            if not chunks:
                raise
            response.truncated = "time" if isinstance(error, TimeoutError) else "disconnect"
        response.body = chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def _chunk(self, content: aiohttp.StreamReader) -> bytes:
        """What has come of the body; a silence that is too long is a timeout."""
        async with asyncio.timeout(self.limits.connect_seconds):
            return await content.readany()

    def _open(self) -> aiohttp.ClientSession:
        limits, proxy = self.limits, self.proxy
        traces: list[aiohttp.TraceConfig] = []
        if self.politeness.at_once > 1 and self.politeness.delay:
            # The pause between requests is counted from when one is really sent, not from when it was picked.
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
        # There is no public way to have another protocol than aiohttp's.
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
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=limits.connect_seconds, sock_read=limits.connect_seconds
            ),
            max_line_size=LONGEST_LINE,
            max_field_size=LONGEST_LINE,
            max_headers=MOST_HEADERS,
        )
        # aiohttp sends a GET again at once when a kept connection turns out to be closed: a second request that the
        # host's pause knows nothing of. We retry by ourselves, after a pause and on record.
        self._session._retry_connection = False
        return self._session

    async def _sent(self, session: object, context: SimpleNamespace, sent: object) -> None:
        self.politeness.sent(lane(context.trace_request_ctx))

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self.names.close()


def _fields(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers by name; of one that is commonly sent in several lines, all count."""
    fields: dict[str, str] = {}
    for name, value in headers.items():
        key = name.lower()
        fields[key] = f"{fields[key]}\n{value}" if key == "x-robots-tag" and key in fields else value
    return fields


def _peer(answer: aiohttp.ClientResponse) -> str:
    """The address at the other end, while the connection is open."""
    connection = answer.connection
    peer = connection and connection.transport and connection.transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]
