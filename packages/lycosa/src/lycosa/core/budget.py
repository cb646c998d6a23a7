"""Budgets of a crawl: limits, the purposes of requests, and counters of pages and bytes.

Dead links, redirects and empty archives cost requests without giving pages, so requests have a limit of their own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from lycosa.core.state import State, StateMismatch
from lycosa.core.types import UNSENT, Setting, Step, Visit

# Default request budget. Ordinary crawls need 1.0 to 1.3 requests per page; crawls with one page per host, each
# redirected to https, need 5, and crawls of recordings with links that lead outside 2 to 6.
REQUESTS_PER_PAGE = 10
SPARE_REQUESTS = 100

# Reasons why a run ended
STOPPED = "stopped"
PAGES_SPENT = "page budget spent"
BYTES_SPENT = "byte budget spent"
TIME_SPENT = "time budget spent"
HOSTS_SPENT = "host budgets spent"
LEFT_ALONE = "the remaining hosts asked to be left alone for now"
EXHAUSTED = "nothing left to fetch"
NOTHING_DUE = "nothing more is due"
REQUESTS_SPENT = "request budget spent"
ENOUGH = "enough"  # by a stopping rule, which gives its reason after a colon
PAGES, REVISITS, RESOURCES = "pages", "looks again", "resources of rendered pages"
_BY_KIND = {
    "robots": "robots.txt",
    "sitemap": "sitemaps and feeds",
    "probe": "probes",
    "example": "examples",
    "search": "searches",
    "policy": "opt-outs",
    "asset": "page assets",
    "revisit": REVISITS,
}
_BY_OUTCOME = {
    "ok": PAGES,
    "unchanged": REVISITS,
    "redirect": "redirects",
    "loop": "redirects",
    "gone": "dead links",
    "unknown-host": "dead links",
    "unwanted": "unwanted types",
}


@dataclass(slots=True, frozen=True)
class Budget:
    """Limits of a crawl; 0 means no limit.

    Pages, bytes and requests are counted per crawl, time per run. A refresh or watch counts its own requests only, and
    the crawl does not pay for them when it is continued.
    """

    pages: int = 0
    bytes: int = 0
    seconds: float = 0.0
    requests: int = 0


class Meter:
    """Counter of the bytes that a space receives; calls `full` when the limit is reached."""

    def __init__(self) -> None:
        self.bytes = 0
        self.limit = math.inf
        self.full: Callable[[], None] = lambda: None

    def take(self, size: int) -> None:
        self.bytes += size
        if self.bytes >= self.limit:
            self.full()


def requests_for(pages: int, page_assets: int = 0) -> int:
    """Return the default request budget for a number of pages, each with up to `page_assets` further requests.

    >>> requests_for(10), requests_for(1000), requests_for(10, page_assets=100)
    (200, 10100, 1200)
    """
    return (REQUESTS_PER_PAGE + page_assets) * pages + SPARE_REQUESTS


def purpose(kind: str, outcome: str, again: bool) -> str:
    """Return the purpose of a request, or an empty string if none was sent; `again` marks a retry.

    >>> purpose("page", "gone", False), purpose("page", "timeout", True), purpose("page", "denied", False)
    ('dead links', 'retries', '')
    """
    if outcome in UNSENT:
        return ""
    return _BY_KIND.get(kind) or _BY_OUTCOME.get(outcome) or ("retries" if again else "errors")


def spent_on(visit: Visit) -> str:
    """Return the purpose of a visit's request; empty if none was sent, such as for a cached robots.txt."""
    if visit.kind in ("robots", "sitemap") and visit.outcome == "ok" and not visit.status:
        return ""
    return purpose(visit.kind, visit.outcome, visit.attempt > 1)


def format_spending(spent: Mapping[str, int]) -> str:
    """Format the requests by purpose: pages first, then in descending order.

    >>> format_spending({"robots.txt": 2, "pages": 1, "dead links": 1200})
    '1 page, 1,200 dead links, 2 robots.txt'
    """
    order = sorted(spent, key=lambda label: (label != PAGES, -spent[label], label))
    return ", ".join(_counted(spent[label], label) for label in order if spent[label])


def larger_budget_option(ending: str, budget: int, pages: int, requests: int) -> str:
    """Return the option that lets a crawl continue if a budget or a stopping rule ended it, else an empty string.

    >>> [larger_budget_option(ending, 10, 10, 200) for ending in (PAGES_SPENT, REQUESTS_SPENT, STOPPED)]
    [' --budget 20', ' --max-requests 400', '']
    """
    if ending == PAGES_SPENT:
        return f" --budget {2 * max(budget, pages)}"
    if ending.startswith(ENOUGH):
        return " --until never"
    return f" --max-requests {2 * requests}" if ending == REQUESTS_SPENT else ""


def _counted(number: int, noun: str) -> str:
    noun = "revisits" if noun == REVISITS else noun  # the value of REVISITS is a key of JSON output
    one = noun if noun in ("robots.txt", "sitemaps and feeds") else noun.removesuffix("s")
    if noun == RESOURCES:
        one = "resource of rendered pages"
    return f"{number:,} {noun if number != 1 else {'retries': 'retry'}.get(noun, one)}"


class Pace:
    """Rate limit of a watch: evenly spaced requests over all hosts, with bursts of up to `burst` seconds.

    The state is one number, the time at which all requests so far would be due if evenly spaced, so a restarted watch
    restores it from the visits of the log. At most an hour of debt is carried over from a faster crawl.

    >>> pace = Pace(per_hour=60, burst=120)
    >>> [(pace.next(1000.0), pace.take(1000.0))[0] for _ in range(3)]
    [1000.0, 1000.0, 1060.0]
    """

    def __init__(self, per_hour: float, burst: float = 300.0) -> None:
        self.interval = 3600.0 / per_hour
        self.burst = max(burst, self.interval) if self.interval else math.inf  # interval 0: no limit
        self._even = 0.0  # due time of the next request if all were evenly spaced

    def next(self, now: float) -> float:
        """Return the earliest time for the next request, at least `now`."""
        return max(now, self._even + self.interval - self.burst)

    def reset(self) -> None:
        self._even = 0.0

    def take(self, at: float) -> None:
        self._even = min(max(self._even, at) + self.interval, at + max(3600.0, self.interval))


@dataclass(slots=True)
class CrawlCounters:
    """Counters of a crawl, derived from the visits in its log."""

    picks: int = 0
    requests: int = 0  # all requests sent
    spent: Counter[str] = field(default_factory=Counter)  # requests by purpose
    pages: int = 0
    relevant: int = 0
    bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    sources: int = 0  # sitemaps, feeds and lists read
    sourced: int = 0
    revisits: int = 0
    changes: Counter[str] = field(default_factory=Counter)  # outcomes of revisits: changed, moved, vanished, ...
    complaint: str = ""  # message of the last failure
    settings: dict[str, object] = field(default_factory=dict)
    recorded: int = 0  # picks in the log, without those in flight

    @property
    def harvest(self) -> float:
        """Share of fetched pages that are relevant."""
        return self.relevant / self.pages if self.pages else 0.0

    @property
    def wasted(self) -> int:
        """Requests that gave no page, such as dead links, redirects, unwanted types, failed attempts and robots.txt."""
        return self.requests - self.pages

    def learn(self, visit: Visit, step: Step | None, threshold: float) -> None:
        """Count a visit; `step` is the table's result for it."""
        self.recorded = max(self.recorded, visit.pick)
        self.picks = max(self.picks, self.recorded)
        self.bytes += visit.size
        if visit.kind in ("page", "redirect", "sitemap"):
            self.outcomes[visit.outcome] += 1
        if label := spent_on(visit):
            self.requests += 1
            self.spent[label] += 1
        if rendering := visit.data.get("render"):  # requests of the browser
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
        state = {name: dict(value) if isinstance(value, dict) else value for name, value in state.items()}
        return {**state, "picks": self.recorded}

    def restore(self, state: State) -> None:
        if state.keys() != self.state().keys():
            raise StateMismatch("the stored counters are those of another version")
        for name, value in state.items():
            setattr(self, name, Counter(value) if isinstance(getattr(self, name), Counter) else value)

    def note(self, setting: Setting) -> None:
        """Store a setting; the one at the end of a run also contains the bytes of abandoned requests."""
        self.settings[setting.key] = setting.value
        if setting.key == "end":
            self.bytes = max(self.bytes, int(setting.value.get("bytes", 0)))
