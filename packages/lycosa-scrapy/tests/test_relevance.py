"""Spider middleware."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from lycosa_scrapy import relevance as module
from lycosa_scrapy.relevance import Relevance

URL = "http://a.example/"


class Scheduler:
    def __init__(self, flight: Any) -> None:
        self.flight, self.ended = flight, 0

    def flight_of(self, response: Response) -> Any:
        return self.flight

    def expect(self, request: Request, flight: Any) -> bool:
        return "known" not in request.url

    def parsed(self, flight: Any) -> None:
        self.ended += 1


@pytest.fixture
def flight() -> Any:
    return SimpleNamespace(response=None, items=0, relevance=None)


@pytest.fixture
def scheduler(flight: Any, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    made = Scheduler(flight)
    monkeypatch.setattr(module, "of_crawler", lambda crawler: made)
    return made


def middleware() -> Relevance:
    crawler: Any = SimpleNamespace(engine=None)
    return Relevance.from_crawler(crawler)


def test_output_drops_known_requests_and_counts_items(scheduler: Scheduler, flight: Any) -> None:
    new, known = Request(f"{URL}new"), Request(f"{URL}known")
    response = Response(URL, request=Request(URL))
    assert list(middleware().process_spider_output(response, [new, known, {"a": 1}])) == [new, {"a": 1}]
    assert (flight.items, scheduler.ended) == (1, 1)


def test_output_takes_largest_relevance(scheduler: Scheduler, flight: Any) -> None:
    response = Response(URL, request=Request(URL, meta={"relevance": 0.5}))
    list(middleware().process_spider_output(response, [{"relevance": 0.75}, {"relevance": 0.25}, {"relevance": 9}]))
    assert flight.relevance == 0.75


def test_output_async_equals_sync(scheduler: Scheduler, flight: Any) -> None:
    async def result() -> AsyncIterator[Any]:
        yield Request(f"{URL}known")
        yield {"relevance": True}

    async def collected() -> list[Any]:
        response = Response(URL, request=Request(URL))
        return [output async for output in middleware().process_spider_output_async(response, result())]

    assert asyncio.run(collected()) == [{"relevance": True}]
    assert (flight.relevance, scheduler.ended) == (1.0, 1)


def test_input_stores_response(scheduler: Scheduler, flight: Any) -> None:
    response = Response(URL)
    middleware().process_spider_input(response)
    assert flight.response is response


def test_responses_of_other_schedulers_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "of_crawler", lambda crawler: None)
    response = Response(URL)
    outputs = [Request(f"{URL}known"), {"relevance": 1}]
    assert list(middleware().process_spider_output(response, outputs)) == outputs
