from __future__ import annotations

from pathlib import Path

import pytest

from lycosa.core.types import Setting, Visit
from lycosa_server.crawl_cache import CachedCrawl, CrawlCache, places
from revisited_crawl import html, revisited

HOME = "http://reef.test/"


def test_crawl_cache_evicts_least_recently_used(tmp_path: Path) -> None:
    several, one = CrawlCache(max_bytes=3_000_000), CrawlCache(max_bytes=1)
    for name in "abcde":
        several.get(tmp_path / name)
        one.get(tmp_path / name)
    assert [False, False, True, True, True] == [tmp_path / name in several for name in "abcde"]
    assert [False, False, False, False, True] == [tmp_path / name in one for name in "abcde"]


def test_get_reads_log_only_after_changes(tmp_path: Path) -> None:
    cache = CrawlCache()
    assert 0 == len(cache.get(tmp_path / "c").pages)
    with revisited(tmp_path / "c") as made:
        made.page(HOME, html("Reefs", "coral"))
        assert 1 == len(cache.get(tmp_path / "c").pages)
        made.page(HOME + "a", html("Atolls", "coral"))
        assert 2 == len(cache.get(tmp_path / "c").pages)


@pytest.mark.parametrize(("probability", "expected"), [(False, [0.19999, 0.2, 0.9]), (True, [0.0, 1.0, 0.9])])
def test_now_applies_labels(tmp_path: Path, probability: bool, expected: list[float]) -> None:
    with revisited(tmp_path / "c", archive=False) as made:
        made.log.append(Setting("probability", probability))
        for number, relevance in enumerate((0.8, 0.1, 0.9)):
            copied = {"same_as": HOME} if number else {}
            made.log.append(Visit(f"{HOME}{number}", "page", "ok", number, relevance=relevance, **copied))
    crawl = CachedCrawl(tmp_path / "c")
    crawl.refresh()
    now = crawl.now({HOME + "0": False, HOME + "1": True, HOME + "elsewhere": True})
    assert pytest.approx(expected, abs=1e-4) == now["relevance_now"].tolist()
    assert [False, True, False] == now.relevant.tolist()
    assert [True, False, False] == crawl.pages.relevant.tolist()
    assert [True, True, False] == now.counted.tolist()
    assert ([False] * 3, 0.85) == (crawl.now({}, threshold=0.85).relevant.tolist(), crawl.now({}, 0.85).threshold)


def test_places_skip_pages_fetched_since(tmp_path: Path) -> None:
    with revisited(tmp_path / "c") as made:
        made.page(HOME, html("Reefs", "coral"))
        crawl = CachedCrawl(tmp_path / "c")
        crawl.refresh()
        made.page(HOME + "a", html("Atolls", "coral"))
        with crawl.reading() as log:
            assert {HOME: 0} == places(log, crawl.pages, [HOME, HOME + "a", HOME + "b"])
