"""Step 3 of the crawl loop: judge a fetched page, make the visit to record, and update judges that learn."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.budget import CrawlCounters
from lycosa.core.errors import InputError
from lycosa.core.files import CrashMarker
from lycosa.core.protocols import Clock, Judge, Learner, Log, TermReader, TrapFilter, VisitScheduler
from lycosa.core.state import State
from lycosa.core.table import MAX_HOPS, Table
from lycosa.core.types import (
    Judgement,
    Label,
    Links,
    ModelUpdate,
    Outcome,
    Page,
    Rows,
    Seed,
    Task,
    Terms,
    Visit,
    as_stored,
)

MAX_SOURCED_URLS = 100_000  # maximum URLs taken from sitemaps, feeds and lists in one crawl


class Assessor:
    """Reader and judge of fetched pages; compares revisited pages with their previous version."""

    def __init__(
        self,
        judge: Judge,
        judge_name: str,
        table: Table,
        tally: CrawlCounters,
        *,
        reader: TermReader | None,
        trap_filter: TrapFilter,
        scheduler: VisitScheduler,
        mark: CrashMarker,
    ) -> None:
        self.judge, self.judge_name, self.reader = judge, judge_name, reader
        self.trap_filter, self.scheduler, self.mark = trap_filter, scheduler, mark
        self.table, self.tally = table, tally

    def assess(self, task: Task, page: Page) -> Visit:
        _clean(page)
        self._reject(task, page)
        visit = Visit(
            node=task.node,
            kind=page.kind if task.kind in ("page", "sitemap") else task.kind,
            outcome=page.outcome,
            pick=task.pick or self.tally.picks,
            arm=task.arm,
            priority=task.priority,
            attempt=task.attempt,
            retry_at=page.retry_at,
            hops=task.hops,
            origin=task.origin,
            started=page.started,
            ended=page.ended,
            address=page.address,
            status=page.status,
            size=page.size,
            title=page.title,
            language=page.language,
            etag=page.etag,
            modified=page.modified,
            flags=page.flags,
            note=page.note,
            data=page.data,
            digest=page.exchange.digest if page.exchange is not None else b"",
            links=page.links,
            parent=task.parent,
            depth=task.depth,
            priority_terms=task.priority_terms,
        )
        if page.exchange is not None and (kind := _media_type(page.exchange.header("content-type"))):
            visit.data = {**visit.data, "type": kind}
        if task.follows:
            visit.data = {**visit.data, "follows": task.follows}
            if visit.outcome == "ok" and self.scheduler.is_same(visit, page):
                visit.outcome, visit.links = "unchanged", Links()
            if visit.status == 304:
                visit.digest = b""
        if visit.outcome == "ok" and visit.kind in ("page", "sitemap", "probe", "revisit"):
            self._read(visit, page)
        self.scheduler.compare(visit, page)
        return visit

    def _reject(self, task: Task, page: Page) -> None:
        """Empty pages that must not be used: crash-causing ones, endless redirects, and pages listed as sitemaps."""
        if page.outcome == "ok" and self.mark.is_poison(task.node):
            _discard(page, "unreadable", "skipped: it crashed the crawl twice")
        if page.kind == "redirect" and (task.hops >= MAX_HOPS or (task.follows and page.links.urls == [task.node])):
            itself = task.hops < MAX_HOPS
            page.kind = "page"
            _discard(page, "loop", "a redirect to itself" if itself else f"more than {MAX_HOPS} redirects in a row")
        nested = task.kind == "sitemap" and task.row >= 0 and (self.table.parent[task.row] >= 0 or task.follows > 0)
        # only a seed may turn out to be a page instead of a sitemap
        if nested and page.kind == "page" and page.outcome == "ok":
            _discard(page, "unwanted", "listed as a sitemap or feed, but is a page")

    def _read(self, visit: Visit, page: Page) -> None:
        if visit.kind == "sitemap" and not visit.follows:
            page.links.truncate(MAX_SOURCED_URLS - self.tally.sourced)
        page.node = visit.node
        reading = self.reader.read(page) if self.reader is not None else None
        if reading is not None:
            visit.terms, visit.simhash = reading.terms, reading.simhash
        if visit.kind != "probe":
            self._judge(visit, self.judge.judge(page, reading))
        if not visit.is_version:  # not a page (a sitemap, say): its words join the vocabulary but are not counted
            visit.relevance, visit.terms = 0.0, Terms(new=visit.terms.new)
        self.trap_filter.recognise(visit, reading)

    def _judge(self, visit: Visit, judgement: Judgement) -> None:
        visit.judge = self.judge_name
        # + 0.0, because SQLite stores -0.0 as 0.0
        visit.relevance = float(judgement.relevance) + 0.0 if math.isfinite(judgement.relevance) else 0.0
        visit.links.link_relevances = _column("link relevances", judgement.link_relevances, visit)
        for name, column in judgement.facets.items():
            visit.links.facets[name] = _column(f"values of the facet {name!r}", column, visit)
        if judgement.data:
            visit.data = {**visit.data, **as_stored(judgement.data)}


def _clean(page: Page) -> None:
    """Remove lone surrogates from a page's texts, which a database cannot hold."""
    if "".join((page.title, page.language, page.etag, page.modified, page.note, *page.flags)).isascii():
        _clean_links(page.links)
        return
    for name in ("title", "language", "etag", "modified", "note"):
        setattr(page, name, _storable(getattr(page, name)))
    page.flags = [_storable(flag) for flag in page.flags]
    _clean_links(page.links)


def _clean_links(links: Links) -> None:
    if not "".join(chain(links.urls, links.anchors)).isascii():
        links.urls = [_storable(url) for url in links.urls]
        links.anchors = [_storable(anchor) for anchor in links.anchors]


def _storable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "ignore").decode()


@lru_cache(maxsize=256)
def _media_type(value: str) -> str:
    kind = value.partition(";")[0].strip().lower()
    return kind if re.fullmatch(r"[\w.+*-]{1,60}/[\w.+*-]{1,80}", kind, re.ASCII) else ""


def _discard(page: Page, outcome: Outcome, note: str) -> None:
    page.outcome, page.note, page.links = outcome, note, Links()


def _column(noun: str, numbers: Any, visit: Visit) -> NDArray[np.float32]:
    """Return a judge's numbers for the links of a visit as float32; NaN and infinities become finite."""
    column = np.asarray(numbers, np.float32)
    if len(column) != len(visit.links):
        counts = f"{len(column)} {noun} for {len(visit.links)} links of {visit.node}"
        raise InputError("bad-judge", f"the judge returned {counts}: see lycosa.checks.check_judge")
    return column if np.isfinite(column).all() else np.nan_to_num(column)


# Called with the rows of all page versions so far, in log order, and their relevance
OnRelevanceUpdate = Callable[[Rows, NDArray[np.floating[Any]]], None]


class ModelUpdates:
    """Requests and records the model updates of a learning judge; does nothing for other judges."""

    def __init__(
        self,
        judge: Judge,
        judge_name: str,
        tally: CrawlCounters,
        log: Log,
        clock: Clock,
        on_relevance_update: OnRelevanceUpdate,
        record_visits: Callable[[], None] = lambda: None,
    ) -> None:
        self.learner = judge if isinstance(judge, Learner) else None
        self.judge, self.judge_name = judge, judge_name
        self.tally, self.log, self.clock, self._on_relevance_update = tally, log, clock, on_relevance_update
        self._record_visits = record_visits  # records the visits that an update was learned from
        self._rows = array("i")  # row of each page version
        self._counts = bytearray()  # 1 for each page version that may count as relevant
        self._is_page = bytearray()  # 1 for each page version that is a first visit
        self._relevances_now: NDArray[np.floating[Any]] = np.zeros(0)  # as of the last count
        self._logged_relevances = array("d")  # relevance of page versions according to the log, until the first update
        self._is_rescored = False  # true if this judge has rescored any of them in the log
        self.adopted = 0  # updates adopted by this process
        self._pages_at_update = 0  # pages fetched before the last update
        self._has_new_labels = False  # true if labels were added since relevant pages were last counted

    def start(self, seed: Seed) -> None:
        if self.learner is not None:
            self.learner.start(seed)

    def count(self, visit: Visit, row: int) -> None:
        if visit.is_version:
            self._rows.append(row)
            self._counts.append(visit.is_page and not visit.same_as)
            self._is_page.append(visit.is_page)
            if self.learner is not None and not self.adopted:
                self._logged_relevances.append(visit.relevance_now)
                self._is_rescored |= visit.updated_relevance is not None and visit.judge == self.judge_name

    def add_label(self, label: Label) -> None:
        """Pass a label to the learner; it takes effect with the next update."""
        if self.learner is not None:
            self.learner.add_label(label)
            self._has_new_labels = True

    def adopt(self, update: ModelUpdate) -> None:
        """Apply an update, unless it belongs to another judge."""
        if self.learner is not None and update.judge == self.judge_name:
            self.learner.adopt(update)
            self.adopted += 1
            self._logged_relevances = array("d")
            self._pages_at_update = self.tally.pages
            self._recount()
            self._on_relevance_update(np.array(self._rows, np.int32), self._relevances_now)

    def _recount(self) -> None:
        assert self.learner is not None
        relevances_now = self._relevances_now = self.learner.relevances_now()
        self.tally.relevant = int(np.count_nonzero(relevances_now[self._counted()] >= self.judge.threshold))
        self._has_new_labels = False

    def relevances_now(self) -> NDArray[np.floating[Any]]:
        """Return the current relevance of all pages without duplicates; empty if the judge does not learn."""
        return np.zeros(0) if self.learner is None else self.learner.relevances_now()[self._counted()]

    def relevant_now(self) -> NDArray[np.bool_] | None:
        """Return for each page of the crawl whether it is relevant now; None if the judge does not learn."""
        if self.learner is None:
            return None
        relevant: NDArray[np.bool_] = self._counted() & (self.learner.relevances_now() >= self.judge.threshold)
        return relevant[np.frombuffer(bytes(self._is_page), np.bool_)]

    @property
    def count_widths(self) -> tuple[float, float]:
        return count_widths(self.judge)

    def _counted(self) -> NDArray[np.bool_]:
        return np.frombuffer(bytes(self._counts), np.bool_)  # a copy: bytearrays with exported buffers cannot grow

    def state(self) -> State:
        rows, counts = np.array(self._rows, np.int32), np.array(self._counted())
        return {
            "rows": rows,
            "counts": counts,
            "is_page": np.frombuffer(bytes(self._is_page), np.bool_),
            "pages_at_update": self._pages_at_update,
            "has_new_labels": self._has_new_labels,
        }

    def restore(self, state: State) -> None:
        self._rows, self._counts = array("i", state["rows"].tobytes()), bytearray(state["counts"].tobytes())
        self._is_page = bytearray(state["is_page"].tobytes())
        self._pages_at_update, self._has_new_labels = state["pages_at_update"], state["has_new_labels"]

    def update_model(self, force: bool = False) -> bool:
        """Record the learner's next update, if there is one, with the new relevances; return whether there was one."""
        update = self.learner.next_update(self.clock(), force) if self.learner is not None else None
        if update is None:
            return False
        update.judge = self.judge_name
        self.record_update(update)
        return True

    def record_update(self, update: ModelUpdate) -> None:
        """Adopt and record an update, unless it belongs to another judge."""
        if self.learner is None or update.judge != self.judge_name:
            return
        self._record_visits()
        self.adopt(update)
        with self.log.batch():
            self.log.append(update)
            self.log.store_relevances(self._relevances_now)

    def catch_up(self) -> None:
        """Learn from new labels at the start of a run, and make an update that was due when the last run died."""
        if not self.update_model(force=self._has_new_labels and not is_waiting(self.judge)) and self._has_new_labels:
            self._recount()
            self.log.store_relevances(self._relevances_now)

    def catch_up_for_refresh(self) -> None:
        """Use the relevances in the log until an update is due, at the start of a run that only revisits pages."""
        if self.adopted or self._has_new_labels or not self._is_rescored:
            self.catch_up()
            return
        self._relevances_now = np.array(self._logged_relevances)
        self.tally.relevant = int(np.count_nonzero(self._relevances_now[self._counted()] >= self.judge.threshold))
        self._pages_at_update = self.tally.pages
        self._on_relevance_update(np.array(self._rows, np.int32), self._relevances_now)

    def finish(self) -> None:
        """Learn from the pages since the last update at the end of a run, unless the judge waits for examples."""
        if self.tally.pages > self._pages_at_update and not is_waiting(self.judge):
            self.update_model(force=True)


def is_waiting(judge: object) -> bool:
    """Return whether a judge, or a judge it wraps, still waits for its first example."""
    while not hasattr(judge, "is_waiting") and hasattr(judge, "inner"):
        judge = judge.inner
    return bool(getattr(judge, "is_waiting", False))


def count_widths(judge: object) -> tuple[float, float]:
    """Return how far the log of the number of relevant pages may be off, downwards and upwards; zeros if unknown."""
    while not hasattr(judge, "count_widths") and hasattr(judge, "inner"):
        judge = judge.inner
    low, high = getattr(judge, "count_widths", (0.0, 0.0))
    return float(low), float(high)
