"""Tests of model updates: when they are made, recorded, counted and replayed."""

from collections.abc import Mapping

import pytest

from learning_judge import Learning
from lycosa.core.composite import Greedy
from lycosa.core.engine import Engine
from lycosa.core.protocols import Learner, Space
from lycosa.core.state import StateMismatch
from lycosa.core.types import Event, Label, Links, ModelUpdate, Page, Seed, Task, Visit
from lycosa.judges.base import LanguageJudge
from lycosa.judges.space_judge import SpaceJudge
from lycosa.store.log import MemoryLog
from lycosa.strategies.baselines import BreadthFirst
from lycosa.testweb.simulation import clock, run_virtual
from lycosa.text.vocabulary import Vocabulary

TEXTS = {
    "a": "coral sea",
    "b": "coral reef",
    "c": "coral train",
    "d": "coral reef polyp",
    "e": "coral reef bleaching",
    "f": "coral station",
}


class Pages(Space):
    """Space of pages in a chain."""

    def __init__(self, texts: Mapping[str, str], foreign: str = "") -> None:
        self.texts, self.foreign = texts, foreign

    async def visit(self, task: Task) -> Page:
        names = list(self.texts)
        following = names[names.index(task.node) + 1 :][:1]
        flags = ["language"] if task.node in self.foreign else []
        return Page("ok", 200, marked=self.texts[task.node], links=Links.to(*following), flags=flags)


def engine(log: MemoryLog, judge: str = "j", languages: bool = False, foreign: str = "") -> Engine:
    learning = Learning("coral reef")
    return Engine(
        Pages(TEXTS, foreign),
        LanguageJudge(learning) if languages else learning,
        Greedy(BreadthFirst(), "arm"),
        log,
        clock=clock,
        reader=Vocabulary(),
        judge_name=judge,
        concurrency=1,
    )


def crawled(made: Engine) -> list[Visit]:
    made.log.append(Seed("a"))
    made.fold(Seed("a"))

    async def all_of_them() -> list[Visit]:
        return [visit async for visit in made.run()]

    return run_virtual(all_of_them())


def test_learner_protocol_is_recognised() -> None:
    assert isinstance(Learning(), Learner)
    assert isinstance(LanguageJudge(Learning()), Learner)
    assert not isinstance(SpaceJudge(), Learner)


def test_update_is_recorded_after_its_page() -> None:
    log = MemoryLog()
    made = engine(log)
    crawled(made)
    kinds = [type(event).__name__ for event in log]
    assert ["Seed", *["Visit"] * 4, "ModelUpdate", "Visit", "Visit", "ModelUpdate", "Setting"] == kinds
    update, _ = (event for event in log if isinstance(event, ModelUpdate))
    assert ("j", ["coral"]) == (update.judge, update.data["common"])
    visits = [event for event in log if isinstance(event, Visit)]
    assert [0.5, 1.0, 0.5, 1.0, 1.0, 0.0] == [visit.relevance for visit in visits]
    assert [0.0, 1.0, 0.0, 1.0, 1.0, 0.0] == [visit.relevance_now for visit in visits]
    assert 3 == made.tally.relevant


def test_update_keeps_order_with_batch_arrivals() -> None:
    class Star(Pages):
        async def visit(self, task: Task) -> Page:
            links = Links.to(*[name for name in self.texts if name != "a"] if task.node == "a" else ())
            return Page("ok", 200, marked=self.texts[task.node], links=links)

    expected = []
    for together in (False, True):
        log = MemoryLog()
        made = engine(log)
        made.space = Star(TEXTS)
        made.picker.concurrency, made.together = 5, together
        crawled(made)
        expected.append([(type(event).__name__, getattr(event, "beta", 0), getattr(event, "data", 0)) for event in log])
    assert expected[0] == expected[1]
    kinds = ["Seed", *["Visit"] * 4, "ModelUpdate", "Visit", "Visit", "ModelUpdate", "Setting"]
    assert kinds == [kind for kind, *_ in expected[1]]


def test_replay_adopts_recorded_updates() -> None:
    log = MemoryLog()
    live = engine(log)
    crawled(live)
    again = engine(MemoryLog())
    again.replay(log)
    assert live.tally == again.tally
    assert isinstance(live.judge, Learning)
    assert isinstance(again.judge, Learning)
    assert live.judge.relevances_now().tolist() == again.judge.relevances_now().tolist()
    assert vars(live.judge) == vars(again.judge)


def test_update_of_another_judge_is_ignored() -> None:
    log = MemoryLog()
    crawled(engine(log))
    other = engine(MemoryLog(), judge="another")
    other.replay(log)
    assert isinstance(other.judge, Learning)
    assert set() == other.judge.common


@pytest.mark.parametrize("relevant", [True, False])
def test_labels_are_learned_at_start_of_run(relevant: bool) -> None:
    log = MemoryLog()
    crawled(engine(log))
    log.append(Label("f", relevant))
    made = engine(log)
    made.replay(log)
    made.model_updates.catch_up()
    assert isinstance(log.events[-1], ModelUpdate)
    assert 3 + relevant == made.tally.relevant
    known = len(log.events)
    made.model_updates.catch_up()
    assert known == len(log.events)


def test_labels_are_learned_during_run() -> None:
    log = MemoryLog()
    made = engine(log)
    made.log.append(Seed("a"))
    made.fold(Seed("a"))

    async def told_in_between() -> None:
        async for visit in made.run():
            if visit.node == "b":
                made.add_labels([Label("a", True), Label("b", False)])
                assert [1.0, 0.0] == made.model_updates.relevances_now().tolist()
                assert 1 == made.tally.relevant

    run_virtual(told_in_between())
    kinds = [type(event).__name__ for event in log]
    assert ["Seed", "Visit", "Visit", "Label", "Label", "ModelUpdate", "Visit"] == kinds[:7]
    again = engine(MemoryLog())
    again.replay(log)
    assert made.tally == again.tally
    assert vars(made.judge) == vars(again.judge)


def test_snapshots_exclude_unrecorded_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    made = engine(MemoryLog())

    def full(event: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(made.log, "append", full)
    with pytest.raises(OSError, match="No space"):
        made.add_labels([Label("a", True)])
    with pytest.raises(StateMismatch, match="unrecorded events"):
        made.state()


def test_update_due_at_kill_is_made_in_next_run() -> None:
    whole = MemoryLog()
    crawled(engine(whole))
    killed = MemoryLog()
    for event in whole.events[:5]:  # the seed, and the four pages of the first update
        killed.append(event)
    made = engine(killed)
    made.replay(list(killed))
    made.model_updates.catch_up()
    assert isinstance(killed.events[-1], ModelUpdate)
    first = next(event for event in whole if isinstance(event, ModelUpdate))
    assert first.data == killed.events[-1].data
    known = len(killed.events)
    made.model_updates.catch_up()
    assert known == len(killed.events)


def test_pages_in_wrong_language_stay_irrelevant() -> None:
    log = MemoryLog()
    made = engine(log, languages=True, foreign="bd")
    visits = crawled(made)
    assert [0.0, 0.0] == [visit.relevance_now for visit in visits if visit.node in "bd"]
    assert 1 == made.tally.relevant


def test_other_judges_get_no_updates() -> None:
    log = MemoryLog()
    made = Engine(Pages(TEXTS), SpaceJudge(), Greedy(BreadthFirst(), "arm"), log, clock=clock)
    events: list[Event] = [Label("a", True), ModelUpdate("j", {})]
    made.replay(events)
    made.model_updates.catch_up()
    assert [] == log.events
