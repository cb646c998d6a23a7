"""The web process: the application on the socket that the supervisor holds. `python -m lycosa.server.web`."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from typing import Any

import uvicorn

from lycosa.core.errors import LycosaError
from lycosa.server.app import create_app
from lycosa.server.guards import Site
from lycosa.server.logs import log, take_over
from lycosa.server.settings import Settings
from lycosa.server.supervisor import SOCKET, end_with_supervisor, notices_end


class _Server(uvicorn.Server):
    """Tells live streams to end when it is to end itself: it would wait for them."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._site.views.stopping.set()
        super().handle_exit(sig, frame)


def main() -> None:
    end_with_supervisor()
    take_over()
    settings = Settings.from_environment()
    listening = socket.socket(fileno=int(os.environ.pop(SOCKET)))
    listening.set_inheritable(False)
    notices = notices_end()

    def wake() -> None:
        with suppress(OSError):  # full: there are notices enough
            if notices is not None:
                notices.send(b"!")

    try:
        app = create_app(settings, wake=wake)
    except LycosaError as error:
        log("start failed", "error", process="web", why=str(error))
        sys.exit(1)
    config = uvicorn.Config(
        app,
        http="h11",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,  # the application itself knows which proxies are believed
        timeout_graceful_shutdown=3,  # seconds for open streams of events
        lifespan="off",
    )
    log("started", process="web")
    _Server(config, app.state.site).run(sockets=[listening])
    log("ended", process="web")


if __name__ == "__main__":
    main()
