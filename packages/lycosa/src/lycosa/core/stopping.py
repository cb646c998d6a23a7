"""Rules that end a crawl early, by its harvest: `--until`.

A rule is a class with a method `reason`. Packages add rules in the entry point group `lycosa.stopping`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lycosa.core.budget import ENOUGH
from lycosa.core.errors import InputError
from lycosa.core.spec import Registry, RegistryEntry, check_parts
from lycosa.core.types import Visit

# Over 50 crawls of up to 1,000 pages (benchmarks/stopping.py) a window of 200 saved .17 of the pages and kept .992 of
# the relevant ones; one of 100 saved .34 and kept .946.
WINDOW = 200  # pages
CHECK_EVERY = 10  # pages
MAX_WINDOW = 100_000  # pages


@dataclass(frozen=True, slots=True)
class HarvestSoFar:
    """Relevant pages of a crawl, by the judge's current model; copies count as irrelevant."""

    pages: int
    relevant: int
    is_relevant: NDArray[np.bool_]  # of the last pages, in order; not of pages fetched by earlier runs if unknown

    def recent(self, pages: int) -> int | None:
        """Return the number of relevant pages among the last ones; None if fewer are known."""
        return int(np.count_nonzero(self.is_relevant[-pages:])) if 0 < pages <= len(self.is_relevant) else None


class StoppingRule(Protocol):
    """Interface of a rule that ends a crawl."""

    def reason(self, harvest: HarvestSoFar) -> str:
        """Return why the crawl has enough, or an empty string. Called after every few pages."""


@dataclass
class Exhausted:
    """End when none of the last `pages` pages is relevant, once there is a relevant page."""

    pages: int = WINDOW

    def reason(self, harvest: HarvestSoFar) -> str:
        found_none = harvest.relevant > 0 and harvest.recent(self.pages) == 0
        return f"the topic looks exhausted: none of the last {self.pages:,} pages is relevant" if found_none else ""


@dataclass
class RelevantPages:
    """End when `count` pages are relevant."""

    count: int = 100

    def reason(self, harvest: HarvestSoFar) -> str:
        return f"{harvest.relevant:,} relevant pages found" if harvest.relevant >= self.count else ""


@dataclass
class LowHarvest:
    """End when less than `share` of the last `pages` pages is relevant."""

    share: float = 0.02
    pages: int = WINDOW

    def reason(self, harvest: HarvestSoFar) -> str:
        recent = harvest.recent(self.pages)
        if recent is None or recent >= self.share * self.pages:
            return ""
        return f"{recent:,} of the last {self.pages:,} pages are relevant, less than {self.share:g}"


class Never:
    """Let only the budgets end the crawl; for `lycosa resume`, instead of a rule that has ended it."""

    def reason(self, harvest: HarvestSoFar) -> str:
        return ""


STOPPING_RULES: Registry[RegistryEntry] = Registry(
    "stopping rule",
    "lycosa",
    {
        "exhausted": RegistryEntry("core.stopping", "Exhausted", "none of the last 200 pages is relevant"),
        "relevant": RegistryEntry("core.stopping", "RelevantPages", "so many pages are relevant"),
        "harvest": RegistryEntry("core.stopping", "LowHarvest", "a smaller share of the last 200 pages is relevant"),
        "never": RegistryEntry("core.stopping", "Never", "only budgets end the crawl"),
    },
    group="stopping",
)


def read_rules(texts: Iterable[str]) -> list[StoppingRule]:
    """Return the rules of `--until`: a name, and the value of its first parameter.

    >>> read_rules(["exhausted", "relevant=50"])
    [Exhausted(pages=200), RelevantPages(count=50)]
    """
    rules: list[StoppingRule] = []
    for text in texts:
        name, mark, value = text.strip().partition("=")
        first = next(iter(STOPPING_RULES.parameters(name)), "")
        if mark and not first:
            raise InputError("bad-value", f"--until {name} takes no value")
        rule = STOPPING_RULES.make(name, {first: value} if mark else {})
        check_parts(rule, ["reason"], name)
        if isinstance(rule, Exhausted | LowHarvest) and not 0 < rule.pages <= MAX_WINDOW:
            raise InputError("out-of-range", f"--until {text}: give a number of pages from 1 to {MAX_WINDOW:,}")
        if isinstance(rule, RelevantPages) and rule.count < 1:
            raise InputError("out-of-range", f"--until {text}: give a number of pages from 1 on")
        if isinstance(rule, LowHarvest) and not 0 < rule.share <= 1:
            raise InputError("out-of-range", f"--until {text}: the share must be above 0 and at most 1")
        rules.append(rule)
    return rules


class HarvestMonitor:
    """Applies the rules to a crawl, after every few pages."""

    def __init__(
        self,
        rules: Sequence[StoppingRule],
        threshold: Callable[[], float],
        relevant_now: Callable[[], NDArray[np.bool_] | None],
    ) -> None:
        self.rules = rules
        self.reason = ""  # why the crawl has enough; an empty string before that
        self._threshold = threshold
        self._relevant_now = relevant_now  # all pages by the current model, or None if the judge does not learn
        self._recent: deque[bool] = deque(maxlen=MAX_WINDOW)  # pages of this run, as they were judged
        self._pages = 0

    def visited(self, visit: Visit, pages: int, relevant: int) -> None:
        """Count a visit; `pages` and `relevant` are those of the whole crawl."""
        if not self.rules or not visit.is_page:
            return
        self._recent.append(visit.was_relevant(self._threshold()))
        self._pages += 1
        if self._pages % CHECK_EVERY and not self.reason:
            return
        known = self._relevant_now()
        harvest = HarvestSoFar(pages, relevant, np.array(self._recent, np.bool_))
        if known is not None:
            harvest = HarvestSoFar(pages, int(np.count_nonzero(known)), known)
        reason = next(filter(None, (_reason(rule, harvest) for rule in self.rules)), "")
        self.reason = f"{ENOUGH}: {reason}" if reason else ""


def _reason(rule: StoppingRule, harvest: HarvestSoFar) -> str:
    try:
        return str(rule.reason(harvest) or "")
    except Exception as error:  # may be the user's own code
        failure = f"{type(rule).__name__}.reason(harvest) failed: {type(error).__name__}: {error}"
        raise InputError("bad-plugin", f"{failure}; return why the crawl has enough, or an empty string") from error
