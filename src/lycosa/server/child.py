"""Long work in a low-priority child process, which ends with its parent: its task and its answer pass as JSON through
standard input and output, and it has no access to the database.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

from lycosa.core.errors import LycosaError


async def ask(
    module: str, task: dict[str, Any], deleted: Callable[[], Awaitable[bool]], longest: float
) -> tuple[dict[str, Any] | None, str]:
    """Have it done, unless nobody wants it any more or it takes too long: the result, or why there is none."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 26,
        start_new_session=True,
    )
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(task).encode() + b"\n")
        reading = asyncio.create_task(child.stdout.read())
        until = time.monotonic() + longest
        while not (await asyncio.wait({reading}, timeout=1.0))[0]:
            if time.monotonic() > until or await deleted():
                child.kill()
        return _answer(await reading, longest if time.monotonic() > until else 0.0)
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


def _answer(output: bytes, late: float) -> tuple[dict[str, Any] | None, str]:
    try:
        said = json.loads(output)
        return said.get("result"), str(said.get("reason", ""))
    except ValueError:
        return None, f"it took more than {late / 60:.0f} minutes" if late else "it ended without a result: see the log"


def serve(work: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """In the child: read what to do, write what came of it."""
    task = json.loads(sys.stdin.readline())

    def watch() -> None:
        sys.stdin.read()
        os._exit(1)  # who wanted it is gone

    threading.Thread(target=watch, daemon=True).start()
    os.nice(10)
    said: dict[str, Any]
    try:
        said = {"result": work(task)}
    except LycosaError as error:
        said = {"reason": str(error)}
    print(json.dumps(said), flush=True)
    os._exit(0)
