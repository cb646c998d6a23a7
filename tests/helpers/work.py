"""How much work something is, counted and not timed: the same on a busy machine as on an idle one."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def calls(function: Callable[[], object]) -> int:
    """How many functions are called, Python's and those in C; what one call in C costs, it does not see."""
    count = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def lines(function: Callable[[], object]) -> int:
    """How many lines of Python are run: loops count, too. Some ten times slower than what it measures."""
    count = 0

    def note(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        function()
    finally:
        sys.settrace(before)
    return count
