"""Parquet, by pyarrow: real timestamps, zstd, row groups of bounded size."""

from __future__ import annotations

from datetime import datetime
from typing import IO, Any

from lycosa.collection.export.rows import COLUMNS, rows, written
from lycosa.collection.export.selection import Selection, Written
from lycosa.core.errors import InputError

GROUP = 8_000_000
"""Characters of text in a row group, about: what is in memory while it is written."""

_MOST_ROWS = 20_000
_REPEATING = ["language", "content_type", "warc_file", "standing"]


def write(pages: Selection, out: IO[bytes]) -> Written:
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
