"""Rendering a page: open it, wait until it is done, scroll, and take the final DOM. Bounded in every step."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lycosa.browser.chromium import MEASURE, SCROLL, SERIALISE, BrowserFailed, Chromium, attend, brief
from lycosa.browser.gate import Allowance, Cache, Sitting, Slot
from lycosa.browser.needs import Needs
from lycosa.core.options import Options
from lycosa.core.state import State
from lycosa.core.types import Visit
from lycosa.replay.certificates import Authority
from lycosa.web.fetch import Response
from lycosa.web.rendering import Fetch, Look, Rendered

if TYPE_CHECKING:
    from playwright.async_api import Page

T = TypeVar("T")

SETTLED, STILL = 0.35, 0.15
"""Seconds in which nothing is asked for and nothing changes: the page is done; and once it has been scrolled."""

STEP = 0.05
"""Seconds between two looks at a page."""

SCROLLS = 20
"""Times a page is scrolled to its end, as long as that brings more."""

CLICKS = 10
"""Of what `--render-more` names."""

CLICKING = 5.0
"""Seconds in which it has to be there to be clicked, on a busy machine too."""

PATIENTLY = 10
"""A page that waits for answers may take so many times as long as one that does not."""

LARGEST_DOM = 5_000_000
"""Characters of a final DOM."""

MOST_FAILURES = 5
"""Browsers in a row that do not start, or die at once, before no page is rendered any more in this run."""


class Deadline(Exception):
    """A page has had its time."""


class Rendering:
    """Renders pages with one browser, a few at a time."""

    def __init__(self, options: Options, program: str) -> None:
        self.options = options
        self.needs = Needs(always=options.render == "always")
        self.notes: list[str] = []
        self.allowance = Allowance(
            options.render_resources, options.render_requests, options.render_bytes, options.render_trackers
        )
        self.program = program
        self.cache = Cache()
        self.at_once = 1 if options.browser_profile else options.render_at_once
        self.browser: Chromium | None = None
        self._slots: list[Slot] = []
        self._free: asyncio.Queue[Slot] | None = None
        self._opening = asyncio.Lock()
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._failures = 0

    # -- what is learned ---------------------------------------------------------------------------------------

    def wants(self, node: str, look: Look) -> str:
        """Why this page should be rendered; empty: it should not."""
        return "" if self._failures >= MOST_FAILURES else self.needs.wants(node, look)

    def learn(self, visit: Visit) -> None:
        """See a recorded visit."""
        self.needs.learn(visit)

    def state(self) -> State:
        """What was learned."""
        return self.needs.state()

    def restore(self, state: State) -> None:
        """Go on from there."""
        self.needs.restore(state)

    # -- rendering ---------------------------------------------------------------------------------------------

    async def render(self, node: str, answer: Response, fetch: Fetch) -> Rendered:
        """Have the browser show a page; what goes wrong costs this page only."""
        free, browser = await self._open()
        slot = await free.get()
        sitting = Sitting(node, answer, fetch, self.allowance, self.cache)
        began = sitting.loop.time()
        try:
            slot.sitting = sitting
            async with browser.page(slot) as page:
                await self._show(page, sitting)
            self._failures = 0
        except Deadline as error:
            sitting.rendered.failed = str(error)
        except BrowserFailed as error:
            sitting.rendered.failed = str(error)
            self._count_failure(str(error), browser)
        finally:
            slot.sitting = None
            free.put_nowait(slot)
        sitting.rendered.seconds = sitting.loop.time() - began
        return sitting.rendered

    def _count_failure(self, why: str, browser: Chromium) -> None:
        self._failures += 1
        if self._failures == MOST_FAILURES:
            self.notes.append(f"pages were no longer rendered: {why}")

    async def _show(self, page: Page, sitting: Sitting) -> None:
        clock = _Clock(sitting, self.options.render_time)
        attend(page, sitting)
        await clock.run(page.goto(sitting.node, wait_until="commit", timeout=0))  # before that nothing of it is there
        try:
            measure = await self._settle(page, clock)
            for _ in range(SCROLLS):
                before = measure
                await clock.run(page.evaluate(SCROLL))
                measure = await self._settle(page, clock, STILL)
                if before == measure:
                    break
            await self._click(page, clock, measure)
        except Deadline as error:
            sitting.rendered.failed = str(error)
        clock.extend(2.0)  # what is there by then
        try:
            html = await clock.run(page.evaluate(SERIALISE, LARGEST_DOM))
        except BrowserFailed:
            if sitting.rendered.failed:  # it was late already, which is no failure of the browser
                return
            raise
        sitting.rendered.dom = str(html).encode("utf-8", "replace")

    async def _settle(self, page: Page, clock: _Clock, still: float = SETTLED) -> Any:
        """Wait until nothing is asked for and nothing changes; how much of the page is there by then."""
        before: Any = None
        since = clock.now
        while True:
            await clock.run(asyncio.sleep(STEP))
            if clock.sitting.quiet < STEP:
                since = clock.now
                continue
            measure = await clock.run(page.evaluate(MEASURE))
            if measure != before:
                before, since = measure, clock.now
            elif clock.now - since >= still:
                return measure

    async def _click(self, page: Page, clock: _Clock, measure: Any) -> None:
        """Ask for more, if the user wants that."""
        for _ in range(CLICKS if self.options.render_more else 0):
            before = measure
            button = page.locator(self.options.render_more).first
            try:
                if not await clock.run(button.count()):
                    return
                await clock.run(button.click(timeout=1000 * CLICKING))
            except Deadline:
                raise
            except Exception:  # it can't be clicked
                return
            measure = await self._settle(page, clock, STILL)
            if before == measure:
                return

    # -- opening and closing -----------------------------------------------------------------------------------

    async def _open(self) -> tuple[asyncio.Queue[Slot], Chromium]:
        async with self._opening:
            if self._free is None or self.browser is None:
                await self._make()
        assert self._free is not None
        assert self.browser is not None
        return self._free, self.browser

    async def _make(self) -> None:
        options = self.options
        self._home = tempfile.TemporaryDirectory(prefix="lycosa-gate-")
        authority = Authority(Path(self._home.name))
        nowhere, *slots = [Slot(authority) for _ in range(self.at_once + 1)]
        self._slots = [nowhere, *slots]
        for slot in self._slots:
            await slot.__aenter__()
        self._free = asyncio.Queue()
        for slot in slots:
            self._free.put_nowait(slot)
        self.browser = Chromium(
            self.program,
            slots if options.browser_profile else [nowhere],  # what the browser itself asks for leads nowhere
            pages=options.browser_pages,
            megabytes=options.browser_memory,
            profile=options.browser_profile,
            eyes=options.render_resources == "all",
        )

    async def close(self) -> None:
        """End the browser, and the ways out."""
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
    """A page's time: what it waits for answers does not count, but even that has an end."""

    def __init__(self, sitting: Sitting, seconds: float) -> None:
        self.sitting, self.left = sitting, seconds
        self.loop = sitting.loop
        self.end = self.now + PATIENTLY * seconds
        self.seconds = seconds

    @property
    def now(self) -> float:
        return self.loop.time()

    def extend(self, seconds: float) -> None:
        """A little more, to take what is there."""
        self.left = max(self.left, seconds)
        self.end = max(self.end, self.now + seconds)

    async def run(self, doing: Awaitable[T]) -> T:
        """Wait for something as long as there is time."""
        task = asyncio.ensure_future(doing)
        try:
            while not task.done():
                if self.left <= 0 or self.now >= self.end:
                    raise Deadline(f"not done within {self.seconds:g} s")
                began, waited = self.now, self.sitting.active > 0
                await asyncio.wait({task}, timeout=min(STEP, self.left))
                if not waited:
                    self.left -= self.now - began
            return task.result()
        except Deadline:
            raise
        except Exception as error:
            if type(error).__module__.startswith("playwright."):
                raise BrowserFailed(brief(error)) from error
            raise
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=1.0)
            elif not task.cancelled():
                task.exception()
