"""Reserved ports, for servers whose port must be known in advance, and for ports without a server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_port() -> Iterator[int]:
    """Reserve a port without listening on it.

    The system gives it to no other process that asks for any free port; a process that binds it by number with
    SO_REUSEADDR may listen there.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])
