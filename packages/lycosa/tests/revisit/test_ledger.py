"""The list of changes in a log."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lycosa.core.errors import InputError
from lycosa.core.types import Event, Setting
from lycosa.revisit.change import Change
from lycosa.revisit.ledger import (
    REFRESH_SETTING,
    ChangeFilter,
    beginning,
    changes,
    count_unchanged_visits,
    end,
    identity,
    last_visit_time,
    refreshed_from,
)
from lycosa.store.log import SqliteLog
from made_changes import COSMETIC, HOUR, MOVED, REEF, START, VANISHED, look, make_log, page, text

OTHER = "http://shells.example/"


def test_changes_in_log_order(tmp_path: Path) -> None:
    log = make_log(
        tmp_path,
        page(),
        page(OTHER, title="Shells"),
        look(),
        look(text(), OTHER),
        look(None, outcome="timeout"),
        look(VANISHED, outcome="gone"),
        page("http://new.example/", at=START + HOUR, data={"change": Change("new").as_data()}),
    )
    # The seed is event 1, the pages are 2 and 3, and so on.
    assert [(5, "changed", OTHER), (7, "vanished", REEF), (8, "new", "http://new.example/")] == [
        (told.seq, told.change.what, told.url) for told in changes(log)
    ]
    assert 1 == count_unchanged_visits(log)
    log.close()


def test_changes_skips_events_before_first_refresh(tmp_path: Path) -> None:
    new = page("http://new.example/", data={"change": Change("new").as_data()})
    threshold, refreshed = Setting("threshold", 0.5), Setting(REFRESH_SETTING, value=True)
    cases: tuple[tuple[list[Event], list[int], int], ...] = (
        ([page(), threshold, page(OTHER)], [], 4),
        ([page(), threshold, page(OTHER), threshold, refreshed, new], [7], 6),
        ([page(OTHER), threshold, Setting("watched", value=True), new, threshold, refreshed], [5], 4),
    )
    for number, (events, told, first) in enumerate(cases):
        directory = tmp_path / str(number)
        directory.mkdir()
        log = make_log(directory, *events, refreshed=False)
        log.close()
        # earlier events are never decoded, so they may be unreadable
        with closing(sqlite3.connect(log.path)) as db, db:
            db.execute("UPDATE visit SET data = '' WHERE url = ?", (OTHER,))
        with closing(SqliteLog(log.path, readonly=True)) as damaged:
            assert (told, first) == ([change.seq for change in changes(damaged)], refreshed_from(damaged)), number


def test_changes_have_data_of_previous_version(tmp_path: Path) -> None:
    log = make_log(
        tmp_path,
        page(relevance=0.75),
        look(VANISHED, outcome="gone", title="404 Not Found", relevance=0.0, follows=START),
    )
    [told] = changes(log)
    assert ("Coral reefs", 0.0, 0.75, START, "www.reef.example") == (
        told.title, told.relevance, told.was, told.follows, told.host
    )  # fmt: skip
    log.close()


def test_changes_previous_version_has_content(tmp_path: Path) -> None:
    log = make_log(
        tmp_path,
        page(relevance=0.25),
        look(text(), relevance=0.5, title="Second"),
        look(None, outcome="gone", relevance=0.0, title="Error"),
        look(VANISHED, outcome="gone", relevance=0.0, title="Error"),
        look(Change("returned"), relevance=0.125, title="Third"),
    )
    assert [("Second", 0.25, 0.5), ("Second", 0.5, 0.0), ("Third", 0.5, 0.125)] == [
        (told.title, told.was, told.relevance) for told in changes(log)
    ]
    log.close()


@pytest.mark.parametrize(
    ("wanted", "seqs"),
    [
        (ChangeFilter(), [4, 5, 7, 8]),
        (ChangeFilter(cosmetic=True), [4, 5, 6, 7, 8]),
        (ChangeFilter(what=("vanished", "moved")), [7, 8]),
        (ChangeFilter(kinds=("link",)), [5, 7, 8]),  # vanished pages have no kind of change
        (ChangeFilter(kinds=("cosmetic",), what=("changed",)), [6]),
        (ChangeFilter(at_least=0.3), [5, 7, 8]),
        (ChangeFilter(host="reef.example"), [4, 7]),
        (ChangeFilter(host="*.REEF.example"), [4, 7]),
        (ChangeFilter(host="eef.example"), []),
        (ChangeFilter(pattern="/$"), [5, 8]),
        (ChangeFilter(relevant=0.4), [4, 7]),
    ],
)
def test_filter_selects_changes(wanted: ChangeFilter, seqs: list[int], tmp_path: Path) -> None:
    log = make_log(
        tmp_path,
        page(),
        page(OTHER, relevance=0.1),
        look(text(0.25)),
        look(Change("changed", "link", 0.5), OTHER, relevance=0.2),
        look(COSMETIC, OTHER, relevance=0.2),
        look(VANISHED, outcome="gone", relevance=0.0),
        look(MOVED, OTHER, outcome="redirect", relevance=0.0),
    )
    assert seqs == [told.seq for told in changes(log, wanted=wanted)]
    log.close()


@pytest.mark.parametrize(
    "wrong", [{"what": ("gone",)}, {"kinds": ("words",)}, {"at_least": 2.0}, {"pattern": "("}, {"host": "a b"}]
)
def test_filter_rejects_invalid_values(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        ChangeFilter(**wrong)  # type: ignore[arg-type]


def test_changes_are_selected_by_time_and_number(tmp_path: Path) -> None:
    log = make_log(tmp_path, *(look(text(), at=START + day * 24 * HOUR) for day in range(10)))

    def days(**asked: float) -> list[int]:
        return [round((told.at - START) / (24 * HOUR)) for told in changes(log, **asked)]  # type: ignore[arg-type]

    assert [7, 8, 9] == days(since=START + 7 * 24 * HOUR)
    assert [0, 1] == days(until=START + 2 * 24 * HOUR)
    assert [2, 3] == days(after=3, upto=5)  # the seed is event 1, day 0 is event 2
    assert [9, 8] == days(after=9, newest_first=True)
    assert [] == days(since=START + 100 * 24 * HOUR)
    log.close()


def test_beginning_searches_by_time(tmp_path: Path) -> None:
    times = [START + hour * HOUR for hour in range(100)]
    times[90], times[99] = times[75], times[80]
    log = make_log(tmp_path, *(look(text(), at=at) for at in times))
    since = START + 78 * HOUR
    expected = [number + 2 for number, at in enumerate(times) if at >= since]
    assert expected == [told.seq for told in changes(log, since=since)]
    assert 78 - 24 + 2 == beginning(log, since)  # hour 54 is the first one of the day before
    assert 1 == beginning(log, 0.0)
    assert end(log) + 1 == beginning(log, START + 1_000 * HOUR)
    log.close()


def test_unchanged_visits_are_counted_since(tmp_path: Path) -> None:
    log = make_log(tmp_path, *(look(at=START + hour * HOUR) for hour in range(50)))
    assert 50 == count_unchanged_visits(log)
    assert 10 == count_unchanged_visits(log, since=START + 40 * HOUR)
    assert 3 == count_unchanged_visits(log, after=48)
    log.close()


def test_ids_are_permanent_and_unique(tmp_path: Path) -> None:
    log = make_log(tmp_path, look(text()), look(text()), look(text(), at=START + 2 * HOUR))
    ids = [told.id for told in changes(log)]
    crawl = identity(log)
    log.close()
    (tmp_path / "moved").mkdir()
    (tmp_path / "crawl.sqlite").rename(tmp_path / "moved" / "crawl.sqlite")
    (tmp_path / "other").mkdir()
    again = SqliteLog(tmp_path / "moved" / "crawl.sqlite")
    assert (crawl, ids) == (identity(again), [told.id for told in changes(again)])
    again.close()
    assert 3 == len(set(ids))
    assert all(found.startswith("urn:uuid:") for found in ids)
    other = make_log(tmp_path / "other", page())
    other._db.execute("UPDATE setting SET at = at + 1 WHERE seq = 1")
    assert crawl != identity(other)
    other.close()


def test_changes_keep_nodes_without_host(tmp_path: Path) -> None:
    log = make_log(tmp_path, look(text(), "@reef@social.example", title="Reef \0"))
    [told] = changes(log)
    assert ("", "Reef \0") == (told.host, told.title)
    log.close()


def test_last_visit_time_is_0_for_empty_log(tmp_path: Path) -> None:
    log = make_log(tmp_path)
    assert (0.0, False) == last_visit_time(log)
    log.append(page())
    assert (START, False) == last_visit_time(log)
    log.append(look(at=START + HOUR))
    assert (START + HOUR, True) == last_visit_time(log)
    log.close()
