"""Section 8.2: estimators lead the crawl. Table 6, figure 3, table 7."""

from __future__ import annotations

from lycosa.lab.certainty import band
from lycosa.lab.findings import AS_PUBLISHED, Cell, Curve, Figure, Table
from lycosa.lab.papers.gouriten.crawls import ORACLE, Crawls
from lycosa.lab.papers.gouriten.datasets import CORPUS, GENERATED
from lycosa.lab.papers.gouriten.published import BANDITS, GLOBAL, at
from lycosa.lab.papers.gouriten.steering import grid, seeds_note

VAR = "mab_var,epsilon=0.2,reset=200"
LEADERS = {
    "bfs": "breadth-first",
    "opic": "opic-alpha",
    "n": "fl_n",
    "e": "fl_e",
    "ne": "fl_ne",
    "lr_fl": "lr_fl",
    "mab_var-0.2-200": VAR,
}
"""The estimators of table 7 by the paper's names, and ours."""

PLAYERS = {
    "mab_epsilon": "mab_epsilon",
    "mab_first": "mab_first",
    "mab_var-0.1-1000": "mab_var,epsilon=0.1,reset=1000",
    "mab_var-0.2-200": VAR,
}
"""The bandits of table 6."""

BEYOND = {"opic, unweighted": "opic", "sl_n": "sl_n", "sl_e": "sl_e", "sl_ne": "sl_ne", "lr_sl": "lr_sl"}
"""What the paper tried besides and does not tabulate."""

Scores = dict[str, dict[int, float]]


def global_scores(crawls: Crawls, group: str, named: dict[str, str]) -> Scores:
    """By estimator and step."""
    return {
        label: {step: crawls.global_score(group, text, step) for step in crawls.steps(group)}
        for label, text in named.items()
    }


def score_table(
    crawls: Crawls, key: str, title: str, named: dict[str, str], published: dict[str, tuple[float, float, float, float]]
) -> Table:
    """Global scores here beside the paper's."""
    groups = [group for group in (CORPUS, GENERATED) if crawls.graphs(group)]
    ours = {group: global_scores(crawls, group, named) for group in groups}
    steps = sorted({step for group in groups for step in crawls.steps(group)})
    rows: list[list[Cell]] = [
        [label, step, *(ours[group][label].get(step) for group in groups), at(published[label], step)]
        for label in named
        for step in steps
    ]
    judged = "The score is the guide's own" if crawls.mode == AS_PUBLISHED else "Labels say what a page is worth"
    return Table(
        key,
        title,
        ("estimator", "step", *(f"here, {group}" for group in groups), "paper"),
        rows,
        crawls.mode,
        note=f"Mean over seed sets, divided by that of greedy with the oracle, geometric mean over graphs. {judged}. "
        + seeds_note(crawls),
    )


def table_6(crawls: Crawls) -> Table:
    """The bandits."""
    return score_table(crawls, "gouriten-table-6", "Table 6: global score of the bandits", PLAYERS, BANDITS)


def table_7(crawls: Crawls) -> Table:
    """All estimators."""
    key = "gouriten-table-7" if crawls.mode == AS_PUBLISHED else "gouriten-table-7-independent"
    title = "Table 7" if crawls.mode == AS_PUBLISHED else "Table 7 by labels"
    return score_table(crawls, key, f"{title}: global score of the estimators", LEADERS, GLOBAL)


def table_beyond(crawls: Crawls) -> Table:
    """What the paper mentions only: unweighted OPIC and the second level."""
    scores = global_scores(crawls, CORPUS, BEYOND)
    rows: list[list[Cell]] = [[label, step, score] for label, of in scores.items() for step, score in of.items()]
    return Table(
        "gouriten-section-8-2",
        "Section 8.2: global score of what the paper tried besides",
        ("estimator", "step", "here, corpus"),
        rows,
        crawls.mode,
        note="The paper has no numbers: unweighted OPIC was no improvement, the second level no better than the first.",
    )


def figures_3(crawls: Crawls) -> list[Figure]:
    """Cumulative scores on the first graph of each group, as the paper draws two of its five."""
    found = []
    for group in (CORPUS, GENERATED):
        for graph in crawls.graphs(group)[:1]:
            last = crawls.results[graph][1].experiment.budget
            sets = crawls.results[graph][1].experiment.seed_sets
            steps = grid(last)
            curves = []
            for label, text in {"oracle": ORACLE, **LEADERS}.items():
                lines = crawls.curve(graph, text, last)
                if not len(lines):
                    continue
                drawn = band(lines[:, [step - 1 for step in steps]])
                sides = [[], []] if len(lines) < 2 else [drawn.low.tolist(), drawn.high.tolist()]
                curves.append(Curve(label, steps, drawn.mean.tolist(), *sides))
            key = "gouriten-figure-3" + ("" if group == CORPUS else f"-{group}")
            found.append(
                Figure(
                    key + ("" if crawls.mode == AS_PUBLISHED else "-independent"),
                    f"Figure 3{'' if crawls.mode == AS_PUBLISHED else ' by labels'}: score of the crawl, {graph}",
                    "steps",
                    "score" if crawls.mode == AS_PUBLISHED else "pages of the class",
                    curves,
                    crawls.mode,
                    note=f"Means over {sets} seed sets with 95 % intervals."
                    if sets > 1
                    else "One seed set, so no interval.",
                )
            )
    return found
