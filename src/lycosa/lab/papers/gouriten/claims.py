"""What the paper claims, in our words, where it says so, and when it counts as true: a function of numbers for each.

They were settled after a first look at the embedded web, and before any run on a real corpus.

`Scores` are numbers by name and step. What the paper says of the long run it says of 10,000 and 100,000 steps; a corpus
of a few thousand pages has no long run, and then the verdict is that it cannot be tested.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import ParamSpec

from lycosa.lab import findings
from lycosa.lab.findings import CEILING, Claim, Ruling, ruled

Scores = Mapping[str, Mapping[int, float]]
Altered = Mapping[tuple[float, float], float]  # scores of randomised crawls by q and zeta, relative to greedy
Costs = Mapping[int, Mapping[int, float]]  # of batches, in %, by size and step
Means = Mapping[str, float]

FEW_THOUSAND = 2_000
LONG_RUN = 10_000
HEURISTICS = ("n", "e", "ne")
BANDIT = "mab_var-0.2-200"

P = ParamSpec("P")


def says(section: str, text: str, *, timed: bool = False) -> Callable[[Callable[P, Ruling]], Callable[P, Claim]]:
    """The paper says this in a section; the function below decides whether it is so."""
    return findings.says(f"Gouriten, Maniu, Senellart 2014, {section}", text, timed=timed)


def over(one: float, other: float) -> float:
    """A ratio; infinite where there is nothing to divide by, and 1 where both are nothing.

    >>> over(3, 2), over(1, 0), over(0, 0)
    (1.5, inf, 1.0)
    """
    return one / other if other else 1.0 if not one else math.inf


def listed(numbers: Means, digits: int = 3) -> str:
    """Names and numbers, as text: "n 0.280, e 0.560"."""
    return ", ".join(f"{name} {number:.{digits}f}" for name, number in numbers.items())


def by_step(numbers: Mapping[int, float], digits: int = 2) -> str:
    """Numbers and their steps, as text: "1.04 at step 30, 1.05 at step 100"."""
    return ", ".join(f"{number:.{digits}f} at step {step:,}" for step, number in numbers.items())


def shorter(steps: int, least: int) -> str:
    """Why crawls are too short for a claim; empty where they are not."""
    return f"the claim is about crawls of {least:,} steps or more" if steps < least else ""


def no_long_run(steps: int) -> str:
    """Why early and late can't be compared; empty where they can."""
    return f"the long run begins at {LONG_RUN:,} steps, crawls here have {steps:,}" if steps < LONG_RUN else ""


def columns(scores: Scores, names: Sequence[str] = ()) -> dict[int, dict[str, float]]:
    """Return the scores by step, at the steps that all have."""
    of = {name: scores[name] for name in names or scores}
    return {step: {name: of[name][step] for name in of} for step in sorted(set.intersection(*map(set, of.values())))}


def indistinct(scores: Scores, names: Sequence[str] = ()) -> str:
    """Return why scores relative to greedy cannot be told apart; empty where they can."""
    steps = [list(here.values()) for here in columns(scores, names).values()]
    if all(len(set(here)) == 1 for here in steps):
        return "all are the same at every step"
    at_ceiling = all(CEILING <= score <= 1 for here in steps for score in here)
    return "all are at the ceiling" if at_ceiling else ""


def early_and_late(scores: Scores, holds: Callable[[Means, Means], bool]) -> Ruling:
    """Rule on the numbers of the first step and of the last, if that is a long run."""
    steps = columns(scores)
    first, last = min(steps), max(steps)
    evidence = f"at step {first:,}: {listed(steps[first])}; at step {last:,}: {listed(steps[last])}"
    return ruled(holds(steps[first], steps[last]), evidence, no_long_run(last if last > first else 0))


# ---- sections 3 and 6: steering


@says("3", "A greedy crawler is not optimal, even if it knows all scores")
def greedy_not_optimal(beaten: Sequence[str]) -> Ruling:
    """Some crawl has a higher score than greedy with the oracle."""
    if not beaten:
        return ruled(False, "which shows nothing either way", "no crawl here beat greedy with the oracle")
    example = beaten[0].partition(": ")[2] or beaten[0]
    return ruled(True, f"{len(beaten)} strategies were above it somewhere, for instance {example}")


@says("6.1", "From a few thousand steps on, every altered greedy strategy falls behind greedy")
def greedy_wins(altered: Altered, step: int) -> Ruling:
    """No randomised strategy has a higher score than greedy, which has 1."""
    (q, zeta), best = max(altered.items(), key=lambda item: item[1])
    evidence = (
        f"at step {step:,} {sum(score < 1 for score in altered.values())} of {len(altered)} randomised crawls are "
        f"behind greedy; the best, q = {q:g} and zeta = {zeta:g}, has {best:.3f} of its score"
    )
    return ruled(best <= 1, evidence, shorter(step, FEW_THOUSAND))


@says("6.1", "From a few thousand steps on, the best altered greedy strategy is the one with the highest q and zeta")
def near_greedy_best(altered: Altered, step: int) -> Ruling:
    """The best of them has the highest q and the highest zeta that were tried."""
    best = max(altered, key=lambda pair: altered[pair])
    most = (max(q for q, _ in altered), max(zeta for _, zeta in altered))
    evidence = f"at step {step:,} the best has q = {best[0]:g} and zeta = {best[1]:g}"
    return ruled(best == most, evidence, shorter(step, FEW_THOUSAND))


@says("6.1", "Below a thousand steps altered greedy sometimes beats greedy, but not by much")
def altered_early(gains: Mapping[int, Means]) -> Ruling:
    """At some step below 1,000, on some graph, the best randomised crawl is above greedy; nowhere by over a tenth.

    `gains` by step and graph: its score over greedy's, less 1.
    """
    every = {f"{graph} at step {step:,}:": 100 * gain for step, of in gains.items() for graph, gain in of.items()}
    most = max(every.values(), default=0.0)
    evidence = f"gain of the best randomised crawl on greedy in %: {listed(every, 2)}"
    unless = "" if every else "no step below 1,000 was looked at"
    if every and max(map(abs, every.values())) < 0.005:
        unless = "the best randomised crawl has what greedy has on all graphs at all steps"
    return ruled(0.005 < most <= 10, evidence, unless)


@says("6.2", "Already a batch of 2 costs a notable part of the score")
def batch_of_two(costs: Costs) -> Ruling:
    """A batch of 2 costs 1 % or more at the last step, if that is 1,000 or later."""
    step = max(costs[2])
    evidence = f"a batch of 2 costs {costs[2][step]:.1f} % at step {step:,}"
    return ruled(costs[2][step] >= 1.0, evidence, shorter(step, 1_000))


@says("6.2", "In the long run a larger batch costs more")
def larger_is_worse(costs: Costs) -> Ruling:
    """At the last step no batch costs less than a smaller one, but for half a point."""
    step = min(max(of) for of in costs.values())
    last = {batch: costs[batch][step] for batch in sorted(costs)}
    evidence = f"cost at step {step:,}: " + ", ".join(
        f"batch of {batch:,} {cost:.1f} %" for batch, cost in last.items()
    )
    return ruled(all(b >= a - 0.5 for a, b in pairwise(last.values())), evidence, shorter(step, 1_000))


@says("6.2", "The delay that a batch brings remains and grows with the crawl")
def delay_grows(costs: Costs) -> Ruling:
    """Batches of 2 and 8 cost more at the last step than at the first."""
    first, last = min(costs[2]), max(costs[2])
    evidence = ", ".join(
        f"batch of {batch}: {costs[batch][first]:.1f} % at step {first:,} and {costs[batch][last]:.1f} % at step "
        f"{last:,}"
        for batch in (2, 8)
    )
    return ruled(all(costs[batch][last] > costs[batch][first] for batch in (2, 8)), evidence, shorter(last, 1_000))


# ---- section 7: features


@says("7.2", "Every feature correlates positively with the score")
def all_positive(correlations: Means) -> Ruling:
    """Every correlation on every graph is above 0."""
    least = min(correlations, key=lambda name: correlations[name])
    negative = sum(not value > 0 for value in correlations.values())
    return ruled(
        not negative, f"{negative} of {len(correlations)} are not; the smallest is {least}: {correlations[least]:.3f}"
    )


def larger_with_log(original: Means, log: Means) -> Ruling:
    """Every number is larger with log(1 + x)."""
    better = [name for name in original if log[name] > original[name]]
    evidence = "; ".join(f"{name} {original[name]:.3f} to {log[name]:.3f}" for name in original)
    return ruled(len(better) == len(original), f"larger for {len(better)} of {len(original)}: {evidence}")


log_helps = says("7.2", "log(1 + x) makes the correlations larger")(larger_with_log)
log_fits = says("7.3", "log(1 + x) makes the regressions fit better")(larger_with_log)


@says("7.2", "No feature is clearly the best, and all correlations stay small")
def no_clear_feature(log: Means) -> Ruling:
    """The best correlation is below .5, and no more than .05 above the second best."""
    (first, best), (second, next_best) = sorted(log.items(), key=lambda item: -item[1])[:2]
    evidence = f"{first} {best:.3f}, then {second} {next_best:.3f}"
    return ruled(best < 0.5 and best - next_best <= 0.05, evidence)


@says("7.3", "Features of the second level make the fit better, so there is no overfitting")
def second_level_fits(within: Means, held_out: Means) -> Ruling:
    """R^2 of lr_sl is above that of lr_fl on nodes that neither was fitted to."""
    evidence = (
        f"on nodes held out {held_out['lr_fl']:.3f} to {held_out['lr_sl']:.3f} (on those fitted, where more features "
        f"cannot do worse, {within['lr_fl']:.3f} to {within['lr_sl']:.3f})"
    )
    return ruled(held_out["lr_sl"] > held_out["lr_fl"], evidence)


@says("7.3", "The fit remains low even so")
def low_fit(log: Means) -> Ruling:
    """R^2 is below .5 even for lr_sl."""
    return ruled(log["lr_sl"] < 0.5, f"lr_sl {log['lr_sl']:.3f}")


# ---- section 8.1: the same sequence for all


@says("8.1", "nr is slower than the others by orders of magnitude", timed=True)
def nr_slow(times: Scores) -> Ruling:
    """At its last step nr takes 100 times as long as fl_ne, or longer."""
    step = max(times["nr"])
    slow, fast = times["nr"][step], times["fl_ne"][step]
    ratio = slow / max(fast, 1e-9)
    return ruled(ratio >= 100, f"at step {step:,} nr takes {slow:.2f} ms, fl_ne {fast:.3f} ms: {ratio:.0f} x")


@says("8.1", "First-level estimators and bandits take less than a millisecond", timed=True)
def first_level_quick(times: Scores) -> Ruling:
    """fl_ne, lr_fl and mab_var stay below a millisecond at every step."""
    slowest = {name: max(times[name].values()) for name in ("fl_ne", "lr_fl", "mab_var")}
    return ruled(max(slowest.values()) < 1.0, f"slowest in ms: {listed(slowest)}")


@says("8.1", "The second level has a cost that cannot be neglected", timed=True)
def second_level_costs(times: Scores) -> Ruling:
    """sl_ne and lr_sl take three times as long as fl_ne and lr_fl, or longer, at the last step."""
    step = max(times["sl_ne"])
    ratios = {
        f"{slow} / {fast}": times[slow][step] / max(times[fast][step], 1e-9)
        for slow, fast in (("sl_ne", "fl_ne"), ("lr_sl", "lr_fl"))
    }
    return ruled(min(ratios.values()) >= 3.0, f"at step {step:,}: {listed(ratios, 1)}")


@says("8.1", "The distance to the oracle's choice falls in the long run")
def distance_falls(early: Means, late: Means, steps: int) -> Ruling:
    """The mean distance of every estimator is smaller in the last quarter than in the first."""
    evidence = "; ".join(f"{name} {early[name]:.3f} to {late[name]:.3f}" for name in early)
    falls = all(late[name] < early[name] for name in early)
    return ruled(falls, f"first to last quarter: {evidence}", no_long_run(steps))


@says("8.1", "ne does very well at first, then loses ground to n")
def ne_loses_ground(early: Means, late: Means, steps: int) -> Ruling:
    """ne is nearer to the oracle than n in the first quarter, and farther in the last."""
    evidence = f"first quarter: ne {early['ne']:.3f}, n {early['n']:.3f}; last: ne {late['ne']:.3f}, n {late['n']:.3f}"
    return ruled(early["ne"] < early["n"] and late["ne"] > late["n"], evidence, no_long_run(steps))


@says("8.1", "Simple heuristics are best at the start, the regression catches up later")
def regression_catches_up(early: Means, late: Means, steps: int) -> Ruling:
    """A heuristic is best in the first quarter; lr_fl is nearer to the best heuristic, or ahead of it, in the last."""

    def gap(means: Means) -> float:
        best = min(means[name] for name in HEURISTICS)
        return (means["lr_fl"] - best) / max(best, 1e-9)

    evidence = f"lr_fl above the best heuristic by {100 * gap(early):.0f} % at first, {100 * gap(late):.0f} % at last"
    return ruled(gap(early) > 0 and gap(late) < gap(early), evidence, no_long_run(steps))


@says("8.1", "No estimator is the best everywhere")
def no_winner(best: Mapping[str, Sequence[str]]) -> Ruling:
    """No estimator is the best in every quarter of every graph. `best`: the best of each quarter, by graph."""
    winners = {name for quarters in best.values() for name in quarters}
    evidence = "; ".join(f"{graph}: {', '.join(quarters)}" for graph, quarters in best.items())
    return ruled(len(winners) > 1, f"{len(winners)} are the best of some quarter: {evidence}")


# ---- section 8.2: leading the crawl


@says("8.2", "The bandits are comparable with each other")
def bandits_alike(scores: Scores) -> Ruling:
    """At every step the best bandit is less than a quarter above the worst."""
    spread = {step: over(max(here.values()), min(here.values())) for step, here in columns(scores).items()}
    return ruled(max(spread.values()) <= 1.25, f"best over worst: {by_step(spread)}", indistinct(scores))


@says("8.2", "The bandits' scores are stable over the steps, unlike those of the other estimators")
def steadier(scores: Scores, steady: Sequence[str], others: Sequence[str] = (*HEURISTICS, "lr_fl")) -> Ruling:
    """Over the steps each of `steady` varies less (largest over smallest) than each of `others`."""
    steps = columns(scores)
    every = {name: [here[name] for here in steps.values()] for name in (*steady, *others)}
    varies = {name: over(max(numbers), min(numbers)) for name, numbers in every.items()}
    first, last = min(steps), max(steps)
    return ruled(
        max(varies[name] for name in steady) < min(varies[name] for name in others),
        f"largest over smallest, {first:,} to {last:,} steps: {listed(varies, 2)}",
        no_long_run(last if last > first else 0),
    )


@says("8.2", "bfs and opic are clearly worse than all others")
def bfs_and_opic_worst(scores: Scores) -> Ruling:
    """At every step both are below all others."""
    worst, evidence = True, []
    for step, here in columns(scores).items():
        bfs, opic = here.pop("bfs"), here.pop("opic")
        lowest = min(here, key=lambda name: here[name])
        worst &= max(bfs, opic) < here[lowest]
        evidence.append(
            f"at step {step:,}: bfs {bfs:.3f}, opic {opic:.3f}, the lowest of the others, {lowest}, {here[lowest]:.3f}"
        )
    return ruled(worst, "; ".join(evidence))


@says("8.2", "n is behind e and ne at first, and ahead of them late")
def n_comes_late(scores: Scores) -> Ruling:
    """n is below e and ne at the first step, and above both at the last."""
    return early_and_late(
        {name: scores[name] for name in HEURISTICS},
        lambda first, last: first["n"] < min(first["e"], first["ne"]) and last["n"] > max(last["e"], last["ne"]),
    )


@says("8.2", "e and ne are almost equivalent")
def e_and_ne_alike(scores: Scores) -> Ruling:
    """At every step they differ by a tenth at most."""
    apart = {step: 1 - over(*sorted(here.values())) for step, here in columns(scores, ("e", "ne")).items()}
    evidence = f"apart, as a share of the larger: {by_step(apart, 3)}"
    return ruled(max(apart.values()) <= 0.1, evidence, indistinct(scores, ("e", "ne")))


@says("8.2", "e and ne lead at the beginning, but not towards the end")
def e_and_ne_early(scores: Scores) -> Ruling:
    """The two lead at the first step; at the last another is ahead of both."""

    def parted(means: Means) -> tuple[list[float], float]:
        return [means["e"], means["ne"]], max(score for name, score in means.items() if name not in ("e", "ne"))

    def lead_and_lose(first: Means, last: Means) -> bool:
        (two, others), (two_late, others_late) = parted(first), parted(last)
        return min(two) > others and max(two_late) < others_late

    return early_and_late(scores, lead_and_lose)


@says("8.2", "lr_fl is not great at the beginning, and the best in the long run")
def regression_late(scores: Scores) -> Ruling:
    """lr_fl is below e and ne at the first step, and the best of all at the last."""
    return early_and_late(
        scores,
        lambda first, last: first["lr_fl"] < min(first["e"], first["ne"]) and last["lr_fl"] >= max(last.values()),
    )


@says("8.2", "mab_var does well all along the crawl")
def bandit_steady(scores: Scores) -> Ruling:
    """At every step mab_var is among the best four of the seven and has 70 % of the best one's score, or more."""
    here = columns(scores)
    places = [1 + sum(score > of[BANDIT] for score in of.values()) for of in here.values()]
    shares = {step: over(of[BANDIT], max(of.values())) for step, of in here.items()}
    evidence = f"place {', '.join(map(str, places))} of {len(scores)}; score over that of the best: {by_step(shares)}"
    return ruled(max(places) <= 4 and min(shares.values()) >= 0.7, evidence)


def at_most_two_percent(scores: Scores, pairs: Mapping[str, str]) -> Ruling:
    """At the last step no first one of the pairs is more than 2 % above the second."""
    step, last = max(columns(scores).items())
    ratio = {f"{name} / {other}": over(last[name], last[other]) for name, other in pairs.items()}
    unless = indistinct({name: {step: last[name]} for pair in pairs.items() for name in pair})
    return ruled(max(ratio.values()) <= 1.02, f"at step {step:,}: {listed(ratio)}", unless)


ON_TABLE_7 = (bfs_and_opic_worst, n_comes_late, e_and_ne_alike, e_and_ne_early, regression_late, bandit_steady)

original_no_better = says("8.2", "The original OPIC, without weights, is no improvement on opic")(at_most_two_percent)
second_level_no_better = says("8.2", "The second level leads crawls no better than the first")(at_most_two_percent)


# -- what the paper printed: numbers to hold against ours; its three figures are drawn, and give none ------------------

STEPS = (100, 1_000, 10_000, 100_000)  # of tables 2, 5, 6 and 7

# Table 1: nodes in millions, non-zero nodes in %, edges in millions, non-zero edges in %.
SIZES: dict[str, tuple[float, float, float, float]] = {
    "BRETAGNE": (2.2, 2.0, 35.6, 0.5),
    "FRANCE": (2.2, 19.2, 35.6, 6.8),
    "HAPPY": (16.9, 11.0, 78.0, 2.4),
    "JAZZ": (16.9, 0.6, 78.0, 0.1),
    "WEIRD": (16.9, 3.2, 78.0, 0.4),
}

# Table 2: what a batch size costs, in % of the score with a batch size of 1.
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


def at(numbers: tuple[float | None, ...], step: int) -> float | None:
    """Return the number that the paper gives for a step, if any.

    >>> at(GLOBAL["e"], 1_000), at(GLOBAL["e"], 300)
    (0.56, None)
    """
    return dict(zip(STEPS, numbers, strict=False)).get(step)
