"""Parents and depths of visits that are written to a log without an engine."""

from __future__ import annotations

from lycosa.core.types import Event, Seed, Visit


class FirstLinks:
    """First link to each node, with its depth and the redirects in between, as in the frontier of an engine."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, int, int]] = {}

    def fill(self, event: Event) -> None:
        """Set parent, depth and hops of a first visit, and note its links."""
        if isinstance(event, Seed):
            self._known.setdefault(event.node, ("", 0, 0))
        if not isinstance(event, Visit) or event.kind not in ("page", "redirect", "sitemap", "revisit"):
            return
        parent, depth, hops = self._known.get(event.node, ("", 0, 0))
        if event.kind != "revisit":
            event.parent, event.depth, event.hops = event.parent or parent, event.depth or depth, event.hops or hops
        following = (parent, depth, hops + 1) if event.outcome == "redirect" else (event.node, depth + 1, 0)
        for url in event.links.urls:
            known = self._known.setdefault(url, following)
            self._known[url] = known[0], min(known[1], following[1]), known[2]
