"""Pages from Scrapy's responses."""

from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from lycosa.core.types import Page, Task
from lycosa_scrapy.answers import Flight, page_of
from lycosa_scrapy.space import RELEVANCE, REQUESTS, Form

URL = "http://a.example/"


def page(flight: Flight, news: Any = (), given: bool = False) -> Page:
    return page_of(flight, list(news), 7.0, given)


def flight(response: Response | None = None, **more: Any) -> Flight:
    return Flight(Request(URL), Task(URL), "a.example", 5.0, response=response, **more)


def html(body: str, **more: Any) -> HtmlResponse:
    return HtmlResponse(URL, body=body.encode(), headers={"Content-Type": "text/html; charset=utf-8"}, **more)


@pytest.mark.parametrize(
    ("status", "outcome"), [(200, "ok"), (404, "gone"), (429, "busy"), (503, "busy"), (500, "broken")]
)
def test_page_outcome_depends_on_status(status: int, outcome: str) -> None:
    assert page(flight(html("<p>reef", status=status))).outcome == outcome


def test_page_without_response_is_failure() -> None:
    assert page(flight()).outcome == "denied"
    assert page(flight(reached=True)).outcome == "unreachable"
    assert page(flight(Response(URL, body=b"\0"))).outcome == "unwanted"


def test_page_keeps_followed_links_only() -> None:
    body = '<title>Reefs</title><a href="/b">bee</a> <a href="/c">sea</a>'
    followed = {f"{URL}b": Request(f"{URL}b"), f"{URL}d": Request(f"{URL}d", meta={"link_text": "dee"})}
    made = page(flight(html(body), links=followed))
    assert (made.title, made.started, made.ended) == ("Reefs", 5.0, 7.0)
    assert dict(zip(made.links.urls, made.links.anchors, strict=True)) == {f"{URL}b": "bee", f"{URL}d": "dee"}


def test_page_relevance_is_that_of_spider() -> None:
    assert page(flight(html("<p>reef"), relevance=0.5)).data == {RELEVANCE: 0.5}
    links = {f"{URL}b": Request(f"{URL}b", meta={"relevance": 0.25})}
    assert page(flight(html('<a href="/b">bee</a>'), links=links), given=True).data == {"beta": 0.0, "alpha": [0.25]}


def test_page_of_redirect_has_target_and_of_retry_a_time() -> None:
    moved = page(flight(other=(f"{URL}new", Request(f"{URL}new"))), [(f"{URL}new", Form(0, "", b""), "")])
    assert (moved.outcome, moved.links.urls) == ("redirect", [f"{URL}new"])
    assert moved.data[REQUESTS]["nodes"] == [f"{URL}new"]
    retried = page(flight(other=(URL, Request(URL, meta={"retry_reason": "timeout"}))))
    assert (retried.outcome, retried.retry_at, retried.note) == ("unreachable", 7.0, "retried: timeout")
