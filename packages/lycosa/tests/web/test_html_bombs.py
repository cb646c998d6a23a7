"""Bounds of size and time for hostile HTML pages."""

from collections.abc import Iterator

import pytest

from crawl_helpers import plant, sim_engine
from lycosa.core.types import Visit
from lycosa.testweb import ServedResponse
from lycosa.testweb.simulation import run_virtual
from lycosa.web.html import MAX_REPEATED_TAGS, MAX_SOURCE, MAX_TAGS, ParsedPage, extract, limit_markup
from lycosa.web.parse_process import WorkerPool
from page_bombs import BOMBS

URL = "http://h.test/"
MEMORY = 300_000_000
SIZE = 60_000


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(1, MEMORY)
    yield pool
    pool.close()


def letters_read(document: ParsedPage) -> int:
    texts = (document.marked, document.main, document.title, document.headings, document.lead)
    links = document.links
    return sum(map(len, (*texts, *links.anchors, *links.contexts, *document.about.values())))


@pytest.mark.parametrize("name", BOMBS)
def test_extract_bounds_bombs(pool: WorkerPool, name: str) -> None:
    body = BOMBS[name](SIZE)
    document = pool.run("page", body, URL, "text/html", "")
    assert letters_read(document) <= 10 * len(body)
    links = document.links
    assert {len(links)} == {len(column) for column in (links.anchors, links.contexts, links.rels, links.positions)}
    assert sum(map(len, links.urls)) <= 10 * len(body) + 100_000


def test_extract_does_not_repeat_wide_cells(pool: WorkerPool) -> None:
    body = b"<table><tr><td>" + b"w " * 25_000 + b"<td>q</tr>" + b"<tr><td>y<td>z</tr>" * 20_000
    assert letters_read(pool.run("page", body, URL, "text/html", "")) < len(body)


def test_limit_markup_bounds_characters_and_tags() -> None:
    assert MAX_SOURCE == len(limit_markup("w" * (MAX_SOURCE + 1)))
    assert MAX_TAGS == limit_markup("<i>" * (MAX_TAGS + 10)).count("<")
    page = extract(b"<p>first " + b"<br>" * MAX_TAGS + b"<p>last", URL)
    assert ("first", []) == (page.text.strip(), page.links.urls)


def test_limit_markup_keeps_first_bodies() -> None:
    page = "<html lang=en>" + "<body id=a>" * 30 + "words " * 20_000
    assert (1, MAX_REPEATED_TAGS, 30 - MAX_REPEATED_TAGS) == tuple(
        limit_markup(page).count(tag) for tag in ("<html", "<body", "<span")
    )
    wild = "<body '><body id=a><body id=b>" + "words " * 20_000
    assert "<body '><span id=a><span id=b>" == limit_markup(wild)[:30]
    assert page[:500] == limit_markup(page[:500])


def test_limit_markup_keeps_html_tag_after_comments() -> None:
    head = (
        '<!--[if IE 7]><html class="ie7"><![endif]--><!--[if !IE]><!--><html class="no-js" lang="de"><!--<![endif]-->'
    )
    for size in (10, 20_000):
        page = extract((head + "<title>Riffe</title><body><p>" + "Wort " * size).encode(), URL)
        assert ("Riffe", "de") == (page.title, page.language)


def test_limit_markup_keeps_long_links() -> None:
    title = "a long title, it's true " * 20
    page = "".join(f'<p><a href="/{n}" title="{title}">x</a>' for n in range(4_000))
    assert 4_000 == len(extract(page.encode(), URL).links)
    wild = " ".join(f"a{n}" for n in range(3_000))
    assert 1 == len(extract((f"<a href=/wild {wild}>x</a><a href=/good>y</a>" + "<p>z" * 4_000).encode(), URL).links)


class BombSite:
    def __init__(self, size: int) -> None:
        self.bodies = {f"http://h.localhost/{n}": bomb(size) for n, bomb in enumerate([*BOMBS.values()][::4])}
        # large enough for a worker process
        self.bodies["http://h.localhost/large"] = BOMBS["formatting with attributes"](600_000)

    def response(self, url: str, *, headers: object = None, version: int = 0) -> ServedResponse:
        if url.endswith("robots.txt"):
            return ServedResponse(404, [], b"")
        front = "".join(f"<p><a href='{to}'>coral {n}</a>" for n, to in enumerate(self.bodies)).encode()
        return ServedResponse(200, [("Content-Type", "text/html")], self.bodies.get(url, front))

    def counts(self, url: str) -> bool:
        return False


def test_crawl_records_every_bomb() -> None:
    site = BombSite(2_000)

    async def crawl() -> list[Visit]:
        engine = sim_engine(site, "coral reefs", strategy="breadth-first")
        plant(engine, ["http://h.localhost/"])
        return [visit async for visit in engine.run()]

    visits = [visit for visit in run_virtual(crawl()) if visit.kind == "page" and visit.node in site.bodies]
    assert sorted(site.bodies) == sorted(visit.node for visit in visits)
    assert {"ok"} == {visit.outcome for visit in visits}
