"""A site with one person, an interest of theirs, and a crawl to be filled by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lycosa.core.types import Visit
from lycosa.store.directory import Directory
from lycosa.text.vocabulary import Vocabulary
from lycosa_server.people.ids import new_id
from revisited_crawl import EPOCH, Revisited
from site_maker import API, SiteUnderTest

SETTINGS = {"words": "coral", "seeds": ["http://reef.test/"], "budget": 50}


@dataclass
class CrawlOnSite:
    """`get("pages", order="date")` asks for something of the crawl."""

    site: SiteUnderTest
    client: Any
    interest: str
    crawl: str

    @property
    def directory(self) -> Path:
        """Where the crawl lies."""
        return self.site.settings.crawl_directory(self.crawl)

    def record(self) -> Revisited:
        """Begin to record; close it."""
        self.directory.parent.mkdir(parents=True, exist_ok=True)
        return Revisited(self.directory)

    def record_again(self) -> Revisited:
        """Go on with what was recorded before."""
        again = Revisited.__new__(Revisited)
        again.path = self.directory
        again._directory = Directory.open(self.directory)
        again.log = again._directory.log()
        again._archive = again._directory.archive(again.log, "Lycosa/test", 10**9)
        again._words, again._follows, again._gone = Vocabulary(), {}, set()
        for event in again.log:
            if isinstance(event, Visit):
                again._words.learn(event)
                again._follows[event.node] = event.started
        return again

    def get(self, what: str, **given: Any) -> Any:
        """An answer's JSON."""
        answer = self.client.get(f"{API}/crawls/{self.crawl}/{what}", params=given)
        assert 200 == answer.status_code, answer.text
        return answer.json()

    def status(self, what: str, **given: Any) -> int:
        """An answer's status."""
        return int(self.client.get(f"{API}/crawls/{self.crawl}/{what}", params=given).status_code)

    def label(self, url: str, relevant: bool) -> None:
        """Say yes or no to a page."""
        row = {"interest": self.interest, "url": url, "relevant": int(relevant), "at": EPOCH}
        self.site.database.insert("feedback", row)

    def set(self, **columns: Any) -> None:
        """Change the crawl's row."""
        self.site.database.update("crawl", self.crawl, columns)


def crawl_on_site(site: SiteUnderTest) -> CrawlOnSite:
    """A member's crawl that runs and has no directory yet."""
    site.clock.now = EPOCH
    client = site.sign_up("Ada")
    made = client.post(f"{API}/interests", json={"name": "Reefs", "settings": SETTINGS, "look_again": ""})
    assert 201 == made.status_code, made.text
    crawl, interest = new_id(), made.json()["id"]
    row = {
        "id": crawl, "interest": interest, "number": 1, "task": "crawl", "wanted": "run", "state": "running",
        "budget": 50, "created": EPOCH, "queued": EPOCH, "started": EPOCH,
    }  # fmt: skip
    site.database.insert("crawl", row)
    return CrawlOnSite(site, client, interest, crawl)
