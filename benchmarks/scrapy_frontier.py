"""A plain Scrapy project with Lycosa's frontier: relevant pages, cost per request, and pages lost by kills.

    python benchmarks/scrapy_frontier.py [--harvest] [--cost] [--kills 20] [--webs 5]

The spider follows every link; five lines of settings make it focused. On the embedded web:

    --harvest  distinct pages on the topic within 100 pages, compared with Lycosa's own crawl and Scrapy's own order
    --cost     CPU time per request for a whole web, alternating Scrapy's own frontier (with JOBDIR, on disk) and ours,
               from page 100 to the last one, so that start, imports and the end of a run do not count
    --kills N  kill -9 after random numbers of pages, N times, then to the end: pages never fetched, or fetched twice
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from statistics import mean, median
from typing import Any

import lycosa
from lycosa.testweb import Web, serve

TOPICS = (
    "marine biology/coral reefs",
    "astronomy/exoplanets",
    "railways/steam locomotives",
    "music/violin making",
    "medieval history/castles",
)
PAGES = 100
EARLY = 100
IN_FLIGHT = 8


def spider(settings: dict[str, Any], urls: list[str], budget: int) -> None:
    """Run the project in this process; print every page, and at the end the cost per page."""
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.exceptions import CloseSpider
    from scrapy.http import Response
    from scrapy.resolver import CachingThreadedResolver
    from twisted.internet import defer

    class Loopback(CachingThreadedResolver):
        """Resolver of names below localhost, which RFC 6761 defines as this machine."""

        def getHostByName(self, name: str, timeout: Any = None) -> Any:
            if name.endswith(".localhost"):
                return defer.succeed("127.0.0.1")
            return super().getHostByName(name, timeout)

    marks: list[float] = []

    class Walker(scrapy.Spider):
        name = "walker"
        start_urls = urls

        def parse(self, response: Response) -> Iterator[Any]:
            marks.append(time.process_time())
            print(response.url, flush=True)
            if budget and len(marks) >= budget:
                raise CloseSpider("enough")
            yield from response.follow_all(css="a")

    usual = {
        "ROBOTSTXT_OBEY": True, "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "TWISTED_DNS_RESOLVER": Loopback,
        "CONCURRENT_REQUESTS": IN_FLIGHT, "DOWNLOAD_DELAY": 0, "LOGSTATS_INTERVAL": 0, "MEMUSAGE_ENABLED": False,
    }  # fmt: skip
    process = CrawlerProcess({**usual, **settings})
    process.crawl(Walker)
    process.start()
    cost = (marks[-1] - marks[EARLY]) / (len(marks) - 1 - EARLY) if len(marks) > EARLY + 1 else 0.0
    print(json.dumps({"cost": 1000 * cost, "once": time.process_time() - cost * len(marks)}))


def run(
    settings: dict[str, Any], urls: list[str], budget: int = 0, kill_after: int = 0
) -> tuple[list[str], dict[str, float]]:
    """Run a project; return its pages, the milliseconds per page, and the seconds of start and end."""
    command = [sys.executable, __file__, "--spider", json.dumps([settings, urls, budget])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if len(lines) == kill_after:
                process.send_signal(signal.SIGKILL)
    pages = [line for line in lines if line.startswith("http")]
    return pages, {} if kill_after and pages == lines else json.loads(lines[-1])


def focused(folder: str, topic: str, strategy: str) -> dict[str, Any]:
    """Return the five settings that make the project focused."""
    return {
        "SCHEDULER": "lycosa_scrapy.scheduler.Scheduler",
        "SPIDER_MIDDLEWARES": {"lycosa_scrapy.relevance.Relevance": 20},
        "JOBDIR": folder,
        "LYCOSA_TOPIC": topic,
        "LYCOSA_STRATEGY": strategy,
    }


def harvest(webs: int) -> None:
    """Print the relevant pages within the budget."""
    print("| strategy | Lycosa | Scrapy with Lycosa's frontier | share | Scrapy's own order |\n|---|---|---|---|---|")
    for strategy in ("best-first", "scent"):
        found: list[tuple[int, int, int]] = []
        for seed in range(webs):
            web, topic = Web(seed=seed, traps=(), slowness=0.0), TOPICS[seed % len(TOPICS)]
            with serve(web), tempfile.TemporaryDirectory() as folder:
                crawl = lycosa.crawl(
                    web.query(topic), web.seeds(topic), strategy=strategy, budget=PAGES, delay=0.0, per_host=8,
                    concurrency=IN_FLIGHT, allow_network=["127.0.0.0/8"],
                )  # fmt: skip
                own = [visit.node for visit in crawl if visit.is_page]
                ours, _ = run(focused(folder, web.query(topic), strategy), web.seeds(topic), PAGES)
                plain, _ = run({}, web.seeds(topic), PAGES)
                truth = set(web.relevant(topic))
                counts = [len({web.canonical(url) for url in pages[:PAGES]} & truth) for pages in (own, ours, plain)]
                found.append((counts[0], counts[1], counts[2]))
        own_sum, our_sum, plain_sum = map(sum, zip(*found, strict=True))
        print(f"| {strategy} | {own_sum} | {our_sum} | {our_sum / own_sum:.2f} | {plain_sum} |", flush=True)


def cost(turns: int, pages: int) -> None:
    """Print the CPU milliseconds per request, measured alternately."""
    web, topic = Web(seed=3, pages=pages, traps=(), slowness=0.0), TOPICS[3]
    costs: dict[str, list[float]] = {"Scrapy's own": [], "best-first": [], "scent": []}
    once: dict[str, list[float]] = {name: [] for name in costs}
    with serve(web):
        for _ in range(turns):
            for name, taken in costs.items():
                with tempfile.TemporaryDirectory() as folder:
                    own = name not in ("best-first", "scent")
                    settings = {"JOBDIR": folder} if own else focused(folder, web.query(topic), name)
                    _, measured = run(settings, web.seeds(topic))
                    taken.append(measured["cost"])
                    once[name].append(measured["once"])
    base = costs["Scrapy's own"]
    print("| frontier | ms per request, median | difference to Scrapy's own, median | all turns | start and end, s |")
    print("|---|---|---|---|---|")
    for name, taken in costs.items():
        beyond = [mine - its for mine, its in zip(taken, base, strict=True)]
        differences = ", ".join(f"{value:.2f}" for value in beyond)
        print(
            f"| {name} | {median(taken):.2f} | {median(beyond):.2f} | {differences} | {median(once[name]):.1f} |",
            flush=True,
        )


def kills(number: int, pages: int) -> None:
    """Print the pages lost, and those fetched twice."""
    web, topic, dice = Web(seed=4, pages=pages, traps=(), slowness=0.0), TOPICS[4], random.Random(1)
    with serve(web), tempfile.TemporaryDirectory() as folder:
        whole, _ = run({}, web.seeds(topic))
        settings, fetched = focused(folder, web.query(topic), "best-first"), list[str]()
        for _ in range(number):
            fetched += run(settings, web.seeds(topic), kill_after=dice.randint(1, 2 * len(whole) // (number + 1)))[0]
        last, _ = run(settings, web.seeds(topic))
    fetched += last
    lost, twice = set(whole) - set(fetched), len(fetched) - len(set(fetched))
    per_kill = mean([twice / number]) if number else 0.0
    print(f"{number} kills, {len(set(whole))} pages: {len(lost)} lost, {twice} fetched twice ({per_kill:.1f} a kill)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--harvest", action="store_true")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--webs", type=int, default=5)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--pages", type=int, default=800, help="pages of the web for --cost and --kills")
    parser.add_argument("--spider", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.spider:
        spider(*json.loads(given.spider))
        return
    if given.harvest:
        harvest(given.webs)
    if given.cost:
        cost(given.turns, given.pages)
    if given.kills:
        kills(given.kills, given.pages)


if __name__ == "__main__":
    main()
