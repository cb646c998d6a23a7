"""Read model of a crawl: pages, relevances, links, hosts, failures and harvest, folded from the log up to event `seq`.

A new view is empty; `catch_up` adds the events after `seq`, in steps, and may be called at any time (0.02 ms without
new events). The log may not exist yet, or be written meanwhile. If it is deleted and started again, the view is reset
and its `generation` increases. All methods are thread-safe.

Invariant: the same events give the same view, whether read at once or one by one. Relevances are reloaded when the log
records that they were updated.

Pages are rows of columns: about 350 bytes each, several hundred more with titles and word stems; 33 bytes per URL seen.
Adding a page takes 0.15 ms with twenty links, 0.3 ms with a hundred. The view of a large crawl is cached on disk
(shelf.py).
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.collection import shelf
from lycosa.collection.estimate import Estimate, estimate, read_widths
from lycosa.collection.link_graph import PAGE, REDIRECT, SITEMAP, CrawlGraph
from lycosa.collection.page_rows import COLUMNS, PageFate, PageRow
from lycosa.collection.search_text import clean
from lycosa.collection.tally import CrawlTally, HostTally, language_code
from lycosa.core.columns import fit
from lycosa.core.errors import InputError, StoreError
from lycosa.core.options import Options
from lycosa.core.state import State, StateMismatch, TextLines
from lycosa.core.table import MAX_HOPS
from lycosa.core.types import Event, ModelUpdate, Seed, Setting, Visit
from lycosa.store.directory import CONFIG, Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.text.tokens import stems
from lycosa.web.robots import product

EVENTS_PER_STEP = 200  # events added under one lock, about 30 ms
MAX_TEXT_LENGTH = 500  # maximum length of a stored title or anchor
Signature = tuple[int, ...]
_CACHED = """
    seq threshold probability count_widths languages _page_count _text _is_relevance_outdated _counted_topic
    _recount_position
""".split()  # attributes stored in the cache on disk


@dataclass(frozen=True, slots=True)
class Origin:
    """First seed, link, redirect or sitemap that led to a page."""

    kind: str  # "seed", "link", "redirect", "sitemap", or "" if not recorded
    parent: str = ""
    parent_title: str = ""
    anchor: str = ""
    link_relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class PageLink:
    """Link of a page, and the state of its target."""

    url: str
    anchor: str
    link_relevance: float
    state: str  # "fetched", "not fetched", "vanished", "moved", or the kind of failure


@dataclass(slots=True)
class PathGraph:
    """Small graph for display: the best pages and the paths that led to them."""

    depths: dict[int, int] = field(default_factory=dict)  # distance of each vertex from the start of its path
    steps: dict[tuple[int, int], None] = field(default_factory=dict)  # followed links between vertices
    truncated: bool = False  # True if some pages did not fit


@dataclass(slots=True)
class Harvest:
    """Harvest curve: relevant pages among the first n, in the order of the crawl and in breadth-first order."""

    pages: list[int] = field(default_factory=list)
    relevant: list[int] = field(default_factory=list)
    breadth: list[int] = field(default_factory=list)


class CrawlView:
    """View of the crawl in a directory. Titles and words are kept only with `content`."""

    def __init__(self, path: Path, *, content: bool = True) -> None:
        self.path, self.content = path, content
        self.lock = threading.RLock()
        self.generation = 0  # increases when the log is replaced, which invalidates earlier sequence numbers
        self.use_cache = True  # cache the view on disk once it is large
        self._wants_content = content
        self.forget()

    def forget(self) -> None:
        self.content = self._wants_content
        self.seq = 0  # last event of the view
        self.cached_seq = 0  # last event of the cached view
        self._signature: Signature | None = None
        self._inode = 0
        self.threshold = 0.0
        self.probability = False
        self.count_widths = 0.0, 0.0
        self.options: Options | None = None
        self.columns: dict[str, NDArray[Any]] = {name: np.zeros(0, dtype) for name, dtype in COLUMNS.items()}
        self.nodes: list[str] = []
        self.titles: list[str] = []
        self.word_pages = np.zeros(0, np.int32)  # number of pages, without copies, for each stem number
        self.languages: list[str] = []
        self.fates: dict[int, PageFate] = {}
        self.graph = CrawlGraph()
        self.tally = CrawlTally()
        self.words: list[str] = []  # stems of the crawl, by number
        self.topic: tuple[str, ...] = ()  # stems of the topic's words
        self._wanted: dict[str, int] = {}
        self._language_numbers: dict[str, int] = {}
        self._origins: dict[int, Origin] = {}
        self._page_count = 0
        self._text = 0
        self._counted_topic = ""
        self._recount_position = 0
        self._is_relevance_outdated = False
        self._options_mtime = 0
        self._harvest, self._next_harvest_time = Harvest(), 0.0
        self._harvest_key: tuple[int, int] | None = None

    @property
    def size(self) -> int:
        """Approximate memory in bytes."""
        rows = sum(column.nbytes for column in self.columns.values()) + 120 * len(self.nodes)
        return (rows + self._text + 70 * len(self.words)) * 3 // 2 + self.graph.size

    def dump(self) -> State:
        """Return the state of the view, with page contents as a separate part."""
        if not self.content:
            raise StateMismatch("only a view with page contents can be stored")
        lean = {
            **{name: getattr(self, name) for name in (*_CACHED, "topic")},
            "columns": {name: self.column(name) for name in COLUMNS},
            "nodes": TextLines(self.nodes),
            "fates": [[number, *astuple(fate)] for number, fate in self.fates.items()],
            "graph": self.graph.state(),
            "tally": self.tally.state(),
        }
        words = {"titles": TextLines(self.titles), "words": TextLines(self.words), "word_pages": self.word_pages}
        return {"lean": lean, "content": words}

    def load(self, state: State, *, lean: bool) -> None:
        """Restore a state; `lean` skips page contents."""
        cached = state["lean"]
        for name in _CACHED:
            setattr(self, name, cached[name])
        self.topic = tuple(cached["topic"])
        self._language_numbers = {language: number for number, language in enumerate(self.languages)}
        self.nodes, self.columns = cached["nodes"], {name: cached["columns"][name] for name in COLUMNS}
        if any(len(column) != len(self.nodes) for column in self.columns.values()):
            raise StateMismatch("the columns differ in length")
        self.fates = {values[0]: PageFate(*values[1:]) for values in cached["fates"]}
        self.graph.restore(cached["graph"])
        self.tally.restore(cached["tally"])
        self.content = not lean
        if lean:
            return
        self.titles, self.words = state["content"]["titles"], state["content"]["words"]
        self.word_pages = state["content"]["word_pages"]
        self._wanted = {stem: number for number, stem in enumerate(self.words) if stem in self.topic}

    def catch_up(self) -> int:
        """Add new events to the view; return the last sequence number. The lock is released between steps."""
        while self._step():
            time.sleep(0)
        if self.use_cache and self.content and self.seq - self.cached_seq >= shelf.MIN_NEW_EVENTS:
            self.save_cache()
        return self.seq

    def save_cache(self) -> None:
        with self.lock, self.reading() as log:
            shelf.save(self, log)

    def _step(self) -> bool:
        """Add some events to the view; return True if there may be more."""
        with self.lock:
            signature = log_signature(self.path / NAME)
            if signature is None or signature[0] != self._inode:
                if self._inode:
                    self.generation += 1
                self.forget()
                if signature is None:
                    return False
                self._load_cached()
                self._inode = signature[0]
            self._load_options()
            if self._recount_position < len(self.nodes):
                self._recount_words()
                return True
            if signature == self._signature:
                return False
            try:
                count = self._read()
            except StoreError:
                if (self.path / NAME).exists():
                    raise
                self.generation += 1  # the log was removed while reading
                self.forget()
                return False
            if count < EVENTS_PER_STEP:
                # Later writes within the clock's resolution would not change the signature, so check again.
                fresh = time.time_ns() - max(signature[2::3]) < 100_000_000
                self._signature = None if fresh else signature
            return count == EVENTS_PER_STEP

    def _load_cached(self) -> None:
        """Load the cached view if it belongs to this log. A long log is read completely, to be cached."""
        with self.reading() as log:
            found = self.use_cache and shelf.load_cached(self, log)
            if not found and log.end() >= shelf.MIN_NEW_EVENTS and self.use_cache:
                self.content = True

    def _read(self) -> int:
        """Read and add some events; return their number. A damaged log is read up to the damage."""
        events: list[tuple[int, Event]] = []
        with self.reading() as log:
            try:
                events.extend(log.numbered("seq > ?", f"seq LIMIT {EVENTS_PER_STEP}", (self.seq,)))
            finally:
                self._fold(events)
            if len(events) < EVENTS_PER_STEP:
                self._reload_relevances(log)
        return len(events)

    def reading(self) -> closing[SqliteLog]:
        """Open the log for a `with` block in this thread."""
        return closing(SqliteLog(self.path / NAME, readonly=True, busy_seconds=2.0))

    def _load_options(self) -> None:
        """Read the options again if they changed, for example after `lycosa judge` with other words."""
        try:
            written = os.stat(self.path / CONFIG).st_mtime_ns
            if written == self._options_mtime:
                return
            options = Directory.read_options(self.path)
        except (InputError, OSError):
            return  # the options are not written yet, or deleted
        self.options, self._options_mtime = options, written
        self.tally.agent = product(options.user_agent or "Lycosa")
        if self.content and self._counted_topic != options.topic:
            self._set_topic_words(options.topic)

    def _set_topic_words(self, topic: str) -> None:
        languages = [code for code in (self.options.languages if self.options else []) if code]
        wanted = dict.fromkeys(stem for language in ["en", *languages] for stem in stems(topic, language))
        self.topic = tuple(wanted)
        self._wanted = {stem: number for number, stem in enumerate(self.words) if stem in wanted}
        self._counted_topic, self._recount_position = topic, 0

    def _recount_words(self) -> None:
        """Recount the topic's words on some pages that were added before the topic changed."""
        numbers = range(self._recount_position, min(self._recount_position + EVENTS_PER_STEP, len(self.nodes)))
        for number, words in zip(numbers, self.words_on(numbers), strict=True):
            self.columns["frequency"][number] = self._count(*words)
        self._recount_position = numbers.stop

    def words_on(self, numbers: Sequence[int]) -> list[tuple[NDArray[np.uint32], NDArray[np.uint16]]]:
        """Return the word numbers and counts of some pages, from the log."""
        seqs = [self.columns["seq"].item(number) for number in numbers]
        with self.reading() as log:
            visits = log.visits_at(seqs, EVENTS_PER_STEP)
            found = {seq: (visit.terms.ids, visit.terms.counts) for seq, visit in visits}
        nothing = np.zeros(0, np.uint32), np.zeros(0, np.uint16)
        return [found.get(seq, nothing) for seq in seqs]

    def _fold(self, events: Sequence[tuple[int, Event]]) -> None:
        """Add events to the view. The URLs of all of them are looked up together, which is much faster."""
        nodes = [_urls_of(event) for _, event in events]
        numbers = self.graph.numbers([node for linked in nodes for node in linked])
        at = 0
        for (seq, event), linked in zip(events, nodes, strict=True):
            self._fold_event(seq, event, numbers[at : at + len(linked)])
            at += len(linked)
            self.seq = seq

    def _fold_event(self, seq: int, event: Event, numbers: NDArray[np.int32]) -> None:
        if isinstance(event, Visit):
            self._visit(seq, event, numbers)
        elif isinstance(event, Seed):
            self.graph.seed(event.node)
        elif isinstance(event, Setting):
            self.tally.setting(event)
            self._setting(event)
        else:  # a model update or a label
            self._is_relevance_outdated = True
            if isinstance(event, ModelUpdate):
                self.count_widths = read_widths(event.data.get("widths"))

    def _setting(self, event: Setting) -> None:
        if event.key == "threshold":
            self._is_relevance_outdated = self._is_relevance_outdated or bool(self._page_count)
            self.threshold = float(event.value)
        elif event.key == "probability":
            self.probability = bool(event.value)
        elif event.key == "learned" and isinstance(event.value, dict) and not self.topic:
            # terms learned from examples replace the words of the topic
            self.topic = tuple(sorted(event.value, key=lambda term: (-event.value[term], term))[:12])

    def _reload_relevances(self, log: SqliteLog) -> None:
        """Reload the relevances if a model update, label or threshold was recorded."""
        if not self._is_relevance_outdated:
            return
        seqs, relevances_now = log.relevances_now(self.seq)
        pages = np.flatnonzero(self.column("kind") == PAGE)
        for name, of, otherwise in (
            ("relevance_now", "seq", "relevance"),
            ("first_relevance", "first", "first_relevance"),
        ):
            wanted = self.columns[of][pages]
            at = np.minimum(np.searchsorted(seqs, wanted), max(0, len(seqs) - 1))
            rated = seqs[at] == wanted if len(seqs) else np.zeros(len(pages), np.bool_)
            self.columns[name][pages[rated]] = relevances_now[at[rated]]
            self.columns[name][pages[~rated]] = self.columns[otherwise][pages[~rated]]
        self._is_relevance_outdated = False

    def _words(self, visit: Visit) -> None:
        for stem in visit.terms.new:
            if stem in self.topic:
                self._wanted[stem] = len(self.words)
            self.words.append(stem)

    def _visit(self, seq: int, visit: Visit, numbers: NDArray[np.int32]) -> None:
        if self.content:
            self._words(visit)
        self.tally.visit(visit)
        vertex = self.graph.vertex(visit.node)
        if visit.kind in ("page", "redirect", "sitemap"):
            self.graph.ended(int(numbers[0]), visit.outcome)
        if visit.is_version:
            if vertex >= 0 and self.columns["kind"][vertex] == PAGE:
                self._update_fate(visit, vertex)
                self._fill(seq, visit, vertex)
                self.graph.extend(vertex, seq, numbers)
            else:
                self._add(seq, visit, PAGE, numbers)
        elif visit.kind == "redirect" and visit.outcome == "redirect":
            self._add(seq, visit, REDIRECT, numbers)
        elif visit.kind == "sitemap" and visit.outcome == "ok":
            self._add(seq, visit, SITEMAP, numbers)
        elif visit.kind == "revisit" and vertex >= 0:
            self._update_fate(visit, vertex)
            if visit.outcome == "redirect":  # moved
                self.graph.extend(vertex, seq, numbers, redirect=True)

    def _add(self, seq: int, visit: Visit, kind: int, numbers: NDArray[np.int32]) -> None:
        number = len(self.nodes)
        if number == len(self.columns["seq"]):
            self.columns = {name: fit(column, number + 1) for name, column in self.columns.items()}
        columns = self.columns
        columns["parent"][number], columns["via"][number] = self.graph.first_link(visit.node)
        self.nodes.append(visit.node)
        if self.content:
            self.titles.append("")
        self._recount_position += self._recount_position == number
        columns["first"][number], columns["kind"][number] = seq, kind
        columns["pick"][number], columns["ended"][number] = visit.priority, visit.ended
        columns["first_relevance"][number], columns["first_copy"][number] = visit.relevance_now, bool(visit.same_as)
        columns["crawled"][number] = visit.is_page
        host = self.tally.host(visit.node)
        columns["host_number"][number] = host.number
        columns["place"][number] = self._page_count if kind == PAGE else -1
        self._page_count += kind == PAGE
        self.graph.add(kind, number, seq, numbers)
        self._fill(seq, visit, number)

    def _fill(self, seq: int, visit: Visit, number: int) -> None:
        columns = self.columns
        columns["seq"][number], columns["started"][number] = seq, visit.started
        columns["relevance"][number], columns["relevance_now"][number] = visit.relevance, visit.relevance_now
        columns["foreign"][number], columns["archived"][number] = "language" in visit.flags, bool(visit.place.file)
        columns["copy"][number], columns["simhash"][number] = bool(visit.same_as), visit.simhash
        language = clean(visit.language)[:100]
        columns["language_number"][number] = self._language_numbers.setdefault(language, len(self._language_numbers))
        if len(self.languages) < len(self._language_numbers):
            self.languages.append(language)
        if self.content:
            ids = visit.terms.ids
            self._text += min(MAX_TEXT_LENGTH, len(visit.title)) + 60 - len(self.titles[number])
            self.titles[number] = clean(visit.title)[:MAX_TEXT_LENGTH]
            columns["frequency"][number] = self._count(ids, visit.terms.counts)
            if len(ids) and not visit.same_as:
                self.word_pages = fit(self.word_pages, max(len(self.words), int(ids.max()) + 1))
                self.word_pages[ids] += 1

    def _update_fate(self, visit: Visit, number: int) -> None:
        fate = self.fates.get(number)
        if fate is None:
            came = self.columns["started"].item(number)
            fate = PageFate("stands", came, 1, 0, came, 0.0, "", came)
        after = PageFate.after(fate, visit)
        assert after is not None
        self.fates[number] = after

    def _count(self, ids: NDArray[np.uint32], counts: NDArray[np.uint16]) -> int:
        if not self._wanted or not len(ids):
            return 0
        wanted = np.array(list(self._wanted.values()), np.uint32)
        at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        return int(counts[at[ids[at] == wanted]].sum())

    def __len__(self) -> int:
        return len(self.nodes)

    def column(self, name: str) -> NDArray[Any]:
        """Return the values of a column in log order, one per vertex."""
        return self.columns[name][: len(self.nodes)]

    def pages(self, *, copies: bool = False) -> list[PageRow]:
        """Return the pages in the order in which they were first fetched."""
        with self.lock:
            return [PageRow(self, number) for number in np.flatnonzero(self.current(copies=copies)).tolist()]

    def current(self, *, copies: bool = False) -> NDArray[np.bool_]:
        """Return a mask of vertices that are pages, without copies unless `copies` is set.

        Each version is recorded as a copy or not (traps/copies.py), and the last version decides: a copy that gets
        content of its own is no longer a copy, and if two pages change alike, the second is the copy, so no content is
        lost. Vanished pages stay included.
        """
        with self.lock:
            pages: NDArray[np.bool_] = self.column("kind") == PAGE
            return pages if copies else pages & ~self.column("copy")

    def page(self, node: str) -> PageRow | None:
        """Return the page at a URL, or None."""
        with self.lock:
            vertex = self.graph.vertex(node)
            return PageRow(self, vertex) if vertex >= 0 and self.columns["kind"][vertex] == PAGE else None

    def relevant(self, threshold: float | None = None) -> NDArray[np.bool_]:
        """Return a mask of pages that count for the harvest: their first version is relevant and not a copy."""
        with self.lock:
            enough = self.column("first_relevance") >= (self.threshold if threshold is None else threshold)
            counted: NDArray[np.bool_] = self.column("crawled") & enough & ~self.column("first_copy")
            return counted

    def first_versions(self) -> tuple[NDArray[np.float64], NDArray[np.bool_], int]:
        """Return the relevances of first versions, the mask of crawled pages without copies, and the number crawled."""
        with self.lock:
            crawled = self.column("crawled")
            return self.column("first_relevance").copy(), crawled & ~self.column("first_copy"), int(crawled.sum())

    def estimate(self, threshold: float | None = None) -> Estimate:
        relevances_now, counted, pages = self.first_versions()
        threshold = self.threshold if threshold is None else threshold
        return estimate(relevances_now[counted], threshold, pages, self.probability, self.count_widths)

    def hosts(self, threshold: float | None = None, relevant: NDArray[np.bool_] | None = None) -> list[HostTally]:
        """Return the hosts in first-seen order, with counts of relevant pages (or of those in the mask `relevant`)."""
        with self.lock:
            hosts = list(self.tally.hosts.values())
            relevant = self.relevant(threshold) if relevant is None else relevant
            at = self.column("host_number")[: len(relevant)]  # pages may have been added since the mask was computed
            counts = np.bincount(at[relevant[: len(at)]], minlength=len(hosts)).tolist()
            for host, count in zip(hosts, counts, strict=True):
                host.relevant = count
            return hosts

    def sites(self, threshold: float | None = None) -> int:
        """Return the number of hosts with a relevant page; nodes that are not URLs have no host."""
        return sum(host.relevant > 0 for host in self.hosts(threshold) if host.name)

    def relevant_by_language(self, threshold: float | None = None) -> Counter[str]:
        by_code: Counter[str] = Counter()
        with self.lock:
            numbers, counts = np.unique(self.column("language_number")[self.relevant(threshold)], return_counts=True)
            for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
                by_code[language_code(self.languages[number])] += count
        return by_code

    def first_link_event(self, node: str) -> int:
        """Return the event with the first link to a URL before it was visited; -1 if there is none, as for a seed."""
        with self.lock:
            if self.graph.is_seed(node):
                return -1
            vertex = self.graph.vertex(node)
            return self.columns["via"].item(vertex) if vertex >= 0 else self.graph.first_link(node)[1]

    def origin(self, log: SqliteLog, node: str) -> Origin:
        """Return the seed, link, redirect or sitemap that led to a URL first."""
        with self.lock:  # vertices are renumbered when the URL table grows
            vertex, origins = self.graph.vertex(node), self._origins
            if vertex in origins:
                return origins[vertex]
            via = self.first_link_event(node)
            origin = Origin("seed" if self.graph.is_seed(node) else "")
        if via >= 0:
            origin = _link(log, via, node)
        if vertex >= 0:
            origins[vertex] = origin  # cache of the view before a possible reset
        return origin

    def source(self, read: Callable[[int], Visit], node: str) -> tuple[Visit, int] | None:
        """Return the page whose link led to a URL through any redirects, and the link's index; None for a seed."""
        for _ in range(MAX_HOPS):
            via = self.first_link_event(node)
            visit = read(via) if via >= 0 else None
            if visit is None or node not in visit.links.urls:
                break
            if visit.outcome != "redirect":
                return visit, best_link(visit, node)
            node = visit.node
        return None

    def path_to(self, number: int, limit: int = 1_000_000) -> list[int]:
        """Return the path of first links to a vertex, from a seed or from as far back as recorded."""
        with self.lock:
            path_to, parents = [number], self.columns["parent"]
            while len(path_to) < limit and not self.graph.is_seed(self.nodes[path_to[-1]]):
                above = parents.item(path_to[-1])
                if not 0 <= above < path_to[-1]:
                    break
                path_to.append(above)
            return path_to[::-1]

    def path_graph(self, best: Iterable[PageRow], limit: int) -> PathGraph:
        """Return the paths from seeds to pages, best pages first, up to a number of vertices."""
        path_graph = PathGraph()
        for page in best:
            path_to = self.path_to(page.number, 60)  # vertices per path
            if len(path_graph.depths) + sum(vertex not in path_graph.depths for vertex in path_to) > limit:
                path_graph.truncated = True
                break
            for depth, vertex in enumerate(path_to):
                path_graph.depths.setdefault(vertex, depth)
            path_graph.steps.update(dict.fromkeys(pairwise(path_to)))
        return path_graph

    def state(self, node: str) -> str:
        """Return the state of a URL: `fetched`, `not fetched`, `vanished`, `moved`, or the kind of failure."""
        with self.lock:
            outcome = self.graph.outcome(node)
            if outcome != "ok":
                return outcome or "not fetched"
            fate = self.fates.get(self.graph.vertex(node))
            return "fetched" if fate is None or fate.state == "stands" else fate.state

    def links(self, visit: Visit) -> list[PageLink]:
        """Return the links of a page in page order, one per target, with the text of the first link."""
        links = visit.links
        link_relevances = links.link_relevances.tolist() or [0.0] * len(links)
        targets: dict[str, PageLink] = {}
        for url, anchor, link_relevance in zip(links.urls, links.anchors, link_relevances, strict=True):
            if url not in targets:
                targets[url] = PageLink(url, clean(anchor), link_relevance, self.state(url))
        return list(targets.values())

    def rate(self, now: float) -> float:
        """Return the number of pages fetched in the last minute."""
        with self.lock:
            recent = self.column("ended")[self.column("kind") == PAGE][-20_000:]
        return float(((recent > now - 60.0) & (recent <= now)).sum())

    def breadth_first(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the pages in breadth-first order from the seeds, and the distance of each vertex (-1: unreachable)."""
        with self.lock:
            breadth = self.graph.breadth(self.column("kind").copy())
        return breadth.first()

    def harvest(self, relevant: NDArray[np.bool_] | None = None, points: int = 400) -> Harvest:
        """Return the harvest curve, recomputed when there are new pages but using at most 2 % of a processor."""
        with self.lock:
            relevant = self.relevant() if relevant is None else relevant
            now, drawn = time.monotonic(), (self.seq, int(relevant.sum()))
            if self._harvest_key == drawn or (
                self._harvest_key is not None and self._harvest_key[0] != self.seq and now < self._next_harvest_time
            ):
                return self._harvest
            crawled = self.column("crawled")[: len(relevant)].copy()
            relevant = relevant[: len(crawled)]
        order, _ = self.breadth_first()
        order = order[order < len(crawled)]  # pages may have been added since
        harvest = _curve(relevant[crawled], relevant[order[crawled[order]]], points)
        with self.lock:
            self._harvest, self._harvest_key = harvest, drawn
            self._next_harvest_time = time.monotonic() + max(1.0, 50.0 * (time.monotonic() - now))
            return harvest


def sample_points(count: int, points: int) -> NDArray[np.int64]:
    """Return at most `points` + 1 evenly spaced positions from 0 to `count`, including both ends."""
    return np.unique(np.linspace(0, count, min(count, points) + 1).round().astype(np.int64))


def _curve(relevant: NDArray[np.bool_], breadth: NDArray[np.bool_], points: int) -> Harvest:
    if not len(relevant):
        return Harvest()
    actual, other = np.cumsum(relevant), np.cumsum(breadth)
    at = sample_points(len(relevant), points - 1)
    return Harvest(at.tolist(), [0, *actual[at[1:] - 1].tolist()], [0, *other[at[1:] - 1].tolist()])


def _urls_of(event: Event) -> list[str]:
    return [event.node, *dict.fromkeys(event.links.urls)] if isinstance(event, Visit) else []


def best_link(visit: Visit, node: str) -> int:
    """Return the index of the link to a node with the highest relevance, preferably with text; -1 if there is none."""
    links = visit.links
    link_relevances = links.link_relevances.tolist() or [0.0] * len(links)
    places = (at for at, url in enumerate(links.urls) if url == node)
    return max(places, key=lambda at: (link_relevances[at], bool(links.anchors[at]), -at), default=-1)


def _link(log: SqliteLog, seq: int, node: str) -> Origin:
    visit = next(log.visits("seq = ?", given=(seq,)), None)
    if visit is None or node not in visit.links.urls:
        return Origin("")
    at = best_link(visit, node)
    link_relevance = float(visit.links.link_relevances[at]) if len(visit.links.link_relevances) else 0.0
    kind = "redirect" if visit.outcome == "redirect" else "sitemap" if visit.kind == "sitemap" else "link"
    title, anchor = (clean(text)[:MAX_TEXT_LENGTH] for text in (visit.title, visit.links.anchors[at]))
    return Origin(kind, visit.node, title, anchor, link_relevance)


def log_signature(path: Path) -> Signature | None:
    """Return a value that changes whenever the log changes, or None without a log."""
    signature: Signature = ()
    for file in (path, f"{path}-wal"):
        try:
            stat = os.stat(file)
        except OSError:
            break
        signature += (stat.st_ino, stat.st_size, stat.st_mtime_ns)
    return signature or None
