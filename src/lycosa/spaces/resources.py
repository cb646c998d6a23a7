"""What rendered pages ask for, sent as the crawl sends its own requests: robots.txt first, guarded, after a pause."""

from __future__ import annotations

import asyncio
import hashlib
import math
from typing import TYPE_CHECKING, Any

from lycosa.core.errors import FetchError
from lycosa.core.types import Exchange, Outcome, Page, Resource, Task, Visit
from lycosa.web.dates import retry_after
from lycosa.web.fetch import Response
from lycosa.web.rendering import MOST_ASKED, Asked, Rendered
from lycosa.web.robots import Rules
from lycosa.web.urls import lane, origin, parse

if TYPE_CHECKING:
    from lycosa.spaces.web import WebSpace

LONGEST_WAIT = 60.0
"""Seconds that a request waits for a host; one that wants to be left alone for longer is not asked."""

_PRIVATE = ("cookie", "authorization")

REDIRECTS = frozenset({301, 302, 303, 307, 308})
BUSY = frozenset({429, 503})

AGAIN = 0.02
"""Seconds until a busy host is looked at again."""

MOST_URL = 8_000


class Resources:
    """Sends requests beside those of the frontier, and tells what the log has to know of them."""

    def __init__(self, space: WebSpace) -> None:
        self.space = space
        self._closed: dict[str, str] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    async def fetch(self, url: str, headers: dict[str, str], told: Rendered) -> tuple[Response, Resource]:
        """The answer to a GET, and what is archived; FetchError if it may not be asked for, or does not come."""
        address = parse(url)
        if address is None or len(address) > MOST_URL or "@" in address[: address.find("/", 8)]:
            raise FetchError("invalid", "not an address of the web")
        address = address.partition("#")[0]
        started = self.space.clock()
        fields = {**self.space.headers, **headers}
        try:
            await self._check_rules(address, told)
            started = self.space.clock()
            response = await self._send(address, fields)
        except FetchError as error:
            self._tell(told, Asked(address, error.outcome, 0, 0, "", started, self.space.clock(), error.address))
            raise
        if response.status in (429, 503):
            clock = self.space.clock
            until = clock() + max(5.0, retry_after(response.fields.get("retry-after", ""), clock()))
            self.space.politeness.hold(lane(address), until, "asked to come back later")
            told.rests[lane(address)] = until
        kept = self._kept(address, started, fields, response)
        self._tell(told, _asked(kept, response, self.space.clock()))
        return response, kept

    def _tell(self, told: Rendered, asked: Asked) -> None:
        if len(told.asked) < MOST_ASKED:
            told.asked.append(list(asked))

    def _kept(self, url: str, started: float, fields: dict[str, str], response: Response) -> Resource:
        """What is archived: nothing that was meant for us alone."""
        sent = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if name.lower() not in _PRIVATE)
        request = f"GET {url[len(origin(url)) :]} HTTP/1.1\r\nHost: {lane(url)}\r\n{sent}\r\n"
        private = bool(self.space.credentials.fields(url)) or any(name.lower() in _PRIVATE for name in fields)
        headers = [field for field in response.headers if not private or field[0].lower() != b"set-cookie"]
        digest = hashlib.sha256(response.body).digest()
        exchange = Exchange(
            request.encode("utf-8", "replace"), response.status_line, headers, response.body, digest, response.truncated
        )
        return Resource(url, started, response.address, exchange)

    async def _send(self, url: str, fields: dict[str, str]) -> Response:
        """One request, when the host is ready for it."""
        space, name = self.space, lane(url)
        where = await space.transport.address(url)
        name_of_request = f"{url} of a page"
        await self._wait(name, where)
        space.politeness.begin(name, name_of_request, where)
        started = space.clock()
        try:
            await space.politeness.enter(where, name_of_request)
            started = space.clock()
            own = space.credentials.fields(url)
            if "Cookie" in own and "Cookie" in fields:  # the page has some of its own
                own["Cookie"] += f"; {fields['Cookie']}"
            signed = space.signer.headers(url, started) if space.signer is not None else ()
            fields = {**fields, **dict(signed), **own}
            return await space.transport.fetch(url, fields, frozenset())
        finally:
            space.politeness.end(name, space.clock() - started, name_of_request)

    async def _wait(self, name: str, address: str) -> None:
        space = self.space
        latest = space.clock() + LONGEST_WAIT
        while True:
            until, why = space.politeness.ready(name, address)
            now = space.clock()
            if until <= now:
                return
            if now >= latest or (until > latest and until != math.inf):
                raise FetchError("busy", f"{name} is to be left alone: {why}")
            await asyncio.sleep(AGAIN if until == math.inf else min(until - now, 1.0))

    async def _check_rules(self, url: str, told: Rendered) -> None:
        """robots.txt has to be known, and to allow it."""
        base = origin(url)
        async with self._asking.setdefault(base, asyncio.Lock()):
            rules = self.space.rules(base) or await self._ask(url, base, told)
        if not rules.allowed(url):
            raise FetchError("denied", f"{base}/robots.txt does not allow it")

    async def _ask(self, url: str, base: str, told: Rendered) -> Rules:
        """Read a robots.txt, over redirects; what came of it is for the log, too."""
        space, name = self.space, lane(url)
        await self._wait_for(name)  # the crawl itself may be asking
        if rules := space.rules(base):
            return rules
        if why := space.closed(base) or self._closed.get(base, ""):
            raise FetchError("denied", why)
        errand = Task(f"{base}/robots.txt", "robots", origin=url)
        try:
            while True:
                if space.politeness.heard(errand.node) is None:
                    await self._wait(lane(errand.node), "")
                page = await space.visit(errand)
                told.requests += 1 if page.status else 0
                told.bytes += page.size
                told.rules.append(_as_data(errand, page))
                if "next" not in page.data:
                    break
                errand = Task(page.data["next"], "robots", origin=url, hops=page.data["hops"])
        finally:
            space.release(name)
        if "body" not in page.data:
            self._closed[base] = f"{base}/robots.txt can't be read ({page.outcome})"
            raise FetchError("denied", self._closed[base])
        rules = space.ahead[base] = Rules.parse(page.data["body"], space.agent)
        return rules

    async def _wait_for(self, name: str) -> None:
        latest = self.space.clock() + LONGEST_WAIT
        while self.space.is_asking(name):
            if self.space.clock() > latest:
                raise FetchError("busy", f"the robots.txt of {name} does not come")
            await asyncio.sleep(AGAIN)


def _asked(kept: Resource, response: Response, now: float) -> Asked:
    """What the log keeps of an answer."""
    status = response.status
    outcome: Outcome = "ok" if status < 300 else "redirect" if status in REDIRECTS else "gone"
    if status >= 500 or status == 429:
        outcome = "busy" if status in BUSY else "broken"
    kind = response.fields.get("content-type", "").partition(";")[0].strip().lower()[:100]
    size = len(response.body)
    return Asked(kept.url, outcome, status, size, kind, kept.started, now, response.address, kept.exchange.digest)


def _as_data(errand: Task, page: Page) -> dict[str, Any]:
    """What the log keeps of a robots.txt."""
    return {
        "node": errand.node, "origin": errand.origin, "outcome": page.outcome, "attempt": errand.attempt,
        "hops": errand.hops, "ended": page.ended, "retry_at": page.retry_at,
        "started": page.started, "status": page.status, "size": page.size, "address": page.address,
        "data": {key: value for key, value in page.data.items() if key in ("body", "next", "hops")},
    }  # fmt: skip


def as_visit(rule: dict[str, Any]) -> Visit:
    """The same as a visit, to learn from."""
    return Visit(kind="robots", pick=0, **rule)
