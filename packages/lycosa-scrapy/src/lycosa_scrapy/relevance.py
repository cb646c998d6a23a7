"""Spider middleware that assigns requests to their page, and collects relevances set by the spider.

It must be the one nearest to Scrapy's engine (a number below 25), to see all output of the spider.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from lycosa_scrapy.answers import Flight
from lycosa_scrapy.requests import number_of
from lycosa_scrapy.scheduler import Scheduler, of_crawler
from lycosa_scrapy.space import RELEVANCE


class Relevance:
    """Middleware that reports pages to the scheduler, with relevances from the topic or the spider.

    `relevance` in an item or in `response.meta` is a number from 0 to 1, or a bool; the largest counts. In the meta of
    a new request it is the relevance of the link, if there is no topic.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._scheduler: Scheduler | None = None
        self._is_installed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Relevance:
        return cls(crawler)

    def _flight(self, response: Response) -> Flight | None:
        """Return the state of the request of a response, if our scheduler returned the request."""
        if self._scheduler is None:
            self._scheduler = of_crawler(self._crawler)
        return None if self._scheduler is None else self._scheduler.flight_of(response)

    def process_spider_input(self, response: Response) -> None:
        if not self._is_installed:
            self._is_installed = True
            self._install_filter()
        flight = self._flight(response)
        if flight is not None:
            flight.response = response

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        """Record the spider's output, and drop known requests, which Scrapy's engine would drop later."""
        flight = self._flight(response)
        for output in result:
            if self._is_new(flight, output):
                yield output
        self._end(flight, response)

    async def process_spider_output_async(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        flight = self._flight(response)
        async for output in result:
            if self._is_new(flight, output):
                yield output
        self._end(flight, response)

    def _install_filter(self) -> None:
        """Drop known links before Scrapy's own middlewares see them.

        They are most links of a page, and Scrapy's bookkeeping for each (referrer, depth, length) costs more than ours.
        Not done if the project has middlewares of its own, which must see every request.
        """
        manager = getattr(getattr(self._crawler.engine, "scraper", None), "spidermw", None)
        methods = getattr(manager, "methods", {})
        others = [type(one) for one in getattr(manager, "middlewares", ()) if one is not self]
        if others and all(one.__module__.startswith("scrapy.spidermiddlewares.") for one in others):
            methods["process_spider_output"].appendleft(self._without_known)
            methods["process_spider_exception"].appendleft(None)  # this list has an entry per middleware

    async def _without_known(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        flight = self._flight(response)
        if flight is None or self._scheduler is None:
            async for output in result:
                yield output
            return
        drops = self._scheduler.drops
        async for output in result:
            if not (isinstance(output, Request) and drops(output, flight)):
                yield output

    def _is_new(self, flight: Flight | None, output: Any) -> bool:
        """Record an output of the spider; return whether to pass it on to Scrapy."""
        if flight is None or self._scheduler is None or output is None:
            return True
        if isinstance(output, Request):
            return self._scheduler.expect(output, flight)
        flight.items += 1
        if ItemAdapter.is_item(output):
            _raise_relevance(
                flight, output.get(RELEVANCE) if type(output) is dict else ItemAdapter(output).get(RELEVANCE)
            )
        return True

    def _end(self, flight: Flight | None, response: Response) -> None:
        if flight is not None and self._scheduler is not None:
            if response.request is not None:
                _raise_relevance(flight, response.request.meta.get(RELEVANCE))
            self._scheduler.parsed(flight)


def _raise_relevance(flight: Flight, value: Any) -> None:
    relevance = number_of(value)
    if relevance is not None:
        flight.relevance = max(relevance, flight.relevance or 0.0)
