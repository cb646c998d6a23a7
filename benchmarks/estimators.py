"""Cost of a step with each strategy, for frontiers of a thousand to a million rows of generated pages.

Each strategy crawls pages of 40 links, half of them new. For each page, the time is measured that the strategy takes to
learn from it, to update priorities, and to pick the next one. For comparison: the time to score the whole frontier
again and find the maximum.

    python benchmarks/estimators.py [--sizes 1000,10000,100000,1000000] [--steps 300] [--only fl_n,lr_fl]

CPU time of one core in milliseconds: the median over the steps, and the 99th percentile.
"""

from __future__ import annotations

import argparse
import gc
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.core.protocols import Strategy
from lycosa.core.table import Table
from lycosa.core.types import Links, Step, Terms, Visit
from lycosa.strategies import STRATEGIES, strategy
from lycosa.strategies.rulebook import RuleBook

LINKS = 40
WARM = 50
"""Steps before timing starts."""
WORDS = "coral reef bleaching ocean heat fish algae tourism weather train timetable ticket contact imprint".split()
CLASSES = ("Science/Biology", "Science/Climate", "Travel", "Law")
NEED_FILES = frozenset({"hmm", "hmm-xmeans", "hybrid", "hybrid-anchor", "context-graph", "craw4llm"})
"""Strategies measured only if they are given with their files by --only."""


class Stream:
    """Generator of a reproducible stream of pages."""

    def __init__(self) -> None:
        self.chance = random.Random(3)
        self.draws = np.random.default_rng(3)
        self.known = 0
        self.picks = 0

    def page(self, node: str, links: int, new: float, promise: float) -> Visit:
        """Return a page with `links` links, of which the share `new` lead to unknown URLs."""
        chance = self.chance
        names, anchors = [], []
        for _ in range(links):
            if self.known == 0 or chance.random() < new:
                self.known += 1
                number = self.known
            else:
                number = chance.randrange(self.known)
            names.append(f"http://example.test/{number % 97}/{number}")
            anchors.append(" ".join(chance.sample(WORDS, 3)))
        page_links = Links.to(*names, anchors=anchors)
        page_links.contexts = [f"{anchor} and {chance.choice(WORDS)}" for anchor in anchors]
        relevant = np.array([chance.random() < 0.15 for _ in names])
        page_links.link_relevances = (relevant * np.array([chance.random() for _ in names])).astype(np.float32)
        page_links.facets = {"context": page_links.link_relevances * 0.5, "url": page_links.link_relevances * 0.25}
        self.picks += 1
        # Relevant pages are linked from relevant pages, with promising links.
        likely = 0.1 + 0.5 * promise
        relevance = 0.5 * chance.random() + 0.5 * promise if chance.random() < likely else 0.0
        classes = [[chance.choice(CLASSES), 0.8]]
        return Visit(
            node, "page", "ok", self.picks, relevance=relevance, links=page_links, terms=self.words(),
            data={"classes": classes, "target": relevance > 0.5},
        )  # fmt: skip

    def words(self) -> Terms:
        """Return the words of a page: 400 of 20,000 stems with a skewed distribution."""
        ids = np.unique((20_000 * self.draws.random(600) ** 3).astype(np.uint32))[:400]
        new = [f"stem{number}" for number in range(20_000)] if self.picks == 1 else []
        return Terms(ids, (1 + self.draws.geometric(0.5, len(ids))).astype(np.uint16), new)


class Contestant:
    """A strategy with its frontier, and the time that it has taken."""

    def __init__(self, name: str, strategy: Strategy, table: Table) -> None:
        self.name, self.strategy, self.table = name, strategy, table
        self.frontier = strategy.frontier(table, lambda host_key: (0.0, ""), 0, 300.0, 0.0)
        self.took: list[float] = []
        self.naive: list[float] = []

    def step(self, step: Step, number: int) -> int:
        """Learn, update priorities, and return the next row to fetch."""
        begun = time.process_time_ns()
        self.strategy.learn(step, self.table, self.frontier)
        if number > 1:
            self.frontier.untake(step.row)
        picked = self.strategy.pick(number, self.frontier, 0.0)
        self.took.append((time.process_time_ns() - begun) / 1e6)
        return picked.row

    def rescan(self) -> None:
        """Score all open rows again."""
        strategy: Any = self.strategy  # a bandit has several strategies, a batch strategy wraps one
        arms = getattr(strategy, "greedy_", None) or [getattr(strategy, "greedy", strategy)]
        scorers = [arm.estimator for arm in arms]
        begun = time.process_time_ns()
        rows = self.table.rows()
        for scorer in scorers:
            # Scent's score is that of the last scored row, so its terms have to be computed again.
            np.argmax(
                sum(scorer.contributions(rows, self.table).values())
                if hasattr(scorer, "contributions")
                else scorer.priority(rows, self.table)
            )
        self.naive.append((time.process_time_ns() - begun) / 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    names = given.only.split("+") if "=" in given.only else [name for name in given.only.split(",") if name]
    for size in map(int, given.sizes.split(",")):
        measure(size, given.steps, names or [name for name in STRATEGIES if name not in NEED_FILES])


def measure(size: int, steps: int, names: list[str]) -> None:
    """Measure each strategy on a table of its own, so that none finds another's numbers in the cache."""
    print(f"\nat least {size:,} rows in the frontier, {steps} steps of {LINKS} links: ms per step")
    print(f"{'':22}{'median':>9}{'p99':>9}{'rescan':>10}{'ratio':>9}", flush=True)
    for name in names:
        one = watch(name, size, steps)
        median, worst = np.percentile(one.took, [50, 99])
        naive = float(np.median(one.naive))
        print(f"{name:22}{median:9.3f}{worst:9.3f}{naive:10.3f}{naive / median:8.1f}x", flush=True)


def watch(name: str, size: int, steps: int) -> Contestant:
    """Fill a frontier, then time some steps."""
    table, stream = Table(), Stream()
    table.add_seed("seed")
    one = Contestant(name, _make(name), table)
    node = "seed"
    while table.open_rows < size:  # fill it with pages of many links
        step = table.absorb(stream.page(node, min(2000, size // 4), 1.0, promise(table, node)))
        assert step is not None
        one.strategy.learn(step, table, one.frontier)
        node = table.nodes[stream.chance.choice(step.children.tolist())]
    gc.collect()
    gc.freeze()
    for number in range(WARM + steps):
        new = 0.5 if size > 50_000 else 1 / LINKS  # small frontiers stay small
        step = table.absorb(stream.page(node, LINKS, new, promise(table, node)))
        assert step is not None
        node = table.nodes[one.step(step, number + 1)]
        if number % 50 == 0:
            one.rescan()
    gc.unfreeze()
    one.took = one.took[WARM:]
    return one


def promise(table: Table, node: str) -> float:
    """Return the expected relevance of a page: half from its links, half from the pages that link to it."""
    row = table.row_of[node]
    return float(0.5 * table.link_relevance_max[row] + 0.5 * table.relevance_max[row])


def _make(name: str) -> Strategy:
    """Return a strategy by name, with the files that some of them need."""
    if name == "rules":
        book = RuleBook()
        for source in CLASSES:
            for to in CLASSES:
                book.add(source, to)
        path = Path(tempfile.mkdtemp()) / "rules.tsv"
        book.save(path)
        name = f"rules,file={path}"
    if name == "oracle":
        path = Path(tempfile.mkdtemp()) / "scores.tsv"
        path.write_text("http://example.test/1/1\t1\n")
        name = f"oracle,scores={path}"
    return strategy(name, seed=1, budget=10_000, threshold=0.5, targets=("Science",), words="coral reef bleaching")


if __name__ == "__main__":
    main()
