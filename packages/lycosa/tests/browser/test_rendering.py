"""Rendering of pages of all kinds, and resources of several crawls."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from browser_helpers import Staged, answer, needs_browser, space_of
from lycosa.browser import orphans
from lycosa.browser.finding import find_chromium
from lycosa.browser.rendering import Rendering
from lycosa.core.options import Options
from lycosa.crawling import request
from lycosa.web.browser_protocols import LoggedRequest, RenderedPage
from lycosa.web.politeness import SharedPoliteness

MUCH = """<div id=root></div><p id=host></p><p id=said></p>
<iframe src="http://data.example/frame"></iframe>
<script>
  const say = text => said.insertAdjacentHTML("beforeend", "<b>" + text + "</b>");
  alert(1); confirm(2); say("spoke"); document.cookie = "a=b";
  root.innerHTML = '<p>written</p><a href="#/next">next</a>';
  host.attachShadow({mode: "open"}).innerHTML = "<b>in the shade</b>";
  fetch("/data", {method: "POST"}).then(r => say("posted " + r.status));
  fetch("http://data.example/x").then(r => r.text()).then(say);
  fetch("http://shut.example/x").catch(() => 0).then(r => say("shut " + (r ? r.status : "away")));
</script>
<script src="https://www.google-analytics.com/analytics.js" onerror="say('not counted')"></script>"""

PAGES = {
    "hung": "<p>before</p><script>while (true) {}</script>",
    "much": MUCH,
    "leaves": "<p>stays</p><script>location.href = 'http://other.example/there'</script>",
    "next": "<script>document.write('cookies: ' + document.cookie + '.')</script>",
}
CORS = [(b"Content-Type", b"text/html"), (b"Access-Control-Allow-Origin", b"*")]


async def rendered(options: Options) -> tuple[dict[str, RenderedPage], list[str], list[int], Path | None]:
    hosts = {
        "app.example": answer(b"", 404),
        "data.example": answer(b"data from afar", 200, CORS),
        "shut.example": answer(b"forbidden", 200, CORS),
        "http://shut.example/robots.txt": answer(
            b"User-agent: *\nDisallow: /", 200, [(b"Content-Type", b"text/plain")]
        ),
    }
    transport = Staged(hosts)
    space, rendering = space_of(transport), Rendering(options, find_chromium())

    async def render(name: str) -> RenderedPage:
        page = answer(f"<!DOCTYPE html><html><body>{PAGES[name]}</body></html>".encode())
        return await rendering.render(f"http://app.example/{name}", page, space.resources.fetch)

    try:
        options.render_time = 0.5
        found = {"hung": await render("hung")}
        options.render_time = 100.0
        found |= zip(("much", "leaves"), await asyncio.gather(render("much"), render("leaves")), strict=True)
        found["next"] = await render("next")  # rendered by another browser, as the first one has reached its page limit
        options.render_time = 0.0
        found["late"] = await render("next")
        assert rendering.browser is not None
        place = rendering.browser.directory
        return found, transport.asked, orphans.processes(str(place)), place
    finally:
        await rendering.close()
        await space.close()


@needs_browser
def test_render_runs_scripts_within_limits() -> None:
    options = Options(render="always", render_at_once=2, browser_pages=2)
    found, asked, processes, place = asyncio.run(rendered(options))
    texts = {name: page.dom.decode() for name, page in found.items()}
    assert "not done within 0.5 s" in found["hung"].failed
    # A timeout is not a failure of the browser.
    assert ("not done within 0 s", "") == (found["late"].failed, texts["late"])
    much = texts["much"]
    assert '<p>written</p><a href="#/next">' in much
    assert ("<p>stays</p>" in texts["leaves"], found["leaves"].navigations) == (True, ["http://other.example/there"])
    assert "cookies: ." in texts["next"]
    for said in ("spoke", "posted 403", "not counted", "in the shade", "data from afar"):
        assert f"<b>{said}</b>" in much, said
    assert "<b>shut 403</b>" in much or "<b>shut away</b>" in much
    sent = [url for url in asked if not url.endswith("/robots.txt")]
    assert ["http://data.example/frame", "http://data.example/x"] == sorted(sent)
    assert "http://shut.example/robots.txt" in asked
    assert [set(sent), set()] == [{each.url for each in found[name].resources} for name in ("much", "hung")]
    assert any(rule["data"]["body"].startswith(b"User-agent") for rule in found["much"].robots_files)
    # The log contains all requests, including failed ones.
    logged = {LoggedRequest(*one).url: LoggedRequest(*one) for one in found["much"].request_log}
    assert ("ok", "denied") == (logged["http://data.example/x"].outcome, logged["http://shut.example/x"].outcome)
    assert (200, 14) == (logged["http://data.example/x"].status, logged["http://data.example/x"].size)
    assert len(processes) > 3
    assert place is not None
    assert ([], False) == (orphans.processes(str(place)), place.exists())


def test_crawls_share_memory_for_browsers(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[int | None] = []
    monkeypatch.setattr(request, "renderer_of", lambda options, megabytes: limits.append(megabytes))
    for authority in (None, SharedPoliteness(time.monotonic)):
        request.CrawlRequest(Options(topic="reefs", seeds=["http://a.example/"]), authority=authority).make_space()
    assert [None, 400] == limits
