"""Section 6, with the oracle as the estimator: figure 1 (chance beside greed) and table 2 (batches)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lycosa.drawing.formats import many
from lycosa.lab.findings import AS_PUBLISHED, Cell, Curve, Figure, Table
from lycosa.lab.papers import Bench
from lycosa.lab.papers.gouriten.crawls import ORACLE, Crawls, crawl
from lycosa.lab.papers.gouriten.datasets import CORPUS, GENERATED, Dataset
from lycosa.lab.papers.gouriten.published import DEGRADATION, at
from lycosa.lab.papers.gouriten.verdicts import over

BATCHES = {batch: f"{ORACLE},batch={batch},dry=random" for batch in DEGRADATION}
STEP = 5_000
"""The step of figure 1."""

EARLY = (100, 300)
"""Steps that are well below a thousand."""

Pair = tuple[float, float]


def altered(quick: bool) -> dict[Pair, str]:
    """Strategies by q and zeta. q = 1 is greedy whatever zeta is."""
    qs, zetas = ((0.2, 0.8), (0.0, 0.4, 0.8)) if quick else ((0.2, 0.4, 0.6, 0.8), (0.0, 0.2, 0.4, 0.6, 0.8))
    return {(q, zeta): f"{ORACLE},q={q:g},zeta={zeta:g}" for q in qs for zeta in zetas}


class Altered:
    """Randomised crawls on each graph, and their scores relative to greedy's at some steps."""

    def __init__(self, bench: Bench, graphs: Sequence[Dataset], sets: int) -> None:
        self.pairs = altered(bench.quick)
        self.by_group: dict[str, Crawls] = {}
        self.steps: dict[str, list[int]] = {}
        for group in (CORPUS, GENERATED):
            chosen = [graph for graph in graphs if graph.group == group]
            if not chosen:
                continue
            last = max(chosen[0].steps) if bench.quick else min(STEP, *(len(graph.index) // 3 for graph in chosen))
            steps = sorted({*(step for step in EARLY if step < last), last})
            crawls = crawl(bench, chosen, list(self.pairs.values()), sets=sets, steps=steps, part="altered")
            self.by_group[group], self.steps[group] = crawls, steps

    def scores(self, group: str, step: int) -> dict[Pair, float]:
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
        found = []
        for group, (*_, step) in self.steps.items():
            scores = self.scores(group, step)
            curves = [
                Curve(
                    f"zeta = {zeta:g}",
                    [*sorted({q for q, _ in scores}), 1.0],
                    [*(scores[q, zeta] for q in sorted({q for q, _ in scores})), 1.0],
                )
                for zeta in sorted({zeta for _, zeta in scores})
            ]
            graphs = ", ".join(self.by_group[group].graphs(group))
            found.append(
                Figure(
                    "gouriten-figure-1" if group == next(iter(self.steps)) else f"gouriten-figure-1-{group}",
                    f"Figure 1: altered greedy at step {step:,}, {graphs}",
                    "q: probability of the best node", "score relative to greedy", curves, AS_PUBLISHED,
                    note="The estimator is the oracle. With probability 1 - q any node that scores at least zeta times "
                    "the best; q = 1 is greedy. Geometric mean over graphs. The paper's is of JAZZ at step 5,000, "
                    "without numbers: there the best have the highest q and zeta, and are behind greedy.",
                )
            )  # fmt: skip
        return found


def degradation(crawls: Crawls, group: str) -> dict[int, dict[int, float]]:
    """In % by batch size and step."""
    return {
        batch: {step: 100 * (1 - crawls.global_score(group, text, step)) for step in crawls.steps(group)}
        for batch, text in BATCHES.items()
    }


def table_2(crawls: Crawls) -> Table:
    """Degradation by batch, ours and the paper's."""
    ours = {group: degradation(crawls, group) for group in (CORPUS, GENERATED)}
    steps = sorted({step for of in ours.values() for by_step in of.values() for step in by_step})
    rows: list[list[Cell]] = [
        [batch, step, *(ours[group][batch].get(step) for group in ours), at(DEGRADATION[batch], step)]
        for batch in BATCHES
        for step in steps
    ]
    return Table(
        "gouriten-table-2",
        "Table 2: what a batch costs (% of the score with a batch of 1)",
        ("batch size", "step", "here, corpus", "here, generated", "paper"),
        rows,
        AS_PUBLISHED,
        digits=1,
        note="The estimator is the oracle; when a batch has used up all that is ranked, what was found since is taken "
        "at random, as in the paper. Negative: the batch did better. " + seeds_note(crawls),
    )


def seeds_note(crawls: Crawls) -> str:
    """How many seeds and sets, and over which graphs means are."""
    told = [
        f"{graph}: {many(results.experiment.seed_sets, 'set')} of {results.experiment.seed_count}"
        for graph, (_, results) in crawls.results.items()
    ]
    return f"Seeds (non-zero nodes, by chance; the paper: ten sets of fifty): {'; '.join(told)}."


def grid(last: int, points: int = 60) -> list[int]:
    """Steps at which a curve is drawn."""
    return [int(step) for step in np.unique(np.linspace(1, last, min(points, last)).astype(np.int64))]
