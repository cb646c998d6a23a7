"""Data types of the crawl loop. A Task goes out, a Page comes back, and a Visit is recorded.

Everything is learned from events (Visit, Seed, Label, Setting, ModelUpdate), never from a Page: live and replayed
crawls run the same code on the same values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

# Row numbers of the table. Columns of rows are int32, rows of a step intp, which indexes faster
Rows: TypeAlias = NDArray[np.integer[Any]]

Priorities: TypeAlias = NDArray[np.float64]

Kind = Literal["page", "redirect", "robots", "example", "sitemap", "probe", "revisit", "search", "policy", "asset"]

Outcome = Literal[
    "ok",  # a page with content; for a revisit: changed content
    "unchanged",  # revisit: the content is the same
    "redirect",  # redirect status (3xx) with a valid target
    "gone",  # 4xx
    "broken",  # 5xx
    "busy",  # 429 or 503
    "denied",  # disallowed by robots.txt; nothing was sent
    "refused",  # IP address not allowed by the address guard; nothing was sent
    "unknown-host",  # no DNS record
    "unreachable",  # connection failed or broke
    "timeout",  # the deadline passed
    "slow",  # below the minimum bytes per second
    "loop",  # too many redirects in a row
    "unwanted",  # type not accepted or too large; not read
    "invalid",  # not HTTP, or a redirect without a target
    "unreadable",  # damaged or encrypted; or reading it takes too much time or memory, or crashes the process
    "challenge",  # a bot check instead of the page
    "login",  # a login form, or 401
    "limited",  # a page about too many requests, sent with another status
    "consent",  # a consent wall instead of the page
    "crashed",  # exception in the space itself: a bug, recorded so that the visit is not lost
]


UNSENT = ("denied", "refused")  # outcomes without a request


@dataclass(slots=True)
class Links:
    """Links of one page as columns, in page order."""

    urls: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    contexts: list[str] = field(default_factory=list)
    rels: list[str] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    """Index of each link's element in the page, which is also the index of its markers in the text."""
    link_relevances: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    facets: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    """More relevances for each link by name ("context", "url"), if the strategy wants them."""
    paths: list[str] = field(default_factory=list)
    """Tag path of each link, such as "html body div#content ul.nav li a.ref"; "" if unknown; empty without HTML."""
    read: Any = field(default=None, repr=False, compare=False)
    """Cached terms of the link texts for the next reader; not stored."""

    def __len__(self) -> int:
        return len(self.urls)

    def add(
        self, url: str, anchor: str = "", context: str = "", rel: str = "", position: int = 0, path: str | None = None
    ) -> None:
        self.urls.append(url)
        self.anchors.append(anchor)
        self.contexts.append(context)
        self.rels.append(rel)
        self.positions.append(position)
        self.paths += [] if path is None else [path]

    def select(self, places: Sequence[int]) -> Links:
        """Return the links at some indices, without relevances."""
        urls, anchors, contexts, rels, paths = (
            [column[at] for at in places] if column else []
            for column in (self.urls, self.anchors, self.contexts, self.rels, self.paths)
        )
        return Links(urls, anchors, contexts, rels, [self.positions[at] for at in places], paths=paths)

    def truncate(self, limit: int) -> None:
        for column in (self.urls, self.anchors, self.contexts, self.rels, self.positions, self.paths):
            del column[max(0, limit) :]
        self.link_relevances = self.link_relevances[: max(0, limit)]
        self.facets = {name: column[: max(0, limit)] for name, column in self.facets.items()}

    @classmethod
    def to(cls, *urls: str, anchors: Sequence[str] | None = None) -> Links:
        """Return links without text, for spaces without text and for tests.

        >>> Links.to("b", "c").positions
        [0, 1]
        """
        n = len(urls)
        return cls(list(urls), list(anchors or [""] * n), [""] * n, [""] * n, list(range(n)), np.zeros(n, np.float32))


@dataclass(slots=True)
class Exchange:
    """Raw bytes of a request and its response, for the archive."""

    request: bytes
    status_line: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes
    digest: bytes
    truncated: str = ""
    # Response as received, if the page was rendered: `body` is then the final DOM.
    received: Exchange | None = None
    resources: list[Resource] = field(default_factory=list)  # resources fetched by the browser

    def header(self, name: str) -> str:
        wanted = name.lower().encode()
        return next((value.decode("latin-1") for key, value in self.headers if key.lower() == wanted), "")


@dataclass(slots=True)
class Resource:
    """A resource of a page, such as a script, with URL, time, IP address and bytes."""

    url: str
    started: float
    address: str
    exchange: Exchange


@dataclass(slots=True)
class Page:
    """Result of visiting a node. Only `outcome` is required; the rest depends on the space."""

    outcome: Outcome
    status: int = 0
    kind: Kind = "page"
    title: str = ""
    marked: str = ""
    """Text with U+0001 and U+0002 around each link, in the order of `links`."""
    main: str = ""
    """Text of the main part without the title; empty if unknown."""
    headings: str = ""
    """Headings of the main part, one per line."""
    lead: str = ""
    """First paragraphs of the main part."""
    language: str = ""
    links: Links = field(default_factory=Links)
    started: float = 0.0
    ended: float = 0.0
    address: str = ""
    size: int = 0
    etag: str = ""
    modified: str = ""
    retry_at: float = 0.0
    """Earliest retry of a failed node (seconds since the epoch); 0: never."""
    flags: list[str] = field(default_factory=list)
    note: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    """Data of the space that is needed when the log is replayed (robots rules, true relevances, ...)."""
    exchange: Exchange | None = None
    guessed: bool = False
    """True if the language was guessed, as the page declares none."""
    node: str = ""
    """Node of the page, set by the engine."""
    scripts: bool = False
    """True if the page has scripts or anything else to run in a browser."""
    source: Callable[[], str] = field(default=str, repr=False, compare=False)
    """Returns the markup, computed on demand; empty if the space has none."""

    @property
    def text(self) -> str:
        """Text as a reader sees it.

        >>> Page("ok", marked="see \\x01coral reefs\\x02.").text
        'see coral reefs.'
        """
        return self.marked.replace("\x01", "").replace("\x02", "")


@dataclass(slots=True, frozen=True)
class Task:
    """A visit to make: a node of the frontier, or a prerequisite such as robots.txt."""

    node: str
    kind: Kind = "page"
    row: int = -1
    pick: int = 0
    arm: str = ""
    priority: float = 0.0
    attempt: int = 1
    hops: int = 0
    origin: str = ""
    """For a prerequisite: the node that needs it."""
    follows: float = 0.0
    """For a revisit: start time of the visit to compare with; 0 for a first visit."""
    conditions: tuple[tuple[str, str], ...] = ()
    """For a revisit: header fields of a conditional request."""
    due: bool = False
    """True if the visit scheduler requested it."""
    parent: str = ""
    """Page with the first link to the node; "" for a seed."""
    depth: int = 0
    """Number of links from a seed."""
    priority_terms: dict[str, float] = field(default_factory=dict)
    """Terms of the priority, if the strategy explains it."""


class Pick(NamedTuple):
    """Choice of a strategy: a row (-1: none), the arm of a bandit that chose it, and its priority."""

    row: int
    arm: str = ""
    priority: float = 0.0


@dataclass(slots=True)
class Judgement:
    """Result of judging a page: its relevance, the relevance of each link, and data to store."""

    relevance: float
    link_relevances: NDArray[np.float32]
    data: dict[str, Any] = field(default_factory=dict)
    facets: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    """More relevances for each link by name, as in `Links.facets`."""


def as_stored(value: Any) -> Any:
    """Convert a value to its form in the log: tuples to lists, numpy scalars and arrays to plain numbers.

    >>> as_stored({"k": (1, np.float32(0.5))})
    {'k': [1, 0.5]}
    """
    if isinstance(value, Mapping):
        return {key: as_stored(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_stored(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


TITLE, HEADING, LEAD, MAIN, ADDRESS = 1, 2, 4, 8, 16  # bits of `Terms.marks`: where on the page a term occurs


@dataclass(slots=True)
class Terms:
    """Bag of terms of a page: sorted ids, counts, and stems new to the vocabulary.

    Covers title and main part if known, otherwise the whole page.
    """

    ids: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    counts: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))
    new: list[str] = field(default_factory=list)
    # Places of each term (TITLE | HEADING | ...); empty: unknown.
    marks: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))


@dataclass(slots=True)
class ArchivePlace:
    """Location of a record in the archive."""

    file: str = ""
    offset: int = 0
    length: int = 0


@dataclass(slots=True)
class Visit:
    """One iteration of the crawl loop, as recorded in the log. Numbers are rounded to their stored precision."""

    node: str
    kind: Kind
    outcome: Outcome
    pick: int
    arm: str = ""
    priority: float = 0.0
    attempt: int = 1
    retry_at: float = 0.0
    hops: int = 0
    origin: str = ""
    started: float = 0.0
    ended: float = 0.0
    address: str = ""
    status: int = 0
    size: int = 0
    title: str = ""
    language: str = ""
    etag: str = ""
    modified: str = ""
    flags: list[str] = field(default_factory=list)
    note: str = ""
    digest: bytes = b""
    simhash: int = 0
    judge: str = ""
    relevance: float = 0.0
    same_as: str = ""
    """Node with the same or nearly the same content. Such a page never counts as relevant."""
    data: dict[str, Any] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)
    links: Links = field(default_factory=Links)
    place: ArchivePlace = field(default_factory=ArchivePlace)
    parent: str = ""
    """For a first visit: page with the first link to this node, whatever redirects lie between; "" for a seed."""
    anchor: str = ""
    """Text of that link, set by the log."""
    depth: int = 0
    """For a first visit: number of links from a seed."""
    priority_terms: dict[str, float] = field(default_factory=dict)
    """Terms of the priority when it was picked."""
    updated_relevance: float | None = field(default=None, compare=False, repr=False)
    """Relevance by the judge's current model, set by readers of the log; None: same as `relevance`. Not for folds."""

    @property
    def relevance_now(self) -> float:
        """Current relevance; `relevance` is the one when the page was fetched."""
        return self.relevance if self.updated_relevance is None else self.updated_relevance

    @property
    def url(self) -> str:
        """The node, under the name used in web crawls."""
        return self.node

    @property
    def complaint(self) -> str:
        """Status and note of a failure."""
        return f"{self.status or ''} {self.note}".strip()

    @property
    def target(self) -> str:
        """Target of a redirect, or ""."""
        return self.links.urls[0] if self.outcome == "redirect" and self.links.urls else ""

    @property
    def is_page(self) -> bool:
        """True if content was received. Only such visits count for budgets and harvest."""
        return self.kind == "page" and self.outcome == "ok"

    @property
    def is_version(self) -> bool:
        """True if this visit brought a version of a page: the first, or changed content."""
        return self.kind in ("page", "revisit") and self.outcome == "ok"

    @property
    def is_hollow(self) -> bool:
        """True if the page has no content of its own: a soft 404, or part of a maze."""
        return "soft-404" in self.flags or "maze" in self.flags

    @property
    def follows(self) -> float:
        """For a revisit: start time of the visit that it was compared with; otherwise 0."""
        return float(self.data.get("follows", 0.0))

    def was_relevant(self, threshold: float) -> bool:
        """Return whether the page was relevant when fetched and not a copy; for folds."""
        return self.is_page and self.relevance >= threshold and not self.same_as

    def is_relevant(self, threshold: float) -> bool:
        """Return whether the page is relevant by the current model and not a copy; for readers of the log."""
        return self.is_page and self.relevance_now >= threshold and not self.same_as


START_RELEVANCE = 0.95  # relevance of a start page that a learning judge takes as an example


@dataclass(slots=True)
class Seed:
    """A node to start from: a page, or a source of URLs (kind "sitemap")."""

    node: str
    at: float = 0.0
    kind: Kind = "page"
    data: dict[str, Any] = field(default_factory=dict)  # needed by the space when the log is replayed


@dataclass(slots=True)
class Label:
    """A person's label of a node; None withdraws it."""

    node: str
    relevant: bool | None
    at: float = 0.0
    by: str = ""


@dataclass(slots=True)
class Setting:
    """A value decided once and needed later: the resolved topic, a threshold, why a run ended."""

    key: str
    value: Any
    at: float = 0.0


@dataclass(slots=True)
class ModelUpdate:
    """An update of a judge's model at this position of the log. A replay reads it instead of training again."""

    judge: str  # as in visits; other judges ignore it
    data: dict[str, Any] = field(default_factory=dict)  # plain values, bytes and numpy arrays
    at: float = 0.0


@dataclass(slots=True)
class Held:
    """A group of URLs held back as a likely trap."""

    reason: str
    where: str
    addresses: int
    fetched: int  # URLs of this group fetched before
    example: str


@dataclass(slots=True)
class InboundLinks:
    """Links from a page fetched by another shard to nodes of this shard.

    `sender` and `number` identify it; duplicates are ignored. Numbers of a sender increase.
    """

    sender: int
    number: int
    visit: Visit  # without terms, and only with links to nodes of this shard
    depth: int = 0
    hops: int = 0  # hops of the page, plus redirects that led to it
    seed: bool = False  # true if the page is a seed; its redirect target becomes a seed as well
    sums: list[float] = field(default_factory=list)  # values passed on by a redirect (`Table.inherited_values`)


@dataclass(slots=True)
class LinkBatch:
    """Links from several pages of another shard, in order of their numbers; sent and logged as one event."""

    pages: list[InboundLinks]
    packed: bytes = field(default=b"", compare=False, repr=False)  # serialised form as received, to be logged

    @property
    def sender(self) -> int:
        return self.pages[0].sender

    @property
    def number(self) -> int:
        return self.pages[-1].number

    def after(self, number: int) -> LinkBatch | None:
        """Return the batch without the pages up to a number; None if no page is left."""
        if self.pages[0].number > number:
            return self
        pages = [page for page in self.pages if page.number > number]
        return LinkBatch(pages) if pages else None


Event: TypeAlias = Visit | Seed | Label | Setting | ModelUpdate | LinkBatch


@dataclass(slots=True)
class Step:
    """A visit with table rows instead of names, as estimators see it."""

    visit: Visit
    row: int
    children: Rows  # unique rows of the page's links in page order; the target of a redirect
    link_relevances: NDArray[np.float32]  # for each child the maximum over the page's links to it
    # Row of each link; -1: out of scope, or the page itself.
    of_link: Rows = field(default_factory=lambda: np.zeros(0, np.int32))
    places: NDArray[np.intp] | None = None  # index in `children` for each link with a row, if known
    is_inbound: bool = False  # the page was fetched by another shard; only its links are new

    def facet(self, name: str) -> NDArray[np.float32]:
        """Return the maximum of a facet over the links to each child; link relevances if there is no such facet."""
        column = self.visit.links.facets.get(name)
        return self.link_relevances if column is None or not len(self.of_link) else self.strongest(column)

    def strongest(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return the maximum of a per-link column over the page's links to each child."""
        if len(self.of_link) == len(self.children):  # each link leads to a different child
            return column
        of_link = self.of_link
        kept = (of_link >= 0).nonzero()[0]
        if self.places is None:
            order = np.argsort(self.children)
            self.places = order[np.searchsorted(self.children, of_link[kept], sorter=order)]
        strongest = np.full(len(self.children), -np.inf, column.dtype)
        np.maximum.at(strongest, self.places, column.take(kept))
        return strongest


def apply_label(relevance_now: float, relevant: bool | None, threshold: float) -> float:
    """Return a relevance corrected by a label: at least the threshold if relevant, below it if not.

    >>> apply_label(.05, True, .1), apply_label(.05, None, .1), apply_label(.4, False, .1) < .1
    (0.1, 0.05, True)
    """
    if relevant is None:
        return relevance_now
    return max(relevance_now, threshold) if relevant else min(relevance_now, math.nextafter(threshold, -math.inf))
