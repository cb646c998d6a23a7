"""No browser is there: pages are read without one, and a user hears what that costs."""

from __future__ import annotations

from collections import Counter

from lycosa.core.state import State, Untold
from lycosa.core.types import Visit
from lycosa.drawing.formats import many
from lycosa.web.fetch import Response
from lycosa.web.rendering import Fetch, Look, Rendered
from lycosa.web.urls import lane


class Missing:
    """Renders nothing, but counts the pages that only a browser could read."""

    def __init__(self, remedy: str) -> None:
        self.remedy = remedy
        self.missed: Counter[str] = Counter()

    @property
    def notes(self) -> list[str]:
        """What was missed, and what helps."""
        if not self.missed:
            return []
        pages, hosts = many(self.missed.total(), "page"), many(len(self.missed), "host")
        first = next(iter(self.missed))
        return [
            f"{pages} on {hosts} ({first}{', ...' if len(self.missed) > 1 else ''}) show their text to a browser only "
            f"and were read without one. To have such pages rendered: {self.remedy}. To hear no more of it: "
            "--render never"
        ]

    def wants(self, node: str, look: Look) -> str:
        """No page."""
        return ""

    async def render(self, node: str, answer: Response, fetch: Fetch) -> Rendered:
        """Nothing comes of it."""
        return Rendered(failed="no browser")

    def learn(self, visit: Visit) -> None:
        """Count it."""
        if visit.data.get("shell") and visit.kind == "page":
            self.missed[lane(visit.node)] += 1

    def state(self) -> State:
        """What was counted."""
        return {"missed": dict(self.missed)}

    def restore(self, state: State) -> None:
        """Go on counting."""
        if "missed" not in state:
            raise Untold("there was a browser then")
        self.missed = Counter(state["missed"])

    async def close(self) -> None:
        """There is nothing to close."""
