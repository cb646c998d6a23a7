"""Gouriten, Maniu, Senellart 2014: experiments on graphs with scores, tables 1 to 7 and figures 1 to 3.

The paper's five graphs are no longer available. They are replaced by keywords on a corpus with text, scored like its
two Wikipedia graphs, and by generated graphs of the same shape. Crawls are scored by the guide (which also scores the
links for the strategies), as published; where the corpus has labels, table 7 and figure 3 are repeated by labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lycosa_lab.findings import INDEPENDENT, Claim, Findings, ReportFigure, ReportTable, qualified
from lycosa_lab.papers import Bench
from lycosa_lab.papers.gouriten import claims, graphs
from lycosa_lab.papers.gouriten import measurements as measured
from lycosa_lab.papers.gouriten.claims import FEATURES, TABLE_6, TABLE_7
from lycosa_lab.papers.gouriten.graphs import CORPUS, GENERATED, Crawls, crawl, generated, seeds_for
from lycosa_lab.papers.gouriten.measurements import BATCHES, MODELS, UNTABULATED, AlteredGreedy, Fits, ForcedSequences
from lycosa_lab.trial_strategies import ORACLE


def findings(bench: Bench) -> Findings:
    bench = replace(bench, out=bench.out / "gouriten", workers=1 if bench.quick else bench.workers)
    bench.out.mkdir(parents=True, exist_ok=True)
    remarks: list[str] = []
    of_corpus, like = list(graphs.keywords_of(bench, remarks)), list(generated(bench))
    every = [*of_corpus, *like]
    sets, made_sets = (2, 1) if bench.quick else (10, 10)
    altered = AlteredGreedy(bench, every, 1)
    strategies = [*TABLE_7.values(), *TABLE_6.values(), *BATCHES.values(), *measured.ORIGINAL.values()]
    crawls = crawl(bench, of_corpus, [*strategies, *UNTABULATED.values()], sets=sets)
    crawls.results |= crawl(bench, like, strategies, sets=made_sets).results
    labelled = crawl(bench, every, list(TABLE_7.values()), sets=sets, mode=INDEPENDENT)
    fits = Fits({graph.name: graph.guide for graph in every}, bench.random_seed)
    forced = ForcedSequences(bench, crawls)
    parts: list[ReportTable | ReportFigure] = [
        graphs.table_1(every), *altered.figures(), measured.table_2(crawls), *fits.tables(), forced.table_5(),
        *forced.figures_2(), measured.table_6(crawls), *measured.figures_3(crawls), measured.table_7(crawls),
        measured.table_beyond(crawls),
    ]  # fmt: skip
    if labelled.results:
        parts += [*measured.figures_3(labelled), measured.table_7(labelled)]
    if bench.large:
        result, cheap = generated(bench, large=True), list(measured.CHEAP.values())
        large = crawl(bench, result, cheap, sets=min(made_sets, 3), part="large")
        parts.append(measured.table_7_large(large))
        remarks += large.remarks()
    return bench.findings(
        "gouriten", parts, list(all_claims(altered, crawls, fits, forced)),
        f"Estimators of the score of unfetched nodes on {len(every)} graphs: "
        f"{', '.join(graph.name for graph in every)}. The paper's own graphs "
        "are no longer available. Those in capitals are keywords on this corpus, the others were generated. Claims "
        "are decided by the guide's own score, as published; where the corpus has labels, table "
        "7 and figure 3 are repeated by labels. Claims on the long run are tested where a crawl "
        f"has {claims.LONG_RUN:,} steps or more; here the longest has "
        f"{max(step for graph in every for step in graph.steps):,}.",
        {
            "random_seed": bench.random_seed, "seed_sets": {CORPUS: sets, GENERATED: made_sets},
            "graphs": {
                graph.name: {"steps": list(graph.steps), "seeds": seeds_for(graph.subject)} for graph in every
            },
            "strategies": {**TABLE_7, **TABLE_6, **UNTABULATED},
        },
        [*remarks, *crawls.remarks(), *labelled.remarks()],
    )  # fmt: skip


def all_claims(altered: AlteredGreedy, crawls: Crawls, fits: Fits, forced: ForcedSequences) -> Iterator[Claim]:
    """Yield the rulings on all claims in the order of the paper, over all graphs; each graph counts as a topic."""
    yield claims.greedy_not_optimal([*crawls.beaten(), *altered.crawls.beaten()])
    ends = altered.crawls.compared(altered.named, claims.FEW_THOUSAND, ends=True)
    yield from (claims.greedy_wins(ends), claims.near_greedy_best(ends))
    yield claims.altered_early(altered.crawls.compared(altered.named))
    batches = crawls.compared(
        {"greedy": ORACLE} | {f"batch of {size:,}": text for size, text in BATCHES.items()}, 1_000
    )
    for rule in (claims.batch_of_two, claims.larger_is_worse, claims.delay_grows):
        yield rule(batches, BATCHES)
    graphs = len(fits.by_graph)
    original, log = (fits.each(FEATURES, kind) for kind in ("original", "log"))
    yield claims.all_positive(fits.every_correlation(), graphs)
    yield claims.log_helps(original, log)
    yield claims.no_clear_feature(fits.correlations("log"), graphs)
    yield claims.log_fits(fits.each(MODELS, "original"), fits.each(MODELS, "log"))
    yield claims.second_level_fits(fits.each(MODELS, "held out"))
    yield claims.low_fit(fits.each(MODELS, "log"))
    for graph in forced.timed:
        rules = claims.nr_slow, claims.first_level_quick, claims.second_level_costs
        yield from qualified(f"on {graph}", [rule(forced.times(graph)) for rule in rules])
    for watched in (claims.distance_falls, claims.ne_loses_ground, claims.regression_catches_up):
        yield watched(forced.compared())
    yield claims.no_winner(forced.best_by_quarter())
    yield claims.bandits_alike(crawls.compared(TABLE_6))
    yield claims.bandits_steadier(crawls.compared({**TABLE_7, **TABLE_6}, claims.LONG_RUN))
    for claim in claims.TABLE_7_CLAIMS:
        yield claim(crawls.compared(TABLE_7))
    for claim in claims.LONG_RUN_CLAIMS:
        yield claim(crawls.compared(TABLE_7, claims.LONG_RUN))
    compared = crawls.compared({**TABLE_7, **UNTABULATED})
    yield claims.original_no_better(compared, {"opic-original": "opic-alpha"})
    pairs = {"sl_n": "fl_n", "sl_e": "fl_e", "sl_ne": "fl_ne", "lr_sl": "lr_fl"}
    yield claims.second_level_no_better(compared, pairs)
