"""The API of interests."""

from __future__ import annotations

from typing import Any

import pytest

from lycosa.crawling import crawl as make_crawl
from lycosa_server.people import erasing
from lycosa_server.people import interest_settings as settings
from lycosa_server.people.ids import new_id
from revisited_crawl import EPOCH, revisited
from site_maker import API, SiteUnderTest

SETTINGS: dict[str, Any] = {"words": "coral reefs", "seeds": ["reefs.example/start"], "budget": 50}
REEFS: dict[str, Any] = {"name": "Reefs", "settings": SETTINGS, "revisit_every": "1d"}


def test_interest_goes_from_creation_to_deletion(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    made = ada.post(f"{API}/interests", json=REEFS)
    assert 201 == made.status_code, made.text
    data = made.json()
    assert ["https://reefs.example/start"] == data["settings"]["seeds"]
    assert ("own", "Ada", "1d", None, None) == (
        data["mode"], data["owner"]["name"], data["revisit_every"], data["crawl"], data["unseen"],
    )  # fmt: skip
    assert {"yes": 0, "no": 0} == data["labels"]
    assert [data] == ada.get(f"{API}/interests").json()
    place = f"{API}/interests/{data['id']}"
    site.clock.now += 60
    changed = ada.patch(place, json={"name": "Corals", "settings": {**SETTINGS, "exclude": ["/tag/"]}}).json()
    assert ("Corals", ["/tag/"], "1d") == (changed["name"], changed["settings"]["exclude"], changed["revisit_every"])
    assert data["changed"] + 60 == changed["changed"]
    assert 204 == ada.delete(place).status_code
    assert 404 == ada.get(place).status_code
    assert [] == ada.get(f"{API}/interests").json()


@pytest.mark.paper("personalized-freshness")
def test_interest_stores_revisit_settings(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    named = {one["name"] for one in ada.get(f"{API}/detectors").json()}
    assert {"paper", "tree", "digest"} < named
    fresh = {"always": ["/start"], "frequently": ["/news/"], "frequent": "6h", "infrequently": ["/old?"],
             "infrequent": "90d", "detect": ["tree", "paper"]}  # fmt: skip
    made = ada.post(f"{API}/interests", json={**REEFS, "settings": {**SETTINGS, **fresh}})
    assert 201 == made.status_code, made.text
    assert fresh == {name: made.json()["settings"][name] for name in fresh}
    chosen = settings.crawl_options(settings.InterestSettings(**made.json()["settings"]))
    assert (["/old\\?"], "6h", ["tree", "paper"]) == (chosen["infrequently"], chosen["frequent"], chosen["detect"])


def test_create_interest_refuses_readers(site: SiteUnderTest) -> None:
    rita = site.sign_up("Rita", "reader")
    assert 403 == rita.post(f"{API}/interests", json=REEFS).status_code
    assert [] == rita.get(f"{API}/interests").json()


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"strategy": "os:system"}, "unknown strategy"),
    ({"strategy": "rules,file=/etc/passwd"}, "unknown strategy"),
    ({"detect": ["os:system"]}, "unknown detector"),
    ({"frequently": ["/news/"], "frequent": "1s"}, "at least ten minutes"),
    ({"strategy": "best-first,batch=8"}, "unknown strategy"),
    ({"judge": "regex"}, "unknown judge"),
    ({"judge": "model"}, "unknown judge"),
    ({"judge": "lycosa.judges.vector_judge:Query"}, "unknown judge"),
    ({"judge": "vector,background=/etc/passwd"}, "unknown judge"),
    ({"judge": "keyword", "examples": ["https://a.example/"]}, "uses words only"),
    ({"seeds": ["file:///etc/passwd"]}, "is not a URL"),
    ({"seeds": ["javascript:alert(1)"]}, "is not a URL"),
    ({"seeds": ["https://user:secret@a.example/"]}, "is not a URL"),
    ({"examples": ["/etc/passwd"]}, "is not a URL"),
    ({"preferences": ["Nothing like it"]}, "has no subject"),
    ({"words": "of the", "judge": "vector"}, "has no words to search for"),
    ({"words": "-reef"}, "only excludes words"),
    ({"hosts": ["a b"]}, "is not a host name"),
    ({"hosts": ["elsewhere.example"]}, "every seed is outside"),
    ({"exclude": ["/start"]}, "every seed is outside"),
    ({"budget": 10_001}, "between 1 and 10,000"),
    ({"regex": "(a+)+"}, "Unexpected keyword argument"),
    ({"allow_network": ["0.0.0.0/0"]}, "Unexpected keyword argument"),
]


def test_create_interest_refuses_unsafe_settings(site: SiteUnderTest) -> None:
    member = site.sign_up("Ada")
    for given, data in REFUSED:
        answer = member.post(f"{API}/interests", json={**REEFS, "settings": {**SETTINGS, **given}})
        assert (422, True) == (answer.status_code, data in answer.text), answer.text


ALLOWED: list[dict[str, Any]] = [
    {"judge": "keyword", "strategy": "mab_var"},
    {"words": "", "examples": ["https://reefs.example/like-this"]},
    {"seeds": [], "preferences": ["Science"]},
    {"exclude": ["(a+)+$", "["], "languages": ["en"], "hosts": ["reefs.example"], "max_depth": 3},
]


def test_create_interest_accepts_only_runnable_settings(site: SiteUnderTest) -> None:
    member = site.sign_up("Ada")
    for given in ALLOWED:
        answer = member.post(f"{API}/interests", json={**REEFS, "settings": {**SETTINGS, **given}})
        assert 201 == answer.status_code, answer.text
        row = site.database.row("SELECT settings FROM interest WHERE id = :id", id=answer.json()["id"])
        assert row is not None
        kept = settings.InterestSettings.from_json(row["settings"])
        made = make_crawl(
            **settings.crawl_options(kept, ["https://seas.example/"] if kept.preferences else [], delay=0.5)
        )
        assert 50 == made.options.budget


@pytest.mark.parametrize("site", [{"max_interests": 1}], indirect=True)
def test_create_interest_refuses_more_than_maximum(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    assert [201, 422] == [ada.post(f"{API}/interests", json=REEFS).status_code for _ in range(2)]


def test_delete_interest_removes_crawl_directories(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    interest = ada.post(f"{API}/interests", json=REEFS).json()["id"]
    crawl = new_id()
    site.database.insert(
        "crawl",
        {
            "id": crawl, "interest": interest, "number": 1, "task": "refresh", "wanted": "run", "state": "finished",
            "budget": 50, "pages": 4, "relevant": 2, "created": EPOCH, "queued": EPOCH,
        },
    )  # fmt: skip
    directory = site.settings.crawl_directory(crawl)
    directory.parent.mkdir()
    with revisited(directory) as made:
        made.page("https://reefs.example/", "<p>coral", 0)
        made.changed("https://reefs.example/", "<p>kelp", 1)
    data = ada.get(f"{API}/interests/{interest}").json()
    assert (crawl, 4, 2, 1) == (data["crawl"]["id"], data["crawl"]["pages"], data["crawl"]["relevant"], data["unseen"])
    assert 204 == ada.delete(f"{API}/interests/{interest}").status_code
    assert not directory.exists()
    assert [crawl] == erasing.deleted_crawls(site.database)
    assert "interest deleted" in [row["action"] for row in site.database.rows("SELECT action FROM audit")]


NONSENSE = [
    b"",
    b"null",
    b"[]",
    b'{"name": "a"}',
    b'{"name": "\\u0000", "settings": {"words": "coral", "seeds": ["a.example"]}}',
    b'{"name": "\\ud800", "settings": {"words": "coral", "seeds": ["a.example"]}}',
    b'{"name": "a", "settings": {"words": "\\ud800", "seeds": ["a.example"]}}',
    b'{"name": "a", "settings": {"words": "coral", "seeds": ["a.example"], "threshold": NaN}}',
    b'{"name": "a", "settings": {"words": "coral", "seeds": ["a.example"], "threshold": 1e999}}',
    b'{"name": "a", "settings": {"words": "coral", "seeds": ["a.example"], "budget": 1e400}}',
    b'{"name": "a", "settings": {"words": "coral", "seeds": ["a.example\\u0000"]}}',
    b'{"name": "a", "settings": {"words": "coral", "seeds": ["a.example"]}, "revisit_every": "\\u0000"}',
    b'{"name": "   ", "settings": {"words": "coral", "seeds": ["a.example"]}}',
]


def test_create_interest_refuses_malformed_bodies(site: SiteUnderTest) -> None:
    member = site.sign_up("Ada")
    for body in NONSENSE:
        answer = member.post(f"{API}/interests", content=body, headers={"Content-Type": "application/json"})
        assert 422 == answer.status_code, answer.text
