"""What a log has by now: the database may know less, as whoever wrote it was killed before the next report."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from lycosa.people.database import Row
from lycosa.store.log import FIRSTS, NAME, PAGES, WORTH, SqliteLog


def recorded(directory: Path, row: Row) -> tuple[int, int]:
    """Pages of a crawl, and how many of them are relevant; what its row says where there is no log."""
    if not (directory / NAME).exists():
        return int(row["pages"]), int(row["found"])
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        pages = next(log.rows("COUNT(*)", PAGES))[0]
        threshold = log.setting("threshold", 0.0)
        found = next(log.rows("COUNT(*)", f"{FIRSTS} AND {WORTH} >= ?", given=(threshold,)))[0]
    return int(pages), int(found)
