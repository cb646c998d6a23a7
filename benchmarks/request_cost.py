"""Relevant pages per request, with dead links and redirects counted, compared with relevant pages per page.

    python benchmarks/request_cost.py INDEX WARC [--topic CLASS ...] [--strategy NAME ...] [--budget 1000]

INDEX is created by `lycosa lab index` from WARC, with labels. From three on-topic seeds per topic, the engine crawls
the recorded web as it is, with the judge of `lycosa crawl`, given the topic's words.

An index has only links that lead to pages: dead ones are left out, redirects are followed, and simulated crawls do not
pay for them. Here a URL that was not recorded is a dead link, a redirect is a visit of its own, and relevant pages are
counted by request, so that all of `lycosa_lab.measures` applies to budgets of requests.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.core.budget import Budget, spent_on
from lycosa.core.engine import Engine
from lycosa.core.protocols import Judge, Space, Strategy
from lycosa.core.types import Links, Page, Seed, Task
from lycosa.judges import DEFAULT
from lycosa.judges.base import set_facets
from lycosa.replay.recording import Recording
from lycosa.replay.records import Damaged
from lycosa.store.log import NullLog
from lycosa.strategies import strategy
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.corpus import Account
from lycosa_lab import measures
from lycosa_lab.corpora.recorded import recorded_of
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.index_writer import RecordedPage
from lycosa_lab.judgements import judge_maker
from lycosa_lab.measures import Floats
from lycosa_lab.seeds import seed_sets
from lycosa_lab.subjects import HuntSubject, subjects_of

STRATEGIES = ["scent", "best-first", "breadth-first"]

Find = Callable[[str], RecordedPage | None]
"""Function that returns the recorded page or redirect of a URL, or None."""


def recorded_in(recording: Recording) -> Find:
    """Return a lookup of the pages and redirects of WARC files; damaged records are skipped."""
    account = Account()

    def find(url: str) -> RecordedPage | None:
        try:
            response = recording.find(url)
        except Damaged:
            return None
        return None if response is None else recorded_of(response, account, lambda _: True)

    return find


class WholeWeb(Space):
    """Space of a recorded web with its dead links and redirects."""

    def __init__(self, find: Find) -> None:
        self.find = find

    async def visit(self, task: Task) -> Page:
        """Return the page with all of its links, the target of a redirect, or a dead link."""
        found = self.find(task.node)
        if found is None:
            return Page("gone", 404)
        if found.page is None:
            return Page("redirect", 301, kind="redirect", links=Links.to(found.target))
        page = found.page
        page.status, page.node = 200, task.node
        return page


def requests(
    find: Find,
    index: CorpusIndex,
    subject: HuntSubject,
    topic: Judge,
    strategy: Strategy,
    seeds: Sequence[int],
    budget: int,
) -> Floats:
    """Return the truth of the page of each request, without the seeds; 0 for no page.

    Pages already seen, or not in the index (excluded by `--exclude`), count as requests with a truth of 0.
    """
    set_facets(topic, strategy.wants)
    starts = {index.names[node] for node in seeds}
    engine = Engine(
        WholeWeb(find), topic, strategy, NullLog(), clock=lambda: 0.0, reader=Vocabulary(), concurrency=1,
        budget=Budget(requests=budget + len(starts)),
    )  # fmt: skip
    for node in seeds:
        engine.fold(Seed(index.names[node]))
    truth = np.where(subject.seen, 0.0, subject.truth) if len(subject.seen) else subject.truth
    gains: list[float] = []

    async def run() -> None:
        async for visit in engine.run():
            if visit.node not in starts and spent_on(visit):
                node = index.number_of.get(visit.node, -1) if visit.is_page else -1
                gains.append(float(truth[node]) if node >= 0 else 0.0)

    asyncio.run(run())
    return np.array(gains, np.float64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("warc", type=Path)
    parser.add_argument("--topic", action="append", default=[])
    parser.add_argument("--strategy", action="append", default=[])
    parser.add_argument("--budget", type=int, default=1000)
    given = parser.parse_args()
    index = CorpusIndex.open(given.index)
    subjects = subjects_of(index, given.topic, count=0 if given.topic else 4, random_seed=1)
    print(
        f"| strategy | found in {given.budget // 5} requests | in {given.budget} | found a request |\n|---|---|---|---|"
    )
    with Recording([given.warc]) as recording:
        find = recorded_in(recording)
        for name in given.strategy or STRATEGIES:
            rows = []
            for subject in subjects:
                topic: Any = judge_maker(index, subject, "words", DEFAULT)()
                (seeds,) = seed_sets(index, subject, "on-topic", count=3, random_seed=1)
                facts: dict[str, Any] = {
                    "threshold": topic.threshold,
                    "probability": True,
                    "words": subject.words,
                    "budget": given.budget,
                }
                estimator = strategy(name, seed=1, **facts)
                gains = requests(find, index, subject, topic, estimator, seeds, given.budget)
                budgets = [given.budget // 5, given.budget]
                rows.append([*measures.found(gains, budgets), measures.harvest(gains, budgets)[-1]])
            early, late, rate = np.mean(rows, axis=0)
            print(f"| {name} | {early:.1f} | {late:.1f} | {rate:.3f} |", flush=True)


if __name__ == "__main__":
    main()
