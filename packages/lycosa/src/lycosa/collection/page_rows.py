"""A page of a crawl's view: a row, whose attributes are columns of the view. What a page has is declared here, once."""

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
    """A column of the view: an attribute of each row."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, row: PageRow, owner: type) -> T:
        value: T = row.view.columns[self.name].item(row.number)
        return value


class PageRow:
    """A page, as its current version is; or a redirect, or a sitemap, which are ways to pages."""

    __slots__ = ("number", "view")

    seq = _Column[int]("i8")  # event that brought the current version
    first = _Column[int]("i8")  # event that brought the first one
    kind = _Column[int]("u1")  # PAGE, REDIRECT or SITEMAP
    place = _Column[int]("i4")  # place in the order in which pages were first fetched; -1: no page
    host_number = _Column[int]("i4")
    language_number = _Column[int]("i4")
    relevance = _Column[float]("f8")  # as it was logged
    relevance_now = _Column[float]("f8")  # what the judge says by now
    copy = _Column[bool]("?")  # it repeats another page
    archived = _Column[bool]("?")  # its bytes are in the archive
    foreign = _Column[bool]("?")  # in a language that was not asked for: not relevant
    started = _Column[float]("f8")
    pick = _Column[float]("f8")  # priority when it was chosen
    simhash = _Column[int]("u8")
    frequency = _Column[int]("i4")  # how often words of the topic are on it
    parent = _Column[int]("i4")  # vertex that first linked here before it was fetched; -1: none
    via = _Column[int]("i8")  # event with that link
    crawled = _Column[bool]("?")  # first fetched as a page: what budgets and harvest count
    first_relevance = _Column[float]("f8")  # what its first version is relevance_now by now: what the harvest counts
    first_copy = _Column[bool]("?")
    ended = _Column[float]("f8")  # when the first version came

    def __init__(self, view: CrawlView, number: int) -> None:
        self.view, self.number = view, number

    @property
    def node(self) -> str:
        """Its address."""
        return self.view.nodes[self.number]

    @property
    def title(self) -> str:
        """Its title, if the view keeps those."""
        return self.view.titles[self.number] if self.view.content else ""

    @property
    def host(self) -> str:
        """Its host, with the port."""
        return self.view.tally.names[self.host_number]

    @property
    def language(self) -> str:
        """The languages that it names."""
        return self.view.languages[self.language_number]

    @property
    def terms(self) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
        """Its words, by number, and how often each is on it, read from the log; of many see `CrawlView.words_on`."""
        return self.view.words_on([self.number])[0]

    @property
    def fate(self) -> PageFate | None:
        """What has become of it; None where nobody has looked again."""
        return self.view.fates.get(self.number)

    @property
    def changed(self) -> float:
        """When it last changed in what a reader came for; 0: never."""
        return fate.changed if (fate := self.fate) is not None else 0.0

    @property
    def state(self) -> str:
        """stands, vanished or moved."""
        return fate.state if (fate := self.fate) is not None else "stands"


COLUMNS: dict[str, str] = {name: column.dtype for name, column in vars(PageRow).items() if isinstance(column, _Column)}


# -- what has become of a page -----------------------------------------------------------------------------

# What has become of a page since it was first fetched.

State: TypeAlias = Literal["stands", "vanished", "moved"]


@dataclass(slots=True, frozen=True)
class PageFate:
    """What has become of a page, as far as the looks at it tell."""

    state: State
    since: float  # when it was first seen so: gone, elsewhere, or with the present content
    versions: int = 1
    looks: int = 0  # looks again that told something, after the first
    seen: float = 0.0  # when the last of them was
    changed: float = 0.0  # when a version came that differs in what a reader came for; 0: never
    target: str = ""  # where it moved to
    came: float = 0.0  # when its last version came

    @classmethod
    def of(cls, visits: Iterable[Visit]) -> PageFate | None:
        """From all visits of a page, in order; None where no version ever came.

        >>> page, gone = Visit("a", "page", "ok", 1, started=1.0), Visit("a", "revisit", "gone", 2, started=5.0)
        >>> Fate.of([page]).state, Fate.of([page, gone, gone]).state, Fate.of([page, gone, gone]).since
        ('stands', 'vanished', 5.0)
        """
        fate: PageFate | None = None
        for visit in visits:
            fate = cls.after(fate, visit)
        return fate

    @classmethod
    def after(cls, before: PageFate | None, visit: Visit) -> PageFate | None:
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


# outcomes that say what has become of a page; after others it is tried again
_TOLD: dict[str, State] = {"ok": "stands", "unchanged": "stands", "gone": "vanished", "redirect": "moved"}
