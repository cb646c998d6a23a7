"""The loop. Everything in Lycosa is these six steps (Gouriten et al. 2014, Algorithm 1):

1. pick     the strategy takes the most promising node of the frontier whose lane is ready
2. visit    the space fetches it: a page and its links
3. judge    the topic says how relevant the page is (beta) and how promising each link looks (alpha)
4. learn    the estimator sees how its prediction turned out
5. rank     the links join the frontier; only the rows that changed are scored again
6. record   the visit is appended to the log

Several visits are in flight at once, but steps 3 to 6 run after every page, in one go and in one thread: no batch. Only
step 6 may wait for the others that have arrived by then, and is done for all of them before the next pick.
Whatever is learned (4, 5) is learned by `fold`, from the Visit alone; resuming is folding the log again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.assessor import Assessor, ModelUpdates
from lycosa.core.budget import EXHAUSTED, HOSTS_SPENT, LEFT_ALONE, STOPPED, Budget, Pace, SpentBudget
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

# -- who hears of the six steps ----------------------------------------------------------------------------

# Who hears of the six steps as they are done, and of how long each took: nobody, unless someone traces a crawl.


class Steps:
    """Hears of the six steps; this one does not listen."""

    def now(self) -> int:
        """The time in nanoseconds, if it is worth looking at."""
        return 0

    def done(self, step: str, node: str, began: int, **facts: str | int | float) -> None:
        """A step for a node is done. Steps 4 and 5 are also told when a log is replayed, without the others."""


NO_TRACER = Steps()


MOST_SOURCES = 100  # sitemaps, feeds and lists that a crawl reads, nested ones among them
RECALL = "recall"  # setting: rows were sorted out as nothing hot was left to fetch


class Engine:
    """One crawl. Feed it the log with `fold`, then iterate over `run()`."""

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
        steps: Steps = NO_TRACER,
        patience: float = 300.0,
        choosy: float = 0.0,
        scope: Callable[[str, int], bool] = lambda node, depth: True,
        judge_name: str = "",
        mark: CrashMarker | None = None,
        memory_rows: int = 0,
        spill_file: Path | None = None,
        readonly: bool = False,
    ) -> None:
        self.space, self.judge, self.strategy = space, judge, strategy
        self.log, self.archive, self.reader, self.clock = log, archive, reader, clock
        self.trap_filter, self.mark, self.steps = trap_filter or TrapFilter(), mark or CrashMarker(), steps
        self.table, self.tally = Table(space.host_key, scope), SpentBudget()
        self.frontier = strategy.frontier(
            self.table, space.ready, host_budget, patience, choosy if strategy.proportional else 0.0
        )
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
        self.model_updates = ModelUpdates(judge, judge_name, self.tally, log, clock, self._reconsider, self._keep)
        cools = spillable_estimator(strategy, self.frontier, self.trap_filter) if memory_rows else None
        # Rows that are not in memory.
        self.spilled = (
            None if cools is None
            else SpilledRows(memory_rows, self.table, self.frontier, cools, self.trap_filter, spill_file, readonly=readonly)
        )  # fmt: skip
        if self.spilled is not None:
            self.spilled.listen(False)
        self.ending = ""  # why the last run ended; empty while it runs
        self.in_flight: dict[asyncio.Future[Page], Task] = {}
        self._arrived: deque[tuple[Task, Page]] = deque()
        # Record pages that have arrived together before the first of them is yielded: for callers that iterate to the
        # end. Otherwise each is recorded when it is yielded, and a caller that stops misses none.
        self.batch_arrivals = False
        self.number = 0  # sequence number of the last visit yielded
        self._learned: list[tuple[Visit, Page]] = []  # what the log lacks yet
        self._kept: list[tuple[Visit, int]] = []  # what it has, and nobody was told of yet
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._hosts_seen = 0
        self._torn = False
        self.lacks: tuple[str, ...] = ()  # parts left empty in an engine that is only read
        self.inbox: dict[int, int] = {}  # of each other shard the number of its last links
        self.owns: Callable[[str], bool] = lambda node: True  # of a shard: which nodes it fetches
        # Called with each recorded visit and its number.
        self.recorded: Callable[[Visit, int], None] = lambda visit, number: None

    # -- the loop ----------------------------------------------------------------------------------------------

    async def run(self) -> AsyncGenerator[Visit, None]:
        """Crawl until the budget is spent, the frontier is empty, or `stop` is called; yields each visit."""
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.ending = ""
        self.picker.begin(self.clock(), full=self._wake.set)
        try:
            while True:
                while self._arrived:  # all that is known goes into the next pick
                    for visit, number in self._finish():  # steps 3 to 6
                        self.number = number
                        yield visit
                self._launch()  # steps 1 and 2
                if self._arrived:  # refusals, which need no waiting; but others want a turn, too
                    await asyncio.sleep(0)
                    continue
                if not self.in_flight or self.picker.is_full:  # what still comes would be too much
                    self.ending = self.picker.why_over(self.clock())
                    if self.ending and not self._recall() and not self._complete():
                        break
                    if self.ending:
                        continue
                await self._wait()
            self.conclude()
        finally:
            self.picker.stopped = False
            await self._abandon()

    def _recall(self) -> bool:
        """Whether there are cold rows although nothing that is hot can be fetched; some are hot then.

        That is not learned from a visit, so the log has to say it.
        """
        spilled = self.spilled
        if spilled is None or self.ending not in (EXHAUSTED, HOSTS_SPENT, LEFT_ALONE) or not spilled.wanting():
            return False
        self._record(Setting(RECALL, spilled.count, self.clock()))
        return spilled.returned > 0

    def _complete(self) -> bool:
        """Whether the pages since the last lesson, by what is to be learned from them, lack something."""
        if not self.scheduler.completes or self.ending == STOPPED:
            return False
        self.model_updates.finish()
        return not self.picker.why_over(self.clock())

    def _launch(self) -> None:
        """Steps 1 and 2, for as many nodes as there is room for."""
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
        """The node stays where it was: something else has to come first."""
        now = self.clock()
        until, why = self.space.ready(self.space.host_key(prerequisite.node))
        if until > now:
            self.picker.postpone(task, now + 1.0 if until == NEVER else until, why)
        else:
            self.picker.give_back(task)
            self._start(prerequisite)

    def _start(self, task: Task) -> None:
        """Step 2, in the background."""
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
            page = self._crashed(TypeError(f"visit() gave a {type(page).__name__}, not a Page"))
        self._arrived.append((task, page))
        self._wake.set()

    def _crashed(self, bug: BaseException) -> Page:
        """A space reports failures as outcomes; this is one that it did not foresee."""
        return self._failed("crashed", f"{type(bug).__name__}: {bug}"[:500])

    def _failed(self, outcome: Outcome, why: str) -> Page:
        now = self.clock()
        return Page(outcome, started=now, ended=now, note=why)

    def _finish(self) -> list[tuple[Visit, int]]:
        """Steps 3 to 6 for one that was picked and has arrived, or for all of them: visits and their numbers in the
        log. Their lanes may be used again."""
        try:
            for _ in range(len(self._arrived) if self.batch_arrivals else 1):
                task, page = self._arrived.popleft()
                self._learn(task, page)
                self.picker.finish(task)
                self.frontier.wake(self.space.host_key(task.node))
                if task.origin:
                    self.frontier.wake(self.space.host_key(task.origin))
        finally:
            self._keep()
        kept, self._kept = self._kept, []
        return kept

    def absorb(self, task: Task, page: Page) -> Visit:
        """Steps 3 to 6 for one page."""
        visit = self._learn(task, page)
        self._keep()
        self._kept.clear()
        return visit

    def _learn(self, task: Task, page: Page) -> Visit:
        """Steps 3 to 5 for one page, which is recorded later. Should we die of it, the next run finds its mark."""
        steps, node = self.steps, task.node
        steps.done("visit", node, int(page.started * 1e9), ended=int(page.ended * 1e9), status=page.status)
        with self.mark.on(node):
            began = steps.now()
            visit = self.assessor.assess(task, page)  # 3. judge
            steps.done("judge", node, began, relevance=visit.relevance)
            self.fold(visit)  # 4. learn, 5. rank
            self._learned.append((visit, page))
            self.model_updates.teach()  # which records what was learned so far, if there is a lesson
        visit.links.read = None
        return visit

    def _keep(self) -> None:
        """Step 6 for all that was learned and is not in the log. It is before anything that was picked because of it.

        One after the other goes through all of step 6, which takes less than if each went through all six steps.
        """
        if not self._learned:
            return
        learned, self._learned = self._learned, []
        steps, began = self.steps, self.steps.now()
        if self.archive is not None:  # 6. record: first the bytes, then the event
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
            self._kept.append((visit, number or 0))
            steps.done("record", visit.node, began, outcome=visit.outcome, kind=visit.kind)
            began = steps.now()

    def add_labels(self, labels: Iterable[Label]) -> None:
        """Record what people say of pages, and learn from it at once: also between two visits of a run."""
        self._torn = True  # until it is recorded: should that fail, more was learned than the log has
        with self.log.batch():
            for label in labels:
                self.log.append(label)
                self.fold(label)
            self.model_updates.catch_up()
        self._torn = False
        self.wake()  # other pages may be the best by now

    def wake(self) -> None:
        """Something has changed that may let the loop go on: look again."""
        self._wake.set()

    def take_in(self, events: Iterable[Event]) -> None:
        """Record what comes from other shards, or is decided among them, and learn from it: also between two visits.

        When this returns it survives the death of the process. What is known already is left out.
        """
        self._torn = True
        with self.log.batch():
            for event in events:
                if (new := self._news(event)) is not None:
                    self.log.append(new)
                    self.fold(new)
        self._torn = False
        self.wake()

    def _news(self, event: Event) -> Event | None:
        """What is not known yet of an event from elsewhere."""
        if not isinstance(event, InboundLinks | LinkBatch):
            return event
        known = self.inbox.get(event.sender, 0)
        if isinstance(event, LinkBatch):
            return event.after(known)
        return event if event.number > known else None

    def _record(self, event: Event) -> None:
        self.log.append(event)
        if isinstance(event, Setting):
            self.fold(event)

    # -- what is learned ---------------------------------------------------------------------------------------

    def replay(self, events: Iterable[Event]) -> None:
        """Bring a new engine to where the log ends, to go on from there."""
        for event in events:
            self.fold(event)
            if isinstance(event, Visit):
                self.picker.recall(event)
        self.space.resumed()

    def state(self) -> State:
        """All that was folded, if every part can tell; what is in flight is no part of it."""
        if self.picker.refreshing:
            raise StateMismatch("what is to be looked at again is found out from the log")
        if self._torn:
            raise StateMismatch("it has learned what the log lacks")
        inbox = [list(last) for last in self.inbox.items()]
        state: State = {"table": self.table.as_state(), "inbox": inbox}
        return state | {name: state_of(part) for name, part in self._parts().items()}

    def restore(self, state: State, without: Collection[str] = ()) -> None:
        """Have a new engine go on from there. What a part has taken is let go of: that of a large crawl is large.

        Without some parts, or parts of parts ("trap_filter copies"), it is only good to be looked at.
        """
        if self.picker.refreshing:
            raise StateMismatch("what is to be looked at again is found out from the log")
        self.lacks = tuple(without)
        self.table.restore(state.pop("table"))  # whose rows the frontier has
        self.inbox = dict(state["inbox"])
        for name, part in self._parts().items():
            told = state.pop(name)
            if name not in without:
                restore(part, {each: value for each, value in told.items() if f"{name} {each}" not in without})
        if unknown := state.keys() - {"inbox"}:
            raise StateMismatch(f"there is no part {min(unknown)}")

    def _parts(self) -> dict[str, object]:
        """Those that learn, beside the table."""
        parts = {
            "spilled_rows": self.spilled, "reader": self.reader, "judge": self.judge, "space": self.space, "tally": self.tally,
            "model_updates": self.model_updates, "trap_filter": self.trap_filter, "strategy": self.strategy, "frontier": self.frontier,
            "scheduler": self.scheduler if self.scheduler.completes else None,
        }  # fmt: skip
        return {name: part for name, part in parts.items() if part is not None}

    def fold(self, event: Event) -> None:
        """Learn from one event: the only way in which anything is learned, live or replayed."""
        if self.spilled is not None:
            self.spilled.listen(True)  # to whoever asks for a node: others must not change what is hot
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

    def _fold_from_others(self, event: InboundLinks | LinkBatch) -> None:
        """What other shards have sent."""
        for page in event.pages if isinstance(event, LinkBatch) else (event,):
            self._fold_links(page)
        if self.spilled is not None:
            self.spilled.settle()

    def _fold_links(self, event: InboundLinks) -> None:
        """Links to our nodes, on a page that another shard has fetched."""
        if event.number <= self.inbox.get(event.sender, 0):  # it came twice
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
        # 4. learn
        began = self.steps.now()
        if self.reader is not None:
            self.reader.learn(visit)
        if self.model_updates.learner is not None or visit.kind != "revisit":  # others have learned from this page
            self.judge.learn(visit)
        self.space.learn(visit)
        step = self.table.absorb(visit)
        self.tally.learn(visit, step, self.judge.threshold)
        self.model_updates.count(visit, self.table.row_of.get(visit.node, -1))
        self.steps.done("learn", visit.node, began)
        # 5. rank
        began = self.steps.now()
        if step is not None and visit.is_page:
            self.frontier.queue(int(self.table.host[step.row])).pages += 1
        self.frontier.hold(*self.trap_filter.learn(visit, step, self.table))
        if step is not None:  # last, as a strategy may want to know whether there is a row left to fetch
            self.strategy.learn(step, self.table, self.frontier)
        if visit.data.get("sources"):
            self._admit_sources(visit)
        self.scheduler.learn(visit, self.table)
        if self.spilled is not None:
            self.spilled.settle()
        self.steps.done("rank", visit.node, began)

    def _reconsider(self, rows: Rows, relevances_now: NDArray[np.floating[Any]]) -> None:
        """The judge has learned something: a strategy that wants to may look at the pages so far in that light."""
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
        """Sources that are named by a source, or by the robots.txt of a seed's host."""
        table = self.table
        origin = table.row_of.get(visit.origin, -1)
        of_seed = origin >= 0 and table.is_seed[origin] and not table.is_source[origin]
        for node in visit.data["sources"] if visit.kind == "sitemap" or of_seed else ():
            if np.count_nonzero(table.is_source) < MOST_SOURCES:
                self._admit(node, source=True, parent=table.row_of[visit.origin or visit.node])

    # -- how a run waits and ends ------------------------------------------------------------------------------

    async def _wait(self) -> None:
        """Sleep until something arrives or a lane becomes ready."""
        self._wake.clear()
        if self._arrived:
            return
        until, timer = self.picker.next_ready(self.clock()), None
        if until < NEVER:
            # The clock may have been set, the machine asleep.
            delay = min(max(0.0, until - self.clock()) + 1e-4, 3600.0)
            timer = asyncio.get_running_loop().call_later(delay, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            if timer is not None:
                timer.cancel()

    def stop(self) -> None:
        """Pick nothing more; what is in flight may still arrive. Any thread may call this."""
        self.picker.stopped = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake.set)

    def conclude(self) -> None:
        """Learn what there is to learn, and record how the run ended."""
        self.model_updates.finish()
        self._record(Setting("end", self._end(), self.clock()))

    async def _abandon(self) -> None:
        """Forget what is in flight: unrecorded, it's picked again by a resumed crawl."""
        visiting = list(self.in_flight)
        for task in [*self.in_flight.values(), *(task for task, _ in self._arrived)]:
            self.picker.give_back(task)
        self.in_flight.clear()
        self._arrived.clear()
        for visit in visiting:
            visit.cancel()
        await asyncio.gather(*visiting, return_exceptions=True)

    def held_back(self) -> list[Held]:
        """What was held back as a likely trap, the largest groups first."""
        return self.trap_filter.held_back(self.table)

    def _end(self) -> dict[str, Any]:
        """What the log keeps of a run's end."""
        held, tally = self.held_back(), self.tally
        told: dict[str, Any] = {"reason": self.ending, "pages": tally.pages, "requests": tally.requests}
        told |= {"spent": dict(tally.spent), "bytes": self.picker.received}
        if pruned := self.frontier.pruned():
            told["pruned"] = pruned
        told["held"] = sum(group.addresses for group in held)
        told["groups"] = [asdict(group) for group in held[:100]]
        return told
