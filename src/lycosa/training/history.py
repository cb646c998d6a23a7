"""The history that a browser keeps: Firefox's places.sqlite, Chromium's History."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from lycosa.core.errors import InputError
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.corpus import Corpus
from lycosa.training.record import Record, Visited, check_file
from lycosa.web.urls import canonical

MAGIC = b"SQLite format 3\0"

MOST_BYTES = 4_000_000_000

_BESIDE = ("-wal", "-journal")
"""What a browser that runs has not yet written into the file itself."""

_FIREFOX = """
SELECT v.id, p.url, v.visit_date / 1e6, v.from_visit, 0, v.visit_type IN (5, 6), v.visit_type IN (4, 7, 8)
FROM moz_historyvisits v JOIN moz_places p ON p.id = v.place_id ORDER BY v.visit_date, v.id
"""
"""Visits of type 5 and 6 came by a redirect; 4, 7 and 8 are embedded objects, downloads and frames."""

_CHROMIUM = """
SELECT v.id, u.url, v.visit_time / 1e6 - 11644473600, v.from_visit, {opener},
       (v.transition & 0x80000000) != 0, (v.transition & 255) IN (3, 4)
FROM visits v JOIN urls u ON u.id = v.url ORDER BY v.visit_time, v.id
"""
"""Its clock starts in 1601. A transition's highest bit means a redirect of the server; the kinds 3 and 4 are frames."""


class _Visit(NamedTuple):
    number: int
    url: str
    time: object
    from_visit: int
    opener: int
    """The visit whose page opened this one in a tab of its own."""
    redirected: int
    inside: int
    """No page of its own: part of another, or a download."""


def is_history(path: Path) -> bool:
    """Whether the file is a database."""
    check_file(path, "the record")
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InputError(f"cannot read the record {path}: {error.strerror}") from error


def read_history(path: Path, language: str = "en") -> Record:
    """The visits in their order, each with the page whose link led there, as far as the browser knows.

    The file is copied first, with what lies beside it: a browser that runs holds a lock on it. Visits that were only
    sent on (redirects) are left out, and what they led to counts as visited from where they were.
    """
    record = Record(Corpus(Vocabulary(language)))
    with tempfile.TemporaryDirectory(prefix="lycosa-") as place:
        copy = Path(place, "history")
        try:
            if path.stat().st_size > MOST_BYTES:
                raise InputError(f"{path} has more than {MOST_BYTES:,} bytes: no browser's history is that large")
            shutil.copyfile(path, copy)
            for ending in _BESIDE:
                beside = path.with_name(path.name + ending)
                if beside.is_file():
                    shutil.copyfile(beside, copy.with_name(copy.name + ending))
        except OSError as error:
            raise InputError(f"cannot copy the history {path}: {error.strerror}") from error
        try:
            with closing(sqlite3.connect(copy)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                database.text_factory = lambda text: text.decode("utf-8", "replace")  # one bad address is not all
                _fill(record, _visits(path, database))
        except sqlite3.Error as error:
            raise InputError(
                f"cannot read the history {path} ({error}): close the browser and copy the file again"
            ) from error
    if not record.visits:
        raise InputError(f"the history {path} has no visits of web pages in it")
    return record


def _visits(path: Path, database: sqlite3.Connection) -> Iterator[_Visit]:
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if {"moz_historyvisits", "moz_places"} <= tables:
        query = _FIREFOX
    elif {"visits", "urls"} <= tables:
        columns = {row[1] for row in database.execute("PRAGMA table_info(visits)")}
        query = _CHROMIUM.format(opener="v.opener_visit" if "opener_visit" in columns else "0")
    else:
        raise InputError(
            f"{path} is a database, but no history that is known here: name Firefox's places.sqlite or the file "
            "History of Chromium and browsers made of it"
        )
    return map(_Visit._make, database.execute(query))


def _fill(record: Record, visits: Iterator[_Visit]) -> None:
    pages: dict[object, tuple[str, object]] = {}
    """Of each visit its page, and the visit it came from."""
    passed: set[object] = set()
    """Visits that were sent on."""
    looked_at: list[_Visit] = []
    lost = 0
    for visit in visits:
        url = canonical(visit.url) if isinstance(visit.url, str) else None
        came_from = visit.from_visit or visit.opener
        pages[visit.number] = (url or "", came_from)
        if visit.redirected and came_from:
            passed.add(came_from)
        if url is None:
            record.left_out["addresses that are not of the web"] += 1
        elif visit.inside:
            record.left_out["frames and downloads"] += 1
        else:
            looked_at.append(visit._replace(url=url))
    for visit in looked_at:
        if visit.number in passed:
            record.left_out["redirects"] += 1
            continue
        origin: object = visit.from_visit or visit.opener
        seen = {visit.number}
        while origin in passed and origin in pages and origin not in seen:
            seen.add(origin)  # type: ignore[arg-type]  # whatever a database has for a number
            origin = pages[origin][1]
        if origin in passed:  # in a circle
            origin = 0
        lost += bool(origin) and origin not in pages
        referrer = pages.get(origin, ("", 0))[0]
        record.add(Visited(visit.url, None, referrer, visit.time if isinstance(visit.time, float) else None))
    if lost:
        record.notes.append(f"{lost:,} visits came from others that the browser has forgotten: they start a path")
