"""What a crawl may spend, what its requests were spent on, and what it has got for them.

Pages are what a user asks for. But a page of dead links, redirects or archives costs requests without giving any, so
these have a budget of their own, in proportion to the pages unless the user says otherwise.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from lycosa.core.state import State, StateMismatch
from lycosa.core.types import UNSENT, Setting, Step, Visit

# Default requests per page, and for all pages together. Ordinary crawls need 1.0 to 1.3 a page; where every page lies
# on a host of its own that redirects to https 5, in recordings whose links lead outside 2 to 6.
PER_PAGE = 10
SPARE = 100

# Why a run ended.
STOPPED = "stopped"
PAGES_SPENT = "page budget spent"
BYTES_SPENT = "byte budget spent"
TIME_SPENT = "time budget spent"
HOSTS_SPENT = "host budgets spent"
LEFT_ALONE = "the remaining hosts asked to be left alone for now"
EXHAUSTED = "nothing left to fetch"
REFRESHED = "nothing more is due"
REQUESTS_SPENT = "request budget spent"
PAGES, LOOKS, RESOURCES = "pages", "looks again", "resources of rendered pages"
_BY_KIND = {
    "robots": "robots.txt",
    "sitemap": "sitemaps and feeds",
    "probe": "probes",
    "example": "examples",
    "search": "searches",
    "policy": "opt-outs",
    "asset": "page assets",
    "revisit": LOOKS,
}
_BY_OUTCOME = {
    "ok": PAGES,
    "unchanged": LOOKS,
    "redirect": "redirects",
    "loop": "redirects",
    "gone": "dead links",
    "unknown-host": "dead links",
    "unwanted": "unwanted types",
}


@dataclass(slots=True, frozen=True)
class Budget:
    """How much a crawl may spend; 0 means no limit.

    Pages, bytes and requests are per crawl, time is per run; of a refresh or a watch requests are per run, too, and a
    crawl that goes on after one does not pay for what was looked at again.
    """

    pages: int = 0
    bytes: int = 0
    seconds: float = 0.0
    requests: int = 0


class Meter:
    """Counts the bytes that a space receives while they come; `full` is called when there are as many as allowed."""

    def __init__(self) -> None:
        self.bytes = 0
        self.limit = math.inf
        self.full: Callable[[], None] = lambda: None

    def take(self, size: int) -> None:
        """So many more."""
        self.bytes += size
        if self.bytes >= self.limit:
            self.full()


def requests_for(pages: int, page_assets: int = 0) -> int:
    """How many requests a crawl of so many pages may send, unless the user says otherwise; `page_assets`: each of them
    may need so many more to be shown.

    >>> requests_for(10), requests_for(1000), requests_for(10, page_assets=100)
    (200, 10100, 1200)
    """
    return (PER_PAGE + page_assets) * pages + SPARE


def purpose(kind: str, outcome: str, again: bool) -> str:
    """What a request was spent on; empty if none was sent. `again`: it had been tried before, and failed.

    >>> purpose("page", "gone", False), purpose("page", "timeout", True), purpose("page", "denied", False)
    ('dead links', 'retries', '')
    """
    if outcome in UNSENT:
        return ""
    return _BY_KIND.get(kind) or _BY_OUTCOME.get(outcome) or ("retries" if again else "errors")


def spent_on(visit: Visit) -> str:
    """What the request of a visit was spent on; empty if none was sent, as for rules known from another crawl."""
    if visit.kind in ("robots", "sitemap") and visit.outcome == "ok" and not visit.status:
        return ""
    return purpose(visit.kind, visit.outcome, visit.attempt > 1)


def spending(spent: Mapping[str, int]) -> str:
    """What requests were spent on, in words: pages first, then the most.

    >>> spending({"robots.txt": 2, "pages": 1, "dead links": 1200})
    '1 page, 1,200 dead links, 2 robots.txt'
    """
    order = sorted(spent, key=lambda what: (what != PAGES, -spent[what], what))
    return ", ".join(_counted(spent[what], what) for what in order if spent[what])


def larger(ending: str, budget: int, pages: int, requests: int) -> str:
    """The option that a crawl needs to go on, if a budget is what ended it.

    >>> larger(PAGES_SPENT, 10, 10, 13), larger(REQUESTS_SPENT, 10, 3, 200), larger(STOPPED, 10, 3, 200)
    (' --budget 20', ' --max-requests 400', '')
    """
    if ending == PAGES_SPENT:
        return f" --budget {2 * max(budget, pages)}"
    return f" --max-requests {2 * requests}" if ending == REQUESTS_SPENT else ""


def _counted(number: int, what: str) -> str:
    what = "revisits" if what == LOOKS else what  # the other name is that of a key, in JSON
    one = what if what in ("robots.txt", "sitemaps and feeds") else what.removesuffix("s")
    if what == RESOURCES:
        one = "resource of rendered pages"
    return f"{number:,} {what if number != 1 else {'retries': 'retry'}.get(what, one)}"


# -- a pace ------------------------------------------------------------------------------------------------

# How many requests an hour, all hosts together: what a watch may spend.


class Pace:
    """So many requests an hour, evenly; what was not used may be caught up with, up to `burst` seconds' worth.

    The time by which all requests so far would be due if they came evenly is all there is to remember: a watch that is
    started again counts those of the log, and an hour is not spent twice. Nor is more than an hour ever owed: the crawl
    before it may have been faster.

    >>> pace = Pace(per_hour=60, burst=120)
    >>> [(pace.next(1000.0), pace.take(1000.0))[0] for _ in range(3)]
    [1000.0, 1000.0, 1060.0]
    """

    def __init__(self, per_hour: float, burst: float = 300.0) -> None:
        self.interval = 3600.0 / per_hour
        self.burst = max(burst, self.interval) if self.interval else math.inf  # without a limit nothing waits
        self._even = 0.0  # when the next request would be due if all came evenly

    def next(self, now: float) -> float:
        """When the next request may be sent: now, or later."""
        return max(now, self._even + self.interval - self.burst)

    def reset(self) -> None:
        """Forget the requests so far."""
        self._even = 0.0

    def take(self, at: float) -> None:
        """A request is sent."""
        self._even = min(max(self._even, at) + self.interval, at + max(3600.0, self.interval))


# -- what there is so far ----------------------------------------------------------------------------------

# What a crawl has got so far, in numbers.


@dataclass(slots=True)
class SpentBudget:
    """What a crawl has got so far; a fold over the log like everything else."""

    picks: int = 0
    requests: int = 0  # all that were sent
    spent: Counter[str] = field(default_factory=Counter)  # by purpose
    pages: int = 0
    relevant: int = 0
    bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    sources: int = 0  # sitemaps, feeds and lists read, and the addresses they named
    sourced: int = 0
    revisits: int = 0
    changes: Counter[str] = field(default_factory=Counter)  # outcomes of revisits: changed, moved, vanished, ...
    complaint: str = ""  # the last failure, in words
    settings: dict[str, object] = field(default_factory=dict)
    recorded: int = 0  # picks that the log has: those in flight are not among them

    @property
    def harvest(self) -> float:
        """Share of the pages fetched that are relevant."""
        return self.relevant / self.pages if self.pages else 0.0

    @property
    def wasted(self) -> int:
        """Requests that gave no page: dead links, hops of redirects, unwanted types, attempts that failed, errands."""
        return self.requests - self.pages

    def learn(self, visit: Visit, step: Step | None, threshold: float) -> None:
        """Count a visit; `step` is what the table made of it."""
        self.recorded = max(self.recorded, visit.pick)
        self.picks = max(self.picks, self.recorded)
        self.bytes += visit.size
        if visit.kind in ("page", "redirect", "sitemap"):
            self.outcomes[visit.outcome] += 1
        if what := spent_on(visit):
            self.requests += 1
            self.spent[what] += 1
        if rendering := visit.data.get("render"):  # what the browser asked for
            self.requests += rendering.get("requests", 0)
            self.spent[RESOURCES] += rendering.get("requests", 0)
            self.bytes += rendering.get("bytes", 0)
        if visit.outcome not in ("ok", "redirect"):
            self.complaint = f"{visit.node}: {visit.outcome} {visit.complaint}"
        if visit.is_page:
            self.pages += 1
            self.relevant += visit.was_relevant(threshold)
        again = visit.follows > 0
        self.revisits += again
        if change := visit.data.get("change"):
            self.changes[change["what"]] += 1
        if visit.kind == "sitemap":
            self.sources += not again
            self.sourced += len(visit.links) if not again else 0 if step is None else len(step.children)

    def state(self) -> State:
        state = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: dict(value) if isinstance(value, dict) else value for name, value in state.items()} | {
            "picks": self.recorded
        }

    def restore(self, state: State) -> None:
        if state.keys() != self.state().keys():
            raise StateMismatch("other things were counted")
        for name, value in state.items():
            setattr(self, name, Counter(value) if isinstance(getattr(self, name), Counter) else value)

    def note(self, setting: Setting) -> None:
        """Remember a setting; one that ends a run also counts what was received and given up."""
        self.settings[setting.key] = setting.value
        if setting.key == "end":
            self.bytes = max(self.bytes, int(setting.value.get("bytes", 0)))
