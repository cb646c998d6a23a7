"""Data of the report, and its charts."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.counts import Cause, HostCounts, Remark
from lycosa.collection.estimate import EPSILON
from lycosa.collection.pages import harvest_curve
from lycosa.collection.summary import Figures
from lycosa.core.budget import larger_budget_option
from lycosa.core.types import Held
from lycosa.drawing.figure import Curve, Figure, Histogram
from lycosa.drawing.formats import score
from lycosa.revisit.ledger import LoggedChange


@dataclass(slots=True)
class Card:
    node: str
    title: str
    number: int = 0  # position in the order in which pages were fetched, starting at 1
    relevance: float = 0.0
    is_relevant: bool = False
    priority: float = 0.0  # when it was picked; infinite for seeds
    depth: int = 0  # number of links from the nearest seed
    origin: str = "unknown"  # "seed", "link", "sitemap" or "unknown"; "start" for a sitemap itself
    parent: str = ""
    parent_title: str = ""
    parent_number: int = 0
    anchor: str = ""
    host: str = ""
    same_as: str = ""
    state: str = ""  # "vanished", "moved", "changed", or empty
    state_since: float = 0.0
    # Pieces of the excerpt, and True for words of the topic.
    excerpt: list[tuple[str, bool]] = field(default_factory=list)


@dataclass(slots=True)
class PathStep:
    """Page on the path from a seed to the best pages."""

    card: Card
    rank: int = 0  # rank among the best relevant pages, from 1; 0 for other pages on the path
    left_out: int = 0  # number of pages after this one that are not shown


@dataclass(slots=True)
class PathBranch:
    """Part of a path without forks, and the branches that follow it."""

    steps: list[PathStep]
    branches: list[PathBranch] = field(default_factory=list)

    @property
    def relevant(self) -> int:
        """Number of best pages on the branch."""
        return sum(step.rank > 0 for step in self.steps) + sum(branch.relevant for branch in self.branches)

    @property
    def stretches(self) -> list[list[PathStep]]:
        """Groups of steps to draw: single steps, except for the middle of a long part without best pages."""
        stretches: list[list[PathStep]] = []
        passed: list[PathStep] = []
        for step in [*self.steps, None]:
            if step is not None and not step.rank:
                passed.append(step)
                continue
            if len(passed) > 5:  # consecutive pages that are still shown one by one
                stretches += [passed[:1], passed[1:-1], passed[-1:]]
            else:
                stretches += [[step] for step in passed]
            passed = []
            if step is not None:
                stretches.append([step])
        return stretches


@dataclass(slots=True)
class Upcoming:
    """Link near the top of the frontier."""

    node: str
    priority: float
    # Name, value, and the value as a share of the largest one shown, which is the length of the bar.
    terms: list[tuple[str, float, float]] = field(default_factory=list)
    rest: int = 0  # number of smaller terms not shown
    parent: str = ""
    parent_title: str = ""
    anchor: str = ""
    held: bool = False


@dataclass(slots=True)
class Outlook:
    waiting: int
    arm: str = ""  # name of the bandit arm that ranks the links
    links: list[Upcoming] = field(default_factory=list)

    @property
    def explained(self) -> bool:
        return any(link.terms for link in self.links)


@dataclass(slots=True)
class Freshness:
    revisits: int
    last: float
    by_kind: list[tuple[str, int]] = field(default_factory=list)  # kinds of changes and their counts
    returned: int = 0
    new: int = 0  # pages fetched for the first time by a refresh
    chart: Histogram | None = None
    latest: list[LoggedChange] = field(default_factory=list)
    # URL, title, state, time, new URL
    gone: list[tuple[str, str, str, float, str]] = field(default_factory=list)
    gone_count: int = 0
    # URL, title, changes, revisits, time of the last change
    change_counts: list[tuple[str, str, int, int, float]] = field(default_factory=list)

    @property
    def changed(self) -> int:
        """Number of significant content changes."""
        return sum(count for sort, count in self.by_kind if sort not in ("vanished", "moved", "cosmetic"))

    def count(self, sort: str) -> int:
        return dict(self.by_kind).get(sort, 0)


@dataclass(kw_only=True)
class ReportFigures(Figures):
    directory: str
    subject: str
    strategy: str
    budget: int
    has_topic_words: bool = False  # True if the topic is given in words, not as a pattern or a name
    requests: int = 0
    spent: str = ""  # requests by purpose, as text
    size: int = 0
    started: float = 0.0
    seconds: float = 0.0  # time spent crawling, without gaps between runs
    runs: int = 0
    archived: bool = True
    recovered: int = 0  # pages fetched at a later attempt
    zero_count: int = 0  # pages of relevance 0
    copy_count: int = 0
    curve: HarvestChart | None = None
    relevance_chart: Histogram | None = None
    time_chart: Histogram | None = None
    best: list[Card] = field(default_factory=list)
    branches: list[PathBranch] = field(default_factory=list)
    hosts: list[HostCounts] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    # Kind of request, count, failures.
    kinds: list[tuple[str, int, int]] = field(default_factory=list)
    languages: list[tuple[str, int, int]] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    # URL and title of a page with copies, their number, and one of them.
    copies: list[tuple[str, str, int, str]] = field(default_factory=list)
    traps: bool = True
    outlook: Outlook | None = None  # None if the frontier is empty or was not read
    freshness: Freshness | None = None  # None without revisits
    cards: list[Card] = field(default_factory=list)
    options: list[tuple[str, str, str]] = field(default_factory=list)
    steps: list[tuple[str, str]] = field(default_factory=list)
    version: str = ""
    created: float = 0.0

    @property
    def quoted_directory(self) -> str:
        return shlex.quote(self.directory)

    @property
    def is_any_relevant(self) -> bool:
        """True if every page with a relevance above 0 is relevant, because the space itself provides the relevances."""
        return 0 < self.threshold < EPSILON

    @property
    def budget_option(self) -> str:
        """Option for a larger budget if the budget ended the crawl, otherwise empty."""
        return larger_budget_option(self.ending, self.budget, self.pages, self.requests)

    def release_command(self, held: Held) -> str:
        """Return the command that fetches a group of held links."""
        return f"lycosa resume {self.quoted_directory} --trust {shlex.quote(held.where)}{self.budget_option}"

    @property
    def path_count(self) -> int:
        """Number of best pages whose paths are drawn."""
        return sum(branch.relevant for branch in self.branches)

    @property
    def host_count(self) -> int:
        """Number of hosts with pages."""
        return len(self.pages_by_host)

    @property
    def hosts_left(self) -> int:
        return max(0, self.host_count - sum(host.pages > 0 for host in self.hosts))

    def figure(self, name: str) -> int:
        """Return the number of a figure, counting only those shown."""
        chart = self.freshness is not None and self.freshness.chart
        shown = {"curve": self.relevant, "changes": chart, "relevance": self.relevance_chart, "time": self.time_chart}
        return [key for key, shown in shown.items() if shown].index(name) + 1


BINS = 40


@dataclass(slots=True)
class HarvestChart:
    """Chart of the relevant pages among the first n: as fetched, by depth, and ideal."""

    figure: Figure
    half: int  # number of pages fetched until half of the relevant ones were found
    half_by_depth: int  # the same in the order of depth
    # A quarter of the pages, and the numbers of relevant ones among them: as fetched, and by depth.
    quarter: tuple[int, int, int]


def harvest_chart(relevant: NDArray[np.bool_], depth: NDArray[Any]) -> HarvestChart | None:
    """Compare the harvest of pages in two orders; None if there are no pages."""
    count = len(relevant)
    if not count:
        return None
    drawn, quarter = harvest_curve(relevant, depth), max(1, count // 4)
    found, found_by_depth = np.cumsum(relevant), np.cumsum(relevant[np.argsort(depth, kind="stable")])
    total = int(found[-1])
    curves = [
        Curve("this crawl", drawn.pages, drawn.relevant),
        Curve("the same pages by depth", drawn.pages, drawn.breadth),
        Curve("every relevant page first", [0, total, count], [0, max(1, total), max(1, total)]),
    ]
    return HarvestChart(
        Figure("harvest", "Harvest", "pages fetched", "relevant pages", curves),
        int(np.searchsorted(found, (total + 1) // 2)) + 1,
        int(np.searchsorted(found_by_depth, (total + 1) // 2)) + 1,
        (quarter, int(found[quarter - 1]), int(found_by_depth[quarter - 1])),
    )


def relevance_histogram(
    relevances: NDArray[np.float64], copies: NDArray[np.bool_], threshold: float
) -> Histogram | None:
    """Return the distribution of relevances above 0, with a bin edge at the threshold; None if there are none."""
    relevances, copies = relevances[relevances != 0], copies[relevances != 0]
    if not len(relevances):
        return None
    low, high = min(0.0, float(relevances.min())), max(float(relevances.max()), threshold)
    width = (high - low) / BINS or 1.0
    below = round((threshold - low) / width)
    if below > 0:  # adjusted so that a whole number of bins is below the threshold
        width = (threshold - low) / below
    bins = int((high - low) / width) + 1
    # The threshold itself belongs to the bin above it, despite rounding.
    number = np.clip(np.floor((relevances - low) / width + 1e-6), 0, bins - 1).astype(int)
    counts, parts = np.bincount(number, minlength=bins), np.bincount(number[copies], minlength=bins)
    span = bins * width
    strong = low + (np.arange(bins) + 0.5) * width >= threshold
    kinds = {
        "relevant": np.where(strong, counts - parts, 0),
        f"below {score(threshold)}": np.where(strong, 0, counts - parts),
        "copies": parts,
    }
    marks = [(threshold, f"threshold {score(threshold)}")] if threshold > max(low, EPSILON) else []
    return _stacked(
        "relevance", "Pages by relevance", "relevance", "pages", kinds, low, low + span, [0, 6, 1], marks=marks
    )


def pages_over_time(
    at: NDArray[np.float64], relevant: NDArray[np.bool_], runs: Sequence[Sequence[float]]
) -> Histogram | None:
    """Return pages by time, without gaps between runs; None if no times are recorded."""
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


def changes_over_time(
    times: NDArray[np.float64], by_kind: NDArray[np.int64], kinds: Sequence[str], start: float, end: float
) -> Histogram | None:
    """Return changes by kind and time; None if there are none or all were seen within an hour.

    >>> chart = changes_over_time(np.array([0.0, 3600.0]), np.array([0, 2]), ["text", "link", "moved"], 0.0, 7200.0)
    >>> [(curve.label, sum(curve.y)) for curve in chart.curves], chart.palette
    ([('text 1', 1), ('moved 1', 1)], [0, 2])
    """
    span = end - start
    if span < 3600 or not len(times):
        return None
    number = np.clip(((times - start) / span * BINS).astype(int), 0, BINS - 1)
    counts = [np.bincount(number[by_kind == sort], minlength=BINS) for sort in range(len(kinds))]
    named = {f"{kind} {int(bins.sum()):,}": bins for kind, bins in zip(kinds, counts, strict=True)}
    axes = ("Changes over time", "time of the revisit, UTC", "changes")
    return _stacked("changes", *axes, named, start, end, list(range(len(kinds))), unit="date")


def _stacked(
    key: str,
    title: str,
    x_label: str,
    y_label: str,
    kinds: dict[str, NDArray[np.int64]],
    low: float,
    high: float,
    palette: list[int],
    **more: Any,
) -> Histogram:
    shown = [
        (Curve(kind, (), counts.tolist()), colour)
        for (kind, counts), colour in zip(kinds.items(), palette, strict=True)
        if counts.any()
    ]
    curves, colours = [curve for curve, _ in shown], [colour for _, colour in shown]
    return Histogram(key, title, x_label, y_label, curves, low=low, high=high, palette=colours, **more)
