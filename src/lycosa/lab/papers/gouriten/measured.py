"""What is measured: crawls that estimators lead (sections 6 and 8.2), features (7), estimators that watch (8.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lycosa.drawing.formats import many
from lycosa.lab.certainty import curve
from lycosa.lab.findings import AS_PUBLISHED, Cell, Curve, Figure, Table
from lycosa.lab.guides import Guide
from lycosa.lab.hunters import AHEAD, ORACLE
from lycosa.lab.index import Index
from lycosa.lab.measures import Floats, geometric_mean, pearson, r_squared, steps_to
from lycosa.lab.papers import Bench
from lycosa.lab.papers.gouriten.claims import (
    BANDITS,
    DEGRADATION,
    FEATURES,
    GLOBAL,
    PEARSON,
    R_SQUARED,
    TIMES,
    at,
    over,
)
from lycosa.lab.papers.gouriten.graphs import CORPUS, GENERATED, GROUPS, Crawls, Dataset, crawl
from lycosa.lab.results import YARDSTICKS
from lycosa.lab.watching import Watched, watch

# -- features of all nodes ---------------------------------------------------------------------------------

# The features of Gouriten's estimators for all nodes of a graph at once, as if all of it had been crawled.

FIRST = ("fl_deg", "fl_n", "fl_e", "fl_ne")
SECOND = ("sl_n", "sl_e", "sl_ne")

BLOCK = 1 << 22  # links handled together; memory is a few times this


def neighbourhood(
    index: Index, beta: NDArray[np.floating], alpha: NDArray[np.floating], *, literal: bool = False
) -> dict[str, Floats]:
    """fl_deg, fl_n, fl_e, fl_ne, sl_n, sl_e and sl_ne of each node v, not smoothed.

        fl_deg = |P(v)|,  fl_n = sum of beta(u),  fl_e = sum of alpha(u, v),  fl_ne = sum of beta(u) alpha(u, v)
        sl_n   = sum over u in P(v), over children w of u other than v, of beta(w); sl_e of alpha(u, w), sl_ne of both

    The sums over siblings are those over all children of each parent, less what v itself brings to each of them. beta
    is that of the nodes, alpha that of the links in the order of `index.child`.

    Paper: Gouriten et al. 2014, section 7.2, estimator 4, and "a setting where the full graph is known". There V' is
    all of V, so that as printed v is among its own siblings, and a feature contains what it is to predict. In a crawl v
    is not crawled yet and never among them, so it isn't here; `literal` keeps it.

    2.2 million nodes and 35.6 million links take 3.5 s and 330 MB.

    >>> index = Index.of({"u": ["v", "w"]})
    >>> told = neighbourhood(index, np.array([.5, 0, .25]), np.array([1., .5]))
    >>> {name: column.tolist() for name, column in told.items() if name in ("fl_ne", "sl_n")}
    {'fl_ne': [0.0, 0.5, 0.25], 'sl_n': [0.0, 0.25, 0.0]}
    """
    n = len(index)
    made = {name: np.zeros(n) for name in (*FIRST, *SECOND)}
    for first, last in _blocks(index.child_start):
        links = slice(index.child_start[first], index.child_start[last])
        degree = np.diff(index.child_start[first : last + 1])
        parent = np.repeat(np.arange(last - first), degree)
        child = np.asarray(index.child[links], np.intp)
        promise = np.asarray(alpha[links], np.float64)
        given = np.asarray(beta[first:last], np.float64)[parent]
        reached = np.asarray(beta[child], np.float64)
        sums = {
            "fl_n": given,
            "fl_e": promise,
            "fl_ne": given * promise,
            "sl_n": np.bincount(parent, reached, last - first)[parent],
            "sl_e": np.bincount(parent, promise, last - first)[parent],
            "sl_ne": np.bincount(parent, reached * promise, last - first)[parent],
        }
        made["fl_deg"] += np.bincount(child, minlength=n)
        for name, weights in sums.items():
            made[name] += np.bincount(child, weights, n)
    if not literal:
        own = {"sl_n": made["fl_deg"] * beta, "sl_e": made["fl_e"], "sl_ne": made["fl_e"] * beta}
        for name, less in own.items():
            made[name] = _less(made[name], less)
    return made


def _less(sums: Floats, own: Floats) -> Floats:
    """Take a node's own share off; what rounding leaves of a sum that had nothing else is nothing."""
    rest = sums - own
    rest[np.abs(rest) <= 1e-9 * np.abs(sums)] = 0.0
    return rest


def _blocks(start: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of nodes with about BLOCK links each."""
    ends = np.searchsorted(start, np.arange(BLOCK, int(start[-1]) + BLOCK, BLOCK))
    cuts = sorted({0, len(start) - 1, *(min(int(end), len(start) - 1) for end in ends)})
    return list(pairwise(cuts))


@dataclass
class Fit:
    """How the features go with the nodes' scores: correlation of each, and what regressions on them explain."""

    pearson: dict[str, float]
    r_squared: dict[str, float]  # of lr_fl (four first-level features) and lr_sl (all seven)


def fit(features: dict[str, Floats], beta: NDArray[np.floating], *, smooth: bool) -> Fit:
    """Tables 3 and 4, a line of each: features as they are, or with `smooth` log(1 + x) of them. Scores as they are.

    Paper: Gouriten et al. 2014, sections 7.2 and 7.3. What is smoothed is the estimate, not what it is held against:
    "we use the smoothened version of those estimators".

    >>> index = Index.of({"u": ["v", "w"], "w": ["v"]})
    >>> beta = np.array([.5, 1, .25])
    >>> told = fit(neighbourhood(index, beta, np.ones(3)), beta, smooth=False)
    >>> round(told.pearson["fl_deg"], 4)        # parents 0, 2, 1: 1/2 over sqrt(2 * 7/24)
    0.6547
    """
    columns = {name: np.log1p(column) if smooth else column for name, column in features.items()}
    return Fit(
        {name: pearson(column, beta) for name, column in columns.items()},
        {"lr_fl": r_squared([columns[name] for name in FIRST], beta), "lr_sl": r_squared(list(columns.values()), beta)},
    )


VAR = "mab_var,epsilon=0.2,reset=200"
# The estimators of table 7 by the paper's names, and ours.
LEADERS = {
    "bfs": "breadth-first",
    "opic": "opic-alpha",
    "n": "fl_n",
    "e": "fl_e",
    "ne": "fl_ne",
    "lr_fl": "lr_fl",
    "mab_var-0.2-200": VAR,
}

# The bandits of table 6.
PLAYERS = {
    "mab_epsilon": "mab_epsilon",
    "mab_first": "mab_first",
    "mab_var-0.1-1000": "mab_var,epsilon=0.1,reset=1000",
    "mab_var-0.2-200": VAR,
}

ORIGINAL = {"opic, original": "opic-original"}
# Tried in the paper, not tabulated; the second level takes long: on the corpus only.
BEYOND = {**ORIGINAL, "sl_n": "sl_n", "sl_e": "sl_e", "sl_ne": "sl_ne", "lr_sl": "lr_sl"}

# A crawl of 100,000 steps on graphs of millions of nodes takes minutes.
CHEAP = {name: LEADERS[name] for name in ("bfs", "opic", "n", "e", "ne")} | ORIGINAL

OPTIMUM = "oracle, looking ahead"  # future work in the paper: an approximation of the optimum from below

BATCHES = {batch: f"{ORACLE},batch={batch},dry=random" for batch in DEGRADATION}

PAPERS_FIGURE_1 = "like JAZZ"  # the graph of figure 1


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
            # that of figure 1
            last = max(chosen[0].steps) if bench.quick else min(5_000, *(len(graph.index) // 3 for graph in chosen))
            self.steps[group] = sorted({*(step for step in (100, 300) if step < last), last})
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
        """Figure 1 for the graphs of the corpus, for those made up, and for the one like JAZZ, as in the paper."""
        first = next(iter(self.steps))
        drawn = [self._figure(group, "" if group == first else f"-{group}") for group in self.steps]
        if PAPERS_FIGURE_1 in self.by_group.get(GENERATED, Crawls()).results:
            drawn.append(self._figure(GENERATED, "-like-jazz", PAPERS_FIGURE_1))
        return drawn

    def _figure(self, group: str, suffix: str, only: str = "") -> Figure:
        crawls, step = self.by_group[group], self.steps[group][-1]
        if only:
            crawls = Crawls(crawls.mode, {only: crawls.results[only]})
        scores = {pair: crawls.global_score(group, text, step) for pair, text in self.pairs.items()}
        qs, zetas = (sorted(set(values)) for values in zip(*scores, strict=True))
        return Figure(
            f"gouriten-figure-1{suffix}",
            f"Figure 1: altered greedy at step {step:,}, {', '.join(crawls.graphs(group))}",
            "q: probability of the best node", "score relative to greedy",
            [Curve(f"zeta = {zeta:g}", [*qs, 1.0], [*(scores[q, zeta] for q in qs), 1.0]) for zeta in zetas],
            AS_PUBLISHED,
            note="The estimator is the oracle. With probability 1 - q any node that scores at least zeta times "
            "the best; q = 1 is greedy. Geometric mean over graphs. The paper's is of JAZZ at step 5,000, "
            "without numbers: there the best have the highest q and zeta, and are behind greedy."
            + (f" {OPTIMUM}, a lower bound of the optimum: {crawls.global_score(group, AHEAD, step):.3f}."
               if crawls.have(AHEAD) else ""),
        )  # fmt: skip


def degradation(crawls: Crawls, group: str) -> dict[int, dict[int, float]]:
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
        f"at random, as in the paper. Negative: the batch did better. {_ahead_note(crawls)} {seeds_note(crawls)}",
    )  # fmt: skip


def _ahead_note(crawls: Crawls) -> str:
    """What looking ahead brings at the last step, in % of greedy's score."""
    if not crawls.have(AHEAD):
        return ""
    groups = [group for group in GROUPS if crawls.graphs(group)]
    gains = {group: 100 * (crawls.global_score(group, AHEAD, crawls.steps(group)[-1]) - 1) for group in groups}
    listed = ", ".join(f"{gain:.1f} % ({group})" for group, gain in gains.items())
    return f"For comparison: to look ahead, which bounds the optimum from below, brings {listed} at the last step."


def seeds_note(crawls: Crawls) -> str:
    """How many seeds and sets, and over which graphs means are."""
    plans = {graph: results.experiment for graph, (_, results) in crawls.results.items()}
    sets = [f"{graph}: {many(plan.seed_sets, 'set')} of {plan.seed_count}" for graph, plan in plans.items()]
    return f"Seeds (non-zero nodes, by chance; the paper: ten sets of fifty): {'; '.join(sets)}."


def global_scores(crawls: Crawls, group: str, named: Mapping[str, str]) -> dict[str, dict[int, float]]:
    return {
        label: {step: crawls.global_score(group, text, step) for step in crawls.steps(group)}
        for label, text in named.items()
    }


def score_table(
    crawls: Crawls, number: int, named: Mapping[str, str], published: Mapping[str, tuple[float, ...]], what: str
) -> Table:
    """Global scores here beside the paper's."""
    groups = [group for group in GROUPS if crawls.graphs(group)]
    yardsticks = {"oracle, greedy": ORACLE} | ({OPTIMUM: AHEAD} if crawls.have(AHEAD) else {})
    ours = {group: global_scores(crawls, group, {**named, **yardsticks}) for group in groups}
    steps = sorted({step for group in groups for step in crawls.steps(group)})
    rows: list[list[Cell]] = [
        [
            label, step, *(ours[group][label].get(step) for group in groups),
            at(published[label], step) if label in published else None,
        ]
        for label in (*named, *yardsticks)
        for step in steps
    ]  # fmt: skip
    judged = "The score is the guide's own" if crawls.mode == AS_PUBLISHED else "Labels say what a page is worth"
    return Table(
        f"gouriten-table-{number}{crawls.suffix}", f"Table {number}{crawls.by_labels}: global score of the {what}",
        ("estimator", "step", *(f"here, {group}" for group in groups), "paper"), rows, crawls.mode,
        note=f"Mean over seed sets, divided by that of greedy with the oracle, geometric mean over graphs. {judged}. "
        + (f"{YARDSTICKS} " if OPTIMUM in yardsticks else "") + seeds_note(crawls),
    )  # fmt: skip


def table_6(crawls: Crawls) -> Table:
    return score_table(crawls, 6, PLAYERS, BANDITS, "bandits")


def table_7(crawls: Crawls) -> Table:
    return score_table(crawls, 7, LEADERS, GLOBAL, "estimators")


def table_7_large(crawls: Crawls) -> Table:
    made = score_table(crawls, 7, CHEAP, GLOBAL, "cheap estimators on large graphs")
    sizes = ", ".join(f"{name} ({len(graph.index):,} nodes)" for name, (graph, _) in crawls.results.items())
    note = f"{sizes}. {made.note} Regression and bandits, which "
    return replace(made, key=f"{made.key}-large", note=f"{note}take hours there, are left out.")


def table_beyond(crawls: Crawls) -> Table:
    """What the paper only mentions: the original OPIC and the second level."""
    groups = [group for group in GROUPS if crawls.graphs(group)]
    ours = {group: global_scores(crawls, group, BEYOND if group == CORPUS else ORIGINAL) for group in groups}
    steps = sorted({step for group in groups for step in crawls.steps(group)})
    rows: list[list[Cell]] = [
        [label, step, *(ours[group].get(label, {}).get(step) for group in groups)]
        for label in BEYOND
        for step in steps
        if any(step in ours[group].get(label, {}) for group in groups)
    ]
    return Table(
        "gouriten-section-8-2", "Section 8.2: global score of what the paper tried besides",
        ("estimator", "step", *(f"here, {group}" for group in groups)), rows, crawls.mode,
        note="The paper has no numbers: the original OPIC was no improvement, the second level no better than the "
        "first. On generated graphs the second level, which takes long, is left out.",
    )  # fmt: skip


def figures_3(crawls: Crawls) -> list[Figure]:
    """Cumulative scores on the first graph of each group, as the paper draws two of its five."""
    return [_figure_3(crawls, group, graph) for group in GROUPS for graph in crawls.graphs(group)[:1]]


def _figure_3(crawls: Crawls, group: str, graph: str) -> Figure:
    plan = crawls.results[graph][1].experiment
    steps = steps_to(plan.budget)
    drawn = {OPTIMUM: AHEAD, "oracle": ORACLE, **LEADERS}
    lines = {label: crawls.curve(graph, text, plan.budget) for label, text in drawn.items()}
    return Figure(
        "gouriten-figure-3" + ("" if group == CORPUS else f"-{group}") + crawls.suffix,
        f"Figure 3{crawls.by_labels}: score of the crawl, {graph}", "steps",
        "pages of the class" if crawls.by_labels else "score",
        [curve(label, steps.tolist(), of[:, steps - 1]) for label, of in lines.items() if len(of)], crawls.mode,
        note=f"Means over {plan.seed_sets} seed sets with 95 % intervals." if plan.seed_sets > 1
        else "One seed set, so no interval.",
    )  # fmt: skip


# -- section 7, tables 3 and 4: how much the features of a node say about its score, where the whole graph is known ----

MODELS = {"lr_fl": FIRST, "lr_sl": (*FIRST, *SECOND)}
KINDS = ("original", "log")


def held_out(columns: Sequence[NDArray[np.float64]], beta: NDArray[np.float64], random_seed: int = 0) -> float:
    """R^2 on half of the nodes of a regression that was fitted to the others; 0 if it does worse than their mean."""
    fitted = np.random.default_rng(random_seed).random(len(beta)) < 0.5
    x = np.column_stack([*columns, np.ones(len(beta))])
    if not fitted.any() or fitted.all():
        return math.nan
    gram = x[fitted].T @ x[fitted]
    weights = np.linalg.pinv(gram, rcond=1e-12, hermitian=True) @ (x[fitted].T @ beta[fitted])
    rest = beta[~fitted]
    spread = float(((rest - rest.mean()) ** 2).sum())
    return max(0.0, 1.0 - float(((rest - x[~fitted] @ weights) ** 2).sum()) / spread) if spread else math.nan


class Fits:
    """Correlations and fits on each graph, and their geometric means."""

    def __init__(self, random_seed: int = 0) -> None:
        self.random_seed = random_seed
        self.pearson: dict[str, dict[str, list[float]]] = {kind: {name: [] for name in FEATURES} for kind in KINDS}
        self.fit: dict[str, dict[str, list[float]]] = {kind: {name: [] for name in MODELS} for kind in KINDS}
        self.outside: dict[str, list[float]] = {name: [] for name in MODELS}
        self.graphs: list[str] = []

    def add(self, name: str, guide: Guide) -> None:
        self.graphs.append(name)
        columns = neighbourhood(guide.index, guide.beta, guide.alpha)
        for kind in KINDS:
            fitted = fit(columns, guide.beta, smooth=kind == "log")
            for feature, value in fitted.pearson.items():
                self.pearson[kind][feature].append(value)
            for model, value in fitted.r_squared.items():
                self.fit[kind][model].append(value)
        for model, named in MODELS.items():
            smooth = [np.log1p(columns[feature]) for feature in named]
            self.outside[model].append(held_out(smooth, guide.beta.astype(np.float64), self.random_seed))

    def correlations(self, kind: str) -> dict[str, float]:
        """By feature: the geometric mean over graphs; the smallest where one is not above 0."""
        return {name: _mean(values) for name, values in self.pearson[kind].items()}

    def by_graph(self) -> dict[str, float]:
        return {
            f"{name} ({kind}) on {graph}": value
            for kind, of in self.pearson.items()
            for name, values in of.items()
            for graph, value in zip(self.graphs, values, strict=True)
        }

    def fits(self, kind: str) -> dict[str, float]:
        return {name: geometric_mean(values) for name, values in self.fit[kind].items()}

    def fits_outside(self) -> dict[str, float]:
        """R^2 by model on nodes that were held out, with log(1 + x)."""
        return {name: geometric_mean(values) for name, values in self.outside.items()}

    def tables(self) -> list[Table]:
        note = (
            f"Geometric means over {len(self.graphs)} graphs: {', '.join(self.graphs)}. The paper's are over its five."
        )
        columns = ("original, here", "original, paper", "log, here", "log, paper")
        pearson = {kind: self.correlations(kind) for kind in KINDS}
        fitted, outside = {kind: self.fits(kind) for kind in KINDS}, self.fits_outside()
        return [
            Table(
                "gouriten-table-3", "Table 3: Pearson correlation of features with the score", ("feature", *columns),
                [_row(name, place, pearson, PEARSON) for place, name in enumerate(FEATURES)], AS_PUBLISHED,
                note=f"{note} The whole graph is known; a node is not its own sibling. Where a "
                "graph has a correlation below 0, the smallest stands in place of the mean.",
            ),
            Table(
                "gouriten-table-4", "Table 4: fit of a linear regression (R^2)",
                ("estimator", *columns, "log, held out, here"),
                [[*_row(name, place, fitted, R_SQUARED), outside[name]] for place, name in enumerate(MODELS)],
                AS_PUBLISHED, note=f"{note} Held out: fitted to one half of the nodes, measured on the other.",
            ),
        ]  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return geometric_mean(known) if known and min(known) > 0 else min(known, default=math.nan)


def _row(
    name: str, place: int, ours: Mapping[str, Mapping[str, float]], paper: Mapping[str, tuple[float, ...]]
) -> list[Cell]:
    return [name, *(number for kind in KINDS for number in (ours[kind][name], paper[kind][place]))]


# -- section 8.1, table 5 and figure 2: all estimators watch the oracle's crawl ----------------------------------------

# The estimators of table 5; nr as the paper has it, after each page.
TIMED = {
    "nr": "nr,period=1",
    "opic-alpha": "opic-alpha",
    "fl_ne": "fl_ne",
    "lr_fl": "lr_fl",
    "mab_var": VAR,
    "sl_ne": "sl_ne",
    "lr_sl": "lr_sl",
}

PRECISE = {"deg": "fl_deg", "n": "fl_n", "e": "fl_e", "ne": "fl_ne", "lr_fl": "lr_fl"}  # figure 2: the first level

NR_ENDS = 1_000  # nr watches no longer in the paper


class Forced:
    """What estimators said along the oracle's crawl from the first seed set of each graph."""

    def __init__(self, bench: Bench, crawls: Crawls) -> None:
        self.watched: dict[str, Watched] = {}
        self.steps: dict[str, list[int]] = {}
        self.timed: list[str] = []
        """The graphs of table 5: the last of the corpus, and those like the paper's two."""
        self.drawn: dict[str, str] = {}
        """Of each group the graph of figure 2: the first one."""
        for group in GROUPS:
            if graphs := crawls.graphs(group):
                self.drawn[group] = graphs[0]
                self.timed += (
                    graphs[-1:]
                    if group == CORPUS
                    else [name for name in graphs if name in ("like FRANCE", "like HAPPY")]
                )
        for graph, (dataset, results) in crawls.results.items():
            trace = results.select(ORACLE)[0].trace
            named = {**PRECISE, **(TIMED if graph in self.timed else {})}
            self.watched[graph] = watch(
                dataset.index, dataset.guide, dataset.subject, named, trace.nodes, seeds=trace.seeds,
                until={"nr": 100 if bench.quick else NR_ENDS}, random_seed=bench.random_seed, tell=bench.tell,
            )  # fmt: skip
            self.steps[graph] = results.experiment.budgets

    def times(self, graph: str) -> dict[str, dict[int, float]]:
        steps = self.steps[graph]
        times = {name: self.watched[graph].milliseconds(name, steps) for name in TIMED}
        return {
            name: {step: time for step, time in zip(steps, of, strict=True) if time is not None}
            for name, of in times.items()
        }

    def table_5(self) -> Table:
        rows: list[list[Cell]] = []
        for graph in self.timed:
            times = self.times(graph)
            rows += [
                [graph, name, step, times[name].get(step), *(at(TIMES[of][name], step) for of in TIMES)]
                for name in TIMED
                for step in self.steps[graph]
            ]
        return Table(
            "gouriten-table-5", "Table 5: time for one estimation (ms)",
            ("graph", "estimator", "step", "here", *(f"paper, {of}" for of in TIMES)), rows, AS_PUBLISHED,
            note="To learn from the page before, to rank what that changed, to pick; the mean of the last 100 steps. "
            "Forced sequence: all watch the oracle's crawl. nr is watched for the first "
            f"{NR_ENDS:,} steps at most. The paper's times are of C++ on a processor of 2012.",
            timed=True,
        )  # fmt: skip

    def quarters(self, graph: str) -> list[dict[str, float]]:
        """Mean distance of each estimator in each quarter of the crawl."""
        seen = self.watched[graph]
        means = []
        for part in np.array_split(np.arange(len(seen.best)), 4):
            apart = {name: seen.best[part] - seen.picked[name][part] for name in PRECISE}
            means.append({name: float(np.nanmean(of)) for name, of in apart.items()} if len(part) else {})
        return means

    def best_by_quarter(self) -> dict[str, Sequence[str]]:
        """The estimator nearest to the oracle in each quarter, by graph."""
        return {
            graph: [min(means, key=lambda name: means[name]) for means in self.quarters(graph) if means]
            for graph in self.watched
        }

    def figures_2(self) -> list[Figure]:
        """Distance to the oracle's choice, on the first graph of each kind."""
        return [self._figure_2(group, graph) for group, graph in self.drawn.items()]

    def _figure_2(self, group: str, graph: str) -> Figure:
        seen = self.watched[graph]
        window = min(1_000, max(1, len(seen.best) // 10))
        steps = [step for step in steps_to(len(seen.best), 100).tolist() if step >= window]
        return Figure(
            "gouriten-figure-2" + ("" if group == CORPUS else f"-{group}"),
            f"Figure 2: distance to the oracle's choice, {graph}", "steps", "distance in score",
            [Curve(name, steps, seen.distance(name, window)[np.array(steps) - 1].tolist()) for name in PRECISE],
            AS_PUBLISHED,
            note="Distance: score of the node that the oracle picks, less that of the one that the estimator "
            f"would have picked; mean over the last {window:,} steps. All watch the oracle's crawl. The "
            "paper's figure is of BRETAGNE, over 1,000 steps, and gives no numbers.",
        )  # fmt: skip
