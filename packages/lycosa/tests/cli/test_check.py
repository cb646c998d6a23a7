"""`lycosa check`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from commands import Command
from lycosa.store.log import NAME
from revisited_crawl import html, revisited


def _crawl(path: Path) -> Path:
    with revisited(path) as crawl:
        crawl.seed("http://a.test/")
        crawl.page("http://a.test/", html("Reefs", "Corals grow."))
    return path


def test_check_sound_crawl_reports_no_faults(tmp_path: Path, command: Command) -> None:
    crawl = _crawl(tmp_path / "crawl")
    text = command.out("check", crawl)
    assert f"{crawl}: 3 events; nothing is wrong" in text
    assert "archive" in text
    assert [] == command.json("check", crawl)[str(crawl)]["faults"]


def test_check_damaged_event_exits_with_1(tmp_path: Path, command: Command) -> None:
    crawl = _crawl(tmp_path / "crawl")
    with closing(sqlite3.connect(crawl / NAME)) as db, db:
        db.execute("UPDATE visit SET data = '' WHERE kind = 'page'")
    result = command("check", crawl)
    assert 1 == result.code
    assert "see above what was wrong" in result.out


def test_check_directory_without_crawl_fails(tmp_path: Path, command: Command) -> None:
    assert "contains no crawl" in command.complaint("check", tmp_path)


def test_check_makes_derived_tables_again(tmp_path: Path, command: Command) -> None:
    crawl = _crawl(tmp_path / "crawl")
    with closing(sqlite3.connect(crawl / NAME)) as db, db:
        db.execute("DELETE FROM page")
        db.execute("DELETE FROM score")
    result = command("check", crawl)
    assert 1 == result.code
    assert "tables of pages and relevances did not fit the events" in result.out
    assert [] == command.json("check", crawl)[str(crawl)]["faults"]
    assert [{"pages": 1}] == command.json("sql", crawl, "SELECT COUNT(*) AS pages FROM pages")
