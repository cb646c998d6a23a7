"""A crawl as it happens, as server-sent events: visits with their numbers, progress, and what becomes of its state.

    retry: 2000
    id: 17                                 the number of a visit: what a browser sends back after a lost connection
    event: visit
    data: {"seq": 17, "url": ...}

    : still here                           every 15 s without anything else

A stream looks at the log once a second, which costs two `stat` calls when nothing is new. It ends with the event `end`
when the crawl is over and everything was sent, when who asked may no longer see it, or when the server stops; and
without a word when the client is gone.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field

from fastapi import HTTPException
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from lycosa.collection.words import clean
from lycosa.core.types import Visit
from lycosa.people import crawls
from lycosa.people.crawls import OVER
from lycosa.people.database import DatabaseAway
from lycosa.server.api.crawls import Crawl, crawl_as_told
from lycosa.server.guards import CrawlAccess, may, still_there
from lycosa.server.progress import progress_of
from lycosa.server.results import label_of, why_of
from lycosa.server.site import Site
from lycosa.server.views import CachedView

POLL, PROGRESS, CURVE, HEARTBEAT, CHECK = 1.0, 2.0, 5.0, 15.0, 10.0
"""Seconds between two looks at the log, two words on progress, two curves, two signs of life, two looks at rights."""

BATCH = 100
"""Visits that are sent at once; after that, others get their turn."""

TOLD = "kind IN ('page', 'redirect', 'revisit', 'sitemap')"
"""Visits that are told of: not what a crawl does on the way, as robots.txt."""


@dataclass(slots=True)
class Feed:
    """What one stream has sent so far, and what it has to send next. Its methods run in threads."""

    access: CrawlAccess
    after: int
    tick: float = POLL
    generation: int = -1
    state: str = ""
    progressed: float = -1e9
    drew: float = -1e9
    drawn: int = -1
    checked: float = field(default_factory=time.monotonic)

    @property
    def site(self) -> Site:
        return self.access.site

    def look(self) -> tuple[list[str], bool, bool]:
        """What is new as events, whether there is more to be had at once, and whether that was the end."""
        now = time.monotonic()
        if now - self.checked >= CHECK:
            self.checked = now
            if reason := self._refused():
                return [_event("end", {"reason": reason})], False, True
        try:
            row = crawls.get(self.site.database, self.access.crawl["id"])
        except DatabaseAway:
            return [], False, False  # it comes back
        except crawls.Gone:
            return [_event("end", {"reason": "deleted"})], False, True
        cached = self.access.cached
        if self.generation not in (-1, cached.view.generation):
            return [_event("end", {"reason": "begun anew"})], False, True
        self.generation = cached.view.generation
        upto = cached.view.seq
        try:  # all that is asked of the database, before anything counts as sent
            crawl = crawl_as_told(self.site.database, row)
            labels = self.access.labels if upto > self.after else {}
        except DatabaseAway:
            return [], False, False
        events, more = self._visits(cached, upto, labels)
        events += self._progress(cached, crawl, now, full=crawl.state in OVER and not more)
        if crawl.state != self.state:
            self.state = crawl.state
            events.append(_event("state", crawl.model_dump()))
        over = crawl.state in OVER and not more
        if over:
            events.append(_event("end", {"reason": crawl.state}))
        return events, more, over

    def _refused(self) -> str:
        """Why the stream may not go on; empty if it may."""
        try:
            if not still_there(self.access.person):
                return "signed out"
            may(self.access.person, self.access.interest["id"], "read")
        except DatabaseAway:
            return ""  # it was allowed a moment ago; asked again in ten seconds
        except HTTPException:
            return "not shared any more"
        return ""

    def _visits(self, cached: CachedView, upto: int, labels: Mapping[str, bool]) -> tuple[list[str], bool]:
        view = cached.view
        if upto <= self.after:
            return [], False
        events = []
        with view.reading() as log:
            where = f"seq > ? AND seq <= ? AND {TOLD}"
            for seq, visit in log.numbered(where, f"seq LIMIT {BATCH}", (self.after, upto)):
                assert isinstance(visit, Visit)
                self.after = seq
                event = {
                    "seq": seq,
                    "url": visit.node,
                    "title": clean(visit.title)[:500],
                    "score": visit.worth,  # what it is worth now
                    "found": visit.is_version and visit.worth >= view.threshold and not visit.same_as,
                    "label": label_of(labels, visit.node),
                    "at": visit.started,
                    "kind": visit.kind,
                    "outcome": visit.outcome,
                    "why": why_of(view.origin(log, visit.node), visit.score).model_dump(),
                }
                events.append(_event("visit", event, seq))
        more = len(events) == BATCH
        if not more:
            self.after = max(self.after, upto)
        return events, more

    def _progress(self, cached: CachedView, crawl: Crawl, now: float, *, full: bool) -> list[str]:
        if not full and now - self.progressed < PROGRESS:
            return []
        self.progressed = now
        curve = cached.view.seq != self.drawn and (full or now - self.drew >= CURVE)
        if curve:
            self.drew, self.drawn = now, cached.view.seq
        data = progress_of(cached.view, crawl, self.site.clock(), curve=curve).model_dump()
        if not curve:
            del data["curve"]
        return [_event("progress", data)]


async def stream(feed: Feed) -> AsyncGenerator[str, None]:
    """The events of a feed, until it ends. Who consumes it closes it."""
    views = feed.site.views
    yield "retry: 2000\n\n"
    spoke = time.monotonic()
    while True:
        if views.stopping.is_set():
            yield _event("end", {"reason": "the server stops"})
            return
        try:
            events, more, over = await run_in_threadpool(feed.look)
        except HTTPException as error:  # the directory can't be read now
            yield _event("end", {"reason": str(error.detail)})
            return
        if events:
            yield "".join(events)
            spoke = time.monotonic()
        elif time.monotonic() - spoke >= HEARTBEAT:
            yield ": still here\n\n"
            spoke = time.monotonic()
        if over:
            return
        if not more:
            await asyncio.sleep(feed.tick)


class EventStream(StreamingResponse):
    """The response; whatever happens to the connection, the stream is closed and no longer counted."""

    media_type = "text/event-stream"

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.events = stream(feed)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(self.events, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send, and watch for the client to leave."""
        sending = asyncio.ensure_future(self.stream_response(send))
        leaving = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            await self.events.aclose()
            self.feed.site.views.end(self.feed.access.person.id)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _event(name: str, data: object, number: int | None = None) -> str:
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {name}\ndata: {text}\n\n"
