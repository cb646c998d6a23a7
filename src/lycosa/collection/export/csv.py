"""CSV (RFC 4180), safe for spreadsheets: the other tables are exact, this one is careful.

Pages are written by strangers. A cell that begins like a formula would be run by a spreadsheet, so it gets an
apostrophe in front. A cell holds 32,767 characters there, and Python's own reader refuses 131,072: longer text is cut.
"""

from __future__ import annotations

import csv
from codecs import getwriter
from datetime import datetime
from typing import IO, Any

from lycosa.collection.export.cleaning import count, iso
from lycosa.collection.export.rows import COLUMNS, rows, written
from lycosa.collection.export.selection import Selection, Written

CELL = 32_767
"""Characters that a spreadsheet's cell holds."""

_FORMULA = ("=", "+", "-", "@", "\t")


def write(pages: Selection, out: IO[bytes]) -> Written:
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
