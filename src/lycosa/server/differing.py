"""Two versions of a page, compared for the API: bounded, however long the page is."""

from __future__ import annotations

from typing import Any

from lycosa.collection.reading import Collection
from lycosa.collection.tracing import spellings
from lycosa.core.errors import InputError
from lycosa.core.types import Visit
from lycosa.refresh.change import change_of
from lycosa.refresh.diff.comparison import Version, compare
from lycosa.store.log import VERSIONS

MOST_ROWS = 2_000
MOST_CHARACTERS = 1_000_000
MOST_LINKS = 500
LONGEST = 300_000
"""Characters of a version that are compared: a second's work, however little the two have in common."""


def versions_of(collection: Collection, url: str) -> list[tuple[int, Visit]]:
    """The versions of a page with their numbers in the log, the oldest first; empty where the crawl has none."""
    for node in spellings(url):
        found = [
            (seq, visit)
            for seq, visit in collection.log.numbered(f"node = ? AND {VERSIONS}", given=(node,))
            if isinstance(visit, Visit)
        ]
        if found:
            return found
    return []


def chosen(versions: list[tuple[int, Visit]], old: int | None, new: int | None) -> tuple[int, int]:
    """The places of two versions by their numbers in the log; the last two, or the one before, if nothing is said."""
    numbers = [seq for seq, _ in versions]
    for given in (old, new):
        if given is not None and given not in numbers:
            raise InputError(
                f"there is no version {given} of this page: there are {', '.join(map(str, numbers[-20:]))}"
            )
    later = len(numbers) - 1 if new is None else numbers.index(new)
    earlier = max(0, later - 1) if old is None else numbers.index(old)
    if earlier == later:
        raise InputError("there is nothing to compare: name two versions of the page")
    return earlier, later


def difference(
    collection: Collection, versions: list[tuple[int, Visit]], earlier: int, later: int, *, whole: bool
) -> dict[str, Any]:
    """What differs, as data; `cut` says what was left out."""
    old, new = (_read(collection, versions[place][1], place + 1) for place in (earlier, later))
    told = change_of(versions[later][1]) if later == earlier + 1 else None  # it tells of one step
    found = compare(versions[later][1].node, old, new, change=told, versions=len(versions)).as_data(whole=whole)
    long = max(len(old.text), len(new.text)) == LONGEST
    cut = ["the page is long: only its beginning is compared"] if long else []
    rows: list[Any] = []
    size = 0
    for row in found["rows"]:
        size += sum(len(text) for _, text in row["runs"])
        if len(rows) >= MOST_ROWS or size > MOST_CHARACTERS:
            cut.append(f"{len(found['rows']) - len(rows):,} rows are left out")
            break
        rows.append(row)
    for name, links in found["links"].items():
        if len(links) > MOST_LINKS:
            cut.append(f"{len(links) - MOST_LINKS:,} links that were {name} are left out")
            found["links"][name] = links[:MOST_LINKS]
    sides = {"from": versions[earlier][0], "to": versions[later][0]}
    for name, seq in sides.items():
        found[name]["seq"] = seq
    return {**found, "rows": rows, "cut": "; ".join(cut)}


def _read(collection: Collection, visit: Visit, number: int) -> Version:
    exchange = collection.exchange(visit)
    if exchange is None:
        raise InputError(f"version {number} of {visit.node} is not in the archive: choose another one")
    document = collection.document(visit, exchange)
    text = document.said[:LONGEST]
    return Version(number, visit.started, visit.size, document.title or visit.title, text, document.links.urls)
