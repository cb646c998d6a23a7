"""What each term of scent is worth: the same crawls with one of them left out."""

from __future__ import annotations

from collections.abc import Sequence

from lycosa.core.spec import spell
from lycosa.estimators.scent import TERMS
from lycosa.lab.findings import Cell, Curve, Figure, Table
from lycosa.lab.papers.scent.comparing import apart
from lycosa.lab.papers.scent.crawls import SCENT, Crawls

PARTS = {
    "all word vectors": {"vectors": "false"},
    "relevance feedback": {"sharpen": "false"},
    "adaptive weights": {"adapt": "false"},
    "delayed credit": {"credit": "0"},
}
"""What is no term of its own."""


def without(most: int = 0) -> dict[str, str]:
    """By term the strategy that does without it, and so by part: `most` terms, or all of both."""
    texts = {term: spell(SCENT, {"without": term}) for term in (TERMS[:most] if most else TERMS)}
    return texts if most else texts | {part: spell(SCENT, given) for part, given in PARTS.items()}


def table_ablation(crawls: Sequence[Crawls], texts: dict[str, str]) -> Table:
    """By how much the share changes without a term: below 0, the term helps."""
    rows: list[list[Cell]] = [
        [one.cell.title, term, *(apart(one.ahead(text, SCENT, budget)) for budget in one.budgets)]
        for one in crawls
        for term, text in texts.items()
        if text in one.curves
    ]
    budgets = [f"after {budget:,} pages" for budget in crawls[0].budgets]
    return Table(
        "scent-ablation", "Without one term: change of the share of the oracle's",
        ("told, seeds", "without", *budgets), rows,
        note="Paired, with 95 % intervals over topics and seed sets. Below 0: scent is worse without it. Terms are "
        "alike in part: what one of them leaves out another one says, so that single changes are small.",
    )  # fmt: skip


def figure_ablation(crawls: Sequence[Crawls], texts: dict[str, str]) -> Figure:
    """The same, mean of the cells."""
    there = {term: text for term, text in texts.items() if all(text in one.curves for one in crawls)}
    places = list(range(len(there)))
    curves = []
    for budget in crawls[0].budgets:
        changes = [sum(one.ahead(text, SCENT, budget).mean for one in crawls) / len(crawls) for text in there.values()]
        curves.append(Curve(f"{budget:,} pages", places, changes))
    return Figure(
        "scent-figure-ablation", "Without one term", "term left out", "change of the share of the oracle's", curves,
        bars=True, ticks=list(there),
        note=f"Mean of {' and '.join(one.cell.title for one in crawls)}. Below 0: the term helps.",
    )  # fmt: skip
