"""Tests of strategies trained on browsing records: relevant pages lie behind two irrelevant pages of known kinds."""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing
from functools import cache

import numpy as np
import pytest

from lycosa.core.composite import Greedy
from lycosa.core.engine import Engine
from lycosa.core.types import Event, Links, Page, Seed, Task, Visit
from lycosa.judges.vector_judge import VectorJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.store.log import MemoryLog
from lycosa.strategies import estimator
from lycosa.text.bags import Bags
from lycosa.text.browsing import Browsing, distances
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.clusters import Points, kmeans

QUERY = "coral reef bleaching"
KINDS = {
    "target": "coral reef bleaching polyp algae lagoon symbiosis heat stress survey",
    "school": "diving course instructor equipment lesson certificate tank mask booking price",
    "directory": "category listing entry catalogue alphabet submit editor branch archive guide",
    "news": "minister election budget parliament coalition debate vote reform party crisis",
    "sport": "league match goal player trainer stadium season transfer defender penalty",
    "recipe": "flour butter oven sugar whisk dough spoon vanilla bake cream",
}
FILLER = "people year place time group story number line part result question water morning city"
"""Words of each kind of page; apart from a few mentions, only target pages have words of the query."""

TUNNELS, NOISE = 12, 300


class Island(GraphSpace):
    """Graph of a home page, many irrelevant pages, and directories that lead to targets by way of a school page.

    A tenth of the irrelevant pages mention corals, so they look more promising than directories and schools.
    """

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.texts: dict[str, str] = {}
        others = [self.write(f"other {n}", self.chance.choice(["news", "sport", "recipe"])) for n in range(NOISE)]
        links: dict[str, list[str]] = {name: self.chance.sample(others, 6) for name in others}
        for name in self.chance.sample(others, NOISE // 10):
            self.texts[name] += " coral reef"
        for n in range(TUNNELS):
            directory, school = self.write(f"directory {n}", "directory"), self.write(f"school {n}", "school")
            targets = [self.write(f"target {n} {m}", "target") for m in range(3)]
            for name in self.chance.sample(others, 4):
                links[name].append(directory)
            links[directory] = [school, *self.chance.sample(others, 6)]
            links[school] = [*targets, *self.chance.sample(others, 6)]
            links |= {target: [*targets, *self.chance.sample(others, 4)] for target in targets}
        self.write("home", "news")
        links["home"] = self.chance.sample(others, 10)
        for page in links.values():
            self.chance.shuffle(page)
        super().__init__(links)

    def write(self, name: str, kind: str) -> str:
        """Set the text of a page to words of this kind."""
        words = self.chance.choices(KINDS[kind].split(), k=25) + self.chance.choices(FILLER.split(), k=40)
        self.texts[name] = " ".join(words)
        return name

    async def visit(self, task: Task) -> Page:
        """Return the page with its text."""
        return Page("ok", marked=self.texts[task.node], links=Links.to(*self.links[task.node]))


@cache
def browsed(seed: int, sessions: int = 40) -> Browsing:
    """Return the browsing record of a user who searched for targets on a graph with another seed."""
    island = Island(seed)
    chance = random.Random(seed)
    steps: list[tuple[str, str]] = []
    for _ in range(sessions):
        n = chance.randrange(TUNNELS)
        way = [f"directory {n}", f"school {n}", f"target {n} {chance.randrange(3)}"]
        way.insert(0, next(name for name, links in island.links.items() if way[0] in links and name[0] == "o"))
        for page, after in zip(way, [*way[1:], chance.choice(island.links[way[-1]])], strict=True):
            steps += [(page, chance.choice(island.links[page])) for _ in range(2)]  # open two links and go back
            steps.append((page, after))
    urls = list(dict.fromkeys(url for step in steps for url in step))
    number = {url: n for n, url in enumerate(urls)}
    words = Vocabulary()
    readings = [words.read(Page("ok", marked=island.texts[url])).terms for url in urls]
    pages = Bags.of([(terms.ids, terms.counts) for terms in readings])
    relevant = np.array([url.startswith("target") for url in urls])
    moves = np.array([(number[a], number[b]) for a, b in steps])
    cluster = np.full(len(urls), 4)
    others = np.flatnonzero(~relevant)
    cluster[others] = kmeans(Points.of(pages, len(words.terms)).take(others), 4, seed=1).labels
    state = distances(relevant, moves, 4)
    return Browsing(words.terms, pages, urls, relevant, state, moves, {"kmeans": cluster, "xmeans": cluster}, states=4)


def engine(name: str, island: Island, events: list[Event] | None = None) -> Engine:
    """Return the engine of a crawl of the graph, resumed from `events` if given."""
    made = Greedy(estimator(name, **({} if name.startswith("b") else {"file": browsed(100)})))
    crawl = Engine(island, VectorJudge(QUERY), made, MemoryLog(), clock=lambda: 0.0, concurrency=4, reader=Vocabulary())
    for event in events or [Seed("home")]:
        crawl.log.append(event)
        crawl.fold(event)
    return crawl


def run(crawl: Engine, pages: int) -> list[Visit]:
    """Return the first visits of a crawl."""

    async def go() -> list[Visit]:
        found = []
        async with aclosing(crawl.run()) as visits:
            async for visit in visits:
                found.append(visit)
                if len(found) == pages:
                    break
        return found

    return asyncio.run(go())


@cache
def targets(name: str, seed: int, pages: int = 250) -> int:
    """Return the number of targets fetched within a budget."""
    return sum(visit.node.startswith("target") for visit in run(engine(name, Island(seed)), pages))


@pytest.mark.parametrize("name", ["hmm", "hybrid-anchor", "context-graph"])
def test_browsing_strategies_find_targets_behind_tunnels(name: str) -> None:
    seeds = (1, 2)
    assert sum(targets(name, seed) for seed in seeds) >= 10 + sum(targets("best-first-page", seed) for seed in seeds)
