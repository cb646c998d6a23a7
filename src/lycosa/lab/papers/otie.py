"""Guan et al. 2008: OTIE against breadth-first, OPIC and link-context prediction, on many topics.

Figure 1 is the harvest rate, figure 2 the target recall, both against the pages fetched. As in the paper an SVM guides,
and three classifiers (SVM, Naive Bayes, neural network) trained on the same pages say what was harvested: the guide is
one of its own judges, so that figure is marked as published, and beside it stands the one by labels. Targets are known
relevant pages in the paper; here all pages of a class are known, so that recall is by labels in any case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.lab.experiments import Experiment
from lycosa.lab.findings import AS_PUBLISHED, Cell, Claim, Findings, Table
from lycosa.lab.index import Index
from lycosa.lab.measures import gains, harvest, recall, targets
from lycosa.lab.papers import Bench
from lycosa.lab.papers.weighing import (
    Measure,
    Measured,
    all_of,
    better,
    closing,
    corpus_of,
    grid,
    how_weighed,
    summary_table,
    told,
    weighed,
)
from lycosa.lab.preparing import Looking, classified, prepare
from lycosa.lab.running import Outcome, Results, run
from lycosa.lab.subjects import Subject, subjects_of
from lycosa.topics.model import Model
from lycosa.topics.taxonomy import FEWEST
from lycosa.training.pages import train

PAPER = "Guan et al. 2008, 3"
CRAWLERS = {
    "breadth-first": "Breadth-first",
    "link-context": "Link context",
    "opic": "OPIC",
    "otie": "OTIE",
}
JUDGES = {"svm": "SVM", "nb": "Naive Bayes", "nn": "neural network"}
PICTURE = "The paper gives this figure as a picture only, its text has no numbers to hold ours against."


@dataclass
class Topic:
    """A subject with its guide, and what each of the classifiers says of all pages: relevant or not."""

    subject: Subject
    said: Mapping[str, NDArray[np.bool_]]

    @property
    def judged(self) -> NDArray[np.float64]:
        """The share of the classifiers that take a page for relevant."""
        found: NDArray[np.float64] = np.mean(list(self.said.values()), axis=0)
        return found


@dataclass
class Judgements:
    """The same crawls, measured three times."""

    classifiers: Measured
    labels: Measured
    recall: Measured


def findings(bench: Bench) -> Findings:
    """Figures 1 and 2, their ends in a table, how good the classifiers are, and what is to be said of the paper."""
    index = bench.index
    if not index.has_text or not index.classes:
        raise InputError("OTIE is guided by classifiers: it needs a corpus with text and classes, not a graph")
    plan = _experiment(bench)
    kinds, remarks = _kinds(bench.quick)
    topics: dict[str, Topic] = {}
    drawn = subjects_of(index, count=plan.subject_count, least=plan.least, most=plan.most, random_seed=plan.random_seed)
    for number, subject in enumerate(drawn, 1):
        try:
            topics[subject.name] = _topic(index, subject, kinds, bench.out / "otie-models", plan.random_seed)
        except InputError as error:
            remarks.append(f"Left out: {subject.name}: {error}")
        bench.tell("training classifiers", number, len(drawn))
    if not topics:
        raise InputError(f"no topic is left: {' '.join(remarks)}")
    results = run(
        plan, bench.out / "otie", index=index, subjects=[topic.subject for topic in topics.values()],
        workers=bench.workers, tell=bench.tell,
    )  # fmt: skip
    made = measured(results, topics, grid(plan.budget))
    decided = claims_of(made)
    return Findings(
        "otie",
        "Guan et al. 2008: link context and importance (OTIE)",
        [
            made.classifiers.figure(
                "otie-figure-1", "Figure 1: harvest rate by classifiers", "harvest rate", CRAWLERS, AS_PUBLISHED,
                f"{PICTURE} Mean of what {', '.join(JUDGES[kind] for kind in kinds)} take for relevant.",
            ),
            made.labels.figure("otie-figure-1-labels", "Figure 1 by labels: harvest rate", "harvest rate", CRAWLERS),
            made.recall.figure(
                "otie-figure-2", "Figure 2: target recall", "target recall", CRAWLERS,
                note=f"{PICTURE} Targets are all pages of the class that are neither seeds nor were trained on.",
            ),
            summary_table(
                "otie-ends", f"All crawlers after {plan.budget:,} pages",
                {"harvest by classifiers": made.classifiers, "by labels": made.labels, "target recall": made.recall},
                CRAWLERS, AS_PUBLISHED,
                "Means with 95 % intervals (bootstrap over topics and seed sets). The first column is the "
                "classifiers' word, of which one is the guide; the other two are by labels and independent.",
            ),
            _quality(topics),
        ],
        decided,
        f"Four crawlers of {plan.budget:,} pages each on {len(results.subjects)} topics (the paper: 30 topics of a "
        f"directory, on the web of 2008), guided by {JUDGES[kinds[0]]}, from {plan.seed_count} pages on the topic.",
        {"experiment": plan.as_dict(), "classifiers": list(kinds), "quick": bench.quick},
        corpus_of(index),
        how_weighed(len(results.subjects)) + remarks + results.remarks,
    )  # fmt: skip


def _experiment(bench: Bench) -> Experiment:
    size: dict[str, Any] = (
        {"subject_count": 3, "seed_sets": 1, "budgets": [150], "least": 30}
        if bench.quick
        else {"subject_count": 10, "seed_sets": 3, "budgets": [1000], "least": 40}
    )
    return Experiment(
        name="otie", corpus=str(bench.index.path or ""), strategies=list(CRAWLERS), told="model", judge="model",
        seeds="on-topic", seed_count=3, random_seed=bench.random_seed, **size,
    )  # fmt: skip


def _kinds(quick: bool) -> tuple[list[str], list[str]]:
    """The classifiers that can be had, the guide first."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        return ["nb"], ["Naive Bayes guides and judges alone: for SVM and neural network, pip install 'lycosa[lab]'."]
    if quick:
        return ["svm", "nb"], ["Quick: the neural network is not among the judges, it takes longer than all the rest."]
    return list(JUDGES), []


def _topic(index: Index, subject: Subject, kinds: Sequence[str], out: Path, random_seed: int) -> Topic:
    """Train the classifiers on the same pages; the first guides."""
    prepared = prepare(index, subject, {"model"}, out, random_seed)
    assert prepared.model is not None
    table = prepared.model.with_name("labels.tsv")
    look = Looking(index, np.ones(len(index), np.bool_))
    everything = np.ones(len(index), np.bool_)
    said, files = {}, {"nb": prepared.model}
    for kind in kinds:
        if kind != "nb":
            files[kind] = prepared.model.with_name(kind)
            if not files[kind].exists():
                train(
                    [str(table)], files[kind], look, kind=kind, least=FEWEST, whole_tree=True, held_out=0.0,
                    seed=random_seed,
                )  # fmt: skip
        said[kind] = classified(index, Model.load(files[kind]), subject.name, everything) >= 0.5
    return Topic(replace(prepared, model=files[kinds[0]]), said)


def measured(results: Results, topics: Mapping[str, Topic], budgets: Sequence[int]) -> Judgements:
    """Harvest by classifiers and by labels, and target recall, at each budget."""

    def by_classifiers(outcome: Outcome, results: Results) -> NDArray[np.float64]:
        topic = topics[outcome.subject]
        return harvest(gains(outcome.trace, results.subjects[outcome.subject], topic.judged), budgets)

    def by_labels(outcome: Outcome, results: Results) -> NDArray[np.float64]:
        return harvest(gains(outcome.trace, results.subjects[outcome.subject]), budgets)

    def recalled(outcome: Outcome, results: Results) -> NDArray[np.float64]:
        subject = results.subjects[outcome.subject]
        return recall(gains(outcome.trace, subject), targets(outcome.trace, subject), budgets)

    ways: list[Measure] = [by_classifiers, by_labels, recalled]
    return Judgements(*(Measured.of(results, list(CRAWLERS), budgets, way) for way in ways))


def _quality(topics: Mapping[str, Topic]) -> Table:
    """How right the classifiers are on pages that they were not trained on."""
    rows: list[list[Cell]] = []
    for kind in next(iter(topics.values())).said:
        precision, recalled = [], []
        for topic in topics.values():
            rest = ~topic.subject.seen
            true, said = topic.subject.truth[rest] > 0, topic.said[kind][rest]
            both = float((true & said).sum())
            precision.append(both / max(1, said.sum()))
            recalled.append(both / max(1, true.sum()))
        rows.append([JUDGES[kind], float(np.mean(precision)), float(np.mean(recalled))])
    return Table(
        "otie-classifiers", "The classifiers against labels", ["classifier", "precision", "recall"], rows,
        note=f"Mean over {len(topics)} topics, on pages not trained on; relevant: probability .5 or more.",
    )  # fmt: skip


def claims_of(made: Judgements) -> list[Claim]:
    """What the paper says of its figures. Precision is decided by labels, with the classifiers' word beside it."""
    others = [name for name in CRAWLERS if name != "otie"]
    rivals = [name for name in CRAWLERS if name != "link-context"]
    topics = len(set(made.labels.groups))
    return [
        weighed(
            "OTIE's target recall is significantly higher than that of all others.", f"{PAPER}, fig. 2",
            all_of([better(made.recall.difference("otie", name), made.recall.mean(name)) for name in others]), topics,
            [f"OTIE less {CRAWLERS[name]}: {told(made.recall.difference('otie', name))}." for name in others],
        ),
        weighed(
            "Link-context prediction has the highest precision.", f"{PAPER}, fig. 1",
            all_of([better(made.labels.difference("link-context", name), made.labels.mean(name)) for name in rivals]),
            topics,
            [
                f"Link context less {CRAWLERS[name]}, harvest by labels: "
                f"{told(made.labels.difference('link-context', name))}; by classifiers: "
                f"{told(made.classifiers.difference('link-context', name))}."
                for name in rivals
            ],
        ),
        closing(
            "OTIE's precision approaches that of link-context prediction as the crawl goes on.", f"{PAPER}, fig. 1",
            made.labels, "link-context", "otie", CRAWLERS,
        ),
        weighed(
            "Cash that prefers the topic (OTIE) does significantly better than cash alone (OPIC).", PAPER,
            all_of(
                [
                    better(values.difference("otie", "opic"), values.mean("opic"))
                    for values in (made.labels, made.recall)
                ]
            ),
            topics,
            [
                f"OTIE less OPIC, harvest by labels: {told(made.labels.difference('otie', 'opic'))}; by classifiers: "
                f"{told(made.classifiers.difference('otie', 'opic'))}.",
                f"OTIE less OPIC, target recall: {told(made.recall.difference('otie', 'opic'))}.",
            ],
        ),
    ]  # fmt: skip
