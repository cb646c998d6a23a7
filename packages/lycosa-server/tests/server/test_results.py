from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.pages import PageArray, pages_at
from lycosa.core.types import Page, Visit
from lycosa.judges.counting import WordFrequencyJudge
from lycosa_server.crawl_cache import CachedCrawl
from lycosa_server.results import Order, sort_key
from revisited_crawl import html, revisited

HOME = "http://reef.test/"
TEXTS = {
    "coral": "coral polyps build limestone skeletons in warm shallow lagoons",
    "again": "coral polyps build limestone skeletons in warm shallow seas",
    "sponge": "sponges filter plankton from currents beside a coral",
    "wreck": "divers map a wreck where coral coral coral coral settles",
}


@pytest.fixture
def crawl(tmp_path: Path) -> CachedCrawl:
    """Return a crawl of four pages; the first one has changed."""
    with revisited(tmp_path / "c") as made:
        made.seed(HOME + "coral")
        for number, (name, text) in enumerate(TEXTS.items()):
            made.page(HOME + name, html(name, text), number, relevance=0.9 - number / 10)
        made.changed(HOME + "coral", html("coral", TEXTS["coral"] + " anew"), 9.0, relevance=0.9)
    return cached(tmp_path / "c")


def cached(path: Path) -> CachedCrawl:
    crawl = CachedCrawl(path)
    crawl.refresh()
    return crawl


def keys(crawl: CachedCrawl, order: Order) -> dict[str, float]:
    """Return the values by which the pages are sorted."""
    with CrawlDirectory(crawl.path) as collection:
        rows = pages_at(collection.log, crawl.pages["first"].tolist())
        key = sort_key(collection, crawl, crawl.pages, order).tolist()
    return {row.url.removeprefix(HOME): value for row, value in zip(rows, key, strict=True)}


def names(crawl: CachedCrawl, order: Order) -> list[str]:
    found = keys(crawl, order)
    return sorted(found, key=lambda name: -found[name])


def test_sort_key_of_each_order(crawl: CachedCrawl) -> None:
    assert {0.0} == set(keys(crawl, "relevance").values())
    assert ["wreck", "coral", "again", "sponge"] == names(crawl, "frequency")
    assert ["coral", "wreck", "sponge", "again"] == names(crawl, "date")


@pytest.mark.paper("personalized-order")
def test_frequency_matches_paper(crawl: CachedCrawl) -> None:
    judge, found = WordFrequencyJudge("coral"), keys(crawl, "frequency")
    for name in ("again", "sponge", "wreck"):
        text = Page("ok", title=name, marked=f"{name}\n{TEXTS[name]}")
        assert judge.judge(text, None).relevance == found[name]


@pytest.mark.parametrize("order", get_args(Order))
def test_sort_key_of_no_pages(crawl: CachedCrawl, order: Order) -> None:
    with CrawlDirectory(crawl.path) as collection:
        assert [] == sort_key(collection, crawl, PageArray(), order).tolist()


def test_frequency_of_pages_without_words_is_zero(tmp_path: Path) -> None:
    with revisited(tmp_path / "c", archive=False) as made:
        for number in range(3):
            made.log.append(Visit(f"{HOME}{number}", "page", "ok", number, relevance=number / 10))
    assert {"0": 0.0, "1": 0.0, "2": 0.0} == keys(cached(tmp_path / "c"), "frequency")
