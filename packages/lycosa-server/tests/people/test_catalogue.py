"""The seed catalogue in the database."""

from __future__ import annotations

import pytest

from lycosa.web.urls import canonical
from lycosa_server.people import catalogue
from lycosa_server.people.database import Conflict, Database
from people_maker import NOW, person


@pytest.mark.paper("personalized-predefined-seeds")
def test_fill_adds_entries_on_first_start_only(database: Database) -> None:
    catalogue.fill(database, NOW)
    first = catalogue.entries(database)
    assert {preference for preference, *_ in catalogue.default()} == catalogue.preferences(database)
    catalogue.fill(database, NOW)
    assert first == catalogue.entries(database)
    person(database, "Ada", "admin")
    for row in first:
        assert database.delete("catalogue", row["id"])
    catalogue.fill(database, NOW)
    assert [] == catalogue.entries(database)


def test_default_urls_are_canonical_and_unique() -> None:
    urls = [url for _, url, _ in catalogue.default()]
    assert urls == [canonical(url) for url in urls]
    assert len(urls) == len(set(urls))


def test_add_refuses_same_url_per_preference(database: Database) -> None:
    one = catalogue.add(database, NOW, "Seas", "https://a.example/", "A")
    catalogue.add(database, NOW, "Music", "https://a.example/")
    with pytest.raises(Conflict, match="already"):
        catalogue.add(database, NOW, "Seas", "https://a.example/")
    catalogue.add(database, NOW, "Seas", "https://b.example/", "B")
    assert ["https://a.example/", "https://b.example/"] == catalogue.seeds_of(database, ["Seas", "Music", "None"], "")
    assert database.delete("catalogue", one["id"])
    assert not database.delete("catalogue", one["id"])


@pytest.mark.paper("personalized-seeds-by-string")
def test_seeds_of_ranks_matches_of_search_string_first(database: Database) -> None:
    for preference, url, title, note in (
        ("Seas", "https://a.example/", "All about fish", ""),
        ("Seas", "https://b.example/", "Divers", "where the reef is"),
        ("Music", "https://c.example/coral/", "Choirs", ""),
        ("Science", "https://d.example/", "Coral reef studies", ""),
        ("Science", "https://e.example/", "Stars", ""),
    ):
        catalogue.add(database, NOW, preference, url, title, note)
    chosen = catalogue.seeds_of(database, ["Seas"], "coral reefs")
    assert ["https://d.example/", "https://b.example/", "https://c.example/coral/", "https://a.example/"] == chosen
    fewer = ["https://c.example/coral/", "https://d.example/", "https://a.example/", "https://b.example/"]
    assert fewer == catalogue.seeds_of(database, ["Seas"], "coral -reefs")
    assert [] == catalogue.seeds_of(database, [], "coral reefs")  # the interest's own seeds are sufficient
