"""The result of a request as a page, with the links that the spider follows and their anchor texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scrapy import Request
from scrapy.http import Response, TextResponse

from lycosa.core.types import Links, Outcome, Page, Task
from lycosa.drawing.formats import printable
from lycosa.web.html import HTML, detect_language_code, read_body
from lycosa.web.parse_process import LARGE_BODY
from lycosa.web.urls import is_http
from lycosa_scrapy.requests import address, hint_of
from lycosa_scrapy.space import RELEVANCE, REQUESTS, Form, request_data

BUSY = frozenset({429, 503})


@dataclass(slots=True, eq=False)
class Flight:
    """A request that Scrapy is processing, and its state."""

    request: Request
    task: Task
    host_key: str
    started: float
    downloading: bool = True
    reached: bool = False  # the request has reached the downloader's slot
    response: Response | None = None
    waits_until: float = 0.0  # until this time picks wait for the page's items
    items: int = 0
    relevance: float | None = None
    links: dict[str, Request] = field(default_factory=dict)  # by node: requests that follow a link of the page
    produced: list[Request] = field(default_factory=list)  # requests passed on to Scrapy's engine
    filtered: int = 0  # number of dropped requests to known nodes
    other: tuple[str, Request] | None = None  # node and request of its replacement by a redirect or retry


def page_of(flight: Flight, new_requests: list[tuple[str, Form, str]], now: float, given: bool) -> Page:
    """Return the page for the engine to judge; `new_requests` are those to nodes new to the crawl.

    With `given`, relevances of pages and links come from the spider only.
    """
    page = _page_of_replacement(flight, now) if flight.other is not None else _page_of_response(flight)
    page.started, page.ended = flight.started, now
    if new_requests:
        page.data[REQUESTS] = request_data(new_requests)
    if flight.other is None:
        _link(page, flight)
    if given:
        page.data |= {"beta": flight.relevance or 0.0, "alpha": _hints(page, flight)}
    elif flight.relevance is not None:
        page.data[RELEVANCE] = flight.relevance
    page.title, page.note = printable(page.title), printable(page.note)
    return page


def _page_of_replacement(flight: Flight, now: float) -> Page:
    assert flight.other is not None
    node, request = flight.other
    if node == flight.task.node:
        why = str(request.meta.get("retry_reason", "")) or f"attempt {flight.task.attempt}"
        return Page("unreachable", retry_at=now, note=f"retried: {why}"[:200])
    return Page("redirect", status=302, kind="redirect", links=Links.to(node))


def _page_of_response(flight: Flight) -> Page:
    response = flight.response
    if response is None:
        if flight.reached:
            return Page("unreachable", note="no response")
        return Page("denied", note="no response: robots.txt or a middleware did not let it pass")
    page = Page(_outcome(response), status=response.status, size=len(response.body))
    page.address = str(response.ip_address or "")
    if page.outcome == "ok":
        _read(page, response)
    return page


def _outcome(response: Response) -> Outcome:
    status = response.status
    if 200 <= status < 300:
        return "ok" if isinstance(response, TextResponse) else "unwanted"
    if status in BUSY:
        return "busy"
    return "gone" if status < 500 else "broken"


def _read(page: Page, response: Response) -> None:
    """Parse the page as Lycosa does, up to the maximum size."""
    kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
    if kind.partition(";")[0].strip().lower() not in HTML | {""}:
        kind = f"text/plain;{kind.partition(';')[2]}"
    url = response.url if is_http(response.url) else "http://localhost/"
    document = read_body(response.body[:LARGE_BODY], url, kind)
    document.fill(page)
    if len(response.body) > LARGE_BODY:
        page.flags.append("truncated:read")
    declared = (response.headers.get("Content-Language") or b"").decode("latin-1").lower()[:20]
    page.language = document.language or declared
    page.guessed = not page.language
    page.language = page.language or detect_language_code(page.text[:1000])
    page.source = lambda: response.text if isinstance(response, TextResponse) else ""


def _link(page: Page, flight: Flight) -> None:
    """Keep the links of the page that the spider follows, and add its further requests as links."""
    links, wanted = page.links, flight.links
    nodes = [address(url) if "&" in url else url for url in links.urls]
    keep = [at for at, node in enumerate(nodes) if node in wanted]
    kept = links.select(keep)
    kept.urls = [nodes[at] or "" for at in keep]
    known, marks = set(kept.urls), page.marked.count("\x01")
    more = {node: _text(request.meta.get("link_text")) for node, request in wanted.items() if node not in known}
    for position, (node, anchor) in enumerate(more.items(), marks):
        page.marked += f" \x01{anchor}\x02"
        kept.add(node, anchor, position=position, path="" if links.paths else None)
    if page.outcome != "ok":
        kept.link_relevances = np.zeros(len(kept), np.float32)
    page.links = kept


def _hints(page: Page, flight: Flight) -> list[float]:
    wanted = flight.links
    return [hint_of(wanted[url]) if url in wanted else 0.0 for url in page.links.urls]


def _text(value: Any) -> str:
    return value.replace("\x01", "").replace("\x02", "")[:500] if isinstance(value, str) else ""
