"""Access to interests and crawls."""

from __future__ import annotations

import pytest

from lycosa_server.people import sharing
from lycosa_server.people.database import Database
from lycosa_server.people.permissions import Forbidden, NotFound, crawl_for, interest_for
from people_maker import NOW, crawl, interest, person


def test_interest_for_returns_mode_of_owner_and_guest_only(database: Database) -> None:
    ada, bob, eve = person(database, "Ada"), person(database, "Bob"), person(database, "Eve")
    row = database.get("interest", interest(database, ada)) or {}
    sharing.share(database, NOW, row, "Ada", "Bob", "edit")
    assert ["own", "edit"] == [interest_for(database, who, row["id"])["mode"] for who in (ada, bob)]
    with pytest.raises(Forbidden, match="to edit, but no more"):
        interest_for(database, bob, row["id"], "own")
    database.run("UPDATE person SET disabled = 1 WHERE id = :bob", bob=bob)
    for who in (bob, eve, "nobody"):
        with pytest.raises(NotFound):
            interest_for(database, who, row["id"])


def test_crawl_for_follows_its_interest(database: Database) -> None:
    ada, eve = person(database, "Ada"), person(database, "Eve")
    reefs = interest(database, ada)
    made = crawl(database, reefs)
    row, about = crawl_for(database, ada, made, "own")
    assert (made, reefs) == (row["id"], about["id"])
    for who, name in ((eve, made), (ada, "unknown")):
        with pytest.raises(NotFound, match="no such crawl"):
            crawl_for(database, who, name)
