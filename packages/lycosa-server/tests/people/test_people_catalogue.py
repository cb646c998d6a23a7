"""The seed catalogue in the database."""

from __future__ import annotations

import pytest

from lycosa.web.urls import canonical
from lycosa_server.people import catalogue
from lycosa_server.people.database import Conflict, Database
from people_maker import NOW, person


@pytest.mark.paper("personalized-predefined-seeds")
def test_a_new_server_has_something_to_choose(database: Database) -> None:
    """The first start fills the catalogue; what an admin has emptied stays empty at the next."""
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


def test_the_default_addresses_are_canonical() -> None:
    """What the catalogue begins with is spelled as a crawl knows it, and each stands there once."""
    urls = [url for _, url, _ in catalogue.default()]
    assert urls == [canonical(url) for url in urls]
    assert len(urls) == len(set(urls))


def test_entries_are_added_and_removed(database: Database) -> None:
    """An address stands once under a preference, and may stand under several."""
    one = catalogue.add(database, NOW, "Seas", "https://a.example/", "A")
    catalogue.add(database, NOW, "Music", "https://a.example/")
    with pytest.raises(Conflict, match="already"):
        catalogue.add(database, NOW, "Seas", "https://a.example/")
    catalogue.add(database, NOW, "Seas", "https://b.example/", "B")
    assert ["https://a.example/", "https://b.example/"] == catalogue.seeds_of(database, ["Seas", "Music", "None"], "")
    assert database.delete("catalogue", one["id"])
    assert not database.delete("catalogue", one["id"])


@pytest.mark.paper("personalized-seeds-by-string")
def test_the_search_string_chooses_seeds_too(database: Database) -> None:
    """Places with the most of its words come first, also of preferences not chosen; then the rest of those chosen.

    "coral reefs": a title with both, an address with one, a note with one of a preference that was chosen.
    """
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
    assert [] == catalogue.seeds_of(database, [], "coral reefs")  # someone's own pages are enough
