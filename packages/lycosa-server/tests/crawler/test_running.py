"""Judging again by threshold, words and labels, with consistent counts everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crawl_on_site import CrawlOnSite, crawl_on_site
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.judging import judge
from lycosa.collection.summary import summarise
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog, current_labels
from lycosa_server import results
from lycosa_server.crawler.running import judge_again
from lycosa_server.people import crawls, feedback
from lycosa_server.people.database import Row
from revisited_crawl import html
from site_maker import API, SiteUnderTest
from taught_crawl import crawled, make_interest, reefs_and_trains

HOME = "http://reef.test/"
CORAL, SPONGE, TRAIN = (HOME + name for name in ("coral", "sponge", "train"))
REEF, RAIL = "http://reefs.example/reef{}", "http://rails.example/train{}"


@pytest.fixture
def plain(site: SiteUnderTest) -> CrawlOnSite:
    """Write a crawl with relevances .9, .6 and .05, and the threshold .2."""
    made = crawl_on_site(site)
    crawl = made.record()
    crawl.seed(CORAL)
    crawl.page(CORAL, html("Coral", "coral polyps build reefs"), 0.0, relevance=0.9, links=[SPONGE, TRAIN])
    crawl.page(SPONGE, html("Sponges", "sponges live beside coral"), 1.0, relevance=0.6)
    crawl.page(TRAIN, html("Trains", "rails and engines"), 2.0, relevance=0.05)
    crawl.close()
    return made


def urls(answer: Any) -> list[str]:
    return [page["url"] for page in answer["pages"]]


def row_of(site: SiteUnderTest, interest: str) -> Row:
    """Return the row of the newest crawl, as read by the crawl process."""
    [row] = [row for row in crawls.to_judge(site.database) if row["interest"] == interest] or [None]
    assert row is not None
    return row


def work(site: SiteUnderTest, interest: str) -> None:
    """Judge again, as the crawl process does."""
    row = row_of(site, interest)
    labels = feedback.after(site.database, interest, row["last_label"])
    relevant = judge_again(site.settings.crawl_directory(row["id"]), row, labels, site.clock())
    crawls.record_judged(
        site.database, row["id"], row["judge_requests"], relevant, int(labels[-1].by) if labels else row["last_label"]
    )


def test_threshold_preview_changes_nothing(plain: CrawlOnSite) -> None:
    before = plain.get("pages")
    assert (2, 0.2, 0.2, False) == tuple(
        before[key] for key in ("total", "threshold", "crawl_threshold", "probability")
    )
    assert "2 of 3 pages relevant" == before["estimate"]["text"]
    higher = plain.get("pages", threshold=0.7)
    assert ([CORAL], 0.7, 0.2, 1) == (
        urls(higher), higher["threshold"], higher["crawl_threshold"], higher["estimate"]["relevant"],
    )  # fmt: skip
    assert [CORAL, SPONGE, TRAIN] == urls(plain.get("pages", threshold=0))
    assert [SPONGE, TRAIN] == urls(plain.get("pages", threshold=0.7, relevant=False))
    assert before == plain.get("pages")
    for nonsense in ("-1", "nan", "high", "inf"):
        assert 422 == plain.status("pages", threshold=nonsense)


def test_labels_override_any_threshold(plain: CrawlOnSite) -> None:
    plain.label(TRAIN, True)
    plain.label(CORAL, False)
    for threshold in (0.1, 0.5, 0.99):
        data = plain.get("pages", threshold=threshold)
        assert TRAIN in urls(data)
        assert CORAL not in urls(data)
        assert data["total"] == data["estimate"]["relevant"]


def test_export_applies_given_threshold(plain: CrawlOnSite) -> None:
    for threshold, expected in ((0.7, [CORAL]), (0.2, [CORAL, SPONGE])):
        lines = plain.client.get(f"{API}/crawls/{plain.crawl}/export", params={"threshold": threshold}).text
        assert expected == [json.loads(line)["url"] for line in lines.splitlines()]


def test_unsure_lists_unlabelled_pages_near_threshold(plain: CrawlOnSite) -> None:
    ask = plain.client.get(f"{API}/crawls/{plain.crawl}/unsure")
    assert [TRAIN, SPONGE, CORAL] == [page["url"] for page in ask.json()]
    plain.label(TRAIN, False)
    left = plain.client.get(f"{API}/crawls/{plain.crawl}/unsure", params={"limit": 1}).json()
    assert [SPONGE] == [page["url"] for page in left]
    assert {"relevance", "excerpt", "why", "label"} <= set(left[0])


def test_judge_again_without_pages_does_nothing(site: SiteUnderTest) -> None:
    made = crawl_on_site(site)
    assert [] == made.get("unsure")
    assert 202 == made.client.post(f"{API}/interests/{made.interest}/judge").status_code
    assert judge_again(made.directory, row_of(made.site, made.interest), [], 0.0) is None


def test_counts_agree_between_api_summary_and_judge(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = make_interest(ada, words="coral lagoon")
    path = crawled(site, reefs, reefs_and_trains(), words="coral lagoon")
    crawl = path.name

    def data(**given: Any) -> tuple[int, str]:
        answer = ada.get(f"{API}/crawls/{crawl}/pages", params={"limit": 200, **given}).json()
        assert answer["total"] == len(answer["pages"]) == answer["estimate"]["relevant"]
        return answer["total"], answer["estimate"]["text"]

    def shown(threshold: float | None = None) -> tuple[int, str]:
        made = summarise(path, threshold=threshold)
        with CrawlDirectory(path, threshold) as collection:
            assert made.estimate.relevant == made.relevant_pages.sum() == len(list(collection.relevant()))
        return made.estimate.relevant, made.estimate.description

    assert data() == shown()
    for threshold in (0.02, 0.3, 0.6, 0.9):
        assert data(threshold=threshold) == shown(threshold)
        assert judge(path, threshold=threshold).after.relevant == data(threshold=threshold)[0]
    for url, label in ((REEF.format(0), "yes"), (RAIL.format(0), "no")):
        answer = ada.put(f"{API}/interests/{reefs}/feedback", json={"url": url, "label": label})
        assert 200 == answer.status_code, answer.text
    assert "labels" == ada.get(f"{API}/crawls/{crawl}").json()["judging"]
    work(site, reefs)
    assert data() == shown()
    assert {REEF.format(0): True, RAIL.format(0): False} == labels_in_log(path)
    row = ada.get(f"{API}/crawls/{crawl}").json()
    assert (data()[0], 2, "", "") == (row["relevant"], row["labels_learned"], row["judging"], row["judging_failed"])
    assert judge(path, threshold=Directory.read_options(path).threshold or None).after.relevant == data()[0]
    pages = ada.get(f"{API}/crawls/{crawl}/pages", params={"limit": 200}).json()["pages"]
    with CrawlDirectory(path) as collection:
        relevances_now = {visit.node: visit.relevance_now for visit in collection.relevant()}
    assert pytest.approx(relevances_now, abs=1e-6) == {page["url"]: page["relevance"] for page in pages}


def labels_in_log(path: Path) -> dict[str, bool]:
    log = SqliteLog(path / NAME, readonly=True)
    try:
        return current_labels(log)
    finally:
        log.close()


def test_threshold_is_saved_and_applied(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = make_interest(ada, words="coral lagoon")
    path = crawled(site, reefs, reefs_and_trains(), words="coral lagoon")
    would = ada.get(f"{API}/crawls/{path.name}/pages", params={"threshold": 0.01}).json()
    changed = ada.patch(f"{API}/interests/{reefs}", json={"threshold": 0.01})
    assert (200, 0.01, "coral lagoon") == (
        changed.status_code, changed.json()["settings"]["threshold"], changed.json()["settings"]["words"],
    )  # fmt: skip
    assert "threshold" == changed.json()["crawl"]["judging"]
    work(site, reefs)
    now = ada.get(f"{API}/crawls/{path.name}/pages").json()
    assert (would["total"], 0.01) == (now["total"], now["crawl_threshold"])
    crawl = ada.get(f"{API}/interests/{reefs}").json()["crawl"]
    assert (would["total"], "") == (crawl["relevant"], crawl["judging"])
    assert 0.01 == Directory.read_options(path).threshold
    assert 422 == ada.patch(f"{API}/interests/{reefs}", json={"threshold": -1}).status_code


def test_judge_again_applies_new_words_on_request(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = make_interest(ada, words="coral lagoon")
    path = crawled(site, reefs, reefs_and_trains(), words="coral lagoon")
    place = f"{API}/crawls/{path.name}/pages"
    before = ada.get(place).json()
    settings = {**ada.get(f"{API}/interests/{reefs}").json()["settings"], "words": "timetable engine"}
    assert 200 == ada.patch(f"{API}/interests/{reefs}", json={"settings": settings}).status_code
    assert before == ada.get(place).json()
    assert "" == ada.get(f"{API}/crawls/{path.name}").json()["judging"]
    asked = ada.post(f"{API}/interests/{reefs}/judge")
    assert (202, "topic") == (asked.status_code, asked.json()["crawl"]["judging"])
    work(site, reefs)
    pages = ada.get(place, params={"limit": 200, "threshold": 0.01}).json()["pages"]
    urls = [page["url"] for page in pages]
    # The start page comes first: a seed is an example whatever the words are.
    assert "start" in urls[0]
    assert {RAIL.format(n) for n in range(4)} <= set(urls[:6])
    assert set(urls[1:3]) < {RAIL.format(n) for n in range(4)}
    assert not any("reef" in url for url in urls if "start" not in url)
    ranked = ada.get(place, params={"order": "frequency", "threshold": 0.01}).json()["pages"]
    assert [2] * 4 == [page["frequency"] for page in ranked[:4]]
    assert "timetable engine" == Directory.read_options(path).topic
    audit = site.database.rows("SELECT subject FROM audit WHERE action = 'pages judged again'")
    assert [{"subject": reefs}] == audit


def test_judge_again_failure_is_reported(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = make_interest(ada, words="coral", examples=["http://elsewhere.example/"])
    path = crawled(site, reefs, reefs_and_trains())
    ada.post(f"{API}/interests/{reefs}/judge")
    row = row_of(site, reefs)
    with pytest.raises(Exception, match="judging fetches nothing"):
        judge_again(path, row, [], 0.0)
    crawls.record_judged(site.database, row["id"], row["judge_requests"], failed="no such example")
    data = ada.get(f"{API}/crawls/{path.name}").json()
    assert ("", "no such example") == (data["judging"], data["judging_failed"])


def test_judging_requests_are_merged_and_never_lost(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = make_interest(ada)
    path = crawled(site, reefs, reefs_and_trains())
    for what, expected in (("labels", "labels"), ("topic", "topic"), ("threshold", "topic"), ("labels", "topic")):
        crawls.request_judging(site.database, reefs, what)
        assert expected == row_of(site, reefs)["judging"]
    first = row_of(site, reefs)["judge_requests"]
    crawls.request_judging(site.database, reefs, "labels")
    crawls.record_judged(site.database, path.name, first, 3, 1)
    assert ("topic", 3) == (row_of(site, reefs)["judging"], row_of(site, reefs)["relevant"])
    crawls.record_judged(site.database, path.name, first + 1)
    assert [] == crawls.to_judge(site.database)
    crawls.record_judged(site.database, "gone", 1)


def test_judging_access_follows_shares(site: SiteUnderTest) -> None:
    ada, bob, eve, mallory = (site.sign_up(name) for name in ("Ada", "Bob", "Eve", "Mallory"))
    reefs = make_interest(ada)
    path = crawled(site, reefs, reefs_and_trains())
    for name, mode in (("Bob", "read"), ("Eve", "edit")):
        ada.put(f"{API}/interests/{reefs}/shares", json={"name": name, "mode": mode})
    people = (bob, eve, mallory)
    pages, unsure = f"{API}/crawls/{path.name}/pages?threshold=.4", f"{API}/crawls/{path.name}/unsure"
    assert [200, 200, 404] == [client.get(pages).status_code for client in people]
    assert [200, 200, 404] == [client.get(unsure).status_code for client in people]
    keep = {"threshold": 0.4}
    assert [403, 200, 404] == [client.patch(f"{API}/interests/{reefs}", json=keep).status_code for client in people]
    assert [403, 202, 404] == [client.post(f"{API}/interests/{reefs}/judge").status_code for client in people]
    weak = site.token(ada, ["read", "feedback"])
    assert 403 == weak.post(f"{API}/interests/{reefs}/judge").status_code
    assert 403 == weak.patch(f"{API}/interests/{reefs}", json=keep).status_code


def test_label_keeps_judge_and_threshold(site: SiteUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MAX_EXCERPT_SECONDS", 60.0)  # enough for all excerpts on a busy machine
    ada = site.sign_up("Ada")
    reefs = make_interest(ada)
    path = crawled(site, reefs, reefs_and_trains(), judge="vector")
    before = ada.get(f"{API}/crawls/{path.name}/pages").json()
    assert (0.1, False) == (before["crawl_threshold"], before["probability"])
    ada.put(f"{API}/interests/{reefs}/feedback", json={"url": before["pages"][0]["url"], "label": "no"})
    work(site, reefs)
    after = ada.get(f"{API}/crawls/{path.name}/pages").json()
    assert (0.1, False, before["total"] - 1) == (after["crawl_threshold"], after["probability"], after["total"])
    ada.put(f"{API}/interests/{reefs}/feedback", json={"url": before["pages"][0]["url"], "label": None})
    work(site, reefs)
    assert before == ada.get(f"{API}/crawls/{path.name}/pages").json()
    ada.put(f"{API}/interests/{reefs}/feedback", json={"url": before["pages"][0]["url"], "label": "no"})
    ada.patch(f"{API}/interests/{reefs}", json={"threshold": 0.05})
    work(site, reefs)
    last = ada.get(f"{API}/crawls/{path.name}/pages").json()
    assert (0.05, False) == (last["crawl_threshold"], last["probability"])
    assert before["pages"][0]["url"] not in urls(last)
