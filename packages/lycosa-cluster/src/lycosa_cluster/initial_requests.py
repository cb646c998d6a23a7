"""Requests sent once, before shards start: example pages and queries to search engines.

They follow the crawl's rules, and their results are recorded in its log, so a resumed crawl does not repeat them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lycosa.core.types import Event, Setting
from lycosa.crawling.assembly import learn_terms
from lycosa.crawling.request import CrawlRequest
from lycosa.crawling.seeds import SEARCHES_SETTING, ask_engines
from lycosa.store.log import SqliteLog
from lycosa.web.urls import is_http


@dataclass
class InitialResults:
    """Results of the initial requests, and new events to record."""

    topic_terms: dict[str, Any] = field(default_factory=dict)  # terms of example pages
    searched: dict[str, list[str]] = field(default_factory=dict)  # seeds by search engine
    events: list[Event] = field(default_factory=list)

    @classmethod
    def recorded(cls, log: SqliteLog) -> InitialResults:
        return cls(dict(log.setting("learned", {})), dict(log.setting(SEARCHES_SETTING, {})))

    def record(self, log: SqliteLog) -> None:
        with log.batch():
            for event in self.events:
                log.append(event)
        self.events = []

    @property
    def seeds(self) -> list[str]:
        return [seed for seeds in self.searched.values() for seed in seeds]


async def fetch_initial(request: CrawlRequest, known: InitialResults) -> InitialResults:
    """Send requests without a known result; a new crawl does so before it writes anything, as one may fail."""
    options = request.options
    if not options.search and not any(map(is_http, options.examples)):
        return known
    space = request.make_space()
    try:
        topic_terms, events = known.topic_terms, list[Event]()
        if options.examples and not topic_terms:
            topic_terms, events = await learn_terms(request, space)
        results = await ask_engines(options, space, request.clock, known.searched)
        request.notes += results.notes
        searched = known.searched
        for event in results.events:
            if isinstance(event, Setting):
                searched = dict(event.value)
        return InitialResults(topic_terms, searched, [*events, *results.events])
    finally:
        await space.close()
        request.space = None
