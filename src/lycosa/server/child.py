"""Untrusted work in a low-priority child process, which ends with its parent: task and answer pass as JSON through
standard input and output, and it has no access to the database.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from lycosa.core.errors import InputError, LycosaError


def run(module: str, task: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Return the result of `serve` in a module; `InputError` says why there is none. The child is killed in time."""
    with subprocess.Popen(
        [sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        late = threading.Timer(seconds, child.kill)
        late.start()
        try:
            child.stdin.write(json.dumps(task).encode() + b"\n")
            child.stdin.flush()
            answer = json.loads(child.stdout.read() or "{}")
        finally:
            late.cancel()
            child.kill()
    if "result" not in answer:
        raise InputError(str(answer.get("reason", "it took too long, or ended without a result: see the log")))
    result: dict[str, Any] = answer["result"]
    return result


def serve(work: Callable[[dict[str, Any]], dict[str, Any]], gigabytes: int) -> None:
    """In the child: read the task, write its result or the reason of its failure."""
    resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))
    task = json.loads(sys.stdin.readline())

    def watch() -> None:
        sys.stdin.read()
        os._exit(1)  # the parent is gone

    threading.Thread(target=watch, daemon=True).start()
    os.nice(10)
    try:
        answer: dict[str, Any] = {"result": work(task)}
    except LycosaError as error:
        answer = {"reason": str(error)}
    except MemoryError:
        answer = {"reason": f"it takes more than {gigabytes} GB of memory"}
    print(json.dumps(answer), flush=True)
    os._exit(0)
