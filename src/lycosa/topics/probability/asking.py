"""A topic as it was typed: words, "phrases in quotes", and -words that speak against."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lycosa.core.errors import InputError

_PART = re.compile(r'(?<!\S)(-?)"([^"]+)"|(?<!\S)(-?)(\S+)')


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asked for."""

    words: Mapping[str, float] = field(default_factory=dict)
    """Texts to look for, with their weights; those of a phrase are among them."""
    phrases: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The words, as other parts of a crawl want them."""
        return " ".join(self.words)


def asked(topic: str | Mapping[str, float]) -> Asked:
    """Read a topic.

    >>> asked('"great barrier reef" bleaching -hotel').words
    {'great barrier reef': 1.0, 'bleaching': 1.0}
    >>> asked('"great barrier reef" bleaching -hotel').against
    ('hotel',)
    >>> asked("sea-level rise").text
    'sea-level rise'
    """
    if isinstance(topic, Mapping):
        return Asked({text: float(weight) for text, weight in topic.items()})
    words: dict[str, float] = {}
    phrases, against = [], []
    for match in _PART.finditer(topic):
        minus, text = match[1] or match[3], match[2] or match[4]
        text = " ".join(text.replace('"', " ").split())
        if minus and any(map(str.isalnum, text)):
            against.append(text)
        elif text:
            words[text] = words.get(text, 0.0) + 1.0
            if match[2] and " " in text:
                phrases.append(text)
    if against and not words:
        raise InputError(
            f"the topic {topic!r} only says what is not wanted: say in a few words what is, for example 'reef -hotel'"
        )
    return Asked(words, tuple(phrases), tuple(against))
