"""Trivedi et al. 2014: a personalised crawler, with ranking, crawling and change detection.

The paper describes a system without measurements. Measured here are rankings by its measures of relevance, crawls by
its algorithm and by link scores, and its two change detectors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.types import Links
from lycosa.judges.counting import WordFrequencyJudge
from lycosa.judges.vector_judge import VectorJudge, WeightedContentJudge
from lycosa.text.vocabulary import Vocabulary
from lycosa_lab.comparison import HARVEST, PAGES, RECALL, CrawlComparison, Measure, gains_of, grid
from lycosa_lab.confidence import interval
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import AS_PUBLISHED, Claim, Findings, ReportTable, Ruling, claim_of
from lycosa_lab.measures import harvest
from lycosa_lab.papers import Bench, remarks_of
from lycosa_lab.papers.personalized import changes
from lycosa_lab.subjects import HuntSubject, seeded_random

SOURCE = "Trivedi et al. 2014"

# The paper's algorithm: a page is relevant if it contains the search string.
BY_STRING = {
    "breadth-first": "Breadth-first",
    "personalised": "Personalised: relevant pages lead on",
    "personalised,levels=1": "Personalised, through one irrelevant page",
}

# Crawlers by link scores; the relevance of a page is the cosine of its weighted content.
BY_SCORE = {
    "link-score": "LinkScore",
    "url-optimisation": "LinkScore with URL optimisation",
    "nb-links": "Naive Bayes link scores",
}


GUIDE = Measure(
    "harvest by the guide",
    lambda outcome, results, budgets: harvest(
        gains_of(outcome, results, (guide := results.guide(outcome.subject)).relevance >= guide.threshold), budgets
    ),
)


def findings(bench: Bench) -> Findings:
    index = bench.index
    if not index.has_text:
        raise InputError("no-text", "the experiments of the paper need pages with text: this corpus is a graph")
    plan, by_score = (
        bench.plan(f"personalized-{name}", crawlers, judge=judge, **bench.size)
        for name, crawlers, judge in (
            ("string", BY_STRING, "word-frequency"), ("score", BY_SCORE, "weighted-content"),
        )
    )  # fmt: skip
    subjects = bench.subjects(plan)
    strings = {subject.name: search_string(subject) for subject in subjects}
    ranks = rank_pages(index, subjects, 500 if bench.quick else 0, bench.random_seed)
    bench.progress("ranking pages", 1, 1)
    searched = [replace(subject, words=strings[subject.name]) for subject in subjects]
    runs = [bench.run(plan, subjects=searched), bench.run(by_score, subjects=subjects)]
    crawls = CrawlComparison.of({**BY_STRING, **BY_SCORE}, runs, grid(plan.budget), (HARVEST, RECALL, PAGES, GUIDE))
    tables, detected = changes.study(index, 40 if bench.quick else 300, bench.random_seed)
    return bench.findings(
        "personalized",
        [
            table_ranking(ranks, strings.values()),
            crawls.figure(
                "personalized-crawl", "Crawls judged by their own guide: harvest rate", "harvest rate", GUIDE,
                AS_PUBLISHED,
                "The algorithm stores pages that contain the search string; link scores use weighted content as "
                "relevance. An exhausted crawl keeps its last rate.",
            ),
            crawls.figure("personalized-crawl-labels", "Crawls by labels: harvest rate", "harvest rate", HARVEST),
            crawls.figure("personalized-crawl-recall", "Crawls by labels: recall", "recall", RECALL),
            crawls.table(
                "personalized-ends", f"All crawls after {plan.budget:,} pages",
                {measure.name: measure for measure in (GUIDE, HARVEST, RECALL, PAGES)}, AS_PUBLISHED,
                "Means with 95 % intervals (bootstrap over topics and seed sets). The first column is by the guide "
                "itself. Pages: fewer than the budget if a crawl ran out of links.",
            ),
            *tables,
        ],
        [*(claim(ranks) for claim in ON_RANKING), *(claim(crawls) for claim in ON_CRAWLS), *detected],
        f"The paper has no measurements. What it says was measured on {len(subjects)} topics, in crawls of "
        f"{plan.budget:,} pages, and on changed versions of pages.",
        {"by string": plan.as_dict(), "by score": by_score.as_dict(), "strings": strings},
        bench.verdict_notes(len(subjects)) + remarks_of(runs),
    )  # fmt: skip


def more_relevant_share(crawls: CrawlComparison, one: str, other: str) -> Ruling:
    """Claim: by labels, a larger share of the first crawler's pages than of the other's is relevant."""
    pages = [crawls.at(crawls.budgets[-1]).mean(name, PAGES) for name in (one, other)]
    more = f"Pages fetched: {pages[0]:.0f} and {pages[1]:.0f}."
    return crawls.ahead([(one, other)], [HARVEST], [RECALL], more=[more])


ON_CRAWLS: list[Callable[[CrawlComparison], Claim]] = [
    claim_of(
        f"{SOURCE}, I; III, Algorithm",
        "A crawler that follows relevant pages only fetches fewer irrelevant ones than one that follows all.",
    )(lambda crawls: more_relevant_share(crawls, "personalised", "breadth-first")),
    claim_of(
        f"{SOURCE}, II, Relevance Calculation, 2)",
        "Following irrelevant pages up to a limit finds relevant pages behind them that would be missed.",
    )(lambda crawls: crawls.ahead([("personalised,levels=1", "personalised")], [RECALL])),
    claim_of(
        f"{SOURCE}, II, Relevance Calculation, 2)", "Link scores let a crawler spend less time on irrelevant pages."
    )(lambda crawls: more_relevant_share(crawls, "link-score", "breadth-first")),
    claim_of(
        f"{SOURCE}, II, Relevance Calculation, 2)",
        "Without the links that score below a threshold (URL optimisation) more of what is fetched is relevant.",
    )(lambda crawls: more_relevant_share(crawls, "url-optimisation", "link-score")),
]


# Ranking: does the number of occurrences of a search string put relevant pages first?
CHANCE = "by chance"
BEST = 10
TITLES = ("weighted content, title 2", "weighted content, title 1")
# Measures of rankings, computed by rank_pages instead of from crawls.
AVERAGE, FIRST = (Measure(name, lambda *_: np.zeros(0)) for name in ("average precision", "first precision"))


def search_string(subject: HuntSubject) -> str:
    """Return the first query word that is not in the class name, else the name. (A page may contain its class name.)"""
    name = subject.name.rpartition("/")[2].replace("_", " ").lower()
    others = [word for word in subject.words.split() if word.lower().rstrip("s") not in name]
    return others[0] if others else name


def measures_of(subject: HuntSubject) -> dict[str, Any]:
    string = search_string(subject)
    return {
        "word frequency": WordFrequencyJudge(string),
        "lines with the string": WordFrequencyJudge(string, count="lines", match="anywhere"),
        "weighted content, title 2": WeightedContentJudge(subject.words),
        "weighted content, title 1": WeightedContentJudge(subject.words, title=1.0),
        "vector space, tf-idf": VectorJudge(subject.words, idf="background"),
    }


def average_precision(hits: NDArray[np.bool_]) -> float:
    """Return the mean precision at each relevant page; `hits` marks relevant pages, best first."""
    places = np.flatnonzero(hits) + 1
    return float(np.mean(np.arange(1, 1 + len(places)) / places)) if len(places) else 0.0


def rank_pages(index: CorpusIndex, subjects: Sequence[HuntSubject], others: int, random_seed: int) -> CrawlComparison:
    """Rank each subject's relevant pages among up to `others` irrelevant ones (0: all), without its training pages."""
    judges = {subject.name: measures_of(subject) for subject in subjects}
    chosen = {subject.name: _pages(subject, others, random_seed) for subject in subjects}
    scores = {name: {measure: np.zeros(len(chosen[name])) for measure in known} for name, known in judges.items()}
    reader = Vocabulary()
    for node in np.unique(np.concatenate(list(chosen.values()))).tolist():
        page = index.page(node)
        page.links = Links()  # links are not judged here
        reading = reader.read(page)
        for name, nodes in chosen.items():
            for place in np.flatnonzero(nodes == node):
                for measure, judge in judges[name].items():
                    scores[name][measure][place] = judge.judge(page, reading).relevance
    orders: dict[str, list[NDArray[np.int32]]] = {}
    average: dict[str, list[float]] = {}
    first: dict[str, list[float]] = {}
    for subject in subjects:
        nodes = chosen[subject.name]
        true = subject.truth[nodes] > 0
        order = seeded_random(random_seed, "ties", subject.name).permutation(len(nodes))
        for measure, own in {**scores[subject.name], CHANCE: np.zeros(len(nodes))}.items():
            ranking = order[np.argsort(-own[order], kind="stable")]
            orders.setdefault(measure, []).append(nodes[ranking].astype(np.int32))
            average.setdefault(measure, []).append(average_precision(true[ranking]))
            best = true if measure == CHANCE else true[ranking][:BEST]
            first.setdefault(measure, []).append(float(best.mean()))
    values = {
        by: {name: np.array(numbers)[:, None] for name, numbers in of.items()}
        for by, of in ((AVERAGE, average), (FIRST, first))
    }
    names = [subject.name for subject in subjects]
    return CrawlComparison({CHANCE: "a random order"}, [0], names, values, pages=orders)


def _pages(subject: HuntSubject, others: int, random_seed: int) -> NDArray[np.int64]:
    relevant, rest = (np.flatnonzero(subject.unseen & part) for part in (subject.truth > 0, ~(subject.truth > 0)))
    if others:
        rest = seeded_random(random_seed, "others", subject.name).permutation(rest)[:others]
    return np.sort(np.concatenate([relevant, rest]))


def table_ranking(ranks: CrawlComparison, strings: Collection[str]) -> ReportTable:
    average, first = ranks.values[AVERAGE], ranks.values[FIRST]
    return ReportTable.of(
        "personalized-ranking", "Ranking by the paper's measures of relevance",
        {
            "measure": lambda name: name,
            "average precision": lambda name: str(interval(average[name])),
            f"of the first {BEST} relevant": lambda name: float(first[name].mean()),
        },
        [(name,) for name in sorted(average, key=lambda name: -float(average[name].mean()))],
        note=f"By labels, over {len(strings)} topics (95 % interval over topics), without the pages that words were "
        f"taken from; equal scores in random order. The paper has no numbers. Search strings: {', '.join(strings)}.",
    )  # fmt: skip


ON_RANKING: list[Callable[[CrawlComparison], Claim]] = [
    claim_of(
        f"{SOURCE}, III, Relevance Calculation",
        "The number of times a search string is on a page says how relevant the page is.",
    )(
        lambda ranks: ranks.ahead(
            [("word frequency", CHANCE)], [AVERAGE], more=[ranks.difference((TITLES[0], "word frequency"), AVERAGE)],
        )
    ),
    claim_of(
        f"{SOURCE}, II, Relevance Calculation, 1)", "Words of the title should weigh more than those of the text."
    )(lambda ranks: ranks.ahead([TITLES], [AVERAGE])),
]  # fmt: skip
