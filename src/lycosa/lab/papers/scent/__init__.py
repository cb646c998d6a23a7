"""Scent against the published strategies: five cells, three budgets, what its terms are worth, and where it fails.

Topics and keywords are dealt into halves by a checksum of their names. Scent is developed on one half (`--develop`);
what is reported comes of the other. Labels judge what was found, which no strategy sees; keywords are judged by their
occurrences, as Gouriten et al. published it.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from lycosa.core.errors import InputError
from lycosa.lab.findings import Figure, Findings, Table
from lycosa.lab.papers import OURS, Bench
from lycosa.lab.papers.gouriten.graphs import ABOVE
from lycosa.lab.papers.scent.ablation import figure_ablation, table_ablation, without
from lycosa.lab.papers.scent.choosing import DEVELOPMENT, REPORT, Hunted, choose
from lycosa.lab.papers.scent.comparing import claims_of, compare, table_all, table_cells
from lycosa.lab.papers.scent.crawls import (
    ABLATED,
    ABLATION_SETS,
    CELLS,
    EXAMPLES,
    LEFT_OUT,
    QUICK,
    Cell,
    Crawls,
    Size,
    crawl,
)
from lycosa.lab.papers.scent.curves import figure_harvest, figure_share
from lycosa.lab.papers.scent.failures import table_lost, table_topics, table_worst
from lycosa.lab.papers.scent.floors import corpus_name

__all__ = ["findings"]


def findings(bench: Bench) -> Findings:
    """All tables, figures and claims."""
    index = bench.index
    if not index.has_text or not index.classes:
        raise InputError("scent is measured on pages with text and classes: take another corpus than a graph")
    size = size_of(bench)
    hunted = choose(index, DEVELOPMENT if bench.develop else REPORT, size.topics, bench.random_seed, bench.tell)
    texts = without(size.terms)
    crawls: list[Crawls] = []
    remarks = [*hunted.remarks, LEFT_OUT]
    for cell in CELLS:
        try:
            crawls.append(crawl(bench, cell, hunted, size))
        except InputError as error:
            remarks.append(f"Left out: {cell.title}: {error}")
    if not crawls:
        raise InputError(f"no cell could be run: {' '.join(remarks)}")
    fewer = replace(size, sets=min(size.sets, ABLATION_SETS), published=(), budgets=size.budgets[:2])
    told = [crawl(bench, cell, hunted, fewer, list(texts.values())) for cell in ABLATED if _there(cell, crawls)]
    compared = compare(crawls, corpus_name(index))
    parts: list[Table | Figure] = [table_cells(crawls, compared), table_all(crawls)]
    parts += [table_ablation(told, texts), figure_ablation(told, texts)] if told else []
    parts += [*map(figure_share, crawls), *map(figure_harvest, crawls)]
    parts += [table_worst(crawls), table_lost(crawls), table_topics(crawls)]
    for one in crawls:
        remarks += [f"{one.cell.title}: {line}" for line in _own(one, texts)]
    return Findings(
        "scent", OURS["scent"], parts, claims_of(compared, bench.quick), _summary(crawls, hunted, size),
        configuration(bench, hunted, size, crawls), bench.corpus, remarks,
    )  # fmt: skip


def _there(cell: Cell, crawls: list[Crawls]) -> bool:
    """Whether crawls of this kind could be run."""
    return any((one.cell.told, one.cell.seeds) == (cell.told, cell.seeds) for one in crawls)


def size_of(bench: Bench) -> Size:
    """How much is run: budgets end at a third of the corpus, beyond it any crawl comes to have everything."""
    whole = Size(2, 1, (20, 50, 100), QUICK, 2) if bench.quick else Size()
    most = len(bench.index) // 3
    budgets = tuple(budget for budget in whole.budgets if budget <= most) or (max(1, most),)
    return Size(whole.topics, whole.sets, budgets, whole.published, whole.terms)


def configuration(bench: Bench, hunted: Hunted, size: Size, crawls: list[Crawls]) -> dict[str, Any]:
    """All that has to be known to do it again."""
    return {
        "quick": bench.quick,
        "random_seed": bench.random_seed,
        "half": hunted.half,
        "topics": hunted.topics,
        "keywords": hunted.keywords,
        "size": asdict(size),
        "experiments": {one.cell.key: one.results.experiment.as_dict() for one in crawls},
    }


def _own(crawls: Crawls, texts: dict[str, str]) -> list[str]:
    """What a run had to say, but for strategies with a term left out; who beat the oracle beside scent, in one line."""
    said = [line for line in crawls.results.remarks if not any(f"{text} " in line for text in texts.values())]
    above = [
        name for name in crawls.published for line in said if f"{ABOVE}, which is greedy, not optimal: {name} " in line
    ]
    more = [f"{ABOVE} in some trials, too: {', '.join(above)}."] if above else []
    others = [line for line in said if not any(f"not optimal: {name} " in line for name in above)]
    return others + more


def _summary(crawls: list[Crawls], hunted: Hunted, size: Size) -> str:
    count = sum(len(one.results.outcomes) for one in crawls)
    smaller = [
        f"{name} ({len(subject.examples)})"
        for one in crawls
        if one.cell.told == "examples"
        for name, subject in one.results.subjects.items()
        if len(subject.examples) < EXAMPLES
    ]
    few = f" Of small topics a quarter was pointed at: {', '.join(dict.fromkeys(smaller))}." if smaller else ""
    return (
        f"Scent and {len(size.published)} published strategies in {len(crawls)} cells, {count:,} crawls of "
        f"{size.budgets[-1]:,} pages: {len(hunted.topics)} topics and {len(hunted.keywords)} keywords of the "
        f"{hunted.half} half. Shares are of what a greedy crawl finds that knows what every page is worth.{few}"
    )
