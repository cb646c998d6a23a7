"""Tests of disk limits."""

from pathlib import Path
from typing import Any

import pytest

import lycosa
from commands import Command
from lycosa.collection.checking import check
from lycosa.core.types import Visit
from lycosa.crawling import crawl_files as files
from lycosa.crawling.crawl_files import DiskGuard, size_of
from lycosa.testweb import Web, serve

TOPIC = "marine biology/coral reefs"


def test_max_disk_ends_crawl(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHECK_VISITS", 5)
    place = tmp_path / "c"
    given: dict[str, Any] = {"budget": 60, "delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"]}
    with serve(Web(pages=300), record=False) as server:
        made = lycosa.crawl("coral reef", server.web.seeds(TOPIC), out=place, max_disk=600_000, **given)
        pages = sum(visit.is_page for visit in made)
        assert 1 <= pages < 60
        assert "--max-disk allows 0.6 MB" in made.failure
        assert any("--max-disk" in note for note in made.notes)
        again = lycosa.resume(place, max_disk=0)
        more = sum(visit.is_page for visit in again)
        assert (60, "") == (pages + more, again.failure)
    assert size_of(place) > 600_000
    found = check(place)
    assert not found.faults
    assert {"crawl.sqlite", "archive"} < found.sizes.keys()
    assert found.sizes["archive"] == sum(file.stat().st_size for file in (place / "archive").iterdir())


def test_disk_guard_checks_regularly(tmp_path: Path) -> None:
    left = [10**12]
    looked: list[int] = []

    def free(path: Path) -> int:
        looked.append(1)
        return left[0]

    watched = DiskGuard(tmp_path, 0, free)
    small, large = Visit("a", "page", "ok", 1, size=10), Visit("a", "page", "ok", 1, size=files.CHECK_BYTES)
    assert "" == watched.visited(small)
    assert [1] == looked
    left[0] = files.MIN_FREE_BYTES - 1
    assert ["", ""] == [watched.visited(small) for _ in range(2)]
    assert "nearly full, 100 MB are left: free some space" in watched.visited(large)
    assert "" == DiskGuard(tmp_path / "none").lacking()


def test_full_disk_message_names_no_waiting_host(tmp_path: Path, command: Command) -> None:
    with serve(Web(pages=60), record=False) as server:
        words = ["--allow-network", "127.0.0.0/8", "--delay", 0, "--per-host", 4, "--max-disk", 1]
        said = command("crawl", "coral", "--seed", server.web.seeds(TOPIC)[0], *words, "--out", tmp_path / "c")
    assert "Ended: stopped." in said.out
    assert "waits: \n" not in said.out
