"""What the paper claims, in our words, with the place where it says so; verdicts.py decides."""

from __future__ import annotations

from collections.abc import Iterator

from lycosa.lab.findings import Claim
from lycosa.lab.papers.gouriten import verdicts
from lycosa.lab.papers.gouriten.crawls import Crawls
from lycosa.lab.papers.gouriten.datasets import CORPUS, GENERATED
from lycosa.lab.papers.gouriten.features import Fits
from lycosa.lab.papers.gouriten.leading import BEYOND, LEADERS, PLAYERS, global_scores
from lycosa.lab.papers.gouriten.sequence import Forced
from lycosa.lab.papers.gouriten.steering import Altered, degradation
from lycosa.lab.papers.gouriten.verdicts import Ruling

PAPER = "Gouriten, Maniu, Senellart 2014"

ON = {CORPUS: "on keywords of the corpus", GENERATED: "on generated graphs"}


def claim(section: str, text: str, ruling: Ruling, group: str = "", *, timed: bool = False) -> Claim:
    """A claim and its verdict."""
    verdict, evidence = ruling
    return Claim(f"{text} ({ON[group]})" if group else text, f"{PAPER}, {section}", verdict, evidence, timed)


def of_steering(altered: Altered, crawls: Crawls, group: str) -> Iterator[Claim]:
    """Sections 3 and 6."""
    last = altered.steps[group][-1]
    scores = altered.scores(group, last)
    yield claim(
        "6.1",
        "From a few thousand steps on, every altered greedy strategy falls behind greedy",
        verdicts.greedy_wins(1.0, scores, last),
        group,
    )
    yield claim(
        "6.1",
        "From a few thousand steps on, the best altered greedy strategy is the one with the highest q and zeta",
        verdicts.near_greedy_best(scores, last),
        group,
    )
    yield claim(
        "6.1",
        "Below a thousand steps altered greedy sometimes beats greedy, but not by much",
        verdicts.altered_early({step: altered.gains(group, step) for step in altered.steps[group] if step < 1_000}),
        group,
    )
    costs = degradation(crawls, group)
    yield claim("6.2", "Already a batch of 2 costs a notable part of the score", verdicts.batch_of_two(costs), group)
    yield claim("6.2", "In the long run a larger batch costs more", verdicts.larger_is_worse(costs), group)
    yield claim(
        "6.2", "The delay that a batch brings remains and grows with the crawl", verdicts.delay_grows(costs), group
    )


def of_features(fits: Fits) -> Iterator[Claim]:
    """Sections 7.2 and 7.3."""
    original, log = fits.correlations("original"), fits.correlations("log")
    yield claim("7.2", "Every feature correlates positively with the score", verdicts.all_positive(fits.by_graph()))
    yield claim("7.2", "log(1 + x) makes the correlations larger", verdicts.log_helps(original, log))
    yield claim(
        "7.2", "No feature is clearly the best, and all correlations stay small", verdicts.no_clear_feature(log)
    )
    yield claim(
        "7.3",
        "log(1 + x) makes the regressions fit better",
        verdicts.log_helps(fits.fits("original"), fits.fits("log")),
    )
    yield claim(
        "7.3",
        "Features of the second level make the fit better, so there is no overfitting",
        verdicts.second_level_fits(fits.fits("log"), fits.fits_outside()),
    )
    yield claim("7.3", "The fit remains low even so", verdicts.low_fit(fits.fits("log")))


def of_sequence(forced: Forced) -> Iterator[Claim]:
    """Section 8.1."""
    for group, graph in forced.timed.items():
        times = forced.times(graph)
        for text, ruling in (
            ("nr is slower than the others by orders of magnitude", verdicts.nr_slow(times)),
            ("First-level estimators and bandits take less than a millisecond", verdicts.first_level_quick(times)),
            ("The second level has a cost that cannot be neglected", verdicts.second_level_costs(times)),
        ):
            yield claim("8.1", text, ruling, group, timed=True)
    for graph in forced.drawn().values():
        quarters = forced.quarters(graph)
        early, late = quarters[0], quarters[-1]
        steps = len(forced.watched[graph].best)
        yield claim(
            "8.1",
            f"The distance to the oracle's choice falls in the long run ({graph})",
            verdicts.distance_falls(early, late, steps),
        )
        yield claim(
            "8.1",
            f"ne does very well at first, then loses ground to n ({graph})",
            verdicts.ne_loses_ground(early, late, steps),
        )
        yield claim(
            "8.1",
            f"Simple heuristics are best at the start, the regression catches up later ({graph})",
            verdicts.regression_catches_up(early, late, steps),
        )
    yield claim("8.1", "No estimator is the best everywhere", verdicts.no_winner(forced.best_by_quarter()))


def of_leading(crawls: Crawls, group: str) -> Iterator[Claim]:
    """Section 8.2."""
    scores = global_scores(crawls, group, LEADERS)
    bandits = global_scores(crawls, group, PLAYERS)
    others = ("n", "e", "ne", "lr_fl")
    yield claim("8.2", "The bandits are comparable with each other", verdicts.bandits_alike(bandits), group)
    yield claim(
        "8.2",
        "The bandits' scores are stable over the steps, unlike those of the other estimators",
        verdicts.steadier({**scores, **bandits}, tuple(bandits), others),
        group,
    )
    yield claim("8.2", "bfs and opic are clearly worse than all others", verdicts.bfs_and_opic_worst(scores), group)
    yield claim("8.2", "n is behind e and ne at first, and ahead of them late", verdicts.n_comes_late(scores), group)
    yield claim("8.2", "e and ne are almost equivalent", verdicts.e_and_ne_alike(scores), group)
    yield claim(
        "8.2", "e and ne lead at the beginning, but not towards the end", verdicts.e_and_ne_early(scores), group
    )
    yield claim(
        "8.2",
        "lr_fl is not great at the beginning, and the best in the long run",
        verdicts.regression_late(scores),
        group,
    )
    yield claim("8.2", "mab_var does well all along the crawl", verdicts.bandit_steady(scores), group)
    if group == CORPUS:
        beside = {**scores, **global_scores(crawls, group, BEYOND)}
        yield claim(
            "8.2", "OPIC without weights is no improvement on opic",
            verdicts.no_better(beside, {"opic, unweighted": "opic"}), group,
        )  # fmt: skip
        yield claim(
            "8.2", "The second level leads crawls no better than the first",
            verdicts.no_better(beside, {"sl_n": "n", "sl_e": "e", "sl_ne": "ne", "lr_sl": "lr_fl"}), group,
        )  # fmt: skip


def all_claims(altered: Altered, crawls: Crawls, fits: Fits, forced: Forced) -> list[Claim]:
    """In the order of the paper, section by section."""
    groups = [group for group in (CORPUS, GENERATED) if crawls.graphs(group)]
    beaten = [*crawls.beaten(), *(line for one in altered.by_group.values() for line in one.beaten())]
    found = [
        claim("3", "A greedy crawler is not optimal, even if it knows all scores", verdicts.greedy_not_optimal(beaten))
    ]
    for group in groups:
        found += of_steering(altered, crawls, group)
    found += [*of_features(fits), *of_sequence(forced)]
    for group in groups:
        found += of_leading(crawls, group)
    return found
