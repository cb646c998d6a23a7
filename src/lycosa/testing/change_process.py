"""When pages change: one process for each page, each of its changes a function of the seed, the page and the time.

Time is counted in days since the web began. It is cut into months of 32 days, and what happens in a month is drawn
from a key of its own: to know about day 1000 one need not have lived through the days before.

    never     no change that matters; half of these pages have cosmetic ones
    constant  Poisson, from several changes a day to one in months: the rate is 10^(-2 + 2.7 u^1.5), u uniform
    daily     once a day at the page's hour; for some not on the sixth and seventh day of the week
    bursty    quiet for days, then 4 to 16 changes within hours; one burst in each 4, 8, 16 or 32 days

Each change is real with a chance of its page's own (`share`), and otherwise cosmetic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from .chance import dice, pick

MONTH = 32
"""Days that are drawn together."""

PROCESSES: Mapping[str, float] = {"never": 0.3, "constant": 0.4, "daily": 0.15, "bursty": 0.15}
"""What share of the pages each process has, unless told otherwise."""

KINDS: Mapping[str, str] = {
    "add": "text",
    "replace": "text",
    "drop": "text",
    "table": "text",
    "title": "text",
    "structure": "structure",
    "link": "link",
    "topic": "topic",
    "picture": "structure",
}
"""Of what kind each real edit is; all others are cosmetic."""

COSMETICS = ("stamp", "views", "ago", "teaser", "token", "attributes", "whitespace", "charset")

_WEIGHTS = {"add": 18, "replace": 24, "drop": 8, "table": 20, "title": 6, "structure": 9, "link": 16, "topic": 0.7}
_SHARES = (1.0, 1.0, 0.8, 0.5, 0.5, 0.2)
_BURST = (4, 16)


class Edit(NamedTuple):
    """One change: when, in days since the web began, and what is done."""

    at: float
    how: str

    @property
    def real(self) -> bool:
        """Whether a reader would call it a change."""
        return self.how in KINDS


@dataclass(frozen=True, slots=True)
class Process:
    """How a page changes. Rates are per day and leave the page's fate out."""

    name: str
    pace: float
    """Changes a day, of both sorts, in the long run."""
    share: float = 1.0
    """What part of them is real."""
    moving: str = ""
    """What never rests besides: "minute" or "fetch", if a counter moves with each; not in the rates."""
    phase: float = 0.0
    """The hour of daily changes, as a part of a day."""
    weekends: bool = True
    """Whether daily changes come on weekends, too."""
    stretch: int = MONTH
    """Days for each burst."""
    real_edits: tuple[tuple[float, str], ...] = ()
    """What is done in a real change, with cumulative chances."""
    cosmetic_edits: tuple[str, ...] = COSMETICS[:1]

    @property
    def real(self) -> float:
        return self.pace * self.share

    @property
    def cosmetic(self) -> float:
        return self.pace * (1.0 - self.share)


def draw_process(key: tuple[object, ...], chances: Mapping[str, float], topical: bool, table: bool) -> Process:
    """Draw the process of the page that goes with the key; only topical pages can turn to another topic."""
    rng = dice("process", *key)
    name = _choose(rng.random(), _cumulative(chances))
    share = pick(_SHARES, "share", *key)
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


def picture_process(key: tuple[object, ...]) -> Process:
    """Draw the process of a picture: replaced, or encoded anew."""
    pace = 0.05 + 0.3 * dice("picture", *key).random()
    return Process("constant", pace, 0.5, real_edits=((1.0, "picture"),), cosmetic_edits=("encoding",))


def edits(process: Process, key: tuple[object, ...], month: int) -> list[Edit]:
    """List what happens in a month, in order.

    >>> daily = Process("daily", 1.0, phase=0.5, real_edits=((1.0, "replace"),))
    >>> [round(edit.at, 1) for edit in edits(daily, (7, 1), 2)][:3]
    [64.5, 65.5, 66.5]
    """
    if process.pace == 0:
        return []
    rng = dice("month", month, *key)
    made = []
    for at in _times(process, month * MONTH, rng):
        real, which = rng.random() < process.share, rng.random()
        cosmetics = process.cosmetic_edits
        how = _choose(which, process.real_edits) if real else cosmetics[int(which * len(cosmetics))]
        made.append(Edit(at, how))
    return made


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
    while True:  # a Poisson process has no memory: each month may begin its gaps anew
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
