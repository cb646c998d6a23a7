"""Cost of traps, and the benefit of the trap filter: the same crawls of the same webs with and without traps.

    python benchmarks/traps.py [--budget 300] [--crawls 5]

Simulated transport and time, so every run gives the same figures. Counted are distinct pages on the topic (a copy
counts as its original), by the labels of the embedded web, not by the judge.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from lycosa.core.budget import Budget
from lycosa.core.composite import Greedy
from lycosa.core.engine import Engine
from lycosa.core.types import Seed, Visit
from lycosa.judges.vector_judge import VectorJudge
from lycosa.spaces.making import PROBE_AFTER
from lycosa.spaces.web_space import WebSpace
from lycosa.store.log import MemoryLog
from lycosa.strategies import estimator
from lycosa.testweb import Web
from lycosa.testweb.simulation import SimTransport, clock, run_virtual
from lycosa.text.vocabulary import Vocabulary
from lycosa.traps.trap_filter import SectionTrapFilter
from lycosa.web.politeness import Politeness

CRAWLS = [
    (7, "marine biology/coral reefs"),
    (3, "railways/night trains"),
    (5, "astronomy/meteorites"),
    (3, "marine biology/coral reefs"),
    (11, "railways/night trains"),
]
SETTINGS = [  # requests in flight, pause, response times
    (1, 0.0, (0.001, 0.01)),
    (4, 0.01, (0.001, 0.01)),
    (16, 1.0, (0.05, 2.0)),
]


def run_crawl(
    web: Web, topic: str, budget: int, setting: tuple[int, float, tuple[float, float]], use_trap_filter: bool
) -> Engine:
    at_once, delay, latency = setting

    async def crawl() -> Engine:
        politeness = Politeness(clock, delay=delay, free=lambda address: True)
        transport = SimTransport(web, seed=1, latency=latency)
        judge = VectorJudge(web.query(topic))
        engine = Engine(
            WebSpace(transport, politeness, clock, probe_after=PROBE_AFTER if use_trap_filter else 0),
            judge,
            Greedy(estimator("best-first"), "best-first"),
            MemoryLog(),
            clock=clock,
            budget=Budget(pages=budget),
            reader=Vocabulary(),
            trap_filter=SectionTrapFilter(judge.threshold) if use_trap_filter else None,
            concurrency=at_once,
            choosy=0.7,
        )
        for node in web.seeds(topic):
            engine.log.append(Seed(node))
            engine.fold(Seed(node))
        async for _ in engine.run():
            pass
        return engine

    return run_virtual(crawl())


def count_relevant(web: Web, topic: str, engine: Engine) -> tuple[int, Counter[str]]:
    """Return the number of pages on the topic, and the fetched pages by kind."""
    nodes = [event.node for event in engine.log if isinstance(event, Visit) and event.is_page]
    spent = Counter(str(trap.value) if (trap := web.trap(node)) else "clean" for node in nodes)
    return len({web.canonical(node) for node in nodes}.intersection(web.relevant(topic))), spent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=int, default=300, help="pages for each crawl")
    parser.add_argument("--crawls", type=int, default=len(CRAWLS), help="number of crawls")
    given = parser.parse_args()
    print(
        "| in flight | pause s | no traps | traps, held back | traps, not held back | pages in traps, held back / not |"
    )
    print("|---|---|---|---|---|---|")
    for setting in SETTINGS:
        totals, wasted = [0, 0, 0], [0, 0]
        for seed, topic in CRAWLS[: given.crawls]:
            for column, (traps, use_trap_filter) in enumerate((((), True), ("all", True), ("all", False))):
                web = Web(seed=seed, traps=traps, slowness=0.05)
                hits, spent = count_relevant(web, topic, run_crawl(web, topic, given.budget, setting, use_trap_filter))
                totals[column] += hits
                if column:
                    wasted[column - 1] += spent.total() - spent["clean"]
        clean, held, naive = totals
        shares = f"{held} ({held / clean:.0%}) | {naive} ({naive / clean:.0%})"
        print(f"| {setting[0]} | {setting[1]:g} | {clean} | {shares} | {wasted[0]} / {wasted[1]} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
