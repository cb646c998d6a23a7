"""What a crawl may spend, and what its requests were spent on.

Pages are what a user asks for. But a page of dead links, redirects or archives costs requests without giving any, so
these have a budget of their own, in proportion to the pages unless the user says otherwise.

Paper items:
    otie-end: `--budget`. Test: core/test_engine.py::test_page_budget_is_exact.
    batsakis-expansion: `--budget`, `--max-bytes`, `--max-time`. Test:
        core/test_engine.py::test_byte_budget_ends_the_run.
    gouriten-budget: `--budget`. Test: core/test_engine.py::test_page_budget_counts_pages_only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lycosa.core.types import UNSENT, Visit

PER_PAGE = 10
SPARE = 100
"""Requests for each page of a budget, and for all of them together: what is allowed unless the user says otherwise.

Ordinary crawls need 1.0 to 1.3 a page. Where every page lies on a host of its own that redirects to https it is 5, in
recordings whose links lead outside 2 to 6: docs/architecture.md has the figures."""

STOPPED = "stopped"
PAGES_SPENT = "page budget spent"
BYTES_SPENT = "byte budget spent"
TIME_SPENT = "time budget spent"
HOSTS_SPENT = "host budgets spent"
LEFT_ALONE = "the remaining hosts asked to be left alone for now"
EXHAUSTED = "nothing left to fetch"
REFRESHED = "nothing more is due"
REQUESTS_SPENT = "request budget spent"
"""Why a run ended."""

PAGES, LOOKS, RESOURCES = "pages", "looks again", "resources of rendered pages"
_BY_KIND = {
    "robots": "robots.txt",
    "sitemap": "sitemaps and feeds",
    "probe": "probes",
    "example": "examples",
    "image": "pictures",
    "search": "searches",
    "policy": "opt-outs",
    "requisite": "requisites",
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


def requests_for(pages: int, requisites: int = 0) -> int:
    """How many requests a crawl of so many pages may send, unless the user says otherwise; `requisites`: each of them
    may need so many more to be shown.

    >>> requests_for(10), requests_for(1000), requests_for(10, requisites=100)
    (200, 10100, 1200)
    """
    return (PER_PAGE + requisites) * pages + SPARE


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
