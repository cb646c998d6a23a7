"""Sharing interests in the database."""

from __future__ import annotations

import pytest

from lycosa.core.errors import InputError
from lycosa_server.people import last_seen as visits
from lycosa_server.people import notices, sharing
from lycosa_server.people.database import Database, Row
from lycosa_server.people.permissions import Forbidden, NotFound, interest_for
from people_maker import NOW, interest, person


def _row(database: Database, of: str) -> Row:
    found = database.get("interest", of)
    assert found is not None
    return found


def test_sharing_tells_the_person_once(database: Database) -> None:
    """Who an interest is shared with gets a notice; another mode replaces it until it was read: nobody is flooded."""
    ada, bob = person(database, "Ada"), person(database, "Bob")
    row = _row(database, interest(database, ada))
    for mode in ("read", "read", "edit"):
        sharing.share(database, NOW, row, "Ada", " BOB ", mode)
    told = [notice["text"] for notice in notices.of_person(database, bob)]
    assert ["Ada shares the interest 'Reefs' with you, to edit"] == told
    notices.read(database, NOW, bob)
    sharing.share(database, NOW, row, "Ada", "Bob", "read")
    assert 2 == len(notices.of_person(database, bob))
    sharing.share(database, NOW, row, "Ada", "Bob", "edit")
    assert [("Bob", "edit")] == [(one["name"], one["mode"]) for one in sharing.people(database, row["id"])]


def test_what_cannot_be_shared(database: Database) -> None:
    """Nobody, oneself and someone shut out are refused."""
    ada, _, shut = person(database, "Ada"), person(database, "Bob"), person(database, "Shut")
    database.run("UPDATE person SET disabled = 1 WHERE id = :shut", shut=shut)
    row = _row(database, interest(database, ada))
    for name, mode, told in (
        ("Ada", "read", "it is your own"),
        ("Nemo", "read", "there is nobody called 'Nemo'"),
        ("Shut", "read", "there is nobody called 'Shut'"),
        ("Bo\x00b", "read", "cannot be shown"),
    ):
        with pytest.raises(InputError, match=told):
            sharing.share(database, NOW, row, "Ada", name, mode)
    assert [] == sharing.people(database, row["id"])


def test_interest_for_who_may_and_who_may_not(database: Database) -> None:
    """Own, what was shared, or nothing; nothing, too, for who is shut out."""
    ada, bob, eve = person(database, "Ada"), person(database, "Bob"), person(database, "Eve")
    row = _row(database, interest(database, ada))
    sharing.share(database, NOW, row, "Ada", "Bob", "edit")
    assert ["own", "edit"] == [interest_for(database, who, row["id"])["mode"] for who in (ada, bob)]
    with pytest.raises(Forbidden, match="to edit, but no more"):
        interest_for(database, bob, row["id"], "own")
    database.run("UPDATE person SET disabled = 1 WHERE id = :bob", bob=bob)
    for who in (bob, eve, "nobody"):
        with pytest.raises(NotFound):
            interest_for(database, who, row["id"])


def test_what_is_shared_no_longer_leaves_nothing_behind(database: Database) -> None:
    """With a share go the person's feed, visits and notices of the interest; the owner's stay."""
    ada, bob = person(database, "Ada"), person(database, "Bob")
    row = _row(database, interest(database, ada))
    sharing.share(database, NOW, row, "Ada", "Bob", "read")
    keys = {who: visits.open_feed(database, row["id"], who) for who in (ada, bob)}
    assert sharing.unshare(database, row["id"], bob)
    assert not sharing.unshare(database, row["id"], bob)
    assert visits.by_key(database, keys[bob]) is None
    assert {"interest": row["id"], "person": ada} == visits.by_key(database, keys[ada])
    assert [] == notices.of_person(database, bob)


def test_a_feed_has_one_key_at_a_time(database: Database) -> None:
    """A new key ends the one before; the time of the last visit stays."""
    ada = person(database, "Ada")
    reefs = interest(database, ada)
    visits.mark_seen(database, NOW, reefs, ada)
    first, second = visits.open_feed(database, reefs, ada), visits.open_feed(database, reefs, ada)
    assert visits.by_key(database, first) is None
    assert visits.by_key(database, second) is not None
    assert NOW == visits.last_seen_at(database, reefs, ada)
    visits.close_feed(database, reefs, ada)
    assert visits.by_key(database, second) is None
