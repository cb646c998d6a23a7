"""What a log has more than the database was told, as whoever wrote it was killed before the next report."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from lycosa.people.database import Row
from lycosa.store.log import FIRSTS, NAME, PAGES, WORTH, SqliteLog


def recorded(directory: Path, row: Row) -> tuple[int, int]:
    """Pages and finds of a crawl. What was reported stands, as feedback may have had it judged anew since it was
    logged; pages behind that count as they were logged.
    """
    pages, found = int(row["pages"]), int(row["found"])
    if not (directory / NAME).exists():
        return pages, found
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        threshold = log.setting("threshold", 0.0)
        last = next((seq for (seq,) in log.rows("seq", PAGES, f"seq LIMIT 1 OFFSET {pages - 1}")), 0) if pages else 0
        new = next(log.rows("COUNT(*)", f"{PAGES} AND seq > ?", given=(last,)))[0]
        finds = next(log.rows("COUNT(*)", f"{FIRSTS} AND {WORTH} >= ? AND seq > ?", given=(threshold, last)))[0]
    return pages + int(new), found + int(finds)
