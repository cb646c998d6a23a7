"""Interests in the database."""

from __future__ import annotations

import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa_server.people import interests, sharing
from lycosa_server.people.database import Database
from lycosa_server.people.interest_settings import InterestSettings
from people_maker import NOW, REEFS, crawl, interest, person


@pytest.mark.paper("personalized-interests")
def test_change_updates_only_given_fields(database: Database) -> None:
    ada = person(database, "Ada")
    made = interests.create(database, NOW, ada, " Reefs ", REEFS, "1d")
    assert ("Reefs", "1d", REEFS) == (made["name"], made["revisit_every"], InterestSettings.from_json(made["settings"]))
    interests.change(database, NOW + 1, made["id"], name="Corals")
    found = database.get("interest", made["id"])
    assert found == {**made, "name": "Corals", "changed": NOW + 1}
    interests.change(
        database, NOW + 2, made["id"], settings=InterestSettings("kelp", seeds=["https://a.example/"]), revisit_every=""
    )
    found = database.get("interest", made["id"])
    assert found is not None
    assert ("kelp", "", "Corals") == (
        InterestSettings.from_json(found["settings"]).words,
        found["revisit_every"],
        found["name"],
    )


def test_create_refuses_more_than_maximum(database: Database) -> None:
    ada, bob = person(database, "Ada"), person(database, "Bob")
    interest(database, bob)
    interests.create(database, NOW, ada, "one", REEFS, max_count=1)
    with raises_input_error("limit-reached"):
        interests.create(database, NOW, ada, "two", REEFS, max_count=1)
    assert 1 == len(interests.of_person(database, ada))


def test_change_refuses_invalid_intervals(database: Database) -> None:
    reefs = interest(database, person(database, "Ada"))
    interests.change(database, NOW, reefs, revisit_every="1d\n")
    for text in ("often", "1s", "-1d", "599"):
        with pytest.raises(InputError, match="how often to revisit pages"):
            interests.change(database, NOW, reefs, revisit_every=text)
    assert "1d" == (database.get("interest", reefs) or {})["revisit_every"]


def test_of_person_lists_own_and_shared_interests(database: Database) -> None:
    ada, bob = person(database, "Ada"), person(database, "Bob")
    own, shared, hidden = interest(database, bob, "own"), interest(database, ada, "shared"), interest(database, ada)
    row = database.get("interest", shared)
    assert row is not None
    sharing.share(database, NOW, row, "Ada", "bob", "edit")
    found = {row["id"]: (row["mode"], row["owner_name"]) for row in interests.of_person(database, bob)}
    assert {own: ("own", "Bob"), shared: ("edit", "Ada")} == found
    assert {own, shared, hidden} == {row["id"] for row in [*interests.of_person(database, ada), {"id": own}]}


def test_of_person_counts_labels_and_finds_newest_crawl(database: Database) -> None:
    ada = person(database, "Ada")
    reefs = interest(database, ada)
    crawl(database, reefs, 1)
    newest = crawl(database, reefs, 2)
    for number, relevant in enumerate((1, 1, 0)):
        database.insert(
            "feedback",
            {"interest": reefs, "url": f"https://a.example/{number}", "relevant": relevant, "person": ada, "at": NOW},
        )
    [found] = interests.of_person(database, ada, reefs)
    assert (2, 1, 0, 0) == (found["yes"], found["no"], found["shares"], found["seen"])
    assert newest == interests.newest_crawls(database, ada)[reefs]["id"]
    assert {} == interests.newest_crawls(database, person(database, "Eve"))
    last = interests.newest_crawl(database, reefs)
    assert last is not None
    assert newest == last["id"]
