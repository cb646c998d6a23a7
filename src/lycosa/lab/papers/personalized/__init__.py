"""Trivedi et al. 2014: a personalised crawler, how it ranks, what it fetches, and how it sees that pages have changed.

The paper describes a system and measures nothing: there is no table and no figure with numbers in it. What can be
measured of what it says is measured here: ranking by its measures of relevance, crawls by its algorithm and by link
scores, and its two ways to detect changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.lab.experiments import Experiment
from lycosa.lab.findings import AS_PUBLISHED, Claim, Figure, Findings, Table
from lycosa.lab.measures import found, gains, harvest, recall, targets
from lycosa.lab.papers import Bench
from lycosa.lab.papers.personalized import changes, ranking
from lycosa.lab.papers.weighing import (
    Measure,
    Measured,
    better,
    corpus_of,
    grid,
    how_weighed,
    summary_table,
    told,
    weighed,
)
from lycosa.lab.running import Outcome, Results, run
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

CRAWLERS = {**BY_STRING, **BY_SCORE}


def findings(bench: Bench) -> Findings:
    """The ranking, the crawls, the detectors of changes, and what is to be said of the paper."""
    index = bench.index
    if not index.has_text:
        raise InputError("the paper is about pages with words: this corpus is a graph without text")
    plans = _experiments(bench)
    subjects = subjects_of(
        index, count=plans[0].subject_count, least=plans[0].least, most=plans[0].most, random_seed=bench.random_seed
    )
    strings = {subject.name: ranking.search_string(subject) for subject in subjects}
    order = ranking.ranked(index, subjects, 500 if bench.quick else 0, bench.random_seed)
    bench.tell("ranking pages", 1, 1)
    parts: list[Table | Figure] = [ranking.table_of(order, list(strings.values()))]
    searched = [replace(subject, words=strings[subject.name]) for subject in subjects]
    runs = [
        run(plan, bench.out / plan.name, index=index, subjects=told_of, workers=bench.workers, tell=bench.tell)
        for plan, told_of in zip(plans, (searched, subjects), strict=True)
    ]
    crawled, decided = _crawls(runs, grid(plans[0].budget))
    parts += crawled
    tables, seen = changes.study(index, 40 if bench.quick else 300, bench.random_seed)
    parts += tables
    claims = [*ranking.claims_of(order), *decided, *seen]
    return Findings(
        "personalized",
        "Trivedi et al. 2014: a personalised crawler with change detection",
        parts,
        claims,
        f"The paper has no measurements. What it says was measured on {len(subjects)} topics, in crawls of "
        f"{plans[0].budget:,} pages, and on changed versions of pages.",
        {"by string": plans[0].as_dict(), "by score": plans[1].as_dict(), "strings": strings, "quick": bench.quick},
        corpus_of(index),
        how_weighed(len(subjects))
        + [f"{plan.name}: {remark}" for plan, results in zip(plans, runs, strict=True) for remark in results.remarks],
    )


def _experiments(bench: Bench) -> tuple[Experiment, Experiment]:
    size: dict[str, Any] = (
        {"subject_count": 3, "seed_sets": 1, "budgets": [150], "least": 30}
        if bench.quick
        else {"subject_count": 10, "seed_sets": 3, "budgets": [1000], "least": 40}
    )
    common: dict[str, Any] = {
        "corpus": str(bench.index.path or ""),
        "told": "words",
        "seeds": "on-topic",
        "seed_count": 5,
        "random_seed": bench.random_seed,
        **size,
    }
    return (
        Experiment("personalized-string", strategies=list(BY_STRING), judge="word-frequency", **common),
        Experiment("personalized-score", strategies=list(BY_SCORE), judge="weighted-content", **common),
    )


def _crawls(runs: Sequence[Results], budgets: Sequence[int]) -> tuple[list[Table | Figure], list[Claim]]:
    """Figures and a table of both experiments, and the claims about them."""

    def harvested(outcome: Outcome, results: Results) -> NDArray[np.float64]:
        return harvest(gains(outcome.trace, results.subjects[outcome.subject]), budgets)

    def recalled(outcome: Outcome, results: Results) -> NDArray[np.float64]:
        subject = results.subjects[outcome.subject]
        return recall(gains(outcome.trace, subject), targets(outcome.trace, subject), budgets)

    def fetched(outcome: Outcome, results: Results) -> NDArray[np.float64]:
        return found(np.ones(len(gains(outcome.trace, results.subjects[outcome.subject]))), budgets)

    def judged(outcome: Outcome, results: Results) -> NDArray[np.float64]:
        subject, guide = results.subjects[outcome.subject], results.guide(outcome.subject)
        return harvest(gains(outcome.trace, subject, guide.beta >= guide.threshold), budgets)

    def of(way: Measure) -> Measured:
        string, score = (
            Measured.of(results, list(names), budgets, way)
            for results, names in zip(runs, (BY_STRING, BY_SCORE), strict=True)
        )
        return string.joined(score)

    by_labels, recalls, pages, by_guide = of(harvested), of(recalled), of(fetched), of(judged)
    everyone = CRAWLERS
    parts: list[Table | Figure] = [
        by_guide.figure(
            "personalized-crawl", "Crawls judged by their own guide: harvest rate", "harvest rate", everyone,
            AS_PUBLISHED,
            "The algorithm stores pages that have the search string; link scores take weighted content for relevance. "
            "A crawl that runs dry keeps its last rate.",
        ),
        by_labels.figure("personalized-crawl-labels", "Crawls by labels: harvest rate", "harvest rate", everyone),
        recalls.figure("personalized-crawl-recall", "Crawls by labels: recall", "recall", everyone),
        summary_table(
            "personalized-ends", f"All crawls after {budgets[-1]:,} pages",
            {"harvest by the guide": by_guide, "harvest by labels": by_labels, "recall": recalls, "pages": pages},
            everyone, AS_PUBLISHED,
            "Means with 95 % intervals (bootstrap over topics and seed sets). The first column is the guide's own "
            "word. Pages: fewer than the budget where a crawl ran dry.",
            counts=("pages",),
        ),
    ]  # fmt: skip
    return parts, claims_of(by_labels, recalls, pages)


def claims_of(harvests: Measured, recalls: Measured, pages: Measured) -> list[Claim]:
    """What the paper says of crawling, by labels."""
    strayed = recalls.difference("personalised,levels=1", "personalised")

    def compared(text: str, where: str, one: str, other: str) -> Claim:
        difference = harvests.difference(one, other)
        first, second = CRAWLERS[one], CRAWLERS[other]
        return weighed(
            text, f"{SOURCE}, {where}", better(difference, harvests.mean(other)), difference.n,
            [
                f"{first} less {second}, harvest by labels: {told(difference)}; recall: "
                f"{told(recalls.difference(one, other))}; pages fetched: {pages.mean(one, pages.end):.0f} and "
                f"{pages.mean(other, pages.end):.0f}."
            ],
        )  # fmt: skip

    return [
        compared(
            "A crawler that follows relevant pages only fetches fewer irrelevant ones than one that follows all.",
            "I; III, Algorithm", "personalised", "breadth-first",
        ),
        weighed(
            "Following irrelevant pages up to a limit finds relevant pages behind them that would be missed.",
            f"{SOURCE}, II, Relevance Calculation, 2)", better(strayed, recalls.mean("personalised")), strayed.n,
            [f"Recall through one irrelevant page less that through relevant pages only: {told(strayed)}."],
        ),
        compared(
            "Link scores let a crawler spend less time on irrelevant pages.", "II, Relevance Calculation, 2)",
            "link-score", "breadth-first",
        ),
        compared(
            "Without the links that score below a threshold (URL optimisation) more of what is fetched is relevant.",
            "II, Relevance Calculation, 2)", "url-optimisation", "link-score",
        ),
    ]  # fmt: skip
