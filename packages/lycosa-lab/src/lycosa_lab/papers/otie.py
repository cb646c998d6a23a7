"""Guan et al. 2008: OTIE against breadth-first, OPIC and link-context prediction, on many topics.

Figure 1 is the harvest rate, figure 2 the target recall, both over pages fetched. As in the paper the crawl is guided
by an SVM (its guide), and three classifiers trained on the same pages judge the harvest: SVM, Naive Bayes, neural
network. As the guide is one of them, that figure is marked as published and has a counterpart by labels. Targets are
known relevant pages in the paper; here all pages of a class are known, so recall is always by labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.judges.model import TrainedModel
from lycosa_lab.comparison import HARVEST, RECALL, CrawlComparison, Measure, gains_of, grid
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import AS_PUBLISHED, Claim, Findings, ReportTable, claim_of
from lycosa_lab.measures import harvest
from lycosa_lab.papers import PICTURE, Bench
from lycosa_lab.preparation import classified, prepare, trained_on
from lycosa_lab.subjects import HuntSubject

CRAWLERS = {"breadth-first": "Breadth-first", "link-context": "Link context", "opic": "OPIC", "otie": "OTIE"}
JUDGES = {"svm": "SVM", "nb": "Naive Bayes", "nn": "neural network"}


def _pairs(first: str) -> list[tuple[str, str]]:
    return [(first, name) for name in CRAWLERS if name != first]


SOURCE = "Guan et al. 2008, 3"
# Claims of the paper's figures. Labels decide on precision; harvest by the classifiers (`judged`) is only reported.
CLAIMS: list[Callable[[CrawlComparison, Measure], Claim]] = [
    claim_of(f"{SOURCE}, fig. 2", "OTIE's target recall is significantly higher than that of all others.")(
        lambda crawls, judged: crawls.ahead(_pairs("otie"), [RECALL])
    ),
    claim_of(f"{SOURCE}, fig. 1", "Link-context prediction has the highest precision.")(
        lambda crawls, judged: crawls.ahead(_pairs("link-context"), [HARVEST], [judged])
    ),
    claim_of(f"{SOURCE}, fig. 1", "OTIE's precision approaches that of link-context prediction as the crawl goes on.")(
        lambda crawls, judged: crawls.closing("link-context", "otie", HARVEST)
    ),
    claim_of(SOURCE, "Cash that prefers the topic (OTIE) does significantly better than cash alone (OPIC).")(
        lambda crawls, judged: crawls.ahead([("otie", "opic")], [HARVEST, RECALL], [judged])
    ),
]


Masks = Mapping[str, NDArray[np.bool_]]  # by classifier: mask of the pages it judges relevant


def findings(bench: Bench) -> Findings:
    index = bench.index
    if not index.has_text or not index.classes:
        raise InputError("no-text", "OTIE trains classifiers: it needs a corpus with text and classes")
    plan = bench.plan("otie", CRAWLERS, description="model", judge="model", seed_count=3, **bench.size)
    kinds, remarks = list(JUDGES), []
    if bench.quick:
        kinds, remarks = ["svm", "nb"], ["Quick: the neural network, the slowest part, is not used as a judge."]
    topics: dict[str, tuple[HuntSubject, Masks]] = {}
    drawn = bench.subjects(plan)
    for number, subject in enumerate(drawn, 1):
        try:
            topics[subject.name] = _trained(index, subject, kinds, bench.out / "otie-models", plan.random_seed)
        except InputError as error:
            remarks.append(f"Left out: {subject.name}: {error}")
        bench.progress("training classifiers", number, len(drawn))
    if not topics:
        raise InputError("nothing-to-do", f"no topic is left: {' '.join(remarks)}")
    results = bench.run(plan, subjects=[subject for subject, _ in topics.values()])
    share = {name: np.mean(list(masks.values()), axis=0) for name, (_, masks) in topics.items()}
    judged = Measure(
        "by classifiers",
        lambda outcome, results, budgets: harvest(gains_of(outcome, results, share[outcome.subject]), budgets),
    )
    crawls = CrawlComparison.of(CRAWLERS, [results], grid(plan.budget), (HARVEST, judged, RECALL))
    return bench.findings(
        "otie",
        [
            crawls.figure(
                "otie-figure-1", "Figure 1: harvest rate by classifiers", "harvest rate", judged, AS_PUBLISHED,
                f"{PICTURE} Mean share of pages that {', '.join(JUDGES[kind] for kind in kinds)} judge relevant.",
            ),
            crawls.figure("otie-figure-1-labels", "Figure 1 by labels: harvest rate", "harvest rate", HARVEST),
            crawls.figure(
                "otie-figure-2", "Figure 2: target recall", "target recall", RECALL,
                note=f"{PICTURE} Targets are all pages of the class except seeds and training pages.",
            ),
            crawls.table(
                "otie-ends", f"All crawlers after {plan.budget:,} pages",
                {"harvest by classifiers": judged, "by labels": HARVEST, "target recall": RECALL}, AS_PUBLISHED,
                "Means with 95 % intervals (bootstrap over topics and seed sets). The first column is by the "
                "classifiers, one of which guides the crawl; the other two are by labels and independent.",
            ),
            _quality(kinds, list(topics.values())),
        ],
        [claim(crawls, judged) for claim in CLAIMS],
        f"Four crawlers of {plan.budget:,} pages each on {len(results.subjects)} topics (the paper: 30 topics of a "
        f"directory, on the web of 2008), guided by {JUDGES[kinds[0]]}, from {plan.seed_count} pages on the topic.",
        {"experiment": plan.as_dict(), "classifiers": list(kinds)},
        bench.verdict_notes(len(results.subjects)) + remarks + results.remarks,
    )  # fmt: skip


def _trained(
    index: CorpusIndex, subject: HuntSubject, kinds: Sequence[str], out: Path, random_seed: int
) -> tuple[HuntSubject, Masks]:
    prepared = prepare(index, subject, {"model"}, out, random_seed)
    assert prepared.model is not None
    table, everything = prepared.model.with_name("labels.tsv"), np.ones(len(index), np.bool_)
    masks, files = {}, {"nb": prepared.model}
    for kind in kinds:
        if kind != "nb":
            files[kind] = prepared.model.with_name(kind)
            if not files[kind].exists():
                trained_on(index, table, files[kind], random_seed, kind)
        masks[kind] = classified(index, TrainedModel.load(files[kind]), subject.name, everything) >= 0.5
    return replace(prepared, model=files[kinds[0]]), masks


def _quality(kinds: Sequence[str], topics: Sequence[tuple[HuntSubject, Masks]]) -> ReportTable:
    means = {}
    for kind in kinds:
        pairs = [(subject.truth[subject.unseen] > 0, masks[kind][subject.unseen]) for subject, masks in topics]
        hits = np.array([(true & mask).sum() for true, mask in pairs])
        means[kind] = [float(np.mean(hits / [max(1, pair[at].sum()) for pair in pairs])) for at in (1, 0)]
    return ReportTable(
        "otie-classifiers", "The classifiers against labels", ["classifier", "precision", "recall"],
        [[JUDGES[kind], *mean] for kind, mean in means.items()],
        note=f"Mean over {len(topics)} topics, on pages not trained on; relevant: probability .5 or more.",
    )  # fmt: skip
