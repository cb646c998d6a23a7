"""The database of a crawl in other programs, and beside its writer."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from lycosa.collection.sql import CrawlDatabase
from lycosa.core.types import Visit
from lycosa.store.log import NAME, SqliteLog
from revisited_crawl import html, revisited

A, B = "http://a.test/", "http://b.test/"


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.seed(A)
        crawl.page(A, html("Reefs", "Corals grow."), links=[B])
        crawl.page(B, html("Bleaching", "Corals bleach."), 1.0, parent=A, anchor="bleaching")
    return tmp_path / "crawl"


def test_datasette_serves_crawl(crawl: Path) -> None:
    get = [sys.executable, "-m", "datasette", str(crawl / NAME), "--get"]
    found = subprocess.run(
        [*get, "/crawl/relevant_pages.json?_shape=array"], capture_output=True, text=True, check=True
    )
    assert {(A, ""), (B, "bleaching")} == {(row["url"], row["anchor"]) for row in json.loads(found.stdout)}
    page = subprocess.run([*get, "/crawl"], capture_output=True, text=True, check=True).stdout
    assert all(f">{name}<" in page for name in ("visit", "hosts", "requests"))


def test_duckdb_reads_crawl(crawl: Path) -> None:
    import duckdb

    found = find_spec("duckdb_extension_sqlite_scanner")
    assert found is not None
    assert found.origin is not None
    [extension] = Path(found.origin).parent.rglob("*.duckdb_extension")
    with duckdb.connect() as database:
        database.execute(f"LOAD '{extension}'")
        database.execute(f"ATTACH '{crawl / NAME}' AS crawl (TYPE sqlite, READ_ONLY)")
        assert [(2,)] == database.execute("SELECT count(*) FROM crawl.visit WHERE kind = 'page'").fetchall()
        relevant = database.execute(
            "SELECT url, CAST(relevance AS DOUBLE), anchor FROM crawl.relevant_pages ORDER BY url"
        )
        assert [(A, 0.5, ""), (B, 0.5, "bleaching")] == relevant.fetchall()
        hosts = database.execute("SELECT host, requests FROM crawl.hosts ORDER BY host").fetchall()
        assert ["a.test", "b.test"] == [host for host, _ in hosts]


def test_query_reads_beside_writer(crawl: Path) -> None:
    with closing(CrawlDatabase(crawl)) as database, closing(SqliteLog(crawl / NAME)) as log:
        count = "SELECT COUNT(*) FROM pages"
        assert [(2,)] == list(database.query(count).rows)
        with log.batch():
            log.append(Visit("http://c.test/", "page", "ok", 3, relevance=0.5))
            assert [(2,)] == list(database.query(count).rows)
        assert [(3,)] == list(database.query(count).rows)
        assert ["seq", "links", "terms", "binary"] == database.tables["content"]


def test_long_query_is_interrupted(crawl: Path) -> None:
    endless = "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT COUNT(*) FROM a"
    with closing(CrawlDatabase(crawl)) as database:
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                list(database.query(endless).rows)
        finally:
            signal.signal(signal.SIGALRM, before)


def test_rows_left_unread_are_no_error(crawl: Path) -> None:
    database = CrawlDatabase(crawl)
    rows = database.query("SELECT seq FROM visit").rows
    next(rows)
    database.close()
    rows.close()  # type: ignore[attr-defined]
