"""Structured logging as JSON lines on standard error, without secrets; requests are logged by route, not by URL."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from datetime import UTC, datetime
from typing import Any

QUIET = "LYCOSA_LOG"  # environment variable; with the value "quiet" only warnings and errors are written


def log(event: str, level: str = "info", **fields: Any) -> None:
    """Write one event. Never raises: a broken log must not stop the server."""
    if level == "info" and os.environ.get(QUIET) == "quiet":
        return
    at = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = {"at": at, "level": level, "event": event, "pid": os.getpid(), **fields}
    try:
        sys.stderr.write(json.dumps(line, ensure_ascii=True, default=str) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


class _JsonHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        levels = {logging.ERROR: "error", logging.CRITICAL: "error", logging.WARNING: "warning"}
        failed = record.exc_info and record.exc_info[0]
        trace = {"trace": logging.Formatter().formatException(record.exc_info)} if failed else {}  # type: ignore[arg-type]
        log("library", levels.get(record.levelno, "info"), by=record.name, text=record.getMessage(), **trace)


def capture_library_logs() -> None:
    root = logging.getLogger()
    root.handlers[:] = [_JsonHandler()]
    root.setLevel(logging.WARNING)
    logging.captureWarnings(True)
