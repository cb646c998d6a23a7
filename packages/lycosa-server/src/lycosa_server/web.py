"""The web process: serves the application on the supervisor's socket. `python -m lycosa_server.web`."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from lycosa.core.errors import LycosaError
from lycosa_server.app import create_app
from lycosa_server.guards import ServerContext
from lycosa_server.logs import capture_library_logs, log
from lycosa_server.settings import Settings
from lycosa_server.supervisor import SOCKET, notice_socket, stop_with_supervisor


class TimedConnection(H11Protocol):
    """An HTTP connection with timeouts in seconds for slow requests and unread responses; uvicorn has none."""

    head = 30.0  # limit for the head of a request, from its first byte; for the first one from the connection
    pause = 30.0  # limit between two parts of a request body
    whole = 300.0  # limit for a whole request
    stuck = 60.0  # limit for the client to read a response
    _waiting: asyncio.TimerHandle | None = None
    _sending: asyncio.TimerHandle | None = None
    _begun: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        """Restart the timeouts; uvicorn's own limit applies to the start of the next request."""
        _cancel(self._waiting)
        self._begun = None
        super().on_response_complete()
        if self.conn.trailing_data[0] or not (self.cycle is None or self.cycle.response_complete):
            self._wait()  # the next request has begun already

    def pause_writing(self) -> None:
        super().pause_writing()
        _cancel(self._sending)
        self._sending = self.loop.call_later(self.stuck, self._end)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._sending)

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._waiting)
        _cancel(self._sending)
        super().connection_lost(exc)

    def _wait(self) -> None:
        _cancel(self._waiting)
        now, cycle = self.loop.time(), self.cycle
        between = cycle is None or cycle.response_complete
        if self.transport.is_closing() or not (between or cycle.more_body):
            self._begun = None
            return
        if self._begun is None:
            self._begun = now
        fallback: Callable[[], None] = self._refuse if between else self._end
        until = self._begun + self.head if between else min(now + self.pause, self._begun + self.whole)
        self._waiting = self.loop.call_at(until, fallback)

    def _refuse(self) -> None:
        self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        self.transport.close()

    def _end(self) -> None:
        self.transport.abort()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class _StreamEndingServer(uvicorn.Server):
    """Uvicorn server that ends live streams on shutdown, which would otherwise wait for them."""

    def __init__(self, config: uvicorn.Config, site: ServerContext) -> None:
        super().__init__(config)
        self._site = site

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._site.cache.stopping.set()
        super().handle_exit(sig, frame)


def main() -> None:
    stop_with_supervisor()
    capture_library_logs()
    settings = Settings.from_environment()
    listening = socket.socket(fileno=int(os.environ.pop(SOCKET)))
    listening.set_inheritable(False)
    notices = notice_socket()

    def wake() -> None:
        with suppress(OSError):  # buffer full: enough notices are pending
            if notices is not None:
                notices.send(b"!")

    try:
        app = create_app(settings, wake=wake)
    except LycosaError as error:
        log("start failed", "error", process="web", why=str(error))
        sys.exit(1)
    config = uvicorn.Config(
        app,
        http=TimedConnection,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,  # the application handles trusted proxies
        timeout_graceful_shutdown=3,  # seconds for open event streams
        lifespan="off",
    )
    log("started", process="web")
    _StreamEndingServer(config, app.state.site).run(sockets=[listening])
    log("ended", process="web")


if __name__ == "__main__":
    main()
