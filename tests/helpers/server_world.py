"""One object of every kind in the API, all owned by Alice, for tests of access control."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lycosa_server.people.ids import new_id
from revisited_crawl import EPOCH, Revisited, html
from site_maker import SiteUnderTest, make_site

PAGE = "http://reefs.example/alices-page"
"""URL that only Alice's crawl has fetched."""

SETTINGS = {"words": "coral secretwords", "seeds": ["http://reefs.example/"], "budget": 50}


@dataclass
class World:
    """Site, its users as clients, and the ids for paths."""

    site: SiteUnderTest
    alice: Any
    mallory: Any
    """Member without access to any object of Alice's."""
    rita: Any
    """Reader without access to any object of Alice's."""
    guest: Any
    """Reader with whom Alice shared her interest, read-only."""
    colleague: Any
    """Member with whom Alice shared her interest, read-only."""
    admin: Any
    other_admin: Any
    nobody: Any
    revoked: Any
    """Alice's own token, revoked."""
    ids: dict[str, str] = field(default_factory=dict)
    """Values of {interest}, {crawl}, ... in paths, of Alice's objects."""

    def secrets(self) -> list[str]:
        """Return words that must not occur in responses to other users."""
        return ["secretwords", "alices-page", "Alice's reefs", *(self.ids[n] for n in ("interest", "crawl", "model"))]


def make_world(database_address: str, path: Path) -> World:
    """Create every object that a route may query, owned by Alice."""
    site = make_site(database_address, path)
    admin, other = site.sign_up("root", "admin"), site.sign_up("chief", "admin")
    alice, mallory = site.sign_up("Alice"), site.sign_up("Mallory")
    rita, guest, colleague = site.sign_up("Rita", "reader"), site.sign_up("Guest", "reader"), site.sign_up("Colin")
    revoked = site.token(alice, ["read", "feedback", "write", "run", "account"])
    made = alice.get("/api/v1/me/tokens").json()
    assert 204 == alice.delete(f"/api/v1/me/tokens/{made[0]['id']}").status_code
    interest = alice.post(
        "/api/v1/interests", json={"name": "Alice's reefs", "settings": SETTINGS, "revisit_every": ""}
    )
    assert 201 == interest.status_code, interest.text
    ids = {"interest": interest.json()["id"], "token": made[0]["id"]}
    for name in ("Guest", "Colin"):
        shared = alice.put(f"/api/v1/interests/{ids['interest']}/shares", json={"name": name, "mode": "read"})
        assert shared.status_code < 300, shared.text
    ids["person"] = site.database.row("SELECT id FROM person WHERE name = 'Guest'")["id"]
    ids["crawl"] = record_crawl(site, ids["interest"])
    ids["session"] = alice.get("/api/v1/me/sessions").json()[0]["id"]
    invited = admin.post("/api/v1/invitations", json={"role": "reader", "note": "", "days": 3})
    assert 201 == invited.status_code, invited.text
    ids["invitation"] = invited.json()["id"]
    entry = admin.post(
        "/api/v1/catalogue", json={"preference": "seas", "url": "http://seas.example/", "title": "", "note": ""}
    )
    assert 201 == entry.status_code, entry.text
    ids["entry"] = entry.json()["id"]
    table = {"file": ("secretwords.tsv", b"http://reefs.example/alices-page\tSea/Reefs\n")}
    uploaded = alice.post("/api/v1/models", files=table)
    assert 201 == uploaded.status_code, uploaded.text
    ids["model"] = uploaded.json()["id"]
    ids["notice"] = new_id()
    alice_id = site.database.row("SELECT id FROM person WHERE name = 'Alice'")["id"]
    site.database.insert(
        "notice", {"id": ids["notice"], "person": alice_id, "kind": "shared", "text": "secretwords", "at": EPOCH}
    )
    feed = alice.post(f"/api/v1/interests/{ids['interest']}/feed")
    assert 200 == feed.status_code, feed.text
    ids["key"] = feed.json()["atom"].split("/feeds/")[1].split("/")[0]
    labelled = alice.put(f"/api/v1/interests/{ids['interest']}/feedback", json={"url": PAGE, "label": "yes"})
    assert 200 == labelled.status_code, labelled.text
    return World(site, alice, mallory, rita, guest, colleague, admin, other, site.client(), revoked, ids)


def record_crawl(site: SiteUnderTest, interest: str) -> str:
    """Create a finished crawl of the interest with two pages, one of them changed."""
    crawl = new_id()
    site.database.insert(
        "crawl",
        {
            "id": crawl, "interest": interest, "number": 1, "task": "crawl", "wanted": "run", "state": "finished",
            "reason": "all requested pages were fetched",
            "budget": 50, "pages": 2, "relevant": 2, "created": EPOCH, "queued": EPOCH,
            "started": EPOCH, "ended": EPOCH,
        },
    )  # fmt: skip
    directory = site.settings.crawl_directory(crawl)
    directory.parent.mkdir(parents=True, exist_ok=True)
    made = Revisited(directory)
    made.seed("http://reefs.example/")
    made.page("http://reefs.example/", html("Reefs", "coral reefs of the world"), links=[PAGE])
    made.page(PAGE, html("Her page", "coral secretwords and reefs"), 1.0)
    made.changed(PAGE, html("Her page", "coral secretwords and bleached reefs"), 2.0)
    made.close()
    return crawl
