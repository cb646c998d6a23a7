"""What has become of a page since it was first fetched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lycosa.core.types import Visit
from lycosa.refresh.change import change_of

State: TypeAlias = Literal["stands", "vanished", "moved"]


@dataclass(slots=True, frozen=True)
class Fate:
    """What has become of a page, as far as the looks at it tell."""

    state: State
    since: float
    """When it was first seen so: gone, elsewhere, or with the content that it has now."""
    versions: int = 1
    looks: int = 0
    """Looks again that told something, after the first."""
    seen: float = 0.0
    """When the last of them was."""
    changed: float = 0.0
    """When a version came that is another in what a reader came for; 0: never."""
    target: str = ""
    """Where it moved to."""
    came: float = 0.0
    """When its last version came."""

    @classmethod
    def of(cls, visits: Iterable[Visit]) -> Fate | None:
        """From all visits of a page, in order; None where no version ever came.

        >>> page, gone = Visit("a", "page", "ok", 1, started=1.0), Visit("a", "revisit", "gone", 2, started=5.0)
        >>> Fate.of([page]).state, Fate.of([page, gone, gone]).state, Fate.of([page, gone, gone]).since
        ('stands', 'vanished', 5.0)
        """
        fate: Fate | None = None
        for visit in visits:
            fate = cls.after(fate, visit)
        return fate

    @classmethod
    def after(cls, before: Fate | None, visit: Visit) -> Fate | None:
        """The same, visit by visit: what has become of a page, given what had before this one."""
        state: State | None = _TOLD.get(visit.outcome)
        if visit.kind not in ("page", "revisit") or state is None or not (before or visit.is_version):
            return before
        was = before or cls("stands", 0.0, versions=0, looks=-1)
        came, changed, since = was.came, was.changed, was.since
        if visit.is_version:
            came = visit.started
            change = change_of(visit)
            if visit.kind == "revisit" and (change is None or change.matters):
                changed = visit.started
        if state == "stands":
            since = came
        elif state != was.state:
            since = visit.started
        target = visit.links.urls[0] if state == "moved" and visit.links.urls else ""
        return cls(state, since, was.versions + visit.is_version, was.looks + 1, visit.started, changed, target, came)


_TOLD: dict[str, State] = {"ok": "stands", "unchanged": "stands", "gone": "vanished", "redirect": "moved"}
"""The outcomes that tell what has become of a page; the others will be tried again."""
