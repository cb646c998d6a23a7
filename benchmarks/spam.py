"""Cost of spam: default crawls of webs with a link farm of stuffed pages, and with the embedded web's traps.

    python benchmarks/spam.py [--budget 500] [--hosts 50] [--crawls 3]

Simulated transport and time. Printed are the pages fetched from the farm, their share, and the number of farm pages
among the best twenty (by relevance, without copies); for the web with traps and without a farm, the number of pages on
the topic among the best ten.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import lycosa
from lycosa.core.types import Visit
from lycosa.spaces.making import PROBE_AFTER
from lycosa.spaces.web_space import WebSpace
from lycosa.testweb.simulation import SimTransport, clock, run_virtual
from lycosa.web.politeness import Politeness

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers"))

from spam_farm import SpamWeb

CRAWLS = [
    (7, "marine biology/coral reefs"),
    (3, "railways/night trains"),
    (5, "astronomy/meteorites"),
]


def run_crawl(web: SpamWeb, topic: str, budget: int) -> list[Visit]:
    """Return the pages of one crawl, with their relevance at its end."""

    async def crawl() -> list[Visit]:
        politeness = Politeness(clock, delay=0.01, free=lambda address: True)
        space = WebSpace(SimTransport(web, seed=1, latency=(0.001, 0.01)), politeness, clock, probe_after=PROBE_AFTER)
        seeds = web.seeds(topic) + web.seeds(topic, 2, on_topic=True)
        running = lycosa.crawl(web.query(topic), seeds, space=space, clock=clock, budget=budget, concurrency=4)
        pages = [visit async for visit in running if visit.is_page]
        assert running.engine is not None
        first = [page for page in pages if not page.same_as]
        for page, relevance_now in zip(first, running.engine.model_updates.relevances_now().tolist(), strict=True):
            page.updated_relevance = relevance_now
        return pages

    return run_virtual(crawl())


def best(pages: list[Visit], most: int) -> list[Visit]:
    """Return the best pages, one of each group of copies."""
    return sorted((page for page in pages if not page.same_as), key=lambda page: -page.relevance_now)[:most]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=int, default=500, help="pages for each crawl")
    parser.add_argument("--hosts", type=int, default=50, help="hosts of the farm")
    parser.add_argument("--crawls", type=int, default=len(CRAWLS), help="number of crawls")
    given = parser.parse_args()
    print("| web | topic | pages | of the farm | of the 20 best | on the topic | of the 10 best |")
    print("|---|---|---|---|---|---|---|")
    for traps, farm in (((), given.hosts), ("all", given.hosts), ("all", 0)):
        for seed, topic in CRAWLS[: given.crawls]:
            web = SpamWeb(seed=seed, traps=traps, slowness=0.05, farm=farm)
            pages = run_crawl(web, topic, given.budget)
            true = set(web.relevant(topic))
            spam = Counter(web.farm.kind(page.node) for page in pages if web.spam(page.node))
            first = sum(web.spam(page.node) for page in best(pages, 20))
            good = sum(web.canonical(page.node) in true for page in best(pages, 10))
            found = len({web.canonical(page.node) for page in pages} & true)
            name = " and ".join(["traps"] * bool(traps) + ["farm"] * bool(farm))
            print(
                f"| {name} | {topic} | {len(pages)} | {spam.total()} ({spam.total() / len(pages):.1%}) | {first} | "
                f"{found} of {len(true)} | {good} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
