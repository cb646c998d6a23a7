"""Scent against the published strategies: five settings, three budgets, what its terms are worth, and where it fails.

Topics and keywords are dealt into halves by a checksum of their names. Scent is developed on one half (`--develop`);
what is reported comes of the other. Labels judge what was found, which no strategy sees; keywords are judged by their
occurrences, as Gouriten et al. published it. A cell is a setting at a budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from lycosa.core.errors import InputError
from lycosa.core.spec import spell
from lycosa.estimators.scent import TERMS
from lycosa.lab.certainty import Difference, Interval, curve, interval
from lycosa.lab.findings import INDEPENDENT, Cell, Claim, Curve, Figure, Findings, Ruling, Table, ruled, says
from lycosa.lab.hunters import AHEAD, ORACLE
from lycosa.lab.index import Index
from lycosa.lab.measures import Floats
from lycosa.lab.papers import OURS, TOO_SMALL, Bench
from lycosa.lab.papers.gouriten.graphs import ABOVE
from lycosa.lab.papers.scent.crawls import (
    ABLATED,
    ABLATION_SETS,
    DEVELOPMENT,
    EXAMPLES,
    KEYWORD,
    QUICK,
    REPORT,
    SCENT,
    SETTINGS,
    Hunted,
    ScentCrawls,
    Size,
    choose,
    crawl,
)
from lycosa.lab.papers.weighing import BANDS
from lycosa.lab.results import YARDSTICKS

SOURCE = "docs/scent.md"
LEFT_OUT = (
    "Not among the published: nr and pagerank, which rank the whole graph again and again and take minutes a crawl; "
    "those that are trained before the crawl (hmm, hybrid, context-graph, rules), as they are told more; those that "
    "need WordNet; and those that ignore the topic, but for breadth-first."
)

FLOOR_BUDGETS = (100, 500, 1000)
# Shares of the oracle's at 100, 500 and 1,000 pages, set before scent was measured on the reported topics.
FLOORS: dict[str, dict[str, tuple[float, float, float]]] = {
    "Wikispeedia": {
        "keyword": (0.65, 0.77, 0.83),
        "query-on": (0.60, 0.93, 0.97),
        "query-off": (0.55, 0.92, 0.97),
        "examples-on": (0.68, 0.95, 0.98),
        "examples-off": (0.66, 0.95, 0.98),
    },
    "WebKB": {
        "keyword": (0.65, 0.70, 0.80),
        "query-on": (0.57, 0.68, 0.80),
        "query-off": (0.42, 0.66, 0.78),
        "examples-on": (0.62, 0.62, 0.70),
        "examples-off": (0.50, 0.62, 0.68),
    },
}

# What can be left out of scent and is no term of its own.
PARTS = {
    "all word vectors": {"vectors": "false"},
    "relevance feedback": {"sharpen": "false"},
    "adaptive weights": {"adapt": "false"},
    "delayed credit": {"credit": "0"},
}

DRAWN = {SCENT: "scent", "best-first": "best-first", "link-context": "link context", ORACLE: "oracle-greedy",
         AHEAD: "oracle, looking ahead"}  # fmt: skip
FIRST, POINTS = 10, 20
WORST = 10
NOTABLE = 0.05  # a published strategy ahead by more on a topic is named


def findings(bench: Bench) -> Findings:
    index = bench.index
    if not index.has_text or not index.classes:
        raise InputError("scent is measured on pages with text and classes: take another corpus than a graph")
    size = size_of(bench)
    hunted = choose(index, DEVELOPMENT if bench.develop else REPORT, size.topics, bench.random_seed, bench.tell)
    texts = without(size.terms)
    crawls: list[ScentCrawls] = []
    remarks = [*hunted.remarks, LEFT_OUT]
    for setting in SETTINGS:
        try:
            crawls.append(crawl(bench, setting, hunted, size))
        except InputError as error:
            remarks.append(f"Left out: {setting.title}: {error}")
    if not crawls:
        raise InputError(f"no cell could be run: {' '.join(remarks)}")
    fewer = replace(size, sets=min(size.sets, ABLATION_SETS), published=(), budgets=size.budgets[:2])
    run = {(one.setting.told, one.setting.seeds) for one in crawls}
    ablated = [
        crawl(bench, setting, hunted, fewer, list(texts.values()))
        for setting in ABLATED
        if (setting.told, setting.seeds) in run
    ]
    cells = compare(crawls, corpus_name(index))
    parts: list[Table | Figure] = [table_cells(cells), table_all(crawls)]
    parts += [table_ablation(ablated, texts), figure_ablation(ablated, texts)] if ablated else []
    parts += [*map(figure_share, crawls), *map(figure_harvest, crawls)]
    parts += [table_worst(crawls), table_lost(crawls), table_topics(crawls)]
    for one in crawls:
        remarks += [f"{one.setting.title}: {line}" for line in _own(one, texts)]
    return Findings(
        "scent", OURS["scent"], parts, claims_on(cells, bench.quick), _summary(crawls, hunted, size),
        {
            "quick": bench.quick, "random_seed": bench.random_seed, "half": hunted.half, "topics": hunted.topics,
            "keywords": hunted.keywords, "size": asdict(size),
            "experiments": {one.setting.key: one.results.experiment.as_dict() for one in crawls},
        },
        bench.index.about, remarks,
    )  # fmt: skip


def size_of(bench: Bench) -> Size:
    """How much is run: budgets end at a third of the corpus, beyond it any crawl comes to have everything."""
    whole = Size(2, 1, (20, 50, 100), QUICK, 2) if bench.quick else Size()
    most = len(bench.index) // 3
    return replace(whole, budgets=tuple(budget for budget in whole.budgets if budget <= most) or (max(1, most),))


def _own(crawls: ScentCrawls, texts: dict[str, str]) -> list[str]:
    """What a run had to say, but for strategies with a term left out; who beat the oracle beside scent, in one line."""
    said = [line for line in crawls.results.remarks if not any(f"{text} " in line for text in texts.values())]
    above = [
        name for name in crawls.published for line in said if f"{ABOVE}, which is greedy, not optimal: {name} " in line
    ]
    more = [f"{ABOVE} in some trials, too: {', '.join(above)}."] if above else []
    return [line for line in said if not any(f"not optimal: {name} " in line for name in above)] + more


def _summary(crawls: list[ScentCrawls], hunted: Hunted, size: Size) -> str:
    count = sum(len(one.results.outcomes) for one in crawls)
    smaller = [
        f"{name} ({len(subject.examples)})"
        for one in crawls
        if one.setting.told == "examples"
        for name, subject in one.results.subjects.items()
        if len(subject.examples) < EXAMPLES
    ]
    few = f" Of small topics a quarter was pointed at: {', '.join(dict.fromkeys(smaller))}." if smaller else ""
    return (
        f"Scent and {len(size.published)} published strategies in {len(crawls)} cells, {count:,} crawls of "
        f"{size.budgets[-1]:,} pages: {len(hunted.topics)} topics and {len(hunted.keywords)} keywords of the "
        f"{hunted.half} half. Shares are of what a greedy crawl finds that knows what every page is worth.{few}"
    )


# -- cells -----------------------------------------------------------------------------------------------------------


@dataclass
class Compared:
    """A cell: scent, its floor, and the best published strategy with hindsight."""

    title: str
    budget: int
    floor: float | None
    scent: Interval
    counted: float  # held against the floor: for keywords the geometric mean, else the mean
    best: str
    published: Interval
    ahead: Difference
    crawls: ScentCrawls | None = None

    @property
    def where(self) -> str:
        return f"{self.title}, {self.budget:,} pages"


def corpus_name(index: Index) -> str:
    """The name of a corpus that there are floors for, known by its source; empty for any other."""
    source = str(index.facts.get("source", "")).casefold()
    return next((name for name in FLOORS if name.casefold() in source), "")


def floor(corpus: str, setting: str, budget: int) -> float | None:
    """What is to be reached; None where nothing was set.

    >>> floor("WebKB", "query-off", 500), floor("WebKB", "query-off", 50), floor("mine", "keyword", 100)
    (0.66, None, None)
    """
    if corpus not in FLOORS or budget not in FLOOR_BUDGETS:
        return None
    return FLOORS[corpus][setting][FLOOR_BUDGETS.index(budget)]


def compare(crawls: Sequence[ScentCrawls], corpus: str) -> list[Compared]:
    cells = []
    for one in crawls:
        for budget in one.budgets:
            best, scent = one.best(budget), one.interval(SCENT, budget)
            cells.append(
                Compared(
                    one.setting.title, budget, floor(corpus, one.setting.key, budget), scent,
                    one.geometric(SCENT, budget) if one.setting == KEYWORD else scent.mean,
                    best, one.interval(best, budget), one.ahead(SCENT, best, budget), one,
                )
            )  # fmt: skip
    return cells


def table_cells(cells: Sequence[Compared]) -> Table:
    return Table.of(
        "scent-cells", "Share of what the oracle-greedy crawl finds",
        {
            "told, seeds": lambda cell, of: cell.title,
            "pages": lambda cell, of: cell.budget,
            "floor": lambda cell, of: cell.floor if cell.floor is not None else "",
            "scent": lambda cell, of: str(cell.scent),
            "scent, geometric": lambda cell, of: cell.counted if of.setting == KEYWORD else "",
            "best published": lambda cell, of: cell.best,
            "its share": lambda cell, of: str(cell.published),
            "its share, geometric": lambda cell, of: (
                of.geometric(cell.best, cell.budget) if of.setting == KEYWORD else ""
            ),
            "scent less best": lambda cell, of: str(cell.ahead),
            "oracle of look-ahead's": lambda cell, of: of.of_ahead(ORACLE, cell.budget),
            "scent of look-ahead's": lambda cell, of: of.of_ahead(SCENT, cell.budget),
            "oracle of reachable": lambda cell, of: of.of_bound(ORACLE, cell.budget),
            "scent of reachable": lambda cell, of: of.of_bound(SCENT, cell.budget),
            "topics": lambda cell, of: len(of.topics),
            "crawls": lambda cell, of: len(of.groups),
        },
        [(cell, cell.crawls) for cell in cells],
        note="Mean over topics and seed sets with 95 % intervals (bootstrap: topics, then seed sets within them). The "
        "best published is picked with hindsight in each row: the highest of many means, which favours it. Differences "
        "are paired. Look-ahead: an oracle that knows the whole graph, a lower bound of the optimum. Reachable: what "
        "no crawl from the same seeds can exceed. Labels judge, but for keywords, where "
        "what counts is log(1 + occurrences), as Gouriten et al. published it; for these the floor is held against "
        "the geometric mean over keywords.",
    )  # fmt: skip


def table_all(crawls: Sequence[ScentCrawls]) -> Table:
    names = [SCENT, *dict.fromkeys(name for one in crawls for name in one.published), AHEAD]
    columns = [(one, budget) for one in crawls for budget in one.budgets]
    rows: list[list[Cell]] = [
        [name, *(one.mean(name, budget) if name in one.curves else None for one, budget in columns)] for name in names
    ]
    return Table(
        "scent-all", "All strategies: share of what the oracle-greedy crawl finds",
        ("strategy", *(f"{one.setting.title}, {budget:,}" for one, budget in columns)), rows,
        note=f"Means over topics and seed sets. {YARDSTICKS}",
    )  # fmt: skip


@says(SOURCE, "In every cell scent finds at least as much as the best published strategy, picked with hindsight")
def best_everywhere(cells: Sequence[Compared], quick: bool) -> Ruling:
    """In no cell its mean is below: the first that misses decides."""
    behind = [cell for cell in cells if not cell.ahead.mean >= 0]
    clear = sum(cell.ahead.low > 0 for cell in cells)
    worse = sum(cell.ahead.high < 0 for cell in cells)
    evidence = [f"{cell.where}: {cell.best} is ahead, scent less it {cell.ahead}." for cell in behind]
    evidence.append(
        f"Ahead or level in {len(cells) - len(behind)} of {len(cells)} cells, in {clear} with the whole interval "
        f"above 0; in {worse} the whole interval is below 0."
    )
    return ruled(not behind, evidence, TOO_SMALL if quick else "")


@says(SOURCE, "Scent reaches the floor of every cell")
def reaches_floors(cells: Sequence[Compared], quick: bool) -> Ruling:
    """Of those that have one."""
    known = [(cell, cell.floor) for cell in cells if cell.floor is not None]
    missed = [(cell, least) for cell, least in known if not cell.counted >= least]
    evidence = [f"{cell.where}: {cell.counted:.3f}, {least:.2f} was asked for." for cell, least in missed]
    evidence.append(f"Reached in {len(known) - len(missed)} of {len(known)} cells.")
    return ruled(not missed, evidence, TOO_SMALL if quick else "")


def claims_on(cells: Sequence[Compared], quick: bool) -> list[Claim]:
    """Both; where there is no floor to reach, the first."""
    floors = [reaches_floors(cells, quick)] if any(cell.floor is not None for cell in cells) else []
    return [best_everywhere(cells, quick), *floors]


# -- what each term is worth -----------------------------------------------------------------------------------------


def without(most: int = 0) -> dict[str, str]:
    """By term the strategy that does without it, and so by part: `most` terms, or all of both."""
    texts = {term: spell(SCENT, {"without": term}) for term in (TERMS[:most] if most else TERMS)}
    return texts if most else texts | {part: spell(SCENT, given) for part, given in PARTS.items()}


def table_ablation(crawls: Sequence[ScentCrawls], texts: dict[str, str]) -> Table:
    """By how much the share changes without a term: below 0, the term helps."""
    rows: list[list[Cell]] = [
        [one.setting.title, term, *(str(one.ahead(text, SCENT, budget)) for budget in one.budgets)]
        for one in crawls
        for term, text in texts.items()
        if text in one.curves
    ]
    budgets = [f"after {budget:,} pages" for budget in crawls[0].budgets]
    return Table(
        "scent-ablation", "Without one term: change of the share of the oracle's",
        ("told, seeds", "without", *budgets), rows,
        note="Paired, with 95 % intervals over topics and seed sets. Below 0: scent is worse without it. Terms are "
        "alike in part: what one of them leaves out another one says, so that single changes are small.",
    )  # fmt: skip


def figure_ablation(crawls: Sequence[ScentCrawls], texts: dict[str, str]) -> Figure:
    """The same, mean of the settings."""
    there = {term: text for term, text in texts.items() if all(text in one.curves for one in crawls)}
    places = list(range(len(there)))
    curves = []
    for budget in crawls[0].budgets:
        changes = [sum(one.ahead(text, SCENT, budget).mean for one in crawls) / len(crawls) for text in there.values()]
        curves.append(Curve(f"{budget:,} pages", places, changes))
    return Figure(
        "scent-figure-ablation", "Without one term", "term left out", "change of the share of the oracle's", curves,
        bars=True, ticks=list(there),
        note=f"Mean of {' and '.join(one.setting.title for one in crawls)}. Below 0: the term helps.",
    )  # fmt: skip


# -- how it learns ---------------------------------------------------------------------------------------------------


def figure_harvest(crawls: ScentCrawls) -> Figure:
    """What a page brought, by windows of 50 pages: does it learn?"""
    budget = crawls.budgets[-1]
    window = min(50, budget)
    ends = list(range(window, budget + 1, window))
    drawn = [
        _curve(label, ends, np.diff(crawls.curves[name][:, [0, *ends]], axis=1) / window, crawls)
        for name, label in DRAWN.items()
        if name in crawls.curves
    ]
    return Figure(
        f"scent-figure-harvest-{crawls.setting.key}", f"Harvest along the crawl: {crawls.setting.title}",
        "pages fetched", f"mean gain of a page, the last {window}", drawn, crawls.setting.mode,
        note=f"Late in the crawl little is left to be found: compare curves, not places. {BANDS}",
    )  # fmt: skip


def figure_share(crawls: ScentCrawls) -> Figure:
    """The share of the oracle's, from ten pages to the budget, each step larger by the same factor."""
    last = crawls.budgets[-1]
    steps = sorted({round(step) for step in np.geomspace(min(FIRST, last), last, POINTS).tolist()})
    drawn = [
        _curve(label, steps, np.array([crawls.share(name, step) for step in steps]).T, crawls)
        for name, label in DRAWN.items()
        if name in crawls.curves and name != ORACLE
    ]
    return Figure(
        f"scent-figure-share-{crawls.setting.key}", f"Share of the oracle's: {crawls.setting.title}", "pages fetched",
        "share of the oracle-greedy crawl's score", drawn, crawls.setting.mode, log_x=True, note=BANDS,
    )  # fmt: skip


def _curve(label: str, x: list[int], values: Floats, crawls: ScentCrawls) -> Curve:
    known = np.isfinite(values.sum(1))  # where the oracle has nothing yet there is no share
    groups = [group for group, keep in zip(crawls.groups, known.tolist(), strict=True) if keep]
    return curve(label, x, values[known], groups) if groups else Curve(label, [], [])


# -- where it fails --------------------------------------------------------------------------------------------------


def average_precision(said: ArrayLike, relevant: ArrayLike) -> float:
    """How well what is said of pages ranks the relevant ones first: the mean precision at each of them.

        AP = sum over thresholds t of (recall(t) - recall(before t)) * precision(t)

    Pages of which the same is said have one threshold: their order says nothing. Nan if nothing is relevant.

    >>> average_precision([.9, .8, .7, .1], [1, 0, 1, 0])        # 1/2 * 1/1 + 1/2 * 2/3
    0.8333333333333333
    """
    scores, hits = np.asarray(said, np.float64), np.asarray(relevant, np.bool_)
    if not hits.any():
        return float("nan")
    _, level = np.unique(-scores, return_inverse=True)
    pages, good = np.bincount(level), np.bincount(level, hits)
    precision = np.cumsum(good) / np.cumsum(pages)
    return float((good * precision).sum() / hits.sum())


def known(crawls: ScentCrawls, topic: str) -> float | None:
    """The guide's average precision, against the labels, on pages that it was not told; none where it judges itself."""
    if crawls.setting.mode != INDEPENDENT:
        return None
    subject = crawls.results.subjects[topic]
    return average_precision(crawls.results.guide(topic).beta[subject.unseen], subject.truth[subject.unseen] > 0)


def _topic(crawls: ScentCrawls, topic: str) -> list[Cell]:
    """What a row of a topic begins with: its setting, its name, its pages, how well the guide knows it."""
    pages = int(np.count_nonzero(crawls.results.truth(topic)))
    return [crawls.setting.title, topic, pages, known(crawls, topic)]


def _topics(crawls: Sequence[ScentCrawls]) -> tuple[list[str], list[list[Cell]]]:
    """Columns and rows of all topics: shares of scent and of the best published strategy at each budget."""
    shares = [f"{who} after {budget:,}" for budget in crawls[0].budgets for who in ("scent", "best")]
    rows = []
    for one in crawls:
        by_topic = [one.by_topic(name, budget) for budget in one.budgets for name in (SCENT, one.best(budget))]
        rows += [[*_topic(one, topic), *(share[topic] for share in by_topic)] for topic in one.topics]
    return ["told, seeds", "topic", "pages", "guide", *shares], rows


def table_topics(crawls: Sequence[ScentCrawls]) -> Table:
    return Table(
        "scent-topics", "Topic by topic: share of the oracle's", *_topics(crawls),
        note="Means over seed sets. Best: the published strategy that is best in that cell and budget, over all "
        "topics. Guide: average precision of what the guide says of all pages, by labels: how well it knows the "
        "topic. Pages: those that are relevant, or have the keyword.",
    )  # fmt: skip


def table_worst(crawls: Sequence[ScentCrawls]) -> Table:
    """The ten topics on which scent's share is the lowest, mean over the budgets."""
    columns, rows = _topics(crawls)
    ours = [place for place, name in enumerate(columns) if name.startswith("scent")]
    rows.sort(key=lambda row: interval([float(row[place] or 0.0) for place in ours], draws=1).mean)
    return Table(
        "scent-worst", "Where scent finds the least", columns, rows[:WORST],
        note=f"The {WORST} lowest shares of the oracle's, mean over the budgets.",
    )  # fmt: skip


def table_lost(crawls: Sequence[ScentCrawls]) -> Table:
    """Where a published strategy is ahead by more than .05."""
    rows: list[list[Cell]] = []
    for one, budget in [(each, budget) for each in crawls for budget in each.budgets]:
        best, theirs = one.best(budget), {name: one.by_topic(name, budget) for name in one.published}
        for topic, share in one.by_topic(SCENT, budget).items():
            of = {name: by_topic[topic] for name, by_topic in theirs.items()}
            winner = max(of, key=of.__getitem__)
            if of[winner] - share > NOTABLE + 1e-9:
                lost: list[Cell] = [budget, share, winner, of[winner], of[winner] - share, of[best] - share]
                rows.append([*_topic(one, topic), *lost])
    rows.sort(key=lambda row: -float(row[8] or 0))
    return Table(
        "scent-lost", f"Where a published strategy is ahead by more than {NOTABLE}",
        (
            "told, seeds", "topic", "pages", "guide", "after", "scent", "the winner", "its share", "ahead by",
            "the cell's best ahead by",
        ),
        rows,
        note="The winner is the best of all published ones on that topic at that budget: of many, on a few seed sets, "
        "some are ahead by chance. The last column is the one strategy that is best in the cell, over all topics.",
    )  # fmt: skip
