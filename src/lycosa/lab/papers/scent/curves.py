"""How scent learns: harvest window by window, and its share of the oracle's as the crawl goes on."""

from __future__ import annotations

import numpy as np

from lycosa.lab.certainty import band
from lycosa.lab.findings import Curve, Figure
from lycosa.lab.papers.scent.crawls import ORACLE, SCENT, Crawls, Floats

DRAWN = {SCENT: "scent", "best-first": "best-first", "link-context": "link context", ORACLE: "oracle-greedy"}
WINDOW = 50
FIRST, POINTS = 10, 20
BANDS = "Bands: 95 %, bootstrap over topics and seed sets."


def steps_of(budget: int) -> list[int]:
    """Twenty numbers of pages from ten to the budget, each larger by the same factor.

    >>> steps_of(1000)[:3], steps_of(1000)[-1], len(steps_of(1000))
    ([10, 13, 16], 1000, 20)
    """
    first = min(FIRST, budget)
    return sorted({round(step) for step in np.geomspace(first, budget, POINTS).tolist()})


def figure_harvest(crawls: Crawls) -> Figure:
    """What a page brought, by windows of 50 pages: does it learn?"""
    budget = crawls.budgets[-1]
    window = min(WINDOW, budget)
    ends = list(range(window, budget + 1, window))

    def harvests(curve: Floats) -> Floats:
        return np.diff(curve[:, [0, *ends]], axis=1) / window

    drawn = [
        _curve(label, ends, harvests(crawls.curves[name]), crawls)
        for name, label in DRAWN.items()
        if name in crawls.curves
    ]
    return Figure(
        f"scent-figure-harvest-{crawls.cell.key}", f"Harvest along the crawl: {crawls.cell.title}", "pages fetched",
        f"mean gain of a page, the last {window}", drawn, crawls.cell.mode,
        note=f"Late in the crawl little is left to be found: compare curves, not places. {BANDS}",
    )  # fmt: skip


def figure_share(crawls: Crawls) -> Figure:
    """The share of the oracle's, from the first pages on."""
    steps = steps_of(crawls.budgets[-1])
    drawn = [
        _curve(label, steps, np.array([crawls.share(name, step) for step in steps]).T, crawls)
        for name, label in DRAWN.items()
        if name in crawls.curves and name != ORACLE
    ]
    return Figure(
        f"scent-figure-share-{crawls.cell.key}", f"Share of the oracle's: {crawls.cell.title}", "pages fetched",
        "share of the oracle-greedy crawl's score", drawn, crawls.cell.mode, log_x=True, note=BANDS,
    )  # fmt: skip


def _curve(label: str, x: list[int], values: Floats, crawls: Crawls) -> Curve:
    known = np.isfinite(values.sum(1))  # where the oracle has nothing yet there is no share
    groups = [group for group, keep in zip(crawls.groups, known.tolist(), strict=True) if keep]
    if not groups:
        return Curve(label, [], [])
    mean, low, high = band(values[known], groups=groups)
    sure = bool(np.isfinite(low).all())
    return Curve(label, x, mean.tolist(), low.tolist() if sure else (), high.tolist() if sure else ())
