"""Every error that Lycosa raises on purpose. A message says what happened, to what, and what to do next.

    LycosaError
    ├── InputError        the user asked for something that can't be done (bad seed, empty topic, ...)
    ├── NothingFetched    a crawl ended without a single page
    └── StoreError        the crawl's directory, log or archive can't be read or written
        ├── LockedError     another process is crawling in the directory, or holds the log
        └── DamagedError    what is on disk contradicts itself

These end a command with their message and no traceback. Apart from them stands

    FetchError            one request failed; it never leaves the space, but becomes the outcome of a visit
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lycosa.core.types import Outcome


class LycosaError(Exception):
    """Base of all errors raised on purpose; the command line prints its message and exits non-zero."""


class InputError(LycosaError):
    """A request of the user that can't be carried out. Messages spell options as the command line does.

    `code` identifies the mistake independently of the wording: tests and programs compare it.
    """

    def __init__(self, code: str, message: str = "") -> None:
        if not message:
            code, message = "", code
        super().__init__(code, message)
        self.code, self.message = code, message

    def __str__(self) -> str:
        return self.message


class NothingFetched(LycosaError):
    """A crawl ended, and not one page could be fetched."""


class StoreError(LycosaError):
    """The crawl's directory, log or archive can't be read or written."""


class LockedError(StoreError):
    """Someone else holds the crawl's directory or its log."""


class DamagedError(StoreError):
    """What is on disk contradicts itself; going on could lose something."""


class FetchError(Exception):
    """One request failed: `outcome` says how, `again` whether trying later makes sense."""

    def __init__(self, outcome: Outcome, detail: str, *, again: bool = False, address: str = "") -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.again = again
        self.address = address
