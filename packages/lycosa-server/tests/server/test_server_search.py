from __future__ import annotations

import threading

import pytest

from crawl_on_site import CrawlOnSite, crawl_on_site
from lycosa_server.api import search_routes as module
from lycosa_server.results import CachedView
from revisited_crawl import EPOCH, html
from site_maker import API, SiteUnderTest

HOME = "http://reef.test/"


@pytest.fixture
def world(site: SiteUnderTest) -> CrawlOnSite:
    """Three pages on coral, one of them in German, one changed."""
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
    return [hit["url"].rpartition("/")[2] for hit in world.get("search", **{"q": "coral", **given})["hits"]]


def test_a_hit_is_told_with_its_passage(world: CrawlOnSite) -> None:
    """Title, passage with the words marked, score by the judge as it is now, label, and times."""
    world.label(HOME + "b", True)
    answer = world.get("search", q="polyps")
    assert (1, False, 3) == (answer["total"], answer["loosened"], answer["pages"])
    (hit,) = answer["hits"]
    assert (1, HOME + "a", "Coral", "reef.test", "en") == (
        hit["rank"], hit["url"], hit["title"], hit["host"], hit["language"],
    )  # fmt: skip
    assert ["polyps"] == [hit["snippet"][start:end] for start, end in hit["spans"]]
    assert (None, "stands", EPOCH + 3 * 86_400) == (hit["label"], hit["standing"], hit["changed"])
    assert hit["score"] == next(page["score"] for page in world.get("pages")["pages"] if page["url"] == HOME + "a")
    assert "yes" == world.get("search", q="riffe")["hits"][0]["label"]


def test_filters(world: CrawlOnSite) -> None:
    """By host, language, day, change and label; and further down the list."""
    everything = names(world)
    assert {"a", "b", "c"} == set(everything)
    assert ["c"] == names(world, host="other.test")
    assert ["b"] == names(world, language="de")
    assert ["c"] == names(world, since="2026-01-03", until="2026-01-03")
    assert ["a"] == names(world, changed=True)
    assert everything[1:] == names(world, offset=1)
    assert everything[:1] == names(world, limit=1)
    assert [2, 3] == [hit["rank"] for hit in world.get("search", q="coral", offset=1)["hits"]]
    world.label(HOME + "a", False)
    world.label(HOME + "b", True)
    assert [["b"], ["a"], ["c"]] == [names(world, labelled=word) for word in ("yes", "no", "none")]
    assert {"a", "b"} == set(names(world, labelled="any"))
    assert 2 == world.get("search", q="coral", labelled="any", limit=1)["total"]


def test_what_comes_in_meanwhile_is_found(world: CrawlOnSite) -> None:
    """A search sees pages that were fetched after the one before."""
    assert [] == names(world, q="anemone")
    crawl = world.record_again()
    crawl.page(HOME + "d", html("Anemones", "an anemone"), 4.0)
    crawl.close()
    assert ["d"] == names(world, q="anemone")


def test_a_crawl_that_has_not_begun(site: SiteUnderTest) -> None:
    """There is nothing to search, and that is no error."""
    made = crawl_on_site(site)
    assert {"total": 0, "loosened": False, "pages": 0, "behind": 0, "hits": []} == made.get("search", q="coral")


def test_a_large_index_is_made_beside_the_request(world: CrawlOnSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks too early hears of what is indexed, and how much is not; the index is made once, then it is there."""
    begin, made = threading.Event(), list[object]()
    index = module._index

    def slow(cached: CachedView) -> None:
        made.append(cached)
        begin.wait(120)
        index(cached)

    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setattr(module, "_index", slow)
    assert world.get("search", q="coral")["behind"] > 0
    world.get("search", q="coral")
    begin.set()
    monkeypatch.setattr(module, "PATIENCE", 120.0)
    assert {"a", "b", "c"} == set(names(world))
    assert 1 == len(made)


def test_nothing_to_search_for(world: CrawlOnSite) -> None:
    """What asks for no word is a 422."""
    for q in ("", " ", "-only", "a\0b", "\x1b", '"', "*"):
        assert 422 == world.status("search", q=q), q


def test_a_damaged_log_is_told(world: CrawlOnSite) -> None:
    """A directory that can't be read is an answer of its own, and no bug."""
    (world.directory / "log.sqlite").write_bytes(b"no database at all" * 100)
    answer = world.client.get(f"{API}/crawls/{world.crawl}/search", params={"q": "coral"})
    assert (503, True) == (answer.status_code, "contact the administrator" in answer.text)
    assert 503 == world.status("pages")
