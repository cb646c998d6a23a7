"""`lycosa sql`: ask a crawl's database anything."""

from __future__ import annotations

import csv as csvlib
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from typing import Annotated, Any

from rich.table import Column
from rich.text import Text

from lycosa.cli.parameters import Dir, Json
from lycosa.cli.printing import LabelledText, Part, listing, print_json, print_result, require_crawl, show, squeezed
from lycosa.collection.export.tables import csv_cell
from lycosa.collection.search_text import clean
from lycosa.collection.sql import CrawlDatabase, QueryResult
from lycosa.core.errors import InputError

MAX_CELL = 80  # characters of a cell in a table


def sql(
    directory: Dir,
    query: Annotated[str, "QUERY", "One SELECT statement. Default: list tables and columns."] = "",
    *,
    csv: Annotated[bool, "--csv", "Comma-separated values, with a header."] = False,
    json: Json = False,
) -> None:
    """Query a crawl with SQL, without changing it. Works while it runs.

    The views pages, relevant_pages, hosts and requests suit most questions; docs/schema.md describes them and the
    tables, with ten examples. The functions links(seq) and terms(seq) return the links and words of a visit as JSON.
    """
    if csv and json:
        raise InputError("conflicting-options", "--csv and --json: choose one")
    require_crawl(directory)
    with closing(CrawlDatabase(directory)) as database:
        if not query.strip():
            tables = database.tables
            print_result(tables, _described(tables), json=json)
            return
        result = database.query(query)
        if json and len(set(result.columns)) < len(result.columns):
            raise InputError("bad-query", "two columns have the same name: rename one with AS")
        if json:
            print_json([dict(zip(result.columns, map(_plain, row), strict=True)) for row in result.rows])
        elif csv:
            writer = csvlib.writer(sys.stdout, lineterminator="\n")
            writer.writerows([csv_cell(_clean(value)) for value in row] for row in chain([result.columns], result.rows))
        else:
            show(_table(result))


def _described(tables: dict[str, list[str]]) -> Iterator[Part]:
    width = max(map(len, tables)) + 2
    for name, columns in tables.items():
        yield LabelledText(Text(f"{name:<{width}}", "bold"), ", ".join(columns))
    yield Text("for example: lycosa sql DIR 'SELECT url, title, relevance FROM relevant_pages LIMIT 10'", "dim")


def _table(result: QueryResult) -> Iterator[Part]:
    rows = [[_cell(value) for value in row] for row in result.rows]
    yield listing(
        [Column(Text(squeezed(clean(name))), no_wrap=True, overflow="ellipsis") for name in result.columns], rows
    )
    yield Text(f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'}", "dim")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.3f}"
    text = "-" if value is None else squeezed(str(_clean(value)))
    return text if len(text) <= MAX_CELL else f"{text[: MAX_CELL - 1]}…"


def _clean(value: Any) -> Any:
    """Return a value without control characters."""
    plain = _plain(value)
    return clean(plain) if isinstance(plain, str) else plain


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, bytes):
        return value.hex()
    return None if isinstance(value, float) and value in (float("inf"), float("-inf")) else value
