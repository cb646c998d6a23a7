"""Erasing, verified by searching every column of every table."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from lycosa.store.log import Lock
from lycosa_server.people import erasing, interests, limits, sharing
from lycosa_server.people import last_seen as visits
from lycosa_server.people.database import Database
from lycosa_server.people.interest_settings import InterestSettings
from lycosa_server.people.migrating import migrate
from people_maker import NOW, crawl, interest, person
from people_rows import fill


def traces(database: Database, *words: str) -> list[tuple[str, str]]:
    """Return the tables and columns that contain one of the words, except in the audit log."""
    return [
        (table, column)
        for table, columns in database.tables().items()
        if table != "audit"
        for column in columns
        for row in database.rows(f"SELECT {column} AS value FROM {table}")
        if any(word in str(row["value"]) for word in words)
    ]


@pytest.mark.paper("personalized-privacy")
def test_erase_person_leaves_no_trace_and_keeps_other_rows(database: Database) -> None:
    fill(database)
    before = {table: len(database.rows(f"SELECT * FROM {table}")) for table in database.tables()}
    assert len(traces(database, "person-0", "interest-0")) > 10
    assert ["crawl-0"] == erasing.erase_person(database, "person-0")
    assert [] == traces(database, "person-0", "interest-0")
    assert [("deleted_crawl", "crawl")] == [place for place in traces(database, "crawl-0") if place[0] != "process"]
    unrelated = {"audit", "attempt", "catalogue", "alembic_version", "process"}
    left = {
        table: rows if table in unrelated else rows + (1 if table == "deleted_crawl" else -1)
        for table, rows in before.items()
    }
    assert left == {table: len(database.rows(f"SELECT * FROM {table}")) for table in left}


def test_erase_person_removes_name_everywhere(database: Database) -> None:
    ada, bob = person(database, "Ada Lovelace"), person(database, "Bob")
    hers, his = interest(database, ada, "Ada Lovelace's reefs"), interest(database, bob)
    crawl(database, hers)
    row, other = database.get("interest", hers), database.get("interest", his)
    assert row is not None
    assert other is not None
    sharing.share(database, NOW, row, "Ada Lovelace", "Bob", "edit")
    sharing.share(database, NOW, other, "Bob", "Ada Lovelace", "edit")
    visits.open_feed(database, his, ada)
    limits.record_sign_in(database, NOW, "ada lovelace", "192.0.2.1")
    answer = {"relevant": 1, "person": ada, "at": NOW}
    database.insert("feedback", {"interest": his, "url": "https://a.example/", **answer})
    erasing.erase_person(database, ada)
    assert [] == traces(database, ada, hers, "Lovelace", "lovelace")
    assert [{"interest": his, "url": "https://a.example/", "person": None}] == database.rows(
        "SELECT interest, url, person FROM feedback"
    )
    assert [] == database.rows("SELECT * FROM attempt WHERE source LIKE 'name:%' OR source LIKE 'pair:%'")
    assert [his] == [one["id"] for one in interests.of_person(database, bob)]
    assert [] == erasing.erase_person(database, ada)


def test_erase_person_overwrites_sqlite_file(tmp_path: Path) -> None:
    path = tmp_path / "lycosa.sqlite"
    with closing(Database(path)) as database:
        migrate(database)
        ada = person(database, "Ada Lovelace")
        interest(database, ada, "reefs", InterestSettings("secretwords " * 40, seeds=["https://reefs.example/"]))
    assert b"secretwords" in path.read_bytes()
    with closing(Database(path)) as database:
        erasing.erase_person(database, ada)
    assert [False, False] == [word in path.read_bytes() for word in (b"secretwords", b"Lovelace")]


def test_deleted_crawls_are_listed_until_removed(database: Database) -> None:
    reefs = interest(database, person(database, "Ada"))
    one, two = crawl(database, reefs, 1), crawl(database, reefs, 2)
    erasing.erase_crawl(database, one)
    erasing.erase_crawl(database, one)
    assert [two] == erasing.erase_interest(database, reefs)
    assert {one, two} == set(erasing.deleted_crawls(database))
    database.delete("deleted_crawl", crawl=one)
    assert [two] == erasing.deleted_crawls(database)


def test_remove_directories_skips_locked_ones(tmp_path: Path) -> None:
    held, free = tmp_path / "held", tmp_path / "free"
    for directory in (held, free):
        (directory / "archive").mkdir(parents=True)
        (directory / "archive" / "a.warc.gz").write_bytes(b"coral")
    lock = Lock(held)
    assert [free, tmp_path / "never"] == erasing.remove_directories([held, free, tmp_path / "never"])
    assert (held / "archive" / "a.warc.gz").exists()
    lock.release()
    assert [held] == erasing.remove_directories([held])
    assert [] == list(tmp_path.iterdir())


def test_data_of_person_has_all_tables_without_secrets(database: Database) -> None:
    fill(database)
    exported = str(erasing.data_of_person(database, "person-0"))
    mine = {table for table, columns in database.tables().items() if {"person", "owner", "interest"} & set(columns)}
    assert mine >= {"interest", "share", "feedback", "opened", "suggestion", "seen", "notice", "session", "token"}
    for table in mine - {"audit", "share"}:
        row = database.rows(f"SELECT * FROM {table}")[0]
        distinct = row.get("id") or row.get("url") or row.get("value") or row["interest"]
        assert (table, True) == (table, str(distinct) in exported)
    for secret in ("password ä", "digest ä", "previous ä", "feed ä"):
        assert secret not in exported
    assert "person-1" not in exported
