"""The crawl as a picture: hosts as circles, and the links by which it went from one to the next.

A small force-directed layout of our own (Fruchterman and Reingold 1991: circles repel, links pull), then circles and
labels are pushed apart until nothing covers anything else. No chance in it: the same crawl, the same picture. It starts
from a spiral on which the hosts that were met first lie innermost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

LINE = 15.0
"""Height of a label."""

LETTER = 6.4
"""Width of a letter of a label, on the average and rather too wide than too narrow."""

FEWEST = 3
"""Hosts that make a map."""

FULL = 8
"""Hosts that fill it from edge to edge; fewer stay together in the middle."""

INKED = 0.1
"""Share of the map that circles cover at most: where all hosts are equal, each has to be smaller."""

SHADES = 5
"""Colours from no finds to nothing but finds."""

Points = NDArray[np.float64]


@dataclass(slots=True, frozen=True)
class Canvas:
    """How large a map is, and how much it shows."""

    name: str
    width: float
    height: float
    hosts: int
    largest: float
    """Radius of the largest circle."""
    links: int
    letters: int
    """Letters of a label at most."""


WIDE = Canvas("wide", 1040, 560, 48, 38, 110, 24)
NARROW = Canvas("narrow", 358, 470, 20, 30, 40, 17)


@dataclass(slots=True)
class Dot:
    """A host to be drawn."""

    name: str
    pages: int
    relevant: int
    seed: bool = False
    x: float = 0.0
    y: float = 0.0
    radius: float = 0.0
    label: str = ""

    @property
    def reach(self) -> float:
        """Its radius, with the ring around a seed's host."""
        return self.radius + 4.5 if self.seed else self.radius

    @property
    def shade(self) -> int:
        """Which colour: 0 for no finds, then by their share."""
        return math.ceil(SHADES * self.relevant / self.pages) if self.pages else 0


@dataclass(slots=True)
class Link:
    """The way from one host to another, as an SVG path."""

    path: str
    width: float
    strong: bool
    told: str


@dataclass(slots=True)
class HostMap:
    """A map, ready to be drawn."""

    canvas: Canvas
    dots: list[Dot]
    links: list[Link]
    suffix: str
    """What all names end in, left out of the labels."""


def draw(
    dots: Sequence[Dot], ways: Mapping[tuple[int, int], int], trails: set[tuple[int, int]], canvas: Canvas
) -> HostMap | None:
    """A map of hosts, given in the order in which they were met; `ways` counts the pages found from one to another.

    Those on `trails`, the ways to the best finds, are shown whatever their size. None where a map would tell nothing.
    """
    if len(dots) < FEWEST:
        return None
    canvas = replace(canvas, height=round(canvas.height * min(1.0, 0.4 + len(dots) / 25)))
    keep = _choose(dots, trails, canvas.hosts)
    place = {number: position for position, number in enumerate(keep)}
    shown = [Dot(dots[i].name, dots[i].pages, dots[i].relevant, dots[i].seed) for i in keep]
    inside = {
        (place[a], place[b]): (count, (a, b) in trails) for (a, b), count in ways.items() if a in place and b in place
    }
    ranked = _rank(inside)[: canvas.links]
    most = max(dot.pages for dot in shown) or 1
    crowd = sum(dot.pages for dot in shown) / most
    largest = min(canvas.largest, math.sqrt(INKED * canvas.width * canvas.height / (math.pi * crowd)))
    for dot in shown:
        dot.radius = max(4.0, largest * math.sqrt(dot.pages / most))
    suffix = common_suffix([dot.name for dot in shown])
    _label(shown, suffix, canvas)
    _place(shown, ranked, canvas)
    _drop_covered_labels(shown, canvas)
    links = [_link(shown[a], shown[b], *inside[a, b]) for a, b in reversed(ranked)]
    return HostMap(canvas, shown, links, suffix)


def common_suffix(names: Sequence[str]) -> str:
    """What all names end in, from a dot or the port on; empty if that would leave one without a name.

    >>> common_suffix(["news.example.org", "www.example.org"])
    '.example.org'
    >>> common_suffix(["a.localhost:81", "b.test:81"]), common_suffix(["a.test", "b.example"])
    (':81', '')
    """
    shared = min(names, key=len)
    while shared and not all(name.endswith(shared) for name in names):
        shared = shared[1:]
    starts = [at for at in (shared.find("."), shared.find(":")) if at >= 0]
    suffix = shared[min(starts) :] if starts else ""
    return suffix if ("." in suffix[1:] or ":" in suffix) and all(len(name) > len(suffix) for name in names) else ""


def _choose(dots: Sequence[Dot], trails: set[tuple[int, int]], most: int) -> list[int]:
    """The hosts to show: seeds and those on trails, then the largest; in the order in which they were met."""
    needed = {number for way in trails for number in way}
    ranked = sorted(range(len(dots)), key=lambda i: (i not in needed, -dots[i].pages, i))
    seeds = [i for i in range(len(dots)) if dots[i].seed][: most // 4]
    return sorted(list(dict.fromkeys([*seeds, *ranked]))[:most])


def _rank(ways: Mapping[tuple[int, int], tuple[int, bool]]) -> list[tuple[int, int]]:
    """Ways, the most telling first: those on trails, the strongest one to each host, then the others."""
    ranked = sorted(ways, key=lambda way: (not ways[way][1], -ways[way][0], way))
    strongest = {target: way for way in reversed(ranked) for target in way[1:]}
    return sorted(ranked, key=lambda way: (not ways[way][1], strongest[way[1]] != way))


def _label(dots: list[Dot], suffix: str, canvas: Canvas) -> None:
    """Names for the largest, as many as half of the map has room for."""
    room = 0.5 * canvas.width * canvas.height
    for dot in sorted(dots, key=lambda dot: (-dot.pages, dot.name)):
        name = dot.name[: len(dot.name) - len(suffix)].removeprefix("www.") or "no host"
        label = name if len(name) <= canvas.letters else name[: canvas.letters - 1] + "…"
        room -= max(2 * dot.reach, LETTER * len(label)) * (2 * dot.reach + LINE)
        if room > 0:
            dot.label = label


def _place(dots: list[Dot], ways: Sequence[tuple[int, int]], canvas: Canvas) -> None:
    size = np.array([canvas.width, canvas.height])
    half = np.array([[_half_width(dot), dot.reach] for dot in dots])
    below = np.array([LINE if dot.label else 0.0 for dot in dots])
    at = _pull(_spiral(len(dots), size), half, ways, size)
    at = _push(at, half, below, size)
    for dot, (x, y) in zip(dots, at.tolist(), strict=True):
        dot.x, dot.y = round(x, 1), round(y, 1)


def _half_width(dot: Dot) -> float:
    return max(dot.reach, LETTER * len(dot.label) / 2)


def _spiral(count: int, size: Points) -> Points:
    """Points in the order of a sunflower's seeds: the first in the middle."""
    number = np.arange(count) + 0.5
    angle = number * math.pi * (3 - math.sqrt(5))
    reach = 0.45 * np.sqrt(number / count)
    spread: Points = size * np.stack([reach * np.cos(angle), reach * np.sin(angle)], axis=1)
    return 0.5 * size + spread


def _pull(at: Points, half: Points, ways: Sequence[tuple[int, int]], size: Points) -> Points:
    """Let circles repel each other and links pull, in ever smaller steps."""
    count, middle = len(at), 0.5 * size
    ideal = 0.75 * math.sqrt(size.prod() / count)
    pairs = np.array(ways, np.int64).reshape(-1, 2)
    for turn in range(250):
        apart = at[:, None] - at[None]
        distance = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1.0)
        force = (apart * (ideal**2 / distance**2)[..., None]).sum(axis=1)
        along = at[pairs[:, 0]] - at[pairs[:, 1]]
        pull = along * (np.hypot(along[:, 0], along[:, 1]) / ideal)[:, None] * 0.6
        np.add.at(force, pairs[:, 0], -pull)
        np.add.at(force, pairs[:, 1], pull)
        force += (middle - at) * 0.9 / size * size.mean()
        length = np.maximum(np.hypot(force[:, 0], force[:, 1]), 1e-9)
        step = 0.06 * size.mean() * (1 - turn / 250)
        at = at + force / length[:, None] * np.minimum(length, step)[:, None]
    low, high = half + 4, size - half - 4 - [0, LINE]
    if count >= FULL:  # fill the canvas; one host far out must not press the others together
        start, end = np.quantile(at, [0.04, 0.96], axis=0)
        at = low.min(axis=0) + (at - start) / np.maximum(end - start, 1.0) * (high - low).max(axis=0)
    return np.clip(at, low, high)


def _push(at: Points, half: Points, below: Points, size: Points) -> Points:
    """Move boxes (a circle and its label) apart where they cover each other.

    Mostly along the shorter way, a little along the other: a column that fills the canvas has to give sideways.
    """
    reach = np.stack([half[:, 0] + 5, half[:, 1] + below / 2 + 3], axis=1)
    centre = at + np.stack([np.zeros(len(at)), below / 2], axis=1)
    index = np.arange(len(at))
    side = np.where(index[:, None] < index[None], -1.0, 1.0)
    for _ in range(600):
        apart = centre[:, None] - centre[None]
        overlap = reach[:, None] + reach[None] - np.abs(apart)
        hit = np.logical_and(overlap[..., 0] > 0, overlap[..., 1] > 0)
        np.fill_diagonal(hit, False)
        if not hit.any():
            break
        direction = np.where(apart == 0, side[..., None], np.sign(apart))
        sideways = overlap[..., 0] < overlap[..., 1]
        move = direction * overlap * hit[..., None]
        move[..., 0] *= np.where(sideways, 0.3, 0.03)
        move[..., 1] *= np.where(sideways, 0.03, 0.3)
        centre = np.clip(centre + move.sum(axis=1), reach, size - reach)
    return centre - np.stack([np.zeros(len(at)), below / 2], axis=1)


def _drop_covered_labels(dots: list[Dot], canvas: Canvas) -> None:
    """A label that still meets another label, a circle or the edge goes; the smaller host's first."""
    taken = [(dot.x - dot.reach, dot.y - dot.reach, dot.x + dot.reach, dot.y + dot.reach) for dot in dots]
    for number in sorted(range(len(dots)), key=lambda i: (-dots[i].pages, i)):
        dot = dots[number]
        wide, top = LETTER * len(dot.label) / 2, dot.y + dot.reach
        box = (dot.x - wide, top + 1, dot.x + wide, top + LINE)
        others = [other for i, other in enumerate(taken) if i != number]
        if box[0] < 0 or box[2] > canvas.width or box[3] > canvas.height or any(_meet(box, other) for other in others):
            dot.label = ""
        elif dot.label:
            taken.append(box)


def _meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _link(a: Dot, b: Dot, count: int, strong: bool) -> Link:
    """A slightly bent line, so that there and back are two."""
    bend_x, bend_y = (a.x + b.x) / 2 + (b.y - a.y) * 0.12, (a.y + b.y) / 2 - (b.x - a.x) * 0.12
    path = f"M{a.x:g} {a.y:g}Q{bend_x:.1f} {bend_y:.1f} {b.x:g} {b.y:g}"
    return Link(path, round(min(6.0, 0.8 + 0.5 * math.sqrt(count)), 1), strong, f"{a.name} to {b.name}: {count:,}")
