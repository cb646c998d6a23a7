"""Whose turn it is, where several want the same thing: who was served longest ago. Nobody waits long for someone who
does not come.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

Who = TypeVar("Who")

GRACE = 0.25
"""Seconds that a turn is kept for someone who could have taken it."""


NEW = -(2**62)
"""What sets newcomers apart."""


@dataclass(slots=True)
class _Place:
    """Someone's place in a line."""

    served: int
    """The lower, the sooner it's their turn."""
    due: float | None = None
    """When they could have come, or will be able to; None: they do not wait."""


class Turns(Generic[Who]):
    """Lines by name, each with those who were ever in it.

    >>> turns = Turns()
    >>> turns.served("mill", "Ann")
    >>> turns.told("mill", "Ann", 5.0), turns.told("mill", "Bob", 5.0)
    (None, None)
    >>> turns.may("mill", "Ann", 5.0), turns.may("mill", "Bob", 5.0)
    (False, True)
    >>> turns.may("mill", "Ann", 5.3)
    True
    """

    def __init__(self) -> None:
        self._lines: dict[str, dict[Who, _Place]] = {}
        self._numbers = count(1)

    def told(self, name: str, who: Who, until: float) -> None:
        """They asked, and were told to come again then."""
        self._place(name, who).due = until

    def may(self, name: str, who: Who, now: float) -> bool:
        """Whether it is their turn, the thing being free. Whoever let a turn pass goes to the end of the line."""
        own = self._place(name, who)
        for other, place in self._lines[name].items():
            if other is who or place.due is None or place.served > own.served:
                continue
            if now <= place.due + GRACE:
                return False
            place.due, place.served = None, next(self._numbers)
        if own.due is None or own.due > now:
            own.due = now
        return True

    def served(self, name: str, who: Who) -> None:
        """They had their turn."""
        place = self._place(name, who)
        place.due, place.served = None, next(self._numbers)

    def has(self, name: str) -> bool:
        """Whether anyone stands in the line."""
        return name in self._lines

    def leave(self, who: Who) -> None:
        """They won't come again."""
        for name in [name for name, line in self._lines.items() if line.pop(who, None) is not None and not line]:
            del self._lines[name]

    def _place(self, name: str, who: Who) -> _Place:
        """Their place; newcomers, one after the other, come before those who were served already."""
        line = self._lines.setdefault(name, {})
        if who not in line:
            line[who] = _Place(NEW + next(self._numbers))
        return line[who]
