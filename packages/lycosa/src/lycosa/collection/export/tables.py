"""Export as a table: JSON Lines, CSV or Parquet.

CSV (RFC 4180) is made safe for spreadsheets, the other formats are exact: cells that start like a formula get a leading
apostrophe, and text is cut at 32,767 characters, the limit of a cell. Parquet is written by pyarrow with timestamps,
zstd compression and row groups of bounded size.
"""

from __future__ import annotations

import csv
import json
from codecs import getwriter
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import IO, Any

from lycosa.collection.export.cleaning import clean, format_iso, one_line, utc_time, without_markers
from lycosa.collection.export.selection import ExportedPage, Selection, WriteResult
from lycosa.core.errors import InputError
from lycosa.drawing.formats import many

# Columns of all table formats. Unknown text is empty, an unknown number or time None.
COLUMNS: dict[str, tuple[type, Callable[[ExportedPage], Any]]] = {
    "url": (str, lambda page: clean(page.visit.node)),
    "title": (str, lambda page: one_line(page.visit.title)),
    "text": (str, lambda page: without_markers(page.document[0].content)),
    "relevance": (float, lambda page: page.visit.relevance_now),
    "relevant": (bool, lambda page: page.is_relevant),
    "language": (str, lambda page: one_line(page.visit.language)),
    "fetched": (datetime, lambda page: utc_time(page.visit.started)),
    "status": (int, lambda page: page.visit.status),
    "content_type": (str, lambda page: one_line(page.document[1])),
    "size": (int, lambda page: page.visit.size),
    "digest": (str, lambda page: page.visit.digest.hex()),
    "simhash": (str, lambda page: f"{page.visit.simhash:016x}"),
    "canonical": (str, lambda page: clean(str(page.visit.data.get("canonical", "")))),
    "same_as": (str, lambda page: clean(page.visit.same_as)),
    "depth": (int, lambda page: page.row.depth),
    "parent": (str, lambda page: clean(page.row.parent)),
    "anchor": (str, lambda page: one_line(page.row.anchor)),
    "opt_outs": (str, lambda page: one_line(" ".join(page.visit.data.get("opt_outs", ())))),
    "outlinks": (int, lambda page: len(page.visit.links)),
    "warc_file": (str, lambda page: page.place.file),
    "warc_offset": (int, lambda page: page.place.offset if page.place.file else None),
    "warc_length": (int, lambda page: page.place.length if page.place.file else None),
    "version": (int, lambda page: page.version),
    "versions": (int, lambda page: page.row.versions),
    "changed": (datetime, lambda page: utc_time(page.row.changed)),
    "standing": (str, lambda page: page.row.state),
    "author": (str, lambda page: one_line(page.document[0].about.get("author", ""))),
    "published": (str, lambda page: one_line(page.document[0].about.get("published", ""))),
    "modified": (str, lambda page: one_line(page.document[0].about.get("modified", ""))),
    "pages": (int, lambda page: _number(page.document[0].about.get("pages", ""))),
}

# Columns read from the archive.
FROM_ARCHIVE = frozenset({"text", "content_type", "author", "published", "modified", "pages"})
MAX_CELL_LENGTH = 32_767  # maximum number of characters of a spreadsheet cell
ROW_GROUP_CHARACTERS = 8_000_000  # maximum number of characters in memory per row group
_REPEATING = ["language", "content_type", "warc_file", "standing"]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def rows(pages: Selection, without: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield a row for each page or version; the columns in `without` are empty."""
    unknown = {name: "" if COLUMNS[name][0] is str else None for name in without}
    for seq, visit in pages.pages():
        page = ExportedPage(pages, seq, visit)
        yield {name: unknown[name] if name in unknown else of(page) for name, (_, of) in COLUMNS.items()}


def result_of(pages: Selection) -> WriteResult:
    result = WriteResult(pages.total)
    if missing := pages.total - pages.archived:
        result.remarks.append(f"no text for {many(missing, 'page')}: the crawl kept no archive (--no-archive)")
    return result


def write_jsonl(pages: Selection, out: IO[bytes]) -> WriteResult:
    for row in rows(pages):
        row["fetched"], row["changed"] = format_iso(row["fetched"]), format_iso(row["changed"])
        out.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return result_of(pages)


def write_csv(pages: Selection, out: IO[bytes]) -> WriteResult:
    table = csv.writer(getwriter("utf-8")(out), lineterminator="\r\n")
    table.writerow(COLUMNS)
    cut = 0
    for row in rows(pages):
        cut += len(row["text"]) > MAX_CELL_LENGTH
        table.writerow([csv_cell(value) for value in row.values()])
    result = result_of(pages)
    if cut:
        result.remarks.append(
            f"text cut at {MAX_CELL_LENGTH:,} characters, the limit of a cell, for {many(cut, 'page')}: "
            "JSONL and Parquet contain the whole text"
        )
    return result


def csv_cell(value: Any) -> Any:
    """Return a value as a CSV cell.

    >>> csv_cell("=HYPERLINK(1)"), csv_cell(True), csv_cell(-1.5), csv_cell(None)
    ("'=HYPERLINK(1)", 'true', -1.5, None)
    """
    if isinstance(value, str):
        return (f"'{value}" if value.startswith(("=", "+", "-", "@", "\t")) else value)[:MAX_CELL_LENGTH]
    if isinstance(value, bool):
        return "true" if value else "false"
    return format_iso(value) if isinstance(value, datetime) else value


def write_parquet(pages: Selection, out: IO[bytes]) -> WriteResult:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
        import pyarrow.parquet as pq  # type: ignore[import-untyped]
    except ImportError as error:
        raise InputError("missing-package", "Parquet needs pyarrow: pip install 'lycosa[parquet]'") from error
    kinds = {
        str: pa.string(),
        int: pa.int64(),
        float: pa.float64(),
        bool: pa.bool_(),
        datetime: pa.timestamp("ms", tz="UTC"),
    }
    schema = pa.schema([(name, kinds[kind]) for name, (kind, _) in COLUMNS.items()])
    plain = [name for name, (kind, _) in COLUMNS.items() if kind is not str]
    with pq.ParquetWriter(
        out, schema, compression="zstd", use_dictionary=_REPEATING, write_statistics=plain
    ) as parquet:
        group: list[dict[str, Any]] = []
        size = 0
        for row in rows(pages):
            group.append(row)
            size += len(row["text"])
            if size >= ROW_GROUP_CHARACTERS or len(group) == 20_000:
                parquet.write_table(pa.Table.from_pylist(group, schema))
                group, size = [], 0
        if group:
            parquet.write_table(pa.Table.from_pylist(group, schema))
    return result_of(pages)
