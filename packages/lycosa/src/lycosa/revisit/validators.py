"""What to ask a host so that an unchanged page costs nothing, and when not to believe the answer.

An ETag or a Last-Modified from the last time makes a request conditional: `304 Not Modified` has no body. Some hosts
lie. So one look in eight at a page is unconditional, and one in three until a validator of the host was seen to change
with a page: a page that changed while its validators stayed the same is a lie, and from then on the host's validators
are not used. So at most seven looks in a row at a page can be lied to. A
Last-Modified that moved while the page stayed the same says nothing of when pages of that host change: conditions with
it cost nothing, but its times aren't believed.
"""

from __future__ import annotations

from dataclasses import dataclass

import xxhash

from lycosa.core.types import Visit
from lycosa.web.dates import http_time

# flags of incomplete answers: their validators must not be sent
CUT = frozenset({"truncated:disconnect", "truncated:time"})


@dataclass(slots=True)
class Honesty:
    """What a host's validators have been found to be worth."""

    lies: int = 0  # pages that changed while their validators did not
    idle: int = 0  # pages that did not change while Last-Modified did, or lies in the future
    true: int = 0  # Last-Modified moved and the page had changed
    proved: int = 0  # another validator and the page had changed

    @property
    def trusted(self) -> bool:
        return self.lies == 0

    @property
    def dates(self) -> bool:
        return not self.lies and self.idle * 4 <= self.true


@dataclass(slots=True)
class Validators:
    """What a page's last answer said of itself."""

    etag: str = ""
    modified: str = ""

    def conditions(self, honesty: Honesty) -> tuple[tuple[str, str], ...]:
        """What to send with the next request: nothing to a host that lied."""
        if not honesty.trusted:
            return ()
        asked = []
        if self.etag:
            asked.append(("If-None-Match", self.etag))
        if http_time(self.modified):  # no use to send what is no date
            asked.append(("If-Modified-Since", self.modified))
        return tuple(asked)


def proves(node: str, looks: int, honesty: Honesty) -> bool:
    """Whether this look at a page sends no conditions: one in eight, or in three where nothing is known of the host.

    Which one it is differs from page to page: of a host's pages some are proved in each round, and each in its turn.

    >>> known, unknown = Honesty(proved=1), Honesty()
    >>> [[n for n in range(20) if proves("http://a.test/", n, host)] for host in (known, unknown)]
    [[2, 10, 18], [2, 5, 8, 11, 14, 17]]
    """
    return (looks + xxhash.xxh3_64_intdigest(node.encode())) % (8 if honesty.proved else 3) == 0


NEVER_CACHED = (("Cache-Control", "no-cache"), ("Pragma", "no-cache"))  # headers of a request that no cache may answer


def learn(honesty: Honesty, before: Validators, visit: Visit, changed: bool) -> None:
    """Hold what the host said against what came."""
    if visit.status == 304:
        return
    if changed and _same(before, visit):
        honesty.lies += 1
    elif changed and (visit.etag or visit.modified) and (before.etag or before.modified):
        honesty.proved += 1
    if visit.modified and before.modified:
        moved = visit.modified != before.modified
        honesty.true += moved and changed
        # A host's clock may be a minute ahead of ours.
        honesty.idle += (moved and not changed) or http_time(visit.modified) > visit.ended + 60.0


def _strong(etag: str) -> str:
    return etag.removeprefix("W/")


def _same(before: Validators, visit: Visit) -> bool:
    """Whether the strongest validator that both answers have is the same."""
    if before.etag and visit.etag:
        return _strong(before.etag) == _strong(visit.etag)
    return bool(before.modified) and before.modified == visit.modified and not (before.etag or visit.etag)
