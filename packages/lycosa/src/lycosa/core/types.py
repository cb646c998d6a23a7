"""The nouns of the loop. A Task goes out, a Page comes back, a Visit is what the log keeps of it.

Everything that is learned is learned from events (Visit, Seed, Label, Setting, ModelUpdate), never from a Page: live and
replayed crawls run the same code on the same values.
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

# Row numbers of the frontier's table. Columns of them are int32; those of a step are intp, which index faster
Rows: TypeAlias = NDArray[np.integer[Any]]

Priorities: TypeAlias = NDArray[np.float64]

Kind = Literal["page", "redirect", "robots", "example", "sitemap", "probe", "revisit", "search", "policy", "asset"]

Outcome = Literal[
    "ok",  # a page with content; of a revisit: other content than before
    "unchanged",  # of a revisit: what we have still stands
    "redirect",  # a 3xx with somewhere to go
    "gone",  # 4xx
    "broken",  # 5xx
    "busy",  # 429 or 503
    "denied",  # robots.txt says no; nothing was sent
    "refused",  # the address guard says no; nothing was sent
    "unknown-host",  # DNS has no such name
    "unreachable",  # no connection, or it broke
    "timeout",  # the deadline passed
    "slow",  # fewer bytes a second than we put up with
    "loop",  # too many redirects in a row
    "unwanted",  # of a content type nobody asked for, or larger than was asked for; it was not read
    "invalid",  # not HTTP, or a redirect to nowhere
    "unreadable",  # a damaged or encrypted document; or reading it takes too much time or memory, or ends the process
    "challenge",  # a check for bots in place of the page
    "login",  # a form to log in, or 401
    "limited",  # a page that says: too many requests
    "consent",  # a wall of consent in place of the page
    "crashed",  # the space itself failed: a bug, recorded so that nothing is lost
]


UNSENT = ("denied", "refused")  # outcomes of visits for which nothing was sent


@dataclass(slots=True)
class Links:
    """The links of one page, column by column, in page order."""

    urls: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    contexts: list[str] = field(default_factory=list)
    rels: list[str] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    """Which of the page's link elements each one is: its markers in the text are the pair of that number."""
    link_relevances: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    facets: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    """What else the topic says of each link, by name ("context", "url"), where the strategy wants to know."""
    paths: list[str] = field(default_factory=list)
    """Where each link stands in the document: the tags from the root to it, "html body div#content ul.nav li a.ref".
    Of an HTML page one for each link (empty where it stands nowhere); no entries where a space knows of no tags."""
    read: Any = field(default=None, repr=False, compare=False)
    """What was read of their texts just now, for who reads them next; not kept."""

    def __len__(self) -> int:
        return len(self.urls)

    def add(
        self, url: str, anchor: str = "", context: str = "", rel: str = "", position: int = 0, path: str | None = None
    ) -> None:
        """One more link; with a path, where links have one."""
        self.urls.append(url)
        self.anchors.append(anchor)
        self.contexts.append(context)
        self.rels.append(rel)
        self.positions.append(position)
        self.paths += [] if path is None else [path]

    def only(self, places: Sequence[int]) -> Links:
        """Those at some places, as a space gives them: nobody has judged them yet."""
        urls, anchors, contexts, rels, paths = (
            [column[at] for at in places] if column else []
            for column in (self.urls, self.anchors, self.contexts, self.rels, self.paths)
        )
        return Links(urls, anchors, contexts, rels, [self.positions[at] for at in places], paths=paths)

    def keep(self, most: int) -> None:
        """Drop all but the first so many."""
        for column in (self.urls, self.anchors, self.contexts, self.rels, self.positions, self.paths):
            del column[max(0, most) :]
        self.link_relevances = self.link_relevances[: max(0, most)]
        self.facets = {name: column[: max(0, most)] for name, column in self.facets.items()}

    @classmethod
    def to(cls, *urls: str, anchors: Sequence[str] | None = None) -> Links:
        """Plain links to some nodes, for spaces without text and for tests.

        >>> Links.to("b", "c").positions
        [0, 1]
        """
        n = len(urls)
        return cls(list(urls), list(anchors or [""] * n), [""] * n, [""] * n, list(range(n)), np.zeros(n, np.float32))


@dataclass(slots=True)
class Exchange:
    """The bytes of one request and its answer, for the archive."""

    request: bytes
    status_line: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes
    digest: bytes
    truncated: str = ""
    # As received, of a page that a browser has rendered: the body is then the final DOM.
    received: Exchange | None = None
    resources: list[Resource] = field(default_factory=list)  # fetched by the browser

    def header(self, name: str) -> str:
        """The first header of that name, or empty."""
        wanted = name.lower().encode()
        return next((value.decode("latin-1") for key, value in self.headers if key.lower() == wanted), "")


@dataclass(slots=True)
class Resource:
    """Something that a page needs, such as a script: where it lies, when it was asked for, of whom, and the bytes."""

    url: str
    started: float
    address: str
    exchange: Exchange


@dataclass(slots=True)
class Page:
    """What a space found at a node. Only `outcome` is required; the rest depends on the space."""

    outcome: Outcome
    status: int = 0
    kind: Kind = "page"
    title: str = ""
    marked: str = ""
    """The text, with U+0001 and U+0002 around each link, in the order of `links`."""
    main: str = ""
    """The text of the main part, without the title; empty where it can't be told from the rest."""
    headings: str = ""
    """The headings of the main part, one per line."""
    lead: str = ""
    """The first paragraphs of the main part."""
    language: str = ""
    links: Links = field(default_factory=Links)
    started: float = 0.0
    ended: float = 0.0
    address: str = ""
    size: int = 0
    etag: str = ""
    modified: str = ""
    retry_at: float = 0.0
    """When a failed node may be tried again (seconds since the epoch); 0: never."""
    flags: list[str] = field(default_factory=list)
    note: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    """Whatever the space wants to find again when the log is replayed (robots rules, true scores, ...)."""
    exchange: Exchange | None = None
    guessed: bool = False
    """Whether the language was guessed, as the page declares none."""
    node: str = ""
    """The node where it was found, once the engine has it."""
    scripts: bool = False
    """Whether there is anything on it that a browser could run."""
    source: Callable[[], str] = field(default=str, repr=False, compare=False)
    """Its source as text, markup and all, made when somebody asks; empty where a space has none."""

    @property
    def text(self) -> str:
        """The text as a reader sees it.

        >>> Page("ok", marked="see \\x01coral reefs\\x02.").text
        'see coral reefs.'
        """
        return self.marked.replace("\x01", "").replace("\x02", "")


@dataclass(slots=True, frozen=True)
class Task:
    """One thing to visit: a node of the frontier, or an errand (robots.txt) that has to come first."""

    node: str
    kind: Kind = "page"
    row: int = -1
    pick: int = 0
    arm: str = ""
    priority: float = 0.0
    attempt: int = 1
    hops: int = 0
    origin: str = ""
    """For an errand: the node it is run for."""
    follows: float = 0.0
    """For a revisit: when the visit that it is compared with began; 0: the node was not visited before."""
    conditions: tuple[tuple[str, str], ...] = ()
    """For a revisit: header fields that ask for an answer only if there is something new."""
    due: bool = False
    """Whether the keeper asked for it: it was due."""


class Pick(NamedTuple):
    """What a strategy chose: a row (-1: none), the arm that chose it, and the score it had."""

    row: int
    arm: str = ""
    priority: float = 0.0


@dataclass(slots=True)
class Judgement:
    """What a topic says: beta of the page, alpha of each link, and what it wants to remember of the page."""

    relevance: float
    link_relevances: NDArray[np.float32]
    data: dict[str, Any] = field(default_factory=dict)
    facets: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    """More numbers for each link, by name: see Links.facets."""


def as_stored(value: Any) -> Any:
    """A value as it comes back from the log: lists for tuples, plain numbers for numpy's.

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
    """The page as a bag of terms: sorted ids, their counts, and the stems that were new to the vocabulary.

    It is the title and the main part, where that is known; else all of the page.
    """

    ids: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    counts: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))
    new: list[str] = field(default_factory=list)
    # Where each term occurs (TITLE | HEADING | ...); empty: unknown.
    marks: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))


@dataclass(slots=True)
class ArchivePlace:
    """Where the archive keeps a record."""

    file: str = ""
    offset: int = 0
    length: int = 0


@dataclass(slots=True)
class Visit:
    """One turn of the loop, as the log keeps it. Numbers are already rounded to what is stored."""

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
    """The node whose content this one repeats, word for word or nearly; such a page is no find of its own."""
    data: dict[str, Any] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)
    links: Links = field(default_factory=Links)
    place: ArchivePlace = field(default_factory=ArchivePlace)
    updated_relevance: float | None = field(default=None, compare=False, repr=False)
    """What the judge says of the page now that it has learned, as the log knows when it reads the event; None: beta
    stands. Whatever is folded must not look at it: a crawl that runs did not know it then."""

    @property
    def relevance_now(self) -> float:
        """How relevant the page is by the judge's current score. `relevance` is its score when it was fetched."""
        return self.relevance if self.updated_relevance is None else self.updated_relevance

    @property
    def url(self) -> str:
        """The node, under the name it has on the web."""
        return self.node

    @property
    def complaint(self) -> str:
        """What went wrong, as far as it was told."""
        return f"{self.status or ''} {self.note}".strip()

    @property
    def is_page(self) -> bool:
        """Whether this counts as a page: content was received. Budgets and harvest count these only."""
        return self.kind == "page" and self.outcome == "ok"

    @property
    def is_version(self) -> bool:
        """Whether this brought a version of a page: its first, or one that a revisit found to be another."""
        return self.kind in ("page", "revisit") and self.outcome == "ok"

    @property
    def is_hollow(self) -> bool:
        """Whether there is nothing on it, whatever its words: an error page that says 200, or part of a maze."""
        return "soft-404" in self.flags or "maze" in self.flags

    @property
    def follows(self) -> float:
        """Of a revisit: when the visit that it was compared with began; 0 if there is none."""
        return float(self.data.get("follows", 0.0))

    def was_relevant(self, threshold: float) -> bool:
        """Whether this was judged a page relevance_now having when it was fetched, the first with its content: for folds."""
        return self.is_page and self.relevance >= threshold and not self.same_as

    def is_relevant(self, threshold: float) -> bool:
        """Whether this is a page relevance_now having by the judge as it is now, the first with its content: for readers."""
        return self.is_page and self.relevance_now >= threshold and not self.same_as


@dataclass(slots=True)
class Seed:
    """A node to start from: a page, or a source of addresses (kind "sitemap")."""

    node: str
    at: float = 0.0
    kind: Kind = "page"
    data: dict[str, Any] = field(default_factory=dict)  # needed by the space when the log is replayed


@dataclass(slots=True)
class Label:
    """A person's word on a node; None takes back what was said."""

    node: str
    relevant: bool | None
    at: float = 0.0
    by: str = ""


@dataclass(slots=True)
class Setting:
    """Something decided once and needed again: the resolved topic, a threshold, how a run ended."""

    key: str
    value: Any
    at: float = 0.0


@dataclass(slots=True)
class ModelUpdate:
    """What a judge has learned, at a place in the log. It is read when the log is replayed, never worked out again."""

    judge: str  # as in visits; other judges ignore it
    data: dict[str, Any] = field(default_factory=dict)  # plain values, bytes and numpy arrays
    at: float = 0.0


@dataclass(slots=True)
class Held:
    """Addresses that were held back, as they would have wasted pages: why, where, and how many."""

    reason: str
    where: str
    addresses: int
    fetched: int  # how many of the same kind were fetched before
    example: str


@dataclass(slots=True)
class InboundLinks:
    """Links from a page that another shard of the crawl has fetched, to nodes that are ours to fetch.

    `sender` and `number` name it: whatever arrives twice under one name is learned once. Numbers of a sender go up.
    """

    sender: int
    number: int
    visit: Visit  # without its words, and with the links to our nodes alone
    depth: int = 0
    hops: int = 0  # of the page, and redirects on the way to it
    seed: bool = False  # the page is a seed: a redirect hands that on
    sums: list[float] = field(default_factory=list)  # handed on by a redirect (`Table.handed_on`)
    # As received: the log keeps that; empty it after any change.
    packed: bytes = field(default=b"", compare=False, repr=False)


@dataclass(slots=True)
class LinkBatch:
    """Links from several pages of one other shard, in the order of their numbers: how they travel, and an event of the
    receiver's log. (Logs of shards made from a common log have each page as an event.)"""

    pages: list[InboundLinks]
    packed: bytes = field(default=b"", compare=False, repr=False)  # as received: the log keeps that

    @property
    def sender(self) -> int:
        """The shard that has fetched the pages."""
        return self.pages[0].sender

    @property
    def number(self) -> int:
        """The last page's."""
        return self.pages[-1].number

    def after(self, number: int) -> LinkBatch | None:
        """What is new to one who has everything up to a number."""
        if self.pages[0].number > number:
            return self
        pages = [page for page in self.pages if page.number > number]
        return LinkBatch(pages) if pages else None


Event: TypeAlias = Visit | Seed | Label | Setting | ModelUpdate | InboundLinks | LinkBatch


@dataclass(slots=True)
class Step:
    """One visit as the estimators see it: rows in place of names."""

    visit: Visit
    row: int
    children: Rows  # rows of the page's links, each once, in page order; of a redirect its target
    link_relevances: NDArray[np.float32]  # for each child the largest alpha of the page's links to it
    # Row of each link; -1: out of scope, or the page itself.
    of_link: Rows = field(default_factory=lambda: np.zeros(0, np.int32))
    places: NDArray[np.intp] | None = None  # place among the children of each of those that have a row, if known
    is_inbound: bool = False  # a page that another shard has fetched: only its links are new

    def facet(self, name: str) -> NDArray[np.float32]:
        """For each child the largest such number among the page's links to it; alphas where the topic gave none."""
        column = self.visit.links.facets.get(name)
        return self.link_relevances if column is None or not len(self.of_link) else self.strongest(column)

    def strongest(self, column: NDArray[Any]) -> NDArray[Any]:
        """For each child the largest number among the page's links to it, of a column with one for each link."""
        if len(self.of_link) == len(self.children):  # each link leads to a child of its own
            return column
        of_link = self.of_link
        kept = (of_link >= 0).nonzero()[0]
        if self.places is None:
            order = np.argsort(self.children)
            self.places = order[np.searchsorted(self.children, of_link[kept], sorter=order)]
        strongest = np.full(len(self.children), -np.inf, column.dtype)
        np.maximum.at(strongest, self.places, column.take(kept))
        return strongest


# A person's word against a judge's number.


def settled(relevance_now: float, relevant: bool | None, threshold: float) -> float:
    """A score, where somebody has said what the page is: that is the last word on which side of the threshold it lies.

    >>> settled(.05, True, .1), settled(.05, None, .1), settled(.4, True, .1), settled(.4, False, .1) < .1
    (0.1, 0.05, 0.4, True)
    """
    if relevant is None:
        return relevance_now
    return max(relevance_now, threshold) if relevant else min(relevance_now, math.nextafter(threshold, -math.inf))
