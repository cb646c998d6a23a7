"""Sharing interests in the database."""

from __future__ import annotations

from input_errors import raises_input_error
from lycosa_server.people import last_seen as visits
from lycosa_server.people import notices, sharing
from lycosa_server.people.database import Database, Row
from people_maker import NOW, interest, person


def _row(database: Database, of: str) -> Row:
    found = database.get("interest", of)
    assert found is not None
    return found


def test_share_notifies_once_per_unread_change(database: Database) -> None:
    ada, bob = person(database, "Ada"), person(database, "Bob")
    row = _row(database, interest(database, ada))
    for mode in ("read", "read", "edit"):
        sharing.share(database, NOW, row, "Ada", " BOB ", mode)
    texts = [notice["text"] for notice in notices.of_person(database, bob)]
    assert ["Ada shares the interest 'Reefs' with you, to edit"] == texts
    notices.read(database, NOW, bob)
    sharing.share(database, NOW, row, "Ada", "Bob", "read")
    assert 2 == len(notices.of_person(database, bob))
    sharing.share(database, NOW, row, "Ada", "Bob", "edit")
    assert [("Bob", "edit")] == [(one["name"], one["mode"]) for one in sharing.people(database, row["id"])]


def test_share_refuses_oneself_and_unknown_people(database: Database) -> None:
    ada, _, shut = person(database, "Ada"), person(database, "Bob"), person(database, "Shut")
    database.run("UPDATE person SET disabled = 1 WHERE id = :shut", shut=shut)
    row = _row(database, interest(database, ada))
    for name, mode, code in (
        ("Ada", "read", "bad-value"),
        ("Nemo", "read", "unknown-person"),
        ("Shut", "read", "unknown-person"),
        ("Bo\x00b", "read", "bad-text"),
    ):
        with raises_input_error(code):
            sharing.share(database, NOW, row, "Ada", name, mode)
    assert [] == sharing.people(database, row["id"])


def test_unshare_removes_feed_and_notices(database: Database) -> None:
    ada, bob = person(database, "Ada"), person(database, "Bob")
    row = _row(database, interest(database, ada))
    sharing.share(database, NOW, row, "Ada", "Bob", "read")
    keys = {who: visits.open_feed(database, row["id"], who) for who in (ada, bob)}
    assert sharing.unshare(database, row["id"], bob)
    assert not sharing.unshare(database, row["id"], bob)
    assert visits.by_key(database, keys[bob]) is None
    assert {"interest": row["id"], "person": ada} == visits.by_key(database, keys[ada])
    assert [] == notices.of_person(database, bob)
