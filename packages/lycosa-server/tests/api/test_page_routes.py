from __future__ import annotations

import json
from typing import Any

import pytest

from crawl_on_site import CrawlOnSite, crawl_on_site
from lycosa.core.types import Links, Visit
from lycosa_server import results
from revisited_crawl import DAY, EPOCH, html
from site_maker import API, SiteUnderTest

HOME = "http://reef.test/"
CORAL, SPONGE, TRAIN, COPY = (HOME + name for name in ("coral", "sponge", "train", "copy"))


@pytest.fixture
def world(site: SiteUnderTest) -> CrawlOnSite:
    """Return a site with a crawl of two relevant pages (the first has changed), an irrelevant one, and a copy."""
    made = crawl_on_site(site)
    with_pages(made)
    return made


def with_pages(made: CrawlOnSite) -> None:
    crawl = made.record()
    crawl.seed(CORAL)
    first = html("Coral", "coral polyps build reefs")
    crawl.page(CORAL, first, 0.0, relevance=0.9, links=[SPONGE, TRAIN, COPY])
    crawl.page(
        SPONGE,
        html("Sponges", "sponges live beside coral coral, coral and coral"),
        1.0,
        relevance=0.6,
        priority=0.4,
        language="de-AT",
    )
    crawl.page(TRAIN, html("Trains", "rails and engines"), 2.0, relevance=0.05)
    crawl.page(COPY, first, 3.0, relevance=0.9, same_as=CORAL)
    crawl.changed(CORAL, html("Coral", "coral polyps build reefs, and <b>bleach</b>"), 4.0, relevance=0.8)
    crawl.close()


def urls(world: CrawlOnSite, **given: object) -> list[str]:
    return [page["url"].removeprefix(HOME) for page in world.get("pages", **given)["pages"]]


def test_pages_have_all_fields(world: CrawlOnSite) -> None:
    world.label(SPONGE, True)
    answer = world.get("pages", order="frequency")
    assert (2, 0.2, True) == (answer["total"], answer["threshold"], answer["has_labels"])
    by_url = {page["url"]: page for page in answer["pages"]}
    page = by_url[SPONGE]
    assert page["relevance"] >= 0.6
    assert (0.6, "yes", True, 4) == (page["relevance_when_fetched"], page["label"], page["relevant"], page["frequency"])
    assert ("Sponges", "reef.test", "de-AT", EPOCH + DAY) == (
        page["title"], page["host"], page["language"], page["fetched"],
    )  # fmt: skip
    assert (None, "stands") == (page["changed"], page["standing"])
    assert "sponges live beside coral" in page["excerpt"]
    assert {
        "kind": "link",
        "parent": CORAL,
        "parent_title": "Coral",
        "anchor": f"to {SPONGE}",
        "priority": 0.4,
    } == page["why"]
    assert EPOCH + 4 * DAY == by_url[CORAL]["changed"]
    assert "seed" == by_url[CORAL]["why"]["kind"]


def test_pages_orders_and_filters(world: CrawlOnSite) -> None:
    assert ["coral", "sponge"] == urls(world)
    assert ["sponge", "coral"] == urls(world, order="frequency")
    assert ["coral", "sponge"] == urls(world, order="date")
    assert ["train"] == urls(world, relevant=False)
    assert ["sponge"] == urls(world, language="de")
    assert [] == urls(world, host="other.test")
    assert ["coral", "sponge"] == urls(world, host="test")
    assert ["coral"] == urls(world, changed=True)
    assert ["coral"] == urls(world, since="2026-01-03")
    assert ["sponge"] == urls(world, until="2026-01-02")
    assert ["sponge"] == urls(world, offset=1)
    assert ["coral"] == urls(world, limit=1)
    assert [] == urls(world, offset=1_000_000)


def test_labels_override_judge_in_pages(world: CrawlOnSite) -> None:
    world.label(CORAL, False)
    world.label(TRAIN, True)
    assert {"train", "sponge"} == set(urls(world))
    assert ["train"] == urls(world, labelled="yes")
    assert ["coral"] == urls(world, labelled="no")
    assert {"train", "coral"} == set(urls(world, labelled="any"))
    assert ["sponge"] == urls(world, labelled="none")


def test_note_opened_counts_per_page(world: CrawlOnSite) -> None:
    for _ in range(2):
        answer = world.client.post(f"{API}/crawls/{world.crawl}/opened", json={"url": CORAL})
        assert 204 == answer.status_code
    rows = world.site.database.rows("SELECT url, times FROM opened")
    assert [{"url": CORAL, "times": 2}] == rows


def test_note_opened_respects_preference(world: CrawlOnSite) -> None:
    assert 200 == world.client.patch(f"{API}/me", json={"preferences": {"history": False}}).status_code
    assert 204 == world.client.post(f"{API}/crawls/{world.crawl}/opened", json={"url": CORAL}).status_code
    assert [] == world.site.database.rows("SELECT url FROM opened")


def test_note_opened_refuses_unknown_pages(world: CrawlOnSite) -> None:
    for url in ("http://reef.test/unknown", "\ud800", "a\0b", "", "x" * 5_000, "mailto:a@b"):
        answer = world.client.post(f"{API}/crawls/{world.crawl}/opened", content=json.dumps({"url": url}))
        assert answer.status_code in (404, 422), answer.text
    assert [] == world.site.database.rows("SELECT url FROM opened")


def test_page_has_versions_links_and_terms(world: CrawlOnSite) -> None:
    page = world.get("page", url=CORAL)
    assert [("new", ""), ("changed", "text")] == [(one["what"], one["kind"]) for one in page["versions"]]
    assert page["versions"][1]["seq"] == page["seq"]
    assert [] == page["links"]  # links of the current version
    assert {"coral", "polyp"} <= {term["term"] for term in page["terms"]}
    assert 3 == {term["term"]: term["count"] for term in page["terms"]}["coral"]
    world.label(CORAL, False)
    assert "no" == world.get("page", url=CORAL)["label"]
    assert 404 == world.status("page", url=HOME + "nothing")


def test_page_links_have_states(world: CrawlOnSite) -> None:
    crawl = world.record_again()
    crawl.page(HOME + "hub", html("Hub", "coral"), 5.0, links=[CORAL, HOME + "later"])
    crawl.close()
    states = {link["url"]: link["state"] for link in world.get("page", url=HOME + "hub")["links"]}
    assert {CORAL: "fetched", HOME + "later": "not fetched"} == states


def test_reader_shows_each_version(world: CrawlOnSite) -> None:
    answer = world.client.get(f"{API}/crawls/{world.crawl}/reader", params={"url": CORAL})
    assert 200 == answer.status_code
    assert "<strong>bleach</strong>" in answer.text
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "allow-scripts" not in answer.headers["content-security-policy"]
    assert "x-frame-options" not in answer.headers
    assert ("nosniff", "no-referrer") == (answer.headers["x-content-type-options"], answer.headers["referrer-policy"])
    old, new = world.get("page", url=CORAL)["versions"]
    text = world.client.get(f"{API}/crawls/{world.crawl}/reader", params={"url": CORAL, "version": old["seq"]}).text
    assert "coral polyps build reefs" in text
    assert "bleach" not in text
    assert 404 == world.status("reader", url=CORAL, version=10_000)
    assert 404 == world.status("reader", url=SPONGE, version=new["seq"])
    assert 404 == world.status("reader", url=HOME + "nothing")


def test_reader_without_archive_shows_message(world: CrawlOnSite) -> None:
    for file in (world.directory / "archive").iterdir():
        file.unlink()
    answer = world.client.get(f"{API}/crawls/{world.crawl}/reader", params={"url": CORAL})
    assert (200, True) == (answer.status_code, "Nothing readable is archived" in answer.text)
    assert ["", ""] == [page["excerpt"] for page in world.get("pages")["pages"]]


def test_pages_of_crawl_that_has_not_started_are_empty(site: SiteUnderTest) -> None:
    made = crawl_on_site(site)
    data = made.get("pages", order="frequency")
    assert {"total": 0, "threshold": 0.0, "has_labels": False, "pages": []}.items() <= data.items()
    assert "0 of 0 pages relevant" == data["estimate"]["text"]
    assert 404 == made.status("page", url=CORAL)
    assert 404 == made.status("reader", url=CORAL)


def test_pages_refuse_invalid_parameters(world: CrawlOnSite) -> None:
    asked: list[tuple[dict[str, Any], str]] = [
        ({"since": "yesterday"}, "day"),
        ({"since": "2026-02-01", "until": "2026-01-01"}, "swap"),
        ({"host": "a b"}, "host"),
        ({"host": "x\x7f"}, "unprintable"),
        ({"order": "best"}, "order"),
        ({"limit": 0}, "limit"),
        ({"limit": 10**30}, "limit"),
        ({"offset": -1}, "offset"),
        ({"labelled": "maybe"}, "labelled"),
    ]
    for given, data in asked:
        answer = world.client.get(f"{API}/crawls/{world.crawl}/pages", params=given)
        assert (422, True) == (answer.status_code, data in answer.text), (given, answer.text)
        assert "--" not in answer.text  # web users have no command line


def test_excerpts_beyond_time_limit_are_sent_later(world: CrawlOnSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MAX_EXCERPT_SECONDS", -1.0)
    assert [None, None] == [page["excerpt"] for page in world.get("pages")["pages"]]
    monkeypatch.setattr(results, "MAX_EXCERPT_SECONDS", 60.0)
    first = [page["excerpt"] for page in world.get("pages")["pages"]]
    monkeypatch.setattr(results, "MAX_EXCERPT_SECONDS", -1.0)
    assert first == [page["excerpt"] for page in world.get("pages")["pages"]]
    assert all(first)


def test_pages_with_hostile_text_are_cleaned(world: CrawlOnSite) -> None:
    crawl = world.record_again()
    links = Links.to(HOME + "hub", anchors=["\ud800 <script>"])
    crawl.log.append(Visit(HOME + "odd", "page", "ok", 9, started=EPOCH, links=links))
    crawl.page(HOME + "hub", html("Hub", "coral"), 7.0, title="\udfff<b>\x00", language="e\ud800", parent=HOME + "odd")
    crawl.close()
    page = world.get("page", url=HOME + "hub")
    assert ("<b>", "e", "<script>") == (page["title"], page["language"], page["why"]["anchor"])


def test_unreadable_options_are_503(world: CrawlOnSite) -> None:
    (world.directory / "crawl.toml").write_text("[[[")
    for path in ("pages", f"page?url={CORAL}", f"reader?url={CORAL}"):
        answer = world.client.get(f"{API}/crawls/{world.crawl}/{path}")
        assert (503, True) == (answer.status_code, "contact the administrator" in answer.text)
