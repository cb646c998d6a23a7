"""Rate limits, on both databases."""

from __future__ import annotations

import threading
from contextlib import closing

from lycosa_server.people import limits
from lycosa_server.people.database import Database
from lycosa_server.people.migrating import migrate

NOW = 1_700_000_000.0
HOME, ELSEWHERE = "192.0.2.1", "198.51.100."


def fail(database: Database, name: str, address: str, now: float = NOW) -> int:
    """Record a failed attempt; return the seconds to wait, or 0."""
    try:
        limits.record_sign_in(database, now, name, address)
    except limits.TooManyAttempts as error:
        return error.wait
    return 0


def test_pair_limit_applies_to_one_name_and_address(database: Database) -> None:
    first = [fail(database, "ada", HOME, NOW + second) for second in range(6)]
    assert [0, 0, 0, 0, 0, 15 * 60 - 5] == first
    assert (0, 0) == (fail(database, "bob", HOME), fail(database, "ada", ELSEWHERE + "1"))
    assert (1, 0) == (fail(database, "ada", HOME, NOW + 899), fail(database, "ada", HOME, NOW + 900))


def test_address_limit_counts_all_names(database: Database) -> None:
    waits = [fail(database, f"person {number}", HOME) for number in range(21)]
    assert [0] * 20 + [900] == waits


def test_name_limit_counts_all_addresses(database: Database) -> None:
    waits = [fail(database, "ada", f"{ELSEWHERE}{number}") for number in range(31)]
    assert [0] * 30 + [3600] == waits


def test_known_address_is_not_locked_out_by_others(database: Database) -> None:
    limits.succeeded(database, NOW, limits.record_sign_in(database, NOW, "ada", HOME))
    for number in range(40):
        fail(database, "ada", f"{ELSEWHERE}{number}")
        fail(database, f"person {number}", HOME)
    assert (0, True) == (fail(database, "ada", HOME), fail(database, "bob", HOME) > 0)


def test_known_address_expires_after_90_days(database: Database) -> None:
    limits.succeeded(database, NOW, limits.record_sign_in(database, NOW, "ada", HOME))
    late = NOW + limits.KNOWN_SECONDS + 1
    for number in range(30):
        fail(database, "ada", f"{ELSEWHERE}{number}", late)
    assert 3600 == fail(database, "ada", HOME, late)


def test_success_clears_earlier_failures(database: Database) -> None:
    for _ in range(4):
        fail(database, "ada", HOME)
    limits.succeeded(database, NOW, limits.record_sign_in(database, NOW, "ada", HOME))
    assert [0] * 5 + [900] == [fail(database, "ada", HOME) for _ in range(6)]


def test_refused_attempts_do_not_extend_wait(database: Database) -> None:
    for second in range(20):
        fail(database, "ada", HOME, NOW + second)
    assert 0 == fail(database, "ada", HOME, NOW + 901)


def test_limits_survive_restart(database_address: str) -> None:
    with closing(Database(database_address)) as one, closing(Database(database_address)) as other:
        migrate(one)
        for _ in range(5):
            fail(one, "ada", HOME)
        assert 900 == fail(other, "ada", HOME)


def test_concurrent_attempts_stay_within_limit(database: Database) -> None:
    passed: list[int] = []
    threads = [threading.Thread(target=lambda: passed.append(fail(database, "ada", HOME))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (8, True) == (len(passed), passed.count(0) <= 5)


def test_attempts_store_only_digests(database: Database) -> None:
    fail(database, "my password", HOME)
    kept = str(database.rows("SELECT * FROM attempt"))
    assert (False, False) == ("my password" in kept, HOME in kept)


def test_forget_removes_attempts_of_one_name(database: Database) -> None:
    limits.succeeded(database, NOW, limits.record_sign_in(database, NOW, "ada", HOME))
    fail(database, "ada", HOME)
    limits.succeeded(database, NOW, limits.record_sign_in(database, NOW, "bob", HOME))
    limits.forget(database, "ada")
    assert 1 == len(database.rows("SELECT id FROM attempt"))


def test_attempts_are_removed_after_a_day(database: Database) -> None:
    fail(database, "ada", HOME)
    limits.record_attempt(database, NOW + 86401, limits.CODE, HOME)
    assert 1 == len(database.rows("SELECT id FROM attempt"))


def test_network_counts_ipv6_subscriber_as_one(database: Database) -> None:
    waits = [fail(database, "ada", f"2001:db8:1:2::{number}") for number in range(6)]
    assert (0, True) == (waits[4], waits[5] > 0)
