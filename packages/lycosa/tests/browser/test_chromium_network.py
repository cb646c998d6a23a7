"""A rendered page has no network access except through the proxy, which refuses private addresses."""

from __future__ import annotations

import asyncio

import pytest

from browser_helpers import Canary, Staged, answer, needs_browser, space_of, watching
from lycosa.browser import chromium
from lycosa.browser.finding import find_chromium
from lycosa.browser.rendering import Rendering
from lycosa.core.options import Options
from lycosa.web.browser_protocols import RenderedPage
from ways_out import BY_SCRIPT, SPELLINGS, headers, page

NODE = "http://app.example/"
# Chromium's own protection is disabled, so that only the proxy is tested.
UNLOCKED = (
    "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessSendPreflights"
)


@pytest.fixture(autouse=True)
def without_own_protection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "FLAGS", (*chromium.FLAGS, UNLOCKED))


async def render_attempts(rendering: Rendering, canary: Canary, *allowed: str) -> tuple[RenderedPage, list[str]]:
    there = [(b"Location", f"http://127.0.0.1:{canary.port}/?moved".encode())]
    hosts = {
        "app.example": answer(b"", 404),
        "moved.example": answer(b"", 302, there),
        "http://moved.example/file": answer(b"", 302, [(b"Location", b"file:///etc/passwd")]),
        "twice.example": answer(b"", 302, [(b"Location", b"http://moved.example/frame")]),
    }
    transport = Staged(hosts, allowed)
    space = space_of(transport)
    try:
        await rendering._open()
        body = page(canary.port, rendering._slots[-1].port)
        return await rendering.render(
            NODE, answer(body, 200, headers(canary.port)), space.resources.fetch
        ), transport.asked
    finally:
        await space.close()


async def refused_and_allowed(canary: Canary) -> tuple[RenderedPage, list[str], list[str], list[str]]:
    options = Options(render="always", render_resources="all", render_requests=1000, render_time=300.0)
    rendering = Rendering(options, find_chromium())
    try:
        rendered, asked = await render_attempts(rendering, canary)
        reached = list(canary.heard)
        return rendered, asked, reached, (await render_attempts(rendering, canary, "127.0.0.0/8"))[1]
    finally:
        await rendering.close()


@needs_browser
def test_browser_connects_to_proxy_only() -> None:
    assert len(SPELLINGS) + len(BY_SCRIPT) > 80
    with Canary() as canary, watching(("169.254.169.254",)) as seen:
        rendered, asked, reached, allowed = asyncio.run(refused_and_allowed(canary))
    assert ([], []) == (reached, seen)
    assert f"tried {len(SPELLINGS) + len(BY_SCRIPT)}".encode() in rendered.dom
    assert rendered.skipped > 60
    assert {"http://moved.example/fetch", "http://moved.example/frame"} <= set(asked)
    assert not [url for url in asked if "example" not in url]
    there = f"http://127.0.0.1:{canary.port}/?"
    ours = {url.removeprefix(there) for url in allowed if url.startswith(there)}
    assert {"xhr", "nocors", "script", "style", "frame", "moved", "image", "preload", "worker"} <= ours
    assert not ours & {"post", "put", "beacon", "events", "prefetch", "location", "form", "popup"}
    assert len(allowed) > len(canary.heard) > 10
