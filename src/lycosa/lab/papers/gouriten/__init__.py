"""Gouriten, Maniu, Senellart 2014: the experiments on graphs with scores, tables 1 to 7 and figures 1 to 3.

The paper's five graphs are gone with their server. In their place: keywords on a corpus with text, scored as its two
of Wikipedia were; and graphs made up like these two. The guide's scores are what is counted, as published; where the
corpus has labels, table 7 and figure 3 are there a second time, with what the labels say.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lycosa.lab.findings import INDEPENDENT, Figure, Findings, Table
from lycosa.lab.papers import PAPERS, Bench
from lycosa.lab.papers.gouriten.claims import all_claims
from lycosa.lab.papers.gouriten.crawls import crawl
from lycosa.lab.papers.gouriten.datasets import CORPUS, GENERATED, Dataset, all_datasets, table_1
from lycosa.lab.papers.gouriten.features import Fits
from lycosa.lab.papers.gouriten.leading import BEYOND, LEADERS, PLAYERS, figures_3, table_6, table_7, table_beyond
from lycosa.lab.papers.gouriten.sequence import Forced
from lycosa.lab.papers.gouriten.steering import BATCHES, Altered, table_2
from lycosa.lab.papers.gouriten.verdicts import LONG_RUN

__all__ = ["findings"]

SETS, ALTERED_SETS, LARGE_SETS = 5, 1, 1
"""Seed sets: of the corpus' graphs, for altered greedy with its many parameters, of graphs with millions of nodes. The
paper has ten of each."""


def findings(bench: Bench) -> Findings:
    """All tables, figures and claims."""
    bench = replace(bench, out=bench.out / "gouriten")
    bench.out.mkdir(parents=True, exist_ok=True)
    remarks: list[str] = []
    graphs = all_datasets(bench, remarks)
    sets = 2 if bench.quick else SETS
    altered = Altered(bench, graphs, 1 if bench.quick else ALTERED_SETS)
    strategies = [*LEADERS.values(), *PLAYERS.values(), *BATCHES.values()]
    crawls = crawl(bench, _of(graphs, CORPUS), [*strategies, *BEYOND.values()], sets=sets)
    large = crawl(bench, _of(graphs, GENERATED), strategies, sets=sets_of_large(bench))
    crawls.results |= large.results
    labelled = crawl(bench, [g for g in graphs if g.labels], list(LEADERS.values()), sets=sets, mode=INDEPENDENT)
    fits = Fits(bench.random_seed)
    for graph in graphs:
        fits.add(graph.name, graph.guide)
    forced = Forced(bench, crawls)
    parts: list[Table | Figure] = [
        table_1(graphs), *altered.figures(), table_2(crawls), *fits.tables(), forced.table_5(), *forced.figures_2(),
        table_6(crawls), *figures_3(crawls), table_7(crawls), table_beyond(crawls),
    ]  # fmt: skip
    if labelled.results:
        parts += [*figures_3(labelled), table_7(labelled)]
    claims = all_claims(altered, crawls, fits, forced)
    return Findings(
        "gouriten", PAPERS["gouriten"], parts, claims,
        summary=_summary(graphs),
        configuration=_configuration(bench, graphs, sets),
        corpus={key: value for key, value in bench.index.facts.items() if key != "classes"},
        remarks=[*remarks, *crawls.remarks(), *labelled.remarks()],
    )  # fmt: skip


def sets_of_large(bench: Bench) -> int:
    """Seed sets on graphs of millions of nodes, where one crawl by regression takes minutes. The paper has ten."""
    return 1 if bench.quick else LARGE_SETS


def _of(graphs: list[Dataset], group: str) -> list[Dataset]:
    return [graph for graph in graphs if graph.group == group]


def _summary(graphs: list[Dataset]) -> str:
    names = ", ".join(graph.name for graph in graphs)
    return (
        f"Estimators of what a node not yet fetched is worth, on {len(graphs)} graphs: {names}. The paper's own graphs "
        "are not to be had any more. Those in capitals are keywords on this corpus, the others were generated. What "
        "counts, and decides about claims, is the guide's own score, as published; where the corpus has labels, table "
        "7 and figure 3 stand a second time, by these. What the "
        f"paper says of the long run is tested where a crawl has {LONG_RUN:,} steps or more; here the longest has "
        f"{max(step for graph in graphs for step in graph.steps):,}."
    )


def _configuration(bench: Bench, graphs: list[Dataset], sets: int) -> dict[str, Any]:
    return {
        "quick": bench.quick,
        "random_seed": bench.random_seed,
        "seed_sets": {CORPUS: sets, GENERATED: sets_of_large(bench)},
        "graphs": {graph.name: {"steps": list(graph.steps), "seeds": graph.seeds} for graph in graphs},
        "strategies": {**LEADERS, **PLAYERS, **BEYOND},
    }
