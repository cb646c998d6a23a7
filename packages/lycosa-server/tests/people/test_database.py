"""Both kinds of database behave the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa_server.people.database import Conflict, Database, DatabaseUnavailable, DiskFull


@pytest.fixture
def database(database_address: str) -> Iterator[Database]:
    """Return a database with a table of two columns."""
    opened = Database(database_address)
    opened.run("CREATE TABLE thing (name TEXT PRIMARY KEY, amount INTEGER)")
    yield opened
    opened.close()


def names(database: Database) -> list[str]:
    return [row["name"] for row in database.rows("SELECT name FROM thing ORDER BY name")]


def test_rows_return_inserted_values(database: Database) -> None:
    database.insert("thing", {"name": "Špinđa 蜘蛛 %s ? '", "amount": True})
    database.insert("thing", {"name": "none", "amount": None})
    assert {"name": "Špinđa 蜘蛛 %s ? '", "amount": 1} == database.row(
        "SELECT * FROM thing WHERE amount = :amount", amount=1
    )
    assert None is database.rows("SELECT amount FROM thing WHERE name = :name", name="none")[0]["amount"]


def test_rows_keeps_placeholders_in_literals(database: Database) -> None:
    assert {"a": "why? 50%", "b": "x"} == database.row("SELECT 'why? 50%' AS a, CAST(:value AS TEXT) AS b", value="x")
    database.insert("thing", {"name": "half", "amount": 50})
    assert ["half"] == [row["name"] for row in database.rows("SELECT name FROM thing WHERE name LIKE 'ha%'")]


def test_rows_like_is_case_sensitive(database: Database) -> None:
    database.insert("thing", {"name": "Half", "amount": 1})
    assert [] == database.rows("SELECT name FROM thing WHERE name LIKE 'ha%'")


def test_rows_sums_are_plain_numbers(database: Database) -> None:
    database.insert("thing", {"name": "a", "amount": 1})
    database.insert("thing", {"name": "b", "amount": 2})
    [row] = database.rows("SELECT SUM(amount) AS total FROM thing")
    assert (3, int) == (row["total"], type(row["total"]))


def test_insert_of_used_key_conflicts(database: Database) -> None:
    database.insert("thing", {"name": "a", "amount": 1})
    with pytest.raises(Conflict):
        database.insert("thing", {"name": "a", "amount": 2})


def test_insert_refuses_values_that_cannot_be_stored(database: Database) -> None:
    for name, amount in (("a\0b", 1), ("a\ud800", 1), ("a", 10**30)):
        with pytest.raises(InputError):
            database.insert("thing", {"name": name, "amount": amount})
    assert [] == names(database)


def test_transaction_is_atomic_when_nested(database: Database) -> None:
    def fail() -> None:
        with database.transaction():
            database.insert("thing", {"name": "a", "amount": 1})
            with database.transaction():
                database.insert("thing", {"name": "b", "amount": 1})
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [] == names(database)
    with database.transaction():
        database.insert("thing", {"name": "c", "amount": 1})
    assert ["c"] == names(database)


def test_transaction_continues_after_conflict(database: Database) -> None:
    with database.transaction():
        database.insert("thing", {"name": "a", "amount": 1})
        with pytest.raises(Conflict):
            database.insert("thing", {"name": "a", "amount": 2})
        database.insert("thing", {"name": "b", "amount": 1})
    assert ["a", "b"] == names(database)


def test_transaction_is_invisible_until_committed(database: Database, database_address: str) -> None:
    other = Database(database_address)
    with database.transaction():
        database.insert("thing", {"name": "a", "amount": 1})
        assert [] == names(other)
    assert ["a"] == names(other)
    other.close()


def test_transaction_snapshot_is_consistent(database: Database, database_address: str) -> None:
    other = Database(database_address)
    with database.transaction(snapshot=True):
        other.insert("thing", {"name": "a", "amount": 1})
        assert [] == names(database)
    assert ["a"] == names(database)
    other.close()


def test_transaction_locks_rows_across_threads(database: Database) -> None:
    database.insert("thing", {"name": "a", "amount": 0})

    def count() -> None:
        for _ in range(5):
            with database.transaction():
                row = database.row(f"SELECT amount FROM thing WHERE name = 'a'{database.lock}")
                database.run("UPDATE thing SET amount = :amount WHERE name = 'a'", amount=(row or {})["amount"] + 1)

    in_threads(count, 4)
    assert {"amount": 20} == database.row("SELECT amount FROM thing")


def test_rows_accepts_lists_after_in(database: Database) -> None:
    for name in "abc":
        database.insert("thing", {"name": name, "amount": 1})
    statement = "SELECT name FROM thing WHERE name IN :some ORDER BY name"
    assert [{"name": "a"}, {"name": "c"}] == database.rows(statement, some=["c", "a"])
    assert [] == database.rows(statement, some=[])


def test_close_does_not_break_statement_of_another_thread(tmp_path: Path) -> None:
    database = Database(tmp_path / "d.sqlite")
    running, go_on, answers = threading.Event(), threading.Event(), list[object]()

    def wait() -> int:
        running.set()
        go_on.wait(30)
        return 1

    def ask() -> None:
        with database.transaction(), database.connection() as connection:
            connection.connection.create_function("wait", 0, wait)
            answers.append(database.row("SELECT wait() AS answer"))

    asking = threading.Thread(target=ask)
    asking.start()
    assert running.wait(30)
    database.close()
    go_on.set()
    asking.join(30)
    assert [{"answer": 1}] == answers


def test_insert_on_full_disk_keeps_earlier_rows(tmp_path: Path) -> None:
    database = Database(tmp_path / "d.sqlite")
    database.run("CREATE TABLE thing (name TEXT)")
    database.insert("thing", {"name": "kept"})
    database.run("PRAGMA max_page_count = 3")
    with pytest.raises(DiskFull, match="free some disk space"), database.transaction():
        database.insert("thing", {"name": "x" * 100_000})
    assert ["kept"] == names(database)
    database.close()


def test_database_refuses_other_kinds_of_url() -> None:
    with raises_input_error("bad-database"):
        Database("mysql://localhost/lycosa")


def test_errors_never_contain_password() -> None:
    for address in ("postgresql://me:hush@127.0.0.1:x/a", "postgresql://me:hush@127.0.0.1:1/a?connect_timeout=1"):
        with pytest.raises((InputError, DatabaseUnavailable)) as caught:
            Database(address)
        assert "hush" not in str(caught.value)


def test_database_reconnects_after_outage(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    database = Database(f"{postgres}&application_name=lost")
    database.run("CREATE TEMPORARY TABLE thing (name TEXT)")
    database.run("DROP TABLE thing")
    connect, ready, back, wrote = psycopg.connect, threading.Event(), threading.Event(), list[object]()

    def away(*_: object, **__: object) -> None:
        raise psycopg.OperationalError("no server")

    def ask() -> None:
        database.row("SELECT 1 AS x")
        ready.set()
        back.wait(120)
        wrote.append(database.row("SELECT 1 AS x"))

    thread = threading.Thread(target=ask)
    thread.start()
    ready.wait(120)
    with pytest.raises(DatabaseUnavailable), database.transaction():  # noqa: PT012 - lost in the middle
        database.run("SET application_name = 'lost'")
        with connect(postgres, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lost'")
        monkeypatch.setattr(psycopg, "connect", away)
        database.row("SELECT 1 AS x")
    with pytest.raises(DatabaseUnavailable):
        database.row("SELECT 1 AS x")
    monkeypatch.undo()
    back.set()
    assert {"x": 1} == database.row("SELECT 1 AS x")
    thread.join()
    assert [{"x": 1}] == wrote
    database.close()


def in_threads(work: object, count: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
