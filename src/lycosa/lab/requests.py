"""Requests instead of pages: what a strategy finds for each request, dead links and redirects paid for.

An index has only links that lead to pages: dead ones are left out, redirects are followed, and simulated crawls never
pay for them. Here the engine itself crawls the recorded web as it is: what was not recorded is a dead link, a redirect
is a visit of its own. What is found is counted request by request, so that all of `measures` holds with budgets in
requests. It takes as long as reading the pages does, some milliseconds each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from lycosa.core.budget import Budget, spent_on
from lycosa.core.engine import Engine
from lycosa.core.protocols import Space, Strategy, Topic
from lycosa.core.types import Links, Page, Seed, Task
from lycosa.lab.corpora.recorded import recorded_of
from lycosa.lab.index import Index
from lycosa.lab.indexing import Account, Recorded
from lycosa.lab.measures import Floats
from lycosa.lab.subjects import Subject
from lycosa.replay.recording import Recording
from lycosa.replay.records import Damaged
from lycosa.store.log import NullLog
from lycosa.text.vocabulary import Vocabulary
from lycosa.topics.base import ask

Find = Callable[[str], Recorded | None]
"""What was recorded of an address: a page, a redirect, or nothing."""


def recorded_in(recording: Recording) -> Find:
    """The pages and redirects of WARC files; what is damaged or no page is not there."""
    account = Account()

    def find(url: str) -> Recorded | None:
        try:
            answer = recording.find(url)
        except Damaged:
            return None
        return None if answer is None else recorded_of(answer, account, lambda _: True)

    return find


class WholeWeb(Space):
    """A recorded web with its dead links and redirects, for the engine."""

    def __init__(self, find: Find) -> None:
        self.find = find

    async def visit(self, task: Task) -> Page:
        """The page with all of its links, where a redirect leads, or a dead link."""
        found = self.find(task.node)
        if found is None:
            return Page("gone", 404)
        if found.page is None:
            return Page("redirect", 301, kind="redirect", links=Links.to(found.target))
        page = found.page
        page.status, page.node = 200, task.node
        return page


def requests(
    find: Find, index: Index, subject: Subject, topic: Topic, strategy: Strategy, seeds: Sequence[int], budget: int
) -> Floats:
    """What each request brought, in their order, those of the seeds left out: the page's truth; 0 for no page.

    Pages that are seen, or no nodes of the index (what `--exclude` left out), bring nothing, and are paid for.
    """
    ask(topic, strategy.wants)
    starts = {index.names[node] for node in seeds}
    engine = Engine(
        WholeWeb(find), topic, strategy, NullLog(), clock=lambda: 0.0, reader=Vocabulary(), concurrency=1,
        budget=Budget(requests=budget + len(starts)),
    )  # fmt: skip
    for node in seeds:
        engine.fold(Seed(index.names[node]))
    worth = np.where(subject.seen, 0.0, subject.truth) if len(subject.seen) else subject.truth
    brought: list[float] = []

    async def run() -> None:
        async for visit in engine.run():
            if visit.node not in starts and spent_on(visit):
                node = index.number_of.get(visit.node, -1) if visit.is_page else -1
                brought.append(float(worth[node]) if node >= 0 else 0.0)

    asyncio.run(run())
    return np.array(brought, np.float64)
