"""Relevant pages lost by splitting a crawl into shards: the same crawls with 1, 2, 4 ... shards, in virtual time.

Pages of a recorded corpus are assigned to invented domains by a hash of their URL, so that there is something to
distribute. All crawls have the same number of requests in flight; messages take 20 ms. The relevant pages found, by the
labels, are divided by the number that an oracle finds within the same budget, and compared in pairs with one shard,
with and without grants from the coordinator.

    python benchmarks/cluster.py corpora/wikispeedia-blind.warc.gz --labels corpora/wikispeedia.labels.tsv
    python benchmarks/cluster.py corpora/webkb.warc.gz --labels corpora/webkb.labels.tsv --index /tmp/webkb --domains 0
    python benchmarks/cluster.py embedded:pages=100000,hosts=1000,seed=1 --index /tmp/embedded --domains 0
    python benchmarks/cluster.py --table
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from lycosa.core.budget import Budget
from lycosa.core.engine import Engine
from lycosa.core.protocols import Space
from lycosa.core.types import Page, Seed, Task, Visit
from lycosa.judges.base import set_facets
from lycosa.judges.probability import Probability
from lycosa.store.log import MemoryLog
from lycosa.strategies import strategy
from lycosa.testweb.chance import roll
from lycosa.testweb.simulation import clock, run_virtual
from lycosa.text.vocabulary import Vocabulary
from lycosa.web.urls import host_key
from lycosa_cluster.coordinator import Coordinator
from lycosa_cluster.owning import Owners
from lycosa_cluster.shard import Shard
from lycosa_lab.confidence import paired
from lycosa_lab.corpora.loading import make_index
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements
from lycosa_lab.seeds import seed_sets
from lycosa_lab.simulation import simulate
from lycosa_lab.subjects import HuntSubject, subjects_of
from lycosa_lab.trial_strategies import ORACLE, make_trial_strategy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers"))

from cluster_here import Together

SLOTS, DELAY, MARKS = 16, 0.02, (100, 500, 1000, 5000)
DOMAINS = 200


class SpreadCorpus(Space):
    """Space of a corpus whose pages are spread over invented domains, or over its own with `domains=0`."""

    def __init__(self, index: CorpusIndex, domains: int = DOMAINS) -> None:
        self.index = index
        self.urls = [
            f"http://d{xxhash.xxh3_64_intdigest(name.encode()) % domains}.test/{name.partition('://')[2]}"
            if domains
            else name
            for name in index.names
        ]
        self.number_of = {url: node for node, url in enumerate(self.urls)}
        self.at = index.number_of

    async def visit(self, task: Task) -> Page:
        began = clock()
        await asyncio.sleep(0.05 + 0.45 * roll(1, "latency", task.node))
        page = self.index.page(self.number_of[task.node])
        page.links.urls = [self.urls[self.at[url]] for url in page.links.urls]
        page.started, page.ended, page.address = began, clock(), "203.0.113.1"
        return page

    def host_key(self, node: str) -> str:
        return host_key(node)


def shard_of(
    number: int, owners: Owners, space: SpreadCorpus, subject: HuntSubject, seeds: Sequence[str], budget: int
) -> Shard:
    topic = Probability(subject.words)
    guide = strategy(
        "scent", seed=1, budget=budget, threshold=topic.threshold, probability=True, words=subject.words, exact=False
    )
    set_facets(topic, guide.wants)
    engine = Engine(
        space, topic, guide, MemoryLog(), clock=clock, reader=Vocabulary(), concurrency=SLOTS, judge_name="p"
    )
    engine.owns = lambda node: owners.of(node) == number
    engine.table.scope = lambda node, depth: owners.of(node) == number
    for node in seeds:
        if engine.owns(node):
            engine.log.append(Seed(node, clock()))
            engine.fold(Seed(node, clock()))
    return Shard(number, owners, engine)


def run_crawl(
    space: SpreadCorpus, subject: HuntSubject, seeds: Sequence[str], budget: int, shards: int, **options: bool
) -> dict[str, Any]:
    """Run one crawl; return its relevant pages by number of pages, and its costs."""
    relevant: list[bool] = []
    costs: dict[str, Any] = {}

    async def run() -> None:
        owners = Owners(shards)
        together = Together(
            Coordinator(shards, Budget(pages=budget + len(seeds)), clock, slots=SLOTS, **options), delay=DELAY
        )
        parts = [shard_of(number, owners, space, subject, seeds, budget) for number in range(shards)]

        async def one(shard: Shard) -> None:
            async for visit in together.run(shard):
                if isinstance(visit, Visit) and visit.is_page and visit.node not in seeds:
                    relevant.append(bool(subject.truth[space.number_of[visit.node]] > 0))

        await asyncio.gather(*map(one, parts))
        costs.update(messages=together.messages, bytes=together.bytes, reports=together.coordinator.reports)

    began = time.process_time()
    run_virtual(run())
    cumulative = np.cumsum(relevant)
    marks = {str(mark): int(cumulative[mark - 1]) for mark in MARKS if mark <= len(cumulative)}
    return {"found": marks, "pages": len(relevant), "cpu": round(time.process_time() - began, 2), **costs}


def results(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in open(path)] if Path(path).exists() else []


def _setup(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["corpus"], row["subject"], row["budget"], row["shards"], tuple(sorted(row["how"].items()))


def shares(measured: Sequence[dict[str, Any]], mark: str) -> dict[tuple[Any, ...], dict[tuple[Any, ...], float]]:
    """Return relevant pages as a share of the oracle's, by configuration and crawl."""
    relevant: dict[tuple[Any, ...], dict[tuple[Any, ...], float]] = {}
    for one in measured:
        if mark in one["found"] and one["oracle"].get(mark):
            crawl, setup = _setup(one)[:3], _setup(one)[3:]
            relevant.setdefault(setup, {})[crawl] = one["found"][mark] / one["oracle"][mark]
    return relevant


def show(measured: Sequence[dict[str, Any]]) -> None:
    """Print the loss for each number of shards."""
    print("| shards | pages | crawls | one shard | these | difference | 95 % interval |\n|---|---|---|---|---|---|---|")
    for mark in map(str, MARKS):
        relevant = shares(measured, mark)
        for setup in sorted(relevant):
            pairs = [crawl for crawl in relevant[setup] if crawl in relevant.get((1, ()), {})]
            if setup == (1, ()) or len(pairs) < 3:
                continue
            ours, one = [[relevant[each][crawl] for crawl in pairs] for each in (setup, (1, ()))]
            difference = paired(ours, one, groups=pairs)
            without = ", ".join(f"without {name}" for name, _ in setup[1])
            print(
                f"| {setup[0]}{', ' if without else ''}{without} | {mark} | {len(pairs)} | {np.mean(one):.3f} | "
                f"{np.mean(ours):.3f} | {difference.mean:+.3f} | {difference.low:+.3f} to {difference.high:+.3f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", nargs="?", default="")
    parser.add_argument("--labels")
    parser.add_argument("--index", default="/tmp/lycosa-cluster-index")
    parser.add_argument("--out", default="cluster-quality.jsonl")
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--shards", type=int, nargs="*", default=[2, 4, 8, 16, 64])
    parser.add_argument(
        "--domains", type=int, default=DOMAINS, help="number of invented domains; 0: use the corpus's own"
    )
    parser.add_argument("--without", type=int, nargs="*", default=[8], help="numbers of shards to run without grants")
    parser.add_argument("--skip", type=int, default=0, help="number of topics to skip")
    parser.add_argument("--only", type=int, default=10**6, help="maximum number of topics after these")
    parser.add_argument("--table", action="store_true", help="print the table of earlier results only")
    given = parser.parse_args()
    if given.table:
        show(results(given.out))
        return
    path = Path(given.index)
    labels = Path(given.labels) if given.labels else None
    index = CorpusIndex.open(path) if path.exists() else make_index([given.corpus], path, labels=labels)
    space = SpreadCorpus(index, given.domains)
    setups: list[tuple[int, dict[str, bool]]] = [(1, {}), *((n, {}) for n in given.shards)]
    for n in given.without:
        setups.append((n, {"grants": False}))
    done = {_setup(measured) for measured in results(given.out)}
    for subject in subjects_of(index, count=given.topics, random_seed=7)[given.skip : given.skip + given.only]:
        nodes = seed_sets(index, subject, "on-topic", count=3, random_seed=7)[0]
        truth = Judgements.given(index)
        guide = make_trial_strategy(ORACLE, index, subject, truth, budget=given.budget, random_seed=7)
        oracle = simulate(truth, guide, nodes, given.budget)
        best = np.cumsum(subject.truth[oracle.found] > 0)
        limit = {str(mark): int(best[min(mark, len(best)) - 1]) for mark in MARKS if mark <= given.budget}
        for shards, options in setups:
            if (path.name, subject.name, given.budget, shards, tuple(sorted(options.items()))) in done:
                continue
            measured = run_crawl(space, subject, [space.urls[node] for node in nodes], given.budget, shards, **options)
            measured |= {
                "corpus": path.name,
                "subject": subject.name,
                "budget": given.budget,
                "shards": shards,
                "how": options,
                "oracle": limit,
            }
            with open(given.out, "a") as file:
                print(json.dumps(measured), file=file)


if __name__ == "__main__":
    main()
