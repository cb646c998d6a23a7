"""A server that sends responses byte by byte, as a test prescribes."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from lycosa.web.fetch import FetchLimits, HttpTransport
from lycosa.web.guard import DnsCache, Guard
from lycosa.web.politeness import Politeness
from patient_loop import run_patient

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


HEADERS = {"User-Agent": "Lycosa", "Accept": "text/html", "Accept-Encoding": "gzip"}


HTML = frozenset({"text/html"})


Handler = Callable[["Peer"], Awaitable[None]]


class Peer:
    """Connection from the server's side."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def request(self) -> bytes:
        """Read the head of a request; empty when the client has disconnected."""
        try:
            return await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""

    async def send(self, *pieces: bytes) -> None:
        """Write pieces, each as a separate packet."""
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            await asyncio.sleep(0)

    async def gone(self) -> None:
        """Wait until the client closes the connection."""
        while await self.reader.read(1000):
            pass


class Server:
    """Raw server on loopback that runs a handler and records requests."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.requests: list[bytes] = []
        self.connections = 0
        self.port = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        peer = Peer(reader, writer)
        read = peer.request

        async def request() -> bytes:
            head = await read()
            if head:
                self.requests.append(head)
            return head

        peer.request = request  # type: ignore[method-assign]
        try:
            await self.handler(peer)
        except ConnectionError:
            pass
        finally:
            writer.close()


def says(*pieces: bytes, stay: bool = False) -> Handler:
    """Return a handler that reads a request and sends pieces, then closes or, with `stay`, waits for the client."""

    async def handle(peer: Peer) -> None:
        await peer.request()
        await peer.send(*pieces)
        if stay:
            await peer.gone()

    return handle


def serve(
    handler: Handler,
    body: Callable[[HttpTransport, Server, str], Coroutine[Any, Any, Any]],
    *,
    limits: FetchLimits | None = None,
    allow: tuple[str, ...] = ("127.0.0.0/8",),
    clock: Callable[[], float] | None = None,
) -> Any:
    """Run a function with a transport and a server."""

    async def main() -> Any:
        server = Server(handler)
        listening = await asyncio.start_server(server, "127.0.0.1", 0)
        server.port = listening.sockets[0].getsockname()[1]
        time = clock or asyncio.get_running_loop().time
        transport = HttpTransport(time, Guard(allow), DnsCache(time), Politeness(time, address_delay=0.0), limits)
        try:
            return await body(transport, server, f"http://127.0.0.1:{server.port}/x")
        finally:
            await transport.close()
            listening.close()
            for _ in range(3):
                await asyncio.sleep(0)

    return run_patient(main())
