"""Features of pages: matches with the topic, hashed features, and the table of all pages."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.core.types import HEADING, TITLE, Terms
from lycosa.judges.probability.evidence import (
    BACKGROUND_PAGES,
    KINDS,
    LINK,
    SLOTS,
    Answer,
    Evidence,
    EvidenceReader,
    EvidenceTable,
    directions,
    slot_of,
)
from lycosa.text.embeddings import DIMENSIONS


def read(
    reader: EvidenceReader, stems: dict[str, int], links: tuple[str, ...] = (), marks: dict[str, int] | None = None
) -> Evidence:
    """Return the features of a page with these stems, counts and marks."""
    reader.add_stems([stem for stem in stems if stem not in reader.names])
    ids = np.array([reader.names.index(stem) for stem in stems], np.uint32)
    own_marks = np.array([(marks or {}).get(stem, 0) for stem in stems], np.uint8)
    terms = Terms(ids, np.array(list(stems.values()), np.uint16), marks=own_marks)
    return reader.read(reader.slots(terms), terms, "http://a.test/coral/x", links, "en", {})


def test_read_scores_title_and_heading_matches() -> None:
    reader = EvidenceReader({"qwzzx": 1.0, "xkjqv": 1.0}, (), None)
    answers = read(reader, {"qwzzx": 1, "xkjqv": 1}, marks={"qwzzx": TITLE, "xkjqv": HEADING}).answers
    assert [0.5, 0.5, 0.0] == pytest.approx(answers[[Answer.HEAD, Answer.LEAD, Answer.MEANING]].tolist())


def test_read_body_is_bm25() -> None:
    """The body score is f / (f + 1.2) for a page of mean length: a single word three times has 3 / (3 + 1.2)."""
    reader = EvidenceReader({"coral": 1.0}, (), None)
    assert 3 / 4.2 == pytest.approx(read(reader, {"coral": 3, "sea": 2}).answers[Answer.BODY])


@pytest.mark.parametrize(("count", "mark", "against"), [(1, 0, 0.25), (9, 0, 1.0), (1, TITLE, 1.0)])
def test_read_excluded_words_count_against(count: int, mark: int, against: float) -> None:
    reader = EvidenceReader({"coral": 1.0}, ("hotel",), None)
    assert against == read(reader, {"coral": 1, "hotel": count}, marks={"hotel": mark}).against


def test_read_features_by_kind() -> None:
    page = read(EvidenceReader({"x": 1.0}, (), None), {"reef": 1}, ("http://b.test/", "http://a.test/coral/x"))
    slots = {kind: page.slots[columns] for kind, (columns, _) in KINDS.items()}
    assert slot_of("reef") in slots["stems"]
    assert slot_of("address coral") in slots["address"]
    assert [slot_of("http://b.test/", LINK)] == slots["links"][slots["links"] > 0].tolist()


def test_idf_counts_pages_and_background() -> None:
    reader = EvidenceReader({"x": 1.0}, (), None)
    page = read(reader, {"qwzzx": 1})
    before = reader.idf()[slot_of("qwzzx")]
    reader.count(page, 1)
    assert reader.idf()[slot_of("qwzzx")] < before
    assert reader.idf()[SLOTS - 1] == pytest.approx(np.log((1 + BACKGROUND_PAGES + 1) / 0.5))


def test_features_have_weight_of_their_kind() -> None:
    table, reader = EvidenceTable(), EvidenceReader({"x": 1.0}, (), None)
    table.add(read(reader, {"reef": 2, "qwzzx": 1}, ("http://b.test/",)), 0.5, True)
    features = table.features(np.array([0]), reader.idf())[0]
    for columns, weight in KINDS.values():
        assert weight == pytest.approx(float((features[columns] ** 2).sum()), rel=1e-5)


def test_directions_without_vector_are_zero() -> None:
    vectors = np.zeros((2, DIMENSIONS), np.int8)
    vectors[1, :2] = 100
    rows = directions(vectors, np.full(DIMENSIONS, 0.01, np.float32))
    assert not rows[0].any()
    assert 2.0 == pytest.approx(float(np.sqrt((rows[1] ** 2).sum())))
