"""What the two processes under a supervisor have in common: they live as long as it does."""

from __future__ import annotations

import os
import signal
import threading
import time

SOCKET = "LYCOSA_SOCKET"
"""The number of the listening socket. It outlives the web process, so that a restart turns nobody away."""

LIFELINE = "LYCOSA_LIFELINE"
"""The number of a pipe's end: it closes when the supervisor is gone, however it went."""

GRACE = 15.0
"""Seconds in which a process may end gently once it is alone."""


def end_with_supervisor() -> None:
    """Have this process end when its supervisor does: gently, as if told to; else by force."""
    if LIFELINE not in os.environ:
        return  # started by hand
    pipe = int(os.environ.pop(LIFELINE))
    os.set_inheritable(pipe, False)

    def watch() -> None:
        while os.read(pipe, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os._exit(1)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()
