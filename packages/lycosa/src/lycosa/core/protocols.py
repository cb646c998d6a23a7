"""What the engine asks of its parts. Each is a few methods; most have sensible defaults in the base classes.

Space      where nodes are visited        (web, recorded crawl, graph, ...)
Reader     turns a page into terms, once  (text/)
Topic      says what is relevant          (beta of a page, alpha of a link)
Learner    a topic that gets better       (lessons, labels)
Estimator  says what a node is worth      (learn, score)
Strategy   says what to fetch next        (greedy over an estimator, a bandit over several)
TrapFilter     says what to hold back         (traps/)
Keeper     says what to visit again       (revisit/)
Archive    keeps the bytes                (WARC)
Log        keeps the events               (SQLite, memory)
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lycosa.core.budget import Meter
from lycosa.core.files import CrashMarker
from lycosa.core.state import State
from lycosa.core.types import (
    ArchivePlace,
    Event,
    Exchange,
    Held,
    Judgement,
    Label,
    ModelUpdate,
    Outcome,
    Page,
    Pick,
    Priorities,
    Rows,
    Seed,
    Step,
    Task,
    Terms,
    Visit,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from lycosa.core.frontier import Frontier, Ready
    from lycosa.core.options import Options
    from lycosa.core.table import Table

Clock: TypeAlias = "Callable[[], float]"  # seconds since the epoch; never goes backwards within a run

NEVER = math.inf

_NO_ROWS, _NO_LEVELS = np.zeros(0, np.intp), np.zeros(0, np.uint8)


class Space:
    """Anything that can be visited. Subclasses need `visit` only; the rest is for spaces that can be hurt.

    A *lane* is what must not be hurried: on the web, the host. `ready` is asked before each pick.
    """

    meter: Meter | None = None
    """Counts the bytes as they come, where there is one: a budget of bytes then holds also for what is in flight."""
    mark: CrashMarker | None = None
    """Which page is being read, for the next run to know if this one dies of it."""
    strategy: str = ""
    """The strategy that suits it, for crawls of which nobody names one; empty: scent."""
    has_addresses: bool = False
    """Whether nodes are addresses, of which sitemaps, feeds and lists name many: files of seeds may be such."""
    has_traps: bool = False
    """Whether pages may be made up without end, copied or stuffed: someone has to hold them back."""
    has_versions: bool = False
    """Whether what was visited can be looked at again, to see what has become of it."""
    at_once: int = 0
    """Nodes of one lane whose visits may begin at the same moment; 0: as many as one likes."""
    driven: str = ""
    """Who drives it, where that is another program than Lycosa: seeds and visits come from there."""

    def scope(self, options: Options) -> Callable[[str, int], bool]:
        """Which nodes, at which depth, belong to a crawl with these options: all, unless a space knows of limits."""
        return lambda node, depth: True

    def visit(self, task: Task) -> Awaitable[Page]:
        """Look at a node: a page and its links. Failures are outcomes, not exceptions."""
        raise TypeError(f"{type(self).__name__} has no visit(task): a space needs that one method")

    def node(self, text: str) -> str | None:
        """The node that a person means who types this as a seed; None if it can't be one."""
        return text

    def host_key(self, node: str) -> str:
        """The lane of a node."""
        return ""

    def ready(self, host_key: str) -> tuple[float, str]:
        """When the lane may be used next and what it waits for; NEVER while it is fully busy."""
        return 0.0, ""

    def hold(self, now: float) -> float:
        """Until when nothing more is to be picked, as what is under way may change what is best; 0: go on."""
        return 0.0

    def prerequisite(self, node: str) -> Task | tuple[Outcome, str] | None:
        """What has to be fetched before the node, or why it may not be fetched at all, or None: go."""
        return None

    def start(self, seed: Seed) -> None:
        """See a recorded seed that has data, live or replayed, before it joins the frontier."""

    def learn(self, visit: Visit) -> None:
        """See a recorded visit, live or replayed: robots rules, hosts' delays."""

    def trap_filter(self, trap_filter: TrapFilter) -> TrapFilter:
        """Who holds rows back: the one given, unless the space has a word on it."""
        return trap_filter

    def state(self) -> State:
        """What was learned; a space that learns has its own (core/state.py)."""
        return {}

    def restore(self, state: State) -> None:
        """Go on from there."""

    def expect(self, host_keys: Iterable[str]) -> None:
        """A hint: these lanes come next (resolve their names ahead)."""

    def resumed(self) -> None:
        """This is not the first run: what the last one had in flight when it ended is not known."""

    async def close(self) -> None:
        """Let go of connections."""


class TokenizedPage(Protocol):
    """A page's text, tokenised once for everyone who needs it."""

    terms: Terms
    simhash: int


class TermReader(Protocol):
    """Turns a page into terms; its vocabulary grows with the log."""

    def read(self, page: Page) -> TokenizedPage: ...

    def learn(self, visit: Visit) -> None: ...


class Judge(Protocol):
    """Anything that can judge."""

    threshold: float
    """A page with beta at or above it counts as relevant."""

    def judge(self, page: Page, reading: Any) -> Judgement: ...

    def learn(self, visit: Visit) -> None: ...


@runtime_checkable
class Learner(Judge, Protocol):
    """A topic that gets better as it goes: from the pages so far, and from people's yes and no.

    Its `learn` is shown all visits, revisits among them. What it makes of them takes effect with a lesson only, which
    the log keeps: a judge that has folded the same events judges the same, live or replayed. One with an attribute
    `waits` that is true has met nothing to learn from, and is not forced to when a run ends or somebody says no.
    """

    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        """What there is to learn by now, asked after every live visit; None: nothing yet. With `force`: all there is.

        This must be cheap, so positions are geometric. Nothing changes before `adopt`.
        """

    def adopt(self, update: ModelUpdate) -> None:
        """From now on judge by this, live and replayed."""

    def start(self, seed: Seed) -> None:
        """A node that the user starts from, live and replayed."""

    def add_label(self, label: Label) -> None:
        """A person's word on a page, live and replayed; None takes back what was said."""

    def relevances_now(self) -> NDArray[np.floating[Any]]:
        """What each version of a page (`visit.is_version`) is worth now, in the order of the log."""


@runtime_checkable
class Estimator(Protocol):
    """What to fetch next, as two functions over the shared table.

    One whose scores are in proportion to what they promise (none below 0, twice the score twice as good) says so with
    an attribute `proportional = True`: the crawl may then wait for a better host rather than fetch what promises
    little. One that wants more than alphas to be judged names it in `wants = ("context", "url")` and reads it with
    `step.facet(name)`. One whose scores change all over the frontier at once says `sweeping = True`, and returns
    `table.rows()` when they do: they are then kept in one column that is looked through at each pick, and not in heaps.
    If they are weights times features (pool.Linear), the rows whose features changed are enough. One that wants to be
    ranked only after every few pages says how many, `batch = 8`. A row scored `frontier.PRUNED` is not fetched. One
    that does not take the best row but draws has `choose(rows, number, table)` as well: see strategies.Drawn.
    """

    def learn(self, step: Step, table: Table) -> Rows:
        """See a visit; return the rows whose score may have changed."""

    def priority(self, rows: Rows, table: Table) -> Priorities | NDArray[np.float32]:
        """Score rows; no side effects."""


class Strategy(Protocol):
    """Which row to take, given what one estimator or several think of them. See core/strategies.py."""

    proportional: bool
    """Whether twice the score promises twice as much."""
    wants: tuple[str, ...]
    """The facets of a link that it wants the topic to judge."""

    def frontier(self, table: Table, ready: Ready, host_budget: int, patience: float, choosy: float) -> Frontier:
        """The frontier that it picks from."""

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        """See a visit, and rank the rows that it changes."""

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        """A seed joins the frontier."""

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        """The row for this pick number (row -1: none is ready). Changes nothing that is learned."""


@runtime_checkable
class RelevanceListener(Protocol):
    """A strategy that hears what the judge has learned, live and replayed: after each lesson.

    It passes it on to estimators that have `reconsider(rows, relevances_now, table)`, which returns the rows whose score may
    have changed.
    """

    def reconsider(
        self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table, frontier: Frontier
    ) -> None:
        """What the pages so far are worth now, by their rows in the order of the log; of a row's versions the last
        one counts."""


class TrapFilter:
    """What looks like a trap, and is to be held back. This one sees none."""

    def recognise(self, visit: Visit, reading: Any) -> None:
        """Before a visit is recorded: mark it as a copy, or as no page at all."""

    def learn(self, visit: Visit, step: Step | None, table: Table) -> tuple[Rows, NDArray[np.uint8]]:
        """See a visit; return the rows whose level (free, held, shut) may have changed, and the levels."""
        return _NO_ROWS, _NO_LEVELS

    def meet(self, table: Table) -> tuple[Rows, NDArray[np.uint8]]:
        """See rows that are new although nothing was visited here: another shard has sent links. Returns as `learn`."""
        return _NO_ROWS, _NO_LEVELS

    def state(self) -> State:
        """What was learned (core/state.py)."""
        return {}

    def restore(self, state: State) -> None:
        """Go on from there."""

    def held_back(self, table: Table) -> list[Held]:
        """What is held back now, the largest groups first."""
        return []

    def levels(self, rows: Rows) -> NDArray[np.uint8]:
        """What is to be done with the rows."""
        return np.zeros(len(rows), np.uint8)

    def tags(self, rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Of each row the number of what it belongs to, -1 for nothing, and its level apart from that (cold.py)."""
        return np.full(len(rows), -1, np.int32), np.zeros(len(rows), np.uint8)

    def tag_levels(self) -> NDArray[np.uint8]:
        """The levels of what rows belong to."""
        return _NO_LEVELS

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        """Rows are put aside: what is known of them and can't be told from their names."""
        return {}

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        """Rows are back."""


class VisitScheduler:
    """What is to be visited beside the frontier: what is known, again, or what a page needs to be shown; when, and what
    has become of it. With this one, nothing is ever due."""

    refreshes = False
    """Whether it looks again at what is known."""
    completes = False
    """Whether what is due is no page: it is fetched also when the page budget is spent."""

    @property
    def explores(self) -> bool:
        """Whether nodes that were never visited may be fetched, too."""
        return True

    def wants_turn(self) -> bool:
        """Whether the next request is for what is known, by the share of the budget that goes to keeping it fresh."""
        return False

    def pick(self, number: int, now: float) -> Task | None:
        """The visit that is due most, of those whose lane is ready; None if nothing is. It counts as in flight."""
        return None

    def give_back(self, task: Task, until: float = 0.0) -> None:
        """The visit is not in flight any more: recorded, forgotten, or put off until then."""

    def next_due(self, now: float) -> float:
        """When something is due that is not in flight; NEVER if nothing will be in this run."""
        return NEVER

    def is_same(self, visit: Visit, page: Page) -> bool:
        """Whether a revisit brought what is there already, before anyone reads or judges it."""
        return False

    def compare(self, visit: Visit, page: Page) -> None:
        """Before a visit is recorded: say in its data what has become of the page."""

    def learn(self, visit: Visit, table: Table) -> None:
        """See a recorded visit, live or replayed."""

    def reconsider(self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table) -> None:
        """After a lesson: the rows of all versions of pages so far, and what they are worth now."""


class PageArchive(Protocol):
    """Keeps the bytes of what was fetched."""

    def append(self, visit: Visit, exchange: Exchange) -> ArchivePlace: ...

    def close(self) -> None: ...


class Log(Protocol):
    """Keeps the events, in order."""

    def append(self, event: Event) -> int | None:
        """Keep it; its number, where events have one."""

    def store_relevances(self, relevances_now: NDArray[np.floating[Any]]) -> None: ...

    def batch(self) -> AbstractContextManager[None]: ...

    def __iter__(self) -> Iterator[Event]: ...

    def close(self) -> None: ...
