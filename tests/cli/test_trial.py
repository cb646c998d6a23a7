"""The trial crawl, where it can't work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lycosa.crawling
from lycosa.cli.examining import Finding
from lycosa.cli.trial import try_crawl
from lycosa.core.errors import StoreError


def finding() -> Finding:
    """The only one."""
    (found,) = try_crawl()
    return found


def test_a_crawl_that_fails_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong in the trial is a finding, not a traceback."""

    def fails(*args: Any, **more: Any) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(lycosa.crawling, "crawl", fails)
    assert ("broken", "StoreError: the disk is full") == (finding().state, finding().told)


def test_a_crawl_without_network_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where loopback can't be reached, the trial says which error came back, and does not take for ever."""
    crawl = lycosa.crawling.crawl
    monkeypatch.setattr(
        lycosa.crawling, "crawl", lambda *args, **more: crawl(*args, **{**more, "allow_network": ["10.0.0.0/8"]})
    )
    found = finding()
    assert ("broken", "nothing can be crawled") == (found.state, found.cost)
    assert found.told.startswith("0 of 5 pages could be fetched: ")
    assert "no reason" not in found.told


def test_no_room_for_the_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary directory that can't be used is named."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    found = finding()
    assert ("broken", True) == (found.state, str(tmp_path / "nowhere") in found.remedy)
