"""A judge that learns: when it is asked, what is recorded, what the count of relevant pages is, live and replayed."""

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
    """A chain of pages."""

    def __init__(self, texts: Mapping[str, str], foreign: str = "") -> None:
        self.texts, self.foreign = texts, foreign

    async def visit(self, task: Task) -> Page:
        names = list(self.texts)
        following = names[names.index(task.node) + 1 :][:1]
        flags = ["language"] if task.node in self.foreign else []
        return Page("ok", 200, marked=self.texts[task.node], links=Links.to(*following), flags=flags)


def engine(log: MemoryLog, judge: str = "j", languages: bool = False, foreign: str = "") -> Engine:
    """An engine with the learning judge."""
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
    """Run it from the first page."""
    made.log.append(Seed("a"))
    made.fold(Seed("a"))

    async def all_of_them() -> list[Visit]:
        return [visit async for visit in made.run()]

    return run_virtual(all_of_them())


def test_who_learns() -> None:
    """A judge that offers lessons is a learner, also where only pages in a language count; others are not."""
    assert isinstance(Learning(), Learner)
    assert isinstance(LanguageJudge(Learning()), Learner)
    assert not isinstance(SpaceJudge(), Learner)


def test_lessons_are_recorded_where_they_were_learned() -> None:
    """After the page that brought it and at the end of a run, under the judge's name; from there on the pages so far
    are worth something else.
    """
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


def test_a_lesson_stands_behind_its_pages_where_they_are_recorded_together() -> None:
    """Pages that arrive together with those of a lesson stand before it or behind it, as they do one by one."""

    class Star(Pages):
        """All pages are linked on the first."""

        async def visit(self, task: Task) -> Page:
            links = Links.to(*[name for name in self.texts if name != "a"] if task.node == "a" else ())
            return Page("ok", 200, marked=self.texts[task.node], links=links)

    told = []
    for together in (False, True):
        log = MemoryLog()
        made = engine(log)
        made.space = Star(TEXTS)
        made.picker.concurrency, made.together = 5, together
        crawled(made)
        told.append([(type(event).__name__, getattr(event, "beta", 0), getattr(event, "data", 0)) for event in log])
    assert told[0] == told[1]
    kinds = ["Seed", *["Visit"] * 4, "ModelUpdate", "Visit", "Visit", "ModelUpdate", "Setting"]
    assert kinds == [kind for kind, *_ in told[1]]


def test_replay_reads_lessons() -> None:
    """A replayed crawl counts and judges as the live one, without learning anything by itself."""
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


def test_a_lesson_of_another_topic_is_not_heeded() -> None:
    """After a change of mind the lessons of before stay in the log, and teach nothing."""
    log = MemoryLog()
    crawled(engine(log))
    other = engine(MemoryLog(), judge="another")
    other.replay(log)
    assert isinstance(other.judge, Learning)
    assert set() == other.judge.common


@pytest.mark.parametrize("relevant", [True, False])
def test_labels_are_learned_from_at_the_start_of_a_run(relevant: bool) -> None:
    """What people said since the last lesson becomes one, and is counted at once."""
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


def test_a_running_crawl_hears_labels() -> None:
    """They are recorded and learned from where they came, between two visits; a replayed crawl knows the same."""
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


def test_what_was_heard_but_not_recorded_is_in_no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log could not be written: the engine knows more than it, and says so to whoever wants its state."""
    made = engine(MemoryLog())

    def full(event: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(made.log, "append", full)
    with pytest.raises(OSError, match="No space"):
        made.add_labels([Label("a", True)])
    with pytest.raises(StateMismatch, match="what the log lacks"):
        made.state()


def test_a_lesson_that_was_due_when_the_run_was_killed() -> None:
    """Killed between the page and its lesson: the next run learns it before it picks, so that nothing is otherwise."""
    whole = MemoryLog()
    crawled(engine(whole))
    killed = MemoryLog()
    for event in whole.events[:5]:  # the seed and the four pages that the first lesson is learned from
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


def test_pages_in_a_wrong_language_stay_worthless() -> None:
    """Whatever the judge has learned of them."""
    log = MemoryLog()
    made = engine(log, languages=True, foreign="bd")
    visits = crawled(made)
    assert [0.0, 0.0] == [visit.relevance_now for visit in visits if visit.node in "bd"]
    assert 1 == made.tally.relevant


def test_others_are_not_asked() -> None:
    """A judge that does not learn sees labels and lessons pass by."""
    log = MemoryLog()
    made = Engine(Pages(TEXTS), SpaceJudge(), Greedy(BreadthFirst(), "arm"), log, clock=clock)
    events: list[Event] = [Label("a", True), ModelUpdate("j", {})]
    made.replay(events)
    made.model_updates.catch_up()
    assert [] == log.events
