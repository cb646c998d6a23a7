"""Small handwritten webs, crawled in virtual time, and revisits appended to the results."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import lycosa
from lycosa.core.types import Exchange, Visit
from lycosa.spaces.web_space import WebSpace
from lycosa.store.directory import Directory
from lycosa.testweb.reply import ServedDocument, ServedResponse, finish
from lycosa.testweb.simulation import EPOCH, SimTransport, clock, run_virtual
from lycosa.web.politeness import Politeness

FRONT = "http://a.localhost/"


class Pages:
    """Web of given pages, as HTML or documents; any other URL is 404."""

    def __init__(self, pages: Mapping[str, str | ServedDocument]) -> None:
        self.pages = pages

    def response(self, url: str, *, headers: Mapping[str, str] | None = None, version: int = 0) -> ServedResponse:
        page = self.pages.get(url, ServedDocument(b"nothing here", status=404))
        return finish(page if isinstance(page, ServedDocument) else ServedDocument(page.encode()), headers or {})

    def counts(self, url: str) -> bool:
        return False


def html(title: str, text: str, *links: tuple[str, str], language: str = "en") -> str:
    """Return a page with a title, a text, and a sentence of links."""
    told = " ".join(f'see <a href="{url}">{anchor}</a>' for url, anchor in links)
    return f'<!DOCTYPE html><html lang="{language}"><title>{title}</title><body><p>{text}</p><p>Also {told}.</p>'


def redirect(url: str) -> ServedDocument:
    """Return a redirect."""
    return ServedDocument(b"", status=302, headers=(("Location", url),))


def crawl(
    path: Path,
    pages: Mapping[str, str | ServedDocument],
    topic: str = "coral",
    *,
    each: Callable[[int], None] = lambda number: None,
    **options: Any,
) -> None:
    """Crawl a web from its front page to its end, or resume; `each` is called with the number of each page, from 0."""

    async def run() -> None:
        politeness = Politeness(clock, delay=0.1, free=lambda address: True)
        space = WebSpace(SimTransport(Pages(pages), seed=1, latency=(0.01, 0.02)), politeness, clock)
        given: dict[str, Any] = {
            "space": space,
            "clock": clock,
            "strategy": "breadth-first",
            "judge": "vector",
            **options,
        }
        pages_seen = 0
        async for visit in lycosa.crawl(topic, [FRONT], out=path, **given):
            if visit.is_page:
                each(pages_seen)
                pages_seen += 1

    run_virtual(run())


def look_again(path: Path, pages: Mapping[str, str | ServedDocument], days: float = 10.0) -> None:
    """Revisit all pages of a crawl some days later, when they may be others."""

    async def run() -> None:
        await asyncio.sleep(days * 86_400)  # virtual time
        politeness = Politeness(clock, delay=0.1, free=lambda address: True)
        space = WebSpace(SimTransport(Pages(pages), seed=1, latency=(0.01, 0.02)), politeness, clock)
        async for _ in lycosa.refresh(path, space=space, clock=clock, everything=True):
            pass

    run_virtual(run())


def star(pages: Mapping[str, str], front: str = "Front") -> dict[str, str | ServedDocument]:
    """Return a web whose front page links to each of some pages."""
    return {FRONT: html(front, "Where it begins.", *((url, "there") for url in pages)), **pages}


def visit_again(path: Path, url: str, page: str, *, kind: str = "page", days: float = 1.0, **more: Any) -> None:
    """Append a later visit of a URL to a crawl."""
    opened = Directory.open(path)
    log = opened.log()
    archive = opened.archive(log, "test", 10**9)
    for visit in log:
        if isinstance(visit, Visit):
            archive.remember(visit)
    body = page.encode()
    visit = Visit(url, kind, "ok", 99, status=200, size=len(body), relevance=0.5)  # type: ignore[arg-type]
    visit.started = visit.ended = EPOCH + days * 86_400
    visit.digest = hashlib.sha256(body).digest()
    for name, value in more.items():
        setattr(visit, name, value)
    headers = [(b"Content-Type", b"text/html; charset=utf-8")]
    visit.place = archive.append(
        visit, Exchange(b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK", headers, body, visit.digest)
    )
    log.append(visit)
    for part in (archive, log, opened):
        part.close()
