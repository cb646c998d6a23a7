"""Tests of sitemaps, feeds and probes in the crawl loop."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

import lycosa
from lycosa.core import assessor
from lycosa.core.budget import Budget
from lycosa.core.composite import Greedy
from lycosa.core.engine import MAX_SOURCES, Engine
from lycosa.core.table import _COLUMNS as COLUMNS
from lycosa.core.table import OPEN
from lycosa.core.types import Event, Kind, Page, Seed, Visit
from lycosa.judges.vector_judge import VectorJudge
from lycosa.spaces.web_space import WebSpace
from lycosa.store.log import MemoryLog
from lycosa.strategies import estimator
from lycosa.testweb import ServedRequest, ServedResponse, Web, gaps, serve
from lycosa.testweb.simulation import SimTransport, clock, run_virtual
from lycosa.text.vocabulary import Vocabulary
from lycosa.traps.trap_filter import SectionTrapFilter
from lycosa.web.politeness import Politeness
from stored import stored

A, B = "http://a.localhost", "http://b.localhost"
ROUNDING = 1e-5


class Site:
    """Web with scripted responses by path or URL; any other request gets 404."""

    def __init__(self, answers: Mapping[str, ServedResponse | bytes | str]) -> None:
        self.answers = {(A + key if key.startswith("/") else key): answer for key, answer in answers.items()}

    def counts(self, url: str) -> bool:
        return False

    def response(self, url: str, *, headers: Any = None, version: int = 0) -> ServedResponse:
        answer = self.answers.get(url, ServedResponse(404, [], b""))
        if isinstance(answer, ServedResponse):
            return answer
        if isinstance(answer, bytes):
            return ServedResponse(200, [("Content-Type", "application/xml")], answer)
        kind = "text/plain" if url.endswith(".txt") else "text/html"
        return ServedResponse(200, [("Content-Type", kind)], answer.encode())


def urlset(*urls: str) -> bytes:
    inner = "".join(f"<url><loc>{A + url if url.startswith('/') else url}</loc></url>" for url in urls)
    return f"<urlset>{inner}</urlset>".encode()


def index(*urls: str) -> bytes:
    inner = "".join(f"<sitemap><loc>{A + url if url.startswith('/') else url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex>{inner}</sitemapindex>".encode()


def pages(*paths: str) -> dict[str, str]:
    return {path: f"<title>{path}</title><p>{path.strip('/').replace('-', ' ')}" for path in paths}


def made(web: Any, **rest: Any) -> Engine:
    """Return an engine over a simulated transport, by default with one request at a time."""
    politeness = Politeness(clock, delay=rest.pop("delay", 1.0), free=lambda address: True)
    transport = SimTransport(web, seed=1, latency=(0.05, 0.5))
    space = WebSpace(
        transport, politeness, clock, sitemaps=rest.pop("sitemaps", False), probe_after=rest.pop("probe_after", 0)
    )
    return Engine(
        space, VectorJudge("coral reef"), Greedy(estimator("best-first"), "best-first"), MemoryLog(), clock=clock,
        budget=Budget(pages=rest.pop("pages", 0)), reader=Vocabulary(), concurrency=rest.pop("concurrency", 1), **rest,
    )  # fmt: skip


def crawl(web: Any, seeds: Mapping[str, Kind] | Iterable[str], **rest: Any) -> tuple[Engine, list[Visit]]:
    """Return the visits of a complete crawl in virtual time; seeds are pages unless mapped to another kind."""
    kinds: dict[str, Kind] = dict(seeds) if isinstance(seeds, Mapping) else dict.fromkeys(seeds, "page")

    async def run() -> tuple[Engine, list[Visit]]:
        engine = made(web, **rest)
        for node, kind in kinds.items():
            event = Seed(A + node if node.startswith("/") else node, clock(), kind)
            engine.log.append(event)
            engine.fold(event)
        return engine, [visit async for visit in engine.run()]

    return run_virtual(run())


def paths_of(visits: Iterable[Visit], *kinds: Kind) -> list[str]:
    """Return the paths of visits of some kinds, in order; URLs of other hosts than A include the host."""
    return [visit.node.removeprefix(A) for visit in visits if visit.kind in (kinds or ("page", "sitemap", "redirect"))]


def hits(engine: Engine) -> list[ServedRequest]:
    assert isinstance(engine.space, WebSpace)
    assert isinstance(engine.space.transport, SimTransport)
    return engine.space.transport.log


def test_sitemap_index_leads_to_pages() -> None:
    web = Site({
        "/index.xml": index("/one.xml", "/two.xml"),
        "/one.xml": urlset("/tax-law", "/coral-island", "/football"),
        "/two.xml": urlset("/coral-reef", "/cooking"),
        **pages("/tax-law", "/coral-island", "/football", "/coral-reef", "/cooking"),
    })  # fmt: skip
    engine, visits = crawl(web, {"/index.xml": "sitemap"})
    assert ["/index.xml", "/one.xml", "/two.xml"] == paths_of(visits, "sitemap")
    assert ["/index.xml", "/one.xml", "/two.xml"] == paths_of(visits)[:3], "sources are seeds: they come first"
    assert ["/coral-reef", "/coral-island"] == paths_of(visits, "page")[:2]
    assert {"/tax-law", "/football", "/cooking"} == set(paths_of(visits, "page")[2:])
    assert (3, 5, 5) == (engine.tally.sources, engine.tally.sourced, engine.tally.pages)


def test_source_links_have_relevance_but_source_has_none() -> None:
    web = Site({"/s.xml": urlset("/coral-reef", "/tax"), **pages("/coral-reef", "/tax")})
    engine, visits = crawl(web, {"/s.xml": "sitemap"})
    sitemap = next(visit for visit in visits if visit.kind == "sitemap")
    assert 0.0 == sitemap.relevance
    assert sitemap.links.link_relevances[0] > 0.5 > sitemap.links.link_relevances[1]
    assert 0 == len(sitemap.terms.ids)
    assert isinstance(engine.reader, Vocabulary)
    assert 2 == engine.reader.pages == engine.tally.pages
    reef = next(visit for visit in visits if visit.node.endswith("/coral-reef"))
    assert pytest.approx(0.5 * sitemap.links.link_relevances[0], abs=1e-6) == reef.priority


def test_feeds_and_lists_are_sources() -> None:
    feed = "<rss><channel><item><title>Coral reef</title><link>http://a.localhost/7</link></item></channel></rss>"
    web = Site({"/feed": feed.encode(), "/list.txt": f"{A}/8\n", **pages("/7", "/8")})
    _, visits = crawl(web, {"/feed": "sitemap", "/list.txt": "sitemap"})
    assert (["/feed", "/list.txt"], ["/7", "/8"]) == (paths_of(visits, "sitemap"), paths_of(visits, "page"))


def test_compressed_sitemap_is_read() -> None:
    packed = ServedResponse(200, [("Content-Type", "application/x-gzip")], gzip.compress(urlset("/coral")))
    _, visits = crawl(Site({"/s.xml.gz": packed, **pages("/coral")}), {"/s.xml.gz": "sitemap"})
    assert ["/s.xml.gz", "/coral"] == paths_of(visits)


def test_source_that_is_a_page_counts_as_page() -> None:
    web = Site({"/s": "<title>Coral reef</title><p>coral reef <a href=/coral>coral</a>", **pages("/coral")})
    engine, visits = crawl(web, {"/s": "sitemap"}, pages=2)
    assert (["/s", "/coral"], []) == (paths_of(visits, "page"), paths_of(visits, "sitemap"))
    assert visits[1].relevance > 0.5
    assert (2, 0) == (engine.tally.pages, engine.tally.sources)


def test_redirected_sitemap_is_a_source() -> None:
    moved = ServedResponse(301, [("Location", f"{A}/new.xml")], b"")
    web = Site({"/old.xml": moved, "/new.xml": urlset("/coral"), **pages("/coral")})
    _, visits = crawl(web, {"/old.xml": "sitemap"})
    assert (["/old.xml"], ["/new.xml"], ["/coral"]) == (
        paths_of(visits, "redirect"), paths_of(visits, "sitemap"), paths_of(visits, "page")
    )  # fmt: skip


def test_missing_sitemap_is_a_failure() -> None:
    engine, visits = crawl(Site(pages("/coral")), {"/s.xml": "sitemap", "/coral": "page"})
    assert [("/s.xml", "gone"), ("/coral", "ok")] == [
        (visit.node.removeprefix(A), visit.outcome) for visit in visits if visit.kind == "page"
    ]
    assert (1, 0) == (engine.tally.pages, engine.tally.sources)


def test_sources_are_not_counted_as_pages() -> None:
    web = Site({"/i.xml": index("/s.xml"), "/s.xml": urlset("/a", "/b", "/c"), **pages("/a", "/b", "/c")})
    engine, visits = crawl(web, {"/i.xml": "sitemap"}, pages=2, concurrency=8)
    assert (2, 2) == (len(paths_of(visits, "page")), len(paths_of(visits, "sitemap")))
    assert "page budget spent" == engine.ending


def test_max_sources_limits_index() -> None:
    many = [f"/{number}.xml" for number in range(150)]
    web = Site({"/i.xml": index(*many), **{path: urlset(f"{path}.html") for path in many}})
    engine, visits = crawl(web, {"/i.xml": "sitemap"}, pages=1)
    assert ["/i.xml", *many[: MAX_SOURCES - 1]] == paths_of(visits, "sitemap")
    assert MAX_SOURCES == engine.tally.sources


def test_cyclic_indexes_are_read_once() -> None:
    web = Site({"/i.xml": index("/j.xml", "/i.xml"), "/j.xml": index("/i.xml", "/j.xml", "/k.xml"), "/k.xml": urlset()})
    engine, visits = crawl(web, {"/i.xml": "sitemap"})
    assert ["/i.xml", "/j.xml", "/k.xml"] == paths_of(visits, "sitemap")
    assert "nothing left to fetch" == engine.ending


def test_endless_indexes_end_at_max_sources() -> None:
    class Endless(Site):
        def response(self, url: str, *, headers: Any = None, version: int = 0) -> ServedResponse:
            name = url.rpartition("/")[2].removesuffix(".xml")
            if not name.isdigit():
                return super().response(url)
            return ServedResponse(200, [("Content-Type", "application/xml")], index(f"/{int(name) + 1}.xml"))

    engine, visits = crawl(Endless({}), {"/0.xml": "sitemap"})
    assert MAX_SOURCES == len(paths_of(visits, "sitemap")) == engine.tally.sources


def test_max_sourced_urls_limits_all_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assessor, "MAX_SOURCED_URLS", 5)
    web = Site({
        "/i.xml": index("/one.xml", "/two.xml", "/three.xml"),
        "/one.xml": urlset("/1", "/2", "/3"),
        "/two.xml": urlset("/4", "/5", "/6"),
        "/three.xml": urlset("/7"),
        **pages(*(f"/{number}" for number in range(1, 8))),
    })  # fmt: skip
    engine, visits = crawl(web, {"/i.xml": "sitemap"})
    assert {"/1", "/2", "/3", "/4", "/5"} == set(paths_of(visits, "page"))
    assert 5 == engine.tally.sourced
    assert [0, 3, 2, 0] == [len(visit.links.link_relevances) for visit in visits if visit.kind == "sitemap"]


ROBOTS = "User-agent: *\nAllow: /\nSitemap: {}/s.xml\n"
TWO_HOSTS = Site({
    "/robots.txt": ROBOTS.format(A),
    f"{B}/robots.txt": ROBOTS.format(B),
    "/s.xml": urlset("/coral"),
    f"{B}/s.xml": urlset(f"{B}/coral"),
    "/": f"<p><a href={B}/>coral reef</a>",
    f"{B}/": "<p>coral reef",
    f"{B}/coral": "<p>coral",
    **pages("/coral"),
})  # fmt: skip


def test_robots_sitemaps_are_read_for_seed_hosts_only() -> None:
    _, visits = crawl(TWO_HOSTS, ["/"], sitemaps=True)
    assert ["/s.xml"] == paths_of(visits, "sitemap")
    assert {"/", "/coral", f"{B}/"} == set(paths_of(visits, "page"))
    assert {f"{A}/robots.txt", f"{B}/robots.txt"} == {visit.node for visit in visits if visit.kind == "robots"}


def test_robots_sitemaps_require_option() -> None:
    _, visits = crawl(TWO_HOSTS, ["/"])
    assert [] == paths_of(visits, "sitemap")


def test_robots_sitemaps_of_several_seed_hosts_are_read_once() -> None:
    _, visits = crawl(TWO_HOSTS, ["/", f"{B}/", "/coral"], sitemaps=True)
    assert {"/s.xml", f"{B}/s.xml"} == set(paths_of(visits, "sitemap"))
    assert 2 == len(paths_of(visits, "sitemap"))


def test_robots_sitemaps_of_redirected_seed_host_are_read() -> None:
    web = Site({**TWO_HOSTS.answers, f"{A}/moved": ServedResponse(301, [("Location", f"{B}/")], b"")})
    _, visits = crawl(web, ["/moved"], sitemaps=True)
    assert {"/s.xml", f"{B}/s.xml"} == set(paths_of(visits, "sitemap"))


def test_sitemap_host_robots_txt_is_not_read() -> None:
    web = Site({
        "/robots.txt": f"Sitemap: {B}/of-a.xml\n",
        f"{B}/robots.txt": ROBOTS.format(B),
        f"{B}/of-a.xml": urlset(),
        f"{B}/s.xml": urlset(f"{B}/coral"),
        **pages("/"),
    })  # fmt: skip
    _, visits = crawl(web, ["/"], sitemaps=True)
    assert [f"{B}/of-a.xml"] == paths_of(visits, "sitemap")


def test_linked_sitemap_is_still_a_source() -> None:
    web = Site({**TWO_HOSTS.answers, f"{A}/": f"<p><a href={B}/s.xml>Sitemap</a>"})
    _, visits = crawl(web, ["/", f"{B}/"], sitemaps=True, delay=0.0)  # A's page comes before B's robots.txt
    assert f"{A}/" == visits[1].node
    assert {"/s.xml", f"{B}/s.xml"} == set(paths_of(visits, "sitemap"))


def learned(engine: Engine) -> dict[str, Any]:
    table, n = engine.table, len(engine.table)
    is_open = table.rows()
    return {
        "nodes": list(table.nodes),
        "columns": {name: getattr(table, name)[:n].tolist() for name in COLUMNS},
        "edges": (table.edges.parent.tolist(), table.edges.child.tolist(), table.edges.alpha.tolist()),
        "scores": engine.frontier.priority[is_open].tolist(),
        "levels": engine.frontier.level[is_open].tolist(),
        "tally": (engine.tally.pages, engine.tally.sources, engine.tally.sourced, dict(engine.tally.outcomes)),
    }


@pytest.mark.parametrize("stop", [1, 2, 3, 4, 5, 8, 100])
def test_resumed_equals_uninterrupted(stop: int) -> None:
    web = Site({**TWO_HOSTS.answers, f"{A}/s.xml": index("/t.xml", "/u.xml"), f"{A}/t.xml": urlset("/coral", "/x")})
    options: dict[str, Any] = {"sitemaps": True, "probe_after": 1, "trap_filter": SectionTrapFilter(0.1)}

    async def begun() -> tuple[list[Event], dict[str, Any]]:
        engine = made(web, **options)
        for node in (f"{A}/", f"{B}/"):
            engine.log.append(Seed(node, clock()))
            engine.fold(Seed(node, clock()))
        running, seen = engine.run(), 0
        async for _ in running:
            seen += 1
            if seen == stop:
                break
        known = learned(engine)
        await running.aclose()
        return list(engine.log), known

    async def resumed(events: list[Event]) -> tuple[dict[str, Any], list[Visit]]:
        engine = made(web, **{**options, "trap_filter": SectionTrapFilter(0.1)})
        engine.replay(stored(events))
        known = learned(engine)
        return known, [visit async for visit in engine.run()]

    events, live = run_virtual(begun())
    again, rest = run_virtual(resumed(events))
    assert live == again
    whole = [event.node for event in events if isinstance(event, Visit)] + [visit.node for visit in rest]
    assert len(whole) == len(set(whole)), "something was fetched twice"
    _, straight = crawl(web, ["/", f"{B}/"], **{**options, "trap_filter": SectionTrapFilter(0.1)})
    assert {visit.node for visit in straight} == set(whole)


def folder(count: int) -> dict[str, str]:
    """Return a host with pages of different words, all linked from the first."""
    links = "".join(f"<a href=/{number}.html>coral reef {number}</a> " for number in range(count))
    words = ("atoll", "lagoon", "polyp", "kelp", "squid", "urchin", "whale", "krill", "crab", "shrimp")
    return {"/": f"<p>coral {links}", **{f"/{n}.html": f"<p>{f'{words[n]} ' * 40}" for n in range(count)}}


def test_probe_is_sent_once_per_host() -> None:
    engine, visits = crawl(Site(folder(9)), ["/"], probe_after=3, pages=8, trap_filter=SectionTrapFilter(0.1))
    probes = [visit for visit in visits if visit.kind == "probe"]
    assert [("gone", f"{A}/")] == [(visit.outcome, visit.origin.rpartition("/")[0] + "/") for visit in probes]
    assert 3 == sum(visit.is_page for visit in visits[: visits.index(probes[0])])
    assert 8 == engine.tally.pages == sum(visit.is_page for visit in visits)
    assert 1 == sum("no-such-page" in hit.path for hit in hits(engine))
    assert probes[0].node not in engine.table.row_of
    assert "gone" not in engine.tally.outcomes, "nor is it a failure of the crawl's"


def test_probe_is_sent_to_each_origin() -> None:
    web = Site({
        **folder(5), **{f"{B}{path}": text for path, text in folder(5).items()}, "http://c.localhost/": "<p>coral",
    })  # fmt: skip
    _, visits = crawl(web, ["/", f"{B}/", "http://c.localhost/"], probe_after=3, concurrency=8)
    asked = Counter(visit.node.split("/")[2] for visit in visits if visit.kind == "probe")
    assert {"a.localhost": 1, "b.localhost": 1} == asked


def test_probe_respects_robots() -> None:
    web = Site({**folder(6), "/robots.txt": "User-agent: *\nDisallow: /no-such\n"})
    engine, visits = crawl(web, ["/"], probe_after=3)
    assert [] == [visit for visit in visits if visit.kind == "probe"]
    assert 7 == engine.tally.pages
    assert not any("no-such" in hit.path for hit in hits(engine))


def test_probe_words_are_not_counted() -> None:
    site = folder(6)

    class Liar(Site):
        def response(self, url: str, *, headers: Any = None, version: int = 0) -> ServedResponse:
            if "no-such" in url:
                url = f"{A}/lie"
            return super().response(url)

    web = Liar({**site, "/lie": f"<p>{'coral reef ' * 30}<a href=/hidden>coral reef</a>", **pages("/hidden")})
    engine, visits = crawl(web, ["/"], probe_after=3, trap_filter=SectionTrapFilter(0.1))
    (probe,) = [visit for visit in visits if visit.kind == "probe"]
    assert ("ok", 0.0, "") == (probe.outcome, probe.relevance, probe.same_as)
    assert "face" in probe.data
    assert f"{A}/hidden" not in engine.table.row_of
    assert isinstance(engine.reader, Vocabulary)
    assert 7 == engine.reader.pages == engine.tally.pages


def test_delays_include_probes_and_sitemaps() -> None:
    web = Site({
        **TWO_HOSTS.answers,
        **{A + path: text for path, text in folder(8).items()},
        f"{A}/s.xml": index(*(f"/{number}.xml" for number in range(6))),
        **{f"{A}/{number}.xml": urlset(f"/{number}.html") for number in range(6)},
    })  # fmt: skip
    engine, visits = crawl(web, ["/", f"{B}/"], sitemaps=True, probe_after=3, concurrency=16)
    closest = gaps(hits(engine))
    assert {"a.localhost", "b.localhost"} == set(closest)
    assert min(closest.values()) >= 1.0 - ROUNDING
    assert {"robots", "sitemap", "page", "probe"} <= {visit.kind for visit in visits}


LOCAL: dict[str, Any] = {"delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"]}


def test_bookmarks_are_seeds(tmp_path: Path) -> None:
    web = Web(pages=200, hosts=4, traps=())
    with serve(web):
        urls = list(web.urls())[5:9]
        file = tmp_path / "bookmarks.html"
        links = "".join(f'<DT><A HREF="{url}">page</A>\n' for url in urls)
        file.write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL>{links}</DL>")
        visits = list(lycosa.crawl("coral reef", seed_files=[str(file)], budget=4, **LOCAL))
    assert sorted(urls) == sorted(visit.node for visit in visits if visit.is_page)


@pytest.mark.parametrize("scope", [{}, {"domains": ["localhost"]}])
def test_saved_sitemap_pages_are_candidates(tmp_path: Path, scope: dict[str, Any]) -> None:
    web = Web(pages=200, hosts=4, traps=())
    with serve(web):
        urls = list(web.urls())[:60]
        file = tmp_path / "sitemap.xml"
        file.write_bytes(urlset(*urls))
        options = {**LOCAL, **scope}
        crawl = lycosa.crawl("reef", seed_files=[str(file)], budget=10, out=tmp_path / "crawl", **options)
        first = [visit for visit in crawl if visit.is_page]
        assert crawl.engine is not None
        assert 60 == crawl.engine.tally.sourced
        table = crawl.engine.table
        assert not any(table.is_seed[table.row_of[url]] for url in urls)
        file.unlink()
        more = [visit for visit in lycosa.resume(tmp_path / "crawl", budget=20) if visit.is_page]
    assert (10, 10) == (len(first), len(more))
    assert set() == {visit.node for visit in first} & {visit.node for visit in more}


def test_seed_file_url_is_a_source() -> None:
    web = Site({"/s.xml": urlset("/coral", "/tax"), **pages("/coral", "/tax")})
    engine, visits = crawl(web, {"/s.xml": "sitemap"}, pages=1)
    assert ["/coral"] == paths_of(visits, "page")
    row = engine.table.row_of[f"{A}/tax"]
    assert (OPEN, False, 1) == (engine.table.state[row], engine.table.is_seed[row], engine.table.depth[row])


def test_sources_in_data_of_plain_page_are_ignored() -> None:
    from lycosa.judges.space_judge import SpaceJudge
    from lycosa.spaces.graph import GraphSpace

    class Naming(GraphSpace):
        async def visit(self, task: Any) -> Page:
            page = await super().visit(task)
            page.data["sources"] = ["z"]
            return page

    visits = list(lycosa.crawl(SpaceJudge(), ["a"], space=Naming({"a": ["b"], "z": []})))
    assert {"a", "b"} == {visit.node for visit in visits}


def test_nested_source_that_is_a_page_is_unwanted() -> None:
    named = pages(*(f"{A}/{number}" for number in range(5)))
    web = Site({**named, f"{A}/index.xml": index(*named)})
    _, visits = crawl(web, {f"{A}/index.xml": "sitemap"})
    assert [] == [visit.node for visit in visits if visit.is_page]
    assert sorted(named) == sorted(visit.node for visit in visits if visit.outcome == "unwanted")
