"""Real sockets in virtual time: for tests of what happens when a server is silent or slow."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

GRACE = 0.02
"""Seconds in which what was sent over loopback arrives, however busy the machine is; as a rule it is there at once."""


class _Patient(selectors.DefaultSelector):
    """A selector that tells its loop of a wait only if nothing has come within the grace, and no thread is at work."""

    loop: "PatientLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready; if nothing is, time passes."""
        events = super().select(None if timeout is None or self.loop.threads else min(timeout, self.loop.grace))
        if not events and timeout:
            self.loop.now += timeout
        return events


class PatientLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while anything happens, and jumps to the next timer when nothing does."""

    grace = GRACE

    def __init__(self) -> None:
        selector = _Patient()
        selector.loop = self
        self.now = 0.0
        self.threads = 0
        super().__init__(selector)

    def time(self) -> float:
        """Virtual seconds."""
        return self.now

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        """A name is looked up, say: however long that takes a busy machine, the clock stands still."""

        def over(_: object) -> None:
            self.threads -= 1

        self.threads += 1
        answer = super().run_in_executor(executor, func, *args)
        answer.add_done_callback(over)
        return answer


def run_patient(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine over real sockets: minutes of silence pass in a moment, and no load makes a server late.

    All who talk have to be in this loop.
    """
    with asyncio.Runner(loop_factory=PatientLoop) as runner:
        return runner.run(main)
