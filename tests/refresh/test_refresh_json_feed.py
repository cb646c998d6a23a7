"""Changes as JSON Feed, and the files of both feeds."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest

from lycosa.core.errors import StoreError
from lycosa.refresh.feeds import ATOM, JSON, Feeds, json_feed
from lycosa.refresh.ledger import Told, Wanted
from made_changes import HOUR, MOVED, REEF, START, look, make_log, page, text

TOLD = Told(7, "urn:uuid:2", REEF, START, "Coral \ud800 <reefs>", 0.5, text(), was=0.25, follows=START - 60)


def test_the_feed_has_what_the_standard_wants() -> None:
    """Version, title and items; each item with an id and content; the rest under a name of our own."""
    feed = json.loads(json_feed([TOLD], crawl="urn:uuid:1", title="reefs", address="https://me.example/changes.json"))
    assert ["https://jsonfeed.org/version/1.1", "Changes: reefs", "https://me.example/changes.json"] == [
        feed[key] for key in ("version", "title", "feed_url")
    ]
    [item] = feed["items"]
    assert {
        "id": "urn:uuid:2",
        "url": REEF,
        "title": "Coral <reefs> (text changed, 25 %)",
        "content_text": "Text changed, 25 %.\nmain-text: 12 of 48 words are others\n"
        "The version before is of 2023-11-14 22:12 UTC.",
        "date_published": "2023-11-14T22:13:20Z",
        "tags": ["changed", "text"],
        "_lycosa": item["_lycosa"],
    } == item
    assert {"what": "changed", "kind": "text", "magnitude": 0.25, "score": 0.5, "score_before": 0.25, "seq": 7} == {
        key: item["_lycosa"][key] for key in ("what", "kind", "magnitude", "score", "score_before", "seq")
    }


def test_what_moved_has_no_kind() -> None:
    """Kind and magnitude are of pages that changed."""
    [item] = json.loads(json_feed([replace(TOLD, change=MOVED)], crawl="urn:uuid:1", title=""))["items"]
    assert (["moved"], None, None, MOVED.target) == (
        item["tags"], *(item["_lycosa"][key] for key in ("kind", "magnitude", "moved_to"))
    )  # fmt: skip


def _seqs(directory: Path) -> list[int]:
    return [item["_lycosa"]["seq"] for item in json.loads((directory / JSON).read_bytes())["items"]]


def test_files_are_written_when_something_is_new(tmp_path: Path) -> None:
    """The newest first; looks that found nothing new touch no file, also after a restart."""
    log = make_log(tmp_path, page(), look(text()), look(text(), at=START + 2 * HOUR))
    written = Feeds(tmp_path, log, title="reefs")
    assert written.write()
    assert [4, 3] == _seqs(tmp_path)
    log.append(look())
    assert not written.write()
    assert not Feeds(tmp_path, log, title="reefs").write()
    log.append(look(text(), at=START + 3 * HOUR))
    assert written.write()
    assert [6, 4, 3] == _seqs(tmp_path)
    assert not Feeds(tmp_path, log, title="reefs").write()
    assert 3 == len(Tree.fromstring((tmp_path / ATOM).read_bytes()).findall("{*}entry"))
    log.close()


def test_feeds_hold_the_newest_two_hundred(tmp_path: Path) -> None:
    """Also when they are read at once, as after a restart."""
    log = make_log(tmp_path, *(look(text(), at=START + n) for n in range(195)))
    going_on = Feeds(tmp_path, log)
    going_on.write()
    for n in range(10):
        log.append(look(text(), at=START + 195 + n))
    going_on.write()
    # seed 1, looks 2 to 206: the last 200 of them are 7 to 206
    assert list(range(206, 6, -1)) == _seqs(tmp_path)
    assert not Feeds(tmp_path, log).write()
    log.close()


def test_excerpts_are_made_once(tmp_path: Path) -> None:
    """A run takes those of earlier ones from the file: no old version is read again; a damaged file is no loss."""
    log = make_log(tmp_path, look(text()), look(text(), at=START + HOUR))
    made: list[int] = []

    def excerpt(told: Told) -> str:
        made.append(told.seq)
        return f"came: {told.seq}"

    assert Feeds(tmp_path, log, excerpt=excerpt).write()
    assert not Feeds(tmp_path, log, excerpt=excerpt).write()
    log.append(look(text(), at=START + 2 * HOUR))
    assert Feeds(tmp_path, log, excerpt=excerpt).write()
    assert [3, 2, 4] == made
    whole = (tmp_path / JSON).read_bytes()
    (tmp_path / JSON).write_bytes(whole[:-9])
    assert Feeds(tmp_path, log, excerpt=excerpt).write()
    assert ([3, 2, 4, 4, 3, 2], whole) == (made, (tmp_path / JSON).read_bytes())
    log.close()


def test_only_what_is_wanted(tmp_path: Path) -> None:
    """A feed of large changes has no small ones."""
    log = make_log(tmp_path, look(text(0.1)), look(text(0.9)))
    Feeds(tmp_path, log, wanted=Wanted(at_least=0.5), address="https://me.example/reefs").write()
    assert [3] == _seqs(tmp_path)
    assert "https://me.example/reefs/changes.json" == json.loads((tmp_path / JSON).read_bytes())["feed_url"]
    log.close()


def test_a_full_disk_leaves_the_old_feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be written is written with the next round."""
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
    assert [2] == _seqs(tmp_path)
    assert sorted([ATOM, JSON]) == sorted(path.name for path in tmp_path.glob("changes.*"))
    monkeypatch.setattr(os, "fsync", fsync)
    assert written.write()
    assert [3, 2] == _seqs(tmp_path)
    log.close()
