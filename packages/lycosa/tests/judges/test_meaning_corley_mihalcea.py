"""CorleyMihalceaJudge: similarity in both directions by hand."""

from math import exp, log, tanh
from typing import Any

import pytest

from lycosa.judges.meaning import CorleyMihalceaJudge
from lycosa.text.background import Background
from reefs import REEFS, judge

FEW = Background(100, {"atol": 5, "reef": 20, "sea": 50, "bleach": 10}, language="en")


def corley(words: Any = "reef bleaching", **options: Any) -> CorleyMihalceaJudge:
    return CorleyMihalceaJudge(words, ontology=REEFS, **{"floor": 0.0, **options})


@pytest.mark.paper("batsakis-mihalcea")
def test_corley_mihalcea_averages_both_directions() -> None:
    """Best similarities are averaged in both directions; only atoll and reef are similar, .36."""
    alike = exp(-0.2 * 2) * tanh(0.6 * 1)
    atoll, sea, reef, bleaching = log(100 / 5), log(100 / 50), log(100 / 20), log(100 / 10)
    expected = (alike * atoll / (atoll + sea) + alike * reef / (reef + bleaching)) / 2
    judgement = judge(corley(idf="background", background=FEW), "atoll sea", "sea and atoll", "sky", "")
    assert pytest.approx(expected) == judgement.relevance
    assert [pytest.approx(expected), 0.0, 0.0] == judgement.link_relevances.tolist()


def test_corley_mihalcea_topic_to_itself_is_1() -> None:
    assert [1.0, 1.0] == judge(
        corley(idf="none"), "", "reef bleaching", "bleaching reefs, reef"
    ).link_relevances.tolist()


def test_corley_mihalcea_weight_multiplies_idf() -> None:
    """Weights multiply the idf: with 3 for reef and 1 for bleaching, 'reef' has (1 + 3 / 4) / 2."""
    topic = corley({"reef": 3.0, "bleaching": 1.0}, idf="none")
    assert [0.875] == judge(topic, "", "reef").link_relevances.tolist()


def test_corley_mihalcea_floor_ignores_lower_similarities() -> None:
    assert [0.0, 1.0] == judge(corley("reef", floor=0.5, idf="none"), "", "atoll", "reef").link_relevances.tolist()
