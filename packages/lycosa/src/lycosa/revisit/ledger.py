"""The log as a list of changes in the order of detection, and their descriptions for feeds, messages and terminals.

A change is a visit of kind page, revisit or sitemap with `data["change"]`; visits without changes are skipped in SQL.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeAlias, get_args
from uuid import UUID, uuid5

from lycosa.core.errors import InputError
from lycosa.core.types import Visit
from lycosa.drawing.formats import clip, visible
from lycosa.revisit.change import KINDS, Change, ChangeType, change_of
from lycosa.store.log import RELEVANCE_NOW, SqliteLog
from lycosa.web.urls import compile_patterns, host, parse_host

WHATS: tuple[str, ...] = get_args(ChangeType)

VISITS_WITH_CHANGES = "kind IN ('page', 'revisit', 'sitemap')"  # SQL: visits that may detect a change
VERSIONS = "kind IN ('page', 'revisit', 'sitemap') AND outcome = 'ok'"

REFRESH_SETTING = "refreshed"  # setting recorded by the first run that revisits pages
SLACK = 86_400.0  # seconds by which a clock may have been set back


@dataclass(slots=True, frozen=True)
class LoggedChange:
    """A change with its page and its position in the log."""

    seq: int  # sequence number in the log
    id: str  # a permanent URN
    url: str
    at: float
    title: str  # a vanished page keeps its last title
    relevance: float
    change: Change
    was: float = 0.0  # relevance of the previous version
    follows: float = 0.0  # fetch time of the previous version; 0 if there is none

    @property
    def host(self) -> str:
        """Host name; empty for nodes that are not URLs."""
        return host(self.url) if "//" in self.url else ""


@dataclass(frozen=True)
class ChangeFilter:
    """Filter for changes.

    Kinds and magnitudes apply to changed pages only; vanished, moved, returned and new pages have neither.
    """

    what: tuple[str, ...] = ()  # types of changes; empty: all
    kinds: tuple[str, ...] = ()
    at_least: float = 0.0
    host: str = ""  # this host and its subdomains
    pattern: str = ""  # regular expression searched in the URL
    relevant: float = 0.0  # minimum relevance of the old or the new version
    cosmetic: bool = False

    def __post_init__(self) -> None:
        for given, known, name in ((self.what, WHATS, "what"), (self.kinds, KINDS, "kind")):
            for word in given:
                if word not in known:
                    raise InputError("unknown-name", f"--{name} {word!r} is unknown: choose from {', '.join(known)}")
        if not 0 <= self.at_least <= 1:
            raise InputError("out-of-range", f"a magnitude must be from 0 to 1, not {self.at_least:g}")
        _ = self._search, self._name  # validate now instead of at the first change

    @cached_property
    def _search(self) -> re.Pattern[str]:
        return compile_patterns([self.pattern])[0]

    @cached_property
    def _name(self) -> str:
        return parse_host(self.host.strip().removeprefix("*.").removeprefix(".")) if self.host else ""

    def takes(self, item: LoggedChange) -> bool:
        change = item.change
        if self.what and change.what not in self.what:
            return False
        if change.what == "changed":
            wanted = change.kind in self.kinds if self.kinds else self.cosmetic or change.matters
            if not wanted or change.magnitude < self.at_least:
                return False
        if self._name and item.host != self._name and not item.host.endswith("." + self._name):
            return False
        return max(item.relevance, item.was) >= self.relevant and self._search.search(item.url) is not None


IMPORTANT_CHANGES = ChangeFilter()


def changes(
    log: SqliteLog,
    *,
    after: int = 0,
    upto: int | None = None,
    since: float = 0.0,
    until: float = math.inf,
    wanted: ChangeFilter = IMPORTANT_CHANGES,
    newest_first: bool = False,
) -> Iterator[LoggedChange]:
    """Yield changes in the order of the log, after event `after` up to `upto`, from `since` and before `until`."""
    crawl = identity(log)
    first = max(after, beginning(log, since) - 1, refreshed_from(log))
    where = f"{VISITS_WITH_CHANGES} AND outcome != 'unchanged' AND seq > ? AND seq <= ?"
    last = end(log) if upto is None else upto
    order = "seq DESC" if newest_first else "seq"
    for seq, visit in log.numbered(where, order, (first, last)):
        change = change_of(visit)
        if change is None or not since <= visit.started < until:
            continue
        item = _logged_change(log, crawl, seq, visit, change)
        if wanted.takes(item):
            yield item


def _logged_change(log: SqliteLog, crawl: UUID, seq: int, visit: Visit, change: Change) -> LoggedChange:
    """Return a change with data of the previous version, because a vanished page has no title of its own."""
    where = f"url = ? AND seq < ? AND {VERSIONS}"
    earlier = log.rows(f"title, {RELEVANCE_NOW}", where, "seq DESC LIMIT 1", (visit.node, seq))
    title_before, was = next(earlier, ("", 0.0))
    title = title_before if change.what in ("vanished", "moved") or not visit.title else visit.title
    # The id includes the change, because copies of a crawl that continue separately must have distinct ids.
    urn = uuid5(crawl, f"{seq} {visit.started!r} {visit.node!a}").urn
    return LoggedChange(seq, urn, visit.node, visit.started, title, visit.relevance_now, change, was, visit.follows)


def identity(log: SqliteLog) -> UUID:
    """Return an id of the crawl that survives moving its directory: a hash of its first event, including the time."""
    first = next(log.query("SELECT url, at FROM seed ORDER BY seq LIMIT 1"), None)
    first = first or next(log.query("SELECT name, value, at FROM setting ORDER BY seq LIMIT 1"), ())
    digest = hashlib.sha256(repr(first).encode("utf-8", "backslashreplace")).digest()
    return UUID(bytes=digest[:16], version=5)


def end(log: SqliteLog) -> int:
    return log.end()


def beginning(log: SqliteLog, since: float) -> int:
    """Return a sequence number before which all visits are older than `since`, by bisection.

    Concurrent visits are logged in the order of completion, and clocks may be set back, so SLACK is allowed for.
    """
    low, high = 1, end(log) + 1
    if since <= SLACK:
        return low
    while low < high:
        middle = (low + high) // 2
        visit = next(log.rows("seq, started", f"{VISITS_WITH_CHANGES} AND seq >= ?", "seq LIMIT 1", (middle,)), None)
        if visit is not None and visit[1] < since - SLACK:
            low = visit[0] + 1
        else:
            high = middle
    return low


def refreshed_from(log: SqliteLog) -> int:
    """Return a sequence number up to which no event is a change: before it no page was revisited."""
    first = f"SELECT MIN(seq) FROM setting WHERE name IN ('{REFRESH_SETTING}', 'watched')"
    (began,) = next(log.query(first))
    return int(began or end(log))


def count_unchanged_visits(log: SqliteLog, *, after: int = 0, upto: int | None = None, since: float = 0.0) -> int:
    first = max(after, beginning(log, since) - 1)
    where = f"{VISITS_WITH_CHANGES} AND outcome = 'unchanged' AND seq > ? AND seq <= ?"
    given = (first, end(log) if upto is None else upto, since)
    return int(next(log.rows("COUNT(*)", f"{where} AND started >= ?", given=given))[0])


def last_visit_time(log: SqliteLog) -> tuple[float, bool]:
    (again,) = next(log.rows("COUNT(*)", "kind = 'revisit'"))
    (last,) = next(log.rows("started", VISITS_WITH_CHANGES, "seq DESC LIMIT 1"), (0.0,))
    return last, again > 0


Excerpt: TypeAlias = Callable[[LoggedChange], str]  # returns a few added and removed words, or an empty string
Where: TypeAlias = Callable[[LoggedChange], str]  # returns the URL that shows a change; empty: the page's own


def nothing(item: LoggedChange) -> str:
    return ""


def plain_line(text: str, max_length: int = 300) -> str:
    """Return one line that is safe in XML, JSON, headers and terminals.

    >>> plain_line("Reefs" + chr(13) + chr(10) + "Bcc: all@example.org" + chr(0))
    'Reefs Bcc: all@example.org'
    """
    text = text[: 4 * max_length].replace("\x01", " ").replace("\x02", " ")  # link markers
    return clip(visible(text), max_length)


def name(item: LoggedChange) -> str:
    return plain_line(item.title) or plain_line(item.url)


def describe_change(change: Change) -> str:
    """Describe a change in two or three words, for titles."""
    if change.what != "changed":
        return change.what
    return f"{change.kind} changed, {format_share(change.magnitude)}"


def format_share(magnitude: float) -> str:
    """Format a magnitude as a percentage; positive values are never 0 %.

    >>> format_share(0.25), format_share(0.001), format_share(0.0), format_share(0.999)
    ('25 %', '<1 %', '0 %', '99 %')
    """
    if 0 < magnitude < 0.01:
        return "<1 %"
    return f"{100 if magnitude >= 1 else min(99, round(100 * magnitude))} %"


def reasons(change: Change) -> list[str]:
    """Return the detectors' explanations, each with the detector's name.

    >>> reasons(Change("changed", "text", 0.5, ["simhash"], ["9 of 64 bits"])), reasons(Change("moved", target="b"))
    (['simhash: 9 of 64 bits'], ['to b'])
    """
    lines = [f"{plain_line(by)}: {plain_line(says)}" for by, says in zip(change.by, change.says, strict=False)]
    lines += [plain_line(says) for says in change.says[len(change.by) :]]
    if change.what == "moved" and change.target and not any(change.target in line for line in lines):
        lines.insert(0, f"to {plain_line(change.target, 2_000)}")
    return [line for line in lines if line]


def story(item: LoggedChange, excerpt: str = "") -> str:
    lines = [f"{describe_change(item.change)[:1].upper()}{describe_change(item.change)[1:]}.", *reasons(item.change)]
    if excerpt:
        lines.append(plain_line(excerpt, 1_000))
    if item.follows:
        lines.append(f"The version before is of {day_and_time(item.follows)}.")
    return "\n".join(lines)


def tally(changes: Iterable[LoggedChange]) -> Counter[str]:
    return Counter(item.change.what for item in changes)


def format_counts(tally: Mapping[str, int]) -> str:
    """Format the number of changes of each kind.

    >>> format_counts({"vanished": 1, "changed": 3})
    '3 changed, 1 vanished'
    """
    return ", ".join(f"{tally[what]:,} {what}" for what in WHATS if tally.get(what)) or "nothing changed"


def day_and_time(at: float) -> str:
    """Format a time in UTC, for people."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"


def rfc3339(at: float) -> str:
    """Format a time as in RFC 3339."""
    return f"{datetime.fromtimestamp(int(at), UTC):%Y-%m-%dT%H:%M:%SZ}"


def change_data(item: LoggedChange) -> dict[str, Any]:
    """Return a change as JSON data, for feeds and `lycosa changes --json`."""
    change = item.change
    return {
        "id": item.id,
        "seq": item.seq,
        "what": change.what,
        "kind": change.kind if change.what == "changed" else None,
        "magnitude": round(change.magnitude, 4) if change.what == "changed" else None,
        "url": plain_line(item.url, 10_000),
        "host": item.host,
        "title": plain_line(item.title),
        "at": rfc3339(item.at),
        "follows": rfc3339(item.follows) if item.follows else None,
        "relevance": round(item.relevance, 4),
        "score_before": round(item.was, 4),
        "moved_to": plain_line(change.target, 10_000) or None,
        "says": reasons(change),
    }
