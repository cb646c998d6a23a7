"""Build the engine of a crawl and bring it to the end of its log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from lycosa.core import protocols
from lycosa.core.budget import Pace
from lycosa.core.engine import Engine
from lycosa.core.errors import InputError
from lycosa.core.options import DEFAULT_MEMORY_ROWS
from lycosa.core.protocols import Space, Strategy
from lycosa.core.single_fetch import fetch_page
from lycosa.core.state import StateMismatch
from lycosa.core.table import OPEN
from lycosa.core.types import Event, Kind, Page, Seed, Setting, Task
from lycosa.crawling.crawl_files import CrawlFiles, restore_snapshot
from lycosa.crawling.page_assets import PageAssets
from lycosa.crawling.request import CrawlRequest
from lycosa.crawling.seeds import SEARCHES_SETTING, Seeds, SeedSearch, ask_engines, read_seeds
from lycosa.judges.base import LanguageJudge, set_facets, with_labels
from lycosa.judges.examples import learn_examples
from lycosa.judges.factory import fingerprint, judge_name, read_terms
from lycosa.revisit.ledger import REFRESH_SETTING
from lycosa.revisit.revisit_scheduler import RevisitScheduler
from lycosa.spaces.web_space import source_page
from lycosa.store.log import SqliteLog
from lycosa.strategies import strategy as strategy_by_name
from lycosa.text.vocabulary import Vocabulary
from lycosa.traps.trap_filter import SectionTrapFilter
from lycosa.web.html import read_example_page
from lycosa.web.urls import check_seed, is_http

AT_ONCE = 10  # events folded before other tasks run


async def assemble(request: CrawlRequest, files: CrawlFiles) -> Assembly:
    """Build the parts of a crawl; afterwards call `Assembly.replay_log` to replay its log."""
    topic_terms, news, searched = await _open(request, files, request.make_space())
    engine, probability = _engine(request, files, topic_terms)
    return Assembly(request, files, engine, topic_terms, news, probability, searched)


def _engine(request: CrawlRequest, files: CrawlFiles, topic_terms: dict[str, Any]) -> tuple[Engine, bool]:
    """Return a new engine, and whether its judge returns probabilities."""
    space, options = request.make_space(), request.options
    judge = request.make_judge(topic_terms)
    strategy = _strategy(request)
    for part in (judge, getattr(strategy, "estimator", strategy)):
        request.notes += [note for note in getattr(part, "notes", []) if note not in request.notes]
    set_facets(judge, strategy.wants)
    judge_name = fingerprint(options, judge)
    probability = bool(getattr(judge, "probability", False))
    judge = with_labels(judge)
    if options.languages:
        judge = LanguageJudge(judge)
    scheduler = _scheduler(request, files, space, judge.threshold)
    if hasattr(space, "mark"):
        space.mark = files.mark
    engine = Engine(
        space,
        judge,
        strategy,
        files.log,
        clock=request.clock,
        budget=request.budget,
        scheduler=scheduler,
        pace=Pace(options.per_hour) if request.is_watch else None,
        archive=files.archive,
        reader=Vocabulary(options.languages[0] if options.languages else "en"),
        concurrency=options.concurrency,
        host_budget=options.host_budget,
        patience=options.patience,
        choosy=options.choosy,
        trap_filter=_trap_filter(request, space, judge.threshold),
        scope=_scope(request, space),
        judge_name=judge_name,
        mark=files.mark,
        steps=request.steps,
        memory_rows=options.memory_rows,
        spill_file=files.spill_file,
        readonly=files.readonly,
        stopping=request.stopping,
    )
    if request.owns is not None:
        engine.owns = request.owns
    large = "this strategy keeps all known addresses in memory, about 500 bytes each"
    is_small = options.memory_rows == DEFAULT_MEMORY_ROWS and 0 < options.budget <= 100_000
    if options.memory_rows and engine.spilled is None and not is_small and large not in request.notes:
        request.notes.append(large)
    return engine, probability


MAX_EXAMPLES = 20  # seeds up to which each is taken as an example


@dataclass
class Assembly:
    """The parts of a crawl before it runs: files, engine, learned terms and events to record."""

    request: CrawlRequest
    files: CrawlFiles
    engine: Engine  # replaced by `replay_log` if the snapshot did not fit
    topic_terms: dict[str, Any]  # terms of a file or of example pages
    news: list[Event]  # events from learning terms, not recorded yet
    probability: bool  # true if the judge returns probabilities
    searched: list[str]  # seeds from search engines

    async def replay_log(self) -> None:
        """Bring the engine to the end of the log and record new seeds and settings."""
        request, files = self.request, self.files
        if request.resuming:
            await self._replay()
        files.save_options()
        engine = self.engine
        seeds = request.seeds
        if request.resuming:
            seeds = read_seeds(request.options, engine.space, request.notes, files=not engine.table.is_seed.any())
        now = request.clock()
        # Seeds first, because sitemaps in a robots.txt only count if the host has a seed.
        news = self._new_seeds(seeds, now)
        news += [*self.news, Setting("threshold", engine.judge.threshold, now)]
        if request.is_watch:
            news.append(Setting("watched", True, now))
        if request.revisit_plan is not None and REFRESH_SETTING not in engine.tally.settings:
            news.append(Setting(REFRESH_SETTING, True, now))
        if self.probability != engine.tally.settings.get("probability", False):
            news.append(Setting("probability", self.probability, now))
        news += self._suspects(now)
        with files.log.batch():  # all or nothing, as a resumed crawl with seeds does not read seed files again
            for event in news:
                files.log.append(event)
                engine.fold(event)
            for name, source in seeds.sources if request.first else ():
                engine.absorb(Task(name, "sitemap"), source_page(source, now))
            if request.revisit_plan is None:
                engine.model_updates.catch_up()
            else:
                engine.model_updates.catch_up_for_refresh()
        files.mark.clear()

    async def _replay(self) -> None:
        known = await self._restored()
        engine, files = self.engine, self.files
        events, end = files.events(known), files.log.end() if isinstance(files.log, SqliteLog) else 0
        engine.replay(())
        folded, later = 0, end - known
        with closing(events):
            for event in events:
                engine.replay(chain((event,), islice(events, AT_ONCE - 1)))
                folded += AT_ONCE
                self.request.progress("reading the log", min(folded, later), later)
                await asyncio.sleep(0)
        if folded:  # sequence numbers may be missing in a repaired log
            self.request.progress("reading the log", later, later)
        scheduler = refresher_of(engine.scheduler)
        if scheduler is not None and "watched" not in engine.tally.settings:
            for pace in filter(None, (engine.picker.pace, scheduler.pace)):
                pace.reset()  # the crawl's requests don't count for the watch
        if files.judged_by not in ("", engine.model_updates.judge_name):
            self.request.notes.append("the pages so far were judged with another topic, judge, model or ontology")

    async def _restored(self) -> int:
        """Restore the snapshot, or make a new engine if it does not fit; return the number of its last event."""
        request = self.request
        try:
            return restore_snapshot(request, self.files, self.engine)
        except StateMismatch as error:
            if request.has_own_parts:
                raise InputError("bad-snapshot", f"{error}: remove that directory, then continue") from error
            request.notes.append(f"{error}: the whole log was read again")
        await request.discard_parts()
        self.engine, self.probability = _engine(request, self.files, self.topic_terms)
        return 0

    def _new_seeds(self, seeds: Seeds, now: float) -> list[Event]:
        """Return the seeds that the crawl does not know yet.

        Results of a search engine and long lists are no examples, as their pages were not chosen one by one.
        """
        nodes: dict[str, Kind] = {**seeds.nodes}
        portals = seeds.portals.union(node for node in self.searched if node not in nodes)
        if sum(kind == "page" and node not in portals for node, kind in nodes.items()) > MAX_EXAMPLES:
            portals.update(nodes)
        for node in self.searched:
            nodes.setdefault(node, "page")
        return [
            Seed(node, now, kind, {"portal": True} if node in portals else {})
            for node, kind in nodes.items()
            if self.engine.owns(node) and self._is_new(node)
        ]

    def _is_new(self, node: str) -> bool:
        table = self.engine.table
        row = table.row_of.get(node)
        return row is None or (table.state[row] == OPEN and not bool(table.is_seed[row]))

    def _suspects(self, now: float) -> list[Event]:
        """Update the crash marker from the log and the last run; return the event to record."""
        mark = self.files.mark
        deaths: dict[str, int] = dict(self.engine.tally.settings.get("deaths", {}))  # type: ignore[call-overload]
        mark.deaths = deaths
        node = mark.left
        if not node:
            return []
        deaths[node] = deaths.get(node, 0) + 1
        then = "skipped from now on" if mark.is_poison(node) else "read in a separate process from now on"
        self.request.notes.append(f"the last run crashed while reading or judging {node}: {then}")
        return [Setting("deaths", dict(deaths), now)]


async def _open(
    request: CrawlRequest, files: CrawlFiles, space: Space
) -> tuple[dict[str, Any], list[Event], list[str]]:
    if not request.resuming:  # before anything is written, because an example may not be readable
        topic_terms, news = await learn_terms(request, space)
        search = await ask_engines(request.options, space, request.clock)
        files.open()
    else:
        files.open()
        topic_terms, news = await _known_terms(request, files, space)
        search = SeedSearch()
        if not files.readonly and request.revisit_plan is None and isinstance(files.log, SqliteLog):
            search = await ask_engines(request.options, space, request.clock, files.log.setting(SEARCHES_SETTING, {}))
    request.notes += search.notes
    return topic_terms, [*news, *search.events], search.seeds


async def _known_terms(request: CrawlRequest, files: CrawlFiles, space: Space) -> tuple[dict[str, Any], list[Event]]:
    """Return the terms that an earlier run has logged."""
    if not request.lacks_terms or not isinstance(files.log, SqliteLog):
        return {}, []
    if known := files.log.setting("learned", {}):
        return known, []
    if files.readonly:
        hint = f"start with 'lycosa resume {request.path}'"
        raise InputError("no-pages", f"nothing has been crawled in {request.path} yet: {hint}")
    return await learn_terms(request, space)


def _scope(request: CrawlRequest, space: Space) -> Callable[[str, int], bool]:
    scope: Callable[[str, int], bool] = lambda node, depth: True  # noqa: E731
    if hasattr(space, "scope"):
        scope = space.scope(request.options)
    owns = request.owns
    return scope if owns is None else lambda node, depth: owns(node) and scope(node, depth)


def _strategy(request: CrawlRequest) -> Strategy:
    if request.revisit_plan is not None and not request.options.explore:
        return strategy_by_name("breadth-first")  # no new pages are picked, so ranking is wasted
    return request.make_strategy()


def _trap_filter(request: CrawlRequest, space: Space, threshold: float) -> protocols.TrapFilter | None:
    options, trap_filter = request.options, None
    if options.traps and getattr(space, "has_traps", False):
        trap_filter = SectionTrapFilter(threshold, options.trust)
    return space.trap_filter(trap_filter or protocols.TrapFilter()) if isinstance(space, Space) else trap_filter


def _scheduler(
    request: CrawlRequest, files: CrawlFiles, space: Space, threshold: float
) -> protocols.VisitScheduler | None:
    scheduler = _refresher(request, files, space, threshold)
    if not request.options.page_assets or not isinstance(files.log, SqliteLog) or request.path is None:
        return scheduler
    return PageAssets(request.options, space, threshold, files.versions(), scheduler, request.owns)


def refresher_of(scheduler: protocols.VisitScheduler) -> RevisitScheduler | None:
    if isinstance(scheduler, PageAssets):
        scheduler = scheduler.inner
    return scheduler if isinstance(scheduler, RevisitScheduler) else None


def _refresher(request: CrawlRequest, files: CrawlFiles, space: Space, threshold: float) -> RevisitScheduler | None:
    options = request.options
    if request.revisit_plan is None:
        return None
    if not getattr(space, "has_versions", False) or not isinstance(files.log, SqliteLog):
        raise InputError("not-a-web-crawl", f"{request.path} is not a crawl of the web: only those can be refreshed")
    scheduler = request.revisit_plan.scheduler(options, files.versions(), space, threshold, request.clock())
    if request.is_watch and options.explore:
        scheduler.pace = Pace(options.explore * options.per_hour)
    return scheduler


async def learn_terms(request: CrawlRequest, space: Space) -> tuple[dict[str, Any], list[Event]]:
    """Return the terms of a file or of example pages, and the events to record for later runs."""
    options, news = request.options, list[Event]()
    if not options.terms and not options.examples:
        return {}, []
    if request.topic_terms:
        topic_terms = request.topic_terms
    elif options.terms:
        topic_terms = read_terms(Path(options.terms))
    else:
        pages = []
        for name in options.examples:
            page, visits = await _example(request, space, name)
            pages.append(page)
            news += visits
        topic_terms = learn_examples(judge_name(options), pages)
    return topic_terms, [*news, Setting("learned", topic_terms, request.clock())]


async def _example(request: CrawlRequest, space: Space, name: str) -> tuple[Page, list[Event]]:
    """Return an example page from a file or the web, and the visits made to fetch it."""
    if not is_http(name):
        return read_example_page(name, whole_text=request.options.whole_text), []
    node = check_seed(name)
    if node is None:
        raise InputError("bad-url", f"cannot use the example {name}: it is not a web address")
    clock, patience = request.clock, request.options.patience
    _, page, visits = await fetch_page(space, node, "example", f"the example {name}", clock=clock, patience=patience)
    return page, list(visits)
