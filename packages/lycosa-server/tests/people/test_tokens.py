"""API tokens, on both databases."""

from __future__ import annotations

import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa_server.people import accounts, tokens
from lycosa_server.people.database import Database, Row
from people_maker import NOW, person

READ = frozenset({"read"})


@pytest.fixture
def ada(database: Database) -> Row:
    return {"id": person(database, "ada")}


def test_find_by_secret_stores_only_digest(database: Database, ada: Row) -> None:
    row, secret = tokens.create(database, NOW, ada["id"], "script", READ, None)
    found = tokens.find(database, NOW, secret)
    assert found is not None
    assert ("ada", row["id"], True) == (found["owner"]["name"], found["id"], secret.startswith("lyc_"))
    assert secret[4:] not in str(database.rows("SELECT * FROM token"))


def test_token_expires(database: Database, ada: Row) -> None:
    row, secret = tokens.create(database, NOW, ada["id"], "script", READ, 1)
    assert tokens.find(database, NOW + 86399, secret)
    assert (None, False) == (
        tokens.find(database, NOW + 86400, secret),
        tokens.is_valid(database, NOW + 86400, row["id"]),
    )


def test_revoke_only_own_tokens_and_keeps_them_listed(database: Database, ada: Row) -> None:
    row, secret = tokens.create(database, NOW, ada["id"], "script", READ, None)
    assert not tokens.revoke(database, NOW, "someone else", row["id"])
    assert tokens.find(database, NOW, secret)
    assert all(tokens.revoke(database, NOW + at, ada["id"], row["id"]) for at in (5, 9))
    assert tokens.find(database, NOW + 9, secret) is None
    assert [NOW + 5] == [one["revoked"] for one in tokens.of_person(database, ada["id"])]


def test_find_records_use_once_a_minute(database: Database, ada: Row) -> None:
    _, secret = tokens.create(database, NOW, ada["id"], "script", READ, None)
    noted = []
    for after in (0, 59, 60):
        tokens.find(database, NOW + after, secret)
        noted.append(tokens.of_person(database, ada["id"])[0]["used"])
    assert [NOW, NOW, NOW + 60] == noted


def test_find_refuses_tokens_of_disabled_people(database: Database, ada: Row) -> None:
    row, secret = tokens.create(database, NOW, ada["id"], "script", READ, None)
    accounts.set_disabled(database, ada["id"], True)
    assert (None, False) == (tokens.find(database, NOW, secret), tokens.is_valid(database, NOW, row["id"]))
    accounts.set_disabled(database, ada["id"], False)
    assert tokens.find(database, NOW, secret) is not None


def test_create_refuses_more_than_maximum(database: Database, ada: Row) -> None:
    made = [tokens.create(database, NOW, ada["id"], "script", READ, 1)[0] for _ in range(tokens.MAX_TOKENS)]
    with raises_input_error("limit-reached"):
        tokens.create(database, NOW, ada["id"], "script", READ, 1)
    tokens.revoke(database, NOW, ada["id"], made[0]["id"])
    tokens.create(database, NOW, ada["id"], "script", READ, 1)


def test_create_refuses_unreadable_names(database: Database, ada: Row) -> None:
    for name in ("", "  ", "a\0", "\ud800"):
        with pytest.raises(InputError):
            tokens.create(database, NOW, ada["id"], name, READ, None)


def test_find_of_unknown_secrets_is_none(database: Database) -> None:
    secrets = ["", "lyc_", "lyc_wrong", "other", "lyc_" + "x" * 1000, "lyc_\ud800"]
    assert [None] * 6 == [tokens.find(database, NOW, secret) for secret in secrets]
