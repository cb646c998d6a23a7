"""The API of changes, diffs and feeds."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient

from lycosa_server.api import change_routes as changes
from lycosa_server.people.ids import new_id
from revisited_crawl import DAY, EPOCH, Revisited, html
from site_maker import API, SiteUnderTest

REEFS = {"name": "Reefs", "settings": {"words": "coral", "seeds": ["https://reefs.example/"]}}
ONE, TWO = "https://reefs.example/one", "https://reefs.example/two"


@pytest.fixture(autouse=True)
def second_day(site: SiteUnderTest) -> None:
    """Set the clock to the second day of the crawl."""
    site.clock.now = EPOCH + DAY


class Crawled:
    """Site with an interest and its crawl."""

    def __init__(self, site: SiteUnderTest, client: TestClient) -> None:
        self.interest, self.crawl = client.post(f"{API}/interests", json=REEFS).json()["id"], new_id()
        site.database.insert(
            "crawl",
            {
                "id": self.crawl, "interest": self.interest, "number": 1, "task": "crawl", "wanted": "run",
                "state": "finished", "budget": 50, "created": EPOCH, "queued": EPOCH,
            },
        )  # fmt: skip
        self.place = f"{API}/interests/{self.interest}"
        self.directory = site.settings.crawl_directory(self.crawl)
        self.directory.parent.mkdir(exist_ok=True)

    def begun(self) -> Revisited:
        """Fetch two pages."""
        made = Revisited(self.directory)
        made.seed(ONE)
        made.page(ONE, html("One", "coral reefs are old"), 0.1, links=[TWO])
        made.page(TWO, html("Two", "kelp forests"), 0.2)
        return made

    def looked_again(self) -> None:
        """Revisit both pages: one changed, at first only cosmetically; the other vanished."""
        made = self.begun()
        made.changed(ONE, html("One", "coral  reefs are old"), 1.5, "cosmetic", 0.01)
        made.changed(ONE, html("Number one", "coral reefs are bleached"), 2.0, links=["https://new.example/"])
        made.gone(TWO, 2.1)
        made.close()


@pytest.mark.paper("personalized-changes-shown")
def test_list_changes_starts_at_last_visit(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("Ada"), site.sign_up("Bob")
    made = Crawled(site, ada)
    made.looked_again()
    ada.put(f"{made.place}/shares", json={"name": "Bob", "mode": "read"})
    data = ada.get(f"{made.place}/changes").json()
    assert (made.crawl, 0, None) == (data["crawl"], data["since"], data["last_visit"])
    assert [(TWO, "vanished", None, "Two"), (ONE, "changed", "text", "Number one")] == [
        (one["url"], one["what"], one["kind"], one["title"]) for one in data["changes"]
    ]
    gone, changed = data["changes"]
    assert (0.5, "reefs.example", changed["seq"]) == (changed["magnitude"], changed["host"], changed["new"])
    assert "text changed, 50 %; words: half of the words are others" == changed["summary"]
    assert gone["new"] is None
    assert 2 == ada.get(made.place).json()["unseen"]
    site.clock.now = EPOCH + 2.05 * DAY
    assert 204 == ada.post(f"{made.place}/seen").status_code
    data = ada.get(f"{made.place}/changes").json()
    assert (site.clock.now, [TWO]) == (data["last_visit"], [one["url"] for one in data["changes"]])
    assert (1, 2) == (ada.get(made.place).json()["unseen"], bob.get(made.place).json()["unseen"])
    assert 2 == len(ada.get(f"{made.place}/changes?since=0").json()["changes"])
    assert [TWO] == [one["url"] for one in ada.get(f"{made.place}/changes?since=0&limit=1").json()["changes"]]


def test_list_changes_without_crawl_is_empty(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    bare = ada.post(f"{API}/interests", json=REEFS).json()["id"]
    assert (None, []) == tuple(ada.get(f"{API}/interests/{bare}/changes").json()[key] for key in ("crawl", "changes"))
    made = Crawled(site, ada)
    assert ([], None) == (ada.get(f"{made.place}/changes").json()["changes"], ada.get(made.place).json()["unseen"])
    made.begun().close()
    assert ([], None) == (ada.get(f"{made.place}/changes").json()["changes"], ada.get(made.place).json()["unseen"])


def test_list_changes_refuses_invalid_parameters(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    interest = ada.post(f"{API}/interests", json=REEFS).json()["id"]
    for query in ("since=nan", "since=inf", "since=-1", "limit=0", "limit=501", "since=x"):
        assert 422 == ada.get(f"{API}/interests/{interest}/changes?{query}").status_code, query


def test_compare_versions_defaults_to_last_two(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    made = Crawled(site, ada)
    diff = f"{API}/crawls/{made.crawl}/diff"
    assert 404 == ada.get(diff, params={"url": ONE}).status_code
    made.looked_again()
    found = ada.get(diff, params={"url": ONE}).json()
    assert (2, 3, 3, "Number one") == (
        found["from"]["number"],
        found["to"]["number"],
        found["versions"],
        found["to"]["title"],
    )
    runs = [run for row in found["rows"] for run in row["runs"]]
    assert ["removed", "old"] in runs
    assert ["added", "bleached"] in runs
    assert {"removed": [TWO], "added": ["https://new.example/"]}.keys() == found["links"].keys()
    change = ada.get(f"{made.place}/changes").json()["changes"][1]
    named = ada.get(diff, params={"url": ONE, "old": change["old"], "new": change["new"]}).json()
    assert named == found
    first = ada.get(diff, params={"url": ONE, "old": 3, "new": change["new"]}).json()
    assert (1, 3) == (first["from"]["number"], first["to"]["number"])
    assert [404, 404, 422, 422, 422] == [
        ada.get(diff, params=params).status_code
        for params in (
            {"url": TWO}, {"url": "https://elsewhere.example/"}, {"url": ONE, "old": 999},
            {"url": ONE, "old": 3, "new": 3}, {"url": ONE, "old": 10**30},
        )
    ]  # fmt: skip


def test_compare_versions_truncates_long_diffs(site: SiteUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MAX_ROWS", 5)
    monkeypatch.setattr(changes, "MAX_LINKS", 3)
    monkeypatch.setattr(changes, "MAX_COMPARED_CHARACTERS", 100)
    ada = site.sign_up("Ada")
    made = Crawled(site, ada)
    with_pages = Revisited(made.directory)
    old, new = ("".join(f"<p>{word} {n}<p><a href=/{word}{n}>x</a>" for n in range(20)) for word in ("coral", "kelp"))
    with_pages.page(ONE, html("One", old), 0.1)
    with_pages.changed(ONE, html("One", new), 1.0)
    with_pages.close()
    found = ada.get(f"{API}/crawls/{made.crawl}/diff", params={"url": ONE}).json()
    assert (5, 3, 3) == (len(found["rows"]), len(found["links"]["added"]), len(found["links"]["removed"]))
    assert "only its beginning is compared" in found["cut"]
    assert "rows are left out" in found["cut"]
    assert "17 links that were added are left out" in found["cut"]


@pytest.mark.parametrize("site", [{"url": "https://lycosa.example.org"}], indirect=True)
def test_feed_url_is_secret_and_revocable(site: SiteUnderTest) -> None:
    ada, nobody = site.sign_up("Ada"), site.client()
    made = Crawled(site, ada)
    feed = ada.post(f"{made.place}/feed").json()
    assert 200 == nobody.get(feed["atom"]).status_code  # still empty
    made.looked_again()
    atom = nobody.get(feed["atom"])
    assert "application/atom+xml" == atom.headers["content-type"]
    name = "{http://www.w3.org/2005/Atom}"
    entries = ElementTree.fromstring(atom.text).findall(f"{name}entry")
    links = [{link.get("rel"): link.get("href") for link in entry.findall(f"{name}link")} for entry in entries]
    assert [TWO, ONE] == [link["via"] for link in links]
    assert all(
        str(link["alternate"]).startswith(f"https://lycosa.example.org/interests/{made.interest}/") for link in links
    )
    again = ada.post(f"{made.place}/feed").json()
    assert (404, 200) == (nobody.get(feed["atom"]).status_code, nobody.get(again["atom"]).status_code)
    assert 204 == ada.delete(f"{made.place}/feed").status_code
    assert 404 == nobody.get(again["atom"]).status_code
    assert 404 == nobody.get(f"{API}/feeds/guessed/changes.atom").status_code


@pytest.mark.parametrize("end", ["unshared", "disabled", "deleted"])
def test_feed_ends_with_access_to_interest(site: SiteUnderTest, end: str) -> None:
    ada, bob, nobody = site.sign_up("Ada"), site.sign_up("Bob"), site.client()
    made = Crawled(site, ada)
    ada.put(f"{made.place}/shares", json={"name": "Bob", "mode": "read"})
    feed = bob.post(f"{made.place}/feed").json()["atom"]
    assert 200 == nobody.get(feed).status_code
    if end == "unshared":
        ada.delete(f"{made.place}/shares/{site.id_of(bob)}")
    elif end == "disabled":
        site.database.run("UPDATE person SET disabled = 1 WHERE name = 'Bob'")
    else:
        ada.delete(made.place)
    assert 404 == nobody.get(feed).status_code
