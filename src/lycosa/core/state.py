"""What a part has learned, as plain values: a fold can go on from there instead of from the first event.

A part may offer `state()` and `restore(state)`. A state is a dictionary of arrays, plain values (numbers, texts, bytes,
lists and dictionaries of these), other states, and, for what only ever grows, `Grown` and `Texts`: whoever writes it
down again and again needs only what has been added. What can be worked out again from the rest (caches, heaps, indices)
is no part of it, nor is what only a running crawl knows: what is in flight.

A state has to be exact: restored, and shown the same events, a part is in the same state as one that has folded them
all. Whoever can't tell it raises `Untold`, and the log is folded as if there were no such thing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

State = dict[str, Any]

_LEARNING = ("learn", "reconsider", "adopt", "hear", "start", "rank", "note")
"""Methods by which parts learn."""

_PLAIN = (np.ndarray, bool, int, float, str, bytes, type(None))


class Untold(Exception):
    """A part can't say what it has learned, or a state does not fit."""


@dataclass(frozen=True)
class Grown:
    """A collection that is only ever added to, as an array: `encode` makes one of some of its items.

    It comes back as an array; a large one, if `filed`, in a file (`Filed`).
    """

    items: Collection[Any]
    encode: Callable[[Sequence[Any]], NDArray[Any]]
    filed: bool = False


@dataclass(frozen=True)
class Texts:
    """The same for texts of one line each, or things that `key` makes one of. They come back as a list of texts."""

    items: Collection[Any]
    key: Callable[[Any], str] | None = None

    def encode(self, items: Sequence[Any]) -> bytes:
        """Some of them as they are written down."""
        lines = items if self.key is None else [self.key(item) for item in items]
        joined = "\n".join(lines)
        if joined.count("\n") != max(0, len(lines) - 1):
            raise Untold("a text has more than one line")
        return joined.encode("utf-8", "surrogatepass") + b"\n" if lines else b""


def added(items: Collection[Any], since: int) -> Sequence[Any]:
    """What a collection has beyond its first items."""
    return items[since:] if isinstance(items, Sequence) else list(islice(items, since, None))


def state_of(part: Any) -> State:
    """What a part has learned, if it can tell."""
    check(part)
    state: State = part.state()
    return state


def restore(part: Any, state: State) -> None:
    """Have a part go on from a state."""
    check(part)
    part.restore(state)


def check(part: object) -> None:
    """A class that learns in a way of its own has a state of its own: what it inherits says nothing of that."""
    defined = {name: at for at, kind in reversed([*enumerate(type(part).__mro__)]) for name in vars(kind)}
    if not {"state", "restore"} <= defined.keys():
        raise Untold(f"{type(part).__name__} has no state() and restore()")
    if any(defined["state"] > defined[name] for name in _LEARNING if name in defined):
        raise Untold(f"{type(part).__name__} learns, and has no state() of its own")


def plain(part: object, *besides: str) -> State:
    """All attributes of a part, which are arrays, numbers, texts and parts of it, but for those that are named.

    >>> class Sums:
    ...     def __init__(self): self.sums, self.pages, self.cache = np.zeros(2), 3, {}
    >>> plain(Sums(), "cache")
    {'sums': array([0., 0.]), 'pages': 3}
    """
    state: State = {}
    for name, value in vars(part).items():
        if name in besides:
            continue
        if isinstance(value, _PLAIN):
            state[name] = value
        elif hasattr(value, "state"):
            state[name] = value.state()
        elif hasattr(value, "__dict__"):
            state[name] = plain(value)
        else:
            raise Untold(f"{type(part).__name__}.{name} is a {type(value).__name__}, and no plain value")
    return state


def put_back(part: object, state: State) -> None:
    """Give a part the attributes that `plain` has read from one like it."""
    for name, value in state.items():
        before = getattr(part, name)
        if isinstance(value, dict) and not isinstance(before, _PLAIN):
            before.restore(value) if hasattr(before, "restore") else put_back(before, value)
            continue
        if isinstance(before, np.ndarray):
            fits = isinstance(value, np.ndarray) and value.dtype == before.dtype and value.shape[1:] == before.shape[1:]
        else:
            fits = not isinstance(value, np.ndarray | dict)
        if not fits:
            raise Untold(f"{type(part).__name__}.{name} does not fit")
        setattr(part, name, value)
