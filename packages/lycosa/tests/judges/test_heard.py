"""Labels for a judge that does not learn: each settles what its own page is worth."""

from learning_judge import Learning
from lycosa.core.protocols import Learner
from lycosa.core.types import Label, Visit
from lycosa.judges.base import LabelledJudge, heeding
from lycosa.judges.space_judge import SpaceJudge


def heard(*relevances: float) -> LabelledJudge:
    """A judge of pages a, b, c ... with these scores; it counts from .5 on."""
    topic = SpaceJudge()
    topic.threshold = 0.5
    made = LabelledJudge(topic)
    for name, relevance in zip("abcdef", relevances, strict=False):
        made.learn(Visit(name, "page", "ok", 1, relevance=relevance))
    return made


def test_only_its_own_page() -> None:
    """Yes lifts a page to the threshold at least, no puts it below; the others stay to the bit."""
    topic = heard(0.1, 0.9, 0.3, 0.7)
    topic.add_label(Label("a", True))
    topic.add_label(Label("b", False))
    first, second, *others = topic.relevances_now().tolist()
    assert 0.5 == first > second > 0.49
    assert [0.3, 0.7] == others


def test_the_last_word_counts() -> None:
    """What is taken back was never said; of two words the later one stands."""
    topic = heard(0.1, 0.9)
    for relevant in (True, None):
        topic.add_label(Label("a", relevant))
    for relevant in (False, True):
        topic.add_label(Label("b", relevant))
    assert [0.1, 0.9] == topic.relevances_now().tolist()


def test_versions_are_settled_together() -> None:
    """Every version of a page has its label; one that is not there changes nothing."""
    topic = heard(0.1)
    topic.learn(Visit("a", "revisit", "ok", 2, relevance=0.2))
    topic.learn(Visit("a", "page", "gone", 3))
    topic.add_label(Label("a", True))
    topic.add_label(Label("elsewhere", True))
    assert [0.5, 0.5] == topic.relevances_now().tolist()
    assert topic.next_update(0.0, force=True) is None


def test_who_learns_is_left_alone() -> None:
    """A judge that hears labels by itself is not wrapped."""
    topic = Learning("coral")
    assert topic is heeding(topic)
    assert isinstance(heeding(SpaceJudge()), Learner)
