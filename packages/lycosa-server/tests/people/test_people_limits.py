"""How often one may fail, on both databases."""

from __future__ import annotations

import threading
from contextlib import closing

from lycosa_server.people import limits
from lycosa_server.people.database import Database
from lycosa_server.people.migrating import migrate

NOW = 1_700_000_000.0
MINUTE = 60.0
HOME, ELSEWHERE = "192.0.2.1", "198.51.100."


def fail(database: Database, name: str, address: str, now: float = NOW) -> int:
    """Try and fail; 0, or the seconds to wait."""
    try:
        limits.record_sign_in(database, now, name, address)
    except limits.TooManyAttempts as error:
        return error.wait
    return 0


def test_five_failures_for_one_name_from_one_address(database: Database) -> None:
    """The sixth waits until the first is 15 minutes old; other names and addresses do not."""
    first = [fail(database, "ada", HOME, NOW + second) for second in range(6)]
    assert [0, 0, 0, 0, 0, 15 * 60 - 5] == first
    assert (0, 0) == (fail(database, "bob", HOME), fail(database, "ada", ELSEWHERE + "1"))
    assert (1, 0) == (fail(database, "ada", HOME, NOW + 899), fail(database, "ada", HOME, NOW + 900))


def test_twenty_failures_from_one_address_whatever_the_name(database: Database) -> None:
    """One password tried on many names."""
    waits = [fail(database, f"person {number}", HOME) for number in range(21)]
    assert [0] * 20 + [900] == waits


def test_many_addresses_together_are_slowed(database: Database) -> None:
    """Thirty failures an hour for one name from places it never signed in from."""
    waits = [fail(database, "ada", f"{ELSEWHERE}{number}") for number in range(31)]
    assert [0] * 30 + [3600] == waits


def test_others_cannot_lock_someone_out_from_where_they_signed_in_before(database: Database) -> None:
    """Neither by the name from elsewhere, nor by other names from the same address."""
    limits.succeeded(database, NOW, limits.record_sign_in(database, NOW, "ada", HOME))
    for number in range(40):
        fail(database, "ada", f"{ELSEWHERE}{number}")
        fail(database, f"person {number}", HOME)
    assert (0, True) == (fail(database, "ada", HOME), fail(database, "bob", HOME) > 0)


def test_a_known_address_is_forgotten_after_90_days(database: Database) -> None:
    """Then it is as any other."""
    limits.succeeded(database, NOW, limits.record_sign_in(database, NOW, "ada", HOME))
    late = NOW + limits.KNOWN_SECONDS + 1
    for number in range(30):
        fail(database, "ada", f"{ELSEWHERE}{number}", late)
    assert 3600 == fail(database, "ada", HOME, late)


def test_success_forgives_the_failures_before(database: Database) -> None:
    """Four failures, the right password, and there are five again."""
    for _ in range(4):
        fail(database, "ada", HOME)
    limits.succeeded(database, NOW, limits.record_sign_in(database, NOW, "ada", HOME))
    assert [0] * 5 + [900] == [fail(database, "ada", HOME) for _ in range(6)]


def test_what_is_refused_does_not_lengthen_the_wait(database: Database) -> None:
    """Who goes on trying meanwhile gets in at the time that was told first."""
    for second in range(20):
        fail(database, "ada", HOME, NOW + second)
    assert 0 == fail(database, "ada", HOME, NOW + 901)


def test_a_restart_forgives_nothing(database_address: str) -> None:
    """Another process counts the same failures."""
    with closing(Database(database_address)) as one, closing(Database(database_address)) as other:
        migrate(one)
        for _ in range(5):
            fail(one, "ada", HOME)
        assert 900 == fail(other, "ada", HOME)


def test_of_many_at_once_not_more_than_the_limit_get_through(database: Database) -> None:
    """Guesses in parallel are counted before they are judged."""
    passed: list[int] = []
    threads = [threading.Thread(target=lambda: passed.append(fail(database, "ada", HOME))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (8, True) == (len(passed), passed.count(0) <= 5)


def test_neither_names_nor_addresses_are_kept_readable(database: Database) -> None:
    """People type passwords where names belong."""
    fail(database, "my password", HOME)
    kept = str(database.rows("SELECT * FROM attempt"))
    assert (False, False) == ("my password" in kept, HOME in kept)


def test_what_is_known_of_a_name_can_be_forgotten(database: Database) -> None:
    """Nothing of it is left; what is about others stays."""
    limits.succeeded(database, NOW, limits.record_sign_in(database, NOW, "ada", HOME))
    fail(database, "ada", HOME)
    limits.succeeded(database, NOW, limits.record_sign_in(database, NOW, "bob", HOME))
    limits.forget(database, "ada")
    assert 1 == len(database.rows("SELECT id FROM attempt"))


def test_old_failures_are_removed(database: Database) -> None:
    """After a day nothing is left of them."""
    fail(database, "ada", HOME)
    limits.record_attempt(database, NOW + 86401, limits.CODE, HOME)
    assert 1 == len(database.rows("SELECT id FROM attempt"))


def test_all_of_a_subscribers_ipv6_addresses_count_as_one(database: Database) -> None:
    """They have 2^64 of them."""
    waits = [fail(database, "ada", f"2001:db8:1:2::{number}") for number in range(6)]
    assert (0, True) == (waits[4], waits[5] > 0)
