"""A web of a few pages, whose responses are scripted for each moment at which it is crawled or refreshed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import lycosa
from lycosa.core.errors import FetchError
from lycosa.core.types import Visit
from lycosa.crawling import Crawl
from lycosa.spaces.web_space import WebSpace
from lycosa.testweb.simulation import clock, run_virtual
from lycosa.web.fetch import Response
from lycosa.web.politeness import Politeness

ADDRESS = "192.0.2.7"
PAGE = "http://reef.test/coral-26"
"""Page whose eighth revisit is the unconditional one (asking.proves)."""
OTHER = "http://reef.test/atoll"
DAY = 86_400.0

REEF = (
    "Coral reefs are built by colonies of polyps over thousands of years. A coral reef shelters a quarter of all "
    "species of the sea. Where the water warms, coral bleaches and the reef falls silent."
)
BLEACHED = (
    "The survey of this spring found most of the coral dead. Divers counted nine living colonies on the outer reef, "
    "and none in the lagoon, where storms had turned every table of coral over."
)


def html(
    text: str = REEF, *, title: str = "Coral reefs", head: str = "", foot: str = "", links: Sequence[str] = ()
) -> str:
    """Return a page about coral."""
    told = "".join(f'<p>See <a href="{url}">coral there</a>.</p>' for url in links)
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>{title}</title>{head}</head>'
        f"<body><main><h1>{title}</h1><p>{text}</p>{told}</main><footer>{foot}</footer></body></html>"
    )


@dataclass(frozen=True)
class Says:
    """Scripted response; conditional requests may get 304."""

    body: str | bytes = field(default_factory=html)
    status: int = 200
    type: str = "text/html; charset=utf-8"
    etag: str = ""
    modified: str = ""
    more: Mapping[str, str] = field(default_factory=dict)
    honours: bool = True
    """Whether requests with its validators get 304."""
    insists: bool = False
    """Whether any conditional request gets 304."""
    cut: int | None = None
    fails: str = ""
    """Outcome of a failed request."""

    def answer(self, asked: Mapping[str, str], wanted: frozenset[str]) -> Response:
        """Return the response as received by the client."""
        if self.fails:
            raise FetchError(self.fails, "so the script says", again=self.fails in ("timeout", "unreachable"))  # type: ignore[arg-type]
        given = {"ETag": self.etag, "Last-Modified": self.modified, **self.more}
        fields = {name: value for name, value in given.items() if value}
        status, body = self.status, self.body if isinstance(self.body, bytes) else self.body.encode()
        if self._stands(asked):
            status, body = 304, b""
        else:
            fields = {"Content-Type": self.type, **fields}
        response = Response(
            status,
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode(),
            [(name.encode(), value.encode("latin-1")) for name, value in fields.items()],
            body,
            ADDRESS,
            fields={name.lower(): value for name, value in fields.items()},
        )
        kind = self.type.partition(";")[0].lower()
        if status == 200 and wanted and kind not in wanted:
            response.body, response.truncated = b"", "unwanted"
        elif self.cut is not None:
            response.body, response.truncated = body[: self.cut], "disconnect"
        return response

    def _stands(self, asked: Mapping[str, str]) -> bool:
        tag, since = asked.get("If-None-Match", ""), asked.get("If-Modified-Since", "")
        if self.insists:
            return bool(tag or since)
        if self.status != 200 or not self.honours:
            return False
        return tag.removeprefix("W/") == self.etag.removeprefix("W/") if tag else bool(since) and since == self.modified


GONE = Says(b"nothing here", 404)
ROBOTS = Says("User-agent: *\nAllow: /\n", type="text/plain")


class Script:
    """Transport with a list of responses per URL: moment n gets the n-th, later moments the last."""

    def __init__(self, pages: Mapping[str, Sequence[Says] | Callable[[int], Says]], missing: Says = GONE) -> None:
        self.pages = dict(pages)
        self.missing = missing
        self.moment = 0
        self.requests: list[tuple[float, str, dict[str, str]]] = []
        """(time, URL, headers) of each request."""

    async def address(self, url: str) -> str:
        """Return the one address of all hosts."""
        said = self._said(url)
        if said.fails == "unknown-host":
            raise FetchError("unknown-host", "no such host")
        return ADDRESS

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str] = frozenset()) -> Response:
        """Return the scripted response of this moment."""
        said = self._said(url)
        self.requests.append((clock(), url, headers))
        await asyncio.sleep(0.01)
        return said.answer(headers, wanted)

    async def close(self) -> None:
        pass

    def _said(self, url: str) -> Says:
        said = self.pages.get(url, [ROBOTS] if url.endswith("/robots.txt") else [self.missing])
        return said(self.moment) if callable(said) else said[min(self.moment, len(said) - 1)]

    def asked(self, url: str) -> list[dict[str, str]]:
        """Return the conditional headers of all requests for a page, in order."""
        wanted = ("If-None-Match", "If-Modified-Since", "Cache-Control")
        return [
            {name: headers[name] for name in wanted if name in headers} for _, to, headers in self.requests if to == url
        ]

    def space(self, **options: Any) -> WebSpace:
        """Return a web space over this script."""
        return WebSpace(self, Politeness(clock, delay=0.1, free=lambda address: True), clock, **options)


@dataclass
class Told:
    """Visits of a run, and its crawl."""

    visits: list[Visit]
    crawl: Crawl
    ended: float

    def of(self, url: str) -> list[Visit]:
        return [visit for visit in self.visits if visit.node == url]


def run(crawl: Callable[[], Crawl], start: float = 0.0) -> Told:
    """Run a crawl, created inside the virtual loop, from `start` seconds on."""

    async def go() -> Told:
        made = crawl()
        visits = [visit async for visit in made]
        return Told(visits, made, clock())

    return run_virtual(go(), start=start)


def crawl(
    path: Path,
    script: Script,
    seeds: Sequence[str] = (PAGE,),
    *,
    space: Mapping[str, Any] | None = None,
    **options: Any,
) -> Told:
    """Crawl the script from its seeds to its end, at moment 0."""
    given: dict[str, Any] = {"strategy": "breadth-first", "judge": "vector", "clock": clock, "budget": 500, **options}
    return run(lambda: lycosa.crawl("coral reef", seeds, out=path, space=script.space(**(space or {})), **given))


def refresh(
    path: Path,
    script: Script,
    moment: int,
    *,
    space: Mapping[str, Any] | None = None,
    days: float = 2.0,
    **options: Any,
) -> Told:
    """Refresh all pages `days` days after the previous moment."""
    script.moment = moment
    given: dict[str, Any] = {"everything": True, "clock": clock, **options}
    return run(lambda: lycosa.refresh(path, space=script.space(**(space or {})), **given), start=moment * days * DAY)
