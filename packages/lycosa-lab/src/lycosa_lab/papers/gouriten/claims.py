"""Claims of the paper, with their sections. Docstrings state the criterion by which each is decided.

Crawls are compared by `findings.compare`: each graph counts as a topic, and the value is the score relative to that of
greedy with the oracle, which knows all scores. Claims on the long run need 10,000 steps or more, else they are
untested.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np

from lycosa_lab.comparison import CrawlComparison, Measure
from lycosa_lab.findings import UNTESTED, Ruling, claim_of, combine_rulings, compare, decide
from lycosa_lab.measures import Floats, found
from lycosa_lab.results import ExperimentResults, Trial
from lycosa_lab.trial_strategies import LOOK_AHEAD, ORACLE

Scores = Mapping[str, Mapping[int, float]]  # values by name and step
Means = Mapping[str, float]

FEW_THOUSAND = 2_000
LONG_RUN = 10_000

# The estimators of table 7: name in the paper -> our spec.
BANDIT = "mab_var,epsilon=0.2,reset=200"
TABLE_7 = {
    "bfs": "breadth-first",
    "opic": "opic-alpha",
    "n": "fl_n",
    "e": "fl_e",
    "ne": "fl_ne",
    "lr_fl": "lr_fl",
    "mab_var-0.2-200": BANDIT,
}
# The bandits of table 6.
TABLE_6 = {
    "mab_epsilon": "mab_epsilon",
    "mab_first": "mab_first",
    "mab_var-0.1-1000": "mab_var,epsilon=0.1,reset=1000",
    "mab_var-0.2-200": BANDIT,
}
WORST = ("breadth-first", "opic-alpha")
HEURISTICS = ("fl_n", "fl_e", "fl_ne")

PAPER = "Gouriten, Maniu, Senellart 2014"


def _relative(outcome: Trial, results: ExperimentResults, budgets: Sequence[int]) -> Floats:
    """Return a crawl's score divided by greedy's mean over all seed sets; nan where greedy scored 0."""
    greedy = np.mean([found(results.gains(one), budgets) for one in results.select(ORACLE)], axis=0)
    score = found(results.gains(outcome), budgets)
    relative: Floats = np.divide(score, greedy, out=np.full(len(greedy), math.nan), where=greedy > 0)
    return relative


def _best(outcome: Trial, results: ExperimentResults, budgets: Sequence[int]) -> Floats:
    """Return the best known score from the same seeds: of the look-ahead oracle if it was run, else of greedy."""
    yardstick = results.starts(LOOK_AHEAD) or results.starts(ORACLE)
    return _relative(yardstick.get(outcome.start, outcome), results, budgets)


SCORE = Measure("score relative to greedy's", _relative, maximum=_best)
DISTANCE = Measure("distance to the oracle's choice", lambda *_: np.zeros(0))


def format_numbers(numbers: Means, digits: int = 3) -> str:
    """Format numbers by name, such as "n 0.280, e 0.560"."""
    return ", ".join(f"{name} {number:.{digits}f}" for name, number in numbers.items())


def untested_if_short(crawls: CrawlComparison, least: int, ruling: Ruling) -> Ruling:
    if crawls.budgets[-1] >= least:
        return ruling
    short = f"The claim is about crawls of {least:,} steps or more, crawls here have {crawls.budgets[-1]:,}."
    return Ruling(UNTESTED, f"{short}\n{ruling.evidence}")


def first_and_last(
    crawls: CrawlComparison, first: Sequence[tuple[str, str]], last: Sequence[tuple[str, str]], by: Measure = SCORE
) -> Ruling:
    """Rule that the first of each pair is better, at the first step and at the last; untested without a long run."""
    ends = zip((crawls.at(crawls.budgets[0]), crawls.at(crawls.budgets[-1])), (first, last), strict=True)
    rulings = [
        part.compared(one, other, by, noun=f"{by.name} at step {part.budgets[0]:,}")
        for part, pairs in ends
        for one, other in pairs
    ]
    return untested_if_short(crawls, LONG_RUN, combine_rulings(rulings))


def others(crawls: CrawlComparison, *names: str) -> list[str]:
    return [name for name in crawls.crawlers if name not in names]


@claim_of(f"{PAPER}, 3", "A greedy crawler is not optimal, even if it knows all scores")
def greedy_not_optimal(beaten: Sequence[str]) -> Ruling:
    """Claim: some crawl scores higher than greedy with the oracle. Untested, not refuted, if there is none."""
    if not beaten:
        return decide(False, "which shows nothing either way", "no crawl here beat greedy with the oracle")
    example = beaten[0].partition(": ")[2] or beaten[0]
    return decide(True, f"{len(beaten)} strategies were above it somewhere, for instance {example}")


@claim_of(f"{PAPER}, 6.1", "From a few thousand steps on, every altered greedy strategy falls behind greedy")
def greedy_wins(altered: CrawlComparison) -> Ruling:
    """Claim: greedy beats the best altered strategy, picked with hindsight, at the last step."""
    best = max(others(altered, ORACLE), key=lambda name: altered.mean(name, SCORE))
    return untested_if_short(altered, FEW_THOUSAND, altered.ahead([(ORACLE, best)], [SCORE]))


@claim_of(f"{PAPER}, 6.1", "From a few thousand steps on, the best altered greedy has the highest q and zeta")
def near_greedy_best(altered: CrawlComparison) -> Ruling:
    *rest, highest = others(altered, ORACLE)
    best = max(rest, key=lambda name: altered.mean(name, SCORE))
    return untested_if_short(altered, FEW_THOUSAND, altered.ahead([(best, highest)], [SCORE], expect="not better"))


@claim_of(f"{PAPER}, 6.1", "Below a thousand steps altered greedy sometimes beats greedy, but not by much")
def altered_early(altered: CrawlComparison) -> Ruling:
    """Claim: below step 1,000 the best altered greedy beats greedy on some graph, but by at most a tenth overall."""
    steps = [step for step in altered.budgets if step < 1_000]
    if not steps:
        return Ruling(UNTESTED, "No step below 1,000 was looked at.")
    early = altered.at(*steps)
    greedy = early.values[SCORE][ORACLE]
    best = np.max([early.values[SCORE][name] for name in others(altered, ORACLE)], axis=0)
    gain = f"The best randomised crawl is above greedy by {100 * np.nanmax(best - greedy):.2f} % at most."
    if np.nanmax(best - greedy) <= 0.005:
        return Ruling(UNTESTED, f"No randomised crawl here beat greedy, which shows nothing either way.\n{gain}")
    verdict, evidence = compare(
        best, 1.1 * greedy, early.topics, budgets=steps, noun=SCORE.name, expect="not better",
        names=("best randomised crawl", "greedy and a tenth"),
    )  # fmt: skip
    return Ruling(verdict, f"{evidence}\n{gain}")


@claim_of(f"{PAPER}, 6.2", "Already a batch of 2 costs a notable part of the score")
def batch_of_two(crawls: CrawlComparison, batches: Mapping[int, str]) -> Ruling:
    """Claim: greedy beats greedy with a batch of 2 at the last step."""
    return untested_if_short(crawls, 1_000, crawls.at(crawls.budgets[-1]).ahead([(ORACLE, batches[2])], [SCORE]))


@claim_of(f"{PAPER}, 6.2", "In the long run a larger batch costs more")
def larger_is_worse(crawls: CrawlComparison, batches: Mapping[int, str]) -> Ruling:
    """Claim: no batch size scores better than the next smaller one at the last step."""
    pairs = [(batches[large], batches[small]) for small, large in pairwise(sorted(batches))]
    return untested_if_short(crawls, 1_000, crawls.at(crawls.budgets[-1]).ahead(pairs, [SCORE], expect="not better"))


@claim_of(f"{PAPER}, 6.2", "The delay that a batch brings remains and grows with the crawl")
def delay_grows(crawls: CrawlComparison, batches: Mapping[int, str]) -> Ruling:
    """Claim: batches of 2 and 8 cost more of the score at the last step than at the first."""
    steps, values = (crawls.budgets[0], crawls.budgets[-1]), crawls.values[SCORE]

    def grows(batch: int) -> Ruling:
        costs = values[ORACLE] - values[batches[batch]]
        names = f"cost at step {steps[1]:,}", f"cost at step {steps[0]:,}"
        same = crawls.excluded(ORACLE, batches[batch], equal=False)
        return compare(costs[:, -1], costs[:, 0], crawls.topics, names=names, noun=f"batch of {batch}", excluded=same)

    return untested_if_short(crawls, 1_000, combine_rulings(grows(batch) for batch in (2, 8)))


# Section 7: features, with one number per graph.

Fit = Mapping[str, Sequence[float]]


@claim_of(f"{PAPER}, 7.2", "Every feature correlates positively with the score")
def all_positive(correlations: Means, graphs: int) -> Ruling:
    """Claim: each feature's correlation with the score is above 0 on each graph."""
    least = min(correlations, key=lambda name: correlations[name])
    negative = sum(not value > 0 for value in correlations.values())
    evidence = f"{negative} of {len(correlations)} are not; the smallest is {least}: {correlations[least]:.3f}"
    return decide(not negative, evidence, topics=graphs)


def larger_with_log(original: Fit, log: Fit) -> Ruling:
    return combine_rulings(larger(log[name], original[name], ("log", "original"), name) for name in original)


def larger(one: Sequence[float], other: Sequence[float], names: tuple[str, str], noun: str) -> Ruling:
    return compare(one, other, [str(graph) for graph in range(len(one))], names=names, noun=noun)


log_helps = claim_of(f"{PAPER}, 7.2", "log(1 + x) makes the correlations larger")(larger_with_log)
log_fits = claim_of(f"{PAPER}, 7.3", "log(1 + x) makes the regressions fit better")(larger_with_log)


@claim_of(f"{PAPER}, 7.2", "No feature is clearly the best, and all correlations stay small")
def no_clear_feature(log: Means, graphs: int) -> Ruling:
    """Claim: the best feature's correlation is below .5, and at most .05 above the second best."""
    (first, best), (second, next_best) = sorted(log.items(), key=lambda item: -item[1])[:2]
    evidence = f"{first} {best:.3f}, then {second} {next_best:.3f}"
    return decide(best < 0.5 and best - next_best <= 0.05, evidence, topics=graphs)


@claim_of(f"{PAPER}, 7.3", "Features of the second level make the fit better, so there is no overfitting")
def second_level_fits(held_out: Fit) -> Ruling:
    return larger(held_out["lr_sl"], held_out["lr_fl"], ("lr_sl", "lr_fl"), "fit on nodes held out")


@claim_of(f"{PAPER}, 7.3", "The fit remains low even so")
def low_fit(log: Fit) -> Ruling:
    return larger([0.5] * len(log["lr_sl"]), log["lr_sl"], ("a half", "lr_sl"), "fit")


@claim_of(f"{PAPER}, 8.1", "nr is slower than the others by orders of magnitude", timed=True)
def nr_slow(times: Scores) -> Ruling:
    """Claim: nr takes at least 100 times as long as fl_ne at the last step of nr."""
    step = max(times["nr"])
    slow, fast = times["nr"][step], times["fl_ne"][step]
    ratio = slow / max(fast, 1e-9)
    return decide(ratio >= 100, f"at step {step:,} nr takes {slow:.2f} ms, fl_ne {fast:.3f} ms: {ratio:.0f} x")


@claim_of(f"{PAPER}, 8.1", "First-level estimators and bandits take less than a millisecond", timed=True)
def first_level_quick(times: Scores) -> Ruling:
    """Claim: fl_ne, lr_fl and mab_var take less than a millisecond at every step."""
    slowest = {name: max(times[name].values()) for name in ("fl_ne", "lr_fl", "mab_var")}
    return decide(max(slowest.values()) < 1.0, f"slowest in ms: {format_numbers(slowest)}")


@claim_of(f"{PAPER}, 8.1", "The second level has a cost that cannot be neglected", timed=True)
def second_level_costs(times: Scores) -> Ruling:
    """Claim: sl_ne and lr_sl take at least three times as long as fl_ne and lr_fl at the last step."""
    step = max(times["sl_ne"])
    ratios = {
        f"{slow} / {fast}": times[slow][step] / max(times[fast][step], 1e-9)
        for slow, fast in (("sl_ne", "fl_ne"), ("lr_sl", "lr_fl"))
    }
    return decide(min(ratios.values()) >= 3.0, f"at step {step:,}: {format_numbers(ratios, 1)}")


# `watched` compares estimators that follow the oracle's crawl; its budgets are the ends of the crawl's quarters.


@claim_of(f"{PAPER}, 8.1", "The distance to the oracle's choice falls in the long run")
def distance_falls(watched: CrawlComparison) -> Ruling:
    """Claim: each estimator's mean distance to the oracle's choice is smaller in the last quarter than in the first."""
    names = "first quarter", "last quarter"
    falls = [
        compare(rows[:, 0], rows[:, -1], watched.topics, names=names, noun=f"distance of {name}")
        for name, rows in watched.values[DISTANCE].items()
    ]
    return untested_if_short(watched, LONG_RUN, combine_rulings(falls))


@claim_of(f"{PAPER}, 8.1", "ne does very well at first, then loses ground to n")
def ne_loses_ground(watched: CrawlComparison) -> Ruling:
    """Claim: ne is nearer to the oracle's choice than n in the first quarter, and farther in the last."""
    return first_and_last(watched, [("n", "ne")], [("ne", "n")], DISTANCE)


@claim_of(f"{PAPER}, 8.1", "Simple heuristics are best at the start, the regression catches up later")
def regression_catches_up(watched: CrawlComparison) -> Ruling:
    """Claim: lr_fl is farther from the oracle's choice than the best heuristic in the first quarter, but catches up."""
    of = watched.values[DISTANCE]
    values = {"lr_fl": of["lr_fl"], "the best heuristic": np.min([of[name] for name in ("n", "e", "ne")], axis=0)}
    two = CrawlComparison({}, watched.budgets, watched.topics, {DISTANCE: values})
    return untested_if_short(watched, LONG_RUN, two.closing("lr_fl", "the best heuristic", DISTANCE))


@claim_of(f"{PAPER}, 8.1", "No estimator is the best everywhere")
def no_winner(best: Mapping[str, Sequence[str]]) -> Ruling:
    """Claim: no estimator is the best in all quarters of all graphs. `best` lists that of each quarter by graph."""
    winners = {name for quarters in best.values() for name in quarters}
    evidence = "; ".join(f"{graph}: {', '.join(quarters)}" for graph, quarters in best.items())
    return decide(len(winners) > 1, f"{len(winners)} are the best of some quarter: {evidence}", topics=len(best))


@claim_of(f"{PAPER}, 8.2", "The bandits are comparable with each other")
def bandits_alike(crawls: CrawlComparison) -> Ruling:
    return crawls.ahead(combinations(TABLE_6.values(), 2), [SCORE], expect="alike")


@claim_of(f"{PAPER}, 8.2", "The bandits' scores are stable over the steps, unlike those of the other estimators")
def bandits_steadier(crawls: CrawlComparison) -> Ruling:
    """Claim: the least steady bandit has a higher ratio of smallest to largest score than n, e, ne and lr_fl."""
    steady = {
        name: np.array([min(row) / max(row) if max(row) else math.nan for row in rows.tolist()])
        for name, rows in crawls.values[SCORE].items()
    }
    bandits = np.min([steady[name] for name in TABLE_6.values()], axis=0)
    rest = np.max([steady[name] for name in (*HEURISTICS, "lr_fl")], axis=0)
    names = "the least steady bandit", "the steadiest of the others"
    return untested_if_short(
        crawls, LONG_RUN, compare(bandits, rest, crawls.topics, names=names, noun="smallest over largest")
    )


@claim_of(f"{PAPER}, 8.2", "bfs and opic are clearly worse than all others")
def bfs_and_opic_worst(crawls: CrawlComparison) -> Ruling:
    return crawls.ahead([(better, worse) for worse in WORST for better in others(crawls, *WORST)], [SCORE])


@claim_of(f"{PAPER}, 8.2", "n is behind e and ne at first, and ahead of them late")
def n_overtakes_e_and_ne(crawls: CrawlComparison) -> Ruling:
    n, *two = HEURISTICS
    return first_and_last(crawls, [(other, n) for other in two], [(n, other) for other in two])


@claim_of(f"{PAPER}, 8.2", "e and ne are almost equivalent")
def e_and_ne_alike(crawls: CrawlComparison) -> Ruling:
    return crawls.ahead([("fl_e", "fl_ne")], [SCORE], expect="alike")


@claim_of(f"{PAPER}, 8.2", "e and ne lead at the beginning, but not towards the end")
def e_and_ne_early(crawls: CrawlComparison) -> Ruling:
    """Claim: e and ne lead at the first step, and another, picked with hindsight, is ahead of both at the last."""
    two, last = ("fl_e", "fl_ne"), crawls.at(crawls.budgets[-1])
    rest = others(crawls, *two)
    best = max(rest, key=lambda name: last.mean(name, SCORE))
    return first_and_last(crawls, [(one, other) for one in two for other in rest], [(best, one) for one in two])


@claim_of(f"{PAPER}, 8.2", "lr_fl is not great at the beginning, and the best in the long run")
def regression_late(crawls: CrawlComparison) -> Ruling:
    """Claim: lr_fl is behind e and ne at the first step, and ahead of all others at the last."""
    rest = [("lr_fl", other) for other in others(crawls, "lr_fl")]
    return first_and_last(crawls, [("fl_e", "lr_fl"), ("fl_ne", "lr_fl")], rest)


@claim_of(f"{PAPER}, 8.2", "mab_var does well all along the crawl")
def bandit_steady(crawls: CrawlComparison) -> Ruling:
    """Claim: mab_var is better over the whole crawl than the mean of the other estimators."""
    values = crawls.values[SCORE]
    mean = np.mean([values[name] for name in others(crawls, BANDIT)], axis=0)
    names = "mab_var", "the mean of the others"
    return compare(values[BANDIT], mean, crawls.topics, names=names, noun=SCORE.name, budgets=crawls.budgets)


def no_better(crawls: CrawlComparison, pairs: Mapping[str, str]) -> Ruling:
    return crawls.ahead(pairs.items(), [SCORE], expect="not better")


TABLE_7_CLAIMS = (bfs_and_opic_worst, e_and_ne_alike, bandit_steady)
LONG_RUN_CLAIMS = (n_overtakes_e_and_ne, e_and_ne_early, regression_late)  # claims on table 7 about the long run

original_no_better = claim_of(f"{PAPER}, 8.2", "The original OPIC, without weights, is no improvement on opic")(
    no_better
)
second_level_no_better = claim_of(f"{PAPER}, 8.2", "The second level leads crawls no better than the first")(no_better)


# Numbers printed in the paper; its three figures give none.

STEPS = (100, 1_000, 10_000, 100_000)  # steps of tables 2, 5, 6 and 7

# Table 1: nodes in millions, non-zero nodes in %, edges in millions, non-zero edges in %.
SIZES: dict[str, tuple[float, float, float, float]] = {
    "BRETAGNE": (2.2, 2.0, 35.6, 0.5),
    "FRANCE": (2.2, 19.2, 35.6, 6.8),
    "HAPPY": (16.9, 11.0, 78.0, 2.4),
    "JAZZ": (16.9, 0.6, 78.0, 0.1),
    "WEIRD": (16.9, 3.2, 78.0, 0.4),
}

# Table 2: cost of a batch size, in % of the score with a batch size of 1.
DEGRADATION: dict[int, tuple[float, float, float, float]] = {
    2: (0.4, 2.2, 3.9, 6.4),
    8: (1.3, 6.5, 12.8, 18.3),
    32: (6.6, 6.5, 17.5, 24.3),
    128: (38.8, 10.7, 19.9, 29.5),
    1024: (38.8, 74.3, 25.8, 35.9),
}

FEATURES = ("fl_deg", "fl_n", "fl_e", "fl_ne", "sl_n", "sl_e", "sl_ne")

# Table 3: correlation of each of FEATURES with the score, geometric mean over five graphs.
PEARSON: dict[str, tuple[float, ...]] = {
    "original": (0.063, 0.127, 0.073, 0.090, 0.170, 0.199, 0.203),
    "log": (0.269, 0.373, 0.402, 0.412, 0.273, 0.360, 0.356),
}

# Table 4: fit of lr_fl and lr_sl.
R_SQUARED: dict[str, tuple[float, float]] = {"original": (0.030, 0.075), "log": (0.221, 0.230)}

# Table 5: milliseconds of one estimation.
TIMES: dict[str, dict[str, tuple[float | None, ...]]] = {
    "FRANCE": {
        "nr": (2832.1, 19720.5, None, None),
        "opic-alpha": (1.9, 2.5, 4.6, 4.7),
        "fl_ne": (0.2, 0.1, 0.1, 0.1),
        "lr_fl": (0.2, 0.2, 0.1, 0.1),
        "mab_var": (0.6, 0.3, 0.2, 0.2),
        "sl_ne": (8.5, 27.1, 2.0, 6.1),
        "lr_sl": (8.5, 27.2, 2.0, 6.1),
    },
    "HAPPY": {
        "nr": (45965.7, 105209.3, None, None),
        "opic-alpha": (1.8, 1.6, 1.9, 2.5),
        "fl_ne": (0.3, 0.1, 0.2, 2.1),
        "lr_fl": (0.5, 0.1, 0.2, 2.1),
        "mab_var": (1.1, 0.3, 0.5, 3.9),
        "sl_ne": (111.1, 24.5, 63.3, 240.5),
        "lr_sl": (111.4, 24.5, 63.3, 241.0),
    },
}

# Table 6: global scores.
BANDITS: dict[str, tuple[float, float, float, float]] = {
    "mab_epsilon": (0.450, 0.481, 0.477, 0.495),
    "mab_first": (0.409, 0.501, 0.484, 0.490),
    "mab_var-0.1-1000": (0.383, 0.439, 0.420, 0.494),
    "mab_var-0.2-200": (0.427, 0.413, 0.461, 0.458),
}

# Table 7: global scores, relative to greedy with the oracle.
GLOBAL: dict[str, tuple[float, float, float, float]] = {
    "bfs": (0.147, 0.132, 0.130, 0.207),
    "opic": (0.283, 0.184, 0.205, 0.287),
    "n": (0.358, 0.280, 0.362, 0.467),
    "e": (0.594, 0.560, 0.457, 0.377),
    "ne": (0.583, 0.570, 0.466, 0.378),
    "lr_fl": (0.325, 0.382, 0.466, 0.504),
    "mab_var-0.2-200": (0.427, 0.413, 0.461, 0.458),
}


def paper_value(numbers: tuple[float | None, ...], step: int) -> float | None:
    """Return the paper's number for a step; None if it has none."""
    return dict(zip(STEPS, numbers, strict=False)).get(step)
