"""--ontology and --background, and who goes by them."""

from pathlib import Path
from typing import Any

import pytest

import lycosa
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.judges.factory import make_judge
from lycosa.judges.meaning import SsrmJudge
from lycosa.text.background import Background
from reefs import REEFS

SEEDS = ["https://example.org/"]


@pytest.mark.parametrize(
    "options",
    [
        {"judge": "ssrm"},
        {"strategy": "ehrig"},
        {"strategy": "mab_var,arms=fl_n+ssrm"},
        {"strategy": "synset-expansion", "judge": "keyword"},
    ],
)
def test_someone_goes_by_it(options: dict[str, Any]) -> None:
    """A judge, a strategy or an arm of a bandit that asks for an ontology gets it, and the topic's words."""
    assert lycosa.crawl("coral reef", SEEDS, ontology=REEFS, **options) is not None


@pytest.mark.parametrize("options", [{}, {"strategy": "mab_var"}, {"judge": "keyword", "strategy": "fl_n"}])
def test_an_ontology_that_no_one_asks_for(options: dict[str, Any]) -> None:
    """It would change nothing, so it is refused, with what to do."""
    with pytest.raises(
        InputError, match=r"ontology says what words mean, but neither the judge .* choose one that does"
    ):
        lycosa.crawl("coral reef", SEEDS, ontology=REEFS, **options)


@pytest.mark.parametrize("options", [{"regex": "coral"}, {"examples": ["https://example.org/coral"]}])
def test_a_topic_without_words(options: dict[str, Any]) -> None:
    """An expression has no meaning, and of examples only stems are known."""
    with pytest.raises(InputError, match="the strategy ehrig uses word meanings, and this topic has no words"):
        lycosa.crawl(seeds=SEEDS, ontology=REEFS, strategy="ehrig", **options)


def test_a_background_for_a_judge_of_meanings(tmp_path: Path) -> None:
    """Statistics of one's own weigh the words for every judge that has idf."""
    Background(100, {"coral": 5}).save(tmp_path / "own.zst")
    made = make_judge(Options(topic="coral", judge="ssrm", ontology=REEFS, background=str(tmp_path / "own.zst")))
    assert isinstance(made, SsrmJudge)
    assert ("background", 100) == (made.rarity.idf, getattr(made.rarity.background, "documents", 0))
    with pytest.raises(InputError, match="the judge is ehrig, which has no idf"):
        make_judge(Options(topic="coral", judge="ehrig", ontology=REEFS, background=str(tmp_path / "own.zst")))
