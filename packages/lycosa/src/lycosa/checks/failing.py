"""Failures of checks: name, input, error and remedy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lycosa.core.protocols import Space

SECONDS = 5.0  # CPU time for judging or learning one page of any size
GROWTH = 16_384  # bytes by which an estimator or strategy may grow when it learns the same pages repeatedly


class CheckFailed(AssertionError):
    """A check failed; `check` is its name."""

    def __init__(self, message: str, check: str = "") -> None:
        super().__init__(f"{check}: {message}" if check else message)
        self.check = check


def want(condition: object, message: str) -> None:
    """Raise CheckFailed with a message unless a condition holds."""
    if not condition:
        raise CheckFailed(message)


def run_check(check: Callable[[Any], None], make: Callable[[], Any]) -> str:
    """Run one check; return its name."""
    with _named(check):
        check(make)
    return check.__name__


async def run_async_check(check: Callable[[Space, str], Awaitable[None]], space: Space, node: str) -> str:
    """Run one check of a space; return its name."""
    with _named(check):
        await check(space, node)
    return getattr(check, "__name__", "")


@contextmanager
def _named(check: Callable[..., object]) -> Iterator[None]:
    name = getattr(check, "__name__", "")
    try:
        yield
    except CheckFailed as failure:
        raise CheckFailed(str(failure), name) from failure.__cause__
    except Exception as error:
        required = (check.__doc__ or "").strip()
        message = f"it raised {type(error).__name__}: {error}. Required: {required} See the traceback"
        raise CheckFailed(message, name) from error


def shape(value: object) -> str:
    """Describe the type or array shape of a value, for a message."""
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
