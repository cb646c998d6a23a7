"""Crawls with documents, which are fetched, searched, exported and revisited; defective ones have an outcome."""

import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import lycosa
from document_bombs import BOMBS
from document_files import File, files
from document_writers import write
from lycosa.cli.demo import TOPIC
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.export import export
from lycosa.collection.searching import Search
from lycosa.core.types import Visit
from lycosa.crawling import Crawl
from lycosa.store.log import NAME, SqliteLog
from lycosa.testweb import Web, serve
from lycosa.testweb.documents import Paper, Run
from lycosa.testweb.simulation import clock
from lycosa_server.api.page_routes import _readable
from scripted_web import BLEACHED, PAGE, REEF, Says, Script, crawl, html, refresh, run

REPORT = "http://reef.test/report.pdf"
SPACE = {"documents": "pdf,office"}


def _report(text: str, target: str = "http://reef.test/found-in-pdf") -> Says:
    result: list[list[Run]] = [[(text, "")], [("More in ", ""), ("the coral atlas", target), (".", "")]]
    body, kind = write("pdf", Paper("The coral reef report", "Ann", "2023-01-02", result))
    return Says(body, type=kind)


def _web(kinds: Sequence[str] = ("docx", "odt", "epub", "rtf", "md"), bombs: Iterable[str] = ()) -> Script:
    """Return a page that links to a report, to the same report in other formats, to defective files and to bombs."""
    urls = {REPORT: [_report(REEF), _report(BLEACHED)], "http://reef.test/found-in-pdf": [Says(html(REEF + " Atlas."))]}
    for kind in kinds:
        body, type_ = write(kind, Paper(f"Coral in {kind}", "Ann", "2023-01-02", [[(f"{REEF} {kind} {BLEACHED}", "")]]))
        urls[f"http://reef.test/{kind}/coral.{kind}"] = [Says(body, type=type_)]
    result: dict[str, File] = dict(files())
    for name in ("secret.pdf", "cut.docx", "scan.pdf", "secret.odt"):
        urls[f"http://reef.test/flaws/{name}"] = [Says(result[name].body, type="application/octet-stream")]
    for name in bombs:
        urls[f"http://reef.test/bombs/{name}"] = [
            Says(BOMBS[name](1_000), type="text/markdown" if name.endswith("md") else "application/zip")
        ]
    urls["http://reef.test/picture.png"] = [Says(b"", type="image/png")]
    urls["http://reef.test/program.bin"] = [Says(b"", type="application/octet-stream")]
    return Script({PAGE: [Says(html(links=list(urls)))], **urls})


def test_documents_are_crawled_like_pages(tmp_path: Path) -> None:
    bombs = [name for name in BOMBS if name != "forms.pdf"]  # takes 3 s each time it is read
    web, path = _web(bombs=bombs), tmp_path / "crawl"
    visits = {visit.node: visit for visit in crawl(path, web, space=SPACE).visits if visit.kind == "page"}
    report = visits[REPORT]
    assert ("ok", "The coral reef report", "en") == (report.outcome, report.title, report.language)
    assert report.relevance > 0.1
    assert "ok" == visits["http://reef.test/found-in-pdf"].outcome
    asked = next(headers for _, url, headers in web.requests if url == REPORT)
    assert "application/pdf;q=0.7" in asked["Accept"]
    assert ["unwanted", "unwanted"] == [visits[f"http://reef.test/{n}"].outcome for n in ("picture.png", "program.bin")]
    result = {
        name: visits[f"http://reef.test/flaws/{name}"] for name in ("secret.pdf", "cut.docx", "scan.pdf", "secret.odt")
    }
    assert ["unreadable", "unreadable", "ok", "unreadable"] == [visit.outcome for visit in result.values()]
    assert "the PDF file is encrypted: it needs a password" == result["secret.pdf"].note
    assert ("a scan of 2 pages: images without text", ["scanned"]) == (
        result["scan.pdf"].note,
        result["scan.pdf"].flags,
    )
    assert {"ok", "unreadable"} >= {visits[f"http://reef.test/bombs/{name}"].outcome for name in bombs}

    export(path, tmp_path / "t.jsonl", everything=True, copies=True)
    rows = {row["url"]: row for row in map(json.loads, (tmp_path / "t.jsonl").read_text("utf-8").splitlines())}
    row = rows[REPORT]
    assert ("Ann", "2023-01-02T12:00:00Z", 1) == (row["author"], row["published"], row["pages"])
    assert "shelters a quarter of all species" in row["text"]
    for kind in ("docx", "odt", "epub", "rtf", "md"):
        assert "none in the lagoon" in rows[f"http://reef.test/{kind}/coral.{kind}"]["text"]
    export(path, tmp_path / "t.md")
    assert "# The coral reef report" in (tmp_path / "t.md").read_text("utf-8")

    with CrawlDirectory(path) as collection:
        with Search(collection) as index:
            assert REPORT in {hit.url for hit in index.find("quarter species", limit=20)}
        readable = _readable(collection, report)
    assert "<p>Coral reefs are built" in readable.main
    assert (
        '<a href="http://reef.test/found-in-pdf" rel="noreferrer noopener" target="_blank">the coral atlas</a>'
        in readable.main
    )


def test_changed_document_is_detected(tmp_path: Path) -> None:
    web, path = _web(()), tmp_path / "crawl"
    crawl(path, web, space=SPACE)
    result = refresh(path, web, 1, space=SPACE)
    [visit] = result.of(REPORT)
    assert ("ok", "changed", "text") == (visit.outcome, *(visit.data["change"][key] for key in ("what", "kind")))
    [visit] = refresh(path, web, 2, space=SPACE).of(REPORT)
    assert "unchanged" == visit.outcome


def test_documents_are_fetched_only_if_wanted(tmp_path: Path) -> None:
    for number, (space, outcomes) in enumerate(
        [
            ({"documents": "none"}, ["unwanted", "unwanted"]),
            ({"documents": "office"}, ["unwanted", "ok"]),
            ({"documents": "none", "accept": ["application/pdf"]}, ["ok", "unwanted"]),
        ]
    ):
        visits = {visit.node: visit for visit in crawl(tmp_path / str(number), _web(("rtf",)), space=space).visits}
        assert outcomes == [visits[url].outcome for url in (REPORT, "http://reef.test/rtf/coral.rtf")]


def test_resumed_crawl_of_documents_is_identical(tmp_path: Path) -> None:
    crawl(tmp_path / "whole", _web(), space=SPACE, concurrency=1)
    for budget, readers in ((3, 0), (7, 1)):
        path = tmp_path / str(budget)
        crawl(path, _web(), space=SPACE, concurrency=1, budget=budget)
        run(partial(_resume, path, readers), start=1_000.0)
        assert _told(tmp_path / "whole") == _told(path)


def _resume(path: Path, readers: int) -> Crawl:
    return lycosa.resume(path, space=_web().space(**SPACE, readers=readers), clock=clock, budget=500)


def _told(path: Path) -> list[tuple[str, str, float, str]]:
    log = SqliteLog(path / NAME, readonly=True)
    try:
        pages = [event for event in log.events() if isinstance(event, Visit) and event.kind == "page"]
        return [(visit.node, visit.outcome, visit.relevance, visit.title) for visit in pages]
    finally:
        log.close()


def test_demo_crawl_finds_relevant_documents(tmp_path: Path) -> None:
    web = Web(documents=True, slowness=0.01)
    with serve(web, record=False):
        given: dict[str, Any] = {"delay": 0.01, "concurrency": 4, "allow_network": ["127.0.0.0/8"], "budget": 100}
        visits = lycosa.crawl(web.query(TOPIC), web.seeds(TOPIC), out=tmp_path / "crawl", **given)
        assert 100 == sum(visit.is_page for visit in visits)
        wanted = set(web.relevant(TOPIC))
    with CrawlDirectory(tmp_path / "crawl") as collection:
        found = {visit.node for visit in collection.relevant() if visit.node in wanted}
    assert any(node.endswith(".pdf") for node in found)
    assert any(node.endswith(".html") for node in found)
