"""A constructed crawl with revisited pages: changed, unchanged, gone, moved."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from first_links import FirstLinks
from lycosa.core.options import Options
from lycosa.core.types import Exchange, Links, Page, Seed, Setting, Visit
from lycosa.revisit.change import Change, ChangeType
from lycosa.revisit.change import Kind as ChangeKind
from lycosa.revisit.ledger import REFRESH_SETTING
from lycosa.store.directory import Directory
from lycosa.text.vocabulary import Vocabulary
from lycosa.web.html import read_body

EPOCH = 1_767_225_600.0
"""Midnight of 2026-01-01, UTC: day 0."""

DAY = 86_400.0
THRESHOLD = 0.2


def html(title: str, text: str) -> str:
    return f'<!DOCTYPE html><html lang="en"><title>{title}</title><body><h1>{title}</h1><p>{text}</p>'


class Revisited:
    """Crawl directory that is filled visit by visit; days are counted from 2026-01-01."""

    def __init__(self, path: Path, *, archive: bool = True, rotate: int = 10**9, topic: str = "coral") -> None:
        self.path = path
        self._directory = Directory.create(path, Options(topic=topic, archive=archive, budget=50))
        self.log = self._directory.log()
        self._archive = self._directory.archive(self.log, "Lycosa/test", rotate) if archive else None
        self._words, self._first_links = Vocabulary(), FirstLinks()
        self._follows: dict[str, float] = {}
        self._gone: set[str] = set()
        self._is_refreshed = False
        self.log.append(Setting("threshold", THRESHOLD, EPOCH))

    def seed(self, *nodes: str) -> None:
        for node in nodes:
            self._first_links.fill(seed := Seed(node, EPOCH))
            self.log.append(seed)

    def page(self, node: str, body: str, day: float = 0.0, *, links: Sequence[str] = (), **more: Any) -> Visit:
        """Record the first visit of a page."""
        return self._content(Visit(node, "page", "ok", 1, status=200, relevance=0.5), body, day, links, more)

    def changed(
        self,
        node: str,
        body: str,
        day: float,
        kind: ChangeKind = "text",
        magnitude: float = 0.5,
        *,
        what: ChangeType = "changed",
        links: Sequence[str] = (),
        **more: Any,
    ) -> Visit:
        """Record a changed version."""
        change = Change(what, kind, magnitude, ["words"], ["half of the words are others"])
        visit = Visit(node, "revisit", "ok", 1, status=200, relevance=0.5)
        visit.data = {"follows": self._follows[node], "change": change.as_data()}
        return self._content(visit, body, day, links, more)

    def same(self, node: str, body: str, day: float) -> Visit:
        """Record a revisit with an identical response."""
        visit = Visit(node, "revisit", "unchanged", 1, status=200, data={"follows": self._follows[node]})
        return self._record(visit, body.encode(), day, [(b"Content-Type", b"text/html; charset=utf-8")])

    def unmodified(self, node: str, day: float) -> Visit:
        """Record a revisit answered by 304."""
        visit = Visit(node, "revisit", "unchanged", 1, status=304, data={"follows": self._follows[node]})
        return self._record(visit, b"", day, [(b"ETag", b'"1"')])

    def gone(self, node: str, day: float) -> Visit:
        """Record a revisit answered by 404."""
        visit = Visit(node, "revisit", "gone", 1, status=404, data={"follows": self._follows[node]})
        if node not in self._gone:
            visit.data["change"] = Change("vanished", magnitude=1.0, says=["status 404"]).as_data()
        self._gone.add(node)
        return self._record(visit, b"nothing here", day, [(b"Content-Type", b"text/html")])

    def moved(self, node: str, target: str, day: float) -> Visit:
        """Record a revisit answered by a redirect."""
        visit = Visit(node, "revisit", "redirect", 1, status=301, data={"follows": self._follows[node]})
        visit.links = Links.to(target)
        visit.data["change"] = Change("moved", magnitude=1.0, says=[f"for good, to {target}"], target=target).as_data()
        return self._record(visit, b"", day, [(b"Location", target.encode())])

    def failed(self, node: str, day: float) -> Visit:
        """Record a timeout."""
        visit = Visit(node, "revisit", "timeout", 1, note="no answer", data={"follows": self._follows[node]})
        visit.started = visit.ended = EPOCH + day * DAY
        return self.record(visit)

    def _content(self, visit: Visit, body: str, day: float, links: Sequence[str], more: dict[str, Any]) -> Visit:
        raw = body.encode()
        document = read_body(raw, visit.node, "text/html; charset=utf-8")
        visit.title, visit.language = document.title, "en"
        read = self._words.read(Page("ok", title=document.title, marked=document.marked))
        visit.terms, visit.simhash = read.terms, read.simhash
        visit.links = Links.to(*links, anchors=[f"to {url}" for url in links])
        visit.links.link_relevances = np.full(len(links), 0.5, np.float32)
        for name, value in more.items():
            setattr(visit, name, value)
        self._gone.discard(visit.node)
        self._record(visit, raw, day, [(b"Content-Type", b"text/html; charset=utf-8")])
        self._follows[visit.node] = visit.started
        return visit

    def _record(self, visit: Visit, body: bytes, day: float, headers: list[tuple[bytes, bytes]]) -> Visit:
        visit.started = EPOCH + day * DAY
        visit.ended = visit.started + 0.5
        visit.size, visit.address = len(body), "192.0.2.1"
        digest = hashlib.sha256(body).digest()
        visit.digest = digest if visit.status != 304 else b""
        if self._archive is not None:
            request = f"GET {visit.node} HTTP/1.1\r\nHost: a.test\r\n\r\n".encode()
            line = f"HTTP/1.1 {visit.status} OK".encode()
            visit.place = self._archive.append(visit, Exchange(request, line, headers, body, digest))
        return self.record(visit)

    def record(self, visit: Visit) -> Visit:
        """Append a visit, after a note that the crawl is refreshed if it is the first revisit."""
        if visit.kind == "revisit" and not self._is_refreshed:
            self.log.append(Setting(REFRESH_SETTING, True))
            self._is_refreshed = True
        self._first_links.fill(visit)
        self.log.append(visit)
        return visit

    def close(self) -> None:
        """Close archive, log and directory."""
        for part in (self._archive, self.log, self._directory):
            if part is not None:
                part.close()


@contextmanager
def revisited(path: Path, **options: Any) -> Iterator[Revisited]:
    """Open a crawl to fill; close it when the block ends."""
    crawl = Revisited(path, **options)
    try:
        yield crawl
    finally:
        crawl.close()
