"""Pictures: freshness day by day, by budget, and how many visits a page gets by how often it changes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from lycosa.core.durations import spoken
from lycosa.lab.certainty import band
from lycosa.lab.findings import Curve, Figure
from lycosa.lab.papers.freshness.comparing import Runs
from lycosa.lab.papers.freshness.measuring import DAY
from lycosa.lab.papers.freshness.watching import AUTOMATIC, KNOWN, SCHEDULES
from lycosa.refresh.allocation import allocate

BANDS = "Bands: 95 %, bootstrap over webs."
EDGES = (0.0, 0.03, 0.1, 0.2, 0.4, 0.7, 1.1, 2.0, 6.0)
"""Changes a day: pages are put together between two of these."""


def figure_days(runs: Runs, every: float) -> Figure:
    """Freshness over the days."""
    curves = []
    for name in SCHEDULES:
        days = np.array([one.days for one in runs.of(name, every)])
        mean, low, high = band(days)
        sure = bool(np.isfinite(low).all()) and name in (AUTOMATIC, KNOWN)  # bands of all would hide each other
        x = [float(day) for day in range(1, len(mean) + 1)]
        curves.append(Curve(name, x, mean.tolist(), low.tolist() if sure else (), high.tolist() if sure else ()))
    return Figure(
        f"freshness-figure-days-{every / 3600:g}h", f"Freshness day by day, a look a page every {spoken(every)}",
        "day", "share of relevance that is fresh", curves,
        note=f"At first all pages have just been fetched; then schedules that learn get better. {BANDS}",
    )  # fmt: skip


def figure_budgets(runs: Runs) -> Figure:
    """Freshness by budget."""
    x = [DAY / every for every in runs.budgets]
    curves = []
    for name in SCHEDULES:
        told = [runs.interval(name, every) for every in runs.budgets]
        sure = all(np.isfinite(one.low) for one in told)
        curves.append(
            Curve(
                name, x, [one.mean for one in told], [one.low for one in told] if sure else (),
                [one.high for one in told] if sure else (),
            )
        )  # fmt: skip
    return Figure(
        "freshness-figure-budgets", "Freshness by budget", "looks a page a day", "share of relevance that is fresh",
        curves, log_x=True, note=BANDS,
    )  # fmt: skip


def figure_visits(runs: Runs, every: float) -> Figure:
    """Looks by how often pages change: what the engine did."""
    curves = []
    for name in SCHEDULES:
        pages = [page for one in runs.of(name, every) for page in one.pages]
        days = len(runs.of(name, every)[0].days)
        x, y = [], []
        for low, high in pairwise(EDGES):
            own = [page for page in pages if low <= page[0] < high]
            if own:
                x.append(max(float(np.mean([page[0] for page in own])), 0.01))
                y.append(float(np.mean([page[2] for page in own])) / days)
        curves.append(Curve(name, x, y))
    return Figure(
        f"freshness-figure-visits-{every / 3600:g}h", f"Looks by rate of change, a look a page every {spoken(every)}",
        "real changes a day", "looks a day", curves, log_x=True,
        note="Pages of all webs, by their true rates; means of pages that change about as often. Pages that never "
        "change are at 0.01.",
    )  # fmt: skip


def figure_allocation() -> Figure:
    """The optimum: visits by rate of change, all pages alike in relevance. A hump, and then nothing."""
    rates = np.exp(np.linspace(np.log(0.01), np.log(100.0), 240))
    curves = []
    for looks, label in ((2.0, "two looks a page a day"), (1.0, "one look a day"), (1 / 3, "one look in three days")):
        visits, _ = allocate(np.ones(len(rates)), rates, looks * len(rates))
        curves.append(Curve(label, rates.tolist(), visits.tolist()))
    return Figure(
        "freshness-figure-allocation", "The best visits, by how often pages change", "changes a day", "visits a day",
        curves, log_x=True, log_y=False,
        note="240 pages of equal relevance, their rates evenly spread on the logarithmic axis. Visits rise with the "
        "rate, and fall to nothing for what changes too fast to be followed.",
    )  # fmt: skip
