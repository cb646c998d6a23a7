"""The version that came held against the one that is kept: the bridge between visits and detectors."""

from __future__ import annotations

from collections.abc import Sequence

from lycosa.core.types import Exchange, Page, Visit
from lycosa.refresh.change import Change
from lycosa.refresh.judging import judge_change
from lycosa.refresh.mainpart import difference
from lycosa.refresh.snapshot import Snapshot
from lycosa.store.versions import Versions
from lycosa.web.html import charset_of
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.reading import read_again
from lycosa.web.tree import decode

INFLATED = 10_000_000
"""Bytes of a body that are compared: as many as are read while crawling."""

CUT = frozenset({"truncated:disconnect", "truncated:time"})
"""What is said of an answer that broke off."""


class Comparison:
    """Compares what a revisit brought with the last version; reads the archive only where digests differ."""

    def __init__(self, versions: Versions, detectors: Sequence[str], threshold: float) -> None:
        self.versions = versions
        self.detectors = tuple(detectors)
        self.threshold = threshold

    def is_same(self, before: Visit, visit: Visit, page: Page) -> bool:
        """Whether the content is the very same: the same bytes, however they were packed, to be read the same way."""
        if page.exchange is None or not before.digest or _directives(before) != _directives(visit):
            return False
        kept = self.versions.exchange(before)
        if visit.digest != before.digest:
            if kept is None or not (_coding(kept) or _coding(page.exchange)):
                return False
            if inflated(kept) != inflated(page.exchange):
                return False
        return kept is None or _reads_the_same(inflated(kept), _kind(kept), _kind(page.exchange))

    def change(self, before: Visit, visit: Visit, page: Page) -> Change | None:
        """In what way a version differs from the one before it; None if in none that any detector could see."""
        old, new = self._kept(before), self._come(visit, page)
        if not before.place.file:  # nothing archived: what the log knows has to do
            new.body = b""
        elif old.body == new.body and old.content_type != new.content_type:
            _tell_apart(old, new)
        change = judge_change(old, new, self.detectors)
        if change is None and old.body and not new.body and before.place.file:
            change = Change("changed", "text", 1.0, ["digest"], ["an empty body"])
        if set(before.flags) & CUT:  # who knows what the rest of it was
            change = Change("changed", by=["digest"], says=["the version before was cut short"])
        if said := _directives(visit) ^ _directives(before):
            told = [f"{'now' if flag in visit.flags else 'no longer'} {flag}" for flag in sorted(said)]
            change = change or Change("changed")
            change.by, change.says = [*change.by, "robots"], [*change.says, ", ".join(told)]
        return change

    def share(self, before: Visit, visit: Visit, page: Page) -> float:
        """The share of words that differ between the main parts of two versions."""
        return difference(self._kept(before).main, self._come(visit, page).main).share

    def _kept(self, before: Visit) -> Snapshot:
        exchange = self.versions.exchange(before)
        body = inflated(exchange) if exchange is not None else b""
        kind = _kind(exchange) if exchange is not None else ""
        document = read_again(body, before.node, kind, apart="apart" in before.data) if body else None
        return Snapshot(
            before.node,
            body,
            kind,
            before.title if document is None else document.title,
            "" if document is None else document.text,
            before.links.urls if document is None else document.links.urls,
            before.simhash,
            before.worth,
            self.threshold,
        )

    def _come(self, visit: Visit, page: Page) -> Snapshot:
        exchange = page.exchange
        return Snapshot(
            visit.node,
            inflated(exchange) if exchange is not None else b"",
            _kind(exchange) if exchange is not None else "",
            visit.title,
            page.text,
            visit.links.urls,
            visit.simhash,
            visit.worth,
            self.threshold,
        )


def _directives(visit: Visit) -> set[str]:
    """What a page asks of robots; a header may say so, with the body as it was."""
    return set(visit.flags) & {"noindex", "noarchive", "nofollow"}


def _reads_the_same(body: bytes, old: str, new: str) -> bool:
    """Whether a body says the same under both content types: other charsets may mean other words."""
    if old == new:
        return True
    types = [kind.partition(";")[0].strip() for kind in (old, new)]
    return types[0] == types[1] and decode(body, charset_of(old)) == decode(body, charset_of(new))


def _tell_apart(old: Snapshot, new: Snapshot) -> None:
    """The same bytes that are to be read in another way: as each is read, so that detectors see a difference."""
    for version in (old, new):
        version.body = version.source.encode("utf-8", "replace")
        version.content_type = f"{version.content_type.partition(';')[0].strip()}; charset=utf-8"
        del version.source
    if old.body == new.body:  # another type altogether
        new.body += b"\n"


def inflated(exchange: Exchange) -> bytes:
    """The body of an answer, unpacked; as it came if it can't be."""
    try:
        return inflate(exchange.body, exchange.header("content-encoding"), INFLATED)[0]
    except BadEncoding:
        return exchange.body


def _coding(exchange: Exchange) -> str:
    return exchange.header("content-encoding").strip().lower()


def _kind(exchange: Exchange) -> str:
    return exchange.header("content-type").strip().lower()
