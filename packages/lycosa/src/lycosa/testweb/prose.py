"""Sentences, titles and slugs on a topic, generated from the vocabulary.

A topic is its index in `TOPICS`; NOWHERE is the index of text without a topic.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from random import Random
from typing import Any

from lycosa.testweb.chance import stir

# Sentences follow simple patterns filled from the word lists of vocabulary.toml: pages on one sub-topic share its
# words, siblings share the words of their parent topic, and all pages share the filler.


def _split(text: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word in text.split())


@dataclass(frozen=True, slots=True)
class WordList:
    """Nouns, adjectives and past-tense verbs of one origin."""

    nouns: tuple[str, ...]
    adjectives: tuple[str, ...]
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubTopic:
    """A topic of pages, with the query that a user would type."""

    name: str
    query: str
    words: WordList


@dataclass(frozen=True, slots=True)
class ParentTopic:
    """A parent topic with the words its sub-topics share."""

    name: str
    words: WordList
    subtopics: tuple[SubTopic, ...]


def _words(block: Mapping[str, str]) -> WordList:
    return WordList(*(_split(block[kind]) for kind in ("nouns", "adjectives", "verbs")))


def _subject(block: Mapping[str, Any]) -> ParentTopic:
    parts = tuple(SubTopic(part["name"], part["query"], _words(part)) for part in block["subtopics"])
    return ParentTopic(block["name"], _words(block), parts)


_BLOCKS = tomllib.loads(files("lycosa.testweb").joinpath("vocabulary.toml").read_text("utf-8"))

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


NOWHERE = -1

_SUBS: tuple[SubTopic, ...] = tuple(sub for subject in SUBJECTS for sub in subject.subtopics)
_SUBJECT: tuple[int, ...] = tuple(i for i, subject in enumerate(SUBJECTS) for _ in subject.subtopics)
TOPICS: tuple[str, ...] = tuple(
    f"{SUBJECTS[subject].name}/{sub.name}" for subject, sub in zip(_SUBJECT, _SUBS, strict=True)
)
_EMPTY = WordList((), (), ())

_COMPILED: tuple[tuple[str, str], ...] = tuple(
    (re.sub(r"\{[nav]\}", "%s", pattern), "".join(re.findall(r"\{([nav])\}", pattern))) for pattern in PATTERNS
)

_TITLES = (
    ("%s and the %s", "nn"),
    ("The %s %s", "an"),
    ("What we know about %s", "n"),
    ("%s: a short guide to %s", "nn"),
    ("On %s and %s", "nn"),
    ("Notes on %s %s", "an"),
    ("%s in practice", "n"),
    ("A year of %s", "n"),
    ("Understanding %s", "n"),
    ("%s, %s and other questions", "nn"),
)
_BLAND_TITLES = ("Notes, part %d", "From the archive, no. %d", "Untitled page %d", "Letter %d", "Miscellany %d")

Pools = dict[str, tuple[str, ...]]


def subject_of(topic: int) -> int:
    return _SUBJECT[topic] if topic >= 0 else NOWHERE


def siblings(topic: int) -> list[int]:
    return [t for t, subject in enumerate(_SUBJECT) if subject == _SUBJECT[topic] and t != topic]


def by_name(name: str) -> int:
    """Return a topic's number; raise KeyError for an unknown name."""
    try:
        return TOPICS.index(name)
    except ValueError:
        raise KeyError(f"no topic {name!r} in this web") from None


def query(topic: int) -> str:
    return _SUBS[topic].query


def slug(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))


@lru_cache(maxsize=128)
def topic_slug(topic: int) -> str:
    return slug(_SUBS[topic].name) if topic >= 0 else "general"


BY_SLUG = {topic_slug(number): number for number in range(len(TOPICS))}


def topic_label(topic: int) -> str:
    return _SUBS[topic].name.capitalize() if topic >= 0 else "General"


def subject_name(subject: int) -> str:
    return SUBJECTS[subject].name if subject >= 0 else "general interest"


def _weighted(groups: list[tuple[float, tuple[str, ...]]]) -> tuple[str, ...]:
    pool: list[str] = []
    for share, words in groups:
        total = sum(1 / (rank + 3) for rank in range(len(words)))
        for rank, word in enumerate(words):
            pool.extend([word] * round(1200 * share / (rank + 3) / total))
    return tuple(pool)


@lru_cache(maxsize=256)
def _pools(topic: int, subject: int, blend: int) -> Pools:
    # Shares of (sub-topic, subject, filler): some pages are focused, some ramble; the last blend is for titles.
    own, parent, filler = ((0.30, 0.27, 0.43), (0.40, 0.25, 0.35), (0.50, 0.25, 0.25), (0.65, 0.30, 0.05))[blend]
    sub_words = _SUBS[topic].words if topic >= 0 else _EMPTY
    subject_words = SUBJECTS[subject].words if subject >= 0 else _EMPTY
    # Query words come first in the list, because writers use them as well.
    nouns = tuple(_SUBS[topic].query.split()) + sub_words.nouns if topic >= 0 else ()
    lists = (
        ("n", nouns, subject_words.nouns, GENERAL.nouns),
        ("a", sub_words.adjectives, subject_words.adjectives, GENERAL.adjectives),
        ("v", sub_words.verbs, subject_words.verbs, GENERAL.verbs),
    )
    return {slot: _weighted([(own, a), (parent, b), (filler, c)]) for slot, a, b, c in lists}


def _sentence(rng: Random, pools: Pools) -> str:
    draw = rng.random
    shape, slots = _COMPILED[int(draw() * len(_COMPILED))]
    words = []
    for slot in slots:
        pool = pools[slot]
        words.append(pool[int(draw() * len(pool))])
    text = shape % tuple(words)
    return text[0].upper() + text[1:] + "."


def paragraphs(rng: Random, topic: int, words: int, subject: int | None = None, *, dense: bool = False) -> list[str]:
    """Generate paragraphs of about `words` words, sometimes straying to a second topic; `dense` reads like titles."""
    draw = rng.random
    main = _pools(topic, subject_of(topic) if subject is None else subject, 3 if dense else int(draw() * 3))
    second_topic = int(draw() * len(TOPICS))
    second = _pools(second_topic, _SUBJECT[second_topic], 0)
    result: list[str] = []
    written = 0
    while written < words:
        lines = [_sentence(rng, second if draw() < 0.06 else main) for _ in range(3 + int(draw() * 5))]
        text = " ".join(lines)
        written += text.count(" ") + 1
        result.append(text)
    return result


@lru_cache(maxsize=1 << 16)
def title(topic: int, *key: object) -> str:
    """Return the title for a key: usually informative, sometimes bland."""
    code = stir("title", *key)
    if code % 100 < 7:
        return _BLAND_TITLES[code // 100 % len(_BLAND_TITLES)] % (code // 700 % 90 + 1)
    code //= 100
    shape, slots = _TITLES[code % len(_TITLES)]
    code //= len(_TITLES)
    pools = _pools(topic, subject_of(topic), 3)
    words = []
    for slot in slots:
        pool = pools[slot]
        words.append(pool[code % len(pool)])
        code //= len(pool)
    text = shape % tuple(words)
    return text[0].upper() + text[1:]
