"""Who hears of the six steps as they are done, and of how long each took: nobody, unless someone traces a crawl."""

from __future__ import annotations


class Steps:
    """Hears of the six steps; this one does not listen."""

    def now(self) -> int:
        """The time in nanoseconds, if it is worth looking at."""
        return 0

    def done(self, step: str, node: str, began: int, **facts: str | int | float) -> None:
        """A step for a node is done. Steps 4 and 5 are also told when a log is replayed, without the others."""


UNHEARD = Steps()
