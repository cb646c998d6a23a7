"""The loop. Everything in Lycosa is these six steps (Gouriten et al. 2014, Algorithm 1):

1. pick     the strategy takes the most promising node of the frontier whose lane is ready
2. visit    the space fetches it: a page and its links
3. judge    the topic says how relevant the page is (beta) and how promising each link looks (alpha)
4. learn    the estimator sees how its prediction turned out
5. rank     the links join the frontier; only the rows that changed are scored again
6. record   the visit is appended to the log

Several visits are in flight at once, but steps 3 to 6 run after every page, in one go and in one thread: no batch.
Whatever is learned (4, 5) is learned by `fold`, from the Visit alone; resuming is folding the log again.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.budget import (
    BYTES_SPENT,
    EXHAUSTED,
    HOSTS_SPENT,
    LEFT_ALONE,
    LOOKS,
    PAGES_SPENT,
    REFRESHED,
    REQUESTS_SPENT,
    STOPPED,
    TIME_SPENT,
    Budget,
    Meter,
    spent_on,
)
from lycosa.core.errors import InputError
from lycosa.core.mark import Mark
from lycosa.core.pace import Pace
from lycosa.core.protocols import NEVER, Archive, Clock, Keeper, Learner, Log, Reader, Space, Strategy, Topic, Warden
from lycosa.core.table import MAX_HOPS, OPEN, Table
from lycosa.core.types import Event, Held, Label, Lesson, Links, Page, Seed, Setting, Task, Terms, Visit, as_stored

MOST_GROUPS = 100
"""Of what was held back, told at the end of a run."""

MOST_SOURCES = 100
"""Sitemaps, feeds and lists that a crawl reads; those that others name are among them."""

MOST_SOURCED = 100_000
"""Addresses that it takes from them."""

LONGEST_NAP = 3600.0
"""Seconds that the loop sleeps at most before it looks again: the clock may have been set, the machine asleep."""


@dataclass(slots=True)
class Tally:
    """What a crawl has got so far; a fold over the log like everything else."""

    picks: int = 0
    requests: int = 0
    """All that were sent: for pages, robots.txt, sources, and whatever else."""
    spent: Counter[str] = field(default_factory=Counter)
    """What they were spent on."""
    pages: int = 0
    relevant: int = 0
    bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    sources: int = 0
    """Sitemaps, feeds and lists that were read, and how many addresses they named."""
    sourced: int = 0
    revisits: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    """What has become of pages that were visited again: changed, moved, vanished, ..."""
    complaint: str = ""
    """The last failure, in words."""
    settings: dict[str, object] = field(default_factory=dict)

    @property
    def harvest(self) -> float:
        """Share of the pages fetched that are relevant."""
        return self.relevant / self.pages if self.pages else 0.0

    @property
    def wasted(self) -> int:
        """Requests that gave no page: dead links, hops of redirects, unwanted types, attempts that failed, errands."""
        return self.requests - self.pages


class Engine:
    """One crawl. Feed it the log with `fold`, then iterate over `run()`."""

    def __init__(
        self,
        space: Space,
        topic: Topic,
        strategy: Strategy,
        log: Log,
        *,
        clock: Clock,
        budget: Budget | None = None,
        archive: Archive | None = None,
        reader: Reader | None = None,
        warden: Warden | None = None,
        keeper: Keeper | None = None,
        pace: Pace | None = None,
        concurrency: int = 16,
        host_budget: int = 0,
        patience: float = 300.0,
        choosy: float = 0.0,
        scope: Callable[[str, int], bool] = lambda node, depth: True,
        judge_name: str = "",
        mark: Mark | None = None,
    ) -> None:
        self.space, self.topic, self.strategy = space, topic, strategy
        self.log, self.archive, self.reader, self.warden = log, archive, reader, warden
        self.keeper, self.pace = keeper, pace
        self.clock, self.budget, self.patience = clock, budget or Budget(), patience
        self.concurrency = concurrency
        self.judge_name = judge_name
        self.mark = mark or Mark()
        self.learner = topic if isinstance(topic, Learner) else None
        self.table = Table(space.lane, scope)
        self.frontier = strategy.frontier(
            self.table, space.ready, host_budget, patience, choosy if strategy.proportional else 0.0
        )
        self.tally = Tally()
        self.ending = ""
        """Why the last run ended; empty while it runs."""
        self.in_flight: dict[asyncio.Future[Page], Task] = {}
        self._under_way = 0  # pages launched and not yet absorbed
        self._before = 0  # requests that the budget does not count
        self._meter: Meter | None = getattr(space, "meter", None)
        self._received = 0  # bytes before this run, less what the meter said then
        self._arrived: deque[tuple[Task, Page]] = deque()
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = False
        self._lanes_seen = 0
        self._counts = bytearray()  # for each version of a page whether it counts as relevant if it scores enough
        self._worths: NDArray[np.floating[Any]] = np.zeros(0)  # when they were last counted
        self._taught = 0  # pages that there were at the last lesson
        self._unheard = False  # labels that the count of relevant pages does not know of yet

    # -- what is learned ---------------------------------------------------------------------------------------

    def replay(self, events: Iterable[Event]) -> None:
        """Bring a new engine to where the log ends, to go on from there."""
        for event in events:
            self.fold(event)
            if self.pace is not None and isinstance(event, Visit) and event.address:
                self.pace.take(event.started)
        self.space.resumed()

    def catch_up(self) -> None:
        """At the start of a run: learn from labels that nobody has learned from yet, if the judge does."""
        if self._unheard and self.learner is not None and not self._teach(force=True):
            self._recount()
            self.log.rate(self._worths)

    def fold(self, event: Event) -> None:
        """Learn from one event: the only way in which anything is learned, live or replayed."""
        if isinstance(event, Visit):
            self._fold_visit(event)
        elif isinstance(event, Seed):
            self._admit(event.node, source=event.kind == "sitemap")
            if self.learner is not None:
                self.learner.start(event)
        elif isinstance(event, Setting):
            self.tally.settings[event.key] = event.value
            if event.key == "end":  # with what was received and given up
                self.tally.bytes = max(self.tally.bytes, int(event.value.get("bytes", 0)))
        elif isinstance(event, Lesson):
            if self.learner is not None and event.judge == self.judge_name:  # another topic's is of no use to this one
                self.learner.adopt(event)
                self._taught = self.tally.pages
                self._recount()
        else:
            assert isinstance(event, Label)
            if self.learner is not None:
                self.learner.hear(event)
                self._unheard = True

    def _recount(self) -> None:
        """The pages so far are worth something else."""
        assert self.learner is not None
        worths = self._worths = self.learner.worths()
        self.tally.relevant = int(np.count_nonzero(worths[self._counted()] >= self.topic.threshold))
        self._unheard = False

    def worths(self) -> NDArray[np.floating[Any]]:
        """What the pages are worth by now, each content once; empty where the judge can't tell."""
        if self.learner is None:
            return np.zeros(0)
        return self.learner.worths()[self._counted()]

    def _counted(self) -> NDArray[np.bool_]:
        return np.frombuffer(bytes(self._counts), np.bool_)  # a copy: what is looked at can't grow

    def _admit(self, node: str, *, source: bool, parent: int = -1) -> None:
        row = self.table.add_seed(node, source, parent)
        if row >= 0 and self.table.state[row] == OPEN:
            self.strategy.admit(row, self.table, self.frontier)

    def _fold_visit(self, visit: Visit) -> None:
        tally = self.tally
        tally.picks = max(tally.picks, visit.pick)
        tally.bytes += visit.size
        if self.reader is not None:
            self.reader.learn(visit)
        if self.learner is not None or visit.kind != "revisit":  # a topic that learns has learned from this page
            self.topic.learn(visit)
        self.space.learn(visit)
        if visit.kind in ("page", "redirect", "sitemap"):
            tally.outcomes[visit.outcome] += 1
        if what := spent_on(visit):
            tally.requests += 1
            tally.spent[what] += 1
        if visit.follows:
            tally.revisits += 1
        if change := visit.data.get("change"):
            tally.changes[change["what"]] += 1
        if visit.outcome not in ("ok", "redirect"):
            tally.complaint = f"{visit.node}: {visit.outcome} {visit.complaint}"
        step = self.table.absorb(visit)
        if step is not None and visit.is_page:
            self.frontier.lane(int(self.table.lane[step.row])).pages += 1
        if self.warden is not None:
            self.frontier.hold(*self.warden.learn(visit, step, self.table))
        if step is not None:  # last, as a strategy may want to know whether there is a row left to fetch
            self.strategy.learn(step, self.table, self.frontier)
        if visit.kind == "sitemap":
            tally.sources += not visit.follows
            tally.sourced += len(visit.links) if not visit.follows else 0 if step is None else len(step.children)
        for node in visit.data.get("sources", ()):  # named by a source, or by the robots.txt of a seed's host
            origin = self.table.row_of.get(visit.origin, -1)
            host = origin >= 0 and self.table.is_seed[origin] and not self.table.is_source[origin]
            welcome = visit.kind == "sitemap" or host
            if welcome and np.count_nonzero(self.table.is_source) < MOST_SOURCES:
                self._admit(node, source=True, parent=self.table.row_of[visit.origin or visit.node])
        if visit.is_version:
            self._counts.append(visit.is_page and not visit.same_as)
        if visit.is_page:
            tally.pages += 1
            tally.relevant += visit.is_find(self.topic.threshold)
        if self.keeper is not None:
            self.keeper.learn(visit, self.table)

    # -- the loop ----------------------------------------------------------------------------------------------

    async def run(self) -> AsyncGenerator[Visit, None]:
        """Crawl until the budget is spent, the frontier is empty, or `stop` is called; yields each visit."""
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.ending = ""
        self._begin()
        deadline = self.clock() + self.budget.seconds if self.budget.seconds else math.inf
        try:
            while True:
                while self._arrived:  # all that is known goes into the next pick
                    yield self.absorb(*self._arrived.popleft())
                self._launch(deadline)
                if self._arrived:  # refusals, which need no waiting; but others want a turn, too
                    await asyncio.sleep(0)
                    continue
                if not self.in_flight or self._is_full():  # what still comes would be too much
                    self.ending = self._why_over(deadline)
                    if self.ending:
                        break
                await self._wait(deadline)
            if self.tally.pages > self._taught:
                self._teach(force=True)
            self._record(Setting("end", self._end(), self.clock()))
        finally:
            self._stopping = False
            await self._abandon()

    def _begin(self) -> None:
        """What this run may spend, by what the log knows of those before it."""
        self._before = self.tally.requests if self.keeper is not None else self.tally.spent[LOOKS]
        if self._meter is not None:
            self._received = self.tally.bytes - self._meter.bytes
            self._meter.limit = self.budget.bytes - self._received if self.budget.bytes else math.inf
            self._meter.full = self._wake.set

    def _is_full(self) -> bool:
        """Whether as many bytes have come as may, those of what is in flight among them."""
        return self._meter is not None and self._meter.bytes >= self._meter.limit

    def held_back(self) -> list[Held]:
        """What was held back as a likely trap, the largest groups first."""
        return self.warden.held_back(self.table) if self.warden is not None else []

    def _end(self) -> dict[str, Any]:
        """What the log keeps of a run's end."""
        held = self.held_back()
        tally, received = self.tally, self._received + self._meter.bytes if self._meter is not None else 0
        told: dict[str, Any] = {"reason": self.ending, "pages": tally.pages, "requests": tally.requests}
        told |= {"spent": dict(tally.spent), "bytes": max(tally.bytes, received)}
        if pruned := self.frontier.pruned():
            told["pruned"] = pruned
        return {
            **told,
            "held": sum(group.addresses for group in held),
            "groups": [asdict(g) for g in held[:MOST_GROUPS]],
        }

    def stop(self) -> None:
        """Pick nothing more; what is in flight may still arrive. Any thread may call this."""
        self._stopping = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake.set)

    async def _abandon(self) -> None:
        """Forget what is in flight: unrecorded, it's picked again by a resumed crawl."""
        visiting = list(self.in_flight)
        for task in [*self.in_flight.values(), *(task for task, _ in self._arrived)]:
            self._let_go(task)
        self.in_flight.clear()
        self._arrived.clear()
        self._under_way = 0
        for visit in visiting:
            visit.cancel()
        await asyncio.gather(*visiting, return_exceptions=True)

    def _launch(self, deadline: float) -> None:
        """Steps 1 and 2, for as many nodes as there is room for."""
        while len(self.in_flight) + len(self._arrived) < self.concurrency and not self._spent(deadline):
            now = self.clock()
            if self.pace is not None and self.pace.next(now) > now:
                break
            task = self._pick(now)  # 1. pick
            if task is None:
                break
            errand = self.space.errand(task.node)
            if isinstance(errand, Task):  # the node stays where it was; something else has to come first
                until, why = self.space.ready(self.space.lane(errand.node))
                if until > now:
                    self._put_off(task, now + 1.0 if until == NEVER else until, why)
                    continue
                self._let_go(task)
                self._start(errand)
                continue
            self.tally.picks += 1
            self._under_way += task.row >= 0
            if errand is None:
                self._start(task)
            else:
                outcome, why = errand
                self._arrived.append((task, Page(outcome, started=now, ended=now, note=why)))
        if len(self.table.lanes) != self._lanes_seen or self.tally.picks % 16 == 0:
            self._lanes_seen = len(self.table.lanes)
            self.space.expect(self.frontier.head(8))

    def _pick(self, now: float) -> Task | None:
        """What is visited next: something new, or something that is due. Whose turn it is, comes first."""
        number, keeper = self.tally.picks + 1, self.keeper
        if keeper is None:
            return self._explore(number, now)
        if keeper.wants_turn():
            return self._due(number, now) or (self._explore(number, now) if keeper.explores else None)
        return (self._explore(number, now) if keeper.explores else None) or self._due(number, now)

    def _due(self, number: int, now: float) -> Task | None:
        """What the keeper wants looked at: a node that was visited before, as a rule."""
        assert self.keeper is not None
        while (task := self.keeper.pick(number, now)) is not None and self._is_open(task):
            if task.row not in self.frontier.taken:
                self.frontier.lend(task.row, free=True)
                break
            self.keeper.give_back(task, now + 60.0)  # the strategy was quicker
        return task

    def _is_open(self, task: Task) -> bool:
        """Whether the task is the first visit of a row, which the strategy might pick as well."""
        return task.row >= 0 and self.table.state.item(task.row) == OPEN

    def _explore(self, number: int, now: float) -> Task | None:
        """The frontier's best node that can be had."""
        row, arm, score = self.strategy.pick(number, self.frontier, now)
        if row < 0:
            return None
        table = self.table
        return Task(
            node=table.nodes[row],
            kind="sitemap" if table.is_source[row] else "page",
            row=row,
            pick=number,
            arm=arm,
            score=score,
            attempt=int(table.attempts[row]) + 1,
            hops=int(table.hops[row]),
        )

    def _let_go(self, task: Task) -> None:
        """The task is not in flight any more."""
        if task.due and self.keeper is not None:
            self.keeper.give_back(task)
        if task.row >= 0 and not task.follows:
            self.frontier.untake(task.row)

    def _put_off(self, task: Task, until: float, why: str) -> None:
        """The task has to wait, as its host does."""
        if task.due and self.keeper is not None:
            self.keeper.give_back(task, until)
        if task.row >= 0 and not task.follows:
            self.frontier.postpone(task.row, until, why)

    def _start(self, task: Task) -> None:
        # 2. visit, in the background
        if self.pace is not None:
            self.pace.take(self.clock())
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
        now = self.clock()
        return Page("crashed", started=now, ended=now, note=f"{type(bug).__name__}: {bug}"[:500])

    def absorb(self, task: Task, page: Page) -> Visit:
        """Steps 3 to 6 for one page. Should we die of it, the next run finds its mark."""
        with self.mark.on(task.node):
            return self._absorb(task, page)

    def _absorb(self, task: Task, page: Page) -> Visit:
        if page.outcome == "ok" and self.mark.is_poison(task.node):
            page.outcome, page.note, page.links = "unreadable", "the crawl died twice in it: left alone", Links()
        self._under_way -= task.row >= 0
        if page.kind == "redirect" and (task.hops >= MAX_HOPS or (task.follows and page.links.urls == [task.node])):
            itself = task.hops < MAX_HOPS
            page.kind, page.outcome, page.links = "page", "loop", Links()
            page.note = "a redirect to itself" if itself else f"more than {MAX_HOPS} redirects in a row"
        nested = task.kind == "sitemap" and task.row >= 0 and (self.table.parent[task.row] >= 0 or task.follows > 0)
        if nested and page.kind == "page" and page.outcome == "ok":  # only what the user named may be either
            page.outcome, page.note, page.links = "unwanted", "named as a source of addresses, but is a page", Links()
        visit = self._judged(task, page)  # 3. judge
        self.fold(visit)  # 4. learn, 5. rank
        if self.archive is not None and page.exchange is not None:  # 6. record: first the bytes, then the event
            visit.place = self.archive.append(visit, page.exchange)
        self._record(visit)
        self._teach()
        self._let_go(task)
        self.frontier.wake(self.space.lane(task.node))
        if task.origin:
            self.frontier.wake(self.space.lane(task.origin))
        return visit

    def _judged(self, task: Task, page: Page) -> Visit:
        """Build the Visit as it is stored: from here on nobody looks at the page."""
        visit = Visit(
            node=task.node,
            kind=page.kind if task.kind in ("page", "sitemap") else task.kind,
            outcome=page.outcome,
            pick=task.pick or self.tally.picks,
            arm=task.arm,
            score=task.score,
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
        )
        if task.follows:
            visit.data = {**visit.data, "follows": task.follows}
            if self.keeper is not None and visit.outcome == "ok" and self.keeper.is_same(visit, page):
                visit.outcome, visit.links = "unchanged", Links()
            if visit.status == 304:
                visit.digest = b""
        self._describe(visit, page)
        if self.keeper is not None:
            self.keeper.compare(visit, page)
        return visit

    def _describe(self, visit: Visit, page: Page) -> None:
        """Read and judge what came, as far as there is something to read."""
        if visit.outcome != "ok" or visit.kind not in ("page", "sitemap", "probe", "revisit"):
            return
        if visit.kind == "sitemap" and not visit.follows:
            page.links.keep(MOST_SOURCED - self.tally.sourced)
        page.node = visit.node
        reading = self.reader.read(page) if self.reader is not None else None
        if reading is not None:
            visit.terms, visit.simhash = reading.terms, reading.simhash
        if visit.kind != "probe":
            judgement = self.topic.judge(page, reading)
            visit.beta = float(judgement.beta) if math.isfinite(judgement.beta) else 0.0
            visit.judge = self.judge_name
            alphas = np.asarray(judgement.alphas, np.float32)
            if len(alphas) != len(page.links):
                raise InputError(
                    f"the topic gave {len(alphas)} alphas for {len(page.links)} links of {visit.node}: "
                    "lycosa.checks.check_topic tells what a topic has to do"
                )
            visit.links.alphas = alphas if np.isfinite(alphas).all() else np.nan_to_num(alphas)
            for name, column in judgement.facets.items():
                if len(column) != len(page.links):
                    raise InputError(
                        f"the topic gave {len(column)} numbers of the facet {name!r} for {len(page.links)} links of "
                        f"{visit.node}: lycosa.checks.check_topic tells what a topic has to do"
                    )
                visit.links.facets[name] = np.nan_to_num(np.asarray(column, np.float32))
            if judgement.data:
                visit.data = {**visit.data, **as_stored(judgement.data)}
        if not visit.is_version:  # nor one of the collection: its words are known, but don't count
            visit.beta, visit.terms = 0.0, Terms(new=visit.terms.new)
        if self.warden is not None:
            self.warden.recognise(visit, reading)

    def _teach(self, force: bool = False) -> bool:
        """Ask the judge for what it has learned; it is recorded together with what the pages are worth now."""
        lesson = self.learner.lesson(self.clock(), force) if self.learner is not None else None
        if self.learner is None or lesson is None:
            return False
        lesson.judge = self.judge_name
        self.fold(lesson)
        with self.log.together():
            self.log.append(lesson)
            self.log.rate(self._worths)
        return True

    def _record(self, event: Event) -> None:
        self.log.append(event)
        if isinstance(event, Setting):
            self.fold(event)

    # -- when to wait, when to end -----------------------------------------------------------------------------

    def _spent(self, deadline: float) -> str:
        """Which budget is spent, with what is in flight; empty if something more may be sent."""
        budget, tally = self.budget, self.tally
        if self._stopping:
            return STOPPED
        if (budget.bytes and tally.bytes >= budget.bytes) or self._is_full():
            return BYTES_SPENT
        if budget.pages and tally.pages + self._under_way >= budget.pages:
            return PAGES_SPENT
        sent = tally.requests - self._before + len(self.in_flight) + len(self._arrived)
        if budget.requests and sent >= budget.requests:
            return REQUESTS_SPENT
        return TIME_SPENT if self.clock() >= deadline else ""

    def _why_over(self, deadline: float) -> str:
        """Asked when nothing that counts is in flight: why the crawl is over, or empty if it only has to wait."""
        now = self.clock()
        if spent := self._spent(deadline):
            return spent
        if self.keeper is not None:
            if self.keeper.next_due(now) < NEVER:
                return ""
            if not self.keeper.explores:
                return REFRESHED
        if self.pace is not None and self.pace.next(now) > now:  # lanes may be ready that wait for nothing else
            return ""
        until = self.frontier.next_ready()
        if until == NEVER:
            return HOSTS_SPENT if self.frontier.waiting() else EXHAUSTED
        if until > now + self.patience:
            return LEFT_ALONE
        return ""

    def _next_ready(self, now: float) -> float:
        """When there may be something to launch."""
        if self.pace is not None and (turn := self.pace.next(now)) > now:
            return turn
        until = self.frontier.next_ready() if self.keeper is None or self.keeper.explores else NEVER
        if self.keeper is not None:
            until = min(until, self.keeper.next_due(now))
        return until

    async def _wait(self, deadline: float) -> None:
        """Sleep until something arrives or a lane becomes ready."""
        self._wake.clear()
        if self._arrived:
            return
        until = NEVER
        if len(self.in_flight) < self.concurrency and not self._spent(deadline):
            until = min(self._next_ready(self.clock()), deadline)
        timer = None
        if until < NEVER:
            delay = min(max(0.0, until - self.clock()) + 1e-4, LONGEST_NAP)
            timer = asyncio.get_running_loop().call_later(delay, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            if timer is not None:
                timer.cancel()
