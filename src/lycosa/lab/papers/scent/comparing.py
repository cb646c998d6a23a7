"""The table of cells: scent, its floor, the best published strategy with hindsight, what is reachable; and claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lycosa.lab.certainty import Difference, Interval
from lycosa.lab.findings import Cell, Claim, Table, Verdict
from lycosa.lab.papers.scent.crawls import KEYWORD, ORACLE, SCENT, Crawls
from lycosa.lab.papers.scent.floors import floor

SOURCE = "docs/scent.md"


@dataclass
class Compared:
    """A cell at a budget."""

    cell: str
    budget: int
    floor: float | None
    scent: Interval
    counted: float
    """What is held against the floor: for keywords the geometric mean, else the mean."""
    best: str
    published: Interval
    ahead: Difference

    @property
    def where(self) -> str:
        """For evidence."""
        return f"{self.cell}, {self.budget:,} pages"


def compare(crawls: Sequence[Crawls], corpus: str) -> list[Compared]:
    """All cells at all budgets."""
    made = []
    for one in crawls:
        for budget in one.budgets:
            best, scent = one.best(budget), one.interval(SCENT, budget)
            made.append(
                Compared(
                    one.cell.title, budget, floor(corpus, one.cell.key, budget), scent,
                    one.geometric(SCENT, budget) if one.cell == KEYWORD else scent.mean,
                    best, one.interval(best, budget), one.ahead(SCENT, best, budget),
                )
            )  # fmt: skip
    return made


def table_cells(crawls: Sequence[Crawls], compared: Sequence[Compared]) -> Table:
    """The main table."""
    rows: list[list[Cell]] = []
    of = {one.cell.title: one for one in crawls}
    for line in compared:
        cell = of[line.cell]
        rows.append(
            [
                line.cell, line.budget, line.floor if line.floor is not None else "", sure(line.scent),
                line.counted if cell.cell == KEYWORD else "", line.best, sure(line.published),
                cell.geometric(line.best, line.budget) if cell.cell == KEYWORD else "", apart(line.ahead),
                cell.of_bound(ORACLE, line.budget).mean, cell.of_bound(SCENT, line.budget).mean,
                len(cell.topics), len(cell.trials),
            ]
        )  # fmt: skip
    return Table(
        "scent-cells", "Share of what the oracle-greedy crawl finds",
        (
            "told, seeds", "pages", "floor", "scent", "scent, geometric", "best published", "its share",
            "its share, geometric", "scent less best", "oracle of reachable", "scent of reachable", "topics", "crawls",
        ),
        rows,
        note="Mean over topics and seed sets with 95 % intervals (bootstrap: topics, then seed sets within them). The "
        "best published is picked with hindsight in each row: the highest of many means, which favours it. Differences "
        "are paired. Reachable: what no crawl from the same seeds can exceed. Labels judge, but for keywords, where "
        "what counts is log(1 + occurrences), as Gouriten et al. published it; for these the floor is held against "
        "the geometric mean over keywords.",
    )  # fmt: skip


def table_all(crawls: Sequence[Crawls]) -> Table:
    """Every strategy in every cell."""
    names = [SCENT, *dict.fromkeys(name for one in crawls for name in one.published)]
    columns = [(one, budget) for one in crawls for budget in one.budgets]
    rows: list[list[Cell]] = [
        [name, *(one.mean(name, budget) if name in one.curves else None for one, budget in columns)] for name in names
    ]
    return Table(
        "scent-all", "All strategies: share of what the oracle-greedy crawl finds",
        ("strategy", *(f"{one.cell.title}, {budget:,}" for one, budget in columns)), rows,
        note="Means over topics and seed sets.",
    )  # fmt: skip


def claims_of(compared: Sequence[Compared], quick: bool) -> list[Claim]:
    """What is claimed of scent. A claim on all cells fails with the first that misses."""
    behind = [line for line in compared if not line.ahead.mean >= 0]
    told = [f"{line.where}: {line.best} is ahead, scent less it {apart(line.ahead)}." for line in behind]
    clear = sum(line.ahead.low > 0 for line in compared)
    worse = sum(line.ahead.high < 0 for line in compared)
    told.append(
        f"Ahead or level in {len(compared) - len(behind)} of {len(compared)} cells, in {clear} with the whole interval "
        f"above 0; in {worse} the whole interval is below 0."
    )
    found = [
        Claim(
            "In every cell scent finds at least as much as the best published strategy, picked with hindsight", SOURCE,
            _verdict(not behind, quick), _lines(told, quick),
        )
    ]  # fmt: skip
    known = [(line, line.floor) for line in compared if line.floor is not None]
    if known:
        missed = [(line, least) for line, least in known if not line.counted >= least]
        told = [f"{line.where}: {line.counted:.3f}, {least:.2f} was asked for." for line, least in missed]
        told.append(f"Reached in {len(known) - len(missed)} of {len(known)} cells.")
        found.append(
            Claim("Scent reaches the floor of every cell", SOURCE, _verdict(not missed, quick), _lines(told, quick))
        )
    return found


def sure(told: Interval) -> str:
    """A mean with its interval.

    >>> sure(Interval(.5, .41, .6)), sure(Interval(.5, math.nan, math.nan))
    ('0.500 [0.410, 0.600]', '0.500')
    """
    return f"{told.mean:.3f}" + (f" [{told.low:.3f}, {told.high:.3f}]" if math.isfinite(told.low) else "")


def apart(told: Difference) -> str:
    """A difference with its interval.

    >>> apart(Difference(.05, -.01, .1, .2, 8))
    '+0.050 [-0.010, +0.100]'
    """
    return f"{told.mean:+.3f}" + (f" [{told.low:+.3f}, {told.high:+.3f}]" if math.isfinite(told.low) else "")


def _verdict(reached: bool, quick: bool) -> Verdict:
    return "cannot be tested here" if quick else "holds" if reached else "does not hold"


def _lines(told: list[str], quick: bool) -> str:
    return "\n".join([*(["A quick run is too small to tell."] if quick else []), *told])
