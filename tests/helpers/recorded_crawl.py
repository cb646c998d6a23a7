"""The engine on recorded pages, one request at a time: the reference for the lab's simulation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from lycosa.core.budget import Budget
from lycosa.core.engine import Engine
from lycosa.core.protocols import Judge, Space, Strategy
from lycosa.core.types import Page, Seed, Task
from lycosa.judges.base import set_facets
from lycosa.store.log import NullLog
from lycosa.text.vocabulary import Vocabulary
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.simulation import Trace


class RecordedSpace(Space):
    """Space of the pages of an index."""

    def __init__(self, index: CorpusIndex) -> None:
        self.index = index

    async def visit(self, task: Task) -> Page:
        """Return the recorded page, with links to pages of the corpus."""
        return self.index.page(self.index.number_of[task.node])


def crawl(index: CorpusIndex, topic: Judge, strategy: Strategy, seeds: Sequence[int], budget: int) -> Trace:
    """Crawl from the seeds until `budget` further nodes are fetched or the frontier is empty."""
    distinct = len(set(seeds))
    set_facets(topic, strategy.wants)
    engine = Engine(
        RecordedSpace(index), topic, strategy, NullLog(), clock=lambda: 0.0, reader=Vocabulary(), concurrency=1,
        budget=Budget(pages=budget + distinct),
    )  # fmt: skip
    for node in seeds:
        engine.fold(Seed(index.names[node]))

    async def run() -> list[int]:
        return [index.number_of[visit.node] async for visit in engine.run()]

    fetched = asyncio.run(run())
    return Trace(np.array(fetched, np.int32), min(distinct, len(fetched)), engine.ending)
