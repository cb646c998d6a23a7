"""Rendering of pages that need a browser. All traffic of the browser goes through a local proxy (`gate.py`).

Only `chromium.py` imports Playwright.
"""

from __future__ import annotations

from collections import Counter

from lycosa.browser.finding import find_chromium, missing_requirements
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.state import State, StateMismatch
from lycosa.core.types import Visit
from lycosa.drawing.formats import many
from lycosa.web.browser_protocols import Fetch, PageSigns, RenderedPage, Renderer
from lycosa.web.fetch import Response
from lycosa.web.urls import host_key


def renderer_of(options: Options, megabytes: int | None = None) -> Renderer | None:
    """Return the renderer for the options; None with `--render never`."""
    if options.render == "never":
        return None
    if missing := missing_requirements(options.browser):
        if options.render == "always":
            raise InputError("missing-browser", f"--render always needs a browser: {missing}")
        return MissingBrowser(missing)
    from lycosa.browser.rendering import Rendering  # imported only by crawls that render

    return Rendering(options, find_chromium(options.browser), megabytes)


class MissingBrowser:
    """Renderer without a browser: counts the pages that need one and reports them at the end."""

    def __init__(self, hint: str) -> None:
        self.hint = hint
        self.missed: Counter[str] = Counter()

    @property
    def notes(self) -> list[str]:
        if not self.missed:
            return []
        pages, hosts = many(self.missed.total(), "page"), many(len(self.missed), "host")
        first = next(iter(self.missed))
        return [
            f"{pages} on {hosts} ({first}{', ...' if len(self.missed) > 1 else ''}) need a browser "
            f"and were read without one. To render such pages: {self.hint}. To silence this note: --render never"
        ]

    def render_reason(self, node: str, signs: PageSigns) -> str:
        return ""

    async def render(self, node: str, response: Response, fetch: Fetch) -> RenderedPage:
        return RenderedPage(failed="no browser")

    def learn(self, visit: Visit) -> None:
        if visit.data.get("shell") and visit.kind == "page":
            self.missed[host_key(visit.node)] += 1

    def state(self) -> State:
        return {"missed": dict(self.missed)}

    def restore(self, state: State) -> None:
        if "missed" not in state:
            raise StateMismatch("the snapshot was written while a browser was installed")
        self.missed = Counter(state["missed"])

    async def close(self) -> None:
        pass
