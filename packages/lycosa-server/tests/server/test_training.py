"""Training of models on crawls and labels."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crawl_on_site import SETTINGS, CrawlOnSite
from lycosa_server import training
from lycosa_server.people import models, suggestions
from revisited_crawl import html
from site_maker import API, SiteUnderTest


def upload(client: Any, content: bytes, name: str = "mine") -> Any:
    return client.post(f"{API}/models", files={"file": ("some.model", content)}, data={"name": name})


def wish(client: Any, **settings: Any) -> Any:
    wished = {"words": "", "seeds": ["http://reef.test/"], **settings}
    return client.post(f"{API}/interests", json={"name": "Reefs", "settings": wished})


@pytest.fixture
def crawl(site: SiteUnderTest) -> CrawlOnSite:
    """Write a crawl with five pages on reefs, five on trains, and a page that links to all."""
    ada = site.sign_up("Ada")
    interest = ada.post(f"{API}/interests", json={"name": "Reefs", "settings": SETTINGS}).json()["id"]
    made = CrawlOnSite(site, ada, interest, "crawl-of-ada")
    about = {"id": made.crawl, "interest": interest, "number": 1, "task": "crawl", "wanted": "run"}
    site.database.insert("crawl", {**about, "state": "finished", "budget": 50, "created": 0.0, "queued": 0.0})
    crawl = made.record()
    every = [f"http://reef.test/{kind}{n}" for kind in ("reef", "rail") for n in range(5)]
    crawl.page("http://reef.test/", html("Start", "a list of every garden and platform"), links=every)
    for url in every:
        words = "coral polyps lagoon" if "reef.test/reef" in url else "timetable platform engine"
        crawl.page(url, html(url[-5:], f"{words} {url[-1]} garden"))
    crawl.close()
    return made


def train(crawl: CrawlOnSite, monkeypatch: pytest.MonkeyPatch, **asked: Any) -> dict[str, Any]:
    """Request training and run it in this process."""

    def here(module: str, result: dict[str, Any], *_: Any) -> Any:
        return json.loads(json.dumps(training.work(json.loads(json.dumps(result)))))

    monkeypatch.setattr(training.child, "run", here)
    answer = crawl.client.post(f"{API}/models/train", json={"name": "taught", "interests": [crawl.interest], **asked})
    assert (201, "queued") == (answer.status_code, answer.json()["state"]), answer.text
    row = models.take_queued(crawl.site.database)
    assert row is not None
    training.TrainingQueue(crawl.site.settings, crawl.site.database).train(row)
    result: dict[str, Any] = crawl.client.get(f"{API}/models/{row['id']}").json()
    return result


def say(crawl: CrawlOnSite, number: int, yes: str, no: str) -> None:
    for n in range(number):
        for kind, label in ((yes, "yes"), (no, "no")):
            body = {"url": f"http://reef.test/{kind}{n}", "label": label}
            assert 200 == crawl.client.put(f"{API}/interests/{crawl.interest}/feedback", json=body).status_code


def test_train_uses_labels_and_opened_pages(crawl: CrawlOnSite, monkeypatch: pytest.MonkeyPatch) -> None:
    say(crawl, 3, "reef", "rail")
    database, owner = crawl.site.database, crawl.site.database.rows("SELECT id FROM person")[0]["id"]
    for url in ("reef3", "reef3", "reef4"):
        suggestions.record_opened(database, 0.0, crawl.interest, owner, f"http://reef.test/{url}")
    model = train(crawl, monkeypatch, kind="classifier")
    assert ("ready", {"irrelevant": 3, "relevant": 4}) == (model["state"], model["about"]["classes"]), model
    made = wish(crawl.client, model=model["id"], strategy="soft-focus")
    assert (201, ["relevant"]) == (made.status_code, made.json()["settings"]["targets"]), made.text
    learned = train(crawl, monkeypatch, kind="rules", model=model["id"])
    assert ("ready", True) == (learned["state"], learned["about"]["rules"] > 0), learned
    browsed = train(crawl, monkeypatch, kind="browsing")
    assert ("ready", 11) == (browsed["state"], browsed["about"]["pages"]), browsed
    for strategy in ("hmm", "hybrid-anchor", "context-graph"):
        made = wish(crawl.client, words="coral", strategy=strategy, strategy_model=browsed["id"])
        assert 201 == made.status_code, made.text


@pytest.mark.paper("rules-marking")
def test_train_uses_selected_topics(crawl: CrawlOnSite, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        f"http://reef.test/{kind}{n}\t{topic}"
        for kind, topic in (("reef", "Sea/Reefs"), ("rail", "Rail"))
        for n in range(9)
    ]
    listed = upload(crawl.client, "\n".join(rows).encode()).json()
    assert {"topics": 3, "pages": 18} == listed["about"]
    shown = crawl.client.get(f"{API}/models/{listed['id']}/topics", params={"under": "Rail"}).json()
    assert [f"http://reef.test/rail{n}" for n in range(9)] == shown["pages"]
    asked = {
        "name": "c",
        "kind": "classifier",
        "interests": [crawl.interest],
        "directory": listed["id"],
        "topics": ["Sky"],
    }
    result = crawl.client.post(f"{API}/models/train", json=asked)
    assert (422, True) == (result.status_code, "no class 'Sky'" in result.text)
    model = train(crawl, monkeypatch, kind="classifier", directory=listed["id"], topics=["Sea", "Rail"])
    assert {"Rail": 5, "Sea/Reefs": 5} == model["about"]["classes"], model


def test_train_failure_has_reason(crawl: CrawlOnSite, monkeypatch: pytest.MonkeyPatch) -> None:
    model = train(crawl, monkeypatch, kind="classifier")
    assert ("failed", True) == (model["state"], "label some pages first" in model["reason"])
    assert not (crawl.site.settings.data / "models").exists()
    assert not (crawl.site.settings.data / "training").exists()
