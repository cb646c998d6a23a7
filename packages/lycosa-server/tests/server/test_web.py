"""Connections with timeouts for slow requests and unread responses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn

from lycosa_server.web import TimedConnection
from patient_loop import run_patient

LONG = 120.0
"""Virtual seconds that no test reaches."""

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"

Message = MutableMapping[str, Any]


class App:
    """Application that reads a request, waits for `go`, responds with `size` bytes, and counts disconnects."""

    def __init__(self, size: int = 2) -> None:
        self.size = size
        self.go = asyncio.Event()
        self.go.set()
        self.lost = 0
        self.asked = asyncio.Event()

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.lost += 1
                return
            if not message.get("more_body"):
                break
        self.asked.set()
        await self.go.wait()
        headers = [(b"content-length", str(self.size).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            for _ in range(0, self.size, 1 << 16):
                await send({"type": "http.response.body", "body": b"x" * min(self.size, 1 << 16), "more_body": True})
        finally:
            self.asked.clear()
        await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def serving(app: App, **limits: float) -> AsyncIterator[tuple[int, uvicorn.Server]]:
    """Serve with some timeouts; the others are never reached."""
    given = {"head": LONG, "pause": LONG, "whole": LONG, "stuck": LONG} | limits
    kind = type("Limited", (TimedConnection,), given)
    config = uvicorn.Config(app, port=0, http=kind, lifespan="off", log_level="critical", timeout_keep_alive=int(LONG))
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1], server
    finally:
        app.go.set()
        server.should_exit = server.force_exit = True
        await task


async def ended(reader: asyncio.StreamReader) -> bytes:
    """Read until the server closes the connection."""
    try:
        return await asyncio.wait_for(reader.read(), LONG)
    except ConnectionResetError:
        return b""


async def closed(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(ConnectionError):
        await writer.wait_closed()


@pytest.mark.parametrize(
    ("sent", "limits", "answer"),
    [
        (b"", {"head": 0.1}, b"408"),
        (b"GET / HT", {"head": 0.1}, b"408"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", {"head": 0.1}, b"408"),
        (HEAD, {"pause": 0.1}, b""),
        (HEAD + b"12345", {"pause": 0.1}, b""),
        (HEAD + b"12345", {"whole": 0.1}, b""),
        (GET + b"GET / HT", {"head": 0.1}, b"200 OK"),
        (GET + HEAD, {"pause": 0.1}, b"200 OK"),
    ],
    ids=[
        "nothing",
        "half a line",
        "half a head",
        "no body",
        "half a body",
        "a slow body",
        "half a second request",
        "a second request without its body",
    ],
)
def test_incomplete_request_times_out(sent: bytes, limits: dict[str, float], answer: bytes) -> None:
    async def run() -> None:
        async with serving(App(), **limits) as (port, server):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            assert answer in await ended(reader)
            await closed(writer)
            while server.server_state.connections or server.server_state.tasks:
                await asyncio.sleep(0.01)

    run_patient(run())


def test_slow_head_times_out() -> None:
    async def run() -> None:
        async with serving(App(), head=0.2) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\n")
            dripping = asyncio.create_task(_drip(writer))
            await ended(reader)  # with status 408 or a reset
            dripping.cancel()
            await closed(writer)

    run_patient(run())


async def _drip(writer: asyncio.StreamWriter) -> None:
    while not writer.is_closing():
        writer.write(b"X")
        await asyncio.sleep(0.02)


def test_slow_response_is_not_limited() -> None:
    async def run() -> None:
        app = App()
        app.go.clear()
        async with serving(app, head=0.1, pause=0.1, whole=0.1, stuck=0.1) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD + b"1234567890")
            await app.asked.wait()
            await asyncio.sleep(0.4)  # longer than all timeouts
            app.go.set()
            assert b"200 OK" in await asyncio.wait_for(reader.readuntil(b"\r\n\r\nxx"), LONG)
            assert not app.lost
            await closed(writer)

    run_patient(run())


def test_unread_response_times_out() -> None:
    async def run() -> None:
        app = App(1 << 26)
        async with serving(app, stuck=0.1) as (port, server):
            _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
            writer.write(GET)
            await app.asked.wait()
            while server.server_state.connections or server.server_state.tasks:
                await asyncio.sleep(0.01)
            assert not app.asked.is_set()
            await closed(writer)

    run_patient(run())
