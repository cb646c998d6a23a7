"""ModelWords: words of pages and texts as columns of a model."""

import numpy as np

from lycosa.core.types import Terms
from lycosa.text.model_words import UNKNOWN, ModelWords


def test_follow_looks_up_new_words_only() -> None:
    columns = {"coral": 0, "reef": 1}
    words = ModelWords(columns)
    assert [UNKNOWN, 1] == words.follow(["sea", "reef"])[:2].tolist()
    columns["sea"] = 2
    assert [UNKNOWN, 1, 0] == words.follow(["sea", "reef", "coral"])[:3].tolist()


def test_words_are_separated_into_known_and_unknown() -> None:
    words = ModelWords({"coral": 0, "reef": 1})
    words.follow(["sea", "reef"])
    columns, counts, others = words.of(Terms(np.array([0, 1, 7], np.uint32), np.array([2, 3, 4], np.uint16)))
    assert ([1], [3.0], [2.0, 4.0]) == (columns.tolist(), counts.tolist(), others.tolist())
    assert 0 == len(words.of(Terms())[0])


def test_words_of_texts_have_owner_and_column() -> None:
    words = ModelWords({"coral": 0, "haus": 1})
    owners, columns = words.of_texts(["the corals", "", "\x01a\x02 Haus, coral"], "en")
    assert ([0, 2, 2], [0, 1, 0]) == (owners.tolist(), columns.tolist())
    owners, columns = words.of_texts(["Die Häuser"], "de")
    assert ([0], [1]) == (owners.tolist(), columns.tolist())
