"""A crawl's pages in memory, kept up with its log: what a server needs to answer without reading the log each time.

The log is read once, event by event, in steps; later only what has been added. It may not exist yet, be written to
meanwhile, or be deleted and made anew: then the shelf begins anew, too. Every method may be called by any thread.

Measured: a page takes about 2 kB of memory, and 70 bytes more for every address on it that the crawl has not seen
before; to take it in, .15 ms with twenty links and .3 ms with a hundred, once. A look when nothing is new: .02 ms.
"""

from __future__ import annotations

import os
import threading
import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.current import Standing
from lycosa.collection.report.breadth import PAGE, REDIRECT, SITEMAP
from lycosa.collection.report.ledger import Ledger, host_of
from lycosa.collection.shelved import Shelved, Ways
from lycosa.collection.stemlist import StemList
from lycosa.collection.tracing import Origin
from lycosa.collection.words import clean
from lycosa.core.errors import InputError, StoreError
from lycosa.core.options import Options
from lycosa.core.types import Event, Seed, Setting, Visit
from lycosa.store.directory import CONFIG, Directory
from lycosa.store.log import NAME, VERSIONS, SqliteLog
from lycosa.text.tokens import stems
from lycosa.web.robots import product

STEP = 200
"""Events that are taken in at once; others wait so long, about 30 ms."""

LEARNED = 12
"""Words that stand for a topic that was learned from examples."""

SHORTEST, PATIENCE = 1.0, 50.0
"""A curve is drawn anew after a second at the earliest, and after so many times what drawing it took."""

Signature = tuple[int, ...]


@dataclass(slots=True)
class Harvest:
    """Pages found after so many fetched: as it was, and in breadth-first order of the same pages."""

    pages: list[int] = field(default_factory=list)
    found: list[int] = field(default_factory=list)
    breadth: list[int] = field(default_factory=list)


class Shelf:
    """The pages of the crawl in a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.RLock()
        self.generation = 0
        """Grows when the directory was made anew: numbers of events from before mean nothing then."""
        self._clear()

    def _clear(self) -> None:
        self.seq = 0
        """The last event that was taken in."""
        self.threshold = 0.0
        self.probability = False
        """Whether what pages are worth are probabilities."""
        self.options: Options | None = None
        self.vertices: list[Shelved] = []
        self.ways = Ways()
        self.words = StemList()
        self.topic: tuple[str, ...] = ()
        """Stems of the topic's words."""
        self._wanted: dict[str, int] = {}
        self.ledger = Ledger("lycosa")
        self.ended = array("d")
        """When each page came."""
        self._first_worth, self._first_copy, self._crawled = array("d"), array("B"), array("B")
        self._pages: list[Shelved] = []
        self._signature: Signature | None = None
        self._inode = 0
        self._configured = 0
        self._harvest, self._drawn, self._redraw = Harvest(), -1, 0.0
        self._text = 0
        self._judged_anew = False

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        kept = self.ways.size + self.words.size + self._text + 700 * len(self.vertices)
        return kept * 3 // 2  # columns that grow leave holes

    # -- keeping up --------------------------------------------------------------------------------------------

    def catch_up(self) -> int:
        """Take in what is new; the number of the last event. Others get their turn between the steps."""
        while self._step():
            time.sleep(0)
        return self.seq

    def _step(self) -> bool:
        """Take in some events; whether there may be more."""
        with self.lock:
            signature = _signature(self.path / NAME)
            if signature is None or signature[0] != self._inode:
                if self._inode:
                    self.generation += 1
                self._clear()
                if signature is None:
                    return False
                self._inode = signature[0]
            self._set_up()
            if signature == self._signature:
                return False
            with self._explaining():
                count = self._read()
            if count < STEP:
                # What was written within the clock's last tick may have the same time: look again at the next call.
                fresh = time.time_ns() - max(signature[2::3]) < 100_000_000
                self._signature = None if fresh else signature
            return count == STEP

    def _read(self) -> int:
        """Read some events, and take them in; how many they were. Of a damaged log, those before the damage."""
        events: list[tuple[int, Event]] = []
        try:
            with self.reading() as log:
                events.extend(log.numbered("seq > ?", f"seq LIMIT {STEP}", (self.seq,)))
        finally:
            nodes = [_linked(event) for _, event in events]
            numbers = self.ways.numbers([node for some in nodes for node in some])
            at = 0
            for (seq, event), some in zip(events, nodes, strict=True):
                self._take(seq, event, numbers[at : at + len(some)])
                at += len(some)
                self.seq = seq
        if self._judged_anew and len(events) < STEP:
            with self.reading() as log:
                self._rate(log)
        return len(events)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            if (self.path / NAME).exists():
                raise
            self.generation += 1  # removed while it was read
            self._clear()

    @contextmanager
    def reading(self) -> Iterator[SqliteLog]:
        """The log, for as long as the block runs, in this thread."""
        log = SqliteLog(self.path / NAME, readonly=True, busy_seconds=2.0)
        try:
            yield log
        finally:
            log.close()

    def _set_up(self) -> None:
        """Read the options; again when they were written anew, as the crawl may be judged by other words now."""
        try:
            written = os.stat(self.path / CONFIG).st_mtime_ns
            if written == self._configured:
                return
            options = Directory.read_options(self.path)
        except (InputError, OSError):
            return  # not written yet, or gone with the rest
        before, self.options, self._configured = self.options, options, written
        self.ledger.agent = product(options.user_agent or "Lycosa")
        if before is None or before.topic != options.topic:
            self._look_for(options.topic)

    def _look_for(self, topic: str) -> None:
        languages = [code for code in (self.options.languages if self.options else []) if code]
        found = dict.fromkeys(stem for language in ["en", *languages] for stem in stems(topic, language))
        self.topic = tuple(found)
        self._wanted = {stem: number for number, stem in enumerate(self.words) if stem in found}
        for page in self._pages:
            page.frequency = self._count(*page.terms)

    # -- taking in ---------------------------------------------------------------------------------------------

    def _take(self, seq: int, event: Event, numbers: NDArray[np.int32]) -> None:
        if isinstance(event, Visit):
            self._visit(seq, event, numbers)
        elif isinstance(event, Seed):
            self.ways.seed(event.node)
        elif isinstance(event, Setting):
            self.ledger.setting(event)
            if event.key == "threshold":
                self._judged_anew = self._judged_anew or bool(self._pages)
                self.threshold = float(event.value)
            elif event.key == "probability":
                self.probability = bool(event.value)
            elif event.key == "learned" and isinstance(event.value, dict) and not self.topic:
                best = sorted(event.value, key=lambda term: (-event.value[term], term))[:LEARNED]
                self.topic = tuple(best)
        else:  # a lesson, or a label
            self._judged_anew = True

    def _rate(self, log: SqliteLog) -> None:
        """What the pages are worth by now. Whoever rates them records a lesson, labels or the threshold with it."""
        worths = dict(
            log.rows("seq, worth.worth", f"{VERSIONS} AND seq <= ? AND worth.worth IS NOT NULL", given=(self.seq,))
        )
        finds: list[tuple[str, str]] = []
        for page in self.vertices:
            if page.kind == PAGE:
                page.worth = worths.get(page.seq, page.beta)
                if page.first in worths:
                    self._first_worth[page.number] = worths[page.first]
                first = self._first_worth[page.number] >= self.threshold and not self._first_copy[page.number]
                if self._crawled[page.number] and first:
                    finds.append((page.host, page.language))
        self.ledger.recount(finds)
        self._judged_anew = False

    def _visit(self, seq: int, visit: Visit, numbers: NDArray[np.int32]) -> None:
        first = len(self.words)
        self.words.extend(visit.terms.new)
        for number, stem in enumerate(visit.terms.new, first):
            if stem in self.topic:
                self._wanted[stem] = number
        self.ledger.visit(visit, visit.is_relevant(self.threshold))
        known = self.ways.vertex(visit.node)
        if visit.is_version:
            if known >= 0 and self.vertices[known].kind == PAGE:
                self._another(seq, visit, self.vertices[known], numbers)
            else:
                self._new(seq, visit, PAGE, numbers)
        elif visit.kind == "redirect" and visit.outcome == "redirect":
            self._new(seq, visit, REDIRECT, numbers)
        elif visit.kind == "sitemap" and visit.outcome == "ok":
            self._new(seq, visit, SITEMAP, numbers)
        elif visit.kind == "revisit" and known >= 0:
            self._look(visit, self.vertices[known])

    def _new(self, seq: int, visit: Visit, kind: int, numbers: NDArray[np.int32]) -> None:
        parent, via = self.ways.leading(visit.node)
        number = len(self.vertices)
        page = Shelved(
            number, seq, seq, visit.node, kind, "", host_of(visit.node), "", 0.0, 0.0, False, 0.0, visit.score, 0,
            b"", b"", 0, parent, via,
        )  # fmt: skip
        self.vertices.append(page)
        self.ways.add(number, seq, numbers)
        self._first_worth.append(visit.worth)
        self._first_copy.append(bool(visit.same_as))
        self._crawled.append(visit.is_page)
        self._fill(seq, visit, page)
        if kind == PAGE:
            page.place = len(self._pages)
            self._pages.append(page)
            self.ended.append(visit.ended)

    def _another(self, seq: int, visit: Visit, page: Shelved, numbers: NDArray[np.int32]) -> None:
        self._look(visit, page)
        self._text -= len(page.ids) + len(page.counts) + len(page.title)
        self._fill(seq, visit, page)
        self.ways.extend(page.number, seq, numbers)

    def _look(self, visit: Visit, page: Shelved) -> None:
        if page.standing is None:
            came = page.started
            page.standing = Standing("stands", came, 1, 0, came, 0.0, "", came)
        page.standing = Standing.after(page.standing, visit)

    def _fill(self, seq: int, visit: Visit, page: Shelved) -> None:
        """The page is as this visit found it."""
        page.seq, page.started = seq, visit.started
        page.title, page.language = clean(visit.title)[:500], clean(visit.language)[:100]
        page.beta, page.worth = visit.beta, visit.worth
        page.foreign = "language" in visit.flags
        page.copy, page.simhash = bool(visit.same_as), visit.simhash
        page.ids, page.counts = visit.terms.ids.tobytes(), visit.terms.counts.tobytes()
        page.frequency = self._count(visit.terms.ids, visit.terms.counts)
        self._text += len(page.ids) + len(page.counts) + len(page.title) + len(page.node)

    def _count(self, ids: NDArray[np.uint32], counts: NDArray[np.uint16]) -> int:
        if not self._wanted or not len(ids):
            return 0
        wanted = np.array(list(self._wanted.values()), np.uint32)
        at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        return int(counts[at[ids[at] == wanted]].sum())

    # -- what is there -----------------------------------------------------------------------------------------

    def pages(self, *, copies: bool = False) -> list[Shelved]:
        """The pages, in the order in which they were first fetched."""
        with self.lock:
            return [page for page in self._pages if copies or not page.copy]

    def firsts(self) -> tuple[NDArray[np.float64], NDArray[np.bool_], int]:
        """What each vertex is worth as it was first fetched, which are pages that repeat no other, and how many pages
        were crawled: what estimates are made of.
        """
        with self.lock:
            crawled = np.array(self._crawled, np.bool_)
            return np.array(self._first_worth), crawled & ~np.array(self._first_copy, np.bool_), int(crawled.sum())

    def page(self, node: str) -> Shelved | None:
        """The page at an address."""
        with self.lock:
            vertex = self.ways.vertex(node)
            page = self.vertices[vertex] if vertex >= 0 else None
            return page if page is not None and page.kind == PAGE else None

    def origin(self, log: SqliteLog, node: str) -> Origin:
        """Why an address was visited: the first that led to it."""
        with self.lock:
            vertex = self.ways.vertex(node)
            page = self.vertices[vertex] if vertex >= 0 else None
            if page is not None and page.origin is not None:
                return page.origin
            if self.ways.is_seed(node):
                found, via = Origin("seed"), -1
            else:
                via = page.via if page is not None else self.ways.leading(node)[1]
                found = Origin("")
        if via >= 0:
            found = _link(log, via, node)
        if page is not None:
            page.origin = found
        return found

    def trail(self, page: Shelved, most: int = 60) -> list[Shelved]:
        """The way by which a page was first seen: from a seed, or as far back as is known, to itself."""
        with self.lock:
            found = [page]
            while len(found) < most and found[-1].parent >= 0 and not self.ways.is_seed(found[-1].node):
                above = self.vertices[found[-1].parent]
                if above.number >= found[-1].number:
                    break
                found.append(above)
            return found[::-1]

    def rate(self, now: float) -> float:
        """Pages of the last minute."""
        with self.lock:
            recent = np.array(self.ended[-20_000:])
        return float(((recent > now - 60.0) & (recent <= now)).sum())

    def harvest(self, points: int = 400) -> Harvest:
        """The curve. Drawn anew when there is more, but not so often that it would keep a processor busy."""
        with self.lock:
            now = time.monotonic()
            if self._drawn == self.seq or (now < self._redraw and self._drawn >= 0):
                return self._harvest
            kinds = np.array([vertex.kind for vertex in self.vertices], np.uint8)
            breadth = self.ways.breadth(kinds)
            crawled = np.array(self._crawled, np.bool_)
            find = crawled & (np.array(self._first_worth) >= self.threshold) & ~np.array(self._first_copy, np.bool_)
            drawn = self.seq
        order, _ = breadth.first()
        found = _curve(find[crawled], find[order[crawled[order]]], points)
        with self.lock:
            self._harvest, self._drawn = found, drawn
            self._redraw = time.monotonic() + max(SHORTEST, PATIENCE * (time.monotonic() - now))
            return found


def _linked(event: Event) -> list[str]:
    """A visit's address, and those it links to, each once."""
    return [event.node, *dict.fromkeys(event.links.urls)] if isinstance(event, Visit) else []


def _curve(found: NDArray[np.bool_], breadth: NDArray[np.bool_], points: int) -> Harvest:
    count = len(found)
    if not count:
        return Harvest()
    actual, other = np.cumsum(found), np.cumsum(breadth)
    at = np.unique(np.linspace(0, count, min(count, points - 1) + 1).round().astype(int))
    return Harvest(at.tolist(), [0, *actual[at[1:] - 1].tolist()], [0, *other[at[1:] - 1].tolist()])


def _link(log: SqliteLog, seq: int, node: str) -> Origin:
    """What the visit of that number says of a link to a node."""
    event = next(log.events("seq = ?", given=(seq,)), None)
    if not isinstance(event, Visit) or node not in event.links.urls:
        return Origin("")
    at = event.links.urls.index(node)
    alpha = float(event.links.alphas[at]) if len(event.links.alphas) else 0.0
    kind = "redirect" if event.outcome == "redirect" else "sitemap" if event.kind == "sitemap" else "link"
    return Origin(kind, event.node, clean(event.title)[:500], clean(event.links.anchors[at])[:500], alpha)


def _signature(path: Path) -> Signature | None:
    """What changes when the log does; None where there is none."""
    try:
        log = os.stat(path)
    except OSError:
        return None
    try:
        ahead = os.stat(f"{path}-wal")
    except OSError:
        return (log.st_ino, log.st_size, log.st_mtime_ns)
    return (log.st_ino, log.st_size, log.st_mtime_ns, ahead.st_ino, ahead.st_size, ahead.st_mtime_ns)
