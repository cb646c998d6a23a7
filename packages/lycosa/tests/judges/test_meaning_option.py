"""Options --ontology and --background with judges and strategies that use word meanings."""

from pathlib import Path
from typing import Any

import pytest

import lycosa
from input_errors import raises_input_error
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
def test_crawl_accepts_ontology_if_it_is_used(options: dict[str, Any]) -> None:
    assert lycosa.crawl("coral reef", SEEDS, ontology=REEFS, **options) is not None


@pytest.mark.parametrize("options", [{}, {"strategy": "mab_var"}, {"judge": "keyword", "strategy": "fl_n"}])
def test_crawl_rejects_unused_ontology(options: dict[str, Any]) -> None:
    with raises_input_error("conflicting-options", "neither the judge .* choose one that does"):
        lycosa.crawl("coral reef", SEEDS, ontology=REEFS, **options)


@pytest.mark.parametrize("options", [{"regex": "coral"}, {"examples": ["https://example.org/coral"]}])
def test_crawl_rejects_ontology_for_topic_without_words(options: dict[str, Any]) -> None:
    with raises_input_error("no-topic-words", "the strategy ehrig"):
        lycosa.crawl(seeds=SEEDS, ontology=REEFS, strategy="ehrig", **options)


def test_make_judge_accepts_background_with_ontology(tmp_path: Path) -> None:
    Background(100, {"coral": 5}).save(tmp_path / "own.zst")
    made = make_judge(Options(topic="coral", judge="ssrm", ontology=REEFS, background=str(tmp_path / "own.zst")))
    assert isinstance(made, SsrmJudge)
    assert ("background", 100) == (made.rarity.idf, getattr(made.rarity.background, "documents", 0))
    with raises_input_error("conflicting-options"):
        make_judge(Options(topic="coral", judge="ehrig", ontology=REEFS, background=str(tmp_path / "own.zst")))
