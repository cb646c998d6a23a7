"""When a claim of the paper counts as true: one function for each, of numbers only.

They were settled after a first look at the embedded web, and before any run on a real corpus.

`Scores` are numbers by name and step. A function gives a verdict and the figures that decide it. What the paper says of
the long run it says of 10,000 and 100,000 steps; a corpus of a few thousand pages has no long run, and then the
verdict is that it cannot be tested.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from lycosa.lab.findings import Verdict

Scores = Mapping[str, Mapping[int, float]]
Ruling = tuple[Verdict, str]

HOLDS: Verdict = "holds"
FAILS: Verdict = "does not hold"
UNTESTED: Verdict = "cannot be tested here"

FEW_THOUSAND = 2_000
LONG_RUN = 10_000
HEURISTICS = ("n", "e", "ne")
BANDIT = "mab_var-0.2-200"


def ruling(holds: bool, evidence: str) -> Ruling:
    """A verdict and what it is based on."""
    return (HOLDS if holds else FAILS), evidence


def untested(why: str) -> Ruling:
    """Why there is no verdict."""
    return UNTESTED, why


def over(one: float, other: float) -> float:
    """A ratio; infinite where there is nothing to divide by, and 1 where both are nothing.

    >>> over(3, 2), over(1, 0), over(0, 0)
    (1.5, inf, 1.0)
    """
    return one / other if other else 1.0 if not one else math.inf


def told(numbers: Mapping[str, float], digits: int = 3) -> str:
    """Names and numbers, as text: "n 0.280, e 0.560"."""
    return ", ".join(f"{name} {number:.{digits}f}" for name, number in numbers.items())


def by_step(numbers: Mapping[int, float], digits: int = 2) -> str:
    """Numbers and their steps, as text: "1.04 at step 30, 1.05 at step 100"."""
    return ", ".join(f"{number:.{digits}f} at step {step:,}" for step, number in numbers.items())


def too_short(least: int, evidence: str) -> Ruling:
    """There is no verdict, because crawls are shorter than what the claim is about."""
    return untested(f"the claim is about crawls of {least:,} steps or more; {evidence}")


def column(scores: Scores, step: int, names: Sequence[str] = ()) -> dict[str, float]:
    """The numbers of a step."""
    return {name: scores[name][step] for name in (names or scores) if name in scores and step in scores[name]}


def steps_of(scores: Scores) -> list[int]:
    """The steps that all of them have, in order."""
    common = set.intersection(*(set(by_step) for by_step in scores.values())) if scores else set()
    return sorted(common)


def no_long_run(scores: Scores) -> str:
    """Why early and late can't be compared; empty where they can."""
    steps = steps_of(scores)
    if len(steps) < 2 or steps[-1] < LONG_RUN:
        reached = f"{steps[-1]:,}" if steps else "no"
        return f"the long run begins at {LONG_RUN:,} steps, crawls here have {reached}"
    return ""


# ---- section 6: steering


def greedy_wins(greedy: float, altered: Mapping[tuple[float, float], float], step: int) -> Ruling:
    """No randomised strategy has a higher score than greedy."""
    q, zeta = max(altered, key=lambda pair: altered[pair])
    behind = sum(score < greedy for score in altered.values())
    evidence = (
        f"at step {step:,} {behind} of {len(altered)} randomised crawls are behind greedy; the best, q = {q:g} and "
        f"zeta = {zeta:g}, has {over(altered[q, zeta], greedy):.3f} of its score"
    )
    return ruling(altered[q, zeta] <= greedy, evidence) if step >= FEW_THOUSAND else too_short(FEW_THOUSAND, evidence)


def near_greedy_best(altered: Mapping[tuple[float, float], float], step: int) -> Ruling:
    """The best of them has the highest q and the highest zeta that were tried."""
    best = max(altered, key=lambda pair: altered[pair])
    most = (max(q for q, _ in altered), max(zeta for _, zeta in altered))
    evidence = f"at step {step:,} the best has q = {best[0]:g} and zeta = {best[1]:g}"
    return ruling(best == most, evidence) if step >= FEW_THOUSAND else too_short(FEW_THOUSAND, evidence)


def altered_early(gains: Mapping[int, Mapping[str, float]]) -> Ruling:
    """At some step below 1,000, on some graph, the best randomised crawl is above greedy; nowhere by over a tenth.

    `gains` by step and graph: its score over greedy's, less 1.
    """
    every = {f"{graph} at step {step:,}:": 100 * gain for step, of in gains.items() for graph, gain in of.items()}
    if not every:
        return untested("no step below 1,000 was looked at")
    return ruling(
        0.005 < max(every.values()) <= 10, f"gain of the best randomised crawl on greedy in %: {told(every, 2)}"
    )


def batch_of_two(degradation: Mapping[int, Mapping[int, float]]) -> Ruling:
    """A batch of 2 costs 1 % or more at the last step, if that is 1,000 or later."""
    step = max(degradation[2])
    evidence = f"a batch of 2 costs {degradation[2][step]:.1f} % at step {step:,}"
    return ruling(degradation[2][step] >= 1.0, evidence) if step >= 1_000 else too_short(1_000, evidence)


def larger_is_worse(degradation: Mapping[int, Mapping[int, float]]) -> Ruling:
    """At the last step no batch costs less than a smaller one, but for half a point."""
    step = min(max(by_step) for by_step in degradation.values())
    costs = [degradation[batch][step] for batch in sorted(degradation)]
    evidence = f"cost at step {step:,}: " + ", ".join(
        f"batch of {batch:,} {degradation[batch][step]:.1f} %" for batch in degradation
    )
    if step < 1_000:
        return too_short(1_000, evidence)
    return ruling(all(b >= a - 0.5 for a, b in pairwise(costs)), evidence)


def delay_grows(degradation: Mapping[int, Mapping[int, float]]) -> Ruling:
    """Batches of 2 and 8 cost more at the last step than at the first."""
    first, last = min(degradation[2]), max(degradation[2])
    evidence = ", ".join(
        f"batch of {batch}: {degradation[batch][first]:.1f} % at step {first:,} and {degradation[batch][last]:.1f} % "
        f"at step {last:,}"
        for batch in (2, 8)
    )
    if last < 1_000:
        return too_short(1_000, evidence)
    return ruling(all(degradation[batch][last] > degradation[batch][first] for batch in (2, 8)), evidence)


def greedy_not_optimal(beaten: Sequence[str]) -> Ruling:
    """Some crawl has a higher score than greedy with the oracle."""
    if not beaten:
        return untested("no crawl here beat greedy with the oracle, which shows nothing either way")
    example = beaten[0].partition(": ")[2] or beaten[0]
    return ruling(True, f"{len(beaten)} strategies were above it somewhere, for instance {example}")


# ---- section 7: features


def all_positive(correlations: Mapping[str, float]) -> Ruling:
    """Every correlation on every graph is above 0."""
    least = min(correlations, key=lambda name: correlations[name])
    negative = sum(not value > 0 for value in correlations.values())
    return ruling(
        not negative, f"{negative} of {len(correlations)} are not; the smallest is {least}: {correlations[least]:.3f}"
    )


def log_helps(original: Mapping[str, float], log: Mapping[str, float]) -> Ruling:
    """Every number is larger with log(1 + x)."""
    better = [name for name in original if log[name] > original[name]]
    evidence = "; ".join(f"{name} {original[name]:.3f} to {log[name]:.3f}" for name in original)
    return ruling(len(better) == len(original), f"larger for {len(better)} of {len(original)}: {evidence}")


def no_clear_feature(log: Mapping[str, float]) -> Ruling:
    """The best correlation is below .5, and no more than .05 above the second best."""
    (first, best), (second, next_best) = sorted(log.items(), key=lambda item: -item[1])[:2]
    evidence = f"{first} {best:.3f}, then {second} {next_best:.3f}"
    return ruling(best < 0.5 and best - next_best <= 0.05, evidence)


def second_level_fits(within: Mapping[str, float], held_out: Mapping[str, float]) -> Ruling:
    """R^2 of lr_sl is above that of lr_fl on nodes that neither was fitted to."""
    evidence = (
        f"on nodes held out {held_out['lr_fl']:.3f} to {held_out['lr_sl']:.3f} (on those fitted, where more features "
        f"cannot do worse, {within['lr_fl']:.3f} to {within['lr_sl']:.3f})"
    )
    return ruling(held_out["lr_sl"] > held_out["lr_fl"], evidence)


def low_fit(log: Mapping[str, float]) -> Ruling:
    """R^2 is below .5 even for lr_sl."""
    return ruling(log["lr_sl"] < 0.5, f"lr_sl {log['lr_sl']:.3f}")


# ---- section 8.1: the same sequence for all


def nr_slow(times: Scores) -> Ruling:
    """At its last step nr takes 100 times as long as fl_ne, or longer."""
    step = max(times["nr"])
    ratio = times["nr"][step] / max(times["fl_ne"][step], 1e-9)
    evidence = (
        f"at step {step:,} nr takes {times['nr'][step]:.2f} ms, fl_ne {times['fl_ne'][step]:.3f} ms: {ratio:.0f} x"
    )
    return ruling(ratio >= 100, evidence)


def first_level_quick(times: Scores) -> Ruling:
    """fl_ne, lr_fl and mab_var stay below a millisecond at every step."""
    slowest = {name: max(times[name].values()) for name in ("fl_ne", "lr_fl", "mab_var")}
    return ruling(max(slowest.values()) < 1.0, f"slowest in ms: {told(slowest)}")


def second_level_costs(times: Scores) -> Ruling:
    """sl_ne and lr_sl take three times as long as fl_ne and lr_fl, or longer, at the last step."""
    step = max(times["sl_ne"])
    ratios = {
        f"{slow} / {fast}": times[slow][step] / max(times[fast][step], 1e-9)
        for slow, fast in (("sl_ne", "fl_ne"), ("lr_sl", "lr_fl"))
    }
    return ruling(min(ratios.values()) >= 3.0, f"at step {step:,}: {told(ratios, 1)}")


def _late(holds: bool, evidence: str, steps: int) -> Ruling:
    """A verdict on the long run, if there is one."""
    if steps < LONG_RUN:
        return untested(f"the long run begins at {LONG_RUN:,} steps, crawls here have {steps:,}; {evidence}")
    return ruling(holds, evidence)


def distance_falls(early: Mapping[str, float], late: Mapping[str, float], steps: int) -> Ruling:
    """The mean distance of every estimator is smaller in the last quarter than in the first."""
    evidence = "; ".join(f"{name} {early[name]:.3f} to {late[name]:.3f}" for name in early)
    return _late(all(late[name] < early[name] for name in early), f"first to last quarter: {evidence}", steps)


def ne_loses_ground(early: Mapping[str, float], late: Mapping[str, float], steps: int) -> Ruling:
    """ne is nearer to the oracle than n in the first quarter, and farther in the last."""
    evidence = f"first quarter: ne {early['ne']:.3f}, n {early['n']:.3f}; last: ne {late['ne']:.3f}, n {late['n']:.3f}"
    return _late(early["ne"] < early["n"] and late["ne"] > late["n"], evidence, steps)


def regression_catches_up(early: Mapping[str, float], late: Mapping[str, float], steps: int) -> Ruling:
    """A heuristic is best in the first quarter; lr_fl is nearer to the best heuristic, or ahead of it, in the last."""

    def gap(means: Mapping[str, float]) -> float:
        best = min(means[name] for name in HEURISTICS)
        return (means["lr_fl"] - best) / max(best, 1e-9)

    evidence = f"lr_fl above the best heuristic by {100 * gap(early):.0f} % at first, {100 * gap(late):.0f} % at last"
    return _late(gap(early) > 0 and gap(late) < gap(early), evidence, steps)


def no_winner(best: Mapping[str, Sequence[str]]) -> Ruling:
    """No estimator is the best in every quarter of every graph. `best`: the best of each quarter, by graph."""
    winners = {name for quarters in best.values() for name in quarters}
    evidence = "; ".join(f"{graph}: {', '.join(quarters)}" for graph, quarters in best.items())
    return ruling(len(winners) > 1, f"{len(winners)} are the best of some quarter: {evidence}")


# ---- section 8.2: leading the crawl


def bandits_alike(scores: Scores) -> Ruling:
    """At every step the best bandit is less than a quarter above the worst."""
    values = {step: column(scores, step).values() for step in steps_of(scores)}
    spread = {step: over(max(here), min(here)) for step, here in values.items()}
    return ruling(max(spread.values()) <= 1.25, f"best over worst: {by_step(spread)}")


def steadier(scores: Scores, steady: Sequence[str], others: Sequence[str]) -> Ruling:
    """Over the steps each of `steady` varies less (largest over smallest) than each of `others`."""
    why = no_long_run(scores)
    steps = steps_of(scores)
    varies = {
        name: over(max(scores[name][step] for step in steps), min(scores[name][step] for step in steps))
        for name in (*steady, *others)
    }
    evidence = f"largest over smallest, {steps[0]:,} to {steps[-1]:,} steps: {told(varies, 2)}"
    if why:
        return untested(f"{why}; {evidence}")
    return ruling(max(varies[name] for name in steady) < min(varies[name] for name in others), evidence)


def bfs_and_opic_worst(scores: Scores) -> Ruling:
    """At every step both are below all others."""
    wrong, evidence = [], []
    for step in steps_of(scores):
        here = column(scores, step)
        rest = {name: score for name, score in here.items() if name not in ("bfs", "opic")}
        lowest = min(rest, key=lambda name: rest[name])
        evidence.append(
            f"at step {step:,}: bfs {here['bfs']:.3f}, opic {here['opic']:.3f}, the lowest of the others, {lowest}, "
            f"{rest[lowest]:.3f}"
        )
        if max(here["bfs"], here["opic"]) >= rest[lowest]:
            wrong.append(step)
    return ruling(not wrong, "; ".join(evidence))


def n_comes_late(scores: Scores) -> Ruling:
    """n is below e and ne at the first step, and above both at the last."""
    steps, why = steps_of(scores), no_long_run(scores)
    first, last = (column(scores, step, HEURISTICS) for step in (steps[0], steps[-1]))
    evidence = f"at step {steps[0]:,}: {told(first)}; at step {steps[-1]:,}: {told(last)}"
    if why:
        return untested(f"{why}; {evidence}")
    return ruling(
        first["n"] < min(first["e"], first["ne"]) and last["n"] > max(last["e"], last["ne"]),
        evidence,
    )


def e_and_ne_alike(scores: Scores) -> Ruling:
    """At every step they differ by a tenth at most."""
    apart = {step: 1 - over(*sorted((scores["ne"][step], scores["e"][step]))) for step in steps_of(scores)}
    return ruling(max(apart.values()) <= 0.1, f"apart, as a share of the larger: {by_step(apart, 3)}")


def e_and_ne_early(scores: Scores) -> Ruling:
    """The two lead at the first step; at the last another is ahead of both."""
    steps, why = steps_of(scores), no_long_run(scores)
    first, last = column(scores, steps[0]), column(scores, steps[-1])
    evidence = f"at step {steps[0]:,}: {told(first)}; at step {steps[-1]:,}: {told(last)}"
    two = ("e", "ne")
    leads = min(first[name] for name in two) > max(score for name, score in first.items() if name not in two)
    if why:
        return untested(f"they {'lead' if leads else 'do not lead'} at first; {why}; {evidence}")
    lost = max(last[name] for name in two) < max(score for name, score in last.items() if name not in two)
    return ruling(leads and lost, evidence)


def regression_late(scores: Scores) -> Ruling:
    """lr_fl is below e and ne at the first step, and the best of all at the last."""
    steps, why = steps_of(scores), no_long_run(scores)
    first, last = column(scores, steps[0]), column(scores, steps[-1])
    evidence = f"at step {steps[0]:,}: {told(first)}; at step {steps[-1]:,}: {told(last)}"
    if why:
        return untested(f"{why}; {evidence}")
    return ruling(first["lr_fl"] < min(first["e"], first["ne"]) and last["lr_fl"] >= max(last.values()), evidence)


def bandit_steady(scores: Scores) -> Ruling:
    """At every step mab_var is among the best four of the seven and has 70 % of the best one's score, or more."""
    places, shares = {}, {}
    for step in steps_of(scores):
        here = column(scores, step)
        places[step] = 1 + sum(score > here[BANDIT] for score in here.values())
        shares[step] = over(here[BANDIT], max(here.values()))
    evidence = (
        f"place {', '.join(map(str, places.values()))} of {len(scores)}; score over that of the best: {by_step(shares)}"
    )
    return ruling(max(places.values()) <= 4 and min(shares.values()) >= 0.7, evidence)


def no_better(scores: Scores, pairs: Mapping[str, str]) -> Ruling:
    """At the last step no first one of the pairs is more than 2 % above the second."""
    step = steps_of(scores)[-1]
    ratio = {f"{one} / {other}": over(scores[one][step], scores[other][step]) for one, other in pairs.items()}
    return ruling(max(ratio.values()) <= 1.02, f"at step {step:,}: {told(ratio)}")
