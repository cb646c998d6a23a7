"""The crawl loop in six steps (Gouriten et al. 2014, Algorithm 1):

1. pick     the strategy takes the best node of the frontier whose host is ready
2. visit    the space fetches it: a page and its links
3. judge    the judge returns the relevance of the page (beta) and of each link (alpha)
4. learn    the estimator learns from the result
5. rank     the links join the frontier; only changed rows get a new priority
6. record   the visit is appended to the log

Several visits are in flight at once, but steps 3 to 6 run after every page, in one thread. Only step 6 may be delayed
until all pages that have arrived are judged, and it is done before the next pick. Steps 4 and 5 are done by `fold`,
from the Visit alone, so resuming a crawl means folding its log again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.assessor import Assessor, ModelUpdates
from lycosa.core.budget import EXHAUSTED, HOSTS_SPENT, LEFT_ALONE, STOPPED, Budget, CrawlCounters, Pace
from lycosa.core.files import CrashMarker
from lycosa.core.picker import Picker
from lycosa.core.protocols import (
    NEVER,
    Clock,
    Judge,
    Log,
    PageArchive,
    RelevanceListener,
    Space,
    Strategy,
    TermReader,
    TrapFilter,
    VisitScheduler,
)
from lycosa.core.spilled_rows import SpilledRows, spillable_estimator
from lycosa.core.state import State, StateMismatch, restore, state_of
from lycosa.core.stopping import HarvestMonitor, StoppingRule
from lycosa.core.table import OPEN, Table
from lycosa.core.types import (
    Event,
    Held,
    InboundLinks,
    Label,
    LinkBatch,
    ModelUpdate,
    Outcome,
    Page,
    Rows,
    Seed,
    Setting,
    Task,
    Visit,
)


class StepTracer:
    """Tracing hooks of the six steps; this implementation does nothing."""

    def now(self) -> int:
        """Return the time in nanoseconds; 0 if tracing is off."""
        return 0

    def done(self, step: str, node: str, began: int, **facts: str | int | float) -> None:
        """Record a finished step of a node; replaying a log only calls it for steps 4 and 5."""


NO_TRACER = StepTracer()
MAX_SOURCES = 100  # maximum sitemaps, feeds and lists read in one crawl, nested ones included
RECALL = "recall"  # setting: rows were reloaded from disk because nothing in memory was left to fetch


class Engine:
    """The loop of one crawl: replay the log, then iterate over `run()`."""

    def __init__(
        self,
        space: Space,
        judge: Judge,
        strategy: Strategy,
        log: Log,
        *,
        clock: Clock,
        budget: Budget | None = None,
        archive: PageArchive | None = None,
        reader: TermReader | None = None,
        trap_filter: TrapFilter | None = None,
        scheduler: VisitScheduler | None = None,
        pace: Pace | None = None,
        concurrency: int = 16,
        host_budget: int = 0,
        steps: StepTracer = NO_TRACER,
        patience: float = 300.0,
        choosy: float = 0.0,
        scope: Callable[[str, int], bool] = lambda node, depth: True,
        judge_name: str = "",
        mark: CrashMarker | None = None,
        memory_rows: int = 0,
        spill_file: Path | None = None,
        readonly: bool = False,
        stopping: Sequence[StoppingRule] = (),
    ) -> None:
        self.space, self.judge, self.strategy = space, judge, strategy
        self.log, self.archive, self.reader, self.clock = log, archive, reader, clock
        self.trap_filter, self.mark, self.steps = trap_filter or TrapFilter(), mark or CrashMarker(), steps
        self.table, self.tally = Table(space.host_key, scope), CrawlCounters()
        choosy = choosy if strategy.proportional else 0.0
        self.frontier = strategy.frontier(self.table, space.ready, host_budget, patience, choosy)
        self.picker = Picker(
            strategy, self.frontier, self.table, self.tally,
            budget=budget, scheduler=scheduler, pace=pace, meter=getattr(space, "meter", None),
            concurrency=concurrency, patience=patience, hold=getattr(space, "hold", lambda now: 0.0),
        )  # fmt: skip
        self.scheduler = self.picker.scheduler
        self.assessor = Assessor(
            judge, judge_name, self.table, self.tally,
            reader=reader, trap_filter=self.trap_filter, scheduler=self.scheduler, mark=self.mark,
        )  # fmt: skip
        self.model_updates = ModelUpdates(
            judge, judge_name, self.tally, log, clock, self._reconsider, self._record_learned
        )
        self.harvest = HarvestMonitor(stopping, lambda: judge.threshold, self.model_updates.relevant_now)
        spillable = spillable_estimator(strategy, self.frontier, self.trap_filter) if memory_rows else None
        self.spilled: SpilledRows | None = None
        if spillable is not None:
            parts = (self.table, self.frontier, spillable, self.trap_filter)
            self.spilled = SpilledRows(memory_rows, *parts, spill_file, readonly=readonly)
            self.spilled.listen(False)
        self.ending = ""  # why the last run ended; empty while it runs
        self.in_flight: dict[asyncio.Future[Page], Task] = {}
        self._arrived: deque[tuple[Task, Page]] = deque()
        # Record all pages that have arrived before yielding the first, for callers that iterate to the end. Otherwise
        # each is recorded when it is yielded, so that a caller that stops early has seen every recorded visit.
        self.batch_arrivals = False
        self.number = 0  # sequence number of the last visit yielded
        self._learned: list[tuple[Visit, Page]] = []  # learned from, but not in the log yet
        self._recorded_visits: list[tuple[Visit, int]] = []  # in the log, but not yielded yet
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._hosts_seen = 0
        self._is_inconsistent = False
        self.lacks: tuple[str, ...] = ()  # parts left empty in an engine opened for reading
        self.inbox: dict[int, int] = {}  # for each other shard the number of the last links received from it
        self.owns: Callable[[str], bool] = lambda node: True  # which nodes this shard fetches
        self.recorded: Callable[[Visit, int], None] = lambda visit, number: None  # called with each recorded visit

    async def run(self) -> AsyncGenerator[Visit, None]:
        """Crawl until the budget is spent, the frontier is empty, or `stop` is called; yield each visit."""
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.ending = ""
        self.picker.begin(self.clock(), full=self._wake.set)
        try:
            while True:
                while self._arrived:  # learn everything known before the next pick
                    for visit, number in self._process_arrived():  # steps 3 to 6
                        self.number = number
                        yield visit
                self._start_visits()  # steps 1 and 2
                if self._arrived:  # refused without a request: let other tasks run
                    await asyncio.sleep(0)
                    continue
                if not self.in_flight or self.picker.is_full:  # further responses would exceed the byte budget
                    self.ending = self.picker.why_over(self.clock())
                    if self.ending and not self._recall() and not self._has_more_due():
                        break
                    if self.ending:
                        continue
                await self._wait()
            self.conclude()
        finally:
            self.picker.stopped = False
            await self._cancel_visits()

    def _recall(self) -> bool:
        """Reload spilled rows if nothing in memory can be fetched, and record it; return whether there were any."""
        spilled = self.spilled
        if spilled is None or self.ending not in (EXHAUSTED, HOSTS_SPENT, LEFT_ALONE) or not spilled.wanting():
            return False
        self._record(Setting(RECALL, spilled.count, self.clock()))
        return spilled.returned > 0

    def _has_more_due(self) -> bool:
        if not self.scheduler.completes or self.ending == STOPPED:
            return False
        self.model_updates.finish()
        return not self.picker.why_over(self.clock())

    def _start_visits(self) -> None:
        while (task := self._pick()) is not None:
            prerequisite = self.space.prerequisite(task.node)
            if prerequisite is None:
                self._start(task)  # 2. visit
            elif isinstance(prerequisite, Task):
                self._start_prerequisite(prerequisite, task)
            else:
                self.picker.start(task)
                self._arrived.append((task, self._failed(*prerequisite)))
        if len(self.table.hosts) != self._hosts_seen or self.tally.picks % 16 == 0:
            self._hosts_seen = len(self.table.hosts)
            self.space.expect(self.frontier.head(8))

    def _pick(self) -> Task | None:
        began = self.steps.now()
        task = self.picker.next(self.clock())  # 1. pick
        if task is not None:
            self.steps.done("pick", task.node, began, priority=task.priority)
        return task

    def _start_prerequisite(self, prerequisite: Task, task: Task) -> None:
        now = self.clock()
        until, why = self.space.ready(self.space.host_key(prerequisite.node))
        if until > now:
            self.picker.postpone(task, now + 1.0 if until == NEVER else until, why)
        else:
            self.picker.give_back(task)
            self._start(prerequisite)

    def _start(self, task: Task) -> None:
        self.picker.start(task, sent=self.clock())
        try:
            running = asyncio.ensure_future(self.space.visit(task))
        except Exception as bug:
            self._arrived.append((task, self._crashed(bug)))
            return
        self.in_flight[running] = task
        running.add_done_callback(self._arrive)

    def _arrive(self, visiting: asyncio.Future[Page]) -> None:
        task = self.in_flight.pop(visiting, None)
        if task is None:  # abandoned
            return
        bug = asyncio.CancelledError("cancelled") if visiting.cancelled() else visiting.exception()
        page: Any = self._crashed(bug) if bug is not None else visiting.result()
        if not isinstance(page, Page):
            page = self._crashed(TypeError(f"visit() returned a {type(page).__name__}, not a Page"))
        self._arrived.append((task, page))
        self._wake.set()

    def _crashed(self, bug: BaseException) -> Page:
        return self._failed("crashed", f"{type(bug).__name__}: {bug}"[:500])

    def _failed(self, outcome: Outcome, why: str) -> Page:
        now = self.clock()
        return Page(outcome, started=now, ended=now, note=why)

    def _process_arrived(self) -> list[tuple[Visit, int]]:
        """Do steps 3 to 6 for the next arrived page, or for all of them; return visits and their log numbers."""
        try:
            for _ in range(len(self._arrived) if self.batch_arrivals else 1):
                task, page = self._arrived.popleft()
                self._judge_and_learn(task, page)
                self.picker.finish(task)
                self.frontier.wake(self.space.host_key(task.node))
                if task.origin:
                    self.frontier.wake(self.space.host_key(task.origin))
        finally:
            self._record_learned()
        kept, self._recorded_visits = self._recorded_visits, []
        return kept

    def absorb(self, task: Task, page: Page) -> Visit:
        """Do steps 3 to 6 for one page."""
        visit = self._judge_and_learn(task, page)
        self._record_learned()
        self._recorded_visits.clear()
        return visit

    def _judge_and_learn(self, task: Task, page: Page) -> Visit:
        """Do steps 3 to 5 for one page; the crash marker names the page in case the process dies."""
        steps, node = self.steps, task.node
        steps.done("visit", node, int(page.started * 1e9), ended=int(page.ended * 1e9), status=page.status)
        with self.mark.on(node):
            began = steps.now()
            visit = self.assessor.assess(task, page)  # 3. judge
            steps.done("judge", node, began, relevance=visit.relevance)
            self.fold(visit)  # 4. learn, 5. rank
            self._learned.append((visit, page))
            self.model_updates.update_model()  # records everything learned so far if there is an update
            self.harvest.visited(visit, self.tally.pages, self.tally.relevant)
            self.picker.enough = self.harvest.reason
        visit.links.read = None
        return visit

    def _record_learned(self) -> None:
        """Do step 6 for all visits that are not in the log yet, in one batch, which is faster than one by one."""
        if not self._learned:
            return
        learned, self._learned = self._learned, []
        steps, began = self.steps, self.steps.now()
        if self.archive is not None:  # 6. record: the bytes first, so that a logged visit always has its record
            for visit, page in learned:
                if page.exchange is not None:
                    visit.place = self.archive.append(visit, page.exchange)
        if len(learned) == 1:
            numbers = [self.log.append(learned[0][0])]
        else:
            with self.log.batch():
                numbers = [self.log.append(visit) for visit, _ in learned]
        for (visit, _), number in zip(learned, numbers, strict=True):
            self.recorded(visit, number or 0)
            self._recorded_visits.append((visit, number or 0))
            steps.done("record", visit.node, began, outcome=visit.outcome, kind=visit.kind)
            began = steps.now()

    def add_labels(self, labels: Iterable[Label]) -> None:
        """Record labels and learn from them at once; may be called between two visits of a run."""
        self._is_inconsistent = True  # until recorded: on failure the engine has learned more than the log has
        with self.log.batch():
            for label in labels:
                self.log.append(label)
                self.fold(label)
            self.model_updates.catch_up()
        self._is_inconsistent = False
        self.wake()  # the labels may have changed which page is best

    def wake(self) -> None:
        self._wake.set()

    def add_events_from_shards(self, events: Iterable[Event]) -> None:
        """Record and fold events from other shards, between two visits of a run; duplicates are skipped."""
        self._is_inconsistent = True
        with self.log.batch():
            for event in events:
                if (new := self._unknown_part(event)) is not None:
                    self.log.append(new)
                    self.fold(new)
        self._is_inconsistent = False
        self.wake()

    def _unknown_part(self, event: Event) -> Event | None:
        return event.after(self.inbox.get(event.sender, 0)) if isinstance(event, LinkBatch) else event

    def _record(self, event: Event) -> None:
        self.log.append(event)
        if isinstance(event, Setting):
            self.fold(event)

    def replay(self, events: Iterable[Event]) -> None:
        """Replay the events of a log in a new engine."""
        for event in events:
            self.fold(event)
            if isinstance(event, Visit):
                self.picker.recall(event)
        self.space.resumed()

    def state(self) -> State:
        """Return everything folded so far, without visits in flight; raise StateMismatch if a part can't."""
        if self.picker.refreshing:
            raise StateMismatch("a refresh is restored from the log")
        if self._is_inconsistent:
            raise StateMismatch("the engine has learned unrecorded events")
        inbox = [list(last) for last in self.inbox.items()]
        state: State = {"table": self.table.as_state(), "inbox": inbox}
        return state | {name: state_of(part) for name, part in self._parts().items()}

    def restore(self, state: State, without: Collection[str] = ()) -> None:
        """Continue from a state; each of its parts is released once restored, to save memory.

        If parts are left out, or parts of parts ("trap_filter copies"), the engine can only be read.
        """
        if self.picker.refreshing:
            raise StateMismatch("a refresh is restored from the log")
        self.lacks = tuple(without)
        self.table.restore(state.pop("table"))  # first, as the frontier refers to its rows
        self.inbox = dict(state["inbox"])
        for name, part in self._parts().items():
            summary = state.pop(name)
            if name not in without:
                restore(part, {each: value for each, value in summary.items() if f"{name} {each}" not in without})
        if unknown := state.keys() - {"inbox"}:
            raise StateMismatch(f"the state has an unknown part {min(unknown)!r}")

    def _parts(self) -> dict[str, object]:
        parts = {
            "spilled_rows": self.spilled, "reader": self.reader, "judge": self.judge, "space": self.space,
            "tally": self.tally, "model_updates": self.model_updates, "trap_filter": self.trap_filter,
            "strategy": self.strategy, "frontier": self.frontier,
            "scheduler": self.scheduler if self.scheduler.completes else None,
        }  # fmt: skip
        return {name: part for name, part in parts.items() if part is not None}

    def fold(self, event: Event) -> None:
        """Learn from one event, live or replayed; the engine learns in no other way."""
        if self.spilled is not None:
            self.spilled.listen(True)  # only folding may reload spilled rows, so that a replay reloads the same
        self._fold(event)
        if self.spilled is not None:
            self.spilled.listen(False)

    def _fold(self, event: Event) -> None:
        if isinstance(event, Visit):
            self._fold_visit(event)
        elif isinstance(event, Seed):
            if event.data:
                self.space.start(event)
            self._admit(event.node, source=event.kind == "sitemap")
            self.model_updates.start(event)
        elif isinstance(event, Setting):
            self.tally.note(event)
            if event.key == RECALL and self.spilled is not None:
                self.spilled.sweep()
        elif isinstance(event, ModelUpdate):
            self.model_updates.adopt(event)
        elif isinstance(event, Label):
            self.model_updates.add_label(event)
        else:
            self._fold_from_others(event)

    def _fold_from_others(self, event: LinkBatch) -> None:
        for page in event.pages:
            self._fold_links(page)
        if self.spilled is not None:
            self.spilled.settle()

    def _fold_links(self, event: InboundLinks) -> None:
        if event.number <= self.inbox.get(event.sender, 0):  # a duplicate
            return
        self.inbox[event.sender] = event.number
        visit = event.visit
        step = self.table.absorb_inbound(event)
        self.frontier.hold(*self.trap_filter.meet(self.table))
        if len(step.children):
            self.strategy.learn(step, self.table, self.frontier)
        for node in visit.data.get("sources", ()):
            self._admit(node, source=True, parent=step.row)
        if event.seed and visit.outcome == "redirect" and visit.links.urls:
            self.model_updates.start(Seed(visit.links.urls[0], visit.ended))

    def _fold_visit(self, visit: Visit) -> None:
        began = self.steps.now()
        if self.reader is not None:
            self.reader.learn(visit)
        # other judges have already learned from the first visit of this page
        if self.model_updates.learner is not None or visit.kind != "revisit":
            self.judge.learn(visit)
        self.space.learn(visit)
        step = self.table.absorb(visit)
        self.tally.learn(visit, step, self.judge.threshold)
        self.model_updates.count(visit, self.table.row_of.get(visit.node, -1))
        self.steps.done("learn", visit.node, began)
        began = self.steps.now()
        if step is not None and visit.is_page:
            self.frontier.queue(int(self.table.host[step.row])).pages += 1
        self.frontier.hold(*self.trap_filter.learn(visit, step, self.table))
        if step is not None:  # last, because a strategy may query the frontier
            self.strategy.learn(step, self.table, self.frontier)
        if visit.data.get("sources"):
            self._admit_sources(visit)
        self.scheduler.learn(visit, self.table)
        if self.spilled is not None:
            self.spilled.settle()
        self.steps.done("rank", visit.node, began)

    def _reconsider(self, rows: Rows, relevances_now: NDArray[np.floating[Any]]) -> None:
        if isinstance(self.strategy, RelevanceListener):
            self.strategy.reconsider(rows, relevances_now, self.table, self.frontier)
        self.scheduler.reconsider(rows, relevances_now, self.table)

    def _admit(self, node: str, *, source: bool, parent: int = -1) -> None:
        if not self.owns(node):
            return
        row = self.table.add_seed(node, source, parent)
        if row >= 0 and self.table.state[row] == OPEN:
            self.strategy.admit(row, self.table, self.frontier)

    def _admit_sources(self, visit: Visit) -> None:
        table = self.table
        origin = table.row_of.get(visit.origin, -1)
        of_seed = origin >= 0 and table.is_seed[origin] and not table.is_source[origin]
        for node in visit.data["sources"] if visit.kind == "sitemap" or of_seed else ():
            if np.count_nonzero(table.is_source) < MAX_SOURCES:
                self._admit(node, source=True, parent=table.row_of[visit.origin or visit.node])

    async def _wait(self) -> None:
        """Sleep until a page arrives or a host becomes ready."""
        self._wake.clear()
        if self._arrived:
            return
        until, timer = self.picker.next_ready(self.clock()), None
        if until < NEVER:
            # At most an hour: the clock may be set, or the machine suspended, meanwhile.
            delay = min(max(0.0, until - self.clock()) + 1e-4, 3600.0)
            timer = asyncio.get_running_loop().call_later(delay, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            if timer is not None:
                timer.cancel()

    def stop(self) -> None:
        """Pick nothing more; visits in flight may still arrive. Thread-safe."""
        self.picker.stopped = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake.set)

    def conclude(self) -> None:
        """Learn from the last pages and record why the run ended."""
        self.model_updates.finish()
        self._record(Setting("end", self._run_summary(), self.clock()))

    async def _cancel_visits(self) -> None:
        """Cancel all visits in flight; a resumed crawl picks them again."""
        visiting = list(self.in_flight)
        for task in [*self.in_flight.values(), *(task for task, _ in self._arrived)]:
            self.picker.give_back(task)
        self.in_flight.clear()
        self._arrived.clear()
        for visit in visiting:
            visit.cancel()
        await asyncio.gather(*visiting, return_exceptions=True)

    def held_back(self) -> list[Held]:
        return self.trap_filter.held_back(self.table)

    def _run_summary(self) -> dict[str, Any]:
        held, tally = self.held_back(), self.tally
        summary: dict[str, Any] = {"reason": self.ending, "pages": tally.pages, "requests": tally.requests}
        summary |= {"spent": dict(tally.spent), "bytes": self.picker.received}
        if pruned := self.frontier.pruned():
            summary["pruned"] = pruned
        summary["held"] = sum(group.addresses for group in held)
        summary["groups"] = [asdict(group) for group in held[:100]]
        return summary
