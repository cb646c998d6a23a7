"""Exceptions raised by Lycosa. Messages name the mistake, the object, and how to fix it.

    LycosaError
    ├── InputError        invalid request of the user (bad seed, empty topic, ...)
    ├── NothingFetched    a crawl ended without a single page
    └── StoreError        the crawl's directory, log or archive can't be read or written
        ├── LockedError     another process uses the directory or the log
        └── DamagedError    the files on disk are inconsistent

The command line prints their message without a traceback. Not a LycosaError:

    FetchError            one request failed; the space turns it into the outcome of a visit
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lycosa.core.types import Outcome


class LycosaError(Exception):
    """Base class; the command line prints the message and exits non-zero."""


class InputError(LycosaError):
    """A request of the user that can't be carried out. Messages spell options as the command line does.

    `code` identifies the error independently of the wording, for tests and programs.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message

    def __str__(self) -> str:
        return self.message


class NothingFetched(LycosaError):
    """A crawl ended without fetching a single page."""


class StoreError(LycosaError):
    """The crawl's directory, log or archive can't be read or written."""


class LockedError(StoreError):
    """Another process holds the lock of the crawl's directory or its log."""


class DamagedError(StoreError):
    """The files on disk are inconsistent; continuing could lose data."""


class FetchError(Exception):
    """A failed request, with the outcome of its visit; `again` is true if a retry may succeed."""

    def __init__(self, outcome: Outcome, detail: str, *, again: bool = False, address: str = "") -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.again = again
        self.address = address
