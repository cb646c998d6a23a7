"""What a search gives back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lycosa.collection.snippets import Snippet


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that was found."""

    rank: int
    url: str
    title: str
    snippet: Snippet
    score: float
    """What the topic thinks of the page."""
    relevance: float
    """What the query thinks of it: BM25."""
    host: str
    language: str
    fetched: datetime
    same_as: str = ""
    changed: datetime | None = None
    """When it last changed in what matters; None: never."""
    standing: str = "stands"
    """Or `vanished`, or `moved`: the last version is shown."""
    since: datetime | None = None
    """Since when it has, if it has."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "rank": self.rank,
            "url": self.url,
            "title": self.title,
            "snippet": self.snippet.text,
            "spans": [list(span) for span in self.snippet.spans],
            "score": round(self.score, 4),
            "relevance": round(self.relevance, 4),
            "host": self.host,
            "language": self.language,
            "fetched": self.fetched.isoformat(timespec="seconds"),
            "same_as": self.same_as,
            "changed": self.changed.isoformat(timespec="seconds") if self.changed else None,
            "standing": self.standing,
            "since": self.since.isoformat(timespec="seconds") if self.since else None,
        }


@dataclass(slots=True)
class Results:
    """What a search found, the best first."""

    hits: list[Hit] = field(default_factory=list)
    total: int = 0
    counted: bool = True
    """Whether the total was counted; otherwise it is an estimate."""
    loosened: bool = False
    """No page has all that was asked for: these have some of it."""
    pages: int = 0
    """How many pages passed the filters and were searched."""
    unread: int = 0
    """How many of these are known by their titles only: nothing readable is archived."""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "total": self.total,
            "counted": self.counted,
            "loosened": self.loosened,
            "pages": self.pages,
            "unread": self.unread,
            "hits": [hit.as_dict() for hit in self.hits],
        }
