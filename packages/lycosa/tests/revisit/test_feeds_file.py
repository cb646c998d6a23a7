"""The feed file of changes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest

from lycosa.core.errors import StoreError
from lycosa.revisit.feeds import ATOM, Feeds
from lycosa.revisit.ledger import ChangeFilter, LoggedChange, changes
from lycosa.store.log import SqliteLog
from made_changes import HOUR, START, look, make_log, page, text


def _seqs(directory: Path, log: SqliteLog) -> list[int]:
    """Return the sequence numbers of the changes in the feed file, in order."""
    seq_of = {item.id: item.seq for item in changes(log)}
    entries = Tree.fromstring((directory / ATOM).read_bytes()).findall("{*}entry")
    return [seq_of[entry.findtext("{*}id", "")] for entry in entries]


def test_write_only_if_there_are_new_changes(tmp_path: Path) -> None:
    log = make_log(tmp_path, page(), look(text()), look(text(), at=START + 2 * HOUR))
    written = Feeds(tmp_path, log, title="reefs")
    assert written.write()
    assert [4, 3] == _seqs(tmp_path, log)
    log.append(look())
    assert not written.write()
    assert not Feeds(tmp_path, log, title="reefs").write()
    log.append(look(text(), at=START + 3 * HOUR))
    assert written.write()
    assert [6, 4, 3] == _seqs(tmp_path, log)
    assert not Feeds(tmp_path, log, title="reefs").write()
    log.close()


def test_write_keeps_newest_200(tmp_path: Path) -> None:
    log = make_log(tmp_path, *(look(text(), at=START + n) for n in range(195)))
    going_on = Feeds(tmp_path, log)
    going_on.write()
    for n in range(10):
        log.append(look(text(), at=START + 195 + n))
    going_on.write()
    # The seed is event 1, the revisits are 2 to 206; the last 200 are 7 to 206.
    assert list(range(206, 6, -1)) == _seqs(tmp_path, log)
    assert not Feeds(tmp_path, log).write()
    log.close()


def test_write_reuses_excerpts(tmp_path: Path) -> None:
    log = make_log(tmp_path, look(text()), look(text(), at=START + HOUR))
    made: list[int] = []

    def excerpt(told: LoggedChange) -> str:
        made.append(told.seq)
        return f"came: {told.seq}"

    assert Feeds(tmp_path, log, excerpt=excerpt).write()
    assert not Feeds(tmp_path, log, excerpt=excerpt).write()
    log.append(look(text(), at=START + 2 * HOUR))
    assert Feeds(tmp_path, log, excerpt=excerpt).write()
    assert [3, 2, 4] == made
    whole = (tmp_path / ATOM).read_bytes()
    (tmp_path / ATOM).write_bytes(whole[:-9])
    assert Feeds(tmp_path, log, excerpt=excerpt).write()
    assert ([3, 2, 4, 4, 3, 2], whole) == (made, (tmp_path / ATOM).read_bytes())
    log.close()


def test_write_filters_changes(tmp_path: Path) -> None:
    log = make_log(tmp_path, look(text(0.1)), look(text(0.9)))
    Feeds(tmp_path, log, wanted=ChangeFilter(at_least=0.5), address="https://me.example/reefs").write()
    assert [3] == _seqs(tmp_path, log)
    link = Tree.fromstring((tmp_path / ATOM).read_bytes()).find("{*}link")
    assert link is not None
    assert "https://me.example/reefs/changes.atom" == link.get("href")
    log.close()


def test_write_full_disk_keeps_old_feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = make_log(tmp_path, look(text()))
    written = Feeds(tmp_path, log)
    written.write()
    log.append(look(text()))
    fsync: Callable[[int], None] = os.fsync

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"changes.atom: No space left on device; free some space"):
        written.write()
    assert [2] == _seqs(tmp_path, log)
    assert [ATOM] == [path.name for path in tmp_path.glob("changes.*")]
    monkeypatch.setattr(os, "fsync", fsync)
    assert written.write()
    assert [3, 2] == _seqs(tmp_path, log)
    log.close()
