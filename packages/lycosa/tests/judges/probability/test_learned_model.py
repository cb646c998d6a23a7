"""The model learned from pages: training pages, and log odds of one page and of many."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.judges.probability.evidence import FEATURES, Answer, Evidence, EvidenceTable
from lycosa.judges.probability.learned_model import (
    OWN_LINE,
    OWN_RATES,
    LearnedModel,
    NamedPages,
    TrainingPages,
    learn_model,
    own_odds,
)
from lycosa.text.embeddings import DIMENSIONS

NO_ROWS = np.zeros(0, np.intp)


def pages(count: int) -> EvidenceTable:
    """Return random pages; even ones match the topic and share features 1 to 9, odd ones have features 10 to 19."""
    table, chance = EvidenceTable(), np.random.default_rng(5)
    for number in range(count):
        slots, amounts = np.zeros(FEATURES, np.int32), np.zeros(FEATURES, np.uint8)
        slots[:5] = chance.choice(np.arange(1, 10), 5, replace=False) + 10 * (number % 2)
        amounts[:5] = 16
        answers = np.zeros(len(Answer), np.float32)
        answers[Answer.BODY] = 0.0 if number % 2 else chance.random()
        vector = chance.integers(-90, 90, DIMENSIONS).astype(np.int8)
        table.add(Evidence(slots, amounts, answers, vector, against=0.1 * (number % 3 == 0), quality=0.4), 0.0, True)
    return table


def learned(table: EvidenceTable, **named: np.ndarray) -> LearnedModel:
    idf = np.ones(1 << 18, np.float32)
    given = NamedPages(**{"starts": NO_ROWS, "certain": NO_ROWS, "weights": np.zeros(0), "refused": NO_ROWS} | named)
    return LearnedModel.of(learn_model(table, EvidenceTable(), given, idf, None), idf)


def test_positions_of_training_pages() -> None:
    parts = [np.arange(count) for count in (2, 1, 0, 3, 1, 4)]
    training = TrainingPages(*parts)
    assert (slice(0, 2), slice(3, 3)) == (training.places("examples"), training.places("starts"))
    assert (slice(0, 6), slice(2, 11)) == (
        training.places("examples", "stand_ins"),
        training.places("certain", "others"),
    )
    assert 9 == len(training.rows)


def test_odds_of_equals_odds() -> None:
    table = pages(40)
    model = learned(table, starts=np.array([0, 2]))._replace(rows=np.zeros(0, np.int32), alone=np.zeros(0, np.float32))
    odds = model.odds(table, np.arange(40))
    for row in (0, 1, 7, 30):
        page = Evidence(
            table.slots[row], table.amounts[row], table.answers[row], table.vectors[row],
            float(table.against[row]), float(table.quality[row]),
        )  # fmt: skip
        assert model.odds_of(page) == pytest.approx(float(odds[row]), abs=1e-3)


def test_learn_model_prefers_pages_like_start_pages() -> None:
    table = pages(60)
    odds = learned(table, starts=np.array([0, 2, 4])).odds(table, np.arange(60))
    assert odds[::2].mean() > odds[1::2].mean() + 1.0


def test_learn_model_labels_outweigh_words() -> None:
    table = pages(60)
    yes, no = np.array([1, 3, 5, 7]), np.array([0, 2, 4, 6])
    odds = learned(table, certain=yes, weights=np.full(4, 3.0), refused=no).odds(table, np.arange(60))
    assert odds[1::2].mean() > odds[::2].mean()


def test_own_odds_by_hand() -> None:
    """Log odds are the weighted scores (body .5, meaning .25), less the threshold and 2 for excluded words (.5)."""
    answers = np.array([[0.5, 0.0, 0.0, 0.25]], np.float32)
    odds = own_odds(answers, np.array([0.5]), np.array([1.0]), np.zeros((0, DIMENSIONS), np.int8), None)
    assert 0.5 * OWN_RATES[Answer.BODY] + 0.25 * OWN_RATES[Answer.MEANING] - OWN_LINE - 2.0 == pytest.approx(
        float(odds[0])
    )
