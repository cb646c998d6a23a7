"""Real sockets in virtual time, for tests of slow and silent servers."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

GRACE = 0.02
"""Seconds to wait for data sent over loopback; usually it arrives at once."""


class _Patient(selectors.DefaultSelector):
    """Selector that reports a timeout only if no data arrives within the grace period and no thread is running."""

    loop: "PatientLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(None if timeout is None or self.loop.threads else min(timeout, self.loop.grace))
        if not events and timeout:
            self.loop.now += timeout
        return events


class PatientLoop(asyncio.SelectorEventLoop):
    """Event loop whose clock stops during events and otherwise jumps to the next timer."""

    grace = GRACE

    def __init__(self) -> None:
        selector = _Patient()
        selector.loop = self
        self.now = 0.0
        self.threads = 0
        super().__init__(selector)

    def time(self) -> float:
        """Return virtual seconds."""
        return self.now

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        """Run in a thread, for instance a DNS lookup, while the clock is stopped."""

        def over(_: object) -> None:
            self.threads -= 1

        self.threads += 1
        answer = super().run_in_executor(executor, func, *args)
        answer.add_done_callback(over)
        return answer


def run_patient(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine over real sockets in virtual time.

    Client and server must run in this loop.
    """
    with asyncio.Runner(loop_factory=PatientLoop) as runner:
        return runner.run(main)
