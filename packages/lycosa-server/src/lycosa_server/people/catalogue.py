"""The seed catalogue: seeds by preference, maintained by admins."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from importlib.resources import files

from lycosa.core.errors import InputError
from lycosa.text.tokens import stems, url_words
from lycosa_server.people.database import Conflict, Database, Row
from lycosa_server.people.ids import new_id
from lycosa_server.people.text_input import clean_line

MAX_ENTRIES = 5_000  # maximum number of entries


def default() -> list[list[str]]:
    listed = files("lycosa_server.people").joinpath("catalogue.tsv").read_text("utf-8")
    return [line.split("\t") for line in listed.splitlines()]


def fill(database: Database, now: float) -> None:
    if database.count("person") or database.count("catalogue"):
        return
    with suppress(Conflict), database.transaction():  # another process fills it at the same time
        for preference, url, title in default():
            add(database, now, preference, url, title)


def entries(database: Database) -> list[Row]:
    return database.rows("SELECT * FROM catalogue ORDER BY preference, title, url")


def preferences(database: Database) -> set[str]:
    return {row["preference"] for row in database.rows("SELECT DISTINCT preference FROM catalogue")}


def seeds_of(database: Database, chosen: Iterable[str], words: str) -> list[str]:
    """Return the seeds of preferences, then those of entries that match the words, without duplicates.

    Without preferences there are no seeds: people who give their own pages start from these alone.
    """
    wanted = " ".join(word for word in words.split() if not word.startswith("-"))
    wanted_stems, preferred = set(stems(wanted)), list(dict.fromkeys(chosen))
    if not preferred:
        return []
    ranked: dict[str, tuple[int, int, int]] = {}
    for place, row in enumerate(entries(database)):
        named = len(wanted_stems.intersection(stems(f"{row['title']} {row['note']} {url_words(row['url'])}")))
        liked = preferred.index(row["preference"]) if row["preference"] in preferred else len(preferred)
        if named or liked < len(preferred):
            own = (-named, liked, place)
            ranked[row["url"]] = min(own, ranked.get(row["url"], own))
    return sorted(ranked, key=lambda url: ranked[url])


def add(database: Database, now: float, preference: str, url: str, title: str = "", note: str = "") -> Row:
    given = {"preference": preference, "url": url, "title": title, "note": note}
    limits = {"preference": (100, 1), "url": (2_000, 1), "title": (300, 0), "note": (1_000, 0)}
    row = {key: clean_line(value, f"the {key}", *limits[key]) for key, value in given.items()}
    count = database.count("catalogue")
    if count >= MAX_ENTRIES:
        raise InputError("limit-reached", f"the catalogue has {count:,} entries, the maximum: delete some first")
    try:
        return database.insert("catalogue", row, id=new_id(), created=now)
    except Conflict as error:
        raise Conflict(f"{url} is already a seed of {row['preference']}") from error
