"""Limits of the browser: memory, message sizes, DOM size, and pages that cannot be shown."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from browser_helpers import Staged, answer, needs_browser, space_of
from lycosa.browser import chromium, orphans
from lycosa.browser.finding import find_chromium
from lycosa.browser.rendering import MAX_DOM_CHARS, Rendering
from lycosa.core.options import Options
from lycosa.web.browser_protocols import RenderedPage
from lycosa.web.fetch import Response

MEGABYTES = 450  # limit in these tests; Chromium and its driver need about 300

OVERSHOOT = 350  # megabytes that a page may allocate between two checks, even on a busy machine

ALLOCATOR = "const all = []; const allocate = size => all.push(new Uint8Array(size << 20).fill(1));"
WASM = """const memory = new WebAssembly.Memory({initial: 1});
const allocate = size => { const end = memory.grow(size << 4); new Uint8Array(memory.buffer, end << 16).fill(1) };"""
FAST, SLOW = "while (true) allocate(32)", "setInterval(() => allocate(16), 30)"


def script(code: str) -> str:
    return f"<p>before</p><script>{code}</script>"


def in_worker(code: str) -> str:
    return script(f"new Worker(URL.createObjectURL(new Blob([`{code}`])))")


GREEDY_PAGES = {
    "arrays, fast": script(ALLOCATOR + FAST),
    "arrays, slowly": script(ALLOCATOR + SLOW),
    "wasm": script(WASM + FAST),
    "worker": in_worker(ALLOCATOR + FAST),
    "iframes": "<p>before</p>" + f'<iframe srcdoc="<script>{ALLOCATOR}{SLOW}</script>"></iframe>' * 4,
    "nodes": script("while (true) document.body.append(new Text('x'.repeat(1 << 20) + Math.random()))"),
}

HUGE = "'x'.repeat(1 << 28)"
LOUD_PAGES = {
    "exception": script(f"throw new Error({HUGE})"),
    "exceptions": script("setInterval(() => { throw new Error('x'.repeat(1 << 24)) }, 5)"),
    "rejections": script(f"Promise.reject(new Error({HUGE}))"),
    "exception in a worker": in_worker(f"throw new Error({HUGE})"),
    "console": script(f"console.log({HUGE})"),
    "prompt": script(f"prompt({HUGE})"),
    "title": script(f"document.title = {HUGE}"),
    "address": script(f"history.pushState(0, '', '?' + {HUGE})"),
    "request": script(f"fetch('/?' + {HUGE})"),
    "context": script(f"document.documentElement.title = {HUGE}"),
}

TAMPERING = script(
    """
  const huge = "x".repeat(1 << 28), lie = () => huge;
  const kinds = [String, Array, Object, Number, Function, Promise, Element, HTMLElement, Node, Document, HTMLDocument,
                 HTMLCollection, NodeList, Window, ShadowRoot, XMLSerializer, TreeWalker, Map, JSON, Reflect];
  for (const kind of kinds) for (const thing of [kind, kind.prototype]) {
    if (!thing) continue;
    for (const name of Object.getOwnPropertyNames(thing)) {
      if (["constructor", "prototype", "write", "appendChild", "defineProperty"].includes(name)) continue;
      const own = Object.getOwnPropertyDescriptor(thing, name);
      if (!own.configurable) continue;
      try { Object.defineProperty(thing, name, own.get ? {get: lie, configurable: true} : {value: lie}) } catch {}
    }
  }
  for (const name of ["documentElement", "outerHTML", "links", "body", "doctype", "querySelectorAll"])
    try { Object.defineProperty(document, name, {get: lie}) } catch {}
"""
)
NAMES = "documentElement outerHTML links body scrollingElement doctype getElementsByTagName querySelectorAll".split()
CLOBBERED = "<p>before</p>" + "".join(
    f"<form name={name}><input name=outerHTML><input name=length></form>" for name in NAMES
)


class Peaks:
    def __init__(self, rendering: Rendering) -> None:
        self.rendering, self.browser, self.driver = rendering, 0.0, 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._over.wait(0.02):
            browser = self.rendering.browser
            if browser is None or browser.directory is None:
                continue
            watch = orphans.MemoryWatch(browser.directory, 0)
            if watch._find() and watch._update_members():
                self.browser = max(self.browser, sum(map(orphans.memory, watch._members)) / (1 << 20))
                self.driver = max(self.driver, orphans.memory(watch.driver) / (1 << 20))

    def __enter__(self) -> Peaks:
        Path("/proc/self/clear_refs").write_text("5")  # reset the peak
        self._before = self._status("VmRSS")
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self.own = self._status("VmHWM") - self._before

    def _status(self, name: str) -> float:
        lines = Path(f"/proc/{os.getpid()}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


async def served(page: str, seconds: float = 20.0) -> tuple[RenderedPage, RenderedPage, Peaks]:
    options = Options(render="always", render_at_once=1, render_time=seconds)
    space, rendering = space_of(Staged({"app.example": answer(b"", 404)})), Rendering(options, find_chromium())

    async def render(body: str) -> RenderedPage:
        return await rendering.render("http://app.example/", answer(body.encode()), space.resources.fetch)

    try:
        await render("<p>first</p>")
        with Peaks(rendering) as peaks:
            rendered = await render(page)
        options.render_time = 60.0
        return rendered, await render(script("document.write('<p>after</p>')")), peaks
    finally:
        await rendering.close()
        await space.close()


@pytest.fixture(autouse=True)
def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "MAX_MEGABYTES", MEGABYTES)


def check(next_page: RenderedPage, peaks: Peaks) -> None:
    print(f"browser {peaks.browser:.0f} MB, driver {peaks.driver:.0f} MB, crawl {peaks.own:+.0f} MB")
    assert b"<p>after</p>" in next_page.dom
    # Pages allocate without end, and checks are late on a busy machine: 1,030 MB have been measured.
    assert peaks.browser < MEGABYTES + 2_000
    assert peaks.driver < 0.4 * MEGABYTES + OVERSHOOT
    assert peaks.own < 120


@needs_browser
@pytest.mark.parametrize("name", GREEDY_PAGES)
def test_page_over_memory_limit_kills_browser(name: str) -> None:
    rendered, next_page, peaks = asyncio.run(served(GREEDY_PAGES[name]))
    print(name, rendered.failed, len(rendered.dom), end=": ")
    check(next_page, peaks)
    assert f"the browser was killed: it took more than {MEGABYTES} MB" == rendered.failed


@needs_browser
@pytest.mark.parametrize("name", LOUD_PAGES)
def test_message_size_to_driver_is_limited(name: str) -> None:
    rendered, next_page, peaks = asyncio.run(served(LOUD_PAGES[name], 4.0))
    print(name, rendered.failed, len(rendered.dom), end=": ")
    check(next_page, peaks)


@needs_browser
@pytest.mark.parametrize("page", [TAMPERING, CLOBBERED], ids=["prototypes", "names"])
def test_isolated_world_ignores_tampered_prototypes(page: str) -> None:
    rendered, next_page, peaks = asyncio.run(served(page))
    print(rendered.failed, len(rendered.dom), end=": ")
    assert rendered.failed == ""
    assert b"<p>before</p>" in rendered.dom
    assert b"xxxxxxxxxx" not in rendered.dom
    check(next_page, peaks)


@needs_browser
def test_dom_is_cut_at_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "MAX_MEGABYTES", 2 * MEGABYTES)
    rendered, next_page, peaks = asyncio.run(served(script("document.body.append(new Comment('y'.repeat(8000000)))")))
    assert ("", MAX_DOM_CHARS) == (rendered.failed, len(rendered.dom))
    check(next_page, peaks)


def with_headers(*more: tuple[bytes, bytes], status: int = 200) -> Response:
    return answer(script("1").encode(), status, [(b"Content-Type", b"text/html"), *more])


NOT_SHOWABLE = {
    "download": with_headers((b"Content-Disposition", b"attachment")),
    "password": with_headers((b"WWW-Authenticate", b"Basic realm=x"), status=401),
    "two places": with_headers((b"Location", b"/a"), (b"Location", b"/b")),
    "nothing": answer(b"", 204),
}


async def after_failures() -> tuple[list[str], RenderedPage, int]:
    space, rendering = space_of(Staged({"app.example": answer(b"", 404)})), Rendering(Options(), find_chromium())
    try:
        failed = []
        for page in [*NOT_SHOWABLE.values()] * 2:
            failed.append((await rendering.render("http://app.example/", page, space.resources.fetch)).failed)
            assert rendering.notes == []
        after = await rendering.render("http://app.example/", answer(b"<p>after</p>"), space.resources.fetch)
        assert rendering.browser is not None
        return failed, after, rendering.browser.started
    finally:
        await rendering.close()
        await space.close()


@needs_browser
def test_browser_survives_pages_that_cannot_be_shown() -> None:
    failed, after, started = asyncio.run(after_failures())
    assert all(failed)
    assert b"<p>after</p>" in after.dom
    assert started == 1
