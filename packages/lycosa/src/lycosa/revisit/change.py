"""What has become of a page since it was last looked at; `visit.data["change"]` keeps it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from lycosa.core.types import Visit

What: TypeAlias = Literal[
    "changed",  # other content at the same address
    "vanished",  # 404, 410, or a page that says so under another status
    "moved",  # a redirect where a page was
    "returned",  # there again after it had vanished or moved
    "new",  # seen for the first time
]

Kind: TypeAlias = Literal[
    "topic",  # it entered the topic, or left it
    "text",  # its own words are others
    "structure",  # its elements are others, or a picture was replaced
    "link",  # it links elsewhere
    "cosmetic",  # dates, counters, navigation, encoding: nothing that a reader came for
]

KINDS: tuple[Kind, ...] = get_args(Kind)  # the gravest first: a change is of the first kind that a detector sees
PERMANENT = frozenset({301, 308})


@dataclass(slots=True, frozen=True)
class Verdict:
    """What one detector says of two versions."""

    changed: bool
    kind: Kind = "cosmetic"
    magnitude: float = 0.0  # 0: the same, 1: nothing in common
    says: str = ""  # such as `level 4: 3 of 12 texts are others`


@dataclass(slots=True)
class Change:
    """What has become of a page."""

    what: What
    kind: Kind = "cosmetic"
    magnitude: float = 0.0
    by: list[str] = field(default_factory=list)  # detectors that saw it
    # what they said, in the same order; for a vanished or moved page, how or where to
    says: list[str] = field(default_factory=list)
    target: str = ""  # where a page moved to

    @property
    def matters(self) -> bool:
        return self.what != "changed" or self.kind != "cosmetic"

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


def change_of(visit: Visit) -> Change | None:
    """What a visit recorded; None if it found nothing new.

    >>> change_of(Visit("a", "revisit", "unchanged", 1)) is None
    True
    """
    data = visit.data.get("change")
    return Change(**data) if data else None
