"""The API of suggestions."""

from __future__ import annotations

from typing import Any

from site_maker import API, SiteUnderTest
from taught_crawl import crawled, make_interest, reefs_and_trains

REEF = "http://reefs.example/reef{}"


def liked(site: SiteUnderTest, client: Any, words: str = "coral") -> str:
    """Create an interest with a crawl and three labelled pages."""
    reefs = make_interest(client, words=words)
    crawled(site, reefs, reefs_and_trains(), judge="vector")
    for n in range(3):
        answer = client.put(f"{API}/interests/{reefs}/feedback", json={"url": REEF.format(n), "label": "yes"})
        assert 200 == answer.status_code, answer.text
    return reefs


def suggested(client: Any, interest: str) -> Any:
    answer = client.get(f"{API}/interests/{interest}/suggestions")
    assert 200 == answer.status_code, answer.text
    return answer.json()


def say(client: Any, interest: str, kind: str, value: str, answer: str) -> int:
    body = {"kind": kind, "value": value, "answer": answer}
    return int(client.post(f"{API}/interests/{interest}/suggestions", json=body).status_code)


def test_suggestions_have_reasons(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    data = suggested(ada, liked(site, ada))
    why = {idea["url"]: idea["why"] for idea in data["seeds"]}
    assert (
        "links to 3 pages you labelled yes, of 4 fetched pages that it links to" == (why["http://start.example/reefs"])
    )
    assert "3 pages you labelled yes, of 4 fetched from reefs.example" == (why["http://reefs.example/"])
    assert "http://start.example/" not in why
    assert data["allowed"]


def test_suggested_words_are_spelled_as_on_pages(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    pages = reefs_and_trains()
    for n in range(4):  # titles are the last part of URLs, as there is no archive
        text, links = pages.pop(REEF.format(n))
        pages[f"http://reefs.example/{n}/Polyps"] = (text, links)
    hub, _ = pages["http://start.example/reefs"]
    pages["http://start.example/reefs"] = (hub, [f"http://reefs.example/{n}/Polyps" for n in range(4)])
    reefs = make_interest(ada)
    crawled(site, reefs, pages)
    for n in range(3):
        ada.put(f"{API}/interests/{reefs}/feedback", json={"url": f"http://reefs.example/{n}/Polyps", "label": "yes"})
    [term] = suggested(ada, reefs)["terms"]
    assert ("polyps", "on 3 of 3 pages you liked, on 1 of 16 others") == (term["term"], term["why"])
    assert 204 == say(ada, reefs, "term", "polyps", "accepted")
    assert "coral polyps" == ada.get(f"{API}/interests/{reefs}").json()["settings"]["words"]
    assert [] == suggested(ada, reefs)["terms"]


def test_answered_suggestions_never_return(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = liked(site, ada)
    assert 204 == say(ada, reefs, "seed", "http://start.example/reefs", "accepted")
    assert 204 == say(ada, reefs, "seed", "http://reefs.example/", "dismissed")
    settings = ada.get(f"{API}/interests/{reefs}").json()["settings"]
    assert ["http://start.example/", "http://start.example/reefs"] == settings["seeds"]
    left = {idea["url"] for idea in suggested(ada, reefs)["seeds"]}
    assert not left & {"http://start.example/reefs", "http://reefs.example/"}
    assert 422 == say(ada, reefs, "seed", "http://reefs.example/", "accepted")
    assert 422 == say(ada, reefs, "seed", "http://evil.example/", "accepted")


def test_suggestions_follow_shares(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("Ada"), site.sign_up("Bob")
    reefs = liked(site, ada)
    assert 404 == bob.get(f"{API}/interests/{reefs}/suggestions").status_code
    assert 404 == say(bob, reefs, "seed", "http://reefs.example/", "accepted")
    ada.put(f"{API}/interests/{reefs}/shares", json={"name": "Bob", "mode": "read"})
    assert suggested(bob, reefs)["seeds"]
    assert 403 == say(bob, reefs, "seed", "http://reefs.example/", "accepted")


def test_suggestions_can_be_turned_off(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("Ada"), site.sign_up("Bob")
    reefs = liked(site, ada)
    ada.put(f"{API}/interests/{reefs}/shares", json={"name": "Bob", "mode": "read"})
    assert 200 == ada.patch(f"{API}/me", json={"preferences": {"suggestions": False}}).status_code
    assert {"allowed": False, "seeds": [], "terms": []} == suggested(ada, reefs)
    assert 422 == say(ada, reefs, "seed", "http://reefs.example/", "accepted")
    assert suggested(bob, reefs)["seeds"]


def test_suggestions_use_opened_pages_with_consent(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = make_interest(ada)
    crawled(site, reefs, reefs_and_trains(), judge="vector")
    for n in range(4):
        row = {"interest": reefs, "person": site.id_of(ada), "url": REEF.format(n), "times": 3, "at": 1.0}
        site.database.insert("opened", row)
    why = {idea["url"]: idea["why"] for idea in suggested(ada, reefs)["seeds"]}
    assert "4 that you opened more than once, of 4 fetched from reefs.example" == why["http://reefs.example/"]
    site.database.run("UPDATE person SET preferences = '{\"history\": false}'")
    assert "opened" not in str(suggested(ada, reefs))


def test_suggestions_without_crawl_are_empty(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = make_interest(ada)
    assert {"allowed": True, "seeds": [], "terms": []} == suggested(ada, reefs)
