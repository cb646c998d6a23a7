"""Rows of a crawl's view, whose attributes declare the columns of the view."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Visit
from lycosa.revisit.change import change_of

if TYPE_CHECKING:
    from lycosa.collection.view import CrawlView

T = TypeVar("T")


class _Column(Generic[T]):
    """Descriptor of a column of the view, which is read as an attribute of a row."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, row: PageRow, owner: type) -> T:
        value: T = row.view.columns[self.name].item(row.number)
        return value


class PageRow:
    """Row of the view: the current version of a page, a redirect or a sitemap."""

    __slots__ = ("number", "view")

    seq = _Column[int]("i8")  # event of the current version
    first = _Column[int]("i8")  # event of the first version
    kind = _Column[int]("u1")  # PAGE, REDIRECT or SITEMAP
    place = _Column[int]("i4")  # position in the order in which pages were first fetched; -1 for other kinds
    host_number = _Column[int]("i4")
    language_number = _Column[int]("i4")
    relevance = _Column[float]("f8")  # relevance in the log
    relevance_now = _Column[float]("f8")  # relevance by the current judge
    copy = _Column[bool]("?")  # True for a copy of another page
    archived = _Column[bool]("?")
    foreign = _Column[bool]("?")  # True for a page in an unwanted language, which is not relevant
    started = _Column[float]("f8")
    pick = _Column[float]("f8")  # priority when it was picked
    simhash = _Column[int]("u8")
    frequency = _Column[int]("i4")  # occurrences of the topic's words
    parent = _Column[int]("i4")  # vertex with the first link to it before it was fetched; -1 if none
    via = _Column[int]("i8")  # event with the first link
    crawled = _Column[bool]("?")  # True if first fetched as a page, so that it counts for budget and harvest
    first_relevance = _Column[float]("f8")  # relevance_now of the first version, which counts for the harvest
    first_copy = _Column[bool]("?")
    ended = _Column[float]("f8")  # time when the first version was received

    def __init__(self, view: CrawlView, number: int) -> None:
        self.view, self.number = view, number

    @property
    def node(self) -> str:
        return self.view.nodes[self.number]

    @property
    def title(self) -> str:
        """Title, or empty if the view does not keep titles."""
        return self.view.titles[self.number] if self.view.content else ""

    @property
    def host(self) -> str:
        return self.view.tally.names[self.host_number]

    @property
    def language(self) -> str:
        return self.view.languages[self.language_number]

    @property
    def terms(self) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
        """Word numbers and counts, read from the log; use `CrawlView.words_on` for many pages."""
        return self.view.words_on([self.number])[0]

    @property
    def fate(self) -> PageFate | None:
        """State of the page after revisits; None if it was never revisited."""
        return self.view.fates.get(self.number)

    @property
    def changed(self) -> float:
        """Time of the last change of its main text; 0 if it never changed."""
        return fate.changed if (fate := self.fate) is not None else 0.0

    @property
    def state(self) -> State:
        return fate.state if (fate := self.fate) is not None else "stands"


COLUMNS: dict[str, str] = {name: column.dtype for name, column in vars(PageRow).items() if isinstance(column, _Column)}


State: TypeAlias = Literal["stands", "vanished", "moved"]


@dataclass(slots=True, frozen=True)
class PageFate:
    """State of a page according to its revisits."""

    state: State
    since: float  # time when it was first seen in this state, or of the current version
    versions: int = 1
    revisits: int = 0  # conclusive revisits
    last_seen: float = 0.0  # time of the last conclusive visit
    changed: float = 0.0  # time of the last version with changed main text; 0 if there is none
    target: str = ""  # redirect target of a moved page
    version_time: float = 0.0  # time of the last version

    @classmethod
    def of(cls, visits: Iterable[Visit]) -> PageFate | None:
        """Return the state after all visits of a page, in order; None if none brought content.

        >>> page, gone = Visit("a", "page", "ok", 1, started=1.0), Visit("a", "revisit", "gone", 2, started=5.0)
        >>> PageFate.of([page]).state, PageFate.of([page, gone]).state, PageFate.of([page, gone, gone]).since
        ('stands', 'vanished', 5.0)
        """
        fate: PageFate | None = None
        for visit in visits:
            fate = cls.after(fate, visit)
        return fate

    @classmethod
    def after(cls, before: PageFate | None, visit: Visit) -> PageFate | None:
        state: State | None = _STATES.get(visit.outcome)
        if visit.kind not in ("page", "revisit") or state is None or not (before or visit.is_version):
            return before
        was = before or cls("stands", 0.0, versions=0, revisits=-1)
        version_time, changed, since = was.version_time, was.changed, was.since
        if visit.is_version:
            version_time = visit.started
            change = change_of(visit)
            if visit.kind == "revisit" and (change is None or change.matters):
                changed = visit.started
        if state == "stands":
            since = version_time
        elif state != was.state:
            since = visit.started
        target = visit.links.urls[0] if state == "moved" and visit.links.urls else ""
        versions, revisits = was.versions + visit.is_version, was.revisits + 1
        return cls(state, since, versions, revisits, visit.started, changed, target, version_time)


# Conclusive outcomes; after other outcomes the visit is retried.
_STATES: dict[str, State] = {"ok": "stands", "unchanged": "stands", "gone": "vanished", "redirect": "moved"}
