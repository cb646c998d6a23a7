"""Table-driven tests for cases that need no fixture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def each(rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Turn a function into a test that is called with each row; failures name the row."""

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        def test() -> None:
            for row in rows:
                try:
                    check(*row) if isinstance(row, tuple) else check(row)
                except BaseException as error:
                    error.add_note(f"with {row!r}"[:1000])
                    raise

        test.__name__, test.__qualname__ = check.__name__, check.__qualname__
        test.__doc__, test.__module__ = check.__doc__, check.__module__
        return test

    return decorate
