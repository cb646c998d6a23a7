"""Tokens, on both databases."""

from __future__ import annotations

import pytest

from lycosa.core.errors import InputError
from lycosa_server.people import accounts, tokens
from lycosa_server.people.database import Database, Row
from people_maker import NOW, person

READ = frozenset({"read"})


@pytest.fixture
def ada(database: Database) -> Row:
    """A person."""
    return {"id": person(database, "ada")}


def test_a_token_is_found_by_its_secret_which_is_not_kept(database: Database, ada: Row) -> None:
    """It speaks for its person."""
    row, secret = tokens.create(database, NOW, ada["id"], "script", READ, None)
    found = tokens.find(database, NOW, secret)
    assert found is not None
    assert ("ada", row["id"], True) == (found["owner"]["name"], found["id"], secret.startswith("lyc_"))
    assert secret[4:] not in str(database.rows("SELECT * FROM token"))


def test_a_token_expires(database: Database, ada: Row) -> None:
    """After its days it is worthless."""
    row, secret = tokens.create(database, NOW, ada["id"], "script", READ, 1)
    assert tokens.find(database, NOW + 86399, secret)
    assert (None, False) == (
        tokens.find(database, NOW + 86400, secret),
        tokens.is_valid(database, NOW + 86400, row["id"]),
    )


def test_a_revoked_token_is_worthless_and_stays_in_the_list(database: Database, ada: Row) -> None:
    """And only its person can revoke it; the time of the first time counts."""
    row, secret = tokens.create(database, NOW, ada["id"], "script", READ, None)
    assert not tokens.revoke(database, NOW, "someone else", row["id"])
    assert tokens.find(database, NOW, secret)
    assert all(tokens.revoke(database, NOW + at, ada["id"], row["id"]) for at in (5, 9))
    assert tokens.find(database, NOW + 9, secret) is None
    assert [NOW + 5] == [one["revoked"] for one in tokens.of_person(database, ada["id"])]


def test_use_is_noted_once_a_minute(database: Database, ada: Row) -> None:
    """A busy program does not write at each request."""
    _, secret = tokens.create(database, NOW, ada["id"], "script", READ, None)
    noted = []
    for after in (0, 59, 60):
        tokens.find(database, NOW + after, secret)
        noted.append(tokens.of_person(database, ada["id"])[0]["used"])
    assert [NOW, NOW, NOW + 60] == noted


def test_the_token_of_a_disabled_person_is_worthless(database: Database, ada: Row) -> None:
    """At once, and good again when the person is."""
    row, secret = tokens.create(database, NOW, ada["id"], "script", READ, None)
    accounts.set_disabled(database, ada["id"], True)
    assert (None, False) == (tokens.find(database, NOW, secret), tokens.is_valid(database, NOW, row["id"]))
    accounts.set_disabled(database, ada["id"], False)
    assert tokens.find(database, NOW, secret) is not None


def test_there_is_a_most(database: Database, ada: Row) -> None:
    """Revoked and expired ones do not count."""
    made = [tokens.create(database, NOW, ada["id"], "script", READ, 1)[0] for _ in range(tokens.MAX_TOKENS)]
    with pytest.raises(InputError, match="revoke one"):
        tokens.create(database, NOW, ada["id"], "script", READ, 1)
    tokens.revoke(database, NOW, ada["id"], made[0]["id"])
    tokens.create(database, NOW, ada["id"], "script", READ, 1)


def test_a_token_needs_a_name(database: Database, ada: Row) -> None:
    """One that can be read."""
    for name in ("", "  ", "a\0", "\ud800"):
        with pytest.raises(InputError):
            tokens.create(database, NOW, ada["id"], name, READ, None)


def test_what_is_no_token_finds_nothing(database: Database) -> None:
    """Whatever is sent."""
    secrets = ["", "lyc_", "lyc_wrong", "other", "lyc_" + "x" * 1000, "lyc_\ud800"]
    assert [None] * 6 == [tokens.find(database, NOW, secret) for secret in secrets]
