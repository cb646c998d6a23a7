"""Runner of experiments: all trials on all cores. Finished trials are kept, so a second call runs only the rest.

The directory of an experiment:

    experiment.toml   the complete configuration
    results.csv       see results.py

and there or in a directory shared by several experiments:

    prepared/         training data and models of strategies
    guides/           judgements of all pages
    readings/         all pages as word numbers, for judges that learn
    runs/KEY.npz      a finished trial; KEY is a digest of everything that determines its result

Results do not depend on the number of processes or the order in which they finish.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError, LycosaError
from lycosa.core.files import atomic_write
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.drawing.formats import clean
from lycosa_lab.cache import code_digest, corpus_digest, digest
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiments import AS_PUBLISHED, Experiment
from lycosa_lab.external import FORFEITED, ExternalStrategy
from lycosa_lab.judgements import Judgements, judgements_for, learning_reason
from lycosa_lab.learning_judges import CorpusReadings, LearningJudgements, learning_judgements
from lycosa_lab.lookahead import LARGEST, look_ahead
from lycosa_lab.pool import map_parallel
from lycosa_lab.preparation import prepare
from lycosa_lab.results import ExperimentResults, Trial, read_trace, write_trace
from lycosa_lab.seeds import seed_sets
from lycosa_lab.simulation import Trace, simulate
from lycosa_lab.subjects import HuntSubject, as_published, subjects_of
from lycosa_lab.trial_strategies import (
    LOOK_AHEAD,
    ORACLE,
    is_foresighted,
    judge_as_for,
    look_ahead_links,
    make_trial_strategy,
    needs,
    uses_judge,
    wants,
)

LEFT_OUT, FAILED = "Left out", "Failed"


def run(
    experiment: Experiment,
    out: Path | str,
    *,
    work: Path | str | None = None,
    index: CorpusIndex | None = None,
    subjects: Sequence[HuntSubject] | None = None,
    workers: int = 0,
    progress: ProgressCallback = no_progress,
) -> ExperimentResults:
    """Run the missing trials of an experiment and return all results.

    Tables are written to `out`; runs and prepared data to `work`, by default `out`, which experiments may share.
    `index` and `subjects` override those named by the experiment. With `workers=1` everything runs in this process; 0
    means one process per core. A trial whose strategy raises is listed in `remarks` and `failed`; the others continue.

    Worker processes are spawned and import the calling script, so a script needs a main guard:

        if __name__ == "__main__":
            results = run(Experiment("mine", "my.index", ["best-first", "breadth-first"]), "mine")
    """
    out = Path(out)
    experiment.check()
    index = experiment.open() if index is None else index
    chosen = list(subjects) if subjects is not None else subjects_of(
        index, experiment.subjects, count=experiment.subject_count, least=experiment.least, max_pages=experiment.most,
        random_seed=experiment.random_seed, examples=experiment.examples, progress=progress,
    )  # fmt: skip
    experiment, remarks = _adjusted(experiment, index, chosen)
    out.mkdir(parents=True, exist_ok=True)
    with atomic_write(out / "experiment.toml") as file:
        corpus = str(index.path.resolve()) if index.path else experiment.corpus
        file.write(replace(experiment, corpus=corpus).as_toml().encode())
    runner = TrialRunner(experiment, index, Path(work or out), progress)
    if experiment.judge and learning_reason(experiment.judge):
        _ = runner.readings  # built before the worker processes start, which would all build it
    seeds_by_subject = _prepare_subjects(runner, chosen, workers, remarks)
    trials = _trials(runner, seeds_by_subject)
    reasons = _run_all(runner, trials, workers)
    results = ExperimentResults(experiment, index, runner.subjects, remarks=remarks, kept=runner.work)
    for trial in trials:
        trace = None if trial in reasons else read_trace(runner.path(trial))
        if trace is not None:
            results.outcomes.append(replace(trial, trace=trace))
        elif trial not in reasons:
            reasons[trial] = FAILED, f"its file {runner.path(trial)} can't be read back"
    results.failed = [str(trial) for trial, (kind, _) in reasons.items() if kind == FAILED]
    results.remarks += _failure_remarks(trials, reasons)
    if not results.outcomes:
        raise InputError("nothing-to-do", f"no trial has a result. {' '.join(results.remarks)}")
    results.remarks += results.notable()
    results.write_tables(out)
    return results


def _adjusted(
    experiment: Experiment, index: CorpusIndex, subjects: Sequence[HuntSubject]
) -> tuple[Experiment, list[str]]:
    """Return the experiment as it can run on a corpus, and remarks on the differences.

    An oracle is always accompanied by the other one (greedy or look-ahead), because neither is the optimum. An
    experiment whose judge is also its ground truth is in mode as-published.
    """
    remarks: list[str] = []
    if len({one.name for one in subjects}) < len(subjects):
        raise InputError("duplicate", "two subjects have the same name: give each subject its own name")
    if experiment.mode == AS_PUBLISHED and experiment.judge and (reason := learning_reason(experiment.judge)):
        raise InputError("learning-judge", f"{reason}, so it cannot be the truth in mode as-published")
    texts = list(experiment.strategies)
    yardsticks = [at for at, text in enumerate(texts) if text == ORACLE or look_ahead_links(text)]
    other = LOOK_AHEAD if not any(map(look_ahead_links, texts)) else ORACLE
    if yardsticks and other == LOOK_AHEAD and len(index.child) > LARGEST:
        remarks.append(
            f"{LEFT_OUT}: {LOOK_AHEAD}: with {len(index.child):,} links it would take long; add it to the strategies "
            "to run it."
        )
    elif yardsticks and other not in texts:
        texts.insert(yardsticks[-1] + 1, other)
    mode = experiment.mode
    by_score = experiment.description == "score"
    own = [one for one in subjects if by_score and one.truth_by.startswith("scores")]
    if own and mode != AS_PUBLISHED:
        remarks.append(f"As-published instead of {mode}: the guide of {own[0].name} is its judge, too.")
        mode = AS_PUBLISHED
    return replace(experiment, strategies=texts, mode=mode), remarks


class TrialRunner:
    """Runner of trials in one process, with the corpus, subjects and cached judgements."""

    def __init__(
        self, experiment: Experiment, index: CorpusIndex, work: Path, progress: ProgressCallback = no_progress
    ) -> None:
        self.experiment, self.index, self.work, self.progress = experiment, index, work, progress
        self.subjects: dict[str, HuntSubject] = {}
        self.guides: dict[tuple[str, str], Judgements | LearningJudgements] = {}

    @cached_property
    def readings(self) -> CorpusReadings:
        return CorpusReadings.of(self.index, self.work, self.progress)

    def __reduce__(self) -> Any:
        return TrialRunner, (self.experiment, self.index, self.work), {"subjects": self.subjects}

    def path(self, trial: Trial) -> Path:
        return self.work / "runs" / f"{trial.key}.npz"

    def prepare(self, subject: HuntSubject) -> tuple[HuntSubject, list[list[int]], str]:
        """Prepare training data, judgements and seeds of a subject; the third value is a reason to exclude it."""
        plan = self.experiment
        wanted = {"model"} & {plan.description} | set().union(*(needs(text) for text in plan.strategies))
        subject = prepare(self.index, subject, wanted, self.work, random_seed=plan.random_seed, progress=self.progress)
        try:
            if plan.description in subject.lacking:
                raise InputError("lacking", subject.lacking[plan.description])
            self.guide(subject, plan.description)
            for text in plan.strategies:
                if needs(text).isdisjoint(subject.lacking):
                    self.guide(subject, judge_as_for(text, plan.description))
            seeds = seed_sets(
                self.index, subject, plan.seeds, count=plan.seed_count, sets=plan.seed_sets, hops=plan.hops,
                random_seed=plan.random_seed, disjoint=plan.disjoint,
            )  # fmt: skip
        except InputError as error:
            return subject, [], str(error)
        return subject, seeds, ""

    def guide(self, subject: HuntSubject, description: str) -> Judgements | LearningJudgements:
        """Return the judgements of all pages, computed once and cached in a file, or the judge itself if it learns."""
        key = subject.name, description
        if key not in self.guides:
            while len(self.guides) >= 2:  # trials are ordered by subject, so two suffice
                del self.guides[next(iter(self.guides))]
            plan = self.experiment
            judge = plan.judge if description == plan.description else ""
            if judge and learning_reason(judge):
                self.guides[key] = learning_judgements(self.index, subject, description, judge, self.readings)
            else:
                facets = wants(plan.strategies)
                self.guides[key] = judgements_for(
                    self.index, subject, description, judge, facets, self.work, self.progress
                )
        return self.guides[key]

    def _guide_of(self, strategy: str, subject: HuntSubject) -> Judgements | LearningJudgements:
        guide = self.guide(subject, judge_as_for(strategy, self.experiment.description))
        if isinstance(guide, LearningJudgements) and is_foresighted(strategy):
            # the judgements after all pages
            return replace(Judgements.given(self.index), relevance=guide.relevance)
        if isinstance(guide, LearningJudgements) and not uses_judge(strategy):
            return Judgements.given(self.index)  # the strategy ignores judgements, so none are computed
        return guide

    def run(self, trial: Trial) -> tuple[str, str]:
        """Run a trial and store its trace; return FAILED or LEFT_OUT with the reason, or two empty strings."""
        subject = self.subjects[trial.subject]
        if lacking := sorted(needs(trial.strategy) & set(subject.lacking)):
            return LEFT_OUT, subject.lacking[lacking[0]]
        try:
            write_trace(self.path(trial), self._crawl(trial, subject))
        except LycosaError as error:
            return LEFT_OUT, str(error)
        except (Exception, SystemExit) as error:  # a user strategy failed; the other trials continue
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.filename}, line {last.lineno}"
            return FAILED, " ".join(clean(f"{type(error).__name__}: {error} ({where})").split())
        return "", ""

    def _crawl(self, trial: Trial, subject: HuntSubject) -> Trace:
        plan, text = self.experiment, trial.strategy
        guide = self._guide_of(text, subject)
        if plan.mode == AS_PUBLISHED:  # also for the oracle, which must know the truth that counts
            judgements = self.guide(subject, plan.description)
            assert isinstance(judgements, Judgements)
            subject = as_published(subject, judgements)
        seed, seen = plan.random_seed + trial.repetition, subject.seen if len(subject.seen) else None
        if links := look_ahead_links(text):
            return look_ahead(self.index, subject.truth, trial.seeds, plan.budget, links=links, seen=seen)
        strategy = make_trial_strategy(
            text, self.index, subject, guide, budget=plan.budget, random_seed=seed, description=plan.description
        )
        if not isinstance(strategy, ExternalStrategy):
            return simulate(guide, strategy, trial.seeds, plan.budget, seen=seen)
        try:
            trace = simulate(guide, strategy, trial.seeds, plan.budget, seen=seen)
        finally:
            strategy.close()
        trace.ending, trace.seconds = strategy.ending or trace.ending, trace.seconds + strategy.seconds
        return trace


def _prepare_subjects(
    runner: TrialRunner, chosen: Sequence[HuntSubject], workers: int, remarks: list[str]
) -> dict[str, list[list[int]]]:
    workers = workers if runner.index.has_text else 1
    seeds_by_subject = {}
    notes = []
    for subject, seeds, reason in map_parallel(
        TrialRunner.prepare, chosen, workers, "preparing topics", runner.progress, runner
    ):
        if reason:
            remarks.append(f"{LEFT_OUT}: {subject.name}: {reason}")
            continue
        runner.subjects[subject.name], seeds_by_subject[subject.name] = subject, seeds
        notes += [note if subject.name in note else f"{subject.name}: {note}" for note in subject.notes]
    if not seeds_by_subject:
        raise InputError("nothing-to-do", f"no subject is left: {'; '.join(remarks)}")
    remarks += notes
    return seeds_by_subject


def _trials(runner: TrialRunner, seeds_by_subject: dict[str, list[list[int]]]) -> list[Trial]:
    plan = runner.experiment
    how = digest(corpus_digest(runner.index), plan.description, code_digest(plan.judge), plan.mode, plan.budget)
    marks = {
        name: digest(one.name, one.words, one.examples, one.targets, one.truth, one.seen, one.model or "",
                     one.browsing or "", one.rules or "")
        for name, one in runner.subjects.items()
    }  # fmt: skip
    return [
        Trial(
            text, name, number, repetition, seeds=tuple(seeds),
            key=digest(mark, marks[name], how, list(map(int, seeds)), plan.random_seed + repetition),
        )
        for text, mark in ((text, code_digest(text)) for text in plan.strategies)
        for name, sets in seeds_by_subject.items()
        for number, seeds in enumerate(sets)
        for repetition in range(plan.repetitions)
    ]  # fmt: skip


def _run_all(runner: TrialRunner, trials: Sequence[Trial], workers: int) -> dict[Trial, tuple[str, str]]:
    """Run the missing trials, ordered by subject so that few judgements are in memory; return failures with reasons."""
    names = list(runner.subjects)
    missing = sorted((one for one in trials if not _is_done(runner, one)), key=lambda one: names.index(one.subject))
    done = map_parallel(TrialRunner.run, missing, workers, "running trials", runner.progress, runner)
    ended = dict(zip(missing, done, strict=True))
    return {trial: ended[trial] for trial in trials if ended.get(trial, ("", ""))[0]}


def _is_done(runner: TrialRunner, trial: Trial) -> bool:
    """Return whether a trial has a result; one forfeited by an external program is run again."""
    kept = read_trace(runner.path(trial))
    return kept is not None and not kept.ending.startswith(FORFEITED)


def _failure_remarks(trials: Sequence[Trial], reasons: dict[Trial, tuple[str, str]]) -> list[str]:
    alike: dict[tuple[str, str, str], list[Trial]] = {}
    for trial, (kind, reason) in reasons.items():
        alike.setdefault((trial.strategy, kind, reason), []).append(trial)
    return [
        f"{kind}: {text} in {len(which)} of {sum(one.strategy == text for one in trials)} trials"
        + (f", first {which[0]}" if kind == FAILED else "") + f": {reason}"
        for (text, kind, reason), which in alike.items()
    ]  # fmt: skip
