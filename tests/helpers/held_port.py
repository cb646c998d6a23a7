"""A port that is nobody else's: for what has to listen at an address that is known before, or where nobody listens."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_port() -> Iterator[int]:
    """A port of this machine that nobody listens at. As long as the block lasts, the system gives it to no other
    process that asks for any port; who names it, and allows to use addresses again, may listen there."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])
