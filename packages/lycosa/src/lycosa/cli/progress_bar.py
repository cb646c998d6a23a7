"""Progress of long tasks: a status line that is rewritten in a terminal, and repeated now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from lycosa.cli.printing import is_live_terminal
from lycosa.core.progress import ProgressCallback, no_progress

LIVE_EVERY = 0.25  # seconds between two lines in a terminal


class StatusLine:
    """A status line on stderr. `every`: seconds between two lines without a terminal."""

    def __init__(self, every: float = 10.0, patience: float | None = None) -> None:
        self.console = Console(stderr=True, highlight=False)
        self._live, self._shown = is_live_terminal(self.console), False
        self._pause = LIVE_EVERY if self._live else every
        self.wait(patience)

    def wait(self, seconds: float | None = None) -> None:
        """Print nothing for this many seconds, by default the interval between two lines."""
        self._next = time.monotonic() + (self._pause if seconds is None else seconds)

    def show(self, line: Callable[[], str]) -> None:
        """Print the line if it is due."""
        if time.monotonic() < self._next:
            return
        self.wait()
        if self._live:
            self.clear()
            sys.stderr.write(line()[: self.console.width - 1])
            sys.stderr.flush()
            self._shown = True
        else:
            print(line(), file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._shown = False


@contextmanager
def show_progress(quiet: bool = False) -> Iterator[ProgressCallback]:
    """Yield a progress callback that shows the remaining time."""
    if quiet:
        yield no_progress
        return
    line, began, before = StatusLine(), dict[str, float](), dict[str, int]()

    def report(message: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done < before.get(message, 0):  # another round, for instance on the next corpus
            began[message] = now
            line.wait()
        before[message] = done
        spent = now - began.setdefault(message, now)
        left = f", about {(total - done) * spent / done:,.0f} s left" if total and done and spent > 1.0 else ""
        line.show(lambda: f"{message}: {done:,}" + (f" of {total:,}" if total else "") + left)

    yield report
    line.clear()
