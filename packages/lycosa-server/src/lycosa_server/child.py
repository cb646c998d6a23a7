"""Run long or untrusted work in a low-priority child process that ends with its parent.

Task and result are JSON lines on standard input and output. The child has no access to the database.
"""

from __future__ import annotations

import json
import os
import resource
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from lycosa.core.errors import InputError, LycosaError


def run(module: str, task: dict[str, Any], seconds: float, is_cancelled: Callable[[], bool] = bool) -> dict[str, Any]:
    """Run `serve` of a module in a child process and return its result; kill it after `seconds` or when cancelled."""
    with subprocess.Popen(
        [sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(json.dumps(task).encode() + b"\n")
            child.stdin.flush()
            deadline = time.monotonic() + seconds
            while not select.select([child.stdout], [], [], 1.0)[0]:
                if time.monotonic() > deadline:
                    raise InputError("timeout", f"it took more than {seconds / 60:.0f} minutes")
                if is_cancelled():
                    raise InputError("cancelled", "it was cancelled")
            reply = json.loads(child.stdout.read() or "{}")
        finally:
            child.kill()
    if "result" not in reply:
        raise InputError("failed", str(reply.get("reason", "it ended without a result: see the log")))
    result: dict[str, Any] = reply["result"]
    return result


def serve(work: Callable[[dict[str, Any]], dict[str, Any]], gigabytes: int = 0) -> None:
    """Read the task, and print its result or the reason of its failure; `gigabytes` limits memory, 0 does not."""
    if gigabytes:
        resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))
    task = json.loads(sys.stdin.readline())

    def watch() -> None:
        sys.stdin.read()
        os._exit(1)  # the parent has ended

    threading.Thread(target=watch, daemon=True).start()
    os.nice(10)
    try:
        reply: dict[str, Any] = {"result": work(task)}
    except LycosaError as error:
        reply = {"reason": str(error)}
    except MemoryError:
        reply = {"reason": f"it needs more than {gigabytes} GB of memory"}
    print(json.dumps(reply), flush=True)
    os._exit(0)
