"""Batsakis 2007: breadth-first and best-first, WordNet-based crawlers, and crawlers that learn from browsing.

Figures 12 and 13 compare the classic crawlers, 14 and 15 the semantic ones with best-first, 16 and 17 the learning
ones: each by the number of relevant pages and by average similarity. In the thesis a page is relevant if its cosine
with one of up to fifty relevant pages is above .75. Crawlers judge pages in the same way, so figures by it are marked
as published, and each has a counterpart by labels, which decide the claims.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lycosa.core.errors import InputError
from lycosa.text.wordnet import find_wordnet
from lycosa_lab.comparison import FOUND, CrawlComparison, Measure, gains_of, grid
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.evaluator import THRESHOLD, max_similarities_in
from lycosa_lab.findings import (
    AS_PUBLISHED,
    Cell,
    Claim,
    Expected,
    Findings,
    ReportFigure,
    ReportTable,
    Ruling,
    claim_of,
)
from lycosa_lab.measures import Floats, found, harvest
from lycosa_lab.papers import PICTURE, Bench, remarks_of
from lycosa_lab.results import ExperimentResults, Trial
from lycosa_lab.subjects import HuntSubject, seeded_random

SSRM, SYNSETS = "ssrm,idf=background", "synset-expansion,literal=yes,idf=background"

CLASSIC = {
    "breadth-first": "Breadth First",
    "best-first-page": "Best First, page content",
    "best-first-anchor": "Best First, anchor text",
    "best-first": "Best First, page content and anchor text",
}
SEMANTIC = {
    "best-first-anchor": "Best First, anchor text",
    "best-first": "Best First, page content and anchor text",
    "ehrig": "Semantic, Ehrig",
    SSRM: "Semantic, SSRM",
    SYNSETS: "Semantic, synset expansion",
}
LEARNING = {
    "hmm": "HMM, K-Means",
    "hmm-xmeans": "HMM, X-Means",
    "hybrid": "Hybrid HMM, page content",
    "hybrid-anchor": "Hybrid HMM, page content and anchor text",
}

# Crawlers of each pair of figures: 12 and 13, 14 and 15, 16 and 17.
GROUPS = {"classic crawlers": CLASSIC, "semantic crawlers": SEMANTIC, "HMM and hybrid crawlers": LEARNING}

THRESHOLDS = (0.75, 0.5, 0.4, 0.3, 0.2)
MAX_RELEVANT = 50  # maximum number of relevant pages that a page is compared with


def findings(bench: Bench) -> Findings:
    if not bench.index.has_text:
        raise InputError("no-text", "the experiments of the thesis need pages with text: this corpus is a graph")
    plan = bench.plan(
        "batsakis-words", {**CLASSIC, **SEMANTIC}, judge="vector,tf=max,idf=background", seeds="off-topic",
        seed_count=1, **bench.size,
    )  # fmt: skip
    browsing = replace(plan, name="batsakis-browsing", strategies=list(LEARNING))
    remarks = []
    if not _has_wordnet():
        plan.strategies = [name for name in plan.strategies if name not in ("ehrig", SSRM, SYNSETS)]
        remarks.append(
            "Left out: Ehrig, SSRM and synset expansion, which need WordNet ('lycosa doctor' says how to get it)."
        )
    words, learned = bench.run(plan), bench.run(browsing)
    remarks += remarks_of([words, learned])
    evaluator = Evaluator(bench.index, bench.random_seed)
    groups = [
        CrawlComparison.of(labels, [results], grid(plan.budget), (FOUND, evaluator.above, evaluator.similarity))
        for labels, results in zip(GROUPS.values(), (words, words, learned), strict=True)
    ]
    numbered = zip((12, 14, 16), GROUPS, groups, strict=True)
    figures = [figure for number, title, group in numbered for figure in _figures(number, title, group, evaluator)]
    topics = groups[0].count
    return bench.findings(
        "batsakis",
        [*figures, _ends(groups, evaluator), evaluator.table()],
        [claim(group, evaluator) for group, claims in zip(groups, CLAIMS, strict=True) for claim in claims],
        f"Crawls of {plan.budget:,} pages each from one page that is two links or more from every relevant one, for "
        f"{topics} topics of the corpus (the thesis: 1,000 pages, six topics, four for learning). Labels "
        "decide about claims.",
        {"words": plan.as_dict(), "browsing": browsing.as_dict(), "threshold": THRESHOLD},
        bench.verdict_notes(topics) + remarks,
    )


def _has_wordnet() -> bool:
    try:
        find_wordnet()
    except InputError:
        return False
    return True


def _figures(number: int, title: str, group: CrawlComparison, evaluator: Evaluator) -> list[ReportFigure]:
    picture = PICTURE.replace("paper", "thesis")
    return [
        group.figure(
            f"batsakis-figure-{number}", f"Figure {number}: harvest ratio, {title}",
            f"pages with a similarity above {THRESHOLD}", evaluator.above, AS_PUBLISHED, picture,
        ),
        group.figure(
            f"batsakis-figure-{number}-labels", f"Figure {number} by labels: {title}", "relevant pages", FOUND
        ),
        group.figure(
            f"batsakis-figure-{number + 1}", f"Figure {number + 1}: average similarity, {title}", "average similarity",
            evaluator.similarity, AS_PUBLISHED,
            f"{picture} By labels the mean of a page is its harvest: figure {number} by labels.",
        ),
    ]  # fmt: skip


def _ends(groups: Sequence[CrawlComparison], evaluator: Evaluator) -> ReportTable:
    measures = (evaluator.above, evaluator.similarity, FOUND)
    rows: list[list[Cell]] = [
        [title, *row] for title, group in zip(GROUPS, groups, strict=True) for row in group.ends(measures)
    ]
    return ReportTable(
        "batsakis-ends", "All crawlers at the end",
        ["figure of", "crawler", *(measure.name for measure in measures)], rows, AS_PUBLISHED,
        note="Pages and their mean, with 95 % intervals (bootstrap over topics and seed sets). The first two numbers "
        "are the thesis's evaluator's, the last is independent. Classic and semantic crawlers get words, HMM and "
        "hybrids were trained on browsing: neither the thesis nor this table compares these groups.",
    )  # fmt: skip


def _ahead(*pairs: tuple[str, str], expect: Expected = "better") -> Callable[[CrawlComparison, Evaluator], Ruling]:
    return lambda crawls, judge: crawls.ahead(pairs, [FOUND], [judge.above, judge.similarity], expect)


SOURCE = "Batsakis 2007"
CLAIMS: list[list[Callable[[CrawlComparison, Evaluator], Claim]]] = [
    [
        claim_of(
            f"{SOURCE}, 4.4, fig. 12", "Breadth-first, which is not focused, finds less than any best-first crawler."
        )(_ahead(*((name, "breadth-first") for name in CLASSIC if name != "breadth-first"))),
        claim_of(f"{SOURCE}, 4.4, fig. 12", "Anchor text alone guides better than page content alone.")(
            _ahead(("best-first-anchor", "best-first-page"))
        ),
        claim_of(
            f"{SOURCE}, 4.4, 4.7, fig. 12, 13", "Page content and anchor text together guide better than either alone."
        )(_ahead(("best-first", "best-first-page"), ("best-first", "best-first-anchor"))),
        claim_of(f"{SOURCE}, 4.4, fig. 13", "Average similarity ranks the classic crawlers as harvest ratio does.")(
            lambda crawls, judge: crawls.same_order(judge.above, judge.similarity)
        ),
    ],
    [
        claim_of(f"{SOURCE}, 4.7, 5", "Likeness of meaning in WordNet (Ehrig, SSRM) does not improve on best-first.")(
            _ahead(("ehrig", "best-first"), (SSRM, "best-first"), expect="not better")
        ),
        claim_of(f"{SOURCE}, 4.5, 4.7, fig. 14, 15", "Synonyms alone improve on best-first a little.")(
            _ahead((SYNSETS, "best-first"))
        ),
    ],
    [
        claim_of(f"{SOURCE}, 4.6", "HMM crawlers with K-Means and with X-Means perform alike.")(
            _ahead(("hmm-xmeans", "hmm"), expect="alike")
        ),
        claim_of(f"{SOURCE}, 4.6, fig. 16, 17", "Both hybrids find more than the HMM crawler.")(
            _ahead(("hybrid", "hmm"), ("hybrid-anchor", "hmm"))
        ),
        claim_of(f"{SOURCE}, 3.4.2, fig. 16", "With anchor text the hybrid is more focused than without.")(
            _ahead(("hybrid-anchor", "hybrid"))
        ),
    ],
]


class Evaluator:
    """Similarity judge of the thesis for all subjects of an experiment.

    Up to fifty relevant pages, at most half of those not used for training, are drawn for comparison. As in the thesis
    a crawl may fetch them, with similarity 1.
    """

    def __init__(self, index: CorpusIndex, random_seed: int = 0) -> None:
        self.index, self.random_seed = index, random_seed
        self.known: dict[str, Floats] = {}
        self.agreements: dict[str, Floats] = {}
        self.above: Measure = Measure(
            f"similarity above {THRESHOLD}",
            lambda one, results, budgets: found(self.gains_of(one, results) > THRESHOLD, budgets), 1, math.inf,
        )  # fmt: skip
        self.similarity: Measure = Measure(
            "average similarity", lambda one, results, budgets: harvest(self.gains_of(one, results), budgets)
        )

    def of(self, subject: HuntSubject) -> Floats:
        key = f"{subject.name} {int(subject.seen.sum())}"
        if key not in self.known:
            relevant = self.chosen(subject)
            self.known[key] = max_similarities_in(self.index, relevant)
            self.agreements.setdefault(subject.name, self._agreement(subject, relevant, self.known[key]))
        return self.known[key]

    def chosen(self, subject: HuntSubject) -> list[int]:
        nodes = np.flatnonzero((subject.truth > 0) & subject.unseen)
        nodes = seeded_random(self.random_seed, "evaluator", subject.name).permutation(nodes)
        some: list[int] = np.sort(nodes[: min(MAX_RELEVANT, (len(nodes) + 1) // 2)]).tolist()
        return some

    def gains_of(self, outcome: Trial, results: ExperimentResults) -> Floats:
        return gains_of(outcome, results, self.of(results.subjects[outcome.subject]))

    def _agreement(self, subject: HuntSubject, relevant: Sequence[int], like: Floats) -> Floats:
        """Return for each threshold the number of pages above it, their precision and their recall."""
        rest = subject.unseen
        rest[list(relevant)] = False
        true, above = subject.truth[rest] > 0, like[rest, None] > np.array(THRESHOLDS)
        hits, many = (above & true[:, None]).sum(axis=0), above.sum(axis=0)
        right = np.divide(hits, many, out=np.full(len(many), math.nan), where=many > 0)
        return np.column_stack([many, right, hits / max(1, true.sum())])

    def table(self) -> ReportTable:
        """Return the evaluator's agreement with labels over all pages that it was not given."""
        topics = list(self.agreements.values())
        rows: list[list[Cell]] = []
        for threshold, (many, right, recalled) in zip(THRESHOLDS, np.stack(topics, axis=2), strict=True):
            known = right[~np.isnan(right)]
            mean = float(known.mean()) if len(known) else None
            rows.append([threshold, round(many.mean()), mean, float(recalled.mean())])
        return ReportTable(
            "batsakis-evaluator", "The thesis's evaluator against labels",
            ["similarity above", "pages above it", "of which relevant", "of the relevant pages"], rows,
            note=f"Mean over {len(topics)} topics, over all pages except the relevant ones that it was given. The "
            f"thesis uses {THRESHOLD}. If few pages are above it, figures by it count little more than the given "
            "pages: use those by labels.",
        )  # fmt: skip
