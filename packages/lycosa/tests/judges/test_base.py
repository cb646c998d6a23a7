"""Wrappers around judges: languages and labels."""

from learning_judge import Learning
from lycosa.core.protocols import Learner
from lycosa.core.types import Label, Links, Page, Visit
from lycosa.judges.base import LabelledJudge, LanguageJudge, with_labels
from lycosa.judges.pattern import RegexJudge
from lycosa.judges.space_judge import SpaceJudge


def test_language_judge_sets_flagged_pages_to_zero() -> None:
    judge = LanguageJudge(with_labels(RegexJudge("coral")))
    page = Page("ok", marked="coral", links=Links.to("b", anchors=["coral"]))
    assert (0.5, [1.0]) == (judge.judge(page, None).relevance, judge.judge(page, None).link_relevances.tolist())
    page.flags.append("language")
    assert (0.0, [1.0]) == (judge.judge(page, None).relevance, judge.judge(page, None).link_relevances.tolist())


def test_language_judge_threshold_is_that_of_inner_judge() -> None:
    assert 0.7 == LanguageJudge(with_labels(RegexJudge("coral", threshold=0.7))).threshold


def test_language_judge_passes_facets_on() -> None:
    judge = LanguageJudge(with_labels(RegexJudge("coral")))
    judge.facets = ("url",)
    page = Page("ok", links=Links.to("http://coral.test/"), flags=["language"])
    assert (("url",), [1.0]) == (judge.facets, judge.judge(page, None).facets["url"].tolist())
    without_facets = LanguageJudge(with_labels(SpaceJudge()))
    without_facets.facets = ("url",)
    assert () == without_facets.facets


def labelled_judge(*relevances: float) -> LabelledJudge:
    """Return a judge with threshold .5 that has learned pages a, b, c ... with these relevances."""
    judge = LabelledJudge(SpaceJudge(threshold=0.5))
    for name, relevance in zip("abcdef", relevances, strict=False):
        judge.learn(Visit(name, "page", "ok", 1, relevance=relevance))
    return judge


def test_labelled_judge_changes_only_labelled_pages() -> None:
    judge = labelled_judge(0.1, 0.9, 0.3, 0.7)
    judge.add_label(Label("a", True))
    judge.add_label(Label("b", False))
    first, second, *others = judge.relevances_now().tolist()
    assert 0.5 == first > second > 0.49
    assert [0.3, 0.7] == others


def test_labelled_judge_last_label_counts() -> None:
    judge = labelled_judge(0.1, 0.9)
    for relevant in (True, None):
        judge.add_label(Label("a", relevant))
    for relevant in (False, True):
        judge.add_label(Label("b", relevant))
    assert [0.1, 0.9] == judge.relevances_now().tolist()


def test_labelled_judge_label_applies_to_all_versions() -> None:
    judge = labelled_judge(0.1)
    judge.learn(Visit("a", "revisit", "ok", 2, relevance=0.2))
    judge.learn(Visit("a", "page", "gone", 3))
    judge.add_label(Label("a", True))
    judge.add_label(Label("elsewhere", True))
    assert [0.5, 0.5] == judge.relevances_now().tolist()
    assert judge.next_update(0.0, force=True) is None


def test_with_labels_returns_learners_unchanged() -> None:
    judge = Learning("coral")
    assert judge is with_labels(judge)
    assert isinstance(with_labels(SpaceJudge()), Learner)
