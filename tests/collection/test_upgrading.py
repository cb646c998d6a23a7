"""`lycosa upgrade`: logs of earlier formats become ones of today, or stay as they are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from handmade import FRONT, crawl, html

from commands import run
from lycosa.collection.mending import upgrade
from lycosa.core.errors import StoreError
from lycosa.store import codec
from lycosa.store.log import NAME, SqliteLog


def _format(path: Path, *statements: str) -> int:
    with closing(sqlite3.connect(path)) as db:
        db.executescript("; ".join(statements))
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_older_logs_are_converted_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Formats 2 and 3 become today's with all events; a damaged one and one of a later version are left unchanged."""
    out = tmp_path / "crawl"
    reef = "http://a.localhost/reef"
    crawl(out, {FRONT: html("Coral", "Coral and more coral", (reef, "coral reef")), reef: html("Reef", "Coral reefs")})
    path = out / NAME
    with closing(SqliteLog(path, readonly=True)) as log:
        expected = list(map(repr, log))
    for statements, before in (("DROP TABLE worth; PRAGMA user_version=2", 2), ("PRAGMA user_version=3", 3)):
        _format(path, statements)
        assert (upgrade(out).before, _format(path)) == (before, codec.VERSION)
        with closing(SqliteLog(path, readonly=True)) as log:
            assert list(map(repr, log)) == expected
    assert run(monkeypatch, "upgrade", str(out)) == 0
    assert f"already has the current format, {codec.VERSION}; all {len(expected)} events" in capsys.readouterr().out
    _format(path, "PRAGMA user_version=3", "UPDATE event SET body = x'00' WHERE seq = 2")
    with pytest.raises(StoreError):
        upgrade(out)
    assert _format(path) == 3
    _format(path, f"PRAGMA user_version={codec.VERSION + 1}")
    with pytest.raises(StoreError, match="use the version of Lycosa that wrote it"):
        upgrade(out)
