"""Base of spaces whose nodes are URLs fetched by the web space."""

from __future__ import annotations

from collections.abc import Iterable

from lycosa.core.files import CrashMarker
from lycosa.core.protocols import Space
from lycosa.core.state import State
from lycosa.core.types import Outcome, Task, Visit
from lycosa.spaces.web_space import WebSpace


class WebBackedSpace(Space):
    """A space visited through the web space, with its robots.txt, delays, archive and log.

    Probes, sitemaps and walls are disabled because they apply to sites with pages.
    """

    at_once = 1

    def __init__(self, web: WebSpace) -> None:
        self.web = web
        self.meter = web.meter
        web.probe_after, web.sitemaps, web.walls = 0, False, False

    @property
    def mark(self) -> CrashMarker:
        return self.web.mark

    @mark.setter
    def mark(self, mark: CrashMarker) -> None:
        self.web.mark = mark

    def host_key(self, node: str) -> str:
        return self.web.host_key(node)

    def ready(self, host_key: str) -> tuple[float, str]:
        return self.web.ready(host_key)

    def prerequisite(self, node: str) -> Task | tuple[Outcome, str] | None:
        return self.web.prerequisite(node)

    def learn(self, visit: Visit) -> None:
        self.web.learn(visit)

    def state(self) -> State:
        return self.web.state()

    def restore(self, state: State) -> None:
        self.web.restore(state)

    def expect(self, host_keys: Iterable[str]) -> None:
        self.web.expect(host_keys)

    def resumed(self) -> None:
        self.web.resumed()

    async def close(self) -> None:
        await self.web.close()
