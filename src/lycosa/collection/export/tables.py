"""The table of pages: the same rows as JSON Lines, CSV or Parquet.

CSV (RFC 4180) is safe for spreadsheets: the other tables are exact, this one is careful. Pages are written by
strangers. A cell that begins like a formula would be run by a spreadsheet, so it gets an apostrophe in front. A cell
holds 32,767 characters there, and Python's own reader refuses 131,072: longer text is cut. Parquet, by pyarrow, has
real timestamps, zstd, and row groups of bounded size.
"""

from __future__ import annotations

import csv
import json
from codecs import getwriter
from collections.abc import Iterator
from datetime import datetime
from typing import IO, Any

from lycosa.collection.export.cleaning import clean, count, iso, line, moment, unmarked
from lycosa.collection.export.selection import Selection, Written
from lycosa.core.errors import InputError
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

CELL = 32_767
"""Characters that a spreadsheet's cell holds."""

GROUP = 8_000_000
"""Characters of text in a row group of Parquet, about: what is in memory while it is written."""

_FORMULA = ("=", "+", "-", "@", "\t")
_MOST_ROWS = 20_000
_REPEATING = ["language", "content_type", "warc_file", "standing"]


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


def write_jsonl(pages: Selection, out: IO[bytes]) -> Written:
    """Write a line for each page."""
    for row in rows(pages):
        row["fetched"], row["changed"] = iso(row["fetched"]), iso(row["changed"])
        out.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return written(pages)


def write_csv(pages: Selection, out: IO[bytes]) -> Written:
    """Write a header and a row for each page."""
    table = csv.writer(getwriter("utf-8")(out), lineterminator="\r\n")
    table.writerow(COLUMNS)
    cut = 0
    for row in rows(pages):
        cut += len(row["text"]) > CELL
        table.writerow([cell(value) for value in row.values()])
    done = written(pages)
    if cut:
        done.remarks.append(
            f"text cut at {CELL:,} characters, a spreadsheet's limit, for {count(cut, 'page')}: "
            "JSONL and Parquet have all of it"
        )
    return done


def cell(value: Any) -> Any:
    """A value as a cell.

    >>> cell("=HYPERLINK(1)"), cell(True), cell(-1.5), cell(None)
    ("'=HYPERLINK(1)", 'true', -1.5, None)
    """
    if isinstance(value, str):
        return (f"'{value}" if value.startswith(_FORMULA) else value)[:CELL]
    if isinstance(value, bool):
        return "true" if value else "false"
    return iso(value) if isinstance(value, datetime) else value


def write_parquet(pages: Selection, out: IO[bytes]) -> Written:
    """Write a row for each page."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
        import pyarrow.parquet as pq  # type: ignore[import-untyped]
    except ImportError as error:
        raise InputError("Parquet needs pyarrow: pip install 'lycosa[parquet]'") from error
    kinds = {
        str: pa.string(),
        int: pa.int64(),
        float: pa.float64(),
        bool: pa.bool_(),
        datetime: pa.timestamp("ms", tz="UTC"),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    plain = [name for name, kind in COLUMNS.items() if kind is not str]
    with pq.ParquetWriter(
        out, schema, compression="zstd", use_dictionary=_REPEATING, write_statistics=plain
    ) as parquet:
        group: list[dict[str, Any]] = []
        size = 0
        for row in rows(pages):
            group.append(row)
            size += len(row["text"])
            if size >= GROUP or len(group) == _MOST_ROWS:
                parquet.write_table(pa.Table.from_pylist(group, schema))
                group, size = [], 0
        if group:
            parquet.write_table(pa.Table.from_pylist(group, schema))
    return written(pages)
