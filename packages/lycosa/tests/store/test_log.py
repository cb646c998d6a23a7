"""Tests of the event log: order, atomicity, formats, locks, errors."""

import math
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.core.types import ArchivePlace, Event, Label, Links, ModelUpdate, Seed, Setting, Visit
from lycosa.store.log import NAME, RELEVANCE_NOW, VERSIONS, Lock, MemoryLog, SqliteLog, current_labels
from lycosa.store.schema import VERSION

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


LINKS = Links.to("http://a.test/\ud800", anchors=["\udfff"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / NAME


@pytest.fixture
def log(path: Path) -> Iterator[SqliteLog]:
    made = SqliteLog(path)
    for event in EVENTS:
        made.append(event)
    yield made
    made.close()


def as_text(events: Iterator[Event]) -> list[str]:
    """Return the events as text, because arrays in links cannot be compared."""
    return [repr(event) for event in events]


@pytest.mark.paper("rules-databases")
def test_append_keeps_order(log: SqliteLog) -> None:
    assert [repr(event) for event in EVENTS] == as_text(iter(log))


def test_append_continues_after_reopening(log: SqliteLog, path: Path) -> None:
    log.close()
    reopened = SqliteLog(path)
    reopened.append(Seed("later"))
    assert ["Seed", len(EVENTS) + 1] == [type(list(reopened)[-1]).__name__, len(list(reopened))]
    reopened.close()


def test_reader_sees_events_at_once(log: SqliteLog, path: Path) -> None:
    reader = SqliteLog(path, readonly=True)
    log.append(Seed("new"))
    assert len(EVENTS) + 1 == len(list(reader))
    reader.close()


def test_readonly_log_rejects_append(log: SqliteLog, path: Path) -> None:
    reader = SqliteLog(path, readonly=True)
    with pytest.raises(StoreError):
        reader.append(Seed("x"))
    reader.close()


def test_read_works_on_readonly_medium(log: SqliteLog, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log.close()
    (path.parent / f"{path.name}-shm").unlink(missing_ok=True)
    monkeypatch.setattr(os, "access", lambda *_: False)
    reader = SqliteLog(path, readonly=True)
    assert (len(EVENTS), [path.name]) == (len(list(reader)), sorted(file.name for file in path.parent.glob("*sqlite*")))
    reader.close()


def test_visits_are_selected_by_sql(log: SqliteLog) -> None:
    pages = log.visits("kind = ? AND relevance >= ?", "seq DESC LIMIT 5", ("page", 0.0))
    assert ["http://a.test/c", "http://a.test/"] == [visit.node for visit in pages]
    assert [3, 4, 5, 7] == [seq for seq, _ in log.numbered()]
    assert "http://a.test/b" == log.visit(5).node


@pytest.mark.parametrize(("after", "until"), [(0, None), (0, 8), (2, 6), (3, 3), (7, 99), (8, None)])
def test_events_are_numbered_across_tables(log: SqliteLog, after: int, until: int | None) -> None:
    expected = list(enumerate(EVENTS, 1))[after:until]
    assert repr(expected) == repr(list(log.events(after, until)))


def test_events_leave_out_later_ones(log: SqliteLog) -> None:
    reading = log.events()
    first = next(reading)
    log.append(Seed("later"))
    assert len(EVENTS) == len([first, *reading])


def test_visits_at_returns_selected_visits(log: SqliteLog) -> None:
    assert [3, 5, 7] == [seq for seq, _ in log.visits_at([3, 5, 7, 8], slice_size=2)]


def test_parts_of_log_can_be_read_alone(log: SqliteLog) -> None:
    for event in (Seed("b"), Label("http://a.test/", None, 4.0, "me"), ModelUpdate("j", {"widths": [1, 2]})):
        log.append(event)
    assert ["http://a.test/", "b"] == [seed.node for seed in log.seeds()]
    assert [True, None] == [label.relevant for label in log.labels()]
    update = log.last_model_update()
    assert update is not None
    assert ({"widths": [1, 2]}, [1, 2]) == (update.data, log.count_widths())
    assert {} == current_labels(log)


def test_log_without_model_update(log: SqliteLog) -> None:
    assert (None, None) == (log.last_model_update(), log.count_widths())


def test_setting_returns_last_value(log: SqliteLog) -> None:
    log.append(Setting("threshold", 0.2))
    assert (0.2, "none") == (log.setting("threshold", 0.0), log.setting("nothing", "none"))


def test_has_ended_after_last_visit(log: SqliteLog) -> None:
    assert log.has_ended()
    for event in (Label("http://a.test/", False), ModelUpdate("j", {}), Setting("threshold", 0.3)):
        log.append(event)
    assert log.has_ended()
    log.append(Setting("start", 1))
    assert (True, False) == (log.has_ended(), log.has_ended("start"))
    log.append(Visit("http://a.test/d", "page", "ok", 4))
    assert not log.has_ended()


def test_chain_covers_each_kind_of_event(log: SqliteLog, tmp_path: Path) -> None:
    later: list[Event] = [
        Seed("b"),
        Label("b", False),
        Setting("x", 1),
        ModelUpdate("j", {}),
        Visit("b", "page", "ok", 4),
    ]
    chains = [log.chain(log.end())]
    for event in later:
        log.append(event)
        chains.append(log.chain(log.end()))
    assert len(chains) == len(set(chains))
    log.append(Seed("c"))
    assert chains[-1] == log.chain(log.end() - 1)
    with closing(SqliteLog(tmp_path / "other.sqlite")) as other:
        for event in (*EVENTS, *later):
            other.append(event)
        assert chains == [other.chain(seq) for seq in range(len(EVENTS), other.end() + 1)]
        assert chains[0] == other.chain(len(EVENTS))


def test_chain_differs_if_label_was_changed(log: SqliteLog) -> None:
    before = log.chain(log.end())
    log._db.execute("UPDATE label SET relevant = 0")
    with closing(SqliteLog(log.path)) as reopened:
        assert before != reopened.chain(reopened.end())


def test_model_update_round_trip(log: SqliteLog) -> None:
    log.append(ModelUpdate("j", {"weights": np.arange(3.0), "line": 0.5}, 7.0))
    update = log.last_model_update()
    assert update is not None
    assert ("j", [0, 1, 2], 0.5, 7.0) == (update.judge, update.data["weights"].tolist(), update.data["line"], update.at)


def test_store_relevances_updates_visits(log: SqliteLog, path: Path) -> None:
    log.store_relevances(np.array([0.25], np.float32))
    log.append(Visit("http://a.test/d", "page", "ok", 4, relevance=0.75))
    reader = SqliteLog(path, readonly=True)
    assert [0.25, 0.75] == [worth for (worth,) in reader.rows(RELEVANCE_NOW, VERSIONS)]
    first, second = reader.visits(VERSIONS)
    assert [(0.5, 0.25), (0.75, 0.75)] == [
        (first.relevance, first.relevance_now),
        (second.relevance, second.relevance_now),
    ]
    reader.close()
    log.store_relevances(np.array([0.125, 0.5], np.float32))
    assert [0.125, 0.5] == [worth for (worth,) in log.rows(RELEVANCE_NOW, VERSIONS)]
    with pytest.raises(StoreError, match="2 page versions, but 1 relevances"):
        log.store_relevances(np.array([0.5]))


def test_batch_rolls_back_relevances(log: SqliteLog) -> None:
    log.store_relevances(np.array([0.25]))
    with pytest.raises(ZeroDivisionError), log.batch():  # noqa: PT012 - the block is what is tested
        log.append(Visit("http://a.test/d", "page", "ok", 4, relevance=0.75))
        log.store_relevances(np.array([0.0, 0.0]))
        raise ZeroDivisionError
    assert [0.25] == [worth for (worth,) in log.rows(RELEVANCE_NOW, VERSIONS)]
    log.append(Visit("http://a.test/d", "page", "ok", 4, relevance=0.75))
    log.store_relevances(np.array([0.0, 1.0]))
    assert [0.0, 1.0] == [worth for (worth,) in log.rows(RELEVANCE_NOW, VERSIONS)]


def test_archived_returns_end_of_each_file(log: SqliteLog) -> None:
    assert {"f-00001.warc.gz": 550, "f-00002.warc.gz": 407} == log.archived()


def test_batch_is_visible_when_committed(log: SqliteLog, path: Path) -> None:
    reader = SqliteLog(path, readonly=True)
    with log.batch():
        log.append(Seed("x"))
        log.append(Seed("y"))
        assert len(EVENTS) == len(list(reader))
    assert len(EVENTS) + 2 == len(list(reader))
    reader.close()


def test_batch_rolls_back_on_error(log: SqliteLog) -> None:
    with pytest.raises(ZeroDivisionError), log.batch():  # noqa: PT012 - the block is what is tested
        log.append(Seed("x"))
        raise ZeroDivisionError
    assert len(EVENTS) == len(list(log))
    with log.batch():
        log.append(Seed("y"))
    assert len(EVENTS) + 1 == len(list(log))


def test_batch_raises_first_error(log: SqliteLog) -> None:
    with pytest.raises(StoreError, match="full"), log.batch():  # noqa: PT012 - the block is what is tested
        log.append(Seed("x"))
        log._db.execute("ROLLBACK")  # as SQLite does when the disk is full
        raise sqlite3.OperationalError("database or disk is full")


def test_killed_batch_is_rolled_back(log: SqliteLog, path: Path) -> None:
    log.append(Seed("kept"))
    dying = sqlite3.connect(path, isolation_level=None)
    dying.execute("BEGIN")
    dying.execute("INSERT INTO seed VALUES (999, 'x', 0, '', '{}')")
    dying.close()
    assert len(EVENTS) + 1 == len(list(log))


@pytest.mark.parametrize(
    ("statement", "event"),
    [
        ("UPDATE content SET binary = x'00ff' WHERE seq = 3", "event 3, a visit"),
        ("UPDATE visit SET data = '{' WHERE seq = 4", "event 4, a visit"),
        ("UPDATE seed SET data = '[]'", "event 2, a seed"),
        ("UPDATE setting SET value = x'00' WHERE seq = 8", "event 8, a setting"),
    ],
)
def test_undecodable_event_is_damage(log: SqliteLog, path: Path, statement: str, event: str) -> None:
    with sqlite3.connect(path) as other:
        other.execute(statement)
    other.close()
    with pytest.raises(DamagedError, match=rf"{event}, can't be read.*[Rr]estore"):
        list(log)
    log.append(Seed("still"))


def test_text_that_is_not_utf8_is_damage(log: SqliteLog) -> None:
    log._db.execute("UPDATE visit SET title = CAST(x'ff' AS TEXT) WHERE seq = 4")
    with pytest.raises(DamagedError, match="lycosa check"):
        list(log)


def test_surrogates_in_links_round_trip(log: SqliteLog) -> None:
    log.append(Visit("http://a.test/s", "page", "ok", 9, links=Links.to("\ud800", anchors=["\udfff"])))
    last = list(log)[-1]
    assert isinstance(last, Visit)
    assert (["\ud800"], ["\udfff"]) == (last.links.urls, last.links.anchors)


@pytest.mark.parametrize(
    "event",
    [Seed("\ud800"), Label("\udfff", True), Setting("\ud800", 1)],
    ids=lambda event: type(event).__name__,
)
def test_surrogates_in_columns_are_refused(log: SqliteLog, event: Event) -> None:
    with pytest.raises(StoreError, match="cannot use"):
        log.append(event)
    assert len(EVENTS) + 1 == log.append(Seed("fine"))
    assert len(EVENTS) + 1 == len(list(log))


def test_surrogates_in_columns_of_visit_are_dropped(log: SqliteLog) -> None:
    terms = {"by \ud800Reefs": 0.5}
    page = Visit("http://a.test/s", "page", "ok", 9, title="R\ud800eef", note="\udfff", flags=["\udc80x"], links=LINKS)
    page.priority_terms, page.parent = terms, "http://a.test/"
    log.append(page)
    visit = log.visit(log.end())
    assert ("Reef", "", ["x"], {"by Reefs": 0.5}) == (visit.title, visit.note, visit.flags, visit.priority_terms)
    assert LINKS.urls == visit.links.urls


@pytest.mark.parametrize(
    "event",
    [
        Visit("a", "page", "ok", 1, relevance=math.nan),
        Visit("a", "page", "ok", 1, priority=math.nan),
        Label("a", True, math.nan),
    ],
    ids=repr,
)
def test_nan_is_refused(log: SqliteLog, event: Event) -> None:
    with pytest.raises(StoreError, match=r"cannot use .*: NOT NULL constraint failed"):
        log.append(event)
    assert len(EVENTS) == log.end() == len(list(log))


def test_nan_is_no_relevance_now(log: SqliteLog) -> None:
    with pytest.raises(StoreError, match="NOT NULL constraint failed"):
        log.store_relevances(np.array([math.nan]))
    assert [0.5] == [relevance for (relevance,) in log.rows(RELEVANCE_NOW, VERSIONS)]


@pytest.mark.parametrize("readonly", [True, False])
def test_other_format_is_refused(log: SqliteLog, path: Path, readonly: bool) -> None:
    log.close()
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version={VERSION + 1}")
    with pytest.raises(DamagedError, match=f"format is {VERSION + 1}, not {VERSION}"):
        SqliteLog(path, readonly=readonly)


@pytest.mark.parametrize("readonly", [True, False])
def test_log_of_earlier_release_is_refused(tmp_path: Path, readonly: bool) -> None:
    (tmp_path / "log.sqlite").write_bytes(b"of version 5")
    with pytest.raises(
        DamagedError, match=r"written by an earlier release of Lycosa \(log.sqlite\).*new crawl"
    ) as error:
        SqliteLog(tmp_path / NAME, readonly=readonly)
    assert "\n" not in str(error.value)
    assert ["log.sqlite"] == os.listdir(tmp_path)


def test_file_that_is_not_sqlite_is_refused(path: Path) -> None:
    path.write_bytes(b"this is not a database, but long enough to be read as one" * 100)
    with pytest.raises(DamagedError, match="is damaged"):
        SqliteLog(path)


def test_foreign_database_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE theirs (x)")
    database.close()
    with pytest.raises(DamagedError, match="its format is 0, not"):
        SqliteLog(path)


def test_read_missing_log_raises(path: Path) -> None:
    with pytest.raises(StoreError, match="nothing has been crawled there yet"):
        SqliteLog(path, readonly=True)
    assert not path.exists()


def test_read_empty_file_raises(path: Path) -> None:
    path.touch()
    SqliteLog(path, readonly=True).close()
    assert 0 == path.stat().st_size


def test_log_locked_by_other_program_raises(log: SqliteLog, path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    impatient = SqliteLog(path, busy_seconds=0.0)
    with pytest.raises(LockedError, match=r"locked by another program.*lycosa resume"):
        impatient.append(Seed("x"))
    other.execute("ROLLBACK")
    other.close()
    impatient.close()


def test_lock_names_holder(tmp_path: Path) -> None:
    import os

    lock = Lock(tmp_path)
    with pytest.raises(LockedError, match=rf"process {os.getpid()}\).*lycosa show"):
        Lock(tmp_path)
    with pytest.raises(LockedError):
        Lock(tmp_path, peek=True)
    lock.release()
    Lock(tmp_path, peek=True).release()
    Lock(tmp_path).release()


def test_lock_in_missing_directory_raises(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot write to"):
        Lock(tmp_path / "nowhere")


def test_memory_log_accepts_append_during_iteration() -> None:
    log = MemoryLog()
    with log.batch():
        log.append(Seed("a"))
    for _ in log:
        log.append(Seed("b"))
    assert [Seed("a"), Seed("b")] == list(log)
    log.close()
