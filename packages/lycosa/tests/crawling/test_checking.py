"""Tests of `lycosa check` on damaged logs and archives."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

import lycosa
from crawl_helpers import run, world
from input_errors import raises_input_error
from lycosa.cli.label_command import keep_labels
from lycosa.collection.checking import check
from lycosa.collection.summary import summarise
from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.core.types import Event, Visit
from lycosa.store.log import NAME, SqliteLog
from lycosa.testweb import Server, serve
from stored import exact

TOPIC = "marine biology/coral reefs"
FLIPS = 30


@pytest.fixture(scope="module")
def served() -> Iterator[Server]:
    with serve(world(150)) as server:
        yield server


@pytest.fixture(scope="module")
def finished(served: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl 25 pages, with the log in one file."""
    directory = tmp_path_factory.mktemp("finished") / "crawl"
    _crawl(served, directory)
    return directory


def _crawl(served: Server, directory: Path, **options: object) -> None:
    web = served.web
    fast = {"budget": 25, "delay": 0.0, "concurrency": 1, "allow_network": ["127.0.0.0/8"], "judge": "vector"} | options
    for _ in lycosa.crawl(web.query(TOPIC), web.seeds(TOPIC, 3), out=directory, **fast):
        pass
    change(directory, "SELECT 1")


@pytest.fixture
def crawl(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "crawl")
    return tmp_path / "crawl"


def events(directory: Path) -> list[tuple[int, Event]]:
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        return list(log.events())


def change(directory: Path, statement: str, *given: object) -> None:
    with closing(sqlite3.connect(directory / NAME)) as database:
        database.execute(statement, given)
        database.commit()
        database.execute("PRAGMA journal_mode=DELETE")


def test_check_reads_shards(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shards = [crawl / "shards" / f"{number:03d}" for number in range(3)]
    for shard in shards[:2]:
        shutil.copytree(crawl, shard, ignore=shutil.ignore_patterns("shards"))
    shards[2].mkdir()  # without any event
    change(shards[1], "UPDATE visit SET kind = 'pagf' WHERE seq = (SELECT MIN(seq) FROM visit WHERE kind = 'page')")
    assert read_error(shards[1])
    ended = run("check", str(crawl))
    assert (1, 1) == (ended.code, ended.out.count("log: lost are the events"))
    assert not read_error(shards[1])
    before = (shards[0] / NAME).read_bytes()
    for write in (
        lambda: list(lycosa.resume(shards[0])),
        lambda: keep_labels(shards[0], []),
    ):
        with raises_input_error(
            "shard-directory", f"{shards[0]} is a shard of the crawl in {crawl}: give that directory"
        ):
            write()
    assert (shards[0] / NAME).read_bytes() == before


def test_check_reports_flipped_bytes(crawl: Path) -> None:
    whole, before = (crawl / NAME).read_bytes(), events(crawl)
    chance = Random(19)
    found = saved = 0
    for _ in range(FLIPS):
        damaged = bytearray(whole)
        at = chance.randrange(len(whole))
        damaged[at] ^= 1 << chance.randrange(8)
        (crawl / NAME).write_bytes(damaged)
        error = read_error(crawl)
        if not error:
            after = dict(events(crawl))
            assert sum(exact(event) != exact(after.get(seq, event)) for seq, event in before) <= 1, at
            if len(after) < len(before):  # a page of the file lost a row, or points to another page
                assert check(crawl).faults, at
                next(crawl.glob("crawl.sqlite.damaged-*")).unlink()
            continue
        found += 1
        assert "lycosa check" in error or "format" in error, error
        try:
            done = check(crawl)
        except StoreError:  # SQLite needs the first page of the file
            assert at < 8192
            continue
        assert not read_error(crawl)
        assert done.faults
        kept = next(crawl.glob("crawl.sqlite.damaged-*"))
        assert bytes(damaged) == kept.read_bytes()
        kept.unlink()
        assert len(before) - done.events <= 7, (at, done)
        saved += 1
    assert found >= saved > FLIPS / 6  # flips in texts, numbers and indexes are not noticed when the log is read


def read_error(directory: Path) -> str:
    """Return the error message for a log as read by `show`, then by `resume`."""
    try:
        with closing(SqliteLog(directory / NAME, readonly=True)) as log:
            log.check()
            for _ in log:
                pass
    except DamagedError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE visit SET kind = 'pagf' WHERE seq = ?", "unknown"),
        ("UPDATE visit SET kind = CAST(x'70ff' AS TEXT) WHERE seq = ?", "Could not decode"),
        ("UPDATE visit SET outcome = 'oj' WHERE seq = ?", "unknown"),
        ("UPDATE visit SET data = '{' WHERE seq = ?", "can't be read"),
        ("UPDATE visit SET warc_file = '../x' WHERE seq = ?", "not a place in the archive"),
    ],
)
def test_check_drops_visit_with_impossible_columns(crawl: Path, statement: str, what: str) -> None:
    before = events(crawl)
    seq = next(seq for seq, event in before if isinstance(event, Visit) and event.is_page)
    change(crawl, statement, seq)
    error = read_error(crawl)
    assert what in error
    assert error.endswith(f"lycosa check {crawl}")
    assert f"log: lost are the events {seq} (visit)" == check(crawl).faults[0]
    after = dict(events(crawl))
    assert [number for number, _ in before if number != seq] == list(after)
    for number, event in before:
        if number < seq or not isinstance(event, Visit):
            assert exact(event) == exact(after[number])
    assert not check(crawl).faults


def test_check_replaces_unreadable_letters(crawl: Path) -> None:
    before = dict(events(crawl))
    seq = next(seq for seq, event in before.items() if isinstance(event, Visit) and event.is_page)
    change(crawl, "UPDATE visit SET title = CAST(x'52ff' AS TEXT) WHERE seq = ?", seq)
    assert "Could not decode" in read_error(crawl)
    assert "log: 1 texts were damaged; unreadable letters were replaced" == check(crawl).faults[0]
    before[seq].title = "R\ufffd"  # type: ignore[union-attr]
    assert exact(before) == exact(dict(events(crawl)))


@pytest.mark.parametrize("column", ["links", "terms", "binary"])
def test_check_keeps_visit_without_its_damaged_content(crawl: Path, column: str) -> None:
    before = dict(events(crawl))
    seq = max(seq for seq, event in before.items() if isinstance(event, Visit) and len(event.terms.ids))
    change(crawl, f"UPDATE content SET {column} = x'00' WHERE seq = ?", seq)
    assert f"event {seq}, a visit, can't be read" in read_error(crawl)
    what = {"links": "their links", "terms": "the words", "binary": "some of their data"}[column]
    assert f"log: 1 visits have lost {what}" in check(crawl).faults[0]
    after = dict(events(crawl))
    visit, known = after[seq], before[seq]
    assert isinstance(visit, Visit)
    assert isinstance(known, Visit)
    assert (visit.node, visit.title, visit.relevance) == (known.node, known.title, known.relevance)
    assert (column != "links", column != "terms") == (bool(len(visit.links)), bool(len(visit.terms.ids)))
    del before[seq], after[seq]
    assert exact(before) == exact(after)
    assert not check(crawl).faults


@pytest.mark.parametrize("table", ["setting", "seed", "score", "page", "visit_url"])
def test_check_keeps_events_of_other_tables(crawl: Path, table: str) -> None:
    """A damaged page of the file makes one table or index unreadable."""
    before = events(crawl)
    with closing(sqlite3.connect(crawl / NAME)) as database:
        (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    data = bytearray((crawl / NAME).read_bytes())
    data[(root - 1) * size : root * size] = bytes(size)
    (crawl / NAME).write_bytes(data)
    faults = check(crawl).faults
    kept = [(seq, event) for seq, event in before if type(event).__name__.lower() != table]
    assert exact(kept) == exact(events(crawl))
    lost = len(before) - len(kept)
    assert ("redundant data is damaged" in faults[0]) == (lost == 0), faults
    assert not check(crawl).faults
    with closing(SqliteLog(crawl / NAME)) as log:
        assert 25 == next(log.query("SELECT COUNT(*) FROM page JOIN score ON score.seq = page.current"))[0]


def test_check_rebuilds_altered_schema(crawl: Path) -> None:
    before = events(crawl)
    change(crawl, "CREATE VIEW more AS SELECT 1")
    assert "look at its view 'more', or keep the events with: lycosa check" in read_error(crawl)
    assert "all events can be read" in check(crawl).faults[0]
    assert exact(before) == exact(events(crawl))
    assert not check(crawl).faults


def test_check_locked_log_is_not_damaged(crawl: Path) -> None:
    SqliteLog(crawl / NAME).close()  # leave the files as after a crawl
    with closing(SqliteLog(crawl / NAME, readonly=True)) as log:
        reading = log.events()
        next(reading)
        with pytest.raises(LockedError, match="close that program first"):
            check(crawl)
        reading.close()
    assert not check(crawl).faults


def test_check_reports_lost_page(crawl: Path) -> None:
    before = events(crawl)
    pages = [seq for seq, event in before if isinstance(event, Visit) and event.is_page]
    change(crawl, "UPDATE visit SET flags = '' WHERE seq = ?", pages[3])
    (crawl / "snapshot").mkdir(exist_ok=True)
    (crawl / "snapshot" / "map").write_text("of the log that was")
    wrong = check(crawl).faults
    assert f"log: lost are the events {pages[3]} (visit)" == wrong[0]
    assert "visits have lost the words" in wrong[1]
    assert not (crawl / "snapshot").exists()
    after = dict(events(crawl))
    del pages[3]
    assert [True] * 3 + [False] * (len(pages) - 3) == [bool(len(after[seq].terms.ids)) for seq in pages]  # type: ignore[union-attr]
    assert len(after) == len(before) - 1
    assert not check(crawl).faults


@pytest.mark.parametrize("damage", ["cut", "zeros", "gone"])
def test_check_reports_damaged_archive(crawl: Path, served: Server, damage: str) -> None:
    file = next((crawl / "archive").glob("*.warc.gz"))
    data = file.read_bytes()
    end = len(data) // 2 if damage == "cut" else len(data)
    file.write_bytes(data[:end] if damage == "cut" else data[: end // 2] + bytes(3000) + data[end // 2 + 3000 :])
    if damage == "gone":
        file.unlink()
    before = sum(bool(event.place.file) for _, event in events(crawl) if isinstance(event, Visit))
    (line,) = (line for line in check(crawl).faults if ".warc.gz" in line)
    after = sum(bool(event.place.file) for _, event in events(crawl) if isinstance(event, Visit))
    assert f"; {before - after} visits are no longer archived" in line
    assert (after == 0) == (damage == "gone")
    assert after < before
    assert 26 == summarise(crawl).pages + sum(visit.is_page for visit in lycosa.resume(crawl, budget=26))
    assert not check(crawl).faults


def test_check_reports_missing_indexes(crawl: Path) -> None:
    index = next((crawl / "archive").glob("*.cdxj"))
    whole = index.read_bytes()
    check(crawl)
    index.unlink()
    data = bytearray((crawl / "search.sqlite").read_bytes())
    data[4096:12000] = bytes(12000 - 4096)
    (crawl / "search.sqlite").write_bytes(data)
    done = check(crawl)
    assert [f"archive/{index.name}: incomplete; rebuilt", "search index: damaged; rebuilt"] == done.rebuilt
    assert not done.faults
    assert whole == index.read_bytes()
    assert "coral" in run("search", str(crawl), "coral").out.lower()


def test_check_reports_truncated_log(crawl: Path, served: Server) -> None:
    data = (crawl / NAME).read_bytes()
    (crawl / NAME).write_bytes(data[: len(data) * 3 // 4])
    error = run("show", str(crawl)).complaint
    assert error.endswith(f"lycosa check {crawl}")
    with pytest.raises(DamagedError, match=f"lycosa check {crawl}"):
        list(lycosa.resume(crawl))
    ended = run("check", str(crawl))
    assert 1 == ended.code, ended.err
    assert "log: lost are the events" in ended.out
    assert 26 == summarise(crawl).pages + sum(visit.is_page for visit in lycosa.resume(crawl, budget=26))
    assert 0 == run("check", str(crawl)).code
