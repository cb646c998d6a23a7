"""Pages in a browser: which are rendered, how the result is read, and how long the crawl waits."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from lycosa.core.errors import FetchError
from lycosa.core.protocols import Clock
from lycosa.core.types import Exchange, Links, Outcome, Page, Resource, Task, Visit
from lycosa.web import browser_protocols
from lycosa.web.browser_protocols import Fetch, LoggedRequest, PageSigns, RenderedPage, Renderer, classify_scripts
from lycosa.web.dates import parse_retry_after
from lycosa.web.fetch import Response
from lycosa.web.html import DOM, HTML
from lycosa.web.inflate import source_of
from lycosa.web.parse_process import LARGE_BODY
from lycosa.web.robots import RobotsRules
from lycosa.web.urls import canonical, host_key, origin, parse
from lycosa.web.walls import Wall

if TYPE_CHECKING:
    from lycosa.spaces.web_space import WebSpace

# Pages that may overtake one in the browser before the crawl waits, and the maximum wait in seconds.
OVERTAKEN, MAX_BROWSER_WAIT = 2, 5.0
WALLS = frozenset(get_args(Wall))


class Stage:
    def __init__(
        self, clock: Clock, fetch: Fetch, read: Callable[[Task, Response, Page], Awaitable[None]], inflated: int
    ) -> None:
        self.clock = clock
        self.fetch = fetch  # sends the requests of a page
        self.read = read  # parses a response into a page
        self.inflated = inflated
        self.arrived = 0  # number of pages so far
        self._shown: dict[int, int] = {}  # pages in the browser or its queue -> value of `arrived` at their start
        self._changed_at = 0.0  # time of the last change of `_shown`

    async def render(self, task: Task, page: Page, renderer: Renderer) -> None:
        """Render a page in a browser if that may add content; the result is logged."""
        signs = _signs(page)
        if signs is None:
            return
        why = renderer.render_reason(task.node, signs)
        if not why:
            if signs.is_shell and page.outcome == "ok":
                page.data["shell"] = True
            return
        exchange = page.exchange
        assert exchange is not None
        signs = replace(signs, words=len(page.text.split()))
        fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in exchange.headers}
        received = Response(page.status, exchange.status_line, exchange.headers, exchange.body, fields=fields)
        rendered = await self._in_browser(task, renderer, received)
        page.data["render"] = _render_record(why, rendered, signs)
        if rendered.robots_files:
            page.data["robots"] = rendered.robots_files
        if rendered.held_hosts:
            page.data["rests"] = rendered.held_hosts
        if rendered.dom:
            await self._show(task, page, received, rendered, signs)
        if page.exchange is not None:
            leads = map(canonical, rendered.navigations)
            _add(page.links, [url for url in leads if url is not None and url != task.node])

    async def _in_browser(self, task: Task, renderer: Renderer, received: Response) -> RenderedPage:
        """Return the rendered page, while `hold` limits how far the crawl runs ahead."""
        self._shown[id(task)] = self.arrived
        self._changed_at = self.clock()
        try:
            return await renderer.render(task.node, received, self.fetch)
        finally:
            del self._shown[id(task)]
            self._changed_at = self.clock()

    def hold(self) -> float:
        """Return until when picks are suspended: while enough pages have overtaken one in the browser.

        Its links may be better than all known ones; the wait is bounded because a page may hang.
        """
        if not self._shown or self.arrived - min(self._shown.values()) < OVERTAKEN:
            return 0.0
        return self._changed_at + MAX_BROWSER_WAIT

    async def _show(self, task: Task, page: Page, received: Response, rendered: RenderedPage, signs: PageSigns) -> None:
        assert page.exchange is not None
        kept: dict[str, str] = {
            name: received.fields[name]
            for name in ("content-language", "x-robots-tag", "tdm-reservation", "content-usage", "content-signal")
            if name in received.fields
        }
        shown = Response(200, b"", [], rendered.dom, fields={**kept, "content-type": DOM})
        fresh = Page("ok")
        await self.read(task, shown, fresh)
        words, links = len(fresh.text.split()), len(fresh.links)
        page.data["render"] |= {"words": [signs.words, words], "links": [signs.links, links]}
        opted_out = fresh.outcome == "unwanted" and "opt_outs" in fresh.data
        if page.outcome == "ok" and (opted_out or (fresh.outcome in WALLS and signs.is_shell)):
            _leave_out(page, fresh)
        # The server returned "not found", so few rendered words are an error page.
        if fresh.outcome != "ok" or (page.outcome != "ok" and words < 30):
            return  # an error page drawn by scripts
        page.outcome, page.title, page.language, page.guessed = "ok", fresh.title, fresh.language, fresh.guessed
        page.marked, page.main, page.headings, page.lead = fresh.marked, fresh.main, fresh.headings, fresh.lead
        page.links, page.note, page.retry_at = fresh.links, "", 0.0
        page.flags = [flag for flag in page.flags if flag.startswith("truncated")] + [*fresh.flags, "rendered"]
        page.data |= fresh.data
        headers = [(b"Content-Type", DOM.encode())]
        digest = hashlib.sha256(rendered.dom).digest()
        page.exchange = Exchange(
            b"", b"HTTP/1.1 200 OK", headers, rendered.dom, digest, received=page.exchange, resources=rendered.resources
        )
        page.source = partial(source_of, page.exchange, self.inflated)


def _signs(page: Page) -> PageSigns | None:
    exchange = page.exchange
    if exchange is None or (page.outcome != "ok" and (page.outcome, page.status) != ("gone", 404)):
        return None
    kind = exchange.header("content-type").partition(";")[0].strip().lower()
    if kind not in HTML or page.kind == "sitemap" or len(exchange.body) > LARGE_BODY:
        return None
    if page.outcome == "ok":
        links = len(page.links)
        has_few_links = links <= browser_protocols.FEW_LINKS
        shell_words = browser_protocols.SHELL_WORDS
        words = len(page.marked.split(None, browser_protocols.AMPLE_WORDS if has_few_links else shell_words))
        if words >= shell_words or not page.scripts:
            later = browser_protocols.LOADS_LATER
            return PageSigns(words, links, page.scripts, loads_later=lambda: classify_scripts(page.source()) == later)
        source = page.source()
        return PageSigns.of(source, words, links, classify_scripts(source))
    source = source_of(exchange, LARGE_BODY)
    signs = PageSigns.of(source, 0, 0, classify_scripts(source))  # single-page applications respond so for any path
    return signs if signs.has_empty_mount and signs.scripts else None


def _leave_out(page: Page, shown: Page) -> None:
    page.outcome, page.note, page.title, page.retry_at = shown.outcome, shown.note, shown.title, shown.retry_at
    page.exchange, page.source, page.links = None, str, Links()
    page.marked = page.main = page.headings = page.lead = ""
    page.data |= shown.data


def _render_record(why: str, rendered: RenderedPage, signs: PageSigns) -> dict[str, Any]:
    record: dict[str, Any] = {
        "why": why, "requests": rendered.requests, "bytes": rendered.bytes, "seconds": round(rendered.seconds, 2),
        "words": [signs.words, signs.words], "links": [signs.links, signs.links],
    }  # fmt: skip
    more = {"resources": rendered.request_log, "left_out": rendered.skipped, "failed": rendered.failed}
    return record | {name: value for name, value in more.items() if value}


def _add(links: Links, urls: list[str]) -> None:
    """Add links for the targets of script navigation, without anchors, like those of a meta refresh."""
    at = max(links.positions, default=-1) + 1
    for number, url in enumerate(urls, at):
        links.add(url, rel="refresh", position=number, path="" if links.paths or not links.urls else None)


# Requests of rendered pages follow the crawl's rules: robots.txt, address guard, delays.

MAX_WAIT_SECONDS = 60.0  # seconds that a request waits for a host; hosts with a longer delay are skipped
_PRIVATE = ("cookie", "authorization")

REDIRECTS = frozenset({301, 302, 303, 307, 308})
BUSY = frozenset({429, 503})

AGAIN = 0.02  # seconds until a busy host is checked again


class Resources:
    """Sends requests of rendered pages and collects their log records."""

    def __init__(self, space: WebSpace) -> None:
        self.space = space
        self._closed: dict[str, str] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def fetch(self, url: str, headers: dict[str, str], rendered: RenderedPage) -> tuple[Response, Resource]:
        """Fetch a resource by GET; FetchError if it is refused or fails."""
        target = parse(url)
        if target is None or len(target) > 8_000 or "@" in target[: target.find("/", 8)]:
            raise FetchError("invalid", "not a web URL")
        target = target.partition("#")[0]
        started = self.space.clock()
        fields = {**self.space.headers, **headers}
        try:
            await self._check_rules(target, rendered)
            started = self.space.clock()
            response = await self._send(target, fields)
        except FetchError as error:
            self._log_request(
                rendered, LoggedRequest(target, error.outcome, 0, 0, "", started, self.space.clock(), error.address)
            )
            raise
        if response.status in (429, 503):
            clock = self.space.clock
            until = clock() + max(5.0, parse_retry_after(response.fields.get("retry-after", ""), clock()))
            self.space.politeness.hold(host_key(target), until, "asked to come back later")
            rendered.held_hosts[host_key(target)] = until
        kept = self._kept(target, started, fields, response)
        self._log_request(rendered, _logged_request(kept, response, self.space.clock()))
        return response, kept

    def _log_request(self, rendered: RenderedPage, request: LoggedRequest) -> None:
        if len(rendered.request_log) < browser_protocols.MAX_LOGGED_REQUESTS:
            rendered.request_log.append(list(request))

    def _kept(self, url: str, started: float, fields: dict[str, str], response: Response) -> Resource:
        sent = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if name.lower() not in _PRIVATE)
        request = f"GET {url[len(origin(url)) :]} HTTP/1.1\r\nHost: {host_key(url)}\r\n{sent}\r\n"
        private = bool(self.space.credentials.fields(url)) or any(name.lower() in _PRIVATE for name in fields)
        headers = [field for field in response.headers if not private or field[0].lower() != b"set-cookie"]
        digest = hashlib.sha256(response.body).digest()
        exchange = Exchange(
            request.encode("utf-8", "replace"), response.status_line, headers, response.body, digest, response.truncated
        )
        return Resource(url, started, response.address, exchange)

    async def _send(self, url: str, fields: dict[str, str]) -> Response:
        space, name = self.space, host_key(url)
        ip_address = await space.transport.address(url)
        name_of_request = f"{url} of a page"
        await self._wait(name, ip_address)
        space.politeness.begin(name, name_of_request, ip_address)
        started = space.clock()
        try:
            await space.politeness.wait_for_address(ip_address, name_of_request)
            started = space.clock()
            own = space.credentials.fields(url)
            if "Cookie" in own and "Cookie" in fields:  # merge with cookies of the page
                own["Cookie"] += f"; {fields['Cookie']}"
            signed = space.signer.headers(url, started) if space.signer is not None else ()
            fields = {**fields, **dict(signed), **own}
            return await space.transport.fetch(url, fields, frozenset())
        finally:
            space.politeness.end(name, space.clock() - started, name_of_request)

    async def _wait(self, name: str, address: str) -> None:
        space = self.space
        latest = space.clock() + MAX_WAIT_SECONDS
        while True:
            until, why = space.politeness.ready(name, address)
            now = space.clock()
            if until <= now:
                return
            if now >= latest or (until > latest and until != math.inf):
                raise FetchError("busy", f"{name} must not be requested now: {why}")
            await asyncio.sleep(AGAIN if until == math.inf else min(until - now, 1.0))

    async def _check_rules(self, url: str, rendered: RenderedPage) -> None:
        base = origin(url)
        async with self._locks.setdefault(base, asyncio.Lock()):
            rules = self.space.rules(base) or await self._fetch_robots(url, base, rendered)
        if not rules.allowed(url):
            raise FetchError("denied", f"{base}/robots.txt does not allow it")

    async def _fetch_robots(self, url: str, base: str, rendered: RenderedPage) -> RobotsRules:
        """Fetch a robots.txt, following redirects; the result is also logged."""
        space, name = self.space, host_key(url)
        await self._wait_for(name)  # the crawl itself may be fetching it
        if rules := space.rules(base):
            return rules
        if why := space.closed(base) or self._closed.get(base, ""):
            raise FetchError("denied", why)
        prerequisite = Task(f"{base}/robots.txt", "robots", origin=url)
        try:
            while True:
                if space.politeness.shared_robots(prerequisite.node) is None:
                    await self._wait(host_key(prerequisite.node), "")
                page = await space.visit(prerequisite)
                rendered.requests += 1 if page.status else 0
                rendered.bytes += page.size
                rendered.robots_files.append(_as_data(prerequisite, page))
                if "next" not in page.data:
                    break
                prerequisite = Task(page.data["next"], "robots", origin=url, hops=page.data["hops"])
        finally:
            space.release(name)
        if "body" not in page.data:
            self._closed[base] = f"{base}/robots.txt can't be read ({page.outcome})"
            raise FetchError("denied", self._closed[base])
        rules = space.ahead[base] = RobotsRules.parse(page.data["body"], space.agent)
        return rules

    async def _wait_for(self, name: str) -> None:
        latest = self.space.clock() + MAX_WAIT_SECONDS
        while self.space.is_fetching_robots(name):
            if self.space.clock() > latest:
                raise FetchError("busy", f"the robots.txt of {name} could not be fetched")
            await asyncio.sleep(AGAIN)


def _logged_request(kept: Resource, response: Response, now: float) -> LoggedRequest:
    status = response.status
    outcome: Outcome = "ok" if status < 300 else "redirect" if status in REDIRECTS else "gone"
    if status >= 500 or status == 429:
        outcome = "busy" if status in BUSY else "broken"
    kind = response.fields.get("content-type", "").partition(";")[0].strip().lower()[:100]
    size = len(response.body)
    return LoggedRequest(
        kept.url, outcome, status, size, kind, kept.started, now, response.address, kept.exchange.digest.hex()
    )


def _as_data(prerequisite: Task, page: Page) -> dict[str, Any]:
    return {
        "node": prerequisite.node, "origin": prerequisite.origin, "outcome": page.outcome,
        "attempt": prerequisite.attempt, "hops": prerequisite.hops, "ended": page.ended, "retry_at": page.retry_at,
        "started": page.started, "status": page.status, "size": page.size, "address": page.address,
        "data": {key: value for key, value in page.data.items() if key in ("body", "next", "hops")},
    }  # fmt: skip


def as_visit(rule: dict[str, Any]) -> Visit:
    return Visit(kind="robots", pick=0, **rule)
