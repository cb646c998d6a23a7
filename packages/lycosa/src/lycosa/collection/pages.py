"""Pages of a crawl as rows of queries: their current versions, and what led to them.

Every reader of a crawl counts in the same way: a page counts once, by its current version, and is relevant if that is
no copy of another page and its relevance is at or above the threshold.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.counting import Answers, Frame, count_by_sample, read_answers
from lycosa.collection.estimate import Estimate, estimate, read_widths
from lycosa.collection.search_text import clean
from lycosa.core.stopping import WINDOW
from lycosa.core.types import Visit
from lycosa.store import codec
from lycosa.store.log import PAGES, SqliteLog

MAX_TEXT_LENGTH = 500  # maximum length of a title or anchor that is shown
MAX_PATH = 1_000  # maximum pages of a path from a seed

_FROM = """
    page JOIN visit ON visit.seq = page.current JOIN visit AS first ON first.seq = page.first
    LEFT JOIN score ON score.seq = page.current
"""


class PageRow(NamedTuple):
    """A page with its current version; `priority`, `parent`, `anchor` and `depth` are those of its first visit."""

    seq: int
    first: int
    url: str
    title: str
    host: str
    language: str
    relevance: float  # when this version was fetched
    relevance_now: float
    duplicate_of: str
    started: float
    is_archived: bool
    simhash: int
    priority: float
    parent: str
    anchor: str
    depth: int
    state: str  # "stands", "vanished" or "moved"
    since: float
    versions: int
    revisits: int
    last_seen: float
    changed: float
    moved_to: str


_COLUMNS = """
    page.current, page.first, visit.url, visit.title, visit.host, visit.language, visit.relevance,
    COALESCE(relevance_now, visit.relevance), visit.duplicate_of, visit.started, visit.warc_file != '',
    visit.simhash, first.priority, first.parent, first.anchor, first.depth, page.state, page.since, page.versions,
    page.revisits, page.last_seen, page.changed, page.moved_to
"""


def select_pages(
    log: SqliteLog, where: str = "TRUE", order: str = "page.first", given: Sequence[object] = ()
) -> Iterator[PageRow]:
    """Yield the pages that match a condition over `page`, `visit` (current version), `first` and `score`."""
    query = f"SELECT {_COLUMNS} FROM {_FROM} WHERE {where} ORDER BY {order}"
    for row in log.query(query, given):
        page = PageRow(*row)
        yield page._replace(
            title=clean(page.title)[:MAX_TEXT_LENGTH],
            anchor=clean(page.anchor)[:MAX_TEXT_LENGTH],
            simhash=page.simhash & 2**64 - 1,
        )


def pages_at(log: SqliteLog, firsts: Sequence[int]) -> list[PageRow]:
    """Return pages by the numbers of their first visits, in the given order."""
    rows = select_pages(log, "page.first IN (SELECT value FROM json_each(?))", given=(json.dumps(firsts),))
    found = {page.first: page for page in rows}
    return [found[first] for first in firsts if first in found]


def page_at(log: SqliteLog, url: str) -> PageRow | None:
    return next(select_pages(log, "first.url = ?", given=(url,)), None)


_ARRAY = [("seq", "i8"), ("first", "i8"), ("relevance_now", "f8"), ("copy", "?")]
_FURTHER = {  # columns that take reading the visits
    "archived": ("visit.warc_file != ''", "?"),
    "started": ("visit.started", "f8"),
    "depth": ("first.depth", "i4"),
    "first_ended": ("first.ended", "f8"),
}


def _no_rows(*further: str) -> NDArray[np.void]:
    return np.zeros(0, [*_ARRAY, *((name, _FURTHER[name][1]) for name in further)])


@dataclass
class PageArray:
    """Numbers of all pages as columns, in the order in which they were first fetched.

    Columns: `seq` and `first` (visits), `relevance_now`, `copy`; if asked for, `archived`, `started`, `depth` and
    `first_ended` as well.
    """

    rows: NDArray[np.void] = field(default_factory=lambda: _no_rows(*_FURTHER))
    threshold: float = 0.0
    probability: bool = False  # the judge returns probabilities
    count_widths: tuple[float, float] = (0.0, 0.0)
    end: int = 0  # last event that was read
    answers: Answers = field(default_factory=dict)
    frame: Frame | None = None  # from which pages are drawn to count the relevant ones

    @classmethod
    def read(cls, log: SqliteLog, threshold: float | None = None, further: Sequence[str] = ()) -> PageArray:
        tables = _FROM if further else "page LEFT JOIN score ON score.seq = page.current"
        columns = ", ".join(
            ["current", "page.first", "relevance_now", "is_copy", *(_FURTHER[name][0] for name in further)]
        )
        query = f"SELECT {columns} FROM {tables} ORDER BY page.first"
        with log.batch():  # both queries see the same state of the log
            end, rows = log.end(), np.fromiter(log.query(query), _no_rows(*further).dtype)
            answers = read_answers(log)
        threshold = float(log.setting("threshold", 0.0)) if threshold is None else threshold
        probability, frame = bool(log.setting("probability", False)), Frame.read(log)
        return cls(rows, threshold, probability, read_widths(log.count_widths()), end, answers, frame)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> NDArray[Any]:
        column: NDArray[Any] = self.rows[name]
        return column

    def has(self, *names: str) -> bool:
        return set(names) <= set(self.rows.dtype.names or ())

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Pages that are no copies."""
        return ~self["copy"]

    @cached_property
    def relevant(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.counted & (self["relevance_now"] >= self.threshold)
        return found

    @cached_property
    def estimate(self) -> Estimate:
        firsts, relevances_now = self["first"][self.counted], self["relevance_now"][self.counted]
        found = estimate(relevances_now, self.threshold, len(self), self.probability, self.count_widths)
        if found.is_exact or self.frame is None:
            return found
        return count_by_sample(found, self.frame, self.answers, firsts, relevances_now)

    @cached_property
    def recent(self) -> RecentHarvest:
        found = np.flatnonzero(self.relevant)
        barren = len(self) - 1 - int(found[-1]) if len(found) else 0
        return RecentHarvest(len(self), int(np.count_nonzero(self.relevant[-RECENT_PAGES:])), barren)

    def harvest(self, points: int = 400) -> Harvest:
        return harvest_curve(self.relevant, self["depth"], points)


RECENT_PAGES = 100


class RecentHarvest(NamedTuple):
    """How the harvest is going: relevant pages among the last ones."""

    pages: int = 0  # of the whole crawl
    relevant: int = 0  # among the last 100 pages
    barren: int = 0  # pages since the last relevant one

    @property
    def is_exhausted(self) -> bool:
        """True if the topic looks exhausted, by the rule of `--until exhausted`."""
        return self.barren >= WINDOW

    @property
    def description(self) -> str:
        """Describe it in a few words; "" for a short crawl.

        >>> RecentHarvest(300, 3, 20).description, RecentHarvest(90, 3, 20).description
        ('3 relevant in the last 100 pages', '')
        >>> RecentHarvest(300, 0, 240).description
        'none relevant in the last 240 pages: the topic looks exhausted'
        """
        if self.is_exhausted:
            return f"none relevant in the last {self.barren:,} pages: the topic looks exhausted"
        return (
            f"{self.relevant or 'none'} relevant in the last {RECENT_PAGES} pages" if self.pages > RECENT_PAGES else ""
        )


@dataclass(slots=True)
class Harvest:
    """Harvest curve: relevant pages among the first n, in the order of the crawl and by depth (breadth-first)."""

    pages: list[int] = field(default_factory=list)
    relevant: list[int] = field(default_factory=list)
    breadth: list[int] = field(default_factory=list)


def harvest_curve(relevant: NDArray[np.bool_], depth: NDArray[Any], points: int = 400) -> Harvest:
    """Return the harvest of a crawl, and that of the same pages in the order of their depth."""
    if not len(relevant):
        return Harvest()
    by_depth = relevant[np.argsort(depth, kind="stable")]
    at = sample_points(len(relevant), points - 1)
    curves = ([0, *np.cumsum(mask)[at[1:] - 1].tolist()] for mask in (relevant, by_depth))
    return Harvest(at.tolist(), *curves)


def sample_points(count: int, points: int) -> NDArray[np.int64]:
    """Return at most `points` + 1 evenly spaced positions from 0 to `count`, including both ends."""
    return np.unique(np.linspace(0, count, min(count, points) + 1).round().astype(np.int64))


@dataclass(frozen=True, slots=True)
class Origin:
    """First seed, link, redirect or sitemap that led to a page."""

    kind: str  # "seed", "link", "sitemap", or "" if not recorded
    parent: str = ""
    parent_title: str = ""
    anchor: str = ""


def is_seed(log: SqliteLog, url: str) -> bool:
    """Return whether a URL is a seed, or the target of a seed's redirects."""
    query = """
        WITH RECURSIVE source (url) AS (
            VALUES (?) UNION SELECT visit.url FROM source JOIN visit ON target = source.url AND target != ''
        ) SELECT 1 FROM seed WHERE url IN source LIMIT 1
    """
    return next(log.query(query, (url,)), None) is not None


_REACHED = "kind IN ('page', 'redirect', 'sitemap')"  # visits of the frontier's URLs


def origin_of(log: SqliteLog, url: str) -> Origin:
    """Return what led to a fetched page."""
    first = f"SELECT {{}} FROM visit WHERE url = ? AND {_REACHED} ORDER BY seq LIMIT 1"
    parent, anchor = next(log.query(first.format("parent, anchor"), (url,)), ("", ""))
    if not parent:
        return Origin("seed" if is_seed(log, url) else "")
    kind, title = next(log.query(first.format("kind, title"), (parent,)), ("", ""))
    kind = "sitemap" if kind == "sitemap" else "link"
    return Origin(kind, parent, *(clean(text)[:MAX_TEXT_LENGTH] for text in (title, anchor)))


def path_to(log: SqliteLog, url: str, limit: int = MAX_PATH) -> list[str]:
    """Return the URLs from a seed to a page, by the first link to each, as far back as recorded."""
    query = f"""
        WITH RECURSIVE path (url, distance) AS (
            VALUES (?, 0) UNION ALL
            SELECT (SELECT parent FROM visit WHERE url = path.url AND {_REACHED} ORDER BY seq LIMIT 1), distance + 1
            FROM path WHERE url != '' AND distance < ?
        ) SELECT url FROM path WHERE url != '' ORDER BY distance DESC
    """
    return list(dict.fromkeys(step for (step,) in log.query(query, (url, limit - 1)))) or [url]


@dataclass(slots=True)
class PathGraph:
    """Small graph for display: the best pages and the paths that led to them."""

    depths: dict[str, int] = field(default_factory=dict)  # distance of each page from the start of its path
    steps: dict[tuple[str, str], None] = field(default_factory=dict)  # followed links
    truncated: bool = False  # True if some pages did not fit


def path_graph(log: SqliteLog, best: Iterable[str], limit: int) -> PathGraph:
    """Return the paths from seeds to pages, best pages first, up to a number of pages."""
    graph = PathGraph()
    for url in best:
        path = path_to(log, url, 60)
        if len(graph.depths) + sum(url not in graph.depths for url in path) > limit:
            graph.truncated = True
            break
        for depth, each in enumerate(path):
            graph.depths.setdefault(each, depth)
        graph.steps.update(dict.fromkeys(pairwise(path)))
    return graph


@dataclass(frozen=True, slots=True)
class PageLink:
    """Link of a page, and the state of its target."""

    url: str
    anchor: str
    link_relevance: float
    state: str  # "fetched", "not fetched", "vanished", "moved", or the kind of failure


def page_links(log: SqliteLog, visit: Visit) -> list[PageLink]:
    """Return the links of a page in page order, one per target, with the text of the first link."""
    links = visit.links
    link_relevances = links.link_relevances.tolist() or [0.0] * len(links)
    targets: dict[str, tuple[str, float]] = {}
    for url, anchor, link_relevance in zip(links.urls, links.anchors, link_relevances, strict=True):
        targets.setdefault(url, (clean(anchor), link_relevance))
    return [PageLink(url, *found, state_of(log, url)) for url, found in targets.items()]


def state_of(log: SqliteLog, url: str) -> str:
    """Return the state of a URL: `fetched`, `not fetched`, `vanished`, `moved`, or the kind of failure."""
    query = f"""
        SELECT outcome, (SELECT state FROM page JOIN visit AS it ON it.seq = page.first WHERE it.url = visit.url)
        FROM visit WHERE url = ? AND {_REACHED} ORDER BY seq DESC LIMIT 1
    """
    outcome, state = next(log.query(query, (url,)), ("not fetched", None))
    if outcome != "ok":
        return str(outcome)
    return "fetched" if state in (None, "stands") else str(state)


def best_link(visit: Visit, url: str) -> int:
    """Return the index of the link to a URL with the highest relevance, preferably with text; -1 if there is none."""
    links = visit.links
    link_relevances = links.link_relevances.tolist() or [0.0] * len(links)
    places = (at for at, target in enumerate(links.urls) if target == url)
    return max(places, key=lambda at: (link_relevances[at], bool(links.anchors[at]), -at), default=-1)


class LoggedWords:
    """Words of a crawl by number, read from its pages: the vocabulary, and how often pages have given words."""

    def __init__(self, log: SqliteLog, wanted: Iterable[str] = ()) -> None:
        self.words: list[str] = []
        self.page_counts = np.zeros(0, np.int32)  # pages with each word, without copies
        self.frequency: dict[int, int] = {}  # by version: occurrences of the wanted words
        chosen, numbers = set(wanted), set[int]()
        query = "SELECT seq, terms, duplicate_of FROM content JOIN visit USING (seq) WHERE terms NOT NULL ORDER BY seq"
        for seq, blob, duplicate_of in log.query(query):
            terms = log.decoded(codec.unpack_terms, blob)
            first = len(self.words)
            self.words += terms.new
            numbers |= {first + at for at, stem in enumerate(terms.new) if stem in chosen}
            if len(self.page_counts) < len(self.words):
                more = np.zeros(2 * len(self.words), np.int32)
                more[: len(self.page_counts)] = self.page_counts
                self.page_counts = more
            if not duplicate_of:
                self.page_counts[terms.ids] += 1
            if numbers:
                found = np.isin(terms.ids, np.fromiter(numbers, np.uint32, len(numbers)))
                self.frequency[seq] = int(terms.counts[found].sum())
        self.page_counts = self.page_counts[: len(self.words)]


def terms_of(log: SqliteLog, seq: int) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """Return the word numbers and counts of a page version."""
    blob = next(log.query("SELECT terms FROM content WHERE seq = ?", (seq,)), (None,))[0]
    terms = log.decoded(codec.unpack_terms, blob)
    return terms.ids, terms.counts


def recent_pages(log: SqliteLog, now: float, seconds: float = 60.0) -> int:
    """Return the number of pages fetched in the last minute."""
    latest = f"SELECT ended FROM visit WHERE {PAGES} ORDER BY seq DESC LIMIT 20000"
    query = f"SELECT COUNT(*) FROM ({latest}) WHERE ended > ? AND ended <= ?"
    return int(next(log.query(query, (now - seconds, now)))[0])
