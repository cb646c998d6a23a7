"""SpaceJudge: relevance from the page's data."""

from lycosa.core.types import Page
from lycosa.judges.space_judge import SpaceJudge


def test_judge_returns_values_of_space() -> None:
    judgement = SpaceJudge().judge(Page("ok", data={"beta": 3.0, "alpha": [0.5, 2.0]}), None)
    assert (3.0, [0.5, 2.0]) == (judgement.relevance, judgement.link_relevances.tolist())


def test_judge_defaults_to_zero_without_values() -> None:
    judgement = SpaceJudge().judge(Page("ok"), None)
    assert (0.0, []) == (judgement.relevance, judgement.link_relevances.tolist())
    assert judgement.relevance < SpaceJudge().threshold
