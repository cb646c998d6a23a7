"""The version that came held against the one that is kept: the bridge between visits and detectors."""

from __future__ import annotations

from collections.abc import Sequence

from lycosa.core.types import Exchange, Page, Visit
from lycosa.refresh.change import Change
from lycosa.refresh.judging import judge_change
from lycosa.refresh.snapshot import Snapshot
from lycosa.store.versions import Versions
from lycosa.web.html import read_body
from lycosa.web.inflate import BadEncoding, inflate

INFLATED = 10_000_000
"""Bytes of a body that are compared: as many as are read while crawling."""


class Comparison:
    """Compares what a revisit brought with the last version; reads the archive only where digests differ."""

    def __init__(self, versions: Versions, detectors: Sequence[str], threshold: float) -> None:
        self.versions = versions
        self.detectors = tuple(detectors)
        self.threshold = threshold

    def is_same(self, before: Visit, visit: Visit, page: Page) -> bool:
        """Whether the content is the very same: the same bytes, however they were packed, to be read the same way."""
        if page.exchange is None or not before.digest:
            return False
        kept = None
        if visit.digest != before.digest:
            kept = self.versions.exchange(before)
            if kept is None or _coding(kept) == _coding(page.exchange):
                return False
            if _inflated(kept) != _inflated(page.exchange):
                return False
        kept = kept or self.versions.exchange(before)
        return kept is None or _kind(kept) == _kind(page.exchange)

    def change(self, before: Visit, visit: Visit, page: Page) -> Change | None:
        """In what way a version differs from the one before it; None if in none that any detector could see."""
        old, new = self._kept(before), self._come(visit, page)
        if not old.body:  # nothing archived: what the log knows has to do
            new.body = b""
        return judge_change(old, new, self.detectors)

    def _kept(self, before: Visit) -> Snapshot:
        exchange = self.versions.exchange(before)
        body = _inflated(exchange) if exchange is not None else b""
        kind = _kind(exchange) if exchange is not None else ""
        document = read_body(body, before.node, kind) if body else None
        return Snapshot(
            before.node,
            body,
            kind,
            before.title if document is None else document.title,
            "" if document is None else _plain(document.marked),
            before.links.urls if document is None else document.links.urls,
            before.simhash,
            before.beta,
            self.threshold,
        )

    def _come(self, visit: Visit, page: Page) -> Snapshot:
        exchange = page.exchange
        return Snapshot(
            visit.node,
            _inflated(exchange) if exchange is not None else b"",
            _kind(exchange) if exchange is not None else "",
            visit.title,
            page.text,
            visit.links.urls,
            visit.simhash,
            visit.beta,
            self.threshold,
        )


def _inflated(exchange: Exchange) -> bytes:
    try:
        return inflate(exchange.body, exchange.header("content-encoding"), INFLATED)[0]
    except BadEncoding:
        return exchange.body


def _coding(exchange: Exchange) -> str:
    return exchange.header("content-encoding").strip().lower()


def _kind(exchange: Exchange) -> str:
    return exchange.header("content-type").strip().lower()


def _plain(marked: str) -> str:
    return marked.replace("\x01", "").replace("\x02", "")
