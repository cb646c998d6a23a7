"""Pages that are rendered: the crawl waits for them, but only for a limited time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import lycosa
from lycosa.core.state import State
from lycosa.core.types import Visit
from lycosa.spaces.stage import OVERTAKEN
from lycosa.testweb.simulation import clock
from lycosa.web.browser_protocols import Fetch, PageSigns, RenderedPage
from lycosa.web.fetch import Response
from scripted_web import Says, Script, html, run

APP = "http://app.test/"
OTHERS = [f"http://host{number}.test/" for number in range(20)]


class Slow:
    """Browser that takes some time per page."""

    notes: list[str] = []  # noqa: RUF012 - as the protocol has it

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def render_reason(self, node: str, signs: PageSigns) -> str:
        return "a shell" if signs.is_shell else ""

    async def render(self, node: str, response: Response, fetch: Fetch) -> RenderedPage:
        await asyncio.sleep(self.seconds)
        return RenderedPage(dom=html().encode())

    def learn(self, visit: Visit) -> None: ...

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None: ...

    async def close(self) -> None: ...


@pytest.mark.parametrize(("seconds", "place"), [(4.0, range(OVERTAKEN + 3)), (100.0, range(20, 21))])
def test_hold_limits_pages_that_overtake(tmp_path: Path, seconds: float, place: range) -> None:
    shell = Says('<div id="root"></div><script src="/app.js"></script>')
    script = Script({APP: [shell], **{url: [Says(html())] for url in OTHERS}})

    def crawl() -> lycosa.Crawl:
        space = script.space()
        space.renderer = Slow(seconds)
        given = {"strategy": "breadth-first", "judge": "vector", "clock": clock, "concurrency": 2, "traps": False}
        return lycosa.crawl("coral reef", [APP, *OTHERS], out=tmp_path / "crawl", space=space, **given)

    pages = [visit.node for visit in run(crawl).visits if visit.is_page]
    assert 21 == len(pages)
    assert pages.index(APP) in place
