"""The table of pages: the same columns in JSONL, CSV and Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from lycosa.collection.export.cleaning import clean, count, line, moment, unmarked
from lycosa.collection.export.selection import Selection, Written
from lycosa.core.types import Visit

COLUMNS: dict[str, type] = {
    "url": str,
    "title": str,
    "text": str,
    "score": float,
    "relevant": bool,
    "language": str,
    "fetched": datetime,
    "status": int,
    "content_type": str,
    "size": int,
    "digest": str,
    "simhash": str,
    "canonical": str,
    "same_as": str,
    "depth": int,
    "parent": str,
    "anchor": str,
    "outlinks": int,
    "warc_file": str,
    "warc_offset": int,
    "warc_length": int,
    "version": int,
    "versions": int,
    "changed": datetime,
    "standing": str,
}


def rows(pages: Selection) -> Iterator[dict[str, Any]]:
    """A row for each page, or for each version. Unknown text is empty, an unknown number or time None."""
    _ = pages.view  # read before the first page is written
    for seq, visit in pages.pages():
        yield _row(pages, seq, visit)


def written(pages: Selection) -> Written:
    """How many rows there are, and what is missing in them."""
    done = Written(pages.total)
    if missing := pages.total - pages.archived:
        done.remarks.append(f"no text for {count(missing, 'page')}: the crawl kept no archive (--no-archive)")
    return done


def _row(pages: Selection, seq: int, visit: Visit) -> dict[str, Any]:
    document, kind = pages.read(visit)
    parent, anchor = pages.source(visit)
    place, fate = visit.place, pages.fate(visit)
    return {
        "url": clean(visit.node),
        "title": line(visit.title),
        "text": unmarked(document.said),
        "score": visit.worth,
        "relevant": visit.worth >= pages.collection.threshold,
        "language": line(visit.language),
        "fetched": moment(visit.started),
        "status": visit.status,
        "content_type": line(kind),
        "size": visit.size,
        "digest": visit.digest.hex(),
        "simhash": f"{visit.simhash:016x}",
        "canonical": clean(str(visit.data.get("canonical", ""))),
        "same_as": clean(visit.same_as),
        "depth": pages.view.graph.depth(visit.node),
        "parent": clean(parent),
        "anchor": line(anchor),
        "outlinks": len(visit.links),
        "warc_file": place.file,
        "warc_offset": place.offset if place.file else None,
        "warc_length": place.length if place.file else None,
        "version": pages.number(seq, visit),
        "versions": fate.versions,
        "changed": moment(fate.changed),
        "standing": fate.state,
    }
