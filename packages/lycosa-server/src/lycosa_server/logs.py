"""What happens, as lines of JSON on standard error: one a line, for a person with `jq` or a collector of logs.

No secret and no query string is written; of a request the route, not the address, as addresses name interests.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from datetime import UTC, datetime
from typing import Any

QUIET = "LYCOSA_LOG"  # where this is "quiet", only what went wrong is written


def log(event: str, level: str = "info", **fields: Any) -> None:
    """Write one event. Never fails: a log that can't be written is no reason to stop working."""
    if level == "info" and os.environ.get(QUIET) == "quiet":
        return
    at = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = {"at": at, "level": level, "event": event, "pid": os.getpid(), **fields}
    try:
        sys.stderr.write(json.dumps(line, ensure_ascii=True, default=str) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


class _Lines(logging.Handler):
    """What libraries say by Python's logging, in the same form."""

    def emit(self, record: logging.LogRecord) -> None:
        levels = {logging.ERROR: "error", logging.CRITICAL: "error", logging.WARNING: "warning"}
        failed = record.exc_info and record.exc_info[0]
        trace = {"trace": logging.Formatter().formatException(record.exc_info)} if failed else {}  # type: ignore[arg-type]
        log("told", levels.get(record.levelno, "info"), by=record.name, text=record.getMessage(), **trace)


def take_over() -> None:
    """Have everything that libraries log written as our lines: from warnings on, uvicorn's errors included."""
    root = logging.getLogger()
    root.handlers[:] = [_Lines()]
    root.setLevel(logging.WARNING)
    logging.captureWarnings(True)
