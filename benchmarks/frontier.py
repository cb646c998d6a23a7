"""Memory per known URL in a frontier, in memory and spilled to disk, and the cost of a pick.

    python benchmarks/frontier.py [--known 20000000] [--memory-rows 500000] [--strategy scent] [--picks 2000]

URLs and scores are generated; table, estimator, frontier and spilled rows in a temporary file are those of a crawl.
First a frontier of `--memory-rows` URLs is held in memory, then all are added. Then pages are picked and learned from,
one by one: each has five new links, and fifteen to random URLs, most of them spilled.
"""

from __future__ import annotations

import argparse
import gc
import resource
import time

import numpy as np

import lycosa.cli  # before numpy: one thread for its libraries, as in every crawl of the command line
from lycosa.core.protocols import TrapFilter
from lycosa.core.spilled_rows import SpilledRows, spillable_estimator
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import strategy as strategy_by_name

PAGE = 1000
"""URLs added at once."""

HOSTS = 20_000
WORDS = [
    first + last for first in "bcdfghklmnprstvwz" for last in "aber ade ago ail ain aker ale alk all ame and".split()
]
WORDS += [word + "ing" for word in WORDS]

_ = lycosa.cli


def resident() -> float:
    """Return the resident memory of this process in bytes."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096.0


class Frontier:
    """A crawl of generated URLs, without pages."""

    def __init__(self, memory_rows: int, strategy: str) -> None:
        self.chance = np.random.default_rng(1)
        self.strategy = strategy_by_name(strategy, words="coral reefs")
        self.table = Table(lambda node: node.split("/", 3)[2])
        self.frontier = self.strategy.frontier(self.table, lambda host_key: (0.0, ""), 0, 300.0, 0.0)
        trap_filter = TrapFilter()
        estimator = spillable_estimator(self.strategy, self.frontier, trap_filter)
        assert estimator is not None
        self.spilled = SpilledRows(memory_rows, self.table, self.frontier, estimator, trap_filter)
        self.number = self.pages = 0
        row = self.table.add_seed("http://www.start.test/")
        self.strategy.admit(row, self.table, self.frontier)

    def node(self, number: int) -> str:
        """Return a URL of typical length, made of few distinct words."""
        words = (WORDS[number % 300], WORDS[number // 300 % 300], WORDS[number // 90_000])
        return f"http://www.host-{number * 7919 % HOSTS}.test/articles/{number % 89}/{'-'.join(words)}.html"

    def learn(self, node: str, urls: list[str]) -> None:
        """Learn from a page with these links."""
        links = Links.to(*urls, anchors=[url.rpartition("/")[2].replace("-", " ") for url in urls])
        links.link_relevances = self.chance.random(len(urls)).astype(np.float32)
        self.pages += 1
        step = self.table.absorb(
            Visit(node, "page", "ok", self.pages, relevance=float(self.chance.random()), links=links)
        )
        if step is not None:
            self.strategy.learn(step, self.table, self.frontier)
        self.spilled.settle()

    def crawl(self, known: int) -> None:
        """Add URLs by fetching generated pages, up to `known`."""
        while self.table.discovered < known:
            self.pick(links=100, old=0)

    def fill(self, known: int) -> None:
        """Add URLs with random scores, without pages, up to `known`."""
        while self.table.discovered < known:
            numbers = range(self.number, self.number + PAGE)
            self.number += PAGE
            rows = np.array([self.table.add(self.node(number), 1) for number in numbers], np.int32)
            self.frontier.rank(rows, self.chance.random(PAGE))
            self.spilled.settle()

    def pick(self, links: int = 5, old: int = 15) -> tuple[float, float]:
        """Return the CPU seconds of a pick, and of learning from its page."""
        begin = time.process_time()
        row = self.frontier.take(0.0)
        picked = time.process_time()
        urls = [self.node(self.number + at) for at in range(links)]
        self.number += links
        urls += [self.node(int(at)) for at in self.chance.integers(0, self.number, old)]
        node = self.table.nodes[row]
        self.learn(node, urls)
        self.frontier.untake(self.table.row_of[node])
        return picked - begin, time.process_time() - picked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--known", type=int, default=20_000_000)
    parser.add_argument("--memory-rows", type=int, default=500_000)
    parser.add_argument("--strategy", default="scent")
    parser.add_argument("--picks", type=int, default=2000)
    given = parser.parse_args()
    crawler = Frontier(given.memory_rows, given.strategy)
    crawler.crawl(20_000)  # load everything that is loaded on first use
    before, first = resident(), crawler.table.discovered
    crawler.crawl(given.memory_rows - 100)
    full, known = resident(), crawler.table.discovered
    print(f"{known:,} known, all in memory: {(full - before) / (known - first):.0f} bytes each", flush=True)
    most, cpu = 2 * given.memory_rows, time.process_time()
    while crawler.table.discovered < given.known:
        crawler.fill(min(most, given.known))
        now, spilled = resident(), crawler.spilled.count
        each = (now - full) / max(1, spilled)
        spent = time.process_time() - cpu
        known = crawler.table.discovered
        print(
            f"{known:,} known, {spilled:,} spilled: {each:.0f} bytes, {now / 1e6:,.0f} MB, {spent:,.0f} CPU s",
            flush=True,
        )
        most *= 2
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB", flush=True)
    times = np.array([crawler.pick() for _ in range(given.picks)]) * 1000
    for name, column in zip(("pick", "learn"), times.T, strict=True):
        middle, high, top = np.percentile(column, [50, 99, 100])
        print(f"{name}: median {middle:.3f} ms, p99 {high:.2f} ms, longest {top:,.0f} ms")


if __name__ == "__main__":
    main()
