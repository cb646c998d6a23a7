"""End-to-end test: a changing web is crawled and refreshed, then read in every way."""

from __future__ import annotations

import io
import json
from pathlib import Path

from handmade import FRONT, crawl, html, look_again, redirect, star
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.export import export
from lycosa.collection.report import gather
from lycosa.collection.searching import Search
from lycosa.collection.summary import summarise
from lycosa.replay.recording import Recording

ONE, TWO, THREE, FOUR, FIVE = (f"{FRONT}{name}" for name in ("one", "two", "three", "four", "five"))


def test_readers_agree_after_refresh(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    before = star({url: html(url[-3:], f"All about coral, {url[-3:]}. " * 20) for url in (ONE, TWO, THREE, FOUR)})
    crawl(path, before)
    now = {**before, ONE: html("New", "Coral salamanders now. " * 20, (FIVE, "five")), THREE: redirect(FIVE)}
    now[FIVE] = html("Five", "A new page about coral.")
    del now[TWO]
    look_again(path, now)
    with CrawlDirectory(path) as collection, Search(collection) as search:
        found = {url: collection.state(url) for url in (ONE, TWO, THREE, FOUR, FIVE)}
        states = {url: (state.state, state.versions) for url, state in found.items() if state is not None}
        assert {
            ONE: ("stands", 2),
            TWO: ("vanished", 1),
            THREE: ("moved", 1),
            FOUR: ("stands", 1),
            FIVE: ("stands", 1),
        } == states
        assert [ONE] == [hit.url for hit in search.find("salamanders")]
        report = gather(collection)
    assert 6 == report.pages == summarise(path).pages  # including the front page
    assert f"lycosa refresh {path}" == report.steps[0][0]
    assert report.freshness is not None
    assert (5, 1, 2) == (report.freshness.revisits, report.freshness.changed, report.freshness.gone_count)
    out = io.BytesIO()
    export(path, None, "jsonl", everything=True, stdout=out)
    rows = {row["url"]: row for row in map(json.loads, out.getvalue().splitlines())}
    assert {FRONT, ONE, TWO, THREE, FOUR, FIVE} == set(rows)
    assert "salamanders" in rows[ONE]["text"]
    assert rows[FIVE]["parent"] in (ONE, FRONT)  # a link on ONE, or the redirect of THREE, to which FRONT links
    done = export(path, tmp_path / "all.warc.gz", everything=True)
    assert 7 == done.pages
    with Recording([tmp_path / "all.warc.gz"]) as recording:
        assert all(recording.find(url) is not None for url in rows)
