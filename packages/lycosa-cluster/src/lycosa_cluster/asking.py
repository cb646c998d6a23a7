"""Requests that are made once, before shards start: example pages and search engines.

They follow the crawl's rules and are recorded in its log, so a resumed crawl does not repeat them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lycosa.core.types import Event, Setting
from lycosa.crawling.assembly import learn_terms
from lycosa.crawling.request import CrawlRequest
from lycosa.crawling.seeds import SETTING, ask_engines
from lycosa.store.log import SqliteLog
from lycosa.web.urls import is_http


@dataclass
class Answers:
    """Known answers, and new events to record."""

    learned: dict[str, Any] = field(default_factory=dict)  # terms of example pages
    searched: dict[str, list[str]] = field(default_factory=dict)  # by search engine
    events: list[Event] = field(default_factory=list)

    @classmethod
    def recorded(cls, log: SqliteLog) -> Answers:
        return cls(dict(log.setting("learned", {})), dict(log.setting(SETTING, {})))

    def record(self, log: SqliteLog) -> None:
        with log.batch():
            for event in self.events:
                log.append(event)
        self.events = []

    @property
    def seeds(self) -> list[str]:
        return [seed for seeds in self.searched.values() for seed in seeds]


async def ask(request: CrawlRequest, known: Answers) -> Answers:
    """Request unknown answers; for a new crawl before anything is written, because an example may be unreadable."""
    options = request.options
    if not options.search and not any(map(is_http, options.examples)):
        return known
    space = request.make_space()
    try:
        learned, events = known.learned, list[Event]()
        if options.examples and not learned:
            learned, events = await learn_terms(request, space)
        asked = await ask_engines(options, space, request.clock, known.searched)
        request.notes += asked.notes
        searched = known.searched
        for event in asked.events:
            if isinstance(event, Setting):
                searched = dict(event.value)
        return Answers(learned, searched, [*events, *asked.events])
    finally:
        await space.close()
        request.space = None
