"""Run an experiment: all of its trials on all cores. What is done is kept, so that a second call does the rest only.

In a directory:

    experiment.toml   the complete configuration, to do it again
    prepared/         what strategies were trained with
    guides/           what judges said of all pages
    runs/KEY.npz      a finished trial; KEY is a digest of all that decides how it ends
    results.parquet, results.csv, times.csv, failures.txt   see results.py

The same experiment gives the same results, whatever the number of processes and the order in which they finish.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError, LycosaError
from lycosa.core.files import replacing
from lycosa.core.telling import Tell, silent
from lycosa.drawing.formats import clean
from lycosa.lab.ahead import LARGEST, look_ahead
from lycosa.lab.experiments import SEEDS, Experiment
from lycosa.lab.external import FORFEITED, ExternalStrategy
from lycosa.lab.findings import AS_PUBLISHED
from lycosa.lab.guides import Guide, guide_for, learning
from lycosa.lab.hunters import AHEAD, ORACLE, ahead_of, asks, foresees, hunter, label, needs, told_for, wants
from lycosa.lab.index import Index
from lycosa.lab.learning import LearningGuide, Readings, learning_guide
from lycosa.lab.pool import spread
from lycosa.lab.preparing import prepare
from lycosa.lab.reach import FAR, distances_to, leads, linking
from lycosa.lab.results import (
    Outcome,
    Results,
    corpus_mark,
    judge_mark,
    key_of,
    read_run,
    strategy_mark,
    subject_mark,
    write_run,
)
from lycosa.lab.simulation import simulate
from lycosa.lab.subjects import Subject, as_published, chance, subjects_from_query, subjects_of

__all__ = ["Outcome", "Results", "run"]

RUNS, FAILURES = "runs", "failures.txt"


class Trial(NamedTuple):
    strategy: str
    subject: str
    seed_set: int
    repetition: int
    seeds: tuple[int, ...]
    key: str

    def __str__(self) -> str:
        return f"{self.strategy} on {self.subject}, seed set {self.seed_set + 1}, repetition {self.repetition + 1}"


class Trouble(NamedTuple):
    """Why a trial has no result: it can't be run here, or it failed."""

    failed: bool
    message: str
    trace: str = ""


@dataclass
class Prepared:
    """A subject with all that its strategies need; what could not be had, with the reason; where its crawls start."""

    subject: Subject
    seeds: list[list[int]] = field(default_factory=list)
    lacking: dict[str, str] = field(default_factory=dict)
    excluded: str = ""


def run(
    experiment: Experiment,
    out: Path | str,
    *,
    index: Index | None = None,
    subjects: Sequence[Subject] | None = None,
    workers: int = 0,
    tell: Tell = silent,
) -> Results:
    """Run what is missing of an experiment, and give all that is there.

    `index` and `subjects` take the place of those that the experiment names. With `workers=1` all happens in this
    process; 0 means one for each core. Other processes start afresh and read the script that called, so a script has
    to have what it does behind a guard:

        from lycosa.lab.experiments import Experiment
        from lycosa.lab.running import run

        if __name__ == "__main__":
            results = run(Experiment("mine", "my.index", ["best-first", "breadth-first"]), "mine")
            print(results.remarks)

    A trial that fails (a strategy of your own that raises) is named in `remarks` and `failed`; the others go on.
    """
    out = Path(out)
    experiment.check()
    index = experiment.open() if index is None else index
    remarks: list[str] = []
    experiment = _with_ahead(experiment, index, remarks)
    hunted = list(subjects) if subjects is not None else _subjects(experiment, index, tell)
    experiment = _honest(experiment, index, hunted, remarks)
    (out / RUNS).mkdir(parents=True, exist_ok=True)
    with replacing(out / "experiment.toml") as file:
        corpus = str(index.path.resolve()) if index.path else experiment.corpus
        file.write(replace(experiment, corpus=corpus).as_toml().encode())
    shop = Workshop(experiment, index, out, tell)
    if experiment.judge and learning(experiment.judge):
        _ = shop.readings  # before there are processes that would all make it
    ready = _left(_prepare_all(shop, hunted, workers), remarks)
    trials = _trials(experiment, index, ready)
    troubles = _lacking(ready, trials)
    shop.subjects = {one.subject.name: one.subject for one in ready}
    troubles |= _run_all(shop, [trial for trial in trials if trial not in troubles], workers)
    results = Results(experiment, index, shop.subjects, remarks=remarks, kept=out)
    for trial in (trial for trial in trials if trial not in troubles):
        trace = read_run(out / RUNS / f"{trial.key}.npz", len(index))
        if trace is not None:
            results.outcomes.append(Outcome(trial.strategy, trial.subject, trial.seed_set, trial.repetition, trace))
        else:
            troubles[trial] = Trouble(True, f"its file {RUNS}/{trial.key}.npz can't be read back")
    results.failed = [str(trial) for trial, trouble in troubles.items() if trouble.failed]
    results.remarks += _remarks(experiment, trials, troubles)
    _write_failures(out / FAILURES, troubles)
    if not results.outcomes:
        raise InputError(f"no trial has a result. {' '.join(results.remarks)}")
    results.remarks += results.beaten() + _forfeits(results)
    results.write_tables(out)
    return results


def _left(prepared: list[Prepared], remarks: list[str]) -> list[Prepared]:
    """The subjects that can be hunted; why others can't, and what is to be said of these, is among the remarks."""
    remarks += [f"Left out: {one.subject.name}: {one.excluded}" for one in prepared if one.excluded]
    ready = [one for one in prepared if not one.excluded]
    for subject in (one.subject for one in ready):
        remarks += [note if subject.name in note else f"{subject.name}: {note}" for note in subject.notes]
    if not ready:
        raise InputError(f"nothing to look for is left: {'; '.join(remarks)}")
    return ready


def _lacking(ready: list[Prepared], trials: list[Trial]) -> dict[Trial, Trouble]:
    """The trials that can't be run, as their subject lacks what their strategy needs."""
    return {
        trial: Trouble(False, one.lacking[need])
        for one in ready
        for need in sorted(one.lacking)
        for trial in trials
        if trial.subject == one.subject.name and need in needs(trial.strategy)
    }


def _with_ahead(experiment: Experiment, index: Index, remarks: list[str]) -> Experiment:
    """Beside the greedy oracle one that looks ahead, and the reverse: neither is to be taken for the optimum."""
    texts = experiment.strategies
    ahead = any(map(ahead_of, texts))
    if ahead == (ORACLE in texts):  # both, or none
        return experiment
    if not ahead and len(index.child) > LARGEST:
        remarks.append(f"Left out: {AHEAD}: with {len(index.child):,} links it would take long; name it to have it.")
        return experiment
    beside = max(at for at, text in enumerate(texts) if text == ORACLE or ahead_of(text)) + 1
    return replace(experiment, strategies=[*texts[:beside], ORACLE if ahead else AHEAD, *texts[beside:]])


def _subjects(experiment: Experiment, index: Index, tell: Tell) -> list[Subject]:
    """Classes of the corpus; where it has none, and the guide is to judge itself, the names are queries."""
    if experiment.subjects and experiment.mode == AS_PUBLISHED and not index.classes and not len(index.score):
        return [subjects_from_query(index, words) for words in experiment.subjects]
    return subjects_of(
        index, experiment.subjects, count=experiment.subject_count, least=experiment.least, most=experiment.most,
        random_seed=experiment.random_seed, examples=experiment.examples, tell=tell,
    )  # fmt: skip


def _honest(experiment: Experiment, index: Index, subjects: Sequence[Subject], remarks: list[str]) -> Experiment:
    """The experiment as it can be run; what the guide judges itself is called as-published."""
    if experiment.told not in ("score", "truth") and not index.has_text:
        raise InputError(
            f"the corpus is a graph without text, no guide can be told {experiment.told}: set told to score"
        )
    if experiment.told == "score" and not len(index.score):
        raise InputError("the corpus has no scores that a guide could be told: set told to words")
    names = [one.name for one in subjects]
    if len(set(names)) < len(names):
        raise InputError("two subjects have the same name: name each once")
    if experiment.mode == AS_PUBLISHED and experiment.judge and (reason := learning(experiment.judge)):
        raise InputError(f"{reason}: what it says of a page is not settled, and can't be what is counted as-published")
    by_score = experiment.told == "score"
    own = [one for one in subjects if one.truth_by == AS_PUBLISHED or (by_score and one.truth_by.startswith("scores"))]
    if own and experiment.mode != AS_PUBLISHED:
        remarks.append(
            f"As-published, although independent was asked for: the guide of {own[0].name} is its judge, too."
        )
        return replace(experiment, mode=AS_PUBLISHED)
    return experiment


class Workshop:
    """What a process has at hand: the corpus, the experiment, subjects, and guides as they are needed."""

    def __init__(self, experiment: Experiment, index: Index, out: Path, tell: Tell = silent) -> None:
        self.experiment, self.index, self.out, self.tell = experiment, index, out, tell
        self.subjects: dict[str, Subject] = {}
        self.guides: dict[tuple[str, str], Guide | LearningGuide] = {}

    @cached_property
    def readings(self) -> Readings:
        """Of all pages, for judges that learn."""
        return Readings.of(self.index, self.out, self.tell)

    def __reduce__(self) -> Any:
        """Another process has guides of its own, and tells nobody."""
        return Workshop, (self.experiment, self.index, self.out), {"subjects": self.subjects}

    def prepare(self, subject: Subject) -> Prepared:
        """Train what strategies need, let a judge judge, choose seeds."""
        plan = self.experiment
        wanted = set().union(*(needs(text) for text in plan.strategies))
        wanted |= {plan.told} & {"examples", "model"}
        made = Prepared(subject)

        def trained(these: set[str]) -> Subject:
            return prepare(self.index, subject, these, self.out, random_seed=plan.random_seed, tell=self.tell)

        try:
            made.subject = trained(wanted)
        except InputError:
            for need in sorted(wanted):  # which of them is it?
                try:
                    trained({need})
                except InputError as error:
                    made.lacking[need] = str(error)
            made.subject = trained(wanted - set(made.lacking)) if len(made.lacking) < len(wanted) else subject
        try:
            if plan.told in made.lacking:
                raise InputError(made.lacking[plan.told])
            guide, hunted = self.guide(made.subject, plan.told), made.subject
            for text in plan.strategies:
                if needs(text).isdisjoint(made.lacking):
                    self.guide(made.subject, told_for(text, plan.told))
            if isinstance(guide, Guide) and hunted.truth_by == AS_PUBLISHED and not hunted.truth.any():
                # a query: only the guide knows
                hunted = replace(
                    hunted, truth=np.where(guide.beta >= guide.threshold, guide.beta, 0).astype(np.float32)
                )
            made.seeds = seed_sets(
                self.index, hunted, plan.seeds, count=plan.seed_count, sets=plan.seed_sets, hops=plan.hops,
                random_seed=plan.random_seed, disjoint=plan.disjoint,
            )  # fmt: skip
        except InputError as error:
            made.excluded = str(error)
        return made

    def guide(self, subject: Subject, told: str) -> Guide | LearningGuide:
        """What is said of all pages: found once, kept in a file; or who says it, if it is a judge that learns."""
        key = subject.name, told
        if key not in self.guides:
            while len(self.guides) >= 2:  # trials come subject by subject
                del self.guides[next(iter(self.guides))]
            plan = self.experiment
            judge = plan.judge if told == plan.told else ""
            if judge and learning(judge):
                self.guides[key] = learning_guide(self.index, subject, told, judge, self.readings)
            else:
                asked = wants(plan.strategies)
                self.guides[key] = guide_for(self.index, subject, told, judge, asked, self.out, self.tell)
        return self.guides[key]

    def _guide_of(self, strategy: str, subject: Subject) -> Guide | LearningGuide:
        guide = self.guide(subject, told_for(strategy, self.experiment.told))
        if isinstance(guide, LearningGuide) and foresees(strategy):
            return replace(Guide.given(self.index), beta=guide.beta)  # its word when it has seen all pages
        if isinstance(guide, LearningGuide) and not asks(strategy):
            return Guide.given(self.index)  # nobody asks what is said of pages: so nobody has to judge them
        return guide

    def run(self, trial: Trial) -> Trouble | None:
        """Run a trial and keep it; or say why not."""
        plan, subject = self.experiment, self.subjects[trial.subject]
        try:
            guide = self._guide_of(trial.strategy, subject)
            if plan.mode == AS_PUBLISHED:  # also for the oracle: it knows what will be counted
                said = self.guide(subject, plan.told)
                assert isinstance(said, Guide)
                subject = as_published(subject, said)
            seed, seen = plan.random_seed + trial.repetition, subject.seen if len(subject.seen) else None
            if links := ahead_of(trial.strategy):
                trace = look_ahead(self.index, subject.truth, trial.seeds, plan.budget, links=links, seen=seen)
            else:
                hunts = hunter(
                    trial.strategy, self.index, subject, guide, budget=plan.budget, random_seed=seed, told=plan.told
                )
                try:
                    trace = simulate(guide, hunts, trial.seeds, plan.budget, seen=seen)
                finally:
                    if isinstance(hunts, ExternalStrategy):
                        hunts.close()
                if isinstance(hunts, ExternalStrategy):
                    trace.ending, trace.seconds = hunts.ending or trace.ending, trace.seconds + hunts.seconds
        except LycosaError as error:
            return Trouble(False, str(error))
        except (Exception, SystemExit) as error:  # of a strategy, perhaps the user's own: the others go on
            message = " ".join(clean(f"{type(error).__name__}: {error}").split())
            return Trouble(True, message, traceback.format_exc())
        write_run(self.out / RUNS / f"{trial.key}.npz", trace)
        return None


def _trials(experiment: Experiment, index: Index, ready: Sequence[Prepared]) -> list[Trial]:
    """All trials, in the order in which their results are told."""
    corpus = corpus_mark(index)
    marks = {one.subject.name: subject_mark(one.subject) for one in ready}
    how = [experiment.told, *judge_mark(experiment.judge), experiment.mode, experiment.budget]
    return [
        Trial(
            text, one.subject.name, number, repetition, tuple(seeds),
            key_of(corpus, mark, marks[one.subject.name], how, seeds, experiment.random_seed + repetition),
        )
        for text, mark in ((text, strategy_mark(text)) for text in experiment.strategies)
        for one in ready
        for number, seeds in enumerate([int(node) for node in seeds] for seeds in one.seeds)
        for repetition in range(experiment.repetitions)
    ]  # fmt: skip


def _prepare_all(shop: Workshop, subjects: Sequence[Subject], workers: int) -> list[Prepared]:
    """All subjects, prepared, in their order; of a graph in this process, as nothing is trained or judged there."""
    workers = workers if shop.index.has_text else 1
    return spread(Workshop.prepare, subjects, workers, "preparing topics", shop.tell, shop)


def _run_all(shop: Workshop, trials: Sequence[Trial], workers: int) -> dict[Trial, Trouble]:
    """Run what is missing. What could not be run, and why."""
    missing = [trial for trial in trials if not _is_done(shop, trial)]
    # Subject by subject, so that a process has to keep few guides.
    names = list(shop.subjects)
    ordered = sorted(missing, key=lambda trial: names.index(trial.subject))
    ended = dict(zip(ordered, spread(Workshop.run, ordered, workers, "running trials", shop.tell, shop), strict=True))
    return {trial: trouble for trial in missing if (trouble := ended[trial]) is not None}


def _is_done(shop: Workshop, trial: Trial) -> bool:
    """Whether a trial was run; one that a program has forfeited is run again, as its next version may do better."""
    kept = read_run(shop.out / RUNS / f"{trial.key}.npz", len(shop.index))
    return kept is not None and not kept.ending.startswith(FORFEITED)


def _remarks(experiment: Experiment, trials: Sequence[Trial], troubles: dict[Trial, Trouble]) -> list[str]:
    """A line for each strategy and reason."""
    lines = []
    for text in experiment.strategies:
        of = sum(trial.strategy == text for trial in trials)
        reasons: dict[tuple[bool, str], list[Trial]] = {}
        for trial, trouble in troubles.items():
            if trial.strategy == text:
                reasons.setdefault((trouble.failed, trouble.message), []).append(trial)
        for (failed, message), which in reasons.items():
            if failed:
                more = f" (and in {len(which) - 1} more of {of} trials)" if len(which) > 1 else f" (1 of {of} trials)"
                lines.append(f"Failed: {which[0]}{more}: {message}; see {FAILURES}")
            else:
                lines.append(f"Left out: {text} in {len(which)} of {of} trials: {message}")
    return lines


def _forfeits(results: Results) -> list[str]:
    """Trials that a program from outside has lost by its own doing, with the first reason."""
    lines = []
    for text in results.strategies:
        runs = results.select(text)
        lost = [one for one in runs if one.trace.ending.startswith(FORFEITED)]
        if lost:
            one = lost[0]
            reason = one.trace.ending.removeprefix(f"{FORFEITED}: ")
            lines.append(
                f"Forfeited: {label(text)} in {len(lost)} of {len(runs)} trials, what it had found until then counts; "
                f"on {one.subject}, after {len(one.trace.found):,} pages, {reason}"
            )
    return lines


def _write_failures(path: Path, troubles: dict[Trial, Trouble]) -> None:
    failed = [f"{trial}\n{trouble.trace}" for trial, trouble in troubles.items() if trouble.failed]
    if failed:
        path.write_text("\n".join(failed), encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


# -- where crawls start ------------------------------------------------------------------------------------

# Where crawls start: pages on the topic, pages some links away from it, hubs, or any node that is worth something.

ATTEMPTS = 50  # draws of random seeds until something can be found from a set


def seed_sets(
    index: Index,
    subject: Subject,
    kind: str,
    *,
    count: int = 5,
    sets: int = 1,
    hops: int = 2,
    random_seed: int = 0,
    given: Sequence[str | int] = (),
    disjoint: bool = False,
) -> list[list[int]]:
    """Sets of nodes to start from, drawn by chance; the same for the same numbers, whatever else is drawn.

    - `on-topic`: relevant nodes from which another relevant one can be reached;
    - `off-topic`: nodes from which the nearest relevant one is `hops` links away, or more, but can be reached;
    - `cold`: nodes from which it is exactly two links: nothing is relevant there, nor on what they link to;
    - `directory`: the nodes with the most children from which something relevant can be reached, dealt out to the sets;
    - `random`: any nodes of a score above 0 (Gouriten et al. 2014, 7: 50 of them);
    - `given`: those named, or those that the corpus itself names (a past crawl's seeds); the same in every set.

    `disjoint` sets have no node in common (`directory` has none anyway); where there are too few for that, sets are
    smaller.

    What is left out because nothing can be found from there, and sets that are smaller than asked for, are told in the
    subject's notes; if nothing is left, it is an error.
    """
    if kind not in SEEDS:
        raise InputError(f"there is no kind {kind!r} of seeds: choose one of {', '.join(SEEDS)}")
    if count < 1 or sets < 1 or hops < 1:
        raise InputError(f"seeds: count is {count}, sets {sets}, hops {hops}: each must be 1 or more")
    relevant = subject.truth > 0
    if not relevant.any():
        raise InputError(f"no node of the corpus is relevant to {subject.name!r}: there is nothing to crawl to")
    if kind == "given":
        return [_given(index, relevant, given)] * sets
    if kind == "directory":
        return _directory(index, subject, relevant, count, sets)
    nodes = _candidates(index, subject, kind, hops)
    most = min(count, max(1, len(nodes) // sets)) if disjoint else count
    chosen: list[list[int]] = []
    for number in range(sets):
        chosen.append(_drawn(index, subject, kind, nodes, most, (random_seed, number)))
        if len(chosen[-1]) < count:
            subject.note(f"{kind} seeds: there are {len(chosen[-1])} only, {count} were asked for")
        if disjoint:
            nodes = np.setdiff1d(nodes, chosen[-1])
    return chosen


def _drawn(
    index: Index, subject: Subject, kind: str, nodes: NDArray[np.int64], count: int, drawn_by: tuple[int, int]
) -> list[int]:
    """One set of on-topic, off-topic, cold or random seeds."""
    if not len(nodes):
        raise InputError(f"{kind} seeds: there are too few nodes for {drawn_by[1] + 1} disjoint sets: take fewer sets")
    if kind == "random":
        return _any(index, subject, nodes, count, drawn_by)
    random_seed, number = drawn_by
    order = chance(random_seed, subject.name, kind, number).permutation(nodes)
    return _leading(index, subject, order, count) if kind == "on-topic" else order[:count].tolist()


def _leading(index: Index, subject: Subject, order: NDArray[np.int64], count: int) -> list[int]:
    """The first of some relevant nodes that lead to another one, and not only back to themselves."""
    relevant = subject.truth > 0
    seeds: list[int] = []
    for node in order.tolist():
        if leads(index, [node], relevant):
            seeds.append(node)
            if len(seeds) == count:
                break
        else:
            subject.note(f"on-topic seeds: {index.names[node]} is not used, it leads to no relevant node but itself")
    if not seeds:
        raise InputError(_lonely(subject))
    return seeds


def _any(index: Index, subject: Subject, nodes: NDArray[np.int64], count: int, drawn_by: tuple[int, int]) -> list[int]:
    """Any of the nodes; drawn again if nothing else that is worth anything can be reached from them."""
    random_seed, number = drawn_by
    for attempt in range(ATTEMPTS):
        drawn: list[int] = (
            chance(random_seed, subject.name, "random", number, attempt).permutation(nodes)[:count].tolist()
        )
        if leads(index, drawn, subject.truth > 0):
            if attempt:
                subject.note(
                    f"random seeds: set {number + 1} was drawn {attempt + 1} times, nothing else of a score above 0 "
                    "could be reached from what was drawn before"
                )
            return drawn
    raise InputError(
        f"no other node of a score above 0 can be reached from random seeds, {ATTEMPTS} sets of {count} were tried: "
        "take more seeds, or fewer if they are all there are"
    )


def _lonely(subject: Subject) -> str:
    return f"no node that is relevant to {subject.name!r} leads to another one: take off-topic or directory seeds"


def _candidates(index: Index, subject: Subject, kind: str, hops: int) -> NDArray[np.int64]:
    """The nodes that may be drawn; what is left out is told."""
    relevant = subject.truth > 0
    if kind == "random":
        return np.flatnonzero(relevant)
    distance = distances_to(index, relevant)
    if kind == "on-topic":
        hopeful = linking(index, distance < FAR)
        lost = int(np.count_nonzero(relevant & ~hopeful))
        if lost:
            subject.note(
                f"on-topic seeds: {lost:,} of {int(relevant.sum()):,} relevant nodes are not used, nothing relevant "
                "can be reached from them"
            )
        if not (relevant & hopeful).any():
            raise InputError(_lonely(subject))
        return np.flatnonzero(relevant & hopeful)
    reaching = distance < FAR
    nodes = np.flatnonzero(distance == 2 if kind == "cold" else reaching & (distance >= hops))
    lost = int(np.count_nonzero(~reaching))
    if lost:
        subject.note(f"{kind} seeds: {lost:,} nodes are not used, nothing relevant can be reached from them")
    if not len(nodes) and kind == "cold":
        raise InputError(f"no node is two links from what is relevant to {subject.name!r}: take off-topic seeds")
    if not len(nodes):
        farthest = int(distance[reaching].max())
        remedy = (
            f"the farthest that lead there are {farthest} away ({int((distance == farthest).sum()):,} of them): ask "
            f"for {farthest} hops or fewer"
            if farthest
            else "no other node leads there at all: take on-topic seeds"
        )
        raise InputError(f"no node is {hops} links or more from all that is relevant to {subject.name!r}: {remedy}")
    return nodes


def _directory(index: Index, subject: Subject, relevant: NDArray[np.bool_], count: int, sets: int) -> list[list[int]]:
    degree = np.diff(index.child_start)
    usable = (distances_to(index, relevant) < FAR) & (degree > 0)
    order = np.argsort(-degree, kind="stable")
    best = order[usable[order]][: count * sets]
    passed = int(np.count_nonzero(~usable[order[: len(best)]]))
    if passed:
        subject.note(f"directory seeds: {passed:,} larger hubs are not used, nothing relevant can be reached from them")
    if len(best) < sets:
        raise InputError(
            f"{len(best)} nodes with links lead to what is relevant to {subject.name!r}: too few for {sets} sets"
        )
    if len(best) < count * sets:
        subject.note(f"directory seeds: there are {len(best)} only, {count * sets} were asked for")
    dealt: list[list[int]] = [best[number::sets].tolist() for number in range(sets)]
    for seeds in dealt:
        if not leads(index, seeds, relevant):
            raise InputError(f"from the hubs {seeds} nothing relevant but themselves can be reached: take other seeds")
    return dealt


def _given(index: Index, relevant: NDArray[np.bool_], given: Sequence[str | int]) -> list[int]:
    named = list(given) or list(index.facts.get("seeds", []))
    if not named:
        raise InputError("no seeds are given, and the corpus names none: name some, or take on-topic seeds")
    unknown = [name for name in named if isinstance(name, str) and name not in index.number_of]
    unknown += [str(node) for node in named if isinstance(node, int) and not 0 <= node < len(index)]
    if unknown:
        raise InputError(
            f"{len(unknown):,} of {len(named):,} given seeds are no nodes of the corpus, as {unknown[0]!r}: are the "
            "addresses written the same way?"
        )
    seeds = list(dict.fromkeys(index.number_of[name] if isinstance(name, str) else int(name) for name in named))
    if not leads(index, seeds, relevant):
        raise InputError("nothing relevant can be reached from the given seeds: give others")
    return seeds
