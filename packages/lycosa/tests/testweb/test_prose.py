"""Generated text."""

import pytest

from lycosa.testweb.chance import dice
from lycosa.testweb.prose import (
    BY_SLUG,
    NOWHERE,
    TOPICS,
    by_name,
    paragraphs,
    query,
    siblings,
    subject_name,
    subject_of,
    title,
    topic_label,
    topic_slug,
)

CORAL = by_name("marine biology/coral reefs")


def test_by_name_raises_for_unknown_topic() -> None:
    assert TOPICS[CORAL] == "marine biology/coral reefs"
    with pytest.raises(KeyError, match="alchemy"):
        by_name("alchemy/gold")


def test_siblings_share_subject() -> None:
    assert CORAL not in siblings(CORAL)
    assert {subject_of(topic) for topic in siblings(CORAL)} == {subject_of(CORAL)}


def test_topics_have_slugs_and_labels() -> None:
    assert (topic_slug(CORAL), topic_label(CORAL), BY_SLUG["coral-reefs"]) == ("coral-reefs", "Coral reefs", CORAL)
    assert (topic_slug(NOWHERE), topic_label(NOWHERE), subject_name(NOWHERE)) == (
        "general",
        "General",
        "general interest",
    )


def test_paragraphs_have_requested_length() -> None:
    text = paragraphs(dice(1), CORAL, 300)
    words = sum(len(paragraph.split()) for paragraph in text)
    assert 300 <= words < 450
    assert all(paragraph[0].isupper() and paragraph.endswith(".") for paragraph in text)


def test_dense_paragraphs_have_more_query_words() -> None:
    def share(dense: bool) -> float:
        words = " ".join(paragraphs(dice(1), CORAL, 3000, dense=dense)).lower().split()
        return sum(word.strip(".,;") in query(CORAL).split() for word in words) / len(words)

    assert share(True) > 1.3 * share(False) > 0


def test_title_is_equal_for_equal_key() -> None:
    titles = [title(CORAL, "key", number) for number in range(100)]
    assert titles == [title(CORAL, "key", number) for number in range(100)]
    assert len(set(titles)) > 70
    assert all(text[0].isupper() for text in titles)
