"""Rendering: choose the pages, open them, wait until they settle, scroll, and take the final DOM."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lycosa.browser import chromium
from lycosa.browser.chromium import BrowserFailed, BrowserTooLarge, Chromium, IsolatedWorld, PageFailed, brief
from lycosa.browser.gate import Cache, PageSession, RequestPolicy, Slot
from lycosa.core.options import Options
from lycosa.core.state import State, StateMismatch
from lycosa.core.types import Visit
from lycosa.replay.certificates import Authority
from lycosa.web.browser_protocols import Fetch, PageSigns, RenderedPage
from lycosa.web.fetch import Response
from lycosa.web.urls import host_key

if TYPE_CHECKING:
    from playwright.async_api import Page

T = TypeVar("T")
SETTLE_SECONDS = 0.35  # seconds without requests and changes after which a page is complete
SETTLE_AFTER_SCROLL = 0.15  # seconds
POLL_SECONDS = 0.05  # seconds between two checks of a page
MAX_DOM_CHARS = 5_000_000  # characters

# Consecutive failures to start a browser or open an empty page before rendering is disabled. Failures after a page is
# shown do not count: otherwise the pages of one host could disable rendering for all others.
MAX_FAILURES = 5


class RenderTimeout(Exception):
    """Raised when a page has used up its time."""


class Rendering:
    """Renders pages with one browser, a few at a time."""

    def __init__(self, options: Options, program: str, megabytes: int | None = None) -> None:
        self.options = options
        self.megabytes = megabytes
        self.needs = RenderingNeeds(always=options.render == "always")
        self.notes: list[str] = []
        self.policy = RequestPolicy(
            options.render_resources, options.render_requests, options.render_bytes, options.render_trackers
        )
        self.program = program
        self.cache = Cache()
        self.browser: Chromium | None = None
        self._slots: list[Slot] = []
        self._free: asyncio.Queue[Slot] | None = None
        self._opening = asyncio.Lock()
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._failures = 0

    def render_reason(self, node: str, signs: PageSigns) -> str:
        return "" if self._failures >= MAX_FAILURES else self.needs.render_reason(node, signs)

    def learn(self, visit: Visit) -> None:
        self.needs.learn(visit)

    def state(self) -> State:
        return self.needs.state()

    def restore(self, state: State) -> None:
        self.needs.restore(state)

    async def render(self, node: str, response: Response, fetch: Fetch) -> RenderedPage:
        free, browser = await self._open()
        slot = await free.get()
        session = PageSession(node, response, fetch, self.policy, self.cache)
        began = session.loop.time()
        try:
            slot.session = session
            async with browser.page(slot) as page:
                await self._show(page, session)
            self._failures = 0
        except (RenderTimeout, PageFailed, BrowserTooLarge) as error:
            session.rendered.failed = str(error)
        except BrowserFailed as error:
            session.rendered.failed = str(error)
            self._failures += 1
            if self._failures == MAX_FAILURES:
                self.notes.append(f"rendering was disabled after {MAX_FAILURES} failures: {error}")
        finally:
            slot.session = None
            free.put_nowait(slot)
        session.rendered.seconds = session.loop.time() - began
        return session.rendered

    async def _show(self, page: Page, session: PageSession) -> None:
        clock = _Clock(session, self.options.render_time)
        chromium.watch_page(page, session)
        world = IsolatedWorld(await clock.run(page.context.new_cdp_session(page)))
        # wait for the commit only: before it there is no document
        await clock.run(page.goto(session.node, wait_until="commit", timeout=0))
        try:
            measure = await self._settle(world, clock)
            for _ in range(20):
                before = measure
                await clock.run(world.run(chromium.SCROLL))
                measure = await self._settle(world, clock, SETTLE_AFTER_SCROLL)
                if before == measure:
                    break
        except RenderTimeout as error:
            session.rendered.failed = str(error)
        clock.extend(2.0)  # seconds to take the DOM as it is
        try:
            html = await clock.run(world.run(chromium.SERIALISE, MAX_DOM_CHARS))
        except PageFailed:
            if session.rendered.failed:  # the page had already timed out: not a failure of the browser
                return
            raise
        session.rendered.dom = str(html).encode("utf-8", "replace")

    async def _settle(self, world: IsolatedWorld, clock: _Clock, settle: float = SETTLE_SECONDS) -> Any:
        """Wait until nothing is requested and nothing changes; return the size of the page."""
        before: Any = None
        since = clock.now
        while True:
            await clock.run(asyncio.sleep(POLL_SECONDS))
            if clock.session.quiet < POLL_SECONDS:
                since = clock.now
                continue
            measure = await clock.run(world.run(chromium.MEASURE))
            if measure != before:
                before, since = measure, clock.now
            elif clock.now - since >= settle:
                return measure

    async def _open(self) -> tuple[asyncio.Queue[Slot], Chromium]:
        async with self._opening:
            if self._free is None or self.browser is None:
                await self._start()
        assert self._free is not None
        assert self.browser is not None
        return self._free, self.browser

    async def _start(self) -> None:
        options = self.options
        self._home = tempfile.TemporaryDirectory(prefix="lycosa-gate-")
        authority = Authority(Path(self._home.name))
        browser_slot, *slots = [Slot(authority) for _ in range(options.render_at_once + 1)]
        self._slots = [browser_slot, *slots]
        for slot in self._slots:
            await slot.__aenter__()
        self._free = asyncio.Queue()
        for slot in slots:
            self._free.put_nowait(slot)
        self.browser = Chromium(
            self.program,
            [browser_slot],  # a slot without a page, which refuses requests of the browser itself
            pages=options.browser_pages,
            megabytes=self.megabytes or chromium.MAX_MEGABYTES,
            images=options.render_resources == "all",
        )

    async def close(self) -> None:
        browser, self.browser, self._free = self.browser, None, None
        if browser is not None:
            await browser.stop()
        for slot in self._slots:
            await slot.__aexit__()
        self._slots = []
        if self._home is not None:
            self._home.cleanup()
            self._home = None


class _Clock:
    """Time limit of a page; waiting for responses does not count, up to ten times the limit."""

    def __init__(self, session: PageSession, seconds: float) -> None:
        self.session, self.left = session, seconds
        self.loop = session.loop
        self.end = self.now + 10 * seconds  # including the time of waiting for responses
        self.seconds = seconds

    @property
    def now(self) -> float:
        return self.loop.time()

    def extend(self, seconds: float) -> None:
        self.left = max(self.left, seconds)
        self.end = max(self.end, self.now + seconds)

    async def run(self, awaitable: Awaitable[T]) -> T:
        task = asyncio.ensure_future(awaitable)
        try:
            while not task.done():
                if self.left <= 0 or self.now >= self.end:
                    raise RenderTimeout(f"not done within {self.seconds:g} s")
                began, waited = self.now, self.session.active > 0
                await asyncio.wait({task}, timeout=min(POLL_SECONDS, self.left))
                if not waited:
                    self.left -= self.now - began
            return task.result()
        except Exception as error:
            if type(error).__module__.startswith("playwright."):
                raise PageFailed(brief(error)) from error
            raise
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=1.0)
            elif not task.cancelled():
                task.exception()


# A page that was rendered has its words and links with and without rendering in the log, so both are always compared on
# the same page. Other pages are counted, and a few of them are rendered as samples, so that changed sites are noticed.
# Pages without scripts are never rendered.

DECAY = 0.6  # weight of earlier renderings against the latest one of the same kind
MIN_USEFUL_SHARE = 0.5  # share of useful renderings above which a kind of page is always rendered
MAX_USELESS = 3  # useless renderings of apparent shells before their kind is left alone
MORE_WORDS, MORE_LINKS = 20, 3  # minimum gain, or a fifth of the words and links before
_NUMBER, _ID = re.compile(r"\d+"), re.compile(r"[0-9a-f]{8,}|.*[-_.%].*|.{25,}", re.IGNORECASE)


def template(node: str) -> str:
    """Return the kind of page that a URL belongs to: its host and the shape of its path.

    >>> template("http://a.test/posts/2024/how-reefs-grow?page=3")
    'a.test /posts/0/* page'
    >>> template("http://a.test/posts/2023/why-reefs-die") == template("http://a.test/posts/2024/how-reefs-grow")
    True
    """
    path, _, route = node.partition("#")
    path, _, query = path.partition("?")
    pieces = path.split("/")[3:] + (["#", *route.split("/")[1:]] if route else [])
    shape = ["*" if _ID.fullmatch(_NUMBER.sub("", piece)) else _NUMBER.sub("0", piece) for piece in pieces]
    names = sorted({pair.partition("=")[0] for pair in query.split("&") if pair})
    return f"{host_key(node)} /{'/'.join(shape[:6])}{' ' + ' '.join(names[:6]) if names else ''}"


def is_useful(render: dict[str, list[int]]) -> bool:
    (words, more_words), (links, more_links) = render["words"], render["links"]
    return more_words - words >= max(MORE_WORDS, words / 5) or more_links - links >= max(MORE_LINKS, links / 5)


class RenderingNeeds:
    """Rendering statistics of hosts and kinds of pages."""

    def __init__(self, always: bool = False) -> None:
        self.always = always
        self.rendered: Counter[str] = Counter()  # renderings, by kind of page and by host
        self.useful: dict[str, float] = {}  # share of useful renderings, recent ones weighted more
        self.since: Counter[str] = Counter()  # pages of each host since the last rendering
        self.useless_in_row: Counter[str] = Counter()  # consecutive useless renderings by host
        self.pages = 0
        self.thin = self.samples = 0  # useless renderings of thin pages and of samples
        self._trying: dict[str, set[str]] = {}  # pages being tried, by host
        self._read: Counter[str] = Counter()  # pages whose scripts were read, by kind of page

    def render_reason(self, node: str, signs: PageSigns) -> str:
        if "#" in node:
            return "route"
        if not signs.scripts:
            return ""
        if self.always:
            return "always"
        return self._reason_by_kind(node, signs) or self._reason_to_try(node, signs)

    def _reason_by_kind(self, node: str, signs: PageSigns) -> str:
        kind, host = template(node), host_key(node)
        if self.rendered[kind]:
            if self.useful[kind] >= MIN_USEFUL_SHARE:
                return "kind"
            return "shell" if signs.is_shell and self.rendered[kind] < MAX_USELESS else ""
        if self.rendered[host] >= 2 * MAX_USELESS and self.useful[host] < 0.2:
            return ""
        if signs.is_shell:
            return "shell"
        needy = bool(self.rendered[host]) and self.useful[host] >= MIN_USEFUL_SHARE
        return "host" if needy and (signs.is_thin or signs.lacks_links or signs.loads_later()) else ""

    def _reason_to_try(self, node: str, signs: PageSigns) -> str:
        kind, host = template(node), host_key(node)
        trying = len(self._trying.get(host, ()))
        why = ""
        untried = not self.rendered[kind] and self.useless_in_row[host] + trying < MAX_USELESS
        # After ten pages that needed no browser, one that only lacks links is a short page.
        lacks_links = signs.lacks_links and self.since[host] < 10
        if untried and (signs.is_thin or lacks_links or self._loads_later(kind, signs)):
            why = "thin" if self.thin < 2 + 0.02 * self.pages else ""
        elif not trying and self.since[host] >= 500 * 2 ** self.useless_in_row[host]:  # rarer after each useless sample
            # One sample takes as long as some two hundred pages.
            why = "sample" if self.samples < 0.0005 * self.pages else ""
        if why:
            self._trying.setdefault(host, set()).add(node)
        return why

    def _loads_later(self, kind: str, signs: PageSigns) -> bool:
        """Return True if the scripts seem to load content later; reads ten pages of a kind, which share scripts."""
        if self._read[kind] >= 10:
            return False
        if len(self._read) > 10_000:
            self._read.clear()
        self._read[kind] += 1
        return signs.loads_later()

    def learn(self, visit: Visit) -> None:
        if visit.kind not in ("page", "revisit"):
            return
        if host_key(visit.node) in self._trying:
            self._trying[host_key(visit.node)].discard(visit.node)
        if visit.outcome != "ok" and "render" not in visit.data:
            return
        self.pages += 1
        host, render = host_key(visit.node), visit.data.get("render")
        if render is None:
            self.since[host] += 1
            return
        useful = is_useful(render)
        for name in (template(visit.node), host):
            before = self.useful.get(name, float(useful))
            self.useful[name] = DECAY * before + (1 - DECAY) * useful
            self.rendered[name] += 1
        self.since[host] = 0
        self.useless_in_row[host] = 0 if useful else self.useless_in_row[host] + 1
        self.thin += not useful and render["why"] == "thin"
        self.samples += not useful and render["why"] == "sample"

    def state(self) -> State:
        return {
            "rendered": dict(self.rendered), "useful": dict(self.useful), "since": dict(self.since),
            "useless_in_row": dict(self.useless_in_row), "pages": self.pages,
            "thin": self.thin, "samples": self.samples,
        }  # fmt: skip

    def restore(self, state: State) -> None:
        if "rendered" not in state:
            raise StateMismatch("the snapshot was written while no browser was installed")
        self.rendered, self.since = Counter(state["rendered"]), Counter(state["since"])
        self.useless_in_row = Counter(state["useless_in_row"])
        self.useful, self.pages = dict(state["useful"]), state["pages"]
        self.thin, self.samples = state["thin"], state["samples"]
