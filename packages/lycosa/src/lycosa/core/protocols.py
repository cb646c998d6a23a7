"""Interfaces of the engine's parts; most base classes have sensible defaults."""

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
    """Base class of everything that can be crawled. Only `visit` is required; the rest is for spaces with politeness
    rules.

    A host key groups the nodes that share delays: on the web, their host. The engine calls `ready` before each pick.
    """

    meter: Meter | None = None
    """Counts bytes as they arrive, so that a byte budget also stops requests in flight."""
    mark: CrashMarker | None = None
    """Crash marker that names the page being read."""
    strategy: str = ""
    """Default strategy of the space; empty: scent."""
    has_addresses: bool = False
    """True if nodes are URLs, so that seed files may be sitemaps, feeds or lists."""
    has_traps: bool = False
    """True if a site may generate, copy or keyword-stuff pages endlessly, so that a trap filter is needed."""
    has_versions: bool = False
    """True if nodes can be revisited to detect changes."""
    at_once: int = 0
    """Maximum concurrent visits per host key; 0: no limit."""
    driven: str = ""
    """Program that drives the crawl instead of Lycosa and supplies seeds and visits; empty: none."""

    def scope(self, options: Options) -> Callable[[str, int], bool]:
        """Return a function that decides by node and depth whether a node belongs to a crawl with these options."""
        return lambda node, depth: True

    def visit(self, task: Task) -> Awaitable[Page]:
        """Return the page at a node and its links. Failures are outcomes, not exceptions."""
        raise TypeError(f"{type(self).__name__} has no method visit(task), which is required")

    def node(self, text: str) -> str | None:
        """Return the node that a user means by a seed; None if invalid."""
        return text

    def host_key(self, node: str) -> str:
        """Return the host key of a node."""
        return ""

    def ready(self, host_key: str) -> tuple[float, str]:
        """Return when a host may be used next, and the reason for the wait; NEVER while all its slots are in use."""
        return 0.0, ""

    def hold(self, now: float) -> float:
        """Return until when nothing may be picked because visits in flight may change the best node; 0: don't wait."""
        return 0.0

    def prerequisite(self, node: str) -> Task | tuple[Outcome, str] | None:
        """Return the task to do before a node, an outcome and reason if it must not be fetched, or None."""
        return None

    def start(self, seed: Seed) -> None:
        """Learn from a recorded seed with data, live or replayed, before it joins the frontier."""

    def learn(self, visit: Visit) -> None:
        """Learn from a recorded visit, live or replayed, for example robots rules and the delays of hosts."""

    def trap_filter(self, trap_filter: TrapFilter) -> TrapFilter:
        """Return the trap filter to use; spaces may wrap or replace the given one."""
        return trap_filter

    def state(self) -> State:
        """Return the learned state; required for spaces that learn (core/state.py)."""
        return {}

    def restore(self, state: State) -> None:
        """Restore a state returned by `state`."""

    def expect(self, host_keys: Iterable[str]) -> None:
        """Prepare for hosts that will be picked soon, for example by resolving their names."""

    def resumed(self) -> None:
        """Called when the crawl continues an earlier run, whose requests in flight are unknown."""

    async def close(self) -> None:
        """Close connections."""


class TokenizedPage(Protocol):
    """Interface to the text of a page, tokenised once for all users."""

    terms: Terms
    simhash: int


class TermReader(Protocol):
    """Interface that converts pages to terms; its vocabulary grows with the log."""

    def read(self, page: Page) -> TokenizedPage: ...

    def learn(self, visit: Visit) -> None: ...


class Judge(Protocol):
    """Interface that judges how relevant pages and links are."""

    threshold: float
    """Pages with at least this relevance are relevant."""

    def judge(self, page: Page, reading: Any) -> Judgement: ...

    def learn(self, visit: Visit) -> None: ...


@runtime_checkable
class Learner(Judge, Protocol):
    """A judge that improves with the pages so far and with people's labels.

    `learn` is called for all visits, including revisits. What was learned takes effect only with an update, which is
    stored in the log: judges that folded the same events judge the same, live or replayed. A judge without any example
    to learn from has a true attribute `is_waiting`; then no update is forced at the end of a run or after a negative
    label.
    """

    def next_update(self, now: float, force: bool = False) -> ModelUpdate | None:
        """Return an update with everything learned since the last one, or None; with `force` even a small one.

        Called after every live visit, so it must be cheap: make updates at geometric intervals. Judgements must not
        change before `adopt`.
        """

    def adopt(self, update: ModelUpdate) -> None:
        """Use this update for all further judgements, live or replayed."""

    def start(self, seed: Seed) -> None:
        """Learn from a seed, live or replayed."""

    def add_label(self, label: Label) -> None:
        """Learn from a person's label, live or replayed; None withdraws it."""

    def relevances_now(self) -> NDArray[np.floating[Any]]:
        """Return the current relevance of each page version (`visit.is_version`) in log order."""


@runtime_checkable
class Estimator(Protocol):
    """Interface that predicts the priorities of links from the shared table.

    Optional attributes:
    - `proportional = True`: priorities are never negative, and twice the priority means twice the gain. The crawl may
      then wait for a better host instead of fetching a much worse page.
    - `wants = ("context", "url")`: more relevances for each link, read with `step.facet(name)`.
    - `sweeping = True`: many priorities change at each step. They are kept in a column that is scanned at each pick,
      not in heaps; `learn` returns `table.rows()` when all change, a linear estimator the rows with changed features.
    - `batch = 8`: rank only after every 8 pages.
    - `choose(rows, number, table)`: choose a row itself instead of taking the best (composite.Drawn).
    - `state()` and `restore(state)`: without them no snapshot of the crawl is written (core/state.py).
    - `leave(rows, table)` and `join(rows, known, table)`: without them all rows stay in memory (core/spilled_rows.py).
    - `explain(row, table)`: the terms of a priority, stored with each pick for `lycosa why`, so it must be cheap.

    A row with the priority `frontier.PRUNED` is not fetched.
    """

    def learn(self, step: Step, table: Table) -> Rows:
        """Learn from a visit; return the rows whose priority may have changed."""

    def priority(self, rows: Rows, table: Table) -> Priorities | NDArray[np.float32]:
        """Return the priorities of rows, without side effects."""


class Strategy(Protocol):
    """Interface that picks rows by the priorities of one or several estimators (core/composite.py)."""

    proportional: bool
    """True if twice the priority means twice the expected gain."""
    wants: tuple[str, ...]
    """Link facets that the judge should provide."""

    def frontier(self, table: Table, ready: Ready, host_budget: int, patience: float, choosy: float) -> Frontier:
        """Return the frontier to pick from."""

    def learn(self, step: Step, table: Table, frontier: Frontier) -> None:
        """Learn from a visit and rank the rows that it changes."""

    def admit(self, row: int, table: Table, frontier: Frontier) -> None:
        """Add a seed to the frontier."""

    def pick(self, number: int, frontier: Frontier, now: float) -> Pick:
        """Return the row for a pick number, -1 if none is ready; must not change learned state."""


@runtime_checkable
class RelevanceListener(Protocol):
    """A strategy that is notified of each model update, live and replayed.

    It passes them on to estimators with `reconsider(rows, relevances_now, table)`, which returns the rows whose
    priority may have changed.
    """

    def reconsider(
        self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table, frontier: Frontier
    ) -> None:
        """Receive the current relevance of all page versions, by row in log order; a row's last version counts."""


class TrapFilter:
    """Base class of trap filters; this one holds nothing back."""

    def recognise(self, visit: Visit, reading: Any) -> None:
        """Mark a visit as a copy or an empty page before it is recorded."""

    def learn(self, visit: Visit, step: Step | None, table: Table) -> tuple[Rows, NDArray[np.uint8]]:
        """Learn from a visit; return the rows whose level (free, held, shut) may have changed, and the levels."""
        return _NO_ROWS, _NO_LEVELS

    def meet(self, table: Table) -> tuple[Rows, NDArray[np.uint8]]:
        """Classify rows added by links from another shard; the result is that of `learn`."""
        return _NO_ROWS, _NO_LEVELS

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        pass

    def held_back(self, table: Table) -> list[Held]:
        """Return the groups held back now, largest first."""
        return []

    def levels(self, rows: Rows) -> NDArray[np.uint8]:
        """Return the levels of rows."""
        return np.zeros(len(rows), np.uint8)

    def tags(self, rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the group of each row (-1: none), and the row's level regardless of its group; for spilled rows."""
        return np.full(len(rows), -1, np.int32), np.zeros(len(rows), np.uint8)

    def tag_levels(self) -> NDArray[np.uint8]:
        """Return the levels of all groups."""
        return _NO_LEVELS

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        """Remove rows that are spilled and return their data, except what can be derived from their names."""
        return {}

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        """Restore rows that were spilled."""


class VisitScheduler:
    """Schedules visits besides the frontier: revisits and page assets. This base class schedules none."""

    refreshes = False
    """True if it revisits known pages."""
    completes = False
    """True if it fetches page assets, which continue when the page budget is spent."""

    @property
    def explores(self) -> bool:
        """True if new nodes may be fetched as well."""
        return True

    def wants_turn(self) -> bool:
        """Return whether the next request is for a known page, to keep the configured share of revisits."""
        return False

    def pick(self, number: int, now: float) -> Task | None:
        """Return the most urgent visit whose host is ready, or None; it then counts as in flight."""
        return None

    def give_back(self, task: Task, until: float = 0.0) -> None:
        """Put back a visit that was recorded or cancelled, or that is postponed until a given time."""

    def next_due(self, now: float) -> float:
        """Return when the next visit that is not in flight is due; NEVER if none will be in this run."""
        return NEVER

    def is_same(self, visit: Visit, page: Page) -> bool:
        """Return whether a revisit found the known content, before it is read or judged."""
        return False

    def compare(self, visit: Visit, page: Page) -> None:
        """Add the change of the page to a visit's data, before the visit is recorded."""

    def learn(self, visit: Visit, table: Table) -> None:
        """Learn from a recorded visit, live or replayed."""

    def reconsider(self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table) -> None:
        """Receive the current relevance of all page versions after a model update, by row in log order."""


class PageArchive(Protocol):
    """Interface that stores the bytes of fetched pages."""

    def append(self, visit: Visit, exchange: Exchange) -> ArchivePlace: ...

    def close(self) -> None: ...


class Log(Protocol):
    """Interface that stores the events in order."""

    def append(self, event: Event) -> int | None:
        """Append an event; return its number, if the log has numbers."""

    def store_relevances(self, relevances_now: NDArray[np.floating[Any]]) -> None: ...

    def batch(self) -> AbstractContextManager[None]: ...

    def __iter__(self) -> Iterator[Event]: ...

    def close(self) -> None: ...
