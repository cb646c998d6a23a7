"""State of a page after its visits: present, vanished or moved, with its versions and its last change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lycosa.core.types import Visit

State: TypeAlias = Literal["stands", "vanished", "moved"]

# Conclusive outcomes; after other outcomes the visit is retried.
_STATES: dict[str, State] = {"ok": "stands", "unchanged": "stands", "gone": "vanished", "redirect": "moved"}


@dataclass(slots=True, frozen=True)
class PageState:
    """State of a page, as in the table `page`."""

    state: State
    since: float  # time when it was first seen in this state, or of the current version
    versions: int = 1
    revisits: int = 0  # conclusive revisits
    last_seen: float = 0.0  # time of the last conclusive visit
    changed: float = 0.0  # time of the last version with changed main text; 0 if there is none
    moved_to: str = ""

    @classmethod
    def of(cls, visits: Iterable[Visit]) -> PageState | None:
        """Return the state after all visits of a page, in order; None if none brought content.

        >>> page, gone = Visit("a", "page", "ok", 1, started=1.0), Visit("a", "revisit", "gone", 2, started=5.0)
        >>> PageState.of([page]).state, PageState.of([page, gone]).state, PageState.of([page, gone, gone]).since
        ('stands', 'vanished', 5.0)
        """
        found: PageState | None = None
        for visit in visits:
            found = cls.after(found, visit)
        return found

    @classmethod
    def after(cls, before: PageState | None, visit: Visit) -> PageState | None:
        """Return the state after another visit; the same object if the visit says nothing about the page."""
        state = _STATES.get(visit.outcome)
        if visit.kind not in ("page", "revisit") or state is None or not (before or visit.is_version):
            return before
        was = before or cls("stands", 0.0, versions=0, revisits=-1)
        changed, since = was.changed, was.since
        if visit.is_version and visit.kind == "revisit" and _matters(visit):
            changed = visit.started
        if visit.is_version or state != was.state:
            since = visit.started
        moved_to = visit.target if state == "moved" else ""
        return cls(state, since, was.versions + visit.is_version, was.revisits + 1, visit.started, changed, moved_to)


def _matters(visit: Visit) -> bool:
    """Return whether the recorded change is more than cosmetic."""
    change = visit.data.get("change") or {}
    return change.get("what") != "changed" or change.get("kind") != "cosmetic"
