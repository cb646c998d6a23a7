"""Interests in the database."""

from __future__ import annotations

import pytest

from lycosa.core.errors import InputError
from lycosa_server.people import interests, sharing
from lycosa_server.people.database import Database
from lycosa_server.people.interest_settings import InterestSettings
from people_maker import NOW, REEFS, crawl, interest, person


@pytest.mark.paper("personalized-interests")
def test_an_interest_is_kept_and_changed(database: Database) -> None:
    """What is given is changed, the rest stays."""
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


def test_a_person_has_so_many_interests_at_most(database: Database) -> None:
    """One more than allowed is refused; others' interests do not count."""
    ada, bob = person(database, "Ada"), person(database, "Bob")
    interest(database, bob)
    interests.create(database, NOW, ada, "one", REEFS, most=1)
    with pytest.raises(InputError, match="you have 1 interests"):
        interests.create(database, NOW, ada, "two", REEFS, most=1)
    assert 1 == len(interests.of_person(database, ada))


def test_how_often_to_look_again_is_a_time(database: Database) -> None:
    """What is no time, or too short a one, is refused."""
    reefs = interest(database, person(database, "Ada"))
    interests.change(database, NOW, reefs, revisit_every="1d\n")
    for text in ("often", "1s", "-1d", "599"):
        with pytest.raises(InputError, match="how often to revisit pages"):
            interests.change(database, NOW, reefs, revisit_every=text)
    assert "1d" == (database.get("interest", reefs) or {})["revisit_every"]


def test_people_see_their_own_and_what_is_shared(database: Database) -> None:
    """The list has one's own interests and shared ones, with how far one may go, and nobody else's."""
    ada, bob = person(database, "Ada"), person(database, "Bob")
    own, shared, hidden = interest(database, bob, "own"), interest(database, ada, "shared"), interest(database, ada)
    row = database.get("interest", shared)
    assert row is not None
    sharing.share(database, NOW, row, "Ada", "bob", "edit")
    found = {row["id"]: (row["mode"], row["owner_name"]) for row in interests.of_person(database, bob)}
    assert {own: ("own", "Bob"), shared: ("edit", "Ada")} == found
    assert {own, shared, hidden} == {row["id"] for row in [*interests.of_person(database, ada), {"id": own}]}


def test_what_is_told_beside_them(database: Database) -> None:
    """Labels are counted, shares too, and of several crawls the newest is told."""
    ada = person(database, "Ada")
    reefs = interest(database, ada)
    crawl(database, reefs, 1)
    newest = crawl(database, reefs, 2)
    for number, relevant in enumerate((1, 1, 0)):
        database.insert(
            "feedback",
            {
                "interest": reefs,
                "url": f"https://a.example/{number}",
                "relevant": relevant,
                "person": ada,
                "at": NOW,
            },
        )
    [found] = interests.of_person(database, ada, reefs)
    assert (2, 1, 0, 0) == (found["yes"], found["no"], found["shares"], found["seen"])
    assert newest == interests.newest_crawls(database, ada)[reefs]["id"]
    assert {} == interests.newest_crawls(database, person(database, "Eve"))
    last = interests.newest_crawl(database, reefs)
    assert last is not None
    assert newest == last["id"]
