"""A site with one person, one interest, and a crawl that the test records itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from first_links import FirstLinks
from lycosa.core.types import Visit
from lycosa.store.directory import Directory
from lycosa.text.vocabulary import Vocabulary
from lycosa_server.people.ids import new_id
from revisited_crawl import EPOCH, Revisited
from site_maker import API, SiteUnderTest

SETTINGS = {"words": "coral", "seeds": ["http://reef.test/"], "budget": 50}


@dataclass
class CrawlOnSite:
    """Crawl on a test site; `get("pages", order="date")` queries its API."""

    site: SiteUnderTest
    client: Any
    interest: str
    crawl: str

    @property
    def directory(self) -> Path:
        """Return the crawl's directory."""
        return self.site.settings.crawl_directory(self.crawl)

    def record(self) -> Revisited:
        """Start recording a crawl, which the caller closes."""
        self.directory.parent.mkdir(parents=True, exist_ok=True)
        return Revisited(self.directory)

    def record_again(self) -> Revisited:
        """Continue an earlier recording."""
        again = Revisited.__new__(Revisited)
        again.path = self.directory
        again._directory = Directory.open(self.directory)
        again.log = again._directory.log()
        again._archive = again._directory.archive(again.log, "Lycosa/test", 10**9)
        again._words, again._first_links = Vocabulary(), FirstLinks()
        again._follows, again._gone, again._is_refreshed = {}, set(), False
        for event in again.log:
            again._first_links.fill(event)
            if isinstance(event, Visit):
                again._words.learn(event)
                again._follows[event.node] = event.started
        return again

    def get(self, what: str, **given: Any) -> Any:
        """Return the JSON of an API response."""
        answer = self.client.get(f"{API}/crawls/{self.crawl}/{what}", params=given)
        assert 200 == answer.status_code, answer.text
        return answer.json()

    def status(self, what: str, **given: Any) -> int:
        """Return the status of an API response."""
        return int(self.client.get(f"{API}/crawls/{self.crawl}/{what}", params=given).status_code)

    def label(self, url: str, relevant: bool) -> None:
        """Store a label for a page."""
        row = {"interest": self.interest, "url": url, "relevant": int(relevant), "at": EPOCH}
        self.site.database.insert("feedback", row)

    def set(self, **columns: Any) -> None:
        self.site.database.update("crawl", self.crawl, columns)


def crawl_on_site(site: SiteUnderTest) -> CrawlOnSite:
    """Return a running crawl of a member, without a directory yet."""
    site.clock.now = EPOCH
    client = site.sign_up("Ada")
    made = client.post(f"{API}/interests", json={"name": "Reefs", "settings": SETTINGS, "revisit_every": ""})
    assert 201 == made.status_code, made.text
    crawl, interest = new_id(), made.json()["id"]
    row = {
        "id": crawl, "interest": interest, "number": 1, "task": "crawl", "wanted": "run", "state": "running",
        "budget": 50, "created": EPOCH, "queued": EPOCH, "started": EPOCH,
    }  # fmt: skip
    site.database.insert("crawl", row)
    return CrawlOnSite(site, client, interest, crawl)
