"""The pictures of watched pages: looked at after each look at their page, compared by digest and by what they show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lycosa.core.types import Exchange, Page, Visit
from lycosa.refresh.change import Change
from lycosa.refresh.detectors import judge_change
from lycosa.refresh.detectors.images import picture
from lycosa.refresh.snapshot import Picture, Snapshot, inflated
from lycosa.refresh.validators import Honesty, Validators, proves
from lycosa.web.decoding import decode
from lycosa.web.tree import images, tree_of

MOST = 16
"""Pictures of one page that are looked at."""


@dataclass(slots=True)
class _Known:
    """A picture as it was last seen."""

    picture: Picture
    follows: float
    validators: Validators = field(default_factory=Validators)
    looks: int = 0


class Gallery:
    """Which pictures are to be looked at, and what they were. A fold over the log."""

    def __init__(self) -> None:
        self._shown: dict[str, list[str]] = {}
        self._known: dict[str, _Known] = {}
        self._pending: dict[str, str] = {}  # a picture, and the page that shows it

    def due(self, in_flight: set[str]) -> Iterator[tuple[str, str, float]]:
        """Pictures to look at, each with its page and when it was last fetched."""
        for node, origin in self._pending.items():
            if node not in in_flight:
                known = self._known.get(node)
                yield node, origin, known.follows if known is not None else 0.0

    def conditions(self, node: str, honesty: Honesty) -> tuple[tuple[str, str], ...]:
        """What to ask the picture's host."""
        known = self._known.get(node)
        return () if known is None or proves(node, known.looks, honesty) else known.validators.conditions(honesty)

    def knows(self, node: str) -> bool:
        """Whether it is known which pictures a page shows."""
        return node in self._shown

    def note(self, visit: Visit, exchange: Exchange | None) -> None:
        """Before a look at a page is recorded: say in it which pictures the page shows."""
        if exchange is not None:
            shown = images(tree_of(decode(inflated(exchange))), visit.node)
            visit.data = {**visit.data, "images": shown[:MOST]}

    def is_same(self, visit: Visit) -> bool:
        """Whether the bytes are those that were there."""
        known = self._known.get(visit.node)
        return known is not None and known.picture.digest == visit.digest

    def compare(self, visit: Visit, page: Page) -> Change | None:
        """Before a picture's visit is recorded: keep what it shows, and say whether it shows something else."""
        if visit.outcome != "ok" or page.exchange is None:
            return None
        now = picture(page.exchange.body)
        visit.data = {**visit.data, "print": now.print}
        known = self._known.get(visit.node)
        if known is None:
            return None
        old, new = (Snapshot(visit.origin, pictures={visit.node: seen}) for seen in (known.picture, now))
        return judge_change(old, new, ("images",))

    def learn(self, visit: Visit) -> None:
        """See a recorded visit."""
        if visit.kind == "image":
            self._pending.pop(visit.node, None)
            self._seen(visit)
        elif "images" in visit.data:
            self._shown[visit.node] = visit.data["images"]
        elif visit.is_version:  # of a run that did not look at pictures
            self._shown.pop(visit.node, None)
        if visit.is_version or (visit.kind == "revisit" and visit.outcome == "unchanged"):
            for node in self._shown.get(visit.node, ()):
                self._pending[node] = visit.node

    def _seen(self, visit: Visit) -> None:
        known = self._known.get(visit.node)
        if visit.outcome == "ok":
            picture = Picture(visit.digest, visit.data.get("print", -1))
            known = self._known[visit.node] = _Known(picture, visit.started, looks=known.looks if known else -1)
        if known is not None and visit.outcome in ("ok", "unchanged"):
            known.looks += 1
            if visit.status != 304:
                known.validators = Validators(visit.etag, visit.modified)
