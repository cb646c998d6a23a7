"""What to ask a host so that an unchanged page costs nothing, and when not to believe the answer.

An ETag or a Last-Modified from the last time makes a request conditional: `304 Not Modified` has no body. Some hosts
lie. So one look in eight at a host is unconditional: a page that changed while its validators stayed the same is a
lie, and from then on the host's validators are not used. A Last-Modified that moved while the page stayed the same
says nothing of when pages of that host change: conditions with it cost nothing, but its times aren't believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from lycosa.core.types import Visit

PROOF = 8
"""One look in so many at a host is unconditional."""

SLACK = 60.0
"""Seconds that a host's clock may be ahead of ours."""


@dataclass(slots=True)
class Honesty:
    """What a host's validators have been found to be worth."""

    looks: int = 0
    lies: int = 0
    """Pages that changed while their validators did not."""
    idle: int = 0
    """Pages that did not change while their Last-Modified did, or that will have changed tomorrow."""
    true: int = 0
    """Times that a Last-Modified moved and the page had changed."""

    @property
    def trusted(self) -> bool:
        """Whether a 304 may be believed."""
        return self.lies == 0

    @property
    def dates(self) -> bool:
        """Whether a Last-Modified tells when the page changed."""
        return not self.lies and self.idle * 4 <= self.true


@dataclass(slots=True)
class Validators:
    """What a page's last answer said of itself."""

    etag: str = ""
    modified: str = ""

    def conditions(self, honesty: Honesty) -> tuple[tuple[str, str], ...]:
        """What to send with the next request: nothing if it has to prove something."""
        if not honesty.trusted or honesty.looks % PROOF == 0:
            return ()
        asked = []
        if self.etag:
            asked.append(("If-None-Match", self.etag))
        if self.modified:
            asked.append(("If-Modified-Since", self.modified))
        return tuple(asked)


NEVER_CACHED = (("Cache-Control", "no-cache"), ("Pragma", "no-cache"))
"""What is sent for a page that must not come from any cache."""


def remark(before: Validators, visit: Visit, changed: bool) -> str:
    """What is odd about an answer with content, in a few words; empty if nothing is.

    >>> remark(Validators('"a"'), Visit("u", "revisit", "ok", 1, etag='"a"'), changed=True)
    'same ETag, other content'
    """
    if _same(before, visit):
        name = "ETag" if visit.etag else "Last-Modified"
        return f"same {name}, other content" if changed else ""
    found = []
    if not changed and before.etag != visit.etag and before.etag:
        found.append("other ETag, same content")
    if not changed and before.modified != visit.modified and before.modified:
        found.append("other Last-Modified, same content")
    if seconds(visit.modified) > visit.ended + SLACK:
        found.append("Last-Modified lies in the future")
    return "; ".join(found)


def learn(honesty: Honesty, before: Validators, visit: Visit, changed: bool) -> None:
    """Hold what the host said against what came."""
    honesty.looks += 1
    if visit.status == 304:
        return
    if changed and _same(before, visit):
        honesty.lies += 1
    if visit.modified and before.modified:
        moved = visit.modified != before.modified
        honesty.true += moved and changed
        honesty.idle += (moved and not changed) or seconds(visit.modified) > visit.ended + SLACK


def seconds(date: str) -> float:
    """A date of HTTP as seconds since the epoch; 0 if it is none.

    >>> seconds("Thu, 01 Jan 1970 00:01:00 GMT"), seconds("yesterday")
    (60.0, 0.0)
    """
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _same(before: Validators, visit: Visit) -> bool:
    """Whether the strongest validator that both answers have is the same."""
    if before.etag and visit.etag:
        return before.etag == visit.etag
    return bool(before.modified) and before.modified == visit.modified and not (before.etag or visit.etag)
