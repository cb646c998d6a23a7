"""Explanations of a link: plain data for JSON and the command line."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from lycosa.explaining.frontier_ranking import View


@dataclass(frozen=True, slots=True)
class Parent:
    """Page that links to the explained link; `kind` is `page`, `redirect`, or `sitemap` for any list of URLs."""

    node: str
    title: str
    relevance: float
    anchor: str
    link_relevance: float
    kind: str = "page"


@dataclass(frozen=True, slots=True)
class PathPage:
    """Page on the path from a seed, and the anchor of the link that led to it."""

    node: str
    title: str
    relevance: float
    anchor: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """Final visit of a link: the expected and the actual relevance.

    `priority` is the one logged at the pick, infinite for a seed, and `terms` are its parts at that time, largest
    first. `first_relevance` is the relevance at the time of the visit, `relevance` the current one, with its parts in
    `judged`.
    """

    at: float
    title: str
    outcome: str
    status: int
    complaint: str
    pick: int
    arm: str
    priority: float
    relevance: float
    is_relevant: bool
    same_as: str = ""
    terms: dict[str, float] = field(default_factory=dict)
    first_relevance: float = 0.0
    judged: dict[str, float] = field(default_factory=dict)

    @property
    def is_page(self) -> bool:
        return self.outcome == "ok"


@dataclass(slots=True)
class Why:
    """Explanation of a link: its state, and the reasons for it.

    `state` is `waits`, `held`, `shut`, `pruned`, `host budget`, `unranked`, `fetched`, `prerequisite` or `out of
    scope`; `note` explains it. `views` are the estimates of the strategy (a bandit's arms, the best arm first);
    empty unless the link is waiting. `parents` are the most relevant pages that link to it, of `parent_count` in
    total; `path` leads to it from a seed.
    """

    node: str
    state: str
    note: str = ""
    views: list[View] = field(default_factory=list)
    parents: list[Parent] = field(default_factory=list)
    parent_count: int = 0
    path: list[PathPage] = field(default_factory=list)
    fetched: Fetched | None = None

    @property
    def view(self) -> View | None:
        return self.views[0] if self.views else None

    def as_dict(self) -> dict[str, Any]:
        """Return a dictionary for JSON, with None for infinity and NaN."""
        finite: dict[str, Any] = _finite(asdict(self))
        return finite


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
