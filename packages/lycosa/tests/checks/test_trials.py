"""The sample graph of the checks."""

from dataclasses import replace

import pytest

from lycosa.checks import CheckFailed, check_estimator
from lycosa.checks.trials import EveryThirdVisit, revisits, steps, visits
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step
from lycosa.strategies.best_first import BestFirst
from lycosa.text.vocabulary import Vocabulary


class OwnVocabulary(BestFirst):
    """Estimator that assigns its own word ids, which lack the words of probes."""

    def learn(self, step: Step, table: Table) -> Rows:
        self.__dict__.setdefault("words_", Vocabulary()).learn(step.visit)
        return super().learn(step, table)


def test_steps_probe_adds_words() -> None:
    with pytest.raises(CheckFailed, match=r"it raised DamagedError: .* has words that no visit brought"):
        check_estimator(OwnVocabulary)


def test_visits_include_every_kind() -> None:
    known = list(visits())
    assert len(known) == 61
    assert {visit.outcome for visit in known} == {"ok", "gone", "redirect", "unreachable"}
    assert [visit.pick for visit in known if visit.retry_at] == [20]


def test_visits_are_deterministic() -> None:
    assert [(one.node, one.relevance) for one in visits()] == [(one.node, one.relevance) for one in visits()]


def test_revisits_follow_known_pages() -> None:
    table = Table()
    nodes = {step.visit.node for step in steps(table)}
    again = list(revisits(table))
    assert all(visit.kind == "revisit" and visit.follows for visit in again)
    assert {visit.node for visit in again} <= nodes
    assert {visit.outcome for visit in again} == {"ok", "redirect"}


def test_every_third_visit_is_due_once() -> None:
    scheduler, table = EveryThirdVisit(), Table()
    for step in steps(table):
        scheduler.learn(step.visit, table)
    task = scheduler.pick(1, 0.0)
    assert task is not None
    scheduler.give_back(task)
    assert scheduler.pick(2, 0.0) == replace(task, pick=2)
    scheduler.learn(next(revisits(table)), table)
    assert scheduler.wants_turn() == (scheduler.visits % 3 == 2)
