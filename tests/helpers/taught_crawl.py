"""Crawls of a small scripted web in a site's directories, for tests of feedback and suggestions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lycosa
from lycosa.core.protocols import Space
from lycosa.core.types import Links, Page, Task
from lycosa_server.people.ids import new_id
from site_maker import API, SiteUnderTest

REEF = "coral polyps colony lagoon"
TRAIN = "coral timetable platform engine"
FILLER = "weather harbour market street garden window letter bridge"


class Written(Space):
    """Space of pages by URL, given as text and links."""

    def __init__(self, pages: dict[str, tuple[str, list[str]]]) -> None:
        self.pages = pages

    async def visit(self, task: Task) -> Page:
        """Return the scripted page; its title is the end of its URL."""
        if task.node not in self.pages:
            return Page("gone", status=404)
        text, links = self.pages[task.node]
        title = task.node.rsplit("/", 1)[-1]
        return Page("ok", status=200, title=title, marked=text, links=Links.to(*links), language="en")


def reefs_and_trains() -> dict[str, tuple[str, list[str]]]:
    """Return four pages on reefs, four on trains, a hub for each, and eight unrelated pages."""
    words = FILLER.split()
    reefs = [f"http://reefs.example/reef{n}" for n in range(4)]
    trains = [f"http://rails.example/train{n}" for n in range(4)]
    others = [f"http://town.example/{n}" for n in range(8)]
    pages = {
        "http://start.example/": (FILLER, ["http://start.example/reefs", "http://start.example/trains", *others]),
        "http://start.example/reefs": (f"{FILLER} list", reefs),
        "http://start.example/trains": (f"{FILLER} list", trains),
    }
    pages |= {url: (f"{REEF} {words[n]}", []) for n, url in enumerate(reefs)}
    pages |= {url: (f"{TRAIN} {words[n]}", []) for n, url in enumerate(trains)}
    pages |= {url: (" ".join(["coral", *(words[(n + m) % 8] for m in range(5))]), []) for n, url in enumerate(others)}
    return pages


def make_interest(client: Any, name: str = "Reefs", words: str = "coral", **settings: Any) -> str:
    """Create an interest; return its id."""
    wished = {"words": words, "seeds": ["http://start.example/"], "budget": 100, **settings}
    made = client.post(f"{API}/interests", json={"name": name, "settings": wished, "revisit_every": ""})
    assert 201 == made.status_code, made.text
    return str(made.json()["id"])


def crawled(
    site: SiteUnderTest,
    interest: str,
    pages: dict[str, tuple[str, list[str]]],
    *,
    seed: str = "http://start.example/",
    words: str = "coral",
    number: int = 1,
    judge: str = "",
) -> Path:
    """Run a crawl of an interest; return its directory."""
    crawl = new_id()
    now = site.clock()
    site.database.insert(
        "crawl",
        {
            "id": crawl, "interest": interest, "number": number, "task": "crawl", "wanted": "run", "state": "finished",
            "budget": 100, "pages": len(pages), "created": now, "queued": now,
        },
    )  # fmt: skip
    path = site.settings.crawl_directory(crawl)
    path.parent.mkdir(parents=True, exist_ok=True)
    fetched = list(
        lycosa.crawl(words, [seed], space=Written(pages), out=path, strategy="breadth-first", budget=100, judge=judge)
    )
    assert len(pages) == len(fetched)
    return path
