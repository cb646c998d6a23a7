"""What there is to say of one link."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from lycosa.explaining.standing import View


@dataclass(frozen=True, slots=True)
class Parent:
    """Where a link was found."""

    node: str
    title: str
    relevance: float
    """How relevant that page is."""
    anchor: str
    alpha: float
    """How promising the link looked to the topic."""
    kind: str = "page"
    """`page`, `redirect`, or `sitemap` for any source of addresses."""


@dataclass(frozen=True, slots=True)
class PathPage:
    """A page on the way from a seed."""

    node: str
    title: str
    relevance: float
    anchor: str
    """Of the link that led to it."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The visit that settled a link: what was expected, what came of it."""

    at: float
    title: str
    outcome: str
    status: int
    complaint: str
    pick: int
    arm: str
    expected: float
    """The score it was picked by; infinite for a seed."""
    relevance: float
    found: bool
    """Whether it counts as relevant."""
    same_as: str = ""
    terms: dict[str, float] = field(default_factory=dict)
    """What that score was made of, the largest first, if the strategy gives reasons."""
    reckoned: float = math.nan
    """The score that these add up to. The log is folded again to know it: it may differ from the score at the pick."""
    logged: float = 0.0
    """What was said of the page when it was fetched; `relevance` is what it is worth now."""
    unfolded: int = 0
    """Events that would have to be folded to know what the score was made of, where that was left out; else 0."""
    judged: dict[str, float] = field(default_factory=dict)
    """Why it is worth that: words, fields, neighbours, labels, each with what it adds, if the judge gives reasons."""

    @property
    def is_page(self) -> bool:
        return self.outcome == "ok"


@dataclass(slots=True)
class Why:
    """One link: how it stands, and why."""

    node: str
    state: str
    """`waits`, `held`, `shut`, `pruned`, `host budget`, `unranked`, `fetched`, `prerequisite`, `out of scope`."""
    note: str = ""
    """What that means, in words."""
    views: list[View] = field(default_factory=list)
    """What the strategy thinks of it; a bandit's arms each, the best arm first. Empty for what does not wait."""
    parents: list[Parent] = field(default_factory=list)
    """Where it was found: the most relevant first."""
    parent_count: int = 0
    way: list[PathPage] = field(default_factory=list)
    """The pages from a seed to it."""
    fetched: Fetched | None = None

    @property
    def view(self) -> View | None:
        """What the strategy thinks of it; of a bandit, the best arm."""
        return self.views[0] if self.views else None

    def as_dict(self) -> dict[str, Any]:
        """For JSON, which has no word for infinity: None."""
        told: dict[str, Any] = _finite(asdict(self))
        return told


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
