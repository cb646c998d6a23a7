"""Explain any link of a crawl, and list the next links to be fetched.

The crawl is assembled as for `resume`, but read-only and without taking its lock, so it may be running.
"""

from __future__ import annotations

import asyncio
import difflib
import math
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.report.figures import Outlook, Upcoming
from lycosa.collection.search_text import clean
from lycosa.collection.tracing import MAX_COMPARED_URLS, MAX_SUGGESTIONS, latest_content, spellings
from lycosa.collection.view import best_link
from lycosa.core import blas_threads as threads
from lycosa.core.engine import Engine
from lycosa.core.errors import InputError, LycosaError
from lycosa.core.frontier import HELD, PRUNED, SHUT
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.protocols import Estimator, Judge, Space, Strategy
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Event, Visit
from lycosa.crawling.assembly import assemble
from lycosa.crawling.crawl_files import SPILLED, CrawlFiles, snapshot_seq
from lycosa.crawling.request import CrawlRequest
from lycosa.crawling.seeds import node_of
from lycosa.explaining.answers import Fetched, Parent, PathPage, Why
from lycosa.explaining.frontier_ranking import FrontierRanking, TermRecorder, priority_and_terms, rankings
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, PAGES, RELEVANCE_NOW, VISITS, SqliteLog
from lycosa.store.snapshots import Snapshots
from lycosa.web.urls import canonical, origin

EventCallback = Callable[[Engine, int, Event], None]  # called with the number of each event before it is replayed


class ReadOnlyLog(SqliteLog):
    def append(self, event: Event) -> int:
        return 0

    def store_relevances(self, relevances_now: NDArray[Any]) -> None:
        pass

    @contextmanager
    def batch(self) -> Iterator[None]:
        yield


class ReadOnlyFiles(CrawlFiles):
    """Files of a crawl, opened read-only; `watch` is called for each event."""

    readonly = True

    def __init__(
        self, request: CrawlRequest, watch: Callable[[int, Event], None], until: float, without: tuple[str, ...]
    ) -> None:
        super().__init__(request)
        self.watch, self.until, self.without = watch, until, without

    def open(self) -> None:
        assert self.request.path is not None
        self.log = ReadOnlyLog(self.request.path / NAME, readonly=True)
        self.snapshots = Snapshots(self.request.path)
        self.spill_file = self.request.path / SPILLED

    def events(self, after: int = 0) -> Generator[Event, None, None]:
        assert isinstance(self.log, SqliteLog)
        for seq, event in self.log.numbered("seq > ?", given=(after,)):
            self.watch(seq, event)
            yield event


def resumed_request(path: Path, **own: Any) -> CrawlRequest:
    """Return the request of the crawl in a directory; `own` replaces the objects that it was created with."""
    # Proxy and browser are not needed, but would be checked when the crawl is assembled, and may no longer exist.
    options = replace(Directory.read_options(path), proxy="", proxy_ca="", render="never")
    return CrawlRequest(options, path, resuming=True, **own)


def replay(
    request: CrawlRequest,
    watch: EventCallback = lambda engine, seq, event: None,
    recorder: TermRecorder | None = None,
    until: float = math.inf,
    without: tuple[str, ...] = (),
) -> Engine:
    """Replay the log and return the engine, which must not be run. A request can be used once.

    `recorder` is notified of the strategy's updates. If there is a snapshot, only events after it are replayed; `until`
    is the last event that need not be watched. `without` names parts that are skipped if there is nothing to replay.
    """
    if asyncio._get_running_loop() is None:
        return asyncio.run(_replay(request, watch, recorder, until, without))
    with ThreadPoolExecutor(1) as pool:  # called inside a running event loop, as in a notebook
        return pool.submit(asyncio.run, _replay(request, watch, recorder, until, without)).result()


async def _replay(
    request: CrawlRequest, watch: EventCallback, recorder: TermRecorder | None, until: float, without: tuple[str, ...]
) -> Engine:
    files = ReadOnlyFiles(request, lambda seq, event: watch(assembly.engine, seq, event), until, without)
    threads.limit_threads()  # as in the crawl, so that sums are bit-identical
    try:
        assembly = await assemble(request, files)
        for ranking in rankings(assembly.engine) if recorder is not None else ():
            if recorder is not None and recorder.attach(ranking.estimator):
                files.until = 0  # terms need all events
        await assembly.replay_log()
        if assembly.engine.spilled is not None:
            assembly.engine.spilled.listen(True)  # load spilled rows on access
    finally:
        if request.space is not None:
            await request.space.close()
        files.close()
        threads.restore_threads()
    return assembly.engine


# State that does not affect the priorities of waiting links.
SKIPPED_STATE = ("judge", "model_updates", "reader", "trap_filter copies")
MAX_REPLAYED_EVENTS = 100_000  # events replayed by default to explain one priority: a few minutes
IN_FLIGHT = 64  # maximum number of events between a pick and its visit: pages in flight, and a margin
MAX_PARENTS_READ, MAX_PARENTS_SHOWN = 500, 5
_SETTLING = "kind IN ('page', 'redirect', 'sitemap')"


class Reasons:
    """Explanations of the links of a crawl. Pass the objects that the crawl was created with, if any."""

    def __init__(
        self,
        directory: str | Path,
        *,
        judge: Judge | None = None,
        strategy: Estimator | Strategy | None = None,
        space: Space | None = None,
    ) -> None:
        self.path = Path(directory)
        self.collection = CrawlDirectory(self.path)
        self.always_replay = True  # replay the log, regardless of its length, to explain the priority of a fetched page
        self.progress: ProgressCallback = no_progress  # progress of the replay
        self._recorder: TermRecorder | None = None
        self._own: dict[str, Any] = {"own_judge": judge, "strategy": strategy, "space": space}
        try:
            if next(self.collection.log.rows("seq", f"kind = 'seed' OR {VISITS}", "seq LIMIT 1"), None) is None:
                message = f"nothing has been crawled in {self.path} yet: start with 'lycosa resume {self.path}'"
                raise InputError("nothing-to-do", message)
            self._request = self._resumed_request()
        except BaseException:
            self.close()
            raise

    def _resumed_request(self) -> CrawlRequest:
        request = resumed_request(self.path, **self._own)
        request.progress = lambda *progress: self.progress(*progress)
        return request

    @property
    def _has_own(self) -> bool:
        return self._own["own_judge"] is not None or self._own["strategy"] is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.collection.close()

    @cached_property
    def engine(self) -> Engine:
        """The crawl at the end of its log, as far as the frontier is concerned; it must not be run."""
        return replay(self._request, recorder=self._recorder, without=() if self._has_own else SKIPPED_STATE)

    @cached_property
    def rankings(self) -> list[FrontierRanking]:
        return rankings(self.engine, self._recorder)

    def best(self, limit: int = 10, *, with_terms: bool = True) -> list[Why]:
        """Return the next links to be fetched; for a bandit those of its best arm.

        If the strategy has no `explain`, the log is replayed again to collect terms, unless `with_terms` is false.
        """
        first = self.rankings[0]
        if with_terms and not hasattr(first.estimator, "explain"):
            self._record_terms(self.engine.table.nodes[row] for row in first.waiting[:limit].tolist())
        return [self._waiting(int(row)) for row in self.rankings[0].waiting[:limit]]

    def why(self, url: str) -> Why:
        """Explain a link; its URL may be written in any equivalent way."""
        typed = url.encode("utf-8", "replace").decode()
        spelled = self._spellings(typed)
        for node in spelled:
            settled = self._settled(node)
            if settled is not None:
                return self._fetched(node, *settled)
        self._record_terms(spelled)
        table = self.engine.table
        for node in spelled:
            if node in table.row_of:
                return self._waiting(table.row_of[node])
        return self._explain_unknown(typed, spelled)

    def _record_terms(self, nodes: Iterable[str]) -> bool:
        """Record the terms of some nodes, replaying again if needed; return False if that is impossible."""
        chosen = frozenset(nodes)
        if self._recorder is not None and chosen <= self._recorder.nodes:
            return True
        if "engine" in self.__dict__:
            if self._has_own:
                return False  # objects passed by the caller have been trained and can't be replayed twice
            self._request = self._resumed_request()
        self._recorder = TermRecorder(chosen)
        self.__dict__.pop("rankings", None)
        self.__dict__.pop("engine", None)
        return True

    def _spellings(self, typed: str) -> list[str]:
        return list(filter(None, dict.fromkeys([typed, node_of(self._request.space, typed), *spellings(typed)])))

    def _settled(self, node: str) -> tuple[int, Visit] | None:
        """Return the last visit of a node and its number, unless it will be retried."""
        last = next(self.collection.log.numbered(f"node = ? AND {_SETTLING}", "seq DESC LIMIT 1", (node,)), None)
        return (last[0], last[1]) if last is not None and isinstance(last[1], Visit) and not last[1].retry_at else None

    def _explain_unknown(self, typed: str, spelled: list[str]) -> Why:
        for node in spelled:
            where = f"node = ? AND (kind = 'seed' OR {VISITS})"
            (kind,) = next(self.collection.log.rows("kind", where, "seq LIMIT 1", (node,)), ("seed",))
            if kind != "seed":
                note = f"it was fetched as a prerequisite ({kind}), not as a page of the crawl"
                return Why(node, "prerequisite", note)
            found = self.collection.view().origin(self.collection.log, node)
            if found.parent:
                note = f"it is outside the scope of the crawl or beyond its maximum depth; {found.parent} links to it"
                return Why(node, "out of scope", note)
        near = self._nearest(spelled)
        hint = f"similar known URLs: {', '.join(near)}" if near else "no page links to it"
        raise InputError("unknown-name", f"{typed} is unknown to the crawl in {self.path}: {hint}")

    def _nearest(self, spelled: list[str]) -> list[str]:
        nodes = self.engine.table.nodes
        node = next((node for node in spelled if canonical(node) == node), spelled[0] if spelled else "")
        base = origin(node) if canonical(node) == node else ""
        candidates = [known for known in nodes if known.startswith(base)] if base else nodes
        near = difflib.get_close_matches(node, candidates[:MAX_COMPARED_URLS], MAX_SUGGESTIONS, 0.5)
        return near or list(candidates[:MAX_SUGGESTIONS])

    def _waiting(self, row: int) -> Why:
        table, first = self.engine.table, self.rankings[0]
        views = [ranking.view(row) for ranking in self.rankings]
        state, note = self._state(row, first)
        if table.state[row] != OPEN:  # the visit is missing in the log: the scope has changed, or the log was edited
            views = []
        parents, count = self._parents(row)
        return Why(table.nodes[row], state, note, views, parents, count, self._path(row))

    def _state(self, row: int, ranking: FrontierRanking) -> tuple[str, str]:
        budget, pages, table = self.engine.picker.budget.pages, self.engine.tally.pages, self.engine.table
        if ranking.level[row] == SHUT:
            return "shut", f"not fetched: it looks like a trap ({self._trap(row)}); --trust releases it"
        if all(each.spent[row] for each in self.rankings):
            limit = ranking.frontier.host_budget
            return "host budget", f"not fetched: its host has reached its --host-budget of {limit:,} pages"
        if all(-math.inf < each.priority[row] <= PRUNED for each in self.rankings):
            return "pruned", "not fetched: the strategy pruned it, as no page that links to it is relevant enough"
        if all(each.priority[row] == -math.inf for each in self.rankings):
            return "unranked", "found since the last ranking; the next one includes it"
        notes = []
        if ranking.level[row] == HELD:
            notes.append(f"held back as a likely trap ({self._trap(row)}): fetched only when no other link is left")
        if table.is_seed[row]:
            notes.append("a seed: fetched before all ranked links")
        if table.attempts[row]:
            notes.append(f"tried {_times(int(table.attempts[row]))} without success; will be tried again")
        if budget and pages >= budget:
            notes.append(f"the crawl's budget of {budget:,} pages is spent: resume with a larger --budget")
        return "held" if ranking.level[row] == HELD else "waits", "; ".join(notes)

    def _trap(self, row: int) -> str:
        single_row = SimpleNamespace(  # a table with this row only
            rows=lambda: np.array([row], np.int32), is_seed=self.engine.table.is_seed, nodes=self.engine.table.nodes
        )
        held = self.engine.trap_filter.held_back(cast(Table, single_row))
        return f"{held[0].reason}, {held[0].where}" if held else "reason no longer known"

    def _parents(self, row: int) -> tuple[list[Parent], int]:
        """Return the most relevant pages with a link to a row, and the number of all such pages."""
        table, node = self.engine.table, self.engine.table.nodes[row]
        # Faster and with less memory than the reverse index of all edges.
        leading = (table.edges.child == row).nonzero()[0]
        rows = list(dict.fromkeys(table.edges.parent[leading].tolist()))
        relevances = {row: self._relevance(table.nodes[row]) for row in rows[:MAX_PARENTS_READ]}
        chosen = sorted(relevances, key=lambda parent: -relevances[parent])[:MAX_PARENTS_SHOWN]
        found = [self._parent(table.nodes[parent], node) for parent in chosen]
        if not rows and not (table.is_seed[row] and table.parent[row] < 0):  # the target of a redirect
            source = self.collection.view().origin(self.collection.log, node)
            found = [self._parent(source.parent, node)] if source.parent else []
        return [parent for parent in found if parent is not None], len(rows) or len(found)

    def _relevance(self, node: str) -> float:
        rows = self.collection.log.rows(RELEVANCE_NOW, f"node = ? AND {_SETTLING}", "seq DESC LIMIT 1", (node,))
        return float(next(rows, (0.0,))[0])

    def _visit(self, node: str, target: str = "") -> Visit | None:
        """Return the latest version of a page, preferably one that links to `target`."""
        visits = list(self.collection.log.visits(f"node = ? AND {VISITS}", given=(node,)))
        linking = [visit for visit in visits if visit.is_version and target in visit.links.urls]
        return latest_content(linking) or latest_content(visits) or (visits[-1] if visits else None)

    def _parent(self, parent: str, node: str) -> Parent | None:
        visit = self._visit(parent, node)
        if visit is None:
            return None
        anchor, link_relevance = _link(visit, node)
        kind = "page" if visit.kind == "revisit" else visit.kind
        return Parent(parent, clean(visit.title), visit.relevance_now, anchor, link_relevance, kind)

    def _path(self, row: int) -> list[PathPage]:
        """Return the pages from a seed to a row; each is the page on which the next one was first seen."""
        table, rows = self.engine.table, [row]
        while not table.is_seed[rows[-1]] and table.parent[rows[-1]] >= 0 and len(rows) <= len(table):
            rows.append(int(table.parent[rows[-1]]))
        pages, before = [], ""
        for node in (table.nodes[each] for each in reversed(rows)):
            visit, leading = self._visit(node), self._visit(before, node) if before else None
            anchor = _link(leading, node)[0] if leading is not None else ""
            title, relevance = (clean(visit.title), visit.relevance_now) if visit else ("", 0.0)
            pages.append(PathPage(node, title, relevance, anchor))
            before = node
        return pages

    def _fetched(self, node: str, seq: int, visit: Visit) -> Why:
        events_to_replay = self._events_to_replay(seq)
        terms, recomputed_priority = ({}, math.nan) if events_to_replay else self._terms_at_pick(node, seq, visit)
        fetched = Fetched(
            visit.started,
            clean(visit.title),
            visit.outcome,
            visit.status,
            clean(visit.complaint),
            visit.pick,
            visit.arm or self.collection.options.strategy,
            visit.priority,
            visit.relevance_now,
            visit.is_relevant(self.collection.threshold),
            visit.same_as,
            terms,
            recomputed_priority,
            visit.relevance,
            events_to_replay,
            {} if events_to_replay else self._judged(visit),
        )
        if events_to_replay:
            return self._fetched_from_index(node, fetched)
        row = self.engine.table.row_of.get(node, -1)
        parents, count = self._parents(row) if row >= 0 else ([], 0)
        path = self._path(row) if row >= 0 else []
        return Why(node, "fetched", "", [], parents, count, path, fetched)

    def _events_to_replay(self, seq: int) -> int:
        """Return the number of events to replay for the terms of a visit if that exceeds the limit, else 0."""
        if self.always_replay or "engine" in self.__dict__:
            return 0
        end, known = self.collection.log.end(), snapshot_seq(self.path)
        events = end - (known if known < seq - IN_FLIGHT else 0)
        return events if events > MAX_REPLAYED_EVENTS else 0

    def _fetched_from_index(self, node: str, fetched: Fetched) -> Why:
        """Explain a fetched page only from the index of the crawl: the first link to it, and the path."""
        view, log = self.collection.view(), self.collection.log
        first = view.origin(log, node)
        found = self._parent(first.parent, node) if first.parent else None
        vertex = view.graph.vertex(node)
        pages: list[PathPage] = []
        for each in view.path_to(vertex, 1_000) if vertex >= 0 else ():  # limit of the path's length
            page = view.nodes[each]
            visit = log.visit(view.columns["first"].item(each))
            anchor = view.origin(log, page).anchor if pages else ""
            pages.append(PathPage(page, clean(visit.title), visit.relevance_now, anchor))
        return Why(node, "fetched", "", [], [found] if found else [], 1 if found else 0, pages, fetched)

    def _judged(self, visit: Visit) -> dict[str, float]:
        if "engine" not in self.__dict__ or self.engine.lacks:
            self._request = self._resumed_request()
            self.__dict__.pop("rankings", None)
            self.__dict__["engine"] = replay(self._request, recorder=self._recorder)
        judge: Any = self.engine.judge
        while not hasattr(judge, "explain") and hasattr(judge, "inner"):
            judge = judge.inner
        reasons = judge.explain(visit) if visit.is_version and hasattr(judge, "explain") else {}
        return {str(name): float(value) for name, value in reasons.items()}

    def _terms_at_pick(self, node: str, seq: int, visit: Visit) -> tuple[dict[str, float], float]:
        """Return the terms of the priority at the pick, and their sum.

        The log does not say at which event before the visit the link was picked, so the priority is recomputed at each
        candidate, and the one closest to the logged priority is used.
        """
        found: list[tuple[float, dict[str, float]]] = []

        def watch(engine: Engine, number: int, event: Event) -> None:
            if seq - IN_FLIGHT <= number <= seq:
                known = priority_and_terms(engine, visit.arm, node, self._recorder)
                if known is not None:
                    found.append(known)

        if not math.isfinite(visit.priority):
            return {}, math.nan
        if "engine" in self.__dict__:  # already replayed, but without watching this visit
            self._recorder = None
        if not self._record_terms([node]):
            return {}, math.nan
        self.__dict__["engine"] = replay(self._request, watch, self._recorder, seq - IN_FLIGHT - 1)
        if not found:
            return {}, math.nan
        priority, terms = min(reversed(found), key=lambda known: abs(known[0] - visit.priority))
        return terms, priority


def _link(visit: Visit, node: str) -> tuple[str, float]:
    links, best = visit.links, best_link(visit, node)
    link_relevance = float(links.link_relevances[best]) if best >= 0 and len(links.link_relevances) else 0.0
    return (clean(links.anchors[best]) if best >= 0 else "", link_relevance)


def _times(number: int) -> str:
    return "once" if number == 1 else "twice" if number == 2 else f"{number} times"


LINKS = 8  # number of links shown
TERMS = 5


def outlook(directory: Path) -> Outlook | None:
    """Return the next links and their reasons for the report; None if the crawl is large or can't be assembled here."""
    try:
        with Reasons(directory) as reasons:
            log = reasons.collection.log
            if log.end() > 100_000:  # all model updates would have to be read
                return None
            pages = next(log.rows("COUNT(*)", f"{PAGES} AND seq > ?", "1", (snapshot_seq(directory),)))[0]
            if pages > 20_000:  # pages to replay since the last snapshot; `lycosa why` has no such limit
                return None
            first = reasons.rankings[0]
            found = Outlook(len(first.waiting), first.name if len(reasons.rankings) > 1 else "")
            best = reasons.best(LINKS, with_terms=False)
    except LycosaError:
        return None
    largest = max((abs(value) for why in best if why.view for value in why.view.terms.values()), default=1.0)
    found.links = [_upcoming(why, largest) for why in best]
    return found


def _upcoming(why: Why, largest: float) -> Upcoming:
    assert why.view is not None
    parent = why.parents[0] if why.parents else None
    terms = [(name, value, abs(value) / largest) for name, value in why.view.terms.items()]
    if math.isinf(why.view.priority):  # seeds are ranked first regardless of terms
        terms = []
    return Upcoming(
        why.node,
        why.view.priority,
        terms[:TERMS],
        max(0, len(terms) - TERMS),
        parent.node if parent else "",
        parent.title if parent else "",
        parent.anchor if parent else "",
        why.state == "held",
    )
