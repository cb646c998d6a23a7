"""From options to a topic: one at a time, and errors that say what to change."""

from pathlib import Path
from typing import Any

import pytest

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.topics.making import make_topic, read_terms
from lycosa.topics.pattern import Pattern
from lycosa.topics.query import Query


def test_words() -> None:
    """Words make a query with its own threshold."""
    topic = make_topic(Options(topic="coral reefs"))
    assert isinstance(topic, Query)
    assert ({"coral": 1.0, "reef": 1.0}, 0.1) == (topic.weights, topic.threshold)


def test_a_pattern() -> None:
    """A regular expression makes a pattern; a threshold of the user's is handed on."""
    topic = make_topic(Options(regex="coral", threshold=0.7))
    assert isinstance(topic, Pattern)
    assert 0.7 == topic.threshold


def test_terms_from_a_file(tmp_path: Path) -> None:
    """A file of terms makes a weighted query."""
    path = tmp_path / "terms.txt"
    path.write_text("# what I want\ncoral\t2\n\nreef\nbleaching event\t0.5\r\n", encoding="utf-8-sig")
    topic = make_topic(Options(terms=str(path)))
    assert isinstance(topic, Query)
    assert {"coral": 2.0, "reef": 1.0, "bleach": 0.5, "event": 0.5} == topic.weights


def test_examples() -> None:
    """Learned terms are stems already; words beside them weigh as much as the heaviest."""
    topic = make_topic(Options(examples=["x"]), {"coral": 0.5, "reef": 0.25})
    assert isinstance(topic, Query)
    assert {"coral": 0.5, "reef": 0.25} == topic.weights
    both = make_topic(Options(examples=["x"], topic="reef sea"), {"coral": 0.5, "reef": 0.25})
    assert isinstance(both, Query)
    assert {"coral": 0.5, "reef": 0.75} == {key: both.weights[key] for key in ("coral", "reef")}


def test_words_beside_examples_weigh_alike() -> None:
    """Each word beside the examples weighs as much as the heaviest term of the examples."""
    both = make_topic(Options(examples=["x"], topic="coral sea lagoon"), {"coral": 0.5})
    assert isinstance(both, Query)
    assert {"coral": 1.0, "sea": 0.5, "lagoon": 0.5} == both.weights


def test_a_class_of_ones_own() -> None:
    """module:Class is imported and made."""
    from lycosa.spaces.graph import Given

    assert isinstance(make_topic(Options(judge="lycosa.spaces.graph:Given")), Given)


@pytest.mark.parametrize("name", ["nowhere:Thing", "lycosa.spaces.graph:Nothing", ":Thing", "lycosa"])
def test_a_class_that_can_not_be_loaded(name: str) -> None:
    """A name that leads nowhere is refused with how to write it."""
    with pytest.raises(InputError, match=r"cannot load the topic.*module:Class"):
        make_topic(Options(judge=name))


def test_a_class_that_takes_no_threshold() -> None:
    """A class that can't be made as asked is refused, not a traceback."""
    with pytest.raises(InputError, match="cannot load the topic"):
        make_topic(Options(judge="lycosa.spaces.graph:Given", threshold=0.5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no topic: say what to hunt"),
        ({"topic": "coral", "regex": "coral"}, r"more than one topic \(topic and regex\)"),
        ({"terms": "x", "examples": ["y"]}, "more than one topic"),
        ({"topic": "   "}, "the topic is empty"),
        ({"topic": "the of"}, "no words to look for"),
        ({"regex": "("}, "not a regular expression"),
    ],
)
def test_what_can_not_be_made(options: dict[str, Any], message: str) -> None:
    """Each wrong request has its own message."""
    with pytest.raises(InputError, match=message):
        make_topic(Options(**options))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "names no terms"),
        (b"# only\n\n   \n", "names no terms"),
        (b"coral\tmuch\n", "line 1: the weight 'much' is not a positive number"),
        (b"reef\ncoral\t-1\n", "line 2: the weight '-1' is not a positive number"),
        (b"coral\tnan\n", "line 1: the weight 'nan'"),
        (b"coral\tinf\n", "line 1: the weight 'inf'"),
        (b"caf\xe9\n", "are not UTF-8 text"),
    ],
)
def test_terms_that_can_not_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    """A wrong line is named by its number."""
    path = tmp_path / "terms.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_terms(path)


def test_terms_that_are_not_there(tmp_path: Path) -> None:
    """A missing file is named, with the reason."""
    with pytest.raises(InputError, match=r"cannot read the terms in .*nowhere: No such file"):
        read_terms(tmp_path / "nowhere")


def test_a_term_twice_adds_up(tmp_path: Path) -> None:
    """A term written twice has both weights."""
    path = tmp_path / "terms.txt"
    path.write_text("coral\t1\ncoral\t0.5\n")
    assert {"coral": 1.5} == read_terms(path)
