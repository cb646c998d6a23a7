"""Explain any link of a crawl, and list the next links to be fetched.

The crawl is assembled as for `resume`, but read-only and without taking its lock, so it may be running.
"""

from __future__ import annotations

import asyncio
import difflib
import math
from collections.abc import Iterator
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
from lycosa.collection.pages import best_link, page_at, path_to
from lycosa.collection.report.figures import Outlook, Upcoming
from lycosa.collection.search_text import clean
from lycosa.collection.tracing import MAX_COMPARED_URLS, MAX_SUGGESTIONS, latest_content, spellings
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
from lycosa.explaining.frontier_ranking import FrontierRanking, rankings
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, PAGES, RELEVANCE_NOW, SqliteLog
from lycosa.store.snapshots import Snapshots
from lycosa.web.urls import canonical, origin


class ReadOnlyLog(SqliteLog):
    def append(self, event: Event) -> int:
        return 0

    def store_relevances(self, relevances_now: NDArray[Any]) -> None:
        pass

    @contextmanager
    def batch(self) -> Iterator[None]:
        yield


class ReadOnlyFiles(CrawlFiles):
    """Files of a crawl, opened read-only; `without` names parts of a snapshot that are skipped."""

    readonly = True

    def __init__(self, request: CrawlRequest, without: tuple[str, ...]) -> None:
        super().__init__(request)
        self.without = without

    def open(self) -> None:
        assert self.request.path is not None
        self.log = ReadOnlyLog(self.request.path / NAME, readonly=True)
        self.snapshots = Snapshots(self.request.path)
        self.spill_file = self.request.path / SPILLED


def resumed_request(path: Path, **own: Any) -> CrawlRequest:
    """Return the request of the crawl in a directory; `own` replaces the objects that it was created with."""
    # Proxy and browser are not needed, but would be checked when the crawl is assembled, and may no longer exist.
    options = replace(Directory.read_options(path), proxy="", proxy_ca="", render="never")
    return CrawlRequest(options, path, resuming=True, **own)


def restored(request: CrawlRequest, without: tuple[str, ...] = ()) -> Engine:
    """Return the engine of a crawl at the end of its log, from the last snapshot; it must not be run.

    A request can be used once. `without` names parts that are skipped if nothing follows the snapshot.
    """
    if asyncio._get_running_loop() is None:
        return asyncio.run(_restored(request, without))
    with ThreadPoolExecutor(1) as pool:  # called inside a running event loop, as in a notebook
        return pool.submit(asyncio.run, _restored(request, without)).result()


async def _restored(request: CrawlRequest, without: tuple[str, ...]) -> Engine:
    files = ReadOnlyFiles(request, without)
    threads.limit_threads()  # as in the crawl, so that sums are bit-identical
    try:
        assembly = await assemble(request, files)
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
MAX_REPLAYED_EVENTS = 20_000  # events since the last snapshot up to which the judge is restored: seconds
MAX_PAGES_SEARCHED = 20_000  # pages whose links are searched for an unknown URL: seconds
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
        self.progress: ProgressCallback = no_progress  # progress of the replay
        self._own: dict[str, Any] = {"own_judge": judge, "strategy": strategy, "space": space}
        try:
            begun = "SELECT EXISTS (SELECT 1 FROM seed) OR EXISTS (SELECT 1 FROM visit)"
            if not next(self.collection.log.query(begun))[0]:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.collection.close()

    @cached_property
    def engine(self) -> Engine:
        """The crawl at the end of its log, as far as the frontier is concerned; it must not be run."""
        return restored(self._request, without=SKIPPED_STATE if self._own["own_judge"] is None else ())

    @cached_property
    def rankings(self) -> list[FrontierRanking]:
        return rankings(self.engine)

    def best(self, limit: int = 10) -> list[Why]:
        """Return the next links to be fetched; for a bandit those of its best arm."""
        return [self._waiting(int(row)) for row in self.rankings[0].waiting[:limit]]

    def why(self, url: str) -> Why:
        """Explain a link; its URL may be written in any equivalent way."""
        typed = url.encode("utf-8", "replace").decode()
        spelled = self._spellings(typed)
        for node in spelled:
            settled = self._settled(node)
            if settled is not None:
                return self._fetched(settled)
        table = self.engine.table
        for node in spelled:
            if node in table.row_of:
                return self._waiting(table.row_of[node])
        return self._explain_unknown(typed, spelled)

    def _spellings(self, typed: str) -> list[str]:
        return list(filter(None, dict.fromkeys([typed, node_of(self._request.space, typed), *spellings(typed)])))

    def _settled(self, node: str) -> Visit | None:
        """Return the last visit of a node, unless it will be retried."""
        last = next(self.collection.log.visits(f"url = ? AND {_SETTLING}", "seq DESC LIMIT 1", (node,)), None)
        return last if last is not None and not last.retry_at else None

    def _explain_unknown(self, typed: str, spelled: list[str]) -> Why:
        for node in spelled:
            (kind,) = next(self.collection.log.rows("kind", "url = ?", "seq LIMIT 1", (node,)), ("",))
            if kind:
                note = f"it was fetched as a prerequisite ({kind}), not as a page of the crawl"
                return Why(node, "prerequisite", note)
        for number, visit in enumerate(self.collection.log.visits("kind IN ('page', 'sitemap') AND outcome = 'ok'")):
            if node := next((node for node in spelled if node in visit.links.urls), ""):
                note = f"it is outside the scope of the crawl or beyond its maximum depth; {visit.node} links to it"
                return Why(node, "out of scope", note)
            if number == MAX_PAGES_SEARCHED:
                break
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
        if not rows:  # the target of a redirect
            query = "SELECT url FROM visit WHERE target = ? AND target != '' ORDER BY seq LIMIT 1"
            found = [self._parent(url, node) for (url,) in self.collection.log.query(query, (node,))]
        return [parent for parent in found if parent is not None], len(rows) or len(found)

    def _relevance(self, node: str) -> float:
        page = page_at(self.collection.log, node)
        return page.relevance_now if page is not None else 0.0

    def _parent(self, parent: str, node: str) -> Parent | None:
        """Return a page that links to a node, in its latest version with the link."""
        visits = list(self.collection.log.visits("url = ?", given=(parent,)))
        linking = [visit for visit in visits if node in visit.links.urls]
        visit = latest_content(linking) or latest_content(visits) or (visits[-1] if visits else None)
        if visit is None:
            return None
        anchor, link_relevance = _link(visit, node)
        kind = "page" if visit.kind == "revisit" else visit.kind
        return Parent(parent, clean(visit.title), self._relevance(parent), anchor, link_relevance, kind)

    def _path(self, row: int) -> list[PathPage]:
        """Return the pages from a seed to a waiting row."""
        table = self.engine.table
        parent = int(table.parent[row])
        found = self._path_to(table.nodes[parent]) if parent >= 0 and not table.is_seed[row] else []
        last = self._parent(table.nodes[parent], table.nodes[row]) if found else None
        return [*found, PathPage(table.nodes[row], "", 0.0, last.anchor if last is not None else "")]

    def _path_to(self, node: str) -> list[PathPage]:
        """Return the pages from a seed to a fetched page; each is the page on which the next one was first seen."""
        pages: list[PathPage] = []
        for url in path_to(self.collection.log, node):
            rows = self.collection.log.rows(f"title, anchor, {RELEVANCE_NOW}", "url = ?", "seq LIMIT 1", (url,))
            title, anchor, relevance = next(rows, ("", "", 0.0))
            pages.append(PathPage(url, clean(title), relevance, clean(anchor) if pages else ""))
        return pages

    def _fetched(self, visit: Visit) -> Why:
        page = page_at(self.collection.log, visit.node)
        fetched = Fetched(
            visit.started,
            clean(visit.title),
            visit.outcome,
            visit.status,
            clean(visit.complaint),
            visit.pick,
            visit.arm or self.collection.options.strategy,
            visit.priority,
            visit.relevance_now if page is None else page.relevance_now,
            page is not None and not page.duplicate_of and page.relevance_now >= self.collection.threshold,
            visit.same_as,
            dict(sorted(visit.priority_terms.items(), key=lambda term: -abs(term[1]))),
            visit.relevance,
            self._judged(visit),
        )
        found = self._parent(visit.parent, visit.node) if visit.parent else None
        if found is not None and not found.anchor:  # the link led here through a redirect
            found = replace(found, anchor=clean(visit.anchor))
        return Why(
            visit.node,
            "fetched",
            "",
            [],
            [found] if found else [],
            1 if found else 0,
            self._path_to(visit.node),
            fetched,
        )

    def _judged(self, visit: Visit) -> dict[str, float]:
        """Return the parts of a page's relevance, unless restoring the judge would take long."""
        behind = self.collection.log.end() - snapshot_seq(self.path)
        if not visit.is_version or ("engine" not in self.__dict__ and behind > MAX_REPLAYED_EVENTS):
            return {}
        if "engine" not in self.__dict__ or self.engine.lacks:
            self._request = self._resumed_request()
            self.__dict__.pop("rankings", None)
            self.__dict__["engine"] = restored(self._request)
        judge: Any = self.engine.judge
        while not hasattr(judge, "explain") and hasattr(judge, "inner"):
            judge = judge.inner
        reasons = judge.explain(visit) if hasattr(judge, "explain") else {}
        return {str(name): float(value) for name, value in reasons.items()}


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
            (pages,) = next(log.rows("COUNT(*)", f"{PAGES} AND seq > ?", "1", (snapshot_seq(directory),)))
            if pages > 20_000:  # pages to replay since the last snapshot; `lycosa why` has no such limit
                return None
            first = reasons.rankings[0]
            found = Outlook(len(first.waiting), first.name if len(reasons.rankings) > 1 else "")
            best = reasons.best(LINKS)
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
