"""The API of crawls."""

from typing import Any

import pytest

from lycosa.core.budget import PAGES_SPENT, STOPPED
from lycosa_server.people import crawls
from lycosa_server.people.crawls import Ending
from site_maker import API, SiteUnderTest

pytestmark = pytest.mark.parametrize("site", [{"max_budget": 300}], indirect=True)
"""Settings that allow crawls of 300 pages."""

SETTINGS = {"words": "coral reefs", "seeds": ["https://example.org/"], "budget": 500}


def interest_of(site: SiteUnderTest, client: Any) -> str:
    """Create an interest."""
    answer = client.post(f"{API}/interests", json={"name": "reefs", "settings": {**SETTINGS, "budget": 300}})
    assert 201 == answer.status_code, answer.text
    return str(answer.json()["id"])


def parts(answer: Any, *names: str) -> tuple[Any, ...]:
    data = answer.json()
    return tuple(data[name] for name in names)


def test_crawl_goes_from_start_to_deletion(site: SiteUnderTest) -> None:
    ann = site.sign_up("Ann")
    interest = interest_of(site, ann)
    started = ann.post(f"{API}/interests/{interest}/crawls", json={})
    assert 201 == started.status_code
    assert ("queued", 1, 300) == parts(started, "state", "place_in_queue", "budget")
    crawl = started.json()["id"]
    there = f"{API}/crawls/{crawl}"
    assert 409 == ann.post(f"{API}/interests/{interest}/crawls").status_code
    states = [ann.post(f"{there}/{what}").json()["state"] for what in ("pause", "resume", "stop", "resume")]
    assert ["paused", "queued", "stopped", "queued"] == states
    crawls.take(site.database, site.clock(), crawl)
    assert ("running", "stop") == parts(ann.post(f"{there}/stop"), "state", "wanted")
    crawls.end(site.database, site.clock(), crawl, Ending(STOPPED, pages=10, relevant=5))
    site.database.run("UPDATE crawl SET budget = 20")
    assert (30, "queued") == parts(ann.post(f"{there}/more", json={"pages": 10}), "budget", "state")
    crawls.take(site.database, site.clock(), crawl)
    crawls.end(site.database, site.clock(), crawl, Ending(PAGES_SPENT, budget=30, pages=30, relevant=6))
    assert ("refresh", "queued") == parts(ann.post(f"{there}/refresh"), "task", "state")
    assert [crawl] == [each["id"] for each in ann.get(f"{API}/interests/{interest}/crawls").json()]
    assert 0.2 == ann.get(there).json()["harvest"]
    assert 204 == ann.delete(there).status_code
    assert 404 == ann.get(there).status_code
    assert [crawl] == [row["crawl"] for row in site.database.rows("SELECT crawl FROM deleted_crawl")]
    done = {row["action"] for row in site.database.rows("SELECT action FROM audit WHERE subject = :crawl", crawl=crawl)}
    assert {"crawl started", "crawl stopped", "crawl deleted"} <= done


def test_more_pages_refuses_invalid_numbers(site: SiteUnderTest) -> None:
    ann = site.sign_up("Ann")
    crawl = ann.post(f"{API}/interests/{interest_of(site, ann)}/crawls").json()["id"]
    bodies: list[Any] = [
        {"pages": 1},
        {"pages": 0},
        {"pages": 10**30},
        {"pages": "many"},
        {},
        {"pages": 1, "x": 1},
        None,
    ]
    for body in bodies:
        assert 422 == ann.post(f"{API}/crawls/{crawl}/more", json=body).status_code, body


def test_crawl_access_follows_shares(site: SiteUnderTest) -> None:
    ann, bob = site.sign_up("Ann"), site.sign_up("Bob")
    interest = interest_of(site, ann)
    crawl = ann.post(f"{API}/interests/{interest}/crawls").json()["id"]
    asked = [lambda: bob.get(f"{API}/crawls/{crawl}"), lambda: bob.post(f"{API}/crawls/{crawl}/pause")]
    assert [404, 404] == [ask().status_code for ask in asked]
    for mode, codes in (("read", [200, 403]), ("edit", [200, 200])):
        ann.put(f"{API}/interests/{interest}/shares", json={"name": "Bob", "mode": mode})
        assert codes == [ask().status_code for ask in asked]


def test_crawl_shows_its_place_in_queue(site: SiteUnderTest) -> None:
    places = []
    for name in ("Ann", "Bob"):
        client = site.sign_up(name)
        site.clock.now += 1
        places.append(client.post(f"{API}/interests/{interest_of(site, client)}/crawls").json()["place_in_queue"])
    assert [1, 2] == places
