"""What the report tells, as plain values: gathered from the log, drawn by the template."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.estimate import NOTHING
from lycosa.collection.summary import Figures
from lycosa.collection.tally import Cause, HostTally, Remark
from lycosa.collection.view import sampled
from lycosa.core.budget import larger
from lycosa.core.types import Held
from lycosa.drawing.figure import Curve, Figure, Histogram
from lycosa.drawing.formats import score
from lycosa.revisit.ledger import Told


@dataclass(slots=True)
class Card:
    node: str
    title: str
    number: int  # place in the order in which pages were fetched, from 1
    relevance: float
    found: bool
    priority: float  # when it was picked; infinite for seeds
    depth: int  # links between it and the nearest seed, -1 if none leads there
    origin: str = "unknown"  # "seed", "link", "sitemap" or "unknown"; "start" for a sitemap itself
    parent: str = ""
    parent_title: str = ""
    parent_number: int = 0
    anchor: str = ""
    redirected: bool = False  # the link led here through a redirect
    host: str = ""
    same_as: str = ""
    since: str = ""  # "vanished", "moved" or "changed"; empty where nothing has
    since_when: float = 0.0
    # words of its text in pieces; True: words of the topic
    excerpt: list[tuple[str, bool]] = field(default_factory=list)


@dataclass(slots=True)
class PathStep:
    """A page on the way from a seed to the best finds."""

    card: Card
    rank: int = 0  # among the best relevant pages, from 1; 0 for a page that is only passed through
    left_out: int = 0  # pages between this one and the next that are not shown


@dataclass(slots=True)
class PathBranch:
    """A stretch of the way without a fork, and the branches it ends in."""

    stops: list[PathStep]
    branches: list[PathBranch] = field(default_factory=list)

    @property
    def relevant(self) -> int:
        """The best finds that lie on it."""
        return sum(stop.rank > 0 for stop in self.stops) + sum(branch.relevant for branch in self.branches)

    @property
    def stretches(self) -> list[list[PathStep]]:
        """Its stops one by one, but those in the middle of a long way between finds together."""
        stretches: list[list[PathStep]] = []
        passed: list[PathStep] = []
        for stop in [*self.stops, None]:
            if stop is not None and not stop.rank:
                passed.append(stop)
                continue
            if len(passed) > 5:  # pages in a row that are only passed through and still shown one by one
                stretches += [passed[:1], passed[1:-1], passed[-1:]]
            else:
                stretches += [[stop] for stop in passed]
            passed = []
            if stop is not None:
                stretches.append([stop])
        return stretches


@dataclass(slots=True)
class Upcoming:
    """A link that waits, near the top."""

    node: str
    priority: float
    # name, value, and share of the largest part that is shown: the length of its bar
    terms: list[tuple[str, float, float]] = field(default_factory=list)
    rest: int = 0  # smaller terms that are not shown
    parent: str = ""
    parent_title: str = ""
    anchor: str = ""
    held: bool = False


@dataclass(slots=True)
class Outlook:
    waiting: int
    arm: str = ""  # of a bandit: the arm whose order it is
    links: list[Upcoming] = field(default_factory=list)

    @property
    def explained(self) -> bool:
        return any(link.terms for link in self.links)


@dataclass(slots=True)
class Freshness:
    looks: int
    last: float
    sorts: list[tuple[str, int]] = field(default_factory=list)  # kinds of changes, and how often each was met
    returned: int = 0
    new: int = 0  # pages that were fetched for the first time meanwhile
    chart: Histogram | None = None
    latest: list[Told] = field(default_factory=list)
    # address, title, what became of it, since when, and where it is now
    gone: list[tuple[str, str, str, float, str]] = field(default_factory=list)
    gone_count: int = 0
    # address, title, changes, looks, and the last change
    restless: list[tuple[str, str, int, int, float]] = field(default_factory=list)

    @property
    def changed(self) -> int:
        """Changes that a reader would want to know of."""
        return sum(count for sort, count in self.sorts if sort not in ("vanished", "moved", "cosmetic"))

    def count(self, sort: str) -> int:
        return dict(self.sorts).get(sort, 0)


@dataclass(kw_only=True)
class ReportFigures(Figures):
    directory: str
    subject: str
    strategy: str
    budget: int
    worded: bool = False  # the subject is words, not a pattern or a name
    requests: int = 0
    spent: str = ""  # what the requests were spent on, in words
    size: int = 0
    began: float = 0.0
    seconds: float = 0.0  # spent crawling, without the time between runs
    runs: int = 0
    archived: bool = True
    recovered: int = 0  # pages that came at a later attempt
    scoreless: int = 0  # pages with nothing of the topic
    copied: int = 0
    curve: HarvestChart | None = None
    scores: Histogram | None = None
    pace: Histogram | None = None
    best: list[Card] = field(default_factory=list)
    branches: list[PathBranch] = field(default_factory=list)
    hosts: list[HostTally] = field(default_factory=list)
    host_count: int = 0
    causes: list[Cause] = field(default_factory=list)
    # kind of request, how often, and how often it failed
    kinds: list[tuple[str, int, int]] = field(default_factory=list)
    languages: list[tuple[str, int, int]] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    # address and title of a page that others repeat, how many, and one of them
    copies: list[tuple[str, str, int, str]] = field(default_factory=list)
    traps: bool = True
    outlook: Outlook | None = None  # None where nothing waits, or it was not asked for
    freshness: Freshness | None = None  # None where no page was looked at again
    cards: list[Card] = field(default_factory=list)
    options: list[tuple[str, str, str]] = field(default_factory=list)
    steps: list[tuple[str, str]] = field(default_factory=list)
    version: str = ""
    made: float = 0.0

    @property
    def place(self) -> str:
        """The directory as a command line takes it."""
        return shlex.quote(self.directory)

    @property
    def any_score(self) -> bool:
        """Whether whatever scores is a find: the space itself gave the scores."""
        return 0 < self.threshold < NOTHING

    @property
    def more(self) -> str:
        """What a resumed crawl needs besides: a larger budget, if that is what ended it."""
        return larger(self.ending, self.budget, self.pages, self.requests)

    def trusting(self, held: Held) -> str:
        """The command that fetches what was held back."""
        return f"lycosa resume {self.place} --trust {shlex.quote(held.where)}{self.more}"

    @property
    def path_count(self) -> int:
        """Finds to which ways are drawn."""
        return sum(branch.relevant for branch in self.branches)

    @property
    def hosts_left(self) -> int:
        return max(0, self.host_count - sum(host.pages > 0 for host in self.hosts))

    def figure(self, name: str) -> int:
        """The number of a figure, counting those that there are."""
        chart = self.freshness is not None and self.freshness.chart
        there = {"curve": self.relevant, "changes": chart, "scores": self.scores, "pace": self.pace}
        return [key for key, shown in there.items() if shown].index(name) + 1


# -- charts ------------------------------------------------------------------------------------------------

# The numbers behind the report's charts: how finds came in, pages by score and by time, changes over time.

POINTS = 400  # points of a curve: more than a screen has room for
BINS = 40


@dataclass(slots=True)
class HarvestChart:
    """Finds among the first n pages: as they were fetched, breadth first, and at best."""

    figure: Figure
    half: int  # pages it took to have half of the relevant ones
    half_breadth: int  # the same, breadth first
    # a quarter of the pages, and the relevant ones among them: as fetched, and breadth first
    quarter: tuple[int, int, int]


def harvest(relevant: NDArray[np.bool_], breadth: NDArray[np.bool_]) -> HarvestChart | None:
    """The harvest of pages in two orders; None without pages."""
    count = len(relevant)
    if not count:
        return None
    actual, other = np.cumsum(relevant), np.cumsum(breadth)
    total = int(actual[-1])
    at = sampled(count, POINTS)
    quarter = max(1, count // 4)
    curves = [
        Curve("this crawl", at.tolist(), [0, *actual[at[1:] - 1].tolist()]),
        Curve("the same pages, breadth-first", at.tolist(), [0, *other[at[1:] - 1].tolist()]),
        Curve("every relevant page first", [0, total, count], [0, max(1, total), max(1, total)]),
    ]
    return HarvestChart(
        Figure("harvest", "Harvest", "pages fetched", "relevant pages", curves),
        int(np.searchsorted(actual, (total + 1) // 2)) + 1,
        int(np.searchsorted(other, (total + 1) // 2)) + 1,
        (quarter, int(actual[quarter - 1]), int(other[quarter - 1])),
    )


def scores(relevances: NDArray[np.float64], copies: NDArray[np.bool_], threshold: float) -> Histogram | None:
    """Pages by score, in bars that meet at the threshold; pages that score 0 are left out. None if there is nothing."""
    relevances, copies = relevances[relevances != 0], copies[relevances != 0]
    if not len(relevances):
        return None
    low, high = min(0.0, float(relevances.min())), max(float(relevances.max()), threshold)
    width = (high - low) / BINS or 1.0
    below = round((threshold - low) / width)
    if below > 0:  # so wide that a whole number of bars lies below the threshold
        width = (threshold - low) / below
    bins = int((high - low) / width) + 1
    # A score of exactly the threshold lies above it, whatever rounding says.
    number = np.clip(np.floor((relevances - low) / width + 1e-6), 0, bins - 1).astype(int)
    counts, parts = np.bincount(number, minlength=bins), np.bincount(number[copies], minlength=bins)
    span = bins * width
    strong = low + (np.arange(bins) + 0.5) * width >= threshold
    kinds = {
        "relevant": np.where(strong, counts - parts, 0),
        f"below {score(threshold)}": np.where(strong, 0, counts - parts),
        "copies": parts,
    }
    marks = [(threshold, f"threshold {score(threshold)}")] if threshold > max(low, NOTHING) else []
    return _stacked("scores", "Pages by score", "score", "pages", kinds, low, low + span, [0, 6, 1], marks=marks)


def pace(at: NDArray[np.float64], relevant: NDArray[np.bool_], runs: list[tuple[float, float]]) -> Histogram | None:
    """Pages by the time at which they came, without the time between runs; None if nothing is known of time."""
    length = sum(end - start for start, end in runs)
    known = at > 0
    if length <= 0 or not known.any():
        return None
    at, relevant = at[known], relevant[known]
    offset, breaks, before = np.zeros(len(at)), [], 0.0
    for start, end in runs:
        offset[at >= start] = before + np.minimum(at[at >= start], end) - start
        before += end - start
        breaks.append(before)
    number = np.clip((offset / length * BINS).astype(int), 0, BINS - 1)
    counts, finds = np.bincount(number, minlength=BINS), np.bincount(number[relevant], minlength=BINS)
    kinds, marks = {"relevant": finds, "other pages": counts - finds}, [(at, "") for at in breaks[:-1][:20]]
    axes = ("Pages over time", "time spent crawling", "pages")
    return _stacked("pace", *axes, kinds, 0.0, length, [0, 6], unit="seconds", marks=marks)


def changes(
    times: NDArray[np.float64], sorts: NDArray[np.int64], kinds: Sequence[str], start: float, end: float
) -> Histogram | None:
    """Things of some kinds by when they were seen; None if there are none, or all were seen within the hour.

    >>> chart = changes(np.array([0.0, 3600.0]), np.array([0, 2]), ["text", "link", "moved"], 0.0, 7200.0)
    >>> [(curve.label, sum(curve.y)) for curve in chart.curves], chart.looks
    ([('text 1', 1), ('moved 1', 1)], [0, 2])
    """
    span = end - start
    if span < 3600 or not len(times):
        return None
    number = np.clip(((times - start) / span * BINS).astype(int), 0, BINS - 1)
    counts = [np.bincount(number[sorts == sort], minlength=BINS) for sort in range(len(kinds))]
    named = {f"{kind} {int(found.sum()):,}": found for kind, found in zip(kinds, counts, strict=True)}
    axes = ("Changes over time", "time of the revisit, UTC", "changes")
    return _stacked("changes", *axes, named, start, end, list(range(len(kinds))), unit="date")


def _stacked(
    key: str,
    title: str,
    across: str,
    up: str,
    kinds: dict[str, NDArray[np.int64]],
    low: float,
    high: float,
    looks: list[int],
    **more: Any,
) -> Histogram:
    there = [(Curve(kind, (), counts.tolist()), look) for (kind, counts), look in zip(kinds.items(), looks, strict=True)
             if counts.any()]  # fmt: skip
    curves, places = [curve for curve, _ in there], [look for _, look in there]
    return Histogram(key, title, across, up, curves, low=low, high=high, looks=places, **more)
