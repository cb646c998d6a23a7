"""Generated history of each page: its edits up to a time, and its fate."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple, TypeAlias

from lycosa.testweb.chance import dice, pick, roll, stir
from lycosa.testweb.prose import NOWHERE, TOPICS, subject_of, title
from lycosa.testweb.site_graph import SiteGraph

NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Life:
    """A page's fate, in days since the web began."""

    what: str = "stays"
    at: float = NEVER
    back: float = NEVER
    moves: tuple[tuple[float, int], ...] = ()  # time and target host

    def absent(self, at: float) -> bool:
        return self.what in ("gone", "soft-404", "returns") and self.at <= at < self.back


class History:
    """Histories of all pages, computed on demand; `t` is clock time, `at` is in days.

    `begin` returns the initial paragraphs and title of a page; `soft` marks hosts that never respond with 404.
    """

    def __init__(
        self,
        graph: SiteGraph,
        key: int,
        chances: Mapping[str, float],
        fates: tuple[float, float],
        times: tuple[float, float],
        soft: list[bool],
        begin: Callable[[ChangingPage], tuple[int, str]],
    ) -> None:
        self.graph, self.key, self.chances, self.soft, self.begin = graph, key, dict(chances), soft, begin
        self.fates, self.days = fates
        self.start, self.day = times
        self.process = lru_cache(maxsize=16_384)(self._draw_process)
        self.life = lru_cache(maxsize=16_384)(self._draw_life)
        self._month = lru_cache(maxsize=8_192)(self._draw_month)
        self._fold = lru_cache(maxsize=4_096)(self._fold_month)
        self._links = lru_cache(maxsize=1_024)(lambda page: frozenset(graph.links(page)))

    def edits(self, subject: ChangingPage, t: float) -> list[Edit]:
        months = int((t - self.start) / self.day // MONTH) + 1
        drawn = [edit for month in range(months) for edit in self._month(subject, month)]
        return drawn[: bisect_right(drawn, t, key=lambda edit: self.when(edit.at))]

    def state(self, subject: ChangingPage, t: float) -> State:
        month = max(0, int((t - self.start) / self.day // MONTH))
        for earlier in range(0, month, 200):  # bounds the recursion depth
            self._fold(subject, earlier, len(self._month(subject, earlier)))
        return self._fold(subject, month, bisect_right(self._month(subject, month), t, key=lambda e: self.when(e.at)))

    def births(self, subject: ChangingPage, t: float) -> tuple[Birth, ...]:
        linked = subject.part == 0 and any(edit.how == "link" for edit in self.edits(subject, t))
        return self.state(subject, t).births if linked else ()

    def when(self, at: float) -> float:
        return self.start + at * self.day

    def minute(self, t: float) -> int:
        """Return the minutes since the beginning; a day has 1440, however long it is in clock time."""
        return int((t - self.start) / self.day * 1440 // 1)

    def origin(self, subject: ChangingPage) -> float:
        return subject.born if subject.part else -1 - 300 * roll(self.key, "origin", *subject.key)

    def _draw_month(self, subject: ChangingPage, month: int) -> tuple[Edit, ...]:
        drawn = edits(self.process(*subject.key), (self.key, *subject.key), month)
        life = self.life(subject.page) if subject.part == 0 else Life()
        return tuple(edit for edit in drawn if edit.at > subject.born and not life.absent(edit.at))

    def _fold_month(self, subject: ChangingPage, month: int, count: int) -> State:
        if month > 0:
            state = self._fold(subject, month - 1, len(self._month(subject, month - 1)))
        else:
            state = self._first_state(subject)
        for edit in self._month(subject, month)[:count]:
            state = apply(state, edit, subject, self.graph, self._links)
        return state

    def _first_state(self, subject: ChangingPage) -> State:
        count, title = self.begin(subject)
        blocks = tuple(Block(0, i, subject.topic) for i in range(count))
        table = (0,) * 4 if self._has_table(*subject.key) else ()
        return State(subject.topic, blocks, count, table, used=frozenset({title}))

    def _draw_process(self, page: int, part: int) -> Process:
        topical = part > 0 or self.graph.topic(page) != NOWHERE
        return draw_process((self.key, page, part), self.chances, topical, self._has_table(page, part))

    def _has_table(self, page: int, part: int) -> bool:
        return roll(self.key, "table", page, part) < 0.3

    def _draw_life(self, page: int) -> Life:
        host = self.graph.section(page).host
        luck, kind = roll(self.key, "fate", page), roll(self.key, "which fate", page)
        if luck >= self.fates or page == self.graph.front(host):
            return Life()
        first = min(0.5, self.days / 2)
        at = first + (self.days - first) * roll(self.key, "when", page)
        later = at + 1 + 5 * roll(self.key, "later", page)
        if kind < 0.35:
            code = stir(self.key, "moves", page)
            other = code // 100 % self.graph.host_count if code % 4 == 0 else host
            again = ((later, host),) if code // 4 % 10 < 3 else ()
            return Life("moved", at, moves=((at, other), *again))
        if kind < 0.75:
            return Life("soft-404" if self.soft[host] else "gone", at)
        return Life("returns", at, later)


# Time is counted in days since the web began, in months of 32 days. The events of a month are drawn from their own key,
# so day 1000 can be computed without the days before it.
#
#     never     no real changes; half of these pages have cosmetic ones
#     constant  Poisson, from several changes a day to one in months: the rate is 10^(-2 + 2.7 u^1.5), u uniform
#     daily     once a day at the page's hour; for some not on the sixth and seventh day of the week
#     bursty    quiet for days, then 4 to 16 changes within hours; one burst in each 4, 8, 16 or 32 days
#
# Each change is real with the page's probability `share`, otherwise cosmetic.

MONTH = 32  # days whose events are drawn together
PROCESSES: Mapping[str, float] = {"never": 0.3, "constant": 0.4, "daily": 0.15, "bursty": 0.15}  # shares of the pages
# Shares of the kinds of real edits; all other kinds are cosmetic.
KINDS: Mapping[str, str] = {
    **dict.fromkeys(("add", "replace", "drop", "table", "title"), "text"),
    **{kind: kind for kind in ("structure", "link", "topic")},
}
COSMETICS = ("stamp", "views", "ago", "teaser", "token", "attributes", "whitespace", "charset")

_WEIGHTS = {"add": 18, "replace": 24, "drop": 8, "table": 20, "title": 6, "structure": 9, "link": 16, "topic": 0.7}
_BURST = (4, 16)


class Edit(NamedTuple):
    """An edit: time in days since the web began, and its kind."""

    at: float
    how: str

    @property
    def real(self) -> bool:
        return self.how in KINDS


@dataclass(frozen=True, slots=True)
class Process:
    """The change process of a page. Rates are per day and exclude the page's fate."""

    name: str
    pace: float  # long-run edits per day, real and cosmetic
    share: float = 1.0  # share of real edits
    moving: str = ""  # a counter that changes each "minute" or "fetch"; excluded from the rates
    phase: float = 0.0  # time of daily edits, as a fraction of a day
    weekends: bool = True
    stretch: int = MONTH  # days per burst
    real_edits: tuple[tuple[float, str], ...] = ()  # kinds of real edits with cumulative probabilities
    cosmetic_edits: tuple[str, ...] = COSMETICS[:1]

    @property
    def real(self) -> float:
        return self.pace * self.share

    @property
    def cosmetic(self) -> float:
        return self.pace * (1.0 - self.share)


def draw_process(key: tuple[object, ...], chances: Mapping[str, float], topical: bool, table: bool) -> Process:
    """Draw the change process for a page's key; only topical pages may change their topic."""
    rng = dice("process", *key)
    name = _choose(rng.random(), _cumulative(chances))
    share = pick((1.0, 1.0, 0.8, 0.5, 0.5, 0.2), "share", *key)
    weights = {how: weight * (0.3 + 1.4 * rng.random()) for how, weight in _WEIGHTS.items()}
    if not topical:
        weights["topic"], weights["link"] = 0.0, 4 * weights["link"]
    if not table:
        weights["table"] = 0.0
    first = int(rng.random() * len(COSMETICS))
    cosmetics = tuple(COSMETICS[(first + 3 * i) % len(COSMETICS)] for i in range(1 + int(rng.random() * 3)))
    moving = rng.random()
    weekends, stretch = rng.random() < 0.5, (4, 8, 16, 32)[int(rng.random() * 4)]
    pace = 10 ** (-2 + 2.7 * rng.random() ** 1.5)
    if name == "never":
        share, pace = 0.0, pace if rng.random() < 0.5 else 0.0
    elif name == "daily":
        pace = 1.0 if weekends else 5 / 7
    elif name == "bursty":
        pace = sum(_BURST) / 2 / stretch
    return Process(
        name=name,
        pace=pace,
        share=share,
        moving="minute" if moving < 0.06 else "fetch" if moving < 0.1 else "",
        phase=0.99 * rng.random(),
        weekends=weekends,
        stretch=stretch,
        real_edits=_cumulative(weights),
        cosmetic_edits=cosmetics,
    )


def edits(process: Process, key: tuple[object, ...], month: int) -> list[Edit]:
    """Return the edits of a month in order."""
    if process.pace == 0:
        return []
    rng = dice("month", month, *key)
    drawn = []
    for at in _times(process, month * MONTH, rng):
        real, which = rng.random() < process.share, rng.random()
        cosmetics = process.cosmetic_edits
        how = _choose(which, process.real_edits) if real else cosmetics[int(which * len(cosmetics))]
        drawn.append(Edit(at, how))
    return drawn


def _times(process: Process, first: int, rng: Random) -> list[float]:
    draw = rng.random
    if process.name == "daily":
        days = [day for day in range(first, first + MONTH) if process.weekends or day % 7 < 5]
        return [day + process.phase + 0.007 * draw() for day in days]
    times: list[float] = []
    if process.name == "bursty":
        low, high = _BURST
        for start in range(first, first + MONTH, process.stretch):
            width = (2 + 6 * draw()) / 24
            begin = start + draw() * (process.stretch - width)
            times += sorted(begin + draw() * width for _ in range(low + int(draw() * (high - low + 1))))
        return times
    at = float(first)
    while True:  # a Poisson process is memoryless, so each month may restart its gaps
        at -= math.log(1.0 - draw()) / process.pace
        if at >= first + MONTH:
            return times
        times.append(at)


def _cumulative(weights: Mapping[str, float]) -> tuple[tuple[float, str], ...]:
    total, so_far, result = sum(weights.values()), 0.0, []
    for name, weight in weights.items():
        so_far += weight / total
        if weight > 0:
            result.append((so_far, name))
    return tuple(result)


def _choose(u: float, chances: tuple[tuple[float, str], ...]) -> str:
    return next((name for edge, name in chances if u < edge), chances[-1][1])


# A page's state is its edits folded one by one. No two versions are alike: paragraphs have unique numbers and are
# written once, the oldest is dropped, table values only grow, and titles are used once.

MAX_ADDED_LINKS = 8  # maximum links added to a page; one more replaces the oldest
_FEWEST, _GROWTH = 3, 6  # minimum paragraphs of a page, and maximum growth beyond the initial number

Links: TypeAlias = Callable[[int], frozenset[int]]


class Block(NamedTuple):
    """A paragraph: the edit that wrote it (0: initial), its number in that edit, and its topic."""

    change: int
    number: int
    topic: int


class Birth(NamedTuple):
    """A page that is created together with a link to it."""

    number: int
    at: float
    topic: int


@dataclass(frozen=True, slots=True)
class ChangingPage:
    """A page that changes: a clean page (`part` 0), or the one created by edit number `part` of a clean page."""

    page: int
    part: int
    topic: int
    born: float = float("-inf")

    @property
    def key(self) -> tuple[int, int]:
        return self.page, self.part


@dataclass(frozen=True, slots=True)
class State:
    """State of a page after its edits."""

    topic: int
    blocks: tuple[Block, ...]
    first: int  # initial number of paragraphs
    table: tuple[int, ...] = ()  # amount added to each number
    title: str = ""
    used: frozenset[str] = frozenset()  # titles used so far
    layout: int = 0
    links: tuple[int, ...] = ()  # pages that links were added to; -n: the page created by edit n
    births: tuple[Birth, ...] = ()
    turns: int = 0  # changes to another topic and back
    real: int = 0
    every: int = 0
    changed: float | None = None  # time of the last real edit, in days
    touched: float | None = None  # time of the last edit of any kind, in days
    cosmetic_counts: tuple[int, ...] = (0,) * len(COSMETICS)  # number of cosmetic edits of each kind


def apply(state: State, edit: Edit, subject: ChangingPage, graph: SiteGraph, links: Links) -> State:
    every = state.every + 1
    if not edit.real:
        cosmetic_counts = state.cosmetic_counts
        if edit.how in COSMETICS:
            at = COSMETICS.index(edit.how)
            cosmetic_counts = (*cosmetic_counts[:at], cosmetic_counts[at] + 1, *cosmetic_counts[at + 1 :])
        return replace(state, every=every, touched=edit.at, cosmetic_counts=cosmetic_counts)
    n = state.real + 1
    code = stir(graph.seed, "edit", subject.page, subject.part, n)
    fields: dict[str, Any] = {}
    if edit.how == "structure":
        fields = {"layout": state.layout + 1}
    elif edit.how == "table" and state.table:
        at = code % len(state.table)
        grown = state.table[at] + 1 + code // 100 % 20
        fields = {"table": (*state.table[:at], grown, *state.table[at + 1 :])}
    elif edit.how == "title":
        fields = _retitle(state, n, state.topic, subject, graph)
    elif edit.how == "link":
        fields = _add_link(state, n, edit.at, subject, graph, links)
    elif edit.how == "topic":
        fields = _turn(state, n, code, subject, graph)
    elif state.blocks:
        fields = {"blocks": _write(state, edit.how, n, code)}
    return replace(state, real=n, every=every, changed=edit.at, touched=edit.at, **fields)


def _write(state: State, how: str, n: int, code: int) -> tuple[Block, ...]:
    """Add, replace or drop a paragraph within the limits of the page's length."""
    blocks, new = list(state.blocks), Block(n, 0, state.topic)
    oldest = min(range(len(blocks)), key=lambda i: blocks[i][:2])
    if how == "drop" and len(blocks) > max(2, min(_FEWEST, state.first - 1)):
        del blocks[oldest]
    elif how == "add" and len(blocks) < state.first + _GROWTH:
        blocks.insert(code % (len(blocks) + 1), new)
    elif how == "add":
        del blocks[oldest]
        blocks.insert(0, new)
    else:
        blocks[code % len(blocks)] = new
    return tuple(blocks)


def _retitle(state: State, n: int, topic: int, subject: ChangingPage, graph: SiteGraph) -> dict[str, Any]:
    if topic != NOWHERE:
        for attempt in range(20):
            words = title(topic, graph.seed, "retitled", subject.page, subject.part, n, attempt)
            if words not in state.used:
                return {"title": words, "used": state.used | {words}}
    site = graph.names[graph.section(subject.page).host].removesuffix(".localhost")
    return {"title": f"{site.replace('-', ' ').title()}, edition {n}"}


def _add_link(state: State, n: int, at: float, subject: ChangingPage, graph: SiteGraph, links: Links) -> dict[str, Any]:
    """Link to a page on the same topic that was not linked before, or to a new one."""
    rng = dice(graph.seed, "added link", subject.page, subject.part, n)
    topic = state.topic
    if topic == NOWHERE:
        own = [section.topic for section in graph.of_host[graph.section(subject.page).host][1:]]
        topic = own[int(rng.random() * len(own))]
    if subject.part == 0 and rng.random() < 0.15:  # create the page
        return {"links": (*state.links, -n)[-MAX_ADDED_LINKS:], "births": (*state.births, Birth(n, at, topic))}
    there = links(subject.page)
    drawn = (graph.mainland(rng, topic) for _ in range(20))
    fresh = (page for page in drawn if page != subject.page and page not in there and page not in state.links)
    # If the topic has no other page, link to any page.
    target = next(fresh, None)
    if target is None:
        target = next(p for p in range(graph.pages) if p != subject.page and p not in there and p not in state.links)
    return {"links": (*state.links, target)[-MAX_ADDED_LINKS:]}


def _turn(state: State, n: int, code: int, subject: ChangingPage, graph: SiteGraph) -> dict[str, Any]:
    others = [t for t in range(len(TOPICS)) if subject_of(t) != subject_of(subject.topic)]
    topic = others[code // 100 % len(others)] if state.turns % 2 == 0 else subject.topic
    blocks = tuple(Block(n, i, topic) for i in range(max(_FEWEST, min(8, state.first))))
    titled = _retitle(state, n, topic, subject, graph)
    return {"topic": topic, "turns": state.turns + 1, "blocks": blocks, **titled}
