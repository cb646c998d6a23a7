"""Gouriten, Maniu, Senellart 2014: the experiments on graphs with scores, tables 1 to 7 and figures 1 to 3.

The paper's five graphs are gone with their server. In their place: keywords on a corpus with text, scored as its two
of Wikipedia were; and graphs made up like these two. The guide's scores are what is counted, as published; where the
corpus has labels, table 7 and figure 3 are there a second time, with what the labels say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lycosa.lab.findings import INDEPENDENT, Claim, Figure, Findings, Table, on
from lycosa.lab.papers import PAPERS, Bench
from lycosa.lab.papers.gouriten import claims
from lycosa.lab.papers.gouriten.claims import LONG_RUN
from lycosa.lab.papers.gouriten.graphs import CORPUS, GENERATED, Crawls, all_graphs, crawl, large_graphs, table_1
from lycosa.lab.papers.gouriten.measured import (
    BATCHES,
    BEYOND,
    CHEAP,
    LEADERS,
    ORIGINAL,
    PLAYERS,
    Altered,
    Fits,
    Forced,
    degradation,
    figures_3,
    global_scores,
    table_2,
    table_6,
    table_7,
    table_7_large,
    table_beyond,
)

__all__ = ["findings"]

# Seed sets: of the paper, of crawls of 100,000 steps, of quick runs and altered greedy.
SETS, LARGE_SETS, QUICK_SETS = 10, 3, 2

ON = {CORPUS: "on keywords of the corpus", GENERATED: "on generated graphs"}


def findings(bench: Bench) -> Findings:
    bench = replace(bench, out=bench.out / "gouriten", workers=1 if bench.quick else bench.workers)
    bench.out.mkdir(parents=True, exist_ok=True)
    remarks: list[str] = []
    graphs = all_graphs(bench, remarks)
    sets = QUICK_SETS if bench.quick else SETS
    of_corpus, generated = ([graph for graph in graphs if graph.group == group] for group in ON)
    altered = Altered(bench, graphs, 1)
    strategies = [*LEADERS.values(), *PLAYERS.values(), *BATCHES.values(), *ORIGINAL.values()]
    crawls = crawl(bench, of_corpus, [*strategies, *BEYOND.values()], sets=sets)
    made_sets = 1 if bench.quick else SETS
    crawls.results |= crawl(bench, generated, strategies, sets=made_sets).results
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
    if bench.large:
        large = crawl(bench, large_graphs(bench), list(CHEAP.values()), sets=min(made_sets, LARGE_SETS), part="large")
        parts.append(table_7_large(large))
        remarks += large.remarks()
    return Findings(
        "gouriten", PAPERS["gouriten"], parts,
        list(all_claims(altered, crawls, fits, forced)),
        f"Estimators of what a node not yet fetched is worth, on {len(graphs)} graphs: "
        f"{', '.join(graph.name for graph in graphs)}. The paper's own graphs "
        "are no longer available. Those in capitals are keywords on this corpus, the others were generated. What "
        "counts, and decides about claims, is the guide's own score, as published; where the corpus has labels, table "
        "7 and figure 3 stand a second time, by these. What the "
        f"paper says of the long run is tested where a crawl has {LONG_RUN:,} steps or more; here the longest has "
        f"{max(step for graph in graphs for step in graph.steps):,}.",
        {
            "quick": bench.quick, "random_seed": bench.random_seed, "seed_sets": {CORPUS: sets, GENERATED: made_sets},
            "graphs": {graph.name: {"steps": list(graph.steps), "seeds": graph.seeds} for graph in graphs},
            "strategies": {**LEADERS, **PLAYERS, **BEYOND},
        },
        bench.index.about, [*remarks, *crawls.remarks(), *labelled.remarks()],
    )  # fmt: skip


def all_claims(altered: Altered, crawls: Crawls, fits: Fits, forced: Forced) -> Iterator[Claim]:
    """In the order of the paper, section by section."""
    groups = [group for group in ON if crawls.graphs(group)]
    beaten = [*crawls.beaten(), *(line for one in altered.by_group.values() for line in one.beaten())]
    yield claims.greedy_not_optimal(beaten)
    for group in groups:
        yield from on(ON[group], _of_steering(altered, crawls, group))
    pearson, log_pearson = fits.correlations("original"), fits.correlations("log")
    fitted, log_fitted = fits.fits("original"), fits.fits("log")
    yield claims.all_positive(fits.by_graph())
    yield claims.log_helps(pearson, log_pearson)
    yield claims.no_clear_feature(log_pearson)
    yield claims.log_fits(fitted, log_fitted)
    yield claims.second_level_fits(log_fitted, fits.fits_outside())
    yield claims.low_fit(log_fitted)
    for graph in forced.timed:
        times = forced.times(graph)
        timed = claims.nr_slow(times), claims.first_level_quick(times), claims.second_level_costs(times)
        yield from on(f"on {graph}", timed)
    for graph in forced.drawn.values():
        early, *_, late = forced.quarters(graph)
        steps = len(forced.watched[graph].best)
        rules = claims.distance_falls, claims.ne_loses_ground, claims.regression_catches_up
        yield from on(graph, [rule(early, late, steps) for rule in rules])
    yield claims.no_winner(forced.best_by_quarter())
    for group in groups:
        yield from on(ON[group], _of_leading(crawls, group))


def _of_steering(altered: Altered, crawls: Crawls, group: str) -> Iterator[Claim]:
    last = altered.steps[group][-1]
    scores, costs = altered.scores(group, last), degradation(crawls, group)
    yield claims.greedy_wins(scores, last)
    yield claims.near_greedy_best(scores, last)
    yield claims.altered_early({step: altered.gains(group, step) for step in altered.steps[group] if step < 1_000})
    yield claims.batch_of_two(costs)
    yield claims.larger_is_worse(costs)
    yield claims.delay_grows(costs)


def _of_leading(crawls: Crawls, group: str) -> Iterator[Claim]:
    scores, bandits = (global_scores(crawls, group, named) for named in (LEADERS, PLAYERS))
    yield claims.bandits_alike(bandits)
    yield claims.steadier({**scores, **bandits}, tuple(bandits))
    yield claims.bfs_and_opic_worst(scores)
    yield claims.n_comes_late(scores)
    yield claims.e_and_ne_alike(scores)
    yield claims.e_and_ne_early(scores)
    yield claims.regression_late(scores)
    yield claims.bandit_steady(scores)
    beside = {**scores, **global_scores(crawls, group, BEYOND if group == CORPUS else ORIGINAL)}
    yield claims.original_no_better(beside, {"opic, original": "opic"})
    if group == CORPUS:
        yield claims.second_level_no_better(beside, {"sl_n": "n", "sl_e": "e", "sl_ne": "ne", "lr_sl": "lr_fl"})
