"""Checks of the tables of a log: derived rows equal what the visits say."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from lycosa.core.types import Visit
from lycosa.store.log import EVENT_TABLES, PAGES, SqliteLog
from lycosa.store.page_state import PageState


def check_page_table(log: SqliteLog) -> int:
    """Check the table `page` against all visits; return its number of rows."""
    visits: dict[str, list[tuple[int, Visit]]] = {}
    for seq, visit in log.numbered():
        visits.setdefault(visit.node, []).append((seq, visit))
    expected = {}
    for node, numbered in visits.items():
        state = PageState.of(visit for _, visit in numbered)
        if state is not None:
            versions = [(seq, visit) for seq, visit in numbered if visit.is_version]
            (first, _), (current, last) = versions[0], versions[-1]
            expected[node] = first, current, bool(last.same_as), state
    found = {}
    columns = "first, current, is_copy, state, since, page.versions, revisits, last_seen, changed, moved_to"
    for url, *row in log.query(f"SELECT url, {columns} FROM page JOIN visit ON visit.seq = page.first"):
        found[url] = row[0], row[1], bool(row[2]), PageState(*row[3:])
    assert expected == found
    return len(found)


def check_log(path: Path) -> int:
    """Check that a log is sound, complete and has nothing twice; return the number of its events."""
    with closing(sqlite3.connect(path)) as db:
        assert [("ok",)] == db.execute("PRAGMA integrity_check").fetchall()
    with closing(SqliteLog(path, readonly=True)) as log:
        log.check()
        numbered = list(log.events())
        seqs = [seq for seq, _ in numbered]
        assert list(range(1, len(seqs) + 1)) == seqs, "an event is missing, or two have the same number"
        assert len(seqs) == sum(next(log.query(f"SELECT COUNT(*) FROM {name}"))[0] for name in EVENT_TABLES)
        check_page_table(log)
        visits = {seq: event for seq, event in numbered if isinstance(event, Visit)}
        versions = {seq for seq, visit in visits.items() if visit.is_version}
        assert versions == {seq for (seq,) in log.query("SELECT seq FROM score")}
        content = {seq for (seq,) in log.query("SELECT seq FROM content")}
        assert content == {seq for seq, visit in visits.items() if has_content(visit)}
    return len(seqs)


def has_content(visit: Visit) -> bool:
    """Return whether a visit has links, words or binary data."""
    has_binary = any(isinstance(value, bytes) for value in visit.data.values())
    return bool(len(visit.links)) or bool(len(visit.terms.ids)) or bool(visit.terms.new) or has_binary


@contextmanager
def reader_beside(path: Path) -> Iterator[dict[str, Any]]:
    """Read a log again and again in another process; fill in what was `wrong` and the number of `looks`.

    Another process, because copying the files of a database in a process that reads it drops its locks.
    """
    seen: dict[str, Any] = {}
    command = [sys.executable, __file__, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield seen
        finally:
            told, _ = process.communicate("stop")
    seen.update(json.loads(told))


def _look(log: SqliteLog) -> Iterator[str]:
    """Yield visits that are visible without what was committed with them."""
    lacking = f"SELECT url FROM visit LEFT JOIN content USING (seq) WHERE {PAGES} AND terms IS NULL"
    yield from (f"{url} has no words" for (url,) in log.query(lacking))
    lacking = "SELECT url FROM visit LEFT JOIN page ON first = visit.seq LEFT JOIN score USING (seq) WHERE {} AND {}"
    for (url,) in log.query(lacking.format(PAGES, "(first IS NULL OR relevance_now IS NULL)")):
        yield f"{url} has no page or score"
    for _, visit in log.numbered("seq > ?", given=(log.end() - 3,)):
        if visit.is_page and not has_content(visit):
            yield f"{visit.node} has no content"


def _read_again_and_again(path: Path) -> dict[str, Any]:
    import select

    wrong, looks = list[str](), 0
    while not path.exists():
        time.sleep(0.003)
    with closing(SqliteLog(path, readonly=True)) as log:
        while not select.select([sys.stdin], [], [], 0.003)[0]:
            try:
                wrong += _look(log)
                looks += 1
            except Exception as error:
                wrong.append(repr(error))
    return {"wrong": wrong[:20], "looks": looks}


if __name__ == "__main__":
    print(json.dumps(_read_again_and_again(Path(sys.argv[1]))))
