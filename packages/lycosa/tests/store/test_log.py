"""The log on disk: order, atomicity, versions, locks, and errors that say what to do."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.core.types import ArchivePlace, Event, Label, Links, ModelUpdate, Seed, Setting, Visit
from lycosa.store.codec import VERSION
from lycosa.store.log import NAME, RELEVANCE_NOW, VERSIONS, Lock, MemoryLog, SqliteLog

EVENTS: list[Event] = [
    Setting("threshold", 0.1, 1.0),
    Seed("http://a.test/", 2.0),
    Visit("http://a.test/robots.txt", "robots", "ok", 0, origin="http://a.test/", data={"body": b"x"}),
    Visit("http://a.test/", "page", "ok", 1, relevance=0.5, place=ArchivePlace("f-00001.warc.gz", 400, 100)),
    Visit("http://a.test/b", "redirect", "redirect", 2, place=ArchivePlace("f-00001.warc.gz", 500, 50)),
    Label("http://a.test/", True, 3.0, "me"),
    Visit("http://a.test/c", "page", "gone", 3, place=ArchivePlace("f-00002.warc.gz", 400, 7)),
    Setting("end", {"reason": "stopped"}, 4.0),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the log is."""
    return tmp_path / NAME


@pytest.fixture
def log(path: Path) -> Iterator[SqliteLog]:
    """A log with some events."""
    made = SqliteLog(path)
    for event in EVENTS:
        made.append(event)
    yield made
    made.close()


def told(events: Iterator[Event]) -> list[str]:
    """Events as text: links hold arrays, which don't compare."""
    return [repr(event) for event in events]


@pytest.mark.paper("rules-databases")
def test_events_come_back_in_order(log: SqliteLog) -> None:
    """What was appended is read back, in order and equal, places included."""
    assert [repr(event) for event in EVENTS] == told(iter(log))


def test_events_survive_closing(log: SqliteLog, path: Path) -> None:
    """A log that is opened again goes on where it ended."""
    log.close()
    again = SqliteLog(path)
    again.append(Seed("later"))
    assert ["Seed", len(EVENTS) + 1] == [type(list(again)[-1]).__name__, len(list(again))]
    again.close()


def test_readers_see_each_event_at_once(log: SqliteLog, path: Path) -> None:
    """Another connection reads an event as soon as it is appended, while the writer is open."""
    reader = SqliteLog(path, readonly=True)
    log.append(Seed("new"))
    assert len(EVENTS) + 1 == len(list(reader))
    reader.close()


def test_a_reader_can_not_write(log: SqliteLog, path: Path) -> None:
    """A log opened for reading refuses to append."""
    reader = SqliteLog(path, readonly=True)
    with pytest.raises(StoreError):
        reader.append(Seed("x"))
    reader.close()


def test_a_log_is_read_where_nothing_may_be_written(
    log: SqliteLog, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crawl on a medium that can't be written is read without SQLite's own files beside it."""
    log.close()
    (path.parent / f"{path.name}-shm").unlink(missing_ok=True)
    monkeypatch.setattr(os, "access", lambda *_: False)
    reader = SqliteLog(path, readonly=True)
    assert (len(EVENTS), [path.name]) == (len(list(reader)), sorted(file.name for file in path.parent.glob("*sqlite*")))
    reader.close()


def test_some_kinds_only(log: SqliteLog) -> None:
    """Events can be selected, ordered and cut off, by what the database knows of them."""
    pages = log.events("kind = ? AND beta >= ?", "seq DESC LIMIT 5", ("page", 0.0))
    assert ["http://a.test/c", "http://a.test/"] == [event.node for event in pages if isinstance(event, Visit)]


def test_the_last_setting_counts(log: SqliteLog) -> None:
    """A setting has the value it was given last, or the default."""
    log.append(Setting("threshold", 0.2))
    assert (0.2, "none") == (log.setting("threshold", 0.0), log.setting("nothing", "none"))


def test_the_last_event(log: SqliteLog, tmp_path: Path) -> None:
    """The last event is the one appended last; an empty log has none."""
    log.append(Seed("last"))
    assert Seed("last") == log.last()
    empty = SqliteLog(tmp_path / "empty.sqlite")
    assert empty.last() is None
    empty.close()


def test_what_is_given_afterwards_is_no_end(log: SqliteLog) -> None:
    """Labels, lessons and another threshold may come when a crawl is over."""
    for event in (Label("http://a.test/", False), ModelUpdate("j", {}), Setting("threshold", 0.3)):
        log.append(event)
    assert EVENTS[-1] == log.last()


def test_a_lesson_comes_back(log: SqliteLog) -> None:
    """With what was learned."""
    log.append(ModelUpdate("j", {"weights": np.arange(3.0), "line": 0.5}, 7.0))
    (update,) = log.events("kind = 'model_update'")
    assert isinstance(update, ModelUpdate)
    assert ("j", [0, 1, 2], 0.5, 7.0) == (update.judge, update.data["weights"].tolist(), update.data["line"], update.at)


def test_pages_are_rated(log: SqliteLog, path: Path) -> None:
    """What a page is worth by now is told with its event, and in SQL; what was logged stays."""
    log.store_relevances(np.array([0.25], np.float32))
    log.append(Visit("http://a.test/d", "page", "ok", 4, relevance=0.75))
    reader = SqliteLog(path, readonly=True)
    assert [0.25, 0.75] == [worth for (worth,) in reader.rows(RELEVANCE_NOW, VERSIONS)]
    first, second = (event for event in reader.events(VERSIONS) if isinstance(event, Visit))
    assert [(0.5, 0.25), (0.75, 0.75)] == [(first.relevance, first.relevance_now), (second.relevance, second.relevance_now)]
    reader.close()
    log.store_relevances(np.array([0.125, 0.5], np.float32))
    assert [0.125, 0.5] == [worth for (worth,) in log.rows(RELEVANCE_NOW, VERSIONS)]
    with pytest.raises(StoreError, match="rated 1 pages, the log has 2"):
        log.store_relevances(np.array([0.5]))


def test_ratings_are_undone_with_the_rest(log: SqliteLog) -> None:
    """A lesson and what it makes of the pages are kept together, or neither is."""
    log.store_relevances(np.array([0.25]))
    with pytest.raises(ZeroDivisionError), log.batch():  # noqa: PT012 - the block is what is tested
        log.append(Visit("http://a.test/d", "page", "ok", 4, relevance=0.75))
        log.store_relevances(np.array([0.0, 0.0]))
        raise ZeroDivisionError
    assert [0.25] == [worth for (worth,) in log.rows(RELEVANCE_NOW, VERSIONS)]
    log.append(Visit("http://a.test/d", "page", "ok", 4, relevance=0.75))
    log.store_relevances(np.array([0.0, 1.0]))
    assert [0.0, 1.0] == [worth for (worth,) in log.rows(RELEVANCE_NOW, VERSIONS)]


def test_archived_is_the_end_of_each_file(log: SqliteLog) -> None:
    """For each archive file, the byte after the last one known."""
    assert {"f-00001.warc.gz": 550, "f-00002.warc.gz": 407} == log.archived()


def test_together_is_seen_all_at_once(log: SqliteLog, path: Path) -> None:
    """What is appended together is seen by others only when it is complete."""
    reader = SqliteLog(path, readonly=True)
    with log.batch():
        log.append(Seed("x"))
        log.append(Seed("y"))
        assert len(EVENTS) == len(list(reader))
    assert len(EVENTS) + 2 == len(list(reader))
    reader.close()


def test_together_or_not_at_all(log: SqliteLog) -> None:
    """When something fails half way, nothing of it stays, and the log can still be used."""
    with pytest.raises(ZeroDivisionError), log.batch():  # noqa: PT012 - the block is what is tested
        log.append(Seed("x"))
        raise ZeroDivisionError
    assert len(EVENTS) == len(list(log))
    with log.batch():
        log.append(Seed("y"))
    assert len(EVENTS) + 1 == len(list(log))


def test_together_tells_the_first_error(log: SqliteLog) -> None:
    """When the database gave up by itself (a full disk), that is the error told, not that nothing is left to undo."""
    with pytest.raises(StoreError, match="full"), log.batch():  # noqa: PT012 - the block is what is tested
        log.append(Seed("x"))
        log._db.execute("ROLLBACK")  # as sqlite does when the disk is full
        raise sqlite3.OperationalError("database or disk is full")


def test_a_dead_process_loses_only_what_was_not_complete(log: SqliteLog, path: Path) -> None:
    """A transaction that was open when the process died is not in the log."""
    log.append(Seed("kept"))
    dying = sqlite3.connect(path, isolation_level=None)
    dying.execute("BEGIN")
    dying.execute("INSERT INTO event VALUES (999,'seed','x','',0,'','',0,0,x'00')")
    dying.close()
    assert len(EVENTS) + 1 == len(list(log))


def test_an_event_that_can_not_be_decoded(log: SqliteLog, path: Path) -> None:
    """Bytes that have rotted in the database are called damage, with what to do."""
    with sqlite3.connect(path) as other:
        other.execute("UPDATE event SET body = x'00ff' WHERE seq = 4")
    other.close()
    with pytest.raises(DamagedError, match=r"can't be read.*[Rr]estore"):
        list(log)


def test_surrogates_in_text_are_kept(log: SqliteLog) -> None:
    """A page's title and anchors may hold what UTF-8 can't."""
    log.append(Visit("http://a.test/s", "page", "ok", 9, title="\ud800", links=Links.to("b", anchors=["\udfff"])))
    last = list(log)[-1]
    assert isinstance(last, Visit)
    assert ("\ud800", ["\udfff"]) == (last.title, last.links.anchors)


def test_surrogates_in_a_name_are_refused(log: SqliteLog) -> None:
    """A node whose name can't be stored is an error of the store, and the log stays usable."""
    with pytest.raises(StoreError, match="cannot use"):
        log.append(Seed("\ud800"))
    log.append(Seed("fine"))


@pytest.mark.parametrize("readonly", [True, False])
def test_another_format_is_refused(log: SqliteLog, path: Path, readonly: bool) -> None:
    """A log of another version is refused with what to do, not misread."""
    log.close()
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version={VERSION + 1}")
    with pytest.raises(DamagedError, match=f"format is {VERSION + 1}, not {VERSION}"):
        SqliteLog(path, readonly=readonly)


def test_what_is_not_a_log_is_refused(path: Path) -> None:
    """A file of something else is called damaged."""
    path.write_bytes(b"this is not a database, but long enough to be read as one" * 100)
    with pytest.raises(DamagedError, match="is damaged"):
        SqliteLog(path)


def test_a_database_of_someone_else_is_refused(path: Path) -> None:
    """A database with other tables is not taken over."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE theirs (x)")
    database.close()
    with pytest.raises(DamagedError, match="its format is 0, not"):
        SqliteLog(path)


def test_reading_what_is_not_there(path: Path) -> None:
    """A log that does not exist can't be read, and is not made by trying."""
    with pytest.raises(StoreError, match="nothing has been crawled there yet"):
        SqliteLog(path, readonly=True)
    assert not path.exists()


def test_reading_an_empty_file(path: Path) -> None:
    """A log that is being made at this moment reads as empty of version, without being changed."""
    path.touch()
    SqliteLog(path, readonly=True).close()
    assert 0 == path.stat().st_size


def test_a_database_that_someone_holds(log: SqliteLog, path: Path) -> None:
    """A database locked by another program is an error that says so and how to go on."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    impatient = SqliteLog(path, busy_seconds=0.0)
    with pytest.raises(LockedError, match=r"locked by another program.*lycosa resume"):
        impatient.append(Seed("x"))
    other.execute("ROLLBACK")
    other.close()
    impatient.close()


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    """A directory is locked by one crawl, which the refusal names by its process; released, it is free."""
    import os

    lock = Lock(tmp_path)
    with pytest.raises(LockedError, match=rf"process {os.getpid()}\).*lycosa show"):
        Lock(tmp_path)
    with pytest.raises(LockedError):
        Lock(tmp_path, peek=True)
    lock.release()
    Lock(tmp_path, peek=True).release()
    Lock(tmp_path).release()


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    """A lock in a directory that does not exist is an error of the store."""
    with pytest.raises(StoreError, match="cannot write in"):
        Lock(tmp_path / "nowhere")


def test_the_log_in_memory() -> None:
    """The log for experiments keeps events in order; appending while reading does not disturb."""
    log = MemoryLog()
    with log.batch():
        log.append(Seed("a"))
    for _ in log:
        log.append(Seed("b"))
    assert [Seed("a"), Seed("b")] == list(log)
    log.close()
