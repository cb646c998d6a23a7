"""Tests of what the log says about the first link to each page: parent, anchor, depth, and terms of the priority."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import lycosa
from crawl_helpers import Remembered, sim_space
from first_links import FirstLinks
from handmade import FRONT, crawl, html, look_again, redirect
from lycosa.core.types import Links, Visit
from lycosa.crawling import Crawl
from lycosa.crawling import crawl_files as files
from lycosa.store.log import NAME, SqliteLog
from lycosa.store.snapshots import MAP
from lycosa.store.snapshots import NAME as SNAPSHOT
from lycosa.testweb import Web
from lycosa.testweb.reply import ServedDocument
from lycosa.testweb.simulation import clock, run_virtual

A = "http://a.localhost/"
WEB = Remembered(Web(pages=400, hosts=30, traps=("redirects", "failing", "robots")))
TOPIC = "marine biology/coral reefs"


def first_links(path: Path) -> dict[str, tuple[str, str, int]]:
    """Return parent, anchor and depth of the first visit of each node, without the host."""
    with closing(SqliteLog(path / NAME, readonly=True)) as log:
        rows = log.rows("url, parent, anchor, depth", "kind NOT IN ('robots', 'revisit')", "seq DESC")
        return {
            url.removeprefix("http://"): (parent.removeprefix("http://"), anchor, depth)
            for url, parent, anchor, depth in rows
        }


def test_first_link_is_stored_behind_redirects(tmp_path: Path) -> None:
    pages = {
        FRONT: html("Front", "Begin", (f"{A}one", "first"), (f"{A}hop1", "three\n hops"), (f"{A}gone", "nothing")),
        f"{A}one": html("One", "coral", (f"{A}new", "late"), (f"{A}two", "second"), (f"{A}two", "again")),
        f"{A}two": html("Two", "reef", (f"{A}one", "back"), (f"{A}deep", "")),
        f"{A}hop1": redirect(f"{A}hop2"),
        f"{A}hop2": redirect(f"{A}hop3"),
        f"{A}hop3": redirect(f"{A}new"),
        f"{A}new": html("New", "fish", (f"{A}under", "below")),
        f"{A}deep": html("Deep", "sea"),
        f"{A}under": html("Under", "sea"),
    }
    crawl(tmp_path / "crawl", pages, concurrency=1)
    found = first_links(tmp_path / "crawl")
    assert {
        "a.localhost/": ("", "", 0),
        "a.localhost/one": ("a.localhost/", "first", 1),
        "a.localhost/gone": ("a.localhost/", "nothing", 1),
        "a.localhost/hop1": ("a.localhost/", "three hops", 1),
        "a.localhost/hop2": ("a.localhost/", "three hops", 1),
        "a.localhost/hop3": ("a.localhost/", "three hops", 1),
        "a.localhost/two": ("a.localhost/one", "second", 2),
        "a.localhost/deep": ("a.localhost/two", "", 3),
        "a.localhost/under": ("a.localhost/new", "below", found["a.localhost/new"][2] + 1),
    } == {node: link for node, link in found.items() if node != "a.localhost/new"}
    # `one` links to it before the last redirect leads there
    assert found["a.localhost/new"] in {("a.localhost/one", "late", 1), ("a.localhost/", "three hops", 1)}


def test_seed_that_redirects_has_no_parent(tmp_path: Path) -> None:
    pages = {FRONT: redirect(f"{A}home"), f"{A}home": html("Home", "Begin", (f"{A}one", "first")), f"{A}one": "<p>One"}
    crawl(tmp_path / "crawl", pages)
    assert {
        "a.localhost/": ("", "", 0),
        "a.localhost/home": ("", "", 0),
        "a.localhost/one": ("a.localhost/home", "first", 1),
    } == first_links(tmp_path / "crawl")


def test_links_of_sitemap_have_it_as_parent(tmp_path: Path) -> None:
    listed = "".join(f"<url><loc>{A}listed{number}</loc></url>" for number in (1, 2))
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'
    pages: dict[str, str | ServedDocument] = {
        FRONT: html("Front", "Begin", (f"{A}one", "first")),
        f"{A}map.xml": ServedDocument(sitemap.encode(), "application/xml"),
        f"{A}one": html("One", "coral", (f"{A}listed1", "listed as well")),
        f"{A}listed1": html("Listed", "reef", (f"{A}inner", "inside")),
        f"{A}listed2": html("Listed", "fish"),
        f"{A}inner": html("Inner", "sea"),
    }
    crawl(tmp_path / "crawl", pages, seed_files=[f"{A}map.xml"], concurrency=1)
    found = first_links(tmp_path / "crawl")
    assert ("", "", 0) == found["a.localhost/map.xml"]
    for name in ("listed1", "listed2"):  # the anchor is made of the URL
        assert ("a.localhost/map.xml", name, 1) == found[f"a.localhost/{name}"]
    assert ("a.localhost/listed1", "inside", 2) == found["a.localhost/inner"]


def test_revisits_have_no_parent_and_new_links_have_theirs(tmp_path: Path) -> None:
    pages: dict[str, str | ServedDocument] = {
        FRONT: html("Coral", "coral reef", (f"{A}one", "coral")),
        f"{A}one": html("Coral", "coral reef " * 20),
    }
    crawl(tmp_path / "crawl", pages)
    pages[f"{A}one"] = redirect(f"{A}moved")
    pages[FRONT] = html("Coral", "coral reef and fish", (f"{A}one", "coral"), (f"{A}fresh", "a new coral"))
    pages |= {f"{A}moved": html("Moved", "coral reef"), f"{A}fresh": html("Fresh", "coral reef")}
    look_again(tmp_path / "crawl", pages)
    with closing(SqliteLog(tmp_path / "crawl" / NAME, readonly=True)) as log:
        assert {("", "", 0)} == set(log.rows("parent, anchor, depth", "kind = 'revisit'"))
    assert ("a.localhost/", "coral", 1) == first_links(tmp_path / "crawl")["a.localhost/moved"]


def test_anchor_is_read_from_newer_version_of_parent(tmp_path: Path) -> None:
    with closing(SqliteLog(tmp_path / NAME)) as log:
        log.append(Visit("a", "page", "ok", 1, links=Links.to("b", "b", "c", anchors=["", "second", "see"])))
        for node in ("b", "new"):
            log.append(Visit(node, "page", "ok", 2, parent="a"))
        log.append(Visit("a", "revisit", "ok", 3, links=Links.to("c", "new", anchors=["changed", "fresh"])))
        for node in ("new", "c", "unknown"):
            log.append(Visit(node, "page", "ok", 4, parent="a"))
        log.append(Visit("d", "page", "ok", 5, parent="never visited"))
        log.append(Visit("e", "page", "ok", 6, parent="a", anchor="given"))
        anchors = [tuple(row) for row in log.rows("url, anchor", "parent != ''")]
    assert [
        ("b", "second"), ("new", ""), ("new", "fresh"), ("c", "see"), ("unknown", ""), ("d", ""), ("e", "given"),
    ] == anchors  # fmt: skip


def test_anchor_lookup_ends_in_circles_of_redirects(tmp_path: Path) -> None:
    with closing(SqliteLog(tmp_path / NAME)) as log:
        log.append(Visit("a", "page", "ok", 1, links=Links.to("x", anchors=["link"])))
        for one, other in ("bc", "cb"):
            log.append(Visit(one, "redirect", "redirect", 2, links=Links.to(other)))
        log.append(Visit("b", "page", "ok", 3, parent="a", hops=2**40))
        assert "" == log.visit(log.end()).anchor


def begin(out: Path, stop_at: int) -> None:
    async def run() -> None:
        topic, seeds = WEB.web.query(TOPIC), WEB.web.seeds(TOPIC)
        crawl = lycosa.crawl(topic, seeds, out=out, space=sim_space(WEB), clock=clock, budget=60, concurrency=1)
        visits = 0
        async for _ in crawl:
            visits += 1
            if visits == stop_at:
                assert crawl._snapshots is not None
                assert crawl._snapshots.write(sure=True)
                crawl.stop()

    run_virtual(run())


def go_on(out: Path) -> Crawl:
    async def run() -> Crawl:
        crawl = lycosa.resume(out, space=sim_space(WEB), clock=clock, budget=60)
        async for _ in crawl:
            pass
        return crawl

    return run_virtual(run(), start=10_000.0)


@pytest.mark.parametrize("stop_at", [0, 30])
def test_first_links_are_stored_after_resume_from_snapshot(tmp_path: Path, stop_at: int) -> None:
    out = tmp_path / "crawl"
    begin(out, stop_at)
    known = 0
    if stop_at:
        assert (out / SNAPSHOT / MAP).exists()
        known = files.snapshot_seq(out)
        go_on(out)
    with closing(SqliteLog(out / NAME, readonly=True)) as log:
        events = list(log.events())
    links, later, hops = FirstLinks(), 0, 0
    texts: dict[tuple[str, str], set[str]] = {}
    came_from: dict[str, str] = {}
    for seq, event in events:
        if not isinstance(event, Visit):
            links.fill(event)
            continue
        expected = replace(event, parent="", depth=0, hops=0)
        links.fill(expected)
        if event.kind in ("page", "redirect"):
            assert (expected.parent, expected.depth) == (event.parent, event.depth), event.node
            linked = event.node
            while (event.parent, linked) not in texts and linked in came_from:
                linked = came_from[linked]
            assert event.anchor in texts.get((event.parent, linked), {""}), event.node
            later += seq > known and bool(event.parent)
            hops = max(hops, event.hops)
            if event.parent and math.isfinite(event.priority):
                assert event.priority_terms, event.node
        for url, anchor in zip(event.links.urls, event.links.anchors, strict=True):
            texts.setdefault((event.node, url), set()).add(anchor)
        if event.target:
            came_from.setdefault(event.target, event.node)
    assert later > 20
    assert hops
    visits = [event for _, event in events if isinstance(event, Visit) and event.parent]
    assert sum(bool(visit.anchor) for visit in visits) > 0.9 * len(visits)
