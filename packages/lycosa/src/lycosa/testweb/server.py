"""HTTP/1.1 server of an embedded web on loopback, with a log of all requests."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from email.utils import formatdate
from http import HTTPStatus
from itertools import count, pairwise
from types import TracebackType

from lycosa.testweb.embedded_web import Web
from lycosa.testweb.reply import ServedResponse

_REASONS = {status.value: status.phrase for status in HTTPStatus}


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """A request; `started` when its head was read, `ended` when the last byte was written, in loop time."""

    host: str
    path: str
    status: int
    started: float
    ended: float
    method: str
    user_agent: str
    connection: int


def gaps(log: Iterable[ServedRequest]) -> dict[str, float]:
    """Return the smallest time between starts of successive requests by host, in seconds; infinite for a single one."""
    starts: dict[str, list[float]] = defaultdict(list)
    for hit in log:
        starts[hit.host].append(hit.started)
    return {
        host: min((later - earlier for earlier, later in pairwise(sorted(times))), default=float("inf"))
        for host, times in starts.items()
    }


def max_in_flight(log: Iterable[ServedRequest]) -> dict[str, int]:
    """Return the largest number of concurrent requests by host."""
    events: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for hit in log:
        events[hit.host] += [(hit.started, 1), (hit.ended, -1)]
    result = {}
    for host, changes in events.items():
        now = peak = 0
        for _, change in sorted(changes):  # at equal times ends sort before starts
            now += change
            peak = max(peak, now)
        result[host] = peak
    return result


class _Connection(asyncio.Protocol):
    """A client connection; requests are answered in order."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.number = next(server.numbers)
        self.buffer = b""
        self.busy: asyncio.TimerHandle | None = None
        self.pending: ServedRequest | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.connections.discard(self)
        self.transport = None
        if self.busy is not None:
            self.busy.cancel()
        if self.pending is not None:
            self._record(self.pending.status)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        self._next()

    def _next(self) -> None:
        if self.pending is not None or self.transport is None:
            return
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self.buffer) > 65536:
                self.transport.close()
            return
        started = asyncio.get_running_loop().time()
        head, self.buffer = self.buffer[:end].decode("latin-1"), self.buffer[end + 4 :]
        first, *lines = head.split("\r\n")
        parts = first.split(" ")
        fields = (line.partition(":") for line in lines)
        headers = {key.strip().lower(): value.strip() for key, _, value in fields}
        if len(parts) != 3 or not parts[1].startswith("/"):
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            self.transport.close()
            return
        method, path, protocol = parts
        host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
        agent = headers.get("user-agent", "")
        response = self.server.respond(host.lower(), path, method, headers)
        self.pending = ServedRequest(host.lower(), path, response.status, started, started, method, agent, self.number)
        keep = headers.get("connection", "").lower() != "close" and protocol != "HTTP/1.0"
        wait = response.delay + self.server.latency
        if wait > 0:
            loop = asyncio.get_running_loop()
            self.busy = loop.call_later(wait, self._send, response, method == "HEAD", keep)
        else:
            self._send(response, method == "HEAD", keep)

    def _send(self, response: ServedResponse, head_only: bool, keep: bool) -> None:
        self.busy = None
        transport = self.transport
        if transport is None:
            return
        if response.cut is not None and response.cut < 0:
            self._record(0)
            transport.abort()
            return
        lines = [f"HTTP/1.1 {response.status} {_REASONS.get(response.status, 'Unknown')}"]
        lines += [f"{key}: {value}" for key, value in response.headers]
        lines.append(f"Date: {formatdate(usegmt=True)}")
        body = response.body
        bodiless = head_only or response.status == 304
        if not bodiless and response.chunked and response.cut is None:
            lines.append("Transfer-Encoding: chunked")
            size = 4096
            pieces = [body[i : i + size] for i in range(0, len(body), size)]
            body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        elif response.status != 304:
            lines.append(f"Content-Length: {len(body)}")
        if not keep:
            lines.append("Connection: close")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        cut = response.cut if not bodiless else None
        self._record(response.status)  # before sending: clients may read the log as soon as they have the response
        transport.write(head if bodiless else head + body[:cut])
        if cut is not None or not keep:
            transport.close()
        elif self.buffer:
            self._next()

    def _record(self, status: int) -> None:
        hit, self.pending = self.pending, None
        if hit is not None and self.server.recording:
            self.server.log.append(replace(hit, status=status, ended=asyncio.get_running_loop().time()))


class Server:
    """HTTP server of an embedded web, an asynchronous context manager.

    The Host header selects the site. `latency` seconds are added to every response. With `record=False` requests are
    not logged, for very long crawls.
    """

    def __init__(
        self, web: Web, host: str = "127.0.0.1", port: int = 0, latency: float = 0.0, *, record: bool = True
    ) -> None:
        self.web = web
        self.host = host
        self.port = port
        self.latency = latency
        self.recording = record
        self.log: list[ServedRequest] = []
        self.numbers = count()
        self.connections: set[_Connection] = set()
        self._fetches: dict[str, int] = {}
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Server:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), self.host, self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        self.web.port = self.port
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for connection in list(self.connections):
            if connection.transport is not None:
                connection.transport.abort()
        while self.connections:
            await asyncio.sleep(0)
        await self._server.wait_closed()

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"

    def respond(self, host: str, path: str, method: str, headers: dict[str, str]) -> ServedResponse:
        if method not in ("GET", "HEAD"):
            return ServedResponse(405, [("Allow", "GET, HEAD")], b"")
        url = f"http://{host}{path}"
        version = 0
        if self.web.counts(url):
            version = self._fetches.get(url, 0)
            self._fetches[url] = version + 1
        return self.web.response(url, headers=headers, version=version)


@contextmanager
def serve(
    web: Web, host: str = "127.0.0.1", port: int = 0, latency: float = 0.0, *, record: bool = True
) -> Iterator[Server]:
    """Serve a web from a thread, for blocking callers."""
    server = Server(web, host, port, latency, record=record)
    started = threading.Event()
    failure: list[OSError | OverflowError] = []
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def run() -> None:
        try:
            async with server:
                started.set()
                await stop.wait()
        except (OSError, OverflowError) as error:  # the port is taken or invalid: raised in the caller
            failure.append(error)
        finally:
            started.set()

    def work() -> None:
        try:
            loop.run_until_complete(run())
        finally:
            loop.close()

    thread = threading.Thread(target=work, name="embedded web", daemon=True)
    thread.start()
    started.wait()
    if failure:
        thread.join()
        raise failure[0]
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
