"""Tests of page assets."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import numpy as np
from warcio.archiveiterator import ArchiveIterator

import lycosa
from input_errors import raises_input_error
from lycosa.collection.summary import summarise
from lycosa.crawling.page_assets import PageAssets
from lycosa.store.log import SqliteLog
from lycosa.testweb.simulation import clock, run_virtual
from scripted_web import DAY, GONE, Says, Script, Told, crawl, html, refresh, run
from stored import shorten

FRONT, OFF, LATER = "http://reef.test/", "http://reef.test/tax", "http://reef.test/atoll"
STYLE, PRINT, FONT = "http://reef.test/s.css?v=2&utm_source=x", "http://reef.test/print.css", "http://cdn.test/f.woff2"
PICTURE, MOVED, LARGE = "http://reef.test/a.png", "http://cdn.test/b.png?size=1", "http://cdn.test/b-large.png?utm_id=1"
PLAIN = "Taxes on income and property are due in spring, and no fish of any kind was asked for its opinion. " * 3
TRACKER = '<script src="//www.google-analytics.com/ga.js"></script>'
HEAD = f'<link rel=stylesheet href="{STYLE[16:].replace("&", "&amp;")}">{TRACKER}'


def picture(name: str) -> Says:
    return Says(b"\x89PNG" + name.encode() * 50, type="image/png")


def site() -> Script:
    """Return a site of relevant and irrelevant pages with assets on two hosts, one partly disallowed by robots.txt."""
    shown = f'<img src=a.png srcset="{MOVED} 2x"><img src="http://cdn.test/private/c.png"><img src=/gone.png>'
    pages = {
        FRONT: [Says(html(head=HEAD, foot=shown, links=[OFF, LATER]))],
        OFF: [Says(html(PLAIN, title="Taxes", foot="<img src=/tax.png>"))],
        LATER: [Says(html(head=HEAD, foot="<img src=/a.png><img src=/atoll.png>"))],
        STYLE: [Says(f'@import "print.css"; @font-face {{ src: url({FONT}) }}', type="text/css")],
        PRINT: [Says("body { background: url(a.png) }", type="text/css; charset=utf-8")],
        FONT: [Says(b"wOF2" * 9, type="font/woff2")],
        MOVED: [Says(b"", 302, more={"Location": LARGE})],
        "http://cdn.test/robots.txt": [Says("User-agent: *\nDisallow: /private/\n", type="text/plain")],
    }
    for url in (PICTURE, LARGE, "http://reef.test/atoll.png", "http://reef.test/tax.png"):
        pages[url] = [picture(url)]
    return Script(pages, missing=GONE)


def page_assets(result: Told) -> dict[str, str]:
    found = [visit for visit in result.visits if visit.kind == "asset"]
    assert len(found) == len({visit.node for visit in found})
    return {visit.node: visit.outcome for visit in found}


ALL = {
    STYLE: "ok", PICTURE: "ok", MOVED: "redirect", LARGE: "ok", "http://cdn.test/private/c.png": "denied",
    "http://reef.test/gone.png": "gone", PRINT: "ok", FONT: "ok", "http://reef.test/atoll.png": "ok",
}  # fmt: skip
"""Assets of the relevant pages, without the tracker."""


def test_assets_of_relevant_pages_are_fetched(tmp_path: Path) -> None:
    script = site()
    result = crawl(tmp_path / "reefs", script, [FRONT], page_assets=True, budget=3)
    assert ALL == page_assets(result)
    pages = [visit for visit in result.visits if visit.is_page]
    assert [FRONT, OFF, LATER] == [visit.node for visit in pages]
    assert all(
        visit.relevance == 0.0 and not visit.links.link_relevances.any()
        for visit in result.visits
        if visit.kind == "asset"
    )
    # Assets of the front page on its host are fetched before the next page.
    order = [url for _, url, _ in script.requests if url.startswith("http://reef.test/")]
    assert order.index(PRINT) < order.index(OFF)
    assert order.count("http://reef.test/robots.txt") == 1
    times = [at for at, url, _ in script.requests if url.startswith("http://reef.test/")]
    assert min(after - before for before, after in pairwise(times)) >= 0.1
    # They are included in summary, crawl.log and archive.
    summary = summarise(tmp_path / "reefs")
    assert (3, 8) == (summary.pages, summary.spent["page assets"])
    lines = [line.split() for line in (tmp_path / "reefs" / "crawl.log").read_text().splitlines()]
    assert {url: "LE" if url.endswith("atoll.png") else "E" for url in ALL} == {
        line[3]: line[4] for line in lines if ",asset," in line[11]
    }
    kept = {}
    for path in (tmp_path / "reefs" / "archive").glob("*.warc.gz"):
        with open(path, "rb") as file:
            kept |= {
                record.rec_headers.get_header("WARC-Target-URI"): record.content_stream().read()
                for record in ArchiveIterator(file)
                if record.rec_type == "response"
            }
    assert {url for url, outcome in ALL.items() if outcome != "denied"} <= kept.keys()
    assert picture(LARGE).body == kept[LARGE]
    index = "".join(path.read_text() for path in (tmp_path / "reefs" / "archive").glob("*.cdxj"))
    assert {url for url in ALL if url != "http://cdn.test/private/c.png"} <= {
        json.loads(line.split(" ", 2)[2])["url"] for line in index.splitlines()
    }


def test_resumed_crawl_fetches_missing_assets(tmp_path: Path) -> None:
    crawl(tmp_path / "whole", site(), [FRONT], page_assets=True, budget=3)
    with closing(SqliteLog(tmp_path / "whole" / "crawl.sqlite", readonly=True)) as log:
        ends = [seq for seq, _ in log.numbered()]
    for number, cut in enumerate(ends[:-1:3]):
        out = tmp_path / f"cut-{number}"
        shutil.copytree(tmp_path / "whole", out)
        shutil.rmtree(out / "snapshot", ignore_errors=True)
        shorten(out / "crawl.sqlite", cut)
        run(lambda out=out: lycosa.resume(out, space=site().space(), clock=clock), start=DAY)  # type: ignore[misc]
        with closing(SqliteLog(out / "crawl.sqlite", readonly=True)) as log:
            every = [visit for visit in log.visits() if visit.kind in ("page", "asset")]
        assert {visit.node for visit in every} == {*ALL, FRONT, OFF, LATER}, cut
        assert len(every) == len({visit.node for visit in every}), cut
    out = tmp_path / "late"
    assert {} == page_assets(crawl(out, site(), [FRONT], budget=3))
    late = run(lambda: lycosa.resume(out, space=site().space(), clock=clock, page_assets=True), start=DAY)
    assert ALL.keys() == page_assets(late).keys()
    assert not [visit for visit in late.visits if visit.kind == "page"]
    run_virtual(_reconsidered(tmp_path / "whole"), start=2 * DAY)


async def _reconsidered(out: Path) -> None:
    crawl = lycosa.resume(out, space=site().space(), clock=clock)
    engine = await crawl.open()
    scheduler = engine.scheduler
    assert isinstance(scheduler, PageAssets)
    engine._reconsider(np.array([engine.table.row_of[OFF], -1]), np.array([1.0, 1.0]))
    result = scheduler.state()
    assert [OFF] == result["unread"]
    again = PageAssets(crawl.options, engine.space, scheduler.threshold, scheduler.versions)
    again.restore(result)
    assert str(result) == str(again.state())
    for one in (scheduler, again):
        task = one.pick(99, clock() + 60.0)
        assert task is not None
        assert ("http://reef.test/tax.png", "asset", OFF) == (task.node, task.kind, task.origin)
        assert one.pick(100, clock() + 60.0) is None
    await crawl.close()


def test_asset_limits_and_conflicts(tmp_path: Path) -> None:
    assert 2 == len(
        page_assets(crawl(tmp_path / "two", site(), [FRONT], page_assets=True, budget=1, max_page_assets=2))
    )
    few = crawl(tmp_path / "bytes", site(), [FRONT], page_assets=True, budget=3, max_asset_bytes=1, concurrency=1)
    assert 1 == len(page_assets(few))
    with raises_input_error("conflicting-options", "needs the archive"):
        crawl(tmp_path / "none", site(), [FRONT], page_assets=True, archive=False)
    script = site()
    script.pages[FRONT] = [script.pages[FRONT][0], Says(html(head=HEAD, foot="<img src=/new.png>", title="Reefs anew"))]  # type: ignore[index]
    script.pages["http://reef.test/new.png"] = [picture("new")]
    out = tmp_path / "again"
    crawl(out, script, [FRONT], page_assets=True, budget=3)
    again = refresh(out, script, 1)
    assert {"http://reef.test/new.png": "ok"} == page_assets(again)
