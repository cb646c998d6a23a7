"""The web process: the application on the socket that the supervisor holds. `python -m lycosa.server.web`."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

import uvicorn

from lycosa.core.errors import LycosaError
from lycosa.server.app import create_app
from lycosa.server.children import SOCKET, end_with_supervisor
from lycosa.server.logs import log, take_over
from lycosa.server.patience import Patient
from lycosa.server.settings import Settings
from lycosa.server.site import Site

LEAVING = 3
"""Seconds that open streams of events have to end when the server stops."""


class _Server(uvicorn.Server):
    """Tells live streams to end when it is to end itself: it would wait for them."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    def handle_exit(self, sig: int, frame: Any) -> None:
        """A signal came."""
        self._site.shelves.stop()
        super().handle_exit(sig, frame)


def main() -> None:
    """Serve until told to stop."""
    end_with_supervisor()
    take_over()
    settings = Settings.from_environment()
    listening = socket.socket(fileno=int(os.environ.pop(SOCKET)))
    listening.set_inheritable(False)
    try:
        app = create_app(settings)
    except LycosaError as error:
        log("start failed", "error", process="web", why=str(error))
        sys.exit(1)
    config = uvicorn.Config(
        app,
        http=Patient,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,  # server/address.py believes only the proxies that it was told to
        timeout_graceful_shutdown=LEAVING,
        lifespan="off",
    )
    log("started", process="web")
    _Server(config, app.state.site).run(sockets=[listening])
    log("ended", process="web")


if __name__ == "__main__":
    main()
