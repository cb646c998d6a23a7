"""Labels in the database."""

from __future__ import annotations

import pytest

from lycosa.core.types import Label
from lycosa_server.people.database import Database
from lycosa_server.people.feedback import after, given, labels_of, last, set_label
from people_maker import NOW, interest, person

PAGE, OTHER = "https://reefs.example/a", "https://reefs.example/b"


@pytest.mark.paper("personalized-profile")
def test_set_label_last_one_counts(database: Database) -> None:
    ada, bob = person(database, "Ada"), person(database, "Bob")
    reefs = interest(database, ada)
    set_label(database, NOW, reefs, ada, PAGE, True, "A")
    set_label(database, NOW + 1, reefs, ada, OTHER, False, "B")
    set_label(database, NOW + 2, reefs, bob, PAGE, False, "A again")
    assert {OTHER: False, PAGE: False} == labels_of(database, reefs)
    assert [(PAGE, "A again", 0, NOW + 2, "Bob", None, None), (OTHER, "B", 0, NOW + 1, "Ada", None, None)] == [
        tuple(row.values()) for row in given(database, reefs)
    ]
    set_label(database, NOW + 3, reefs, ada, PAGE, None)
    set_label(database, NOW + 3, reefs, ada, PAGE, None)
    assert {OTHER: False} == labels_of(database, reefs)
    assert [Label(OTHER, False, NOW + 1, "2"), Label(PAGE, None, NOW + 3, "4")] == after(database, reefs, 0)
    assert [Label(PAGE, None, NOW + 3, "4")] == after(database, reefs, 2)
    assert (4, None) == (
        last(database, reefs),
        database.rows("SELECT person FROM feedback ORDER BY number")[1]["person"],
    )


def test_labels_of_are_in_order_of_their_numbers(database: Database) -> None:
    ada = person(database, "Ada")
    reefs, trains = interest(database, ada), interest(database, ada, "Trains")
    set_label(database, NOW, reefs, ada, PAGE, True)
    set_label(database, NOW - 5, reefs, ada, OTHER, True)
    set_label(database, NOW, trains, ada, PAGE, False)
    assert [PAGE, OTHER] == list(labels_of(database, reefs))


def test_labels_outlive_their_author(database: Database) -> None:
    ada, bob = person(database, "Ada"), person(database, "Bob")
    reefs = interest(database, ada)
    set_label(database, NOW, reefs, bob, PAGE, True, "A")
    database.run("DELETE FROM person WHERE id = :bob", bob=bob)
    assert [(PAGE, "A", 1, NOW, "", None, None)] == [tuple(row.values()) for row in given(database, reefs)]
