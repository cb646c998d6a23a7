"""Experiments of the five papers, and our own: `findings(bench)` of each module returns tables, figures and claims."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.drawing.formats import many
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiment_runner import run
from lycosa_lab.experiments import Experiment
from lycosa_lab.findings import ENOUGH, WEIGHED, Claim, Findings, ReportFigure, ReportTable
from lycosa_lab.results import ExperimentResults
from lycosa_lab.subjects import HuntSubject, subjects_of

PAPERS = {
    "otie": "Guan et al. 2008: link context and importance (OTIE)",
    "batsakis": "Batsakis 2007: classic, semantic and learning crawlers",
    "personalized": "Trivedi et al. 2014: a personalised crawler with change detection",
    "gouriten": "Gouriten, Maniu, Senellart 2014: generic, scalable, adaptive focused crawling",
    "rules": "Altingovde, Ulusoy 2004: rules between classes",
}
# Our own experiments, on webs that they generate; excluded from `all`.
OURS = {"freshness": "Freshness: changes detected, and schedules under the same budget"}
EXPERIMENTS = PAPERS | OURS
NO_CORPUS = frozenset(OURS)
BY_TOPICS = ("otie", "batsakis", "personalized")  # papers whose number of topics can be chosen

PICTURE = "The paper has this figure without numbers, so values cannot be compared."
QUICK = "Quick run: small budgets, few topics and seeds. Verdicts are unreliable; omit --quick for a full run."


@dataclass
class Bench:
    """Corpus, output directory and sizes that all experiments of a paper share."""

    index: CorpusIndex
    out: Path  # directory of crawls and prepared data, so that a second call resumes
    quick: bool = False  # smaller budgets, fewer topics and repetitions: a minute or two
    random_seed: int = 0
    workers: int = 0  # processes; 0: one per core
    progress: ProgressCallback = no_progress
    large: bool = False  # gouriten: add crawls of 100,000 steps on graphs of 2.2 million nodes
    topics: int = 0  # for papers in BY_TOPICS; 0: 10, or 6 if quick

    def plan(self, name: str, strategies: Iterable[str], **options: Any) -> Experiment:
        given = {"corpus": str(self.index.path or ""), "random_seed": self.random_seed, **options}
        return Experiment(name=name, strategies=list(strategies), **given)

    def subjects(self, plan: Experiment) -> list[HuntSubject]:
        return subjects_of(
            self.index, count=plan.subject_count, least=plan.least, max_pages=plan.most, random_seed=plan.random_seed
        )

    def run(
        self,
        plan: Experiment,
        work: str = "",
        *,
        index: CorpusIndex | None = None,
        subjects: Sequence[HuntSubject] | None = None,
        part: str = "",
        title: str = "",
    ) -> ExperimentResults:
        """Run the missing trials of an experiment; those with the same directory `work` share crawls and prepared data.

        Tables are written to its subdirectory `part`. `title` prefixes progress messages.
        """
        place = self.out / (work or plan.name)
        index = index or self.index
        progress: ProgressCallback = (
            (lambda noun, *count: self.progress(f"{title}: {noun}", *count)) if title else self.progress
        )
        return run(
            plan, place / part, work=place, index=index, subjects=subjects, workers=self.workers, progress=progress
        )

    @property
    def size(self) -> dict[str, Any]:
        if self.quick:
            return {"subject_count": self.topics or ENOUGH, "seed_sets": 1, "budgets": [150], "least": 30}
        return {"subject_count": self.topics or 10, "seed_sets": 3, "budgets": [1000], "least": 40}

    def verdict_notes(self, topics: int) -> list[str]:
        """Return remarks on verdicts: the rule, and a note if there are fewer topics than requested.

        >>> Bench(CorpusIndex.of({}), Path(), topics=30).verdict_notes(8)[1]
        'Requested 30 topics, but only 8 classes have enough pages.'
        """
        few = f"Requested {self.topics} topics, but only {many(topics, 'class')} have enough pages."
        return [WEIGHED, *([few] if self.topics > topics else [])]

    def findings(
        self,
        key: str,
        parts: Sequence[ReportTable | ReportFigure],
        claims: Sequence[Claim],
        summary: str,
        configuration: Mapping[str, Any],
        remarks: Sequence[str],
    ) -> Findings:
        return Findings(
            key, PAPERS[key], list(parts), list(claims), summary, {**configuration, "quick": self.quick},
            self.index.report_facts, list(remarks),
        )  # fmt: skip


def cached(path: Path, key: Mapping[str, Any], compute: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Return the values cached in a file for `key`, or compute and store them."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if before.get("key") != key:
        text = json.dumps({"key": key, "values": compute()})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        before = json.loads(text)
    values: dict[str, Any] = before["values"]
    return values


def remarks_of(runs: Iterable[ExperimentResults]) -> list[str]:
    return list(dict.fromkeys(f"{of.experiment.name}: {remark}" for of in runs for remark in of.remarks))


def findings(paper: str, bench: Bench) -> Findings:
    report: Findings = import_module(f"lycosa_lab.papers.{paper}").findings(bench)
    return report
