"""Crawls of hosts that need a browser: rendered pages, archive, log and resume."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

import lycosa
from app_web import KINDS, AppWeb
from browser_helpers import needs_browser
from input_errors import raises_input_error
from lycosa.browser.rendering import Rendering
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.summary import summarise
from lycosa.core.options import Options
from lycosa.core.table import Table
from lycosa.core.types import Visit
from lycosa.crawling.crawl_log import CrawlLog
from lycosa.spaces.web_space import WebSpace
from lycosa.store.log import SqliteLog
from lycosa.testweb import Web, serve

TOPIC = "marine biology/coral reefs"


def crawled(web: Web, out: Path, **options: object) -> tuple[list[Visit], list[str]]:
    fronts = [f"http://{host}:{web.port}/" for host in web.hosts]
    crawl = lycosa.crawl(
        web.query(TOPIC), fronts, out=out, delay=0.0, allow_network=["127.0.0.0/8"], strategy="breadth-first",
        traps=False, **options,
    )  # fmt: skip
    return list(crawl), crawl.notes


@needs_browser
def test_crawl_renders_hosts_that_need_browser(tmp_path: Path) -> None:
    web, out = AppWeb(seed=7, pages=160, hosts=8, traps=[]), tmp_path / "crawl"
    with serve(web) as server:
        visits, notes = crawled(web, out, budget=12, render_time=200.0)
    pages = [visit for visit in visits if visit.is_page]
    rendered = [visit for visit in pages if "rendered" in visit.flags]
    assert [] == [visit.node for visit in pages if bool(web.app(visit.node)) != ("rendered" in visit.flags)]
    assert set(KINDS) <= {web.app(visit.node) for visit in rendered}
    assert any("#/" in url for visit in rendered for url in visit.links.urls)
    plain = Web(seed=7, pages=160, hosts=8, traps=[], port=web.port)
    with CrawlDirectory(out, 0.0) as collection:
        for visit in rendered:
            words = set(collection.document(visit).text.split())
            address = visit.node.replace("/#", "")
            said = plain.response(address).body.decode().partition("<main>")[2]
            lead = set(said.partition("<p>")[2].partition("<a")[0].replace("</p>", " ").replace("<p>", " ").split())
            assert len(lead - words) < 0.1 * len(lead), visit.node
            assert visit.data["render"]["links"][1] == len(visit.links) > 5
    _check_archive(out)
    _check_crawl_log(out, rendered)
    assert [] == notes
    # Statistics rebuilt from the log equal those of the snapshot.
    live = _needs(lycosa.resume(out))
    assert live["rendered"]
    shutil.rmtree(out / "snapshot")
    assert live == _needs(lycosa.resume(out))
    scripts = [(hit.host, hit.path) for hit in server.log if hit.path.endswith((".js", ".css"))]
    assert len(scripts) == len(set(scripts))  # scripts are cached for all pages of a host


def _needs(crawl: lycosa.Crawl) -> dict[str, object]:
    async def opened() -> dict[str, object]:
        engine = await crawl.open()
        try:
            assert isinstance(engine.space, WebSpace)
            assert isinstance(engine.space.renderer, Rendering)
            assert crawl.path is not None
            assert dict(engine.tally.spent) == dict(summarise(crawl.path).spent)  # includes assets
            return engine.space.renderer.state()
        finally:
            await crawl.close()

    return asyncio.run(opened())


def _check_crawl_log(out: Path, rendered: list[Visit]) -> None:
    lines = [line.split() for line in (out / "crawl.log").read_text().splitlines()]
    own = [line for line in lines if line[11].endswith(",browser")]
    sent = [line for line in own if int(line[1]) > 0]
    assert len(sent) >= sum(visit.data["render"]["requests"] for visit in rendered) - len(rendered) > 0
    events = [line[11].partition(",")[0] for line in lines]
    for at, line in enumerate(lines):
        if line in own:
            assert line[5] == next(other[3] for other, event in zip(lines[at:], events[at:], strict=True)
                                   if event == events[at] and other not in own)  # fmt: skip
    assert any(line[3].endswith(".js") and line[6] == "text/javascript" for line in sent)
    before = (out / "crawl.log").read_bytes()
    with closing(SqliteLog(out / "crawl.sqlite", readonly=True)) as log:
        again = CrawlLog(Options(), out, log, Table())
        again.open()
        again.close()
    assert before == (out / "crawl.log").read_bytes()


def _check_archive(out: Path) -> None:
    files = sorted((out / "archive").glob("*.warc.gz"))
    kinds: dict[str, set[str]] = {}
    for path in files:
        with open(path, "rb") as file:
            for record in ArchiveIterator(file):
                kinds.setdefault(record.rec_type, set()).add(record.rec_headers.get_header("WARC-Target-URI") or "")
    doms = {url.removeprefix("urn:dom:").partition("#")[0] for url in kinds["resource"]}
    assert doms <= kinds["response"]
    assert any(url.endswith("/app-fetch.js") for url in kinds["response"])
    assert any(url.endswith("/app.css") for url in kinds["response"])
    assert not any("#" in url for url in kinds["response"] | kinds["request"])
    checked = Checker(type("Arguments", (), {"inputs": list(map(str, files)), "verbose": False}))
    checked.process_all()
    assert 0 == checked.exit_value


def test_crawl_without_browser_reports_missed_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.browser.missing_requirements", lambda named: "pip install 'lycosa[browser]'")
    web = AppWeb(seed=7, pages=160, hosts=8, traps=[])
    with serve(web):
        visits, notes = crawled(web, tmp_path / "crawl", budget=16)
        assert not any("rendered" in visit.flags for visit in visits)
        assert ["pip install 'lycosa[browser]'" in note and "read without one" in note for note in notes] == [True]
        assert [] == crawled(web, tmp_path / "never", budget=9, render="never")[1]
        with raises_input_error("missing-browser"):
            crawled(web, tmp_path / "always", render="always")
