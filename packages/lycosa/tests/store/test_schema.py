"""Tests of the database of a crawl: its views, its marks, and which files are refused."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import lycosa
from commands import Command
from handmade import FRONT, crawl, html, look_again, redirect
from input_errors import raises_input_error
from lycosa.core.errors import DamagedError, LycosaError
from lycosa.core.types import Visit
from lycosa.store import schema
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.testweb.reply import ServedDocument

A, B = "http://a.localhost", "http://b.localhost"
CORAL = "The coral reef grows, and coral is eaten by fish of the coral reef. " * 5
TAX = "Taxes on income are due in spring, and nobody asked a fish for its opinion. " * 5
PAGES: dict[str, str | ServedDocument] = {
    FRONT: html("Front", "Begin", (f"{A}/coral", "corals"), (f"{A}/old", "an old page"), (f"{B}/tax", "taxes")),
    f"{A}/coral": html("Coral", CORAL, (f"{A}/copy", "a copy"), (f"{B}/gone", "nothing")),
    f"{A}/copy": html("Coral", CORAL, (f"{A}/copy", "a copy"), (f"{B}/gone", "nothing")),
    f"{A}/old": redirect(f"{A}/new"),
    f"{A}/new": html("New", CORAL + "Sponges too."),
    f"{B}/tax": html("Tax", TAX),
    f"{B}/robots.txt": ServedDocument(b"User-agent: *\nDisallow: /private\n", "text/plain"),
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl a tiny web, then visit it again when one page has changed, one is gone and one has moved."""
    path = tmp_path_factory.mktemp("made") / "crawl"
    crawl(path, PAGES, threshold=0.1)
    front = html("Corals", CORAL, (f"{A}/coral", "corals"), (f"{B}/tax", "taxes"))
    changed = PAGES | {FRONT: front, f"{A}/new": redirect(f"{A}/newer"), f"{A}/newer": "<p>x"}
    del changed[f"{A}/coral"]
    look_again(path, changed)
    return path


@pytest.fixture
def db(directory: Path) -> Iterator[sqlite3.Connection]:
    """Open the database as any other program does."""
    with closing(sqlite3.connect(f"file:{directory / NAME}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        yield db


def rows(db: sqlite3.Connection, sql: str) -> dict[str, Any]:
    """Return the rows by their first column."""
    return {row[0]: dict(row) for row in db.execute(sql)}


def test_pages_view_has_each_page_in_its_current_version(db: sqlite3.Connection) -> None:
    pages = rows(db, "SELECT * FROM pages")
    assert {FRONT, f"{A}/coral", f"{A}/copy", f"{A}/new", f"{B}/tax"} <= {page["url"] for page in pages.values()}
    of = {page["url"].removeprefix("http://"): page for page in pages.values()}
    assert {"stands": 3, "vanished": 1, "moved": 1} == {
        state: sum(page["state"] == state for url, page in of.items() if not url.endswith("/newer"))
        for state in ("stands", "vanished", "moved")
    }
    assert ("vanished", "moved") == (of["a.localhost/coral"]["state"], of["a.localhost/new"]["state"])
    front = of["a.localhost/"]
    assert (2, "Corals") == (front["versions"], front["title"])
    assert front["changed"] == front["fetched"] > front["first_fetched"]
    assert of["a.localhost/copy"]["changed"] is None
    assert (1, "Coral") == (of["a.localhost/copy"]["versions"], of["a.localhost/copy"]["title"])
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", front["fetched"])


def test_pages_view_has_first_link_to_each_page(db: sqlite3.Connection) -> None:
    first = {
        url: (parent, anchor, depth)
        for url, parent, anchor, depth in db.execute("SELECT url, parent, anchor, depth FROM pages")
    }
    assert ("", "", 0) == first[FRONT]
    assert (FRONT, "corals", 1) == first[f"{A}/coral"]
    assert (f"{A}/coral", "a copy", 2) == first[f"{A}/copy"]
    assert (FRONT, "an old page", 1) == first[f"{A}/new"]  # behind a redirect
    picks = [pick for (pick,) in db.execute("SELECT pick FROM pages ORDER BY first_fetched, pick")]
    assert sorted(picks) == picks
    terms = {url: json.loads(text) for url, text in db.execute("SELECT url, priority_terms FROM pages")}
    assert {} == terms[FRONT]
    priorities = dict(db.execute("SELECT url, priority FROM pages WHERE parent != ''").fetchall())
    for url, priority in priorities.items():
        if terms[url]:
            assert pytest.approx(priority, abs=1e-3) == sum(terms[url].values()), url


def test_relevant_pages_are_unique_and_above_threshold(db: sqlite3.Connection, directory: Path) -> None:
    relevant = [tuple(row) for row in db.execute("SELECT url, relevance, duplicate_of FROM relevant_pages")]
    assert relevant
    assert sorted(relevance for _, relevance, _ in relevant)[::-1] == [relevance for _, relevance, _ in relevant]
    everything = db.execute("SELECT url, relevance, duplicate_of, relevant FROM pages").fetchall()
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        threshold = log.setting("threshold", 1.0)
    for url, relevance, duplicate_of, is_relevant in everything:
        assert is_relevant == (not duplicate_of and relevance >= threshold), url
    assert {row[0] for row in relevant} == {url for url, _, _, is_relevant in everything if is_relevant}
    assert f"{A}/coral" == {url: same for url, _, same, _ in everything}[f"{A}/copy"]


def test_requests_view_has_what_was_sent(db: sqlite3.Connection) -> None:
    sent = [tuple(row) for row in db.execute("SELECT url, kind, outcome, status FROM requests ORDER BY seq")]
    assert (f"{B}/robots.txt", "robots", "ok", 200) in sent
    assert (f"{A}/old", "redirect", "redirect", 302) in sent
    assert (f"{B}/gone", "page", "gone", 404) in sent
    assert (f"{A}/coral", "revisit", "gone", 404) in sent
    assert not {"denied", "refused"} & {outcome for _, _, outcome, _ in sent}
    assert all(status for _, _, _, status in sent)
    assert all(row[0] >= 0 for row in db.execute("SELECT seconds FROM requests"))


def test_hosts_view_sums_requests_and_pages(db: sqlite3.Connection) -> None:
    hosts = rows(db, "SELECT * FROM hosts")
    assert {"a.localhost", "b.localhost"} == hosts.keys()
    assert sum(host["requests"] for host in hosts.values()) == len(rows(db, "SELECT * FROM requests"))
    assert sum(host["pages"] for host in hosts.values()) == len(rows(db, "SELECT * FROM pages"))
    assert sum(host["relevant_pages"] for host in hosts.values()) == len(rows(db, "SELECT * FROM relevant_pages"))
    assert 1 == hosts["b.localhost"]["failures"]  # gone
    assert hosts["a.localhost"]["bytes"] > 0 <= hosts["a.localhost"]["mean_seconds"]


def test_settings_and_seeds_are_readable_without_lycosa(db: sqlite3.Connection) -> None:
    assert [(FRONT, "page")] == [tuple(row) for row in db.execute("SELECT url, kind FROM seed")]
    ends = db.execute("SELECT value ->> 'reason' FROM setting WHERE name = 'end' ORDER BY seq").fetchall()
    assert ends
    assert all(isinstance(reason, str) for (reason,) in ends)
    kinds = db.execute("SELECT DISTINCT data ->> 'type' FROM visit WHERE kind = 'page' AND status = 200").fetchall()
    assert ["text/html"] == [kind for (kind,) in kinds]


def test_file_is_marked_and_sound(db: sqlite3.Connection) -> None:
    marks = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    assert [schema.APPLICATION_ID, schema.VERSION] == marks
    assert "ok" == db.execute("PRAGMA integrity_check").fetchone()[0]
    db.row_factory = None
    assert schema.objects(db) == schema.expected_objects()
    tables = db.execute("SELECT name, strict FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    assert {1} == {strict for _, strict in tables}


def test_hosts_of_nodes_that_are_no_urls(tmp_path: Path) -> None:
    with closing(SqliteLog(tmp_path / NAME)) as log:
        for node in ("@reef@social.example", "http://a.test:81/x", "ftp://b.test/"):
            log.append(Visit(node, "page", "ok", 1))
        assert ["", "a.test:81", ""] == [host for (host,) in log.rows("host")]


@pytest.mark.parametrize("name", ["log.sqlite", "log.sqlite-wal"])
def test_directory_of_earlier_release_is_refused_in_one_line(tmp_path: Path, command: Command, name: str) -> None:
    crawl(path := tmp_path / "crawl", PAGES, budget=1)
    for file in path.glob("crawl.sqlite*"):
        file.unlink()
    for file in {"log.sqlite", name}:
        (path / file).write_bytes(b"of an earlier release")
    before = sorted(os.listdir(path))
    for words in (("show",), ("resume",), ("refresh",), ("check",), ("export",), ("why",), ("sql", "SELECT 1")):
        complaint = command.complaint(words[0], path, *words[1:])
        assert "written by an earlier release of Lycosa (log.sqlite)" in complaint, words
        assert "\n" not in complaint.strip()
    assert before == sorted(os.listdir(path)) or set(os.listdir(path)) - set(before) <= {"lock"}
    with pytest.raises(LycosaError, match="earlier release"):
        lycosa.Collection(path)
    with pytest.raises(DamagedError, match="earlier release"), closing(Directory.open(path)) as opened:
        opened.log()


def test_new_crawl_in_directory_of_earlier_release_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    path.mkdir()
    (path / "log.sqlite").write_bytes(b"of an earlier release")
    (path / "crawl.toml").write_text('topic = "coral"\n')
    with raises_input_error("crawl-exists"):
        crawl(path, PAGES)
    assert {"log.sqlite", "crawl.toml"} >= {name for name in os.listdir(path) if name != "lock"}
