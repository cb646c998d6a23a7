"""Tests of reading archived versions of pages."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lycosa.core.errors import DamagedError
from lycosa.store.log import NAME, SqliteLog
from lycosa.store.versions import Versions
from revisited_crawl import html, revisited

A, B = "http://a.test/a", "http://a.test/b"


@pytest.fixture
def versions(tmp_path: Path) -> Iterator[Versions]:
    with revisited(tmp_path / "crawl") as crawl:
        crawl.page(A, html("Old", "An axolotl."))
        crawl.page(B, html("B", "A newt."))
        crawl.changed(A, html("New", "A salamander."), 1)
        crawl.unmodified(A, 2)
        crawl.changed(B, html("New", "A salamander."), 3, same_as=A)
        crawl.gone(B, 4)
    log = SqliteLog(tmp_path / "crawl" / NAME, readonly=True)
    yield Versions(log, tmp_path / "crawl" / "archive")
    log.close()


def test_versions_are_oldest_first(versions: Versions) -> None:
    assert ["Old", "New"] == [visit.title for visit in versions.of(A)]
    assert [] == versions.of("http://a.test/never")


def test_last_returns_newest_version(versions: Versions) -> None:
    last = versions.last(A)
    assert last is not None
    assert "New" == last.title
    assert versions.last("http://a.test/never") is None


def test_exchange_of_304_is_that_of_version_before(versions: Versions) -> None:
    (unmodified,) = versions.log.visits("url = ? AND outcome = 'unchanged'", given=(A,))
    exchange = versions.exchange(unmodified)
    assert exchange is not None
    assert b"salamander" in exchange.body


def test_exchange_of_revisit_record_has_body(versions: Versions) -> None:
    exchange = versions.exchange(versions.of(B)[-1])
    assert exchange is not None
    assert b"salamander" in exchange.body


def test_exchange_at_wrong_offset_is_damage(versions: Versions) -> None:
    visit = versions.of(A)[0]
    visit.place = replace(visit.place, offset=visit.place.offset + 1)
    with pytest.raises(DamagedError, match="backup"):
        versions.exchange(visit)
