"""The histories of browsers."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lycosa.core.errors import InputError
from lycosa.training import record as module
from lycosa.training.record import Visited, is_history, read_history

A, B, C, D = (f"http://{name}.test/" for name in "abcd")
WEBKIT = 11_644_473_600


def firefox(place: Path, *visits: tuple[str, int, int, int], open_: bool = False) -> sqlite3.Connection | None:
    """places.sqlite with visits: address, second, the visit it came from, its type."""
    database = sqlite3.connect(place)
    if open_:
        database.execute("PRAGMA journal_mode = WAL")
    database.executescript(
        "CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT, title TEXT, hidden INTEGER);"
        "CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY, from_visit INTEGER, place_id INTEGER,"
        " visit_date INTEGER, visit_type INTEGER);"
    )
    for number, (url, second, origin, kind) in enumerate(visits, 1):
        database.execute("INSERT INTO moz_places VALUES (?, ?, '', 0)", (number, url))
        row = (number, origin, number, second * 1_000_000, kind)
        database.execute("INSERT INTO moz_historyvisits VALUES (?, ?, ?, ?, ?)", row)
    database.commit()
    if open_:
        return database
    database.close()
    return None


def chromium(place: Path, *visits: tuple[str, int, int, int, int], opener: bool = True) -> None:
    """History with visits: address, second, the visit it came from, the one that opened it, its transition."""
    database = sqlite3.connect(place)
    more = ", opener_visit INTEGER" if opener else ""
    database.executescript(
        "CREATE TABLE urls (id INTEGER PRIMARY KEY, url TEXT, title TEXT);"
        "CREATE TABLE visits (id INTEGER PRIMARY KEY, url INTEGER, visit_time INTEGER, from_visit INTEGER,"
        f" transition INTEGER{more});"
    )
    for number, (url, second, origin, opened, transition) in enumerate(visits, 1):
        database.execute("INSERT INTO urls VALUES (?, ?, '')", (number, url))
        row = [number, number, (second + WEBKIT) * 1_000_000, origin, transition, *([opened] if opener else [])]
        database.execute(f"INSERT INTO visits VALUES ({', '.join('?' * len(row))})", row)
    database.commit()
    database.close()


def test_firefox(tmp_path: Path) -> None:
    """Visits come in the order of their times, with the page whose link led there."""
    firefox(tmp_path / "places.sqlite", (B, 160, 2, 1), (A, 150, 0, 2), (C, 170, 99, 1))
    assert is_history(tmp_path / "places.sqlite")
    record = read_history(tmp_path / "places.sqlite")
    assert [Visited(A, time=150.0), Visited(B, None, A, 160.0), Visited(C, time=170.0)] == record.visits
    assert ["1 visits came from others that the browser has forgotten: they start a path"] == record.notes


def test_redirects_frames_and_downloads(tmp_path: Path) -> None:
    """A to B, which sends on to C: A led to C. Frames, downloads and the browser's own pages are left out."""
    visits = [(A, 100, 0, 1), (B, 101, 1, 1), (C, 102, 2, 6), (D, 103, 3, 8), (D, 104, 3, 7), ("about:x", 105, 0, 1)]
    firefox(tmp_path / "p", *visits)
    record = read_history(tmp_path / "p")
    assert [(A, ""), (C, A)] == [(visit.url, visit.referrer) for visit in record.visits]
    assert {"redirects": 1, "frames and downloads": 2, "addresses that are not of the web": 1} == dict(record.left_out)


def test_redirects_in_a_circle_end(tmp_path: Path) -> None:
    """A database may say anything."""
    firefox(tmp_path / "p", (A, 100, 2, 5), (B, 101, 1, 5), (C, 102, 2, 5), (D, 103, 4, 5))
    assert [(C, "")] == [(visit.url, visit.referrer) for visit in read_history(tmp_path / "p").visits]


@pytest.mark.parametrize("opener", [True, False])
def test_chromium(tmp_path: Path, opener: bool) -> None:
    """Times are of another clock; a page that another one opened in a new tab came from there."""
    redirect = -(1 << 31)  # the highest bit, as a signed number
    visits = [(A, 1000, 0, 0, 1), (B, 1001, 1, 0, 0), (C, 1002, 2, 0, redirect), (D, 1003, 0, 3, 0), (B, 1004, 1, 0, 3)]
    chromium(tmp_path / "History", *visits, opener=opener)
    record = read_history(tmp_path / "History")
    assert [(A, "", 1000.0), (C, A, 1002.0), (D, C if opener else "", 1003.0)] == [
        (visit.url, visit.referrer, visit.time) for visit in record.visits
    ]
    assert {"redirects": 1, "frames and downloads": 1} == dict(record.left_out)


def test_a_history_that_is_in_use(tmp_path: Path) -> None:
    """What the browser has not written into the file yet is read, too; the file and what is beside it stay the same."""
    database = firefox(tmp_path / "places.sqlite", (A, 100, 0, 1), (B, 101, 1, 1), open_=True)
    assert database is not None
    database.execute("BEGIN IMMEDIATE")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert "places.sqlite-wal" in before
    assert [A, B] == [visit.url for visit in read_history(tmp_path / "places.sqlite").visits]
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    database.close()


def test_an_address_that_is_no_text(tmp_path: Path) -> None:
    """It is left out or mended; it does not take the others with it."""
    firefox(tmp_path / "p", (A, 100, 0, 1), (B, 101, 1, 1))
    with sqlite3.connect(tmp_path / "p") as database:
        database.execute("UPDATE moz_places SET url = CAST(x'ff61' AS TEXT) WHERE id = 2")
    record = read_history(tmp_path / "p")
    assert [Visited(A, time=100.0)] == record.visits
    assert {"addresses that are not of the web": 1} == dict(record.left_out)


def test_what_is_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another database, a torn one, an empty one and one that is too large: each is told in a line."""
    sqlite3.connect(tmp_path / "other").executescript("CREATE TABLE t (x);").connection.close()
    with pytest.raises(InputError, match=r"other is a database, but no history that is known here: name Firefox's"):
        read_history(tmp_path / "other")
    firefox(tmp_path / "full", *[(f"http://a.test/{n}", n, 0, 1) for n in range(2000)])
    whole = (tmp_path / "full").read_bytes()
    (tmp_path / "torn").write_bytes(whole[:8192] + b"\x07" * 8192)
    with pytest.raises(InputError, match=r"cannot read the history .*torn \("):
        read_history(tmp_path / "torn")
    (tmp_path / "short").write_bytes(whole[:60])
    with pytest.raises(InputError, match="cannot read the history"):
        read_history(tmp_path / "short")
    firefox(tmp_path / "empty", ("about:home", 1, 0, 1))
    with pytest.raises(InputError, match="has no visits of web pages in it"):
        read_history(tmp_path / "empty")
    monkeypatch.setattr(module, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match="has more than 1,000 bytes"):
        read_history(tmp_path / "full")
