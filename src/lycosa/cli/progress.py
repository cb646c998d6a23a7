"""How far something is that takes long: a bar with the time left in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lycosa.cli.printing import lively
from lycosa.core.telling import Tell, silent

EVERY, LIVE_EVERY = 10.0, 0.25  # seconds between two lines without a terminal, and with one


class StatusLine:
    """A line on the error output: rewritten in a terminal, another one now and then elsewhere."""

    def __init__(self, every: float = EVERY, patience: float | None = None) -> None:
        self.console = Console(stderr=True, highlight=False)
        self._live, self._shown = lively(self.console), False
        self._pause = LIVE_EVERY if self._live else every
        self._next = time.monotonic() + (self._pause if patience is None else patience)

    def show(self, line: Callable[[], str]) -> None:
        """Say it, if it is time."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._pause
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
def progress(quiet: bool = False) -> Iterator[Tell]:
    """Something to tell how far one is."""
    console = Console(stderr=True)
    if quiet:
        yield silent
    elif lively(console):
        left = TimeRemainingColumn(elapsed_when_finished=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), left)
        with Progress(*columns, console=console, transient=True) as bars:
            tasks = {}

            def draw(what: str, done: int, total: int) -> None:
                if what not in tasks:
                    tasks[what] = bars.add_task(what, total=total or None)
                elif done < bars.tasks[tasks[what]].completed:  # it has begun anew, on the next corpus
                    bars.reset(tasks[what])
                bars.update(tasks[what], completed=done, total=total or None)

            yield draw
    else:
        began: dict[str, float] = {}
        shown: dict[str, float] = {}
        before: dict[str, int] = {}

        def say(what: str, done: int, total: int) -> None:
            now = time.monotonic()
            if done < before.get(what, 0):  # it has begun anew, on the next corpus
                began[what] = shown[what] = now
            before[what] = done
            spent = now - began.setdefault(what, now)
            if now - shown.setdefault(what, now) < EVERY:
                return
            shown[what] = now
            left = f", about {(total - done) * spent / done:,.0f} s left" if total and done else ""
            print(f"{what}: {done:,}" + (f" of {total:,}" if total else "") + left, file=sys.stderr)

        yield say
