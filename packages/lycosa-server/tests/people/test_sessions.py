"""Sessions: rotation and expiry, on both databases."""

from __future__ import annotations

import threading

from lycosa_server.people import accounts, sessions
from lycosa_server.people.database import Database
from people_maker import NOW, person

DAY, HOUR = 86400.0, 3600.0


def begin(database: Database) -> tuple[str, str]:
    return sessions.create(database, NOW, person(database, "ada"), "a browser")


def test_create_stores_only_digest(database: Database) -> None:
    _, value = begin(database)
    kept = str(database.rows("SELECT * FROM session"))
    assert [False, False] == [part in kept for part in value.split(".")]


def test_find_rotates_after_an_hour_of_use(database: Database) -> None:
    session, value = begin(database)
    before = sessions.find(database, NOW + HOUR - 1, value)
    turned = sessions.find(database, NOW + HOUR, value)
    assert before is not None
    assert turned is not None
    late = sessions.find(database, NOW + HOUR + 60, value)
    assert ("", True, session) == (before.fresh, turned.fresh not in ("", value), late.id if late else None)
    assert sessions.find(database, NOW + HOUR + 61, value) is None
    again = sessions.find(database, NOW + HOUR + 61, turned.fresh)
    assert again is not None
    assert (session, before.csrf) == (again.id, again.csrf)


def test_find_of_previous_value_does_not_rotate(database: Database) -> None:
    _, value = begin(database)
    sessions.find(database, NOW + HOUR, value)
    found = sessions.find(database, NOW + HOUR + 1, value)
    assert found is not None
    assert found.fresh == ""


def test_find_of_many_at_once_rotates_once(database: Database) -> None:
    _, value = begin(database)
    fresh: list[str | None] = []

    def ask() -> None:
        found = sessions.find(database, NOW + HOUR, value)
        fresh.append(found.fresh if found else None)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (4, 1, False) == (len(fresh), sum(map(bool, fresh)), None in fresh)
    assert sessions.find(database, NOW + HOUR + 100, max(filter(None, fresh))) is not None


def test_find_without_turn_keeps_value(database: Database) -> None:
    _, value = begin(database)
    found = sessions.find(database, NOW + HOUR, value, turn=False)
    assert found is not None
    assert found.fresh == ""
    assert sessions.find(database, NOW + HOUR + 100, value, turn=False) is not None


def test_session_expires_after_14_idle_days(database: Database) -> None:
    session, value = begin(database)
    assert sessions.find(database, NOW + 14 * DAY - 1, value, turn=False)
    assert sessions.find(database, NOW + 27 * DAY, value, turn=False)
    assert sessions.find(database, NOW + 41 * DAY, value, turn=False) is None
    assert not sessions.is_valid(database, NOW + 41 * DAY, session)


def test_session_expires_after_90_days_of_use(database: Database) -> None:
    _, value = begin(database)
    found = [sessions.find(database, NOW + day * DAY, value, turn=False) is not None for day in range(92)]
    assert (90, [False, False]) == (sum(found), found[-2:])


def test_create_removes_expired_sessions(database: Database) -> None:
    old, _ = begin(database)
    row = database.row("SELECT person FROM session")
    assert row is not None
    new, _ = sessions.create(database, NOW + 15 * DAY, row["person"])
    assert old != new
    assert [new] == [one["id"] for one in database.rows("SELECT id FROM session")]


def test_find_rotates_after_change_of_role(database: Database) -> None:
    _, value = begin(database)
    row = database.row("SELECT person FROM session")
    assert row is not None
    accounts.set_role(database, row["person"], "reader")
    found = sessions.find(database, NOW + 1, value)
    assert found is not None
    assert (True, "reader") == (found.fresh != "", found.person["role"])


def test_find_refuses_disabled_people(database: Database) -> None:
    session, value = begin(database)
    database.run("UPDATE person SET disabled = 1")
    assert (None, False) == (sessions.find(database, NOW, value), sessions.is_valid(database, NOW, session))


def test_find_of_unknown_values_is_none(database: Database) -> None:
    begin(database)
    values = ["", "x", ".", "x" * 87, "x" * 10_000, "é" * 87, "\ud800" * 87]
    assert [None] * 7 == [sessions.find(database, NOW, value) for value in values]
