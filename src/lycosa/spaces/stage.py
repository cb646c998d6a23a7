"""Pages of the web in a browser: which are worth it, what is read of them, and how long a crawl waits for one."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, get_args

from lycosa.core.protocols import Clock
from lycosa.core.types import Exchange, Links, Page, Task
from lycosa.web.fetch import Response
from lycosa.web.html import DOM, HTML
from lycosa.web.inflate import source_of
from lycosa.web.reading import LARGE
from lycosa.web.rendering import AMPLE, FEW_LINKS, SHELL_WORDS, Fetch, Look, Rendered, Renderer
from lycosa.web.scripts import LATER, scripts_of
from lycosa.web.urls import canonical
from lycosa.web.walls import Wall

LEAST_WORDS = 30
"""Of a rendered page whose server said that there is none: fewer are an error page."""

OVERTAKEN, BROWSERS_TURN = 2, 5.0
"""Pages that may overtake one that is in the browser before the crawl waits for it; and for how many seconds at most,
since a browser was last done with a page."""

WALLS = frozenset(get_args(Wall))

DIRECTING = ("x-robots-tag", "tdm-reservation", "content-usage", "content-signal")
"""Headers that say what may be done with a page, however it is shown."""


class Stage:
    """Where pages are shown."""

    def __init__(
        self, clock: Clock, fetch: Fetch, read: Callable[[Task, Response, Page], Awaitable[None]], inflated: int
    ) -> None:
        self.clock = clock
        self.fetch = fetch
        """Sends what a page asks for."""
        self.read = read
        """Reads an answer into a page."""
        self.inflated = inflated
        self.arrived = 0
        """Pages so far."""
        self._shown: dict[int, int] = {}  # what is in the browser, or waits for it: how many pages there were then
        self._stirred = 0.0  # when that was last seen to change

    async def render(self, task: Task, page: Page, renderer: Renderer) -> None:
        """Have a browser look at it, where that may bring more; what it brought is for the log."""
        look = _look(page)
        if look is None:
            return
        why = renderer.wants(task.node, look)
        if not why:
            if look.is_shell and page.outcome == "ok":
                page.data["shell"] = True
            return
        exchange = page.exchange
        assert exchange is not None
        look = replace(look, words=len(page.text.split()))
        fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in exchange.headers}
        received = Response(page.status, exchange.status_line, exchange.headers, exchange.body, fields=fields)
        rendered = await self._in_browser(task, renderer, received)
        page.data["render"] = _told(why, rendered, look)
        if rendered.rules:
            page.data["robots"] = rendered.rules
        if rendered.rests:
            page.data["rests"] = rendered.rests
        if rendered.dom:
            await self._show(task, page, received, rendered, look)
        if page.exchange is not None:
            leads = map(canonical, rendered.leaves_for)
            _add(page.links, [url for url in leads if url is not None and url != task.node])

    async def _in_browser(self, task: Task, renderer: Renderer, received: Response) -> Rendered:
        """What a browser makes of it; meanwhile the crawl does not run ahead without knowing it."""
        self._shown[id(task)] = self.arrived
        self._stirred = self.clock()
        try:
            return await renderer.render(task.node, received, self.fetch)
        finally:
            del self._shown[id(task)]
            self._stirred = self.clock()

    def hold(self) -> float:
        """Nothing more is picked while a page is in the browser that enough others have overtaken: its links may be
        better than all that is known. But not for long: a page may hang."""
        if not self._shown or self.arrived - min(self._shown.values()) < OVERTAKEN:
            return 0.0
        return self._stirred + BROWSERS_TURN

    async def _show(self, task: Task, page: Page, received: Response, rendered: Rendered, look: Look) -> None:
        """Read the final DOM in place of what was received."""
        assert page.exchange is not None
        kept: dict[str, str] = {
            name: received.fields[name] for name in ("content-language", *DIRECTING) if name in received.fields
        }
        shown = Response(200, b"", [], rendered.dom, fields={**kept, "content-type": DOM})
        fresh = Page("ok")
        await self.read(task, shown, fresh)
        words, links = len(fresh.text.split()), len(fresh.links)
        page.data["render"] |= {"words": [look.words, words], "links": [look.links, links]}
        opted_out = fresh.outcome == "unwanted" and "opt_outs" in fresh.data
        if page.outcome == "ok" and (opted_out or (fresh.outcome in WALLS and look.is_shell)):
            _leave_out(page, fresh)
        if fresh.outcome != "ok" or (page.outcome != "ok" and words < LEAST_WORDS):
            return  # an error page that is drawn by scripts is one all the same
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


def _look(page: Page) -> Look | None:
    """How a page looks that a browser could show; None for what is none."""
    exchange = page.exchange
    if exchange is None or (page.outcome != "ok" and (page.outcome, page.status) != ("gone", 404)):
        return None
    kind = exchange.header("content-type").partition(";")[0].strip().lower()
    if kind not in HTML or page.kind == "sitemap" or len(exchange.body) > LARGE:
        return None
    if page.outcome == "ok":
        links = len(page.links)
        words = len(page.marked.split(None, AMPLE if links <= FEW_LINKS else SHELL_WORDS))
        if words >= SHELL_WORDS or not page.scripts:
            return Look(words, links, page.scripts, later=lambda: scripts_of(page.source()) == LATER)
        source = page.source()
        return Look.of(source, words, links, scripts_of(source))
    source = source_of(exchange, LARGE)
    look = Look.of(source, 0, 0, scripts_of(source))  # an application may answer so wherever no file is
    return look if look.empty and look.scripts else None


def _leave_out(page: Page, shown: Page) -> None:
    """What a browser shows is a wall, or opted out: then so is the page, and nothing of it is kept."""
    page.outcome, page.note, page.title, page.retry_at = shown.outcome, shown.note, shown.title, shown.retry_at
    page.exchange, page.source, page.links = None, str, Links()
    page.marked = page.main = page.headings = page.lead = ""
    page.data |= shown.data


def _told(why: str, rendered: Rendered, look: Look) -> dict[str, Any]:
    """What the log keeps of a rendering."""
    told: dict[str, Any] = {
        "why": why, "requests": rendered.requests, "bytes": rendered.bytes, "seconds": round(rendered.seconds, 2),
        "words": [look.words, look.words], "links": [look.links, look.links],
    }  # fmt: skip
    if rendered.asked:
        told["resources"] = rendered.asked
    if rendered.left_out:
        told["left_out"] = rendered.left_out
    if rendered.failed:
        told["failed"] = rendered.failed
    return told


def _add(links: Links, urls: list[str]) -> None:
    """Where a page's scripts wanted to go: links without words, as those of a meta refresh."""
    at = max(links.positions, default=-1) + 1
    for number, url in enumerate(urls, at):
        links.add(url, rel="refresh", position=number, path="" if links.paths or not links.urls else None)
