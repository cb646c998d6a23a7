"""Measurements of crawls (sections 6 and 8.2), features (7), and estimators that follow the oracle's crawl (8.1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.drawing.formats import many
from lycosa_lab.comparison import CrawlComparison
from lycosa_lab.confidence import curve
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import AS_PUBLISHED, Cell, Curve, ReportFigure, ReportTable
from lycosa_lab.forced_sequence import WatchedSequence, watch
from lycosa_lab.judgements import Judgements
from lycosa_lab.measures import Floats, geometric_mean, pearson, r_squared, steps_to
from lycosa_lab.papers import Bench
from lycosa_lab.papers.gouriten import claims as paper
from lycosa_lab.papers.gouriten.claims import BANDIT, DISTANCE, FEATURES, TABLE_6, TABLE_7, paper_value
from lycosa_lab.papers.gouriten.graphs import CORPUS, GENERATED, GROUPS, Crawls, Dataset, crawl
from lycosa_lab.tables import YARDSTICKS
from lycosa_lab.trial_strategies import LOOK_AHEAD, ORACLE

ORIGINAL = {"opic, original": "opic-original"}
# Mentioned in the paper without numbers. The second level is slow, so it runs on the corpus only.
UNTABULATED = {**ORIGINAL, "sl_n": "sl_n", "sl_e": "sl_e", "sl_ne": "sl_ne", "lr_sl": "lr_sl"}
# A crawl of 100,000 steps on graphs of millions of nodes takes minutes.
CHEAP = {name: TABLE_7[name] for name in ("bfs", "opic", "n", "e", "ne")} | ORIGINAL
OPTIMUM = "oracle, looking ahead"  # a lower bound of the optimum; future work in the paper
BATCHES = {batch: f"{ORACLE},batch={batch},dry=random" for batch in paper.DEGRADATION}


class AlteredGreedy:
    def __init__(self, bench: Bench, graphs: Sequence[Dataset], sets: int) -> None:
        qs, zetas = ((0.2, 0.8), (0.0, 0.4, 0.8)) if bench.quick else ((0.2, 0.4, 0.6, 0.8), (0.0, 0.2, 0.4, 0.6, 0.8))
        # strategies by q and zeta; q = 1 is greedy for any zeta
        self.pairs = {(q, zeta): f"{ORACLE},q={q:g},zeta={zeta:g}" for q in qs for zeta in zetas}
        self.crawls = Crawls()
        for group in GROUPS:
            chosen = [graph for graph in graphs if graph.group == group]
            if chosen:  # up to 5,000 steps, as in figure 1
                last = max(chosen[0].steps) if bench.quick else min(5_000, *(len(graph.index) // 3 for graph in chosen))
                steps = sorted({*(step for step in (100, 300) if step < last), last})
                altered = crawl(bench, chosen, list(self.pairs.values()), sets=sets, steps=steps, part="altered")
                self.crawls.results |= altered.results

    def scores(self, group: str, step: int, crawls: Crawls | None = None) -> dict[tuple[float, float], float]:
        return {pair: (crawls or self.crawls).global_score(group, text, step) for pair, text in self.pairs.items()}

    @property
    def named(self) -> dict[str, str]:
        return {"greedy": ORACLE} | {f"q = {q:g}, zeta = {zeta:g}": text for (q, zeta), text in self.pairs.items()}

    def figures(self) -> list[ReportFigure]:
        """Return figure 1 for the corpus, for the generated graphs, and for the one like JAZZ, as in the paper."""
        groups, results = self.crawls.groups, self.crawls.results
        drawn = [self._figure(group, "" if group == groups[0] else f"-{group}", self.crawls) for group in groups]
        if "like JAZZ" in results:
            drawn.append(self._figure(GENERATED, "-like-jazz", Crawls(results={"like JAZZ": results["like JAZZ"]})))
        return drawn

    def _figure(self, group: str, suffix: str, crawls: Crawls) -> ReportFigure:
        step = crawls.steps(group)[-1]
        scores = self.scores(group, step, crawls)
        qs, zetas = (sorted(set(values)) for values in zip(*scores, strict=True))
        return ReportFigure(
            f"gouriten-figure-1{suffix}",
            f"Figure 1: altered greedy at step {step:,}, {', '.join(crawls.graphs(group))}",
            "q: probability of the best node", "score relative to greedy",
            [Curve(f"zeta = {zeta:g}", [*qs, 1.0], [*(scores[q, zeta] for q in qs), 1.0]) for zeta in zetas],
            AS_PUBLISHED,
            note="The estimator is the oracle. With probability 1 - q any node that scores at least zeta times "
            "the best; q = 1 is greedy. Geometric mean over graphs. The paper's is of JAZZ at step 5,000, "
            "without numbers: there the best have the highest q and zeta, and are behind greedy."
            + (f" {OPTIMUM}, a lower bound of the optimum: {crawls.global_score(group, LOOK_AHEAD, step):.3f}."
               if crawls.have(LOOK_AHEAD) else ""),
        )  # fmt: skip


def degradation(crawls: Crawls, group: str) -> dict[int, dict[int, float]]:
    return {
        batch: {step: 100 * (1 - crawls.global_score(group, text, step)) for step in crawls.steps(group)}
        for batch, text in BATCHES.items()
    }


def table_2(crawls: Crawls) -> ReportTable:
    ahead = ", ".join(
        f"{100 * (crawls.global_score(group, LOOK_AHEAD, crawls.steps(group)[-1]) - 1):.1f} % ({group})"
        for group in (crawls.groups if crawls.have(LOOK_AHEAD) else ())
    )
    note = f" For comparison: look-ahead, a lower bound of the optimum, gains {ahead} at the last step."
    columns, rows = _by_step(
        "batch size", {group: degradation(crawls, group) for group in crawls.groups}, paper.DEGRADATION
    )
    return ReportTable(
        "gouriten-table-2", "Table 2: what a batch costs (% of the score with a batch of 1)", columns, rows,
        AS_PUBLISHED, digits=1,
        note="The estimator is the oracle; when a batch has used up all ranked nodes, newer ones are taken "
        f"at random, as in the paper. Negative: the batch did better.{note if ahead else ''} {seeds_note(crawls)}",
    )  # fmt: skip


def _by_step(
    first: str, ours: Mapping[str, Mapping[Any, Mapping[int, float]]],
    published: Mapping[Any, tuple[float, ...]] | None = None,
) -> tuple[list[str], list[list[Cell]]]:  # fmt: skip
    rows: list[list[Cell]] = [
        [
            label, step, *(of.get(label, {}).get(step) for of in ours.values()),
            *([paper_value(published.get(label, ()), step)] if published else []),
        ]
        for label in dict.fromkeys(label for of in ours.values() for label in of)
        for step in sorted({step for of in ours.values() for step in of.get(label, {})})
    ]  # fmt: skip
    return [first, "step", *(f"here, {group}" for group in ours), *(["paper"] if published else [])], rows


def seeds_note(crawls: Crawls) -> str:
    plans = {graph: results.experiment for graph, (_, results) in crawls.results.items()}
    sets = [f"{graph}: {many(plan.seed_sets, 'set')} of {plan.seed_count}" for graph, plan in plans.items()]
    return f"Seeds (non-zero nodes, by chance; the paper: ten sets of fifty): {'; '.join(sets)}."


def score_table(
    key: str, title: str, crawls: Crawls, named: Mapping[str, str], published: Mapping[str, tuple[float, ...]],
    note: str = "",
) -> ReportTable:  # fmt: skip
    yardsticks = {"oracle, greedy": ORACLE} | ({OPTIMUM: LOOK_AHEAD} if crawls.have(LOOK_AHEAD) else {})
    ours = {group: crawls.global_scores(group, {**named, **yardsticks}) for group in crawls.groups}
    columns, rows = _by_step("estimator", ours, published)
    judged = "The score is the guide's own" if crawls.mode == AS_PUBLISHED else "Labels decide on relevance"
    suffix, by_labels = crawls.suffixes
    return ReportTable(
        f"{key}{suffix}", title.replace(":", f"{by_labels}:"), columns, rows, crawls.mode,
        note=f"{note}Mean over seed sets, divided by that of greedy with the oracle, geometric mean over graphs. "
        f"{judged}. " + (f"{YARDSTICKS} " if OPTIMUM in yardsticks else "") + seeds_note(crawls),
    )  # fmt: skip


def table_6(crawls: Crawls) -> ReportTable:
    return score_table("gouriten-table-6", "Table 6: global score of the bandits", crawls, TABLE_6, paper.BANDITS)


def table_7(crawls: Crawls) -> ReportTable:
    return score_table("gouriten-table-7", "Table 7: global score of the estimators", crawls, TABLE_7, paper.GLOBAL)


def table_7_large(crawls: Crawls) -> ReportTable:
    sizes = ", ".join(f"{name} ({len(graph.index):,} nodes)" for name, (graph, _) in crawls.results.items())
    note = f"{sizes}. Regression and bandits, which take hours there, are left out. "
    title = "Table 7: global score of the cheap estimators on large graphs"
    return score_table("gouriten-table-7-large", title, crawls, CHEAP, paper.GLOBAL, note)


def table_beyond(crawls: Crawls) -> ReportTable:
    """Return the table of strategies that the paper only mentions: the original OPIC and the second level."""
    ours = {group: crawls.global_scores(group, UNTABULATED if group == CORPUS else ORIGINAL) for group in crawls.groups}
    return ReportTable(
        "gouriten-section-8-2", "Section 8.2: global score of what the paper tried besides",
        *_by_step("estimator", ours), crawls.mode,
        note="The paper has no numbers: the original OPIC was no improvement, the second level no better than the "
        "first. On generated graphs the second level, which is slow, is left out.",
    )  # fmt: skip


def figures_3(crawls: Crawls) -> list[ReportFigure]:
    return [_figure_3(crawls, group, crawls.graphs(group)[0]) for group in crawls.groups]


def _figure_3(crawls: Crawls, group: str, graph: str) -> ReportFigure:
    plan = crawls.results[graph][1].experiment
    steps = steps_to(plan.budget)
    drawn = {OPTIMUM: LOOK_AHEAD, "oracle": ORACLE, **TABLE_7}
    lines = {label: crawls.curve(graph, text, plan.budget) for label, text in drawn.items()}
    suffix, by_labels = crawls.suffixes
    return ReportFigure(
        "gouriten-figure-3" + ("" if group == CORPUS else f"-{group}") + suffix,
        f"Figure 3{by_labels}: score of the crawl, {graph}", "steps", "pages of the class" if by_labels else "score",
        [curve(label, steps.tolist(), of[:, steps - 1]) for label, of in lines.items() if len(of)], crawls.mode,
        note=f"Means over {plan.seed_sets} seed sets with 95 % intervals." if plan.seed_sets > 1
        else "One seed set, so no interval.",
    )  # fmt: skip


# Section 7, tables 3 and 4: how well a node's features predict its score, with the whole graph known.

MODELS = {"lr_fl": FEATURES[:4], "lr_sl": FEATURES}  # features of each regression: the first level, and both levels
KINDS = ("original", "log")


def neighbourhood(
    index: CorpusIndex, relevance: NDArray[np.floating], alpha: NDArray[np.floating]
) -> dict[str, Floats]:
    """Return fl_deg, fl_n, fl_e, fl_ne, sl_n, sl_e and sl_ne of each node v, not smoothed.

        fl_deg = |P(v)|,  fl_n = sum of beta(u),  fl_e = sum of alpha(u, v),  fl_ne = sum of beta(u) alpha(u, v)
        sl_n   = sum over u in P(v), over children w of u other than v, of beta(w); sl_e of alpha(u, w), sl_ne of both

    Sums over siblings are the sums over all children of each parent minus v's own. `alpha` has the order of `child`.

    Paper: Gouriten et al. 2014, section 7.2, estimator 4, and "a setting where the full graph is known". There V' is
    all of V, so that as printed v is among its own siblings, and a feature contains its own target. In a crawl v is not
    crawled yet, so here it is excluded.
    """
    n = len(index)
    worth, promise = np.asarray(relevance, np.float64), np.asarray(alpha, np.float64)
    parent, child = np.repeat(np.arange(n), np.diff(index.child_start)), np.asarray(index.child, np.intp)
    sums: dict[str, NDArray[Any]] = {
        "fl_deg": np.ones(len(child)),
        "fl_n": worth[parent],
        "fl_e": promise,
        "fl_ne": worth[parent] * promise,
        "sl_n": np.bincount(parent, worth[child], n)[parent],
        "sl_e": np.bincount(parent, promise, n)[parent],
        "sl_ne": np.bincount(parent, worth[child] * promise, n)[parent],
    }
    features: dict[str, Floats] = {
        name: np.asarray(np.bincount(child, weights, n), np.float64) for name, weights in sums.items()
    }
    own = {"sl_n": features["fl_deg"] * relevance, "sl_e": features["fl_e"], "sl_ne": features["fl_e"] * relevance}
    for name, less in own.items():
        rest = features[name] - less
        rest[np.abs(rest) <= 1e-9 * np.abs(features[name])] = 0.0  # remove rounding errors
        features[name] = rest
    return features


def held_out(columns: Sequence[NDArray[np.float64]], relevance: NDArray[np.float64], random_seed: int = 0) -> float:
    """Return R^2 of a regression fitted to half of the nodes, measured on the other half, but at least 0."""
    fitted = np.random.default_rng(random_seed).random(len(relevance)) < 0.5
    x = np.column_stack([*columns, np.ones(len(relevance))])
    if not fitted.any() or fitted.all():
        return math.nan
    gram = x[fitted].T @ x[fitted]
    weights = np.linalg.pinv(gram, rcond=1e-12, hermitian=True) @ (x[fitted].T @ relevance[fitted])
    rest = relevance[~fitted]
    spread = float(((rest - rest.mean()) ** 2).sum())
    return max(0.0, 1.0 - float(((rest - x[~fitted] @ weights) ** 2).sum()) / spread) if spread else math.nan


def fit(
    columns: Mapping[str, Floats], relevance: NDArray[np.floating], random_seed: int = 0
) -> dict[tuple[str, str], float]:
    """Return the correlation of each feature and R^2 of each regression: ("fl_n", "log"), ("lr_fl", "original").

    Features are used as they are, or as log(1 + x), scores as they are. "held out" is R^2 on nodes not used to fit.
    Paper: Gouriten et al. 2014, sections 7.2 and 7.3: "we use the smoothened version of those estimators".
    """
    values: dict[tuple[str, str], float] = {}
    smooth = {name: np.log1p(column) for name, column in columns.items()}
    for kind, features in zip(KINDS, (columns, smooth), strict=True):
        values |= {(name, kind): pearson(column, relevance) for name, column in features.items()}
        values |= {(model, kind): r_squared([features[name] for name in of], relevance) for model, of in MODELS.items()}
    scores = np.asarray(relevance, np.float64)
    return values | {
        (model, "held out"): held_out([smooth[name] for name in of], scores, random_seed)
        for model, of in MODELS.items()
    }


class Fits:
    def __init__(self, guides: Mapping[str, Judgements], random_seed: int = 0) -> None:
        self.by_graph = {
            name: fit(neighbourhood(guide.index, guide.relevance, guide.alpha), guide.relevance, random_seed)
            for name, guide in guides.items()
        }

    def correlations(self, kind: str) -> dict[str, float]:
        """Return the geometric mean of each feature over graphs, or the smallest value if one is not above 0."""

        def mean(values: list[float]) -> float:
            known = [value for value in values if not math.isnan(value)]
            return geometric_mean(known) if known and min(known) > 0 else min(known, default=math.nan)

        return {name: mean(of) for name, of in self.each(FEATURES, kind).items()}

    def every_correlation(self) -> dict[str, float]:
        return {
            f"{name} ({kind}) on {graph}": of[name, kind]
            for kind in KINDS
            for name in FEATURES
            for graph, of in self.by_graph.items()
        }

    def each(self, names: Iterable[str], kind: str) -> dict[str, list[float]]:
        return {name: [of[name, kind] for of in self.by_graph.values()] for name in names}

    def fits(self, kind: str) -> dict[str, float]:
        return {name: geometric_mean(of) for name, of in self.each(MODELS, kind).items()}

    def tables(self) -> list[ReportTable]:
        note = (
            f"Geometric means over {len(self.by_graph)} graphs: {', '.join(self.by_graph)}. The paper's are over its "
            "five."
        )
        columns = ("original, here", "original, paper", "log, here", "log, paper")
        pearson, fitted = ({kind: of(kind) for kind in KINDS} for of in (self.correlations, self.fits))
        theirs = {name: [paper.PEARSON[kind][place] for kind in KINDS] for place, name in enumerate(FEATURES)} | {
            name: [paper.R_SQUARED[kind][place] for kind in KINDS] for place, name in enumerate(MODELS)
        }
        outside = self.fits("held out")

        def row(name: str, ours: Mapping[str, Mapping[str, float]]) -> list[Cell]:
            return [
                name,
                *(cell for kind, of in zip(KINDS, theirs[name], strict=True) for cell in (ours[kind][name], of)),
            ]

        return [
            ReportTable(
                "gouriten-table-3", "Table 3: Pearson correlation of features with the score", ("feature", *columns),
                [row(name, pearson) for name in FEATURES], AS_PUBLISHED,
                note=f"{note} The whole graph is known; a node is not its own sibling. Where a "
                "graph has a correlation below 0, the smallest replaces the mean.",
            ),
            ReportTable(
                "gouriten-table-4", "Table 4: fit of a linear regression (R^2)",
                ("estimator", *columns, "log, held out, here"),
                [[*row(name, fitted), outside[name]] for name in MODELS],
                AS_PUBLISHED, note=f"{note} Held out: fitted to one half of the nodes, measured on the other.",
            ),
        ]  # fmt: skip


# Estimators of table 5; nr is recomputed after each page, as in the paper.
TIMED = {
    "nr": "nr,period=1",
    "opic-alpha": "opic-alpha",
    "fl_ne": "fl_ne",
    "lr_fl": "lr_fl",
    "mab_var": BANDIT,
    "sl_ne": "sl_ne",
    "lr_sl": "lr_sl",
}
# figure 2: estimators of the first level
PRECISE = {"deg": "fl_deg", "n": "fl_n", "e": "fl_e", "ne": "fl_ne", "lr_fl": "lr_fl"}
NR_ENDS = 1_000  # last step at which the paper measures nr


class ForcedSequences:
    """Picks and times of estimators that follow the oracle's crawl from the first seed set of each graph."""

    def __init__(self, bench: Bench, crawls: Crawls) -> None:
        # figure 2: the first graph of each group; table 5: the last of the corpus, and those like the paper's two
        self.drawn = {group: crawls.graphs(group)[0] for group in crawls.groups}
        like = [graph for graph in crawls.graphs(GENERATED) if graph in ("like FRANCE", "like HAPPY")]
        self.timed = [*crawls.graphs(CORPUS)[-1:], *like]
        self.steps = {graph: results.experiment.budgets for graph, (_, results) in crawls.results.items()}
        self.watched: dict[str, WatchedSequence] = {}
        for graph, (dataset, results) in crawls.results.items():
            trace = results.select(ORACLE)[0].trace
            self.watched[graph] = watch(
                dataset.index, dataset.guide, dataset.subject, {**PRECISE, **(TIMED if graph in self.timed else {})},
                trace.nodes, seeds=trace.seeds, until={"nr": 100 if bench.quick else NR_ENDS},
                random_seed=bench.random_seed, progress=bench.progress,
            )  # fmt: skip

    def times(self, graph: str) -> dict[str, dict[int, float]]:
        steps, seen = self.steps[graph], self.watched[graph]
        times = {name: zip(steps, seen.milliseconds(name, steps), strict=True) for name in TIMED}
        return {name: {step: time for step, time in of if time is not None} for name, of in times.items()}

    def table_5(self) -> ReportTable:
        rows: list[list[Cell]] = [
            [graph, name, step, times.get(step), *(paper_value(paper.TIMES[of][name], step) for of in paper.TIMES)]
            for graph in self.timed
            for name, times in self.times(graph).items()
            for step in self.steps[graph]
        ]
        return ReportTable(
            "gouriten-table-5", "Table 5: time for one estimation (ms)",
            ("graph", "estimator", "step", "here", *(f"paper, {of}" for of in paper.TIMES)), rows, AS_PUBLISHED,
            note="Time to learn from the previous page, to update ranks and to pick; mean of the last 100 steps. "
            "Forced sequence: all watch the oracle's crawl. nr is watched for the first "
            f"{NR_ENDS:,} steps at most. The paper's times are of C++ on a processor of 2012.",
            timed=True,
        )  # fmt: skip

    def quarters(self, graph: str) -> list[dict[str, float]]:
        seen = self.watched[graph]
        return [
            {name: float(np.nanmean(seen.best[part] - seen.picked[name][part])) for name in PRECISE}
            for part in np.array_split(np.arange(len(seen.best)), 4)
            if len(part)
        ]

    def compared(self) -> CrawlComparison:
        """Return the distances per quarter of the graphs with a long run, or of all graphs if there are none."""
        lengths = {graph: len(seen.best) for graph, seen in self.watched.items()}
        chosen = [graph for graph, length in lengths.items() if length >= paper.LONG_RUN] or list(lengths)
        quarters = [self.quarters(graph) for graph in chosen]
        last = min(lengths[graph] for graph in chosen)
        values = {name: np.array([[part[name] for part in parts] for parts in quarters]) for name in PRECISE}
        return CrawlComparison({}, [last * part // 4 for part in (1, 2, 3, 4)], chosen, {DISTANCE: values})

    def best_by_quarter(self) -> dict[str, Sequence[str]]:
        return {graph: [min(means, key=means.__getitem__) for means in self.quarters(graph)] for graph in self.watched}

    def figures_2(self) -> list[ReportFigure]:
        return [self._figure_2(group, graph) for group, graph in self.drawn.items()]

    def _figure_2(self, group: str, graph: str) -> ReportFigure:
        seen = self.watched[graph]
        window = min(1_000, max(1, len(seen.best) // 10))
        steps = [step for step in steps_to(len(seen.best), 100).tolist() if step >= window]
        return ReportFigure(
            "gouriten-figure-2" + ("" if group == CORPUS else f"-{group}"),
            f"Figure 2: distance to the oracle's choice, {graph}", "steps", "distance in score",
            [Curve(name, steps, seen.distance(name, window)[np.array(steps) - 1].tolist()) for name in PRECISE],
            AS_PUBLISHED,
            note="Distance: score of the node that the oracle picks, less that of the one that the estimator "
            f"would have picked; mean over the last {window:,} steps. All watch the oracle's crawl. The "
            "paper's figure is of BRETAGNE, over 1,000 steps, and gives no numbers.",
        )  # fmt: skip
