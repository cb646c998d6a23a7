"""Crawls to export: one over HTTP, the others written directly to a log and an archive."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import numpy as np

import lycosa
from first_links import FirstLinks
from lycosa.core.options import Options
from lycosa.core.types import Exchange, Links, Outcome, Page, Seed, Setting, Visit
from lycosa.store.directory import Directory
from lycosa.testweb import Web, serve
from lycosa.text.vocabulary import Vocabulary
from lycosa.web.html import read_body
from lycosa.web.inflate import inflate

THRESHOLD = 0.2
TOPIC = "marine biology/coral reefs"


def real(path: Path) -> Path:
    """Crawl the embedded web, with redirects, dead links and copies."""
    with serve(Web(pages=500, traps=("redirects", "dead", "duplicates")), record=False) as server:
        web = server.web
        options = {"budget": 60, "delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"]}
        for _ in lycosa.crawl(web.query(TOPIC), web.seeds(TOPIC), out=path, **options):
            pass
    return path


class SyntheticCrawl:
    """Crawl directory with methods that append visits."""

    def __init__(self, path: Path, *, archive: bool = True, rotate: int = 1_000_000_000) -> None:
        self.path = path
        self._directory = Directory.create(path, Options(topic="coral reefs", archive=archive))
        self.log = self._directory.log()
        self._archive = self._directory.archive(self.log, "Lycosa/test", rotate) if archive else None
        self._words, self._first_links = Vocabulary(), FirstLinks()
        self._clock = 1_700_000_000.25
        self.log.append(Setting("threshold", THRESHOLD))

    def seed(self, node: str) -> None:
        self._first_links.fill(seed := Seed(node))
        self.log.append(seed)

    def page(
        self,
        node: str,
        body: str | bytes = "",
        *,
        relevance: float = 0.5,
        links: Sequence[tuple[str, str, float]] = (),
        same_as: str = "",
        headers: Sequence[tuple[bytes, bytes]] = ((b"Content-Type", b"text/html; charset=utf-8"),),
        **more: object,
    ) -> Visit:
        """Record a page with text and simhash of its body; links are (target, anchor, link_relevance)."""
        raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        named = {key.lower(): value.decode() for key, value in headers}
        inflated, _ = inflate(raw, named.get(b"content-encoding", ""), 10_000_000)
        document = read_body(inflated, node, named.get(b"content-type", ""))
        visit = Visit(node, "page", "ok", 1, title=document.title, relevance=relevance, same_as=same_as, status=200)
        visit.simhash = self._words.read(Page("ok", title=document.title, marked=document.marked)).simhash
        visit.links = Links.to(*[link[0] for link in links], anchors=[link[1] for link in links])
        visit.links.link_relevances = np.array([link[2] for link in links], np.float32)
        for name, value in more.items():
            setattr(visit, name, value)
        return self.record(visit, raw, headers)

    def redirect(self, node: str, target: str) -> Visit:
        visit = Visit(node, "redirect", "redirect", 1, status=301, links=Links.to(target))
        return self.record(visit, b"", [(b"Location", target.encode())])

    def other(self, node: str, kind: str, outcome: Outcome = "ok", body: bytes = b"") -> Visit:
        """Record a visit that is not a page, such as robots.txt or a failure."""
        return self.record(Visit(node, kind, outcome, 1, status=200), body, [])  # type: ignore[arg-type]

    def record(self, visit: Visit, body: bytes, headers: Sequence[tuple[bytes, bytes]]) -> Visit:
        self._clock += 1
        visit.started = visit.started or self._clock
        visit.size, visit.digest, visit.address = len(body), hashlib.sha256(body).digest(), "192.0.2.1"
        if self._archive is not None:
            request = f"GET {visit.node} HTTP/1.1\r\nHost: a.test\r\n\r\n".encode()
            line = f"HTTP/1.1 {visit.status} OK".encode()
            visit.place = self._archive.append(visit, Exchange(request, line, list(headers), body, visit.digest))
        self._first_links.fill(visit)
        self.log.append(visit)
        return visit

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()
        self.log.close()
        self._directory.close()


@contextmanager
def crawled(path: Path, *, archive: bool = True, rotate: int = 1_000_000_000) -> Iterator[SyntheticCrawl]:
    """Open a crawl to fill; close it when the block ends."""
    crawl = SyntheticCrawl(path, archive=archive, rotate=rotate)
    try:
        yield crawl
    finally:
        crawl.close()


def prose(number: int, words: int = 120) -> str:
    """Return a text that shares few word sequences with those of other numbers."""
    return " ".join(f"word{n}" for n in Random(number).choices(range(5_000), k=words))


def html(title: str, text: str, menu: str = "") -> str:
    return f"<!DOCTYPE html><title>{title}</title><body>{menu}<h1>{title}</h1><p>{text}</p>"


def many(path: Path, pages: int, words: int = 120) -> Path:
    """Write a crawl of `pages` pages that link to each other, with redirects, over several archive files."""
    with crawled(path, rotate=200_000) as crawl, crawl.log.batch():
        crawl.seed("http://a.test/0")
        for i in range(pages):
            targets = [(f"http://a.test/{(i * k + k) % pages}", f"page {k}", k / 10) for k in range(1, 9)]
            crawl.page(f"http://a.test/{i}", html(f"Page {i}", prose(i, words)), links=targets)
            if i % 10 == 0:
                crawl.redirect(f"http://a.test/go/{i}", f"http://a.test/{i}")
    return path
