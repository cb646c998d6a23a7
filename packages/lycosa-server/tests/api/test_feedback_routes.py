"""The API of labels and their effect."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from lycosa.core.types import ModelUpdate
from lycosa.store.directory import Directory
from lycosa.store.log import VERSIONS
from site_maker import API, SiteUnderTest
from taught_crawl import crawled, make_interest, reefs_and_trains

REEF, TRAIN = "http://reefs.example/reef{}", "http://rails.example/train{}"


def test_put_feedback_sets_and_removes_labels(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = make_interest(ada)
    crawled(site, reefs, reefs_and_trains())
    place = f"{API}/interests/{reefs}/feedback"
    message = ada.put(place, json={"url": REEF.format(0), "label": "yes"})
    assert (200, "yes") == (message.status_code, message.json()["label"]), message.text
    site.clock.now += 1
    ada.put(place, json={"url": "HTTP://Rails.example/train0#top", "label": "no"})
    data = ada.get(place).json()
    assert [(TRAIN.format(0), "train0", "no", "Ada"), (REEF.format(0), "reef0", "yes", "Ada")] == [
        (one["url"], one["title"], one["label"], one["by"]) for one in data["labels"]
    ]
    assert site.clock.now == data["labels"][0]["at"]
    assert (1, 1) == (data["effect"]["yes"], data["effect"]["no"])
    back = ada.put(place, json={"url": TRAIN.format(0), "label": None}).json()
    assert (None, 0) == (back["label"], back["effect"]["no"])
    assert [REEF.format(0)] == [one["url"] for one in ada.get(place).json()["labels"]]


def test_effect_measures_precision_recall_and_accuracy(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = make_interest(ada)
    crawled(site, reefs, reefs_and_trains(), judge="vector")
    place = f"{API}/interests/{reefs}/feedback"
    nothing = ada.get(place).json()["effect"]
    assert (0, 0, None, None, []) == tuple(nothing[key] for key in ("yes", "no", "before", "after", "moved"))
    one = ada.put(place, json={"url": REEF.format(0), "label": "yes"}).json()["effect"]
    for side in ("before", "after"):
        assert (1.0, 1.0, 1.0) == tuple(one[side][key] for key in ("precision", "recall", "accuracy"))
    for n in range(3):
        ada.put(place, json={"url": TRAIN.format(n), "label": "yes"})
        effect = ada.put(place, json={"url": REEF.format(n), "label": "no"}).json()["effect"]
    for side in ("before", "after"):
        assert (0.5, 1.0, 0.5) == tuple(effect[side][key] for key in ("precision", "recall", "accuracy"))
        assert (6, 3, 6, 3) == tuple(effect[side][key] for key in ("labels", "yes", "judged_relevant", "agreed"))
    moved = {one["url"]: (one["before"], one["after"]) for one in effect["moved"]}
    assert all(then < now for url, (then, now) in moved.items() if url in map(REEF.format, range(3)))


def test_effect_uses_relevance_before_first_label(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = make_interest(ada)
    path = crawled(site, reefs, reefs_and_trains(), judge="vector")
    opened = Directory.open(path)
    log = opened.log()
    log.append(ModelUpdate("another", {}))  # by this update trains are relevant, and reefs are not
    log.store_relevances(np.array([0.9 * ("train" in node) for (node,) in log.rows("url", VERSIONS)]))
    log.close()
    opened.close()
    place = f"{API}/interests/{reefs}/feedback"
    ada.put(place, json={"url": TRAIN.format(0), "label": "no"})
    ada.put(place, json={"url": TRAIN.format(0), "label": "yes"})
    effect = ada.put(place, json={"url": REEF.format(0), "label": "no"}).json()["effect"]
    assert (0.5, 1.0) == (effect["before"]["accuracy"], effect["after"]["accuracy"])


def test_put_feedback_refuses_pages_never_fetched(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs, empty = make_interest(ada), make_interest(ada, "Empty")
    crawled(site, reefs, reefs_and_trains())
    for interest, url in ((reefs, "http://never.example/"), (empty, REEF.format(0)), (reefs, "no address")):
        answer = ada.put(f"{API}/interests/{interest}/feedback", json={"url": url, "label": "yes"})
        assert 422 == answer.status_code
        assert "has fetched" in answer.json()["detail"]


def test_put_feedback_refuses_invalid_bodies(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    place = f"{API}/interests/{make_interest(ada)}/feedback"
    bodies: list[dict[str, object]] = [
        {"url": "http://a.example/\x00", "label": "yes"},
        {"url": "http://a.example/\ud800", "label": None},
        {"url": "", "label": "yes"},
        {"url": "http://a.example/", "label": "maybe"},
        {"url": "http://a.example/"},
        {"url": "http://a.example/", "label": "yes", "more": 1},
    ]
    for body in bodies:
        sent: dict[str, Any] = {"content": json.dumps(body), "headers": {"Content-Type": "application/json"}}
        assert 422 == ada.put(place, **sent).status_code, body


def test_put_feedback_accepts_pages_of_older_crawls(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reefs = make_interest(ada)
    crawled(site, reefs, reefs_and_trains())
    crawled(site, reefs, {"http://start.example/": ("coral", [])}, number=2)
    answer = ada.put(f"{API}/interests/{reefs}/feedback", json={"url": REEF.format(1), "label": "yes"})
    assert (200, 1, None) == (answer.status_code, answer.json()["effect"]["yes"], answer.json()["effect"]["before"])


def test_feedback_access_follows_shares(site: SiteUnderTest) -> None:
    ada, bob, eve, mallory = (site.sign_up(name) for name in ("Ada", "Bob", "Eve", "Mallory"))
    reefs = make_interest(ada)
    crawled(site, reefs, reefs_and_trains())
    for name, mode in (("Bob", "read"), ("Eve", "edit")):
        ada.put(f"{API}/interests/{reefs}/shares", json={"name": name, "mode": mode})
    place, message = f"{API}/interests/{reefs}/feedback", {"url": REEF.format(0), "label": "yes"}
    assert [403, 200, 404] == [client.put(place, json=message).status_code for client in (bob, eve, mallory)]
    assert [200, 200, 404] == [client.get(place).status_code for client in (bob, eve, mallory)]
    assert ["Eve"] == [one["by"] for one in bob.get(place).json()["labels"]]
    weak = site.token(ada, ["read", "write"])
    assert [200, 403] == [weak.get(place).status_code, weak.put(place, json=message).status_code]
