"""The records that a crawl of a search form has found: an address a line, its title after a tab, each once."""

from __future__ import annotations

from typing import IO

from lycosa.collection.export.cleaning import line
from lycosa.collection.export.selection import Selection, Written


def write(pages: Selection, out: IO[bytes]) -> Written:
    """Write a line for each record. In memory are the addresses."""
    found: set[str] = set()
    for _, visit in pages.pages():
        for url, title in visit.data.get("records", ()):
            if url not in found:
                found.add(url)
                out.write(f"{url}\t{line(str(title))}\n".encode("utf-8", "replace"))
    told = [] if found else ["no page has records: they are what a crawl with --space search-form finds"]
    return Written(len(found), told)
