"""The change of a page since its last visit, stored in `visit.data["change"]`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from lycosa.core.types import Visit

ChangeType: TypeAlias = Literal[
    "changed",  # different content at the same URL
    "vanished",  # 404, 410, or a page that says so under another status
    "moved",  # a redirect to another page took its place
    "returned",  # present again after it had vanished or moved
    "new",  # first visit
]

Kind: TypeAlias = Literal[
    "topic",  # its relevance crossed the threshold
    "text",  # different words
    "structure",  # different elements or a replaced image
    "link",  # different links
    "cosmetic",  # dates, counters, navigation, encoding: nothing of interest to readers
]

KINDS: tuple[Kind, ...] = get_args(Kind)  # most important first: a change has the first kind that any detector reports
PERMANENT = frozenset({301, 308})


@dataclass(slots=True, frozen=True)
class Verdict:
    """The result of one detector for two versions."""

    changed: bool
    kind: Kind = "cosmetic"
    magnitude: float = 0.0  # 0: equal, 1: nothing in common
    says: str = ""  # explanation, for instance `level 4: 3 of 12 texts are others`


@dataclass(slots=True)
class Change:
    """The change of a page, with the detectors that reported it."""

    what: ChangeType
    kind: Kind = "cosmetic"
    magnitude: float = 0.0
    by: list[str] = field(default_factory=list)  # detectors that reported it
    # Their explanations in the same order; for a vanished or moved page, how it was recognised or its target.
    says: list[str] = field(default_factory=list)
    target: str = ""  # URL that a page moved to

    @property
    def matters(self) -> bool:
        return self.what != "changed" or self.kind != "cosmetic"

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


def change_of(visit: Visit) -> Change | None:
    """Return the change recorded with a visit, or None."""
    data = visit.data.get("change")
    return Change(**data) if data else None
