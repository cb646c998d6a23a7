"""The words of the embedded web: general filler, a dozen subjects, and three sub-topics in each.

The text of a page is sentences cut to simple patterns and filled from these lists, so that two pages on
one sub-topic share words, siblings share the words of their parent subject, and everything shares the
filler.  They stand in vocabulary.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


def _split(text: str) -> tuple[str, ...]:
    """Turn a block of words into a tuple of entries."""
    return tuple(word.replace("_", " ") for word in text.split())


@dataclass(frozen=True, slots=True)
class Words:
    """Nouns, adjectives and past-tense verbs of one origin."""

    nouns: tuple[str, ...]
    adjectives: tuple[str, ...]
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubTopic:
    """What a page can be about, and what somebody looking for it would type."""

    name: str
    query: str
    words: Words


@dataclass(frozen=True, slots=True)
class Subject:
    """A parent topic with the words its sub-topics share."""

    name: str
    words: Words
    subtopics: tuple[SubTopic, ...]


def _words(block: Mapping[str, str]) -> Words:
    return Words(*(_split(block[kind]) for kind in ("nouns", "adjectives", "verbs")))


def _subject(block: Mapping[str, Any]) -> Subject:
    parts = tuple(SubTopic(part["name"], part["query"], _words(part)) for part in block["subtopics"])
    return Subject(block["name"], _words(block), parts)


_BLOCKS = tomllib.loads(files("lycosa.testing").joinpath("vocabulary.toml").read_text("utf-8"))

GENERAL = _words(_BLOCKS["general"])

SUBJECTS = tuple(map(_subject, _BLOCKS["subjects"]))

PATTERNS = (
    "the {a} {n} {v} the {n} near the {n}",
    "in most cases {n} {v} {a} {n}, and the {n} {v} them",
    "nobody {v} the {n} until the {a} {n} {v} the {n}",
    "{a} {n} and {n} {v} more than the {n} did",
    "when {n} {v} the {n}, the {a} {n} {v} it as well",
    "there is no {n} without {n}, as every {a} {n} {v}",
    "for years the {n} {v} only {a} {n}",
    "last spring, {n} {v} the {a} {n} with {n} and {n}",
    "{n}, {n} and {n} {v} one another",
    "some {v} the {n}; others {v} {a} {n} instead",
    "what the {n} {v} was less {a} than the {n}",
    "after the {n}, {a} {n} {v} a {a} kind of {n}",
    "it was the {n} that {v} the {n}, not the {n}",
    "a {a} look at {n} {v} how {n} {v} the {n}",
    "with {n} in mind, they {v} {n} and {v} the {a} {n}",
    "much of the {n} {v} from {a} {n} to {n}",
    "our {n} {v} {n} twice, and {a} {n} once",
    "although {n} {v} the {n}, {a} {n} are still {a}",
    "the {n} of {n} {v} both {n} and {n}",
    "{a} {n} {v} {n} long before {n} {v} {n}",
    "ask about {n} and you will hear of {a} {n}",
    "between {n} and {n} lies a {a} {n}",
    "those who {v} {n} also {v} the {a} {n} of the {n}",
    "the {n} is {a}, the {n} is {a}, and the {n} {v} both",
    "without {a} {n}, {n} {v} little",
    "only when the {n} {v} did the {n} become {a}",
)

SITE_WORDS = _split(
    """atlas journal notes guide review archive society desk forum weekly watch almanac ledger quarterly
    letters workshop bulletin club reader register companion digest circle handbook post observer
    gazette library lantern compass"""
)
