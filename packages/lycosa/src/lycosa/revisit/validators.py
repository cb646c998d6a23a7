"""Validators of conditional requests, and hosts whose validators are wrong.

With the last ETag or Last-Modified a request is conditional, and `304 Not Modified` has no body. Some hosts respond
with 304 for changed pages. So one visit in eight of a page is unconditional, and one in three until a validator of the
host was seen to change with a page. A page that changed while its validators stayed the same disables the host's
validators; at most seven consecutive visits of a page can be wrong. If Last-Modified moves while pages stay the same,
the host's dates are ignored, but conditions with it are still sent.
"""

from __future__ import annotations

from dataclasses import dataclass

import xxhash

from lycosa.core.types import Visit
from lycosa.web.dates import parse_http_date

# Flags of incomplete responses: their validators must not be sent.
CUT = frozenset({"truncated:disconnect", "truncated:time"})


@dataclass(slots=True)
class Honesty:
    """Counts that show how reliable a host's validators are."""

    stale_validators: int = 0  # pages that changed while their validators did not
    idle: int = 0  # unchanged pages with a new Last-Modified, or one in the future
    true: int = 0  # changed pages with a new Last-Modified
    proved: int = 0  # changed pages with a new validator

    @property
    def trusted(self) -> bool:
        return self.stale_validators == 0

    @property
    def dates(self) -> bool:
        return not self.stale_validators and self.idle * 4 <= self.true


@dataclass(slots=True)
class Validators:
    """Validators of a page's last response."""

    etag: str = ""
    modified: str = ""

    def conditions(self, honesty: Honesty) -> tuple[tuple[str, str], ...]:
        if not honesty.trusted:
            return ()
        fields = []
        if self.etag:
            fields.append(("If-None-Match", self.etag))
        if parse_http_date(self.modified):  # skip invalid dates
            fields.append(("If-Modified-Since", self.modified))
        return tuple(fields)


def proves(node: str, visits: int, honesty: Honesty) -> bool:
    """Return whether a visit is unconditional: one in eight, or one in three for unverified hosts.

    The turn differs from page to page, so that each round verifies some pages of a host.

    >>> known, unknown = Honesty(proved=1), Honesty()
    >>> [[n for n in range(20) if proves("http://a.test/", n, host)] for host in (known, unknown)]
    [[2, 10, 18], [2, 5, 8, 11, 14, 17]]
    """
    return (visits + xxhash.xxh3_64_intdigest(node.encode())) % (8 if honesty.proved else 3) == 0


NEVER_CACHED = (("Cache-Control", "no-cache"), ("Pragma", "no-cache"))  # headers of a request that bypasses caches


def learn(honesty: Honesty, before: Validators, visit: Visit, changed: bool) -> None:
    """Compare the validators of a visit with whether the page changed."""
    if visit.status == 304:
        return
    if changed and _same(before, visit):
        honesty.stale_validators += 1
    elif changed and (visit.etag or visit.modified) and (before.etag or before.modified):
        honesty.proved += 1
    if visit.modified and before.modified:
        moved = visit.modified != before.modified
        honesty.true += moved and changed
        # the clock of a host may be a minute ahead
        honesty.idle += (moved and not changed) or parse_http_date(visit.modified) > visit.ended + 60.0


def _strong(etag: str) -> str:
    return etag.removeprefix("W/")


def _same(before: Validators, visit: Visit) -> bool:
    if before.etag and visit.etag:
        return _strong(before.etag) == _strong(visit.etag)
    return bool(before.modified) and before.modified == visit.modified and not (before.etag or visit.etag)
