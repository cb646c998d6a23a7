"""Trivedi et al. 2014: a personalised crawler, how it ranks, what it fetches, and how it sees that pages have changed.

The paper describes a system and measures nothing: there is no table and no figure with numbers in it. What can be
measured of what it says is measured here: ranking by its measures of relevance, crawls by its algorithm and by link
scores, and its two ways to detect changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lycosa.core.errors import InputError
from lycosa.lab.findings import AS_PUBLISHED, Claim, Findings
from lycosa.lab.measures import Floats, harvest
from lycosa.lab.papers import PAPERS, Bench
from lycosa.lab.papers.personalized import changes, ranking
from lycosa.lab.papers.weighing import (
    HARVEST,
    PAGES,
    RECALL,
    Comparison,
    Measure,
    grid,
    how_weighed,
    size,
    worth,
)
from lycosa.lab.results import Outcome, Results
from lycosa.lab.subjects import subjects_of

SOURCE = "Trivedi et al. 2014"

BY_STRING = {
    "breadth-first": "Breadth-first",
    "personalised": "Personalised: relevant pages lead on",
    "personalised,levels=1": "Personalised, through one irrelevant page",
}
"""Crawls by the paper's algorithm: a page is relevant if the search string is on it."""

BY_SCORE = {
    "link-score": "LinkScore",
    "url-optimisation": "LinkScore with URL optimisation",
    "nb-links": "Naive Bayes link scores",
}
"""Crawls by link scores: relevance is the cosine of weighted content."""


def _by_guide(outcome: Outcome, results: Results, budgets: Sequence[int]) -> Floats:
    guide = results.guide(outcome.subject)
    return harvest(worth(outcome, results, guide.beta >= guide.threshold), budgets)


GUIDE = Measure("harvest by the guide", _by_guide)


def findings(bench: Bench) -> Findings:
    """The ranking, the crawls, the detectors of changes, and what is to be said of the paper."""
    index = bench.index
    if not index.has_text:
        raise InputError("the paper is about pages with words: this corpus is a graph without text")
    plans = [
        bench.plan(f"personalized-{name}", crawlers, judge=judge, **size(bench.quick))
        for name, crawlers, judge in (
            ("string", BY_STRING, "word-frequency"), ("score", BY_SCORE, "weighted-content"),
        )
    ]  # fmt: skip
    plan = plans[0]
    subjects = subjects_of(
        index, count=plan.subject_count, least=plan.least, most=plan.most, random_seed=bench.random_seed
    )
    strings = {subject.name: ranking.search_string(subject) for subject in subjects}
    order = ranking.ranked(index, subjects, 500 if bench.quick else 0, bench.random_seed)
    bench.tell("ranking pages", 1, 1)
    searched = [replace(subject, words=strings[subject.name]) for subject in subjects]
    runs = [bench.run(plan, subjects=hunted) for plan, hunted in zip(plans, (searched, subjects), strict=True)]
    crawls = Comparison.of(SOURCE, {**BY_STRING, **BY_SCORE}, runs, grid(plan.budget), (HARVEST, RECALL, PAGES, GUIDE))
    tables, detected = changes.study(index, 40 if bench.quick else 300, bench.random_seed)
    return Findings(
        "personalized", PAPERS["personalized"],
        [
            ranking.table_of(order, list(strings.values())),
            crawls.figure(
                "personalized-crawl", "Crawls judged by their own guide: harvest rate", "harvest rate", GUIDE,
                AS_PUBLISHED,
                "The algorithm stores pages that have the search string; link scores take weighted content for "
                "relevance. A crawl that runs dry keeps its last rate.",
            ),
            crawls.figure("personalized-crawl-labels", "Crawls by labels: harvest rate", "harvest rate", HARVEST),
            crawls.figure("personalized-crawl-recall", "Crawls by labels: recall", "recall", RECALL),
            crawls.table(
                "personalized-ends", f"All crawls after {plan.budget:,} pages",
                {measure.name: measure for measure in (GUIDE, HARVEST, RECALL, PAGES)}, AS_PUBLISHED,
                "Means with 95 % intervals (bootstrap over topics and seed sets). The first column is the guide's own "
                "word. Pages: fewer than the budget where a crawl ran dry.",
            ),
            *tables,
        ],
        [*ranking.claims_of(order), *claims_of(crawls), *detected],
        f"The paper has no measurements. What it says was measured on {len(subjects)} topics, in crawls of "
        f"{plan.budget:,} pages, and on changed versions of pages.",
        {"by string": plan.as_dict(), "by score": plans[1].as_dict(), "strings": strings, "quick": bench.quick},
        bench.corpus,
        how_weighed(len(subjects)) + [f"{one.experiment.name}: {remark}" for one in runs for remark in one.remarks],
    )  # fmt: skip


def claims_of(crawls: Comparison) -> list[Claim]:
    """What the paper says of crawling, by labels."""

    def cleaner(text: str, where: str, one: str, other: str) -> Claim:
        pages = [crawls.by[PAGES].mean(name, crawls.by[PAGES].end) for name in (one, other)]
        fetched = f"Pages fetched: {pages[0]:.0f} and {pages[1]:.0f}."
        return crawls.claim(text, where, [(one, other)], [HARVEST], [RECALL], more=[fetched])

    return [
        cleaner(
            "A crawler that follows relevant pages only fetches fewer irrelevant ones than one that follows all.",
            "I; III, Algorithm", "personalised", "breadth-first",
        ),
        crawls.claim(
            "Following irrelevant pages up to a limit finds relevant pages behind them that would be missed.",
            "II, Relevance Calculation, 2)", [("personalised,levels=1", "personalised")], [RECALL],
        ),
        cleaner(
            "Link scores let a crawler spend less time on irrelevant pages.", "II, Relevance Calculation, 2)",
            "link-score", "breadth-first",
        ),
        cleaner(
            "Without the links that score below a threshold (URL optimisation) more of what is fetched is relevant.",
            "II, Relevance Calculation, 2)", "url-optimisation", "link-score",
        ),
    ]  # fmt: skip
