"""Sessions: values that change, and ends, on both databases."""

from __future__ import annotations

import threading

from lycosa_server.people import accounts, sessions
from lycosa_server.people.database import Database
from people_maker import NOW, person

DAY, HOUR = 86400.0, 3600.0


def begin(database: Database) -> tuple[str, str]:
    """A session of a new person."""
    return sessions.create(database, NOW, person(database, "ada"), "a browser")


def test_the_database_does_not_have_the_secret(database: Database) -> None:
    """Neither the cookie's value nor a part of it is in the row."""
    _, value = begin(database)
    kept = str(database.rows("SELECT * FROM session"))
    assert [False, False] == [part in kept for part in value.split(".")]


def test_after_an_hour_of_use_the_value_changes_and_the_old_one_is_good_for_a_minute(database: Database) -> None:
    """A request that was on its way still arrives; a copy is worthless soon."""
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


def test_the_old_value_gets_no_new_one(database: Database) -> None:
    """Within its minute it is good, but does not turn the session again."""
    _, value = begin(database)
    sessions.find(database, NOW + HOUR, value)
    found = sessions.find(database, NOW + HOUR + 1, value)
    assert found is not None
    assert found.fresh == ""


def test_of_many_requests_at_once_one_turns_the_value(database: Database) -> None:
    """The others are answered, and the browser ends with the one value that is good."""
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


def test_where_the_browser_cannot_be_told_the_value_stays(database: Database) -> None:
    """An answer that has begun can set no cookie."""
    _, value = begin(database)
    found = sessions.find(database, NOW + HOUR, value, turn=False)
    assert found is not None
    assert found.fresh == ""
    assert sessions.find(database, NOW + HOUR + 100, value, turn=False) is not None


def test_a_session_ends_after_14_days_without_use(database: Database) -> None:
    """Use within them keeps it."""
    session, value = begin(database)
    assert sessions.find(database, NOW + 14 * DAY - 1, value, turn=False)
    assert sessions.find(database, NOW + 27 * DAY, value, turn=False)
    assert sessions.find(database, NOW + 41 * DAY, value, turn=False) is None
    assert not sessions.is_valid(database, NOW + 41 * DAY, session)


def test_a_session_ends_after_90_days_whatever_happens(database: Database) -> None:
    """Even if it is used every day."""
    _, value = begin(database)
    found = [sessions.find(database, NOW + day * DAY, value, turn=False) is not None for day in range(92)]
    assert (90, [False, False]) == (sum(found), found[-2:])


def test_what_is_over_is_removed(database: Database) -> None:
    """The next sign-in sweeps."""
    old, _ = begin(database)
    row = database.row("SELECT person FROM session")
    assert row is not None
    new, _ = sessions.create(database, NOW + 15 * DAY, row["person"])
    assert old != new
    assert [new] == [one["id"] for one in database.rows("SELECT id FROM session")]


def test_after_a_change_of_role_the_next_use_turns_the_value(database: Database) -> None:
    """And the value before the last is worthless at once."""
    _, value = begin(database)
    row = database.row("SELECT person FROM session")
    assert row is not None
    accounts.set_role(database, row["person"], "reader")
    found = sessions.find(database, NOW + 1, value)
    assert found is not None
    assert (True, "reader") == (found.fresh != "", found.person["role"])


def test_a_disabled_person_has_no_session(database: Database) -> None:
    """Also if one was left."""
    session, value = begin(database)
    database.run("UPDATE person SET disabled = 1")
    assert (None, False) == (sessions.find(database, NOW, value), sessions.is_valid(database, NOW, session))


def test_values_that_were_never_given_out_find_nothing(database: Database) -> None:
    """Nor do they break anything; an empty one does not match a session without a value before."""
    begin(database)
    values = ["", "x", ".", "x" * 87, "x" * 10_000, "é" * 87, "\ud800" * 87]
    assert [None] * 7 == [sessions.find(database, NOW, value) for value in values]
