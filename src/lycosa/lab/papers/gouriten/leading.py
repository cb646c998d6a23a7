"""Crawls that estimators lead: the oracle with chance beside greed (figure 1) and in batches (table 2), section 6; all
others in section 8.2 (table 6, figure 3, table 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lycosa.drawing.formats import many
from lycosa.lab.certainty import curve
from lycosa.lab.findings import AS_PUBLISHED, Cell, Curve, Figure, Table
from lycosa.lab.papers import Bench
from lycosa.lab.papers.gouriten.claims import over
from lycosa.lab.papers.gouriten.graphs import CORPUS, GROUPS, ORACLE, Crawls, Dataset, crawl
from lycosa.lab.papers.gouriten.published import BANDITS, DEGRADATION, GLOBAL, at

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

BATCHES = {batch: f"{ORACLE},batch={batch},dry=random" for batch in DEGRADATION}
STEP = 5_000
"""The step of figure 1."""

EARLY = (100, 300)
"""Steps that are well below a thousand."""


class Altered:
    """Randomised crawls on each graph, and their scores relative to greedy's at some steps."""

    def __init__(self, bench: Bench, graphs: Sequence[Dataset], sets: int) -> None:
        qs, zetas = ((0.2, 0.8), (0.0, 0.4, 0.8)) if bench.quick else ((0.2, 0.4, 0.6, 0.8), (0.0, 0.2, 0.4, 0.6, 0.8))
        self.pairs = {(q, zeta): f"{ORACLE},q={q:g},zeta={zeta:g}" for q in qs for zeta in zetas}
        """Strategies by q and zeta. q = 1 is greedy whatever zeta is."""
        self.by_group: dict[str, Crawls] = {}
        self.steps: dict[str, list[int]] = {}
        for group in GROUPS:
            chosen = [graph for graph in graphs if graph.group == group]
            if not chosen:
                continue
            last = max(chosen[0].steps) if bench.quick else min(STEP, *(len(graph.index) // 3 for graph in chosen))
            self.steps[group] = sorted({*(step for step in EARLY if step < last), last})
            self.by_group[group] = crawl(
                bench, chosen, list(self.pairs.values()), sets=sets, steps=self.steps[group], part="altered"
            )

    def scores(self, group: str, step: int) -> dict[tuple[float, float], float]:
        """Global scores relative to greedy, by q and zeta."""
        return {pair: self.by_group[group].global_score(group, text, step) for pair, text in self.pairs.items()}

    def gains(self, group: str, step: int) -> dict[str, float]:
        """On each graph by how much the best randomised crawl is above greedy, as a share of its score."""
        crawls = self.by_group[group]
        best = {}
        for graph in crawls.graphs(group):
            greedy = float(crawls.scores(graph, ORACLE, step).mean())
            most = max(float(crawls.scores(graph, text, step).mean()) for text in self.pairs.values())
            best[graph] = over(most, greedy) - 1
        return best

    def figures(self) -> list[Figure]:
        """Figure 1 for the graphs of the corpus and for those made up."""
        figures = []
        for group, (*_, step) in self.steps.items():
            scores = self.scores(group, step)
            qs, zetas = (sorted(set(values)) for values in zip(*scores, strict=True))
            curves = [Curve(f"zeta = {zeta:g}", [*qs, 1.0], [*(scores[q, zeta] for q in qs), 1.0]) for zeta in zetas]
            graphs = ", ".join(self.by_group[group].graphs(group))
            figures.append(
                Figure(
                    "gouriten-figure-1" if group == next(iter(self.steps)) else f"gouriten-figure-1-{group}",
                    f"Figure 1: altered greedy at step {step:,}, {graphs}",
                    "q: probability of the best node", "score relative to greedy", curves, AS_PUBLISHED,
                    note="The estimator is the oracle. With probability 1 - q any node that scores at least zeta times "
                    "the best; q = 1 is greedy. Geometric mean over graphs. The paper's is of JAZZ at step 5,000, "
                    "without numbers: there the best have the highest q and zeta, and are behind greedy.",
                )
            )  # fmt: skip
        return figures


def degradation(crawls: Crawls, group: str) -> dict[int, dict[int, float]]:
    """In % by batch size and step."""
    return {
        batch: {step: 100 * (1 - crawls.global_score(group, text, step)) for step in crawls.steps(group)}
        for batch, text in BATCHES.items()
    }


def table_2(crawls: Crawls) -> Table:
    """Degradation by batch, ours and the paper's."""
    ours = [degradation(crawls, group) for group in GROUPS]
    steps = sorted({step for group in GROUPS for step in crawls.steps(group)})
    rows: list[list[Cell]] = [
        [batch, step, *(costs[batch].get(step) for costs in ours), at(DEGRADATION[batch], step)]
        for batch in BATCHES
        for step in steps
    ]
    return Table(
        "gouriten-table-2", "Table 2: what a batch costs (% of the score with a batch of 1)",
        ("batch size", "step", "here, corpus", "here, generated", "paper"), rows, AS_PUBLISHED, digits=1,
        note="The estimator is the oracle; when a batch has used up all that is ranked, what was found since is taken "
        "at random, as in the paper. Negative: the batch did better. " + seeds_note(crawls),
    )  # fmt: skip


def seeds_note(crawls: Crawls) -> str:
    """How many seeds and sets, and over which graphs means are."""
    plans = {graph: results.experiment for graph, (_, results) in crawls.results.items()}
    sets = [f"{graph}: {many(plan.seed_sets, 'set')} of {plan.seed_count}" for graph, plan in plans.items()]
    return f"Seeds (non-zero nodes, by chance; the paper: ten sets of fifty): {'; '.join(sets)}."


def grid(last: int, points: int = 60) -> list[int]:
    """Steps at which a curve is drawn."""
    return [int(step) for step in np.unique(np.linspace(1, last, min(points, last)).astype(np.int64))]


def global_scores(crawls: Crawls, group: str, named: Mapping[str, str]) -> dict[str, dict[int, float]]:
    """By estimator and step."""
    return {
        label: {step: crawls.global_score(group, text, step) for step in crawls.steps(group)}
        for label, text in named.items()
    }


def score_table(
    crawls: Crawls, key: str, title: str, named: Mapping[str, str], published: Mapping[str, tuple[float, ...]]
) -> Table:
    """Global scores here beside the paper's."""
    groups = [group for group in GROUPS if crawls.graphs(group)]
    ours = {group: global_scores(crawls, group, named) for group in groups}
    steps = sorted({step for group in groups for step in crawls.steps(group)})
    rows: list[list[Cell]] = [
        [label, step, *(ours[group][label].get(step) for group in groups), at(published[label], step)]
        for label in named
        for step in steps
    ]
    judged = "The score is the guide's own" if crawls.mode == AS_PUBLISHED else "Labels say what a page is worth"
    return Table(
        key, f"{title}: global score of the {'bandits' if named is PLAYERS else 'estimators'}",
        ("estimator", "step", *(f"here, {group}" for group in groups), "paper"), rows, crawls.mode,
        note=f"Mean over seed sets, divided by that of greedy with the oracle, geometric mean over graphs. {judged}. "
        + seeds_note(crawls),
    )  # fmt: skip


def table_6(crawls: Crawls) -> Table:
    """The bandits."""
    return score_table(crawls, "gouriten-table-6", "Table 6", PLAYERS, BANDITS)


def table_7(crawls: Crawls) -> Table:
    """All estimators."""
    own, by_labels = ("", "") if crawls.mode == AS_PUBLISHED else ("-independent", " by labels")
    return score_table(crawls, f"gouriten-table-7{own}", f"Table 7{by_labels}", LEADERS, GLOBAL)


def table_beyond(crawls: Crawls) -> Table:
    """What the paper mentions only: unweighted OPIC and the second level."""
    scores = global_scores(crawls, CORPUS, BEYOND)
    rows: list[list[Cell]] = [[label, step, score] for label, of in scores.items() for step, score in of.items()]
    return Table(
        "gouriten-section-8-2", "Section 8.2: global score of what the paper tried besides",
        ("estimator", "step", "here, corpus"), rows, crawls.mode,
        note="The paper has no numbers: unweighted OPIC was no improvement, the second level no better than the first.",
    )  # fmt: skip


def figures_3(crawls: Crawls) -> list[Figure]:
    """Cumulative scores on the first graph of each group, as the paper draws two of its five."""
    own, by_labels = ("", "") if crawls.mode == AS_PUBLISHED else ("-independent", " by labels")
    figures = []
    for group in GROUPS:
        for graph in crawls.graphs(group)[:1]:
            plan = crawls.results[graph][1].experiment
            steps = grid(plan.budget)
            lines = {
                label: crawls.curve(graph, text, plan.budget) for label, text in {"oracle": ORACLE, **LEADERS}.items()
            }
            figures.append(
                Figure(
                    "gouriten-figure-3" + ("" if group == CORPUS else f"-{group}") + own,
                    f"Figure 3{by_labels}: score of the crawl, {graph}", "steps",
                    "pages of the class" if by_labels else "score",
                    [curve(label, steps, of[:, np.array(steps) - 1]) for label, of in lines.items() if len(of)],
                    crawls.mode,
                    note=f"Means over {plan.seed_sets} seed sets with 95 % intervals." if plan.seed_sets > 1
                    else "One seed set, so no interval.",
                )
            )  # fmt: skip
    return figures
