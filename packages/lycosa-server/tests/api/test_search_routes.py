from __future__ import annotations

import threading

import pytest

from crawl_on_site import CrawlOnSite, crawl_on_site
from lycosa_server.api import search_routes as module
from lycosa_server.crawl_cache import CachedCrawl
from revisited_crawl import EPOCH, html
from site_maker import API, SiteUnderTest

HOME = "http://reef.test/"


@pytest.fixture
def world(site: SiteUnderTest) -> CrawlOnSite:
    """Return a site with a crawl of three pages on coral, one in German, one changed."""
    made = crawl_on_site(site)
    fill(made)
    return made


def fill(made: CrawlOnSite) -> None:
    crawl = made.record()
    crawl.page(HOME + "a", html("Coral", "coral polyps and more coral, all coral"), 0.0, relevance=0.9)
    crawl.page(HOME + "b", html("Riffe", "coral und Riffe"), 1.0, relevance=0.5, language="de")
    crawl.page(
        "http://other.test/c", html("Ships", "a ship on a coral reef in a sea of other words"), 2.0, relevance=0.1
    )
    crawl.changed(HOME + "a", html("Coral", "coral polyps and more coral, mostly coral"), 3.0, relevance=0.8)
    crawl.close()


def names(world: CrawlOnSite, **given: object) -> list[str]:
    return [result["url"].rpartition("/")[2] for result in world.get("search", **{"q": "coral", **given})["results"]]


def test_search_result_has_all_fields(world: CrawlOnSite) -> None:
    world.label(HOME + "b", True)
    answer = world.get("search", q="polyps")
    assert (1, False, 3) == (answer["total"], answer["loosened"], answer["pages"])
    (result,) = answer["results"]
    assert (1, HOME + "a", "Coral", "reef.test", "en") == (
        result["rank"], result["url"], result["title"], result["host"], result["language"],
    )  # fmt: skip
    assert ["polyps"] == [result["snippet"][start:end] for start, end in result["spans"]]
    assert (None, "stands", EPOCH + 3 * 86_400) == (result["label"], result["standing"], result["changed"])
    assert result["relevance"] == next(
        page["relevance"] for page in world.get("pages")["pages"] if page["url"] == HOME + "a"
    )
    assert "yes" == world.get("search", q="riffe")["results"][0]["label"]


def test_search_applies_filters(world: CrawlOnSite) -> None:
    everything = names(world)
    assert {"a", "b", "c"} == set(everything)
    assert ["c"] == names(world, host="other.test")
    assert ["b"] == names(world, language="de")
    assert ["c"] == names(world, since="2026-01-03", until="2026-01-03")
    assert ["a"] == names(world, changed=True)
    assert everything[1:] == names(world, offset=1)
    assert everything[:1] == names(world, limit=1)
    assert [2, 3] == [result["rank"] for result in world.get("search", q="coral", offset=1)["results"]]
    world.label(HOME + "a", False)
    world.label(HOME + "b", True)
    assert [["b"], ["a"], ["c"]] == [names(world, labelled=word) for word in ("yes", "no", "none")]
    assert {"a", "b"} == set(names(world, labelled="any"))
    assert 2 == world.get("search", q="coral", labelled="any", limit=1)["total"]


def test_search_finds_pages_added_meanwhile(world: CrawlOnSite) -> None:
    assert [] == names(world, q="anemone")
    crawl = world.record_again()
    crawl.page(HOME + "d", html("Anemones", "an anemone"), 4.0)
    crawl.close()
    assert ["d"] == names(world, q="anemone")


def test_search_in_crawl_that_has_not_started(site: SiteUnderTest) -> None:
    made = crawl_on_site(site)
    assert {"total": 0, "loosened": False, "pages": 0, "behind": 0, "results": []} == made.get("search", q="coral")


def test_search_indexes_large_crawls_in_background(world: CrawlOnSite, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, made = threading.Event(), list[object]()
    index = module._index

    def slow(cached: CachedCrawl) -> None:
        made.append(cached)
        begin.wait(120)
        index(cached)

    monkeypatch.setattr(module, "MAX_INDEXING_SECONDS", 0.0)
    monkeypatch.setattr(module, "_index", slow)
    assert world.get("search", q="coral")["behind"] > 0
    world.get("search", q="coral")
    begin.set()
    monkeypatch.setattr(module, "MAX_INDEXING_SECONDS", 120.0)
    assert {"a", "b", "c"} == set(names(world))
    assert 1 == len(made)


def test_search_refuses_queries_without_words(world: CrawlOnSite) -> None:
    for q in ("", " ", "-only", "a\0b", "\x1b", '"', "*"):
        assert 422 == world.status("search", q=q), q


def test_search_of_damaged_log_is_503(world: CrawlOnSite) -> None:
    (world.directory / "crawl.sqlite").write_bytes(b"no database at all" * 100)
    answer = world.client.get(f"{API}/crawls/{world.crawl}/search", params={"q": "coral"})
    assert (503, True) == (answer.status_code, "contact the administrator" in answer.text)
    assert 503 == world.status("pages")
