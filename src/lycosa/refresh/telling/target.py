"""What is delivered, who takes it, and what they answer."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from lycosa.refresh.ledger import Told
from lycosa.refresh.telling.words import Excerpt, nothing


@dataclass(slots=True)
class Delivery:
    """Some changes on their way to a target."""

    id: str
    """The same at each attempt: by it a target knows what it has had already."""
    crawl: str
    title: str
    """What is hunted, in a few words."""
    changes: list[Told]
    at: float
    """When this attempt is made."""
    tally: Counter[str] = field(default_factory=Counter)
    """How many of each there are, also of those that a digest has no room for."""
    excerpt: Excerpt = nothing


@dataclass(slots=True, frozen=True)
class Answer:
    """What came of an attempt."""

    taken: bool
    says: str = ""
    """In a few words, without anything that is secret."""
    wait: float = 0.0
    """Seconds after which the target wants to be asked again; 0: it did not say."""
    stop: bool = False
    """Whether it wants no more at all."""


class Target(Protocol):
    """Someone to tell."""

    name: str
    """For people: without credentials, as it is shown in notes and errors."""
    key: str
    """By which its place in the log is kept."""
    most: int
    """Changes in one delivery."""
    every: float
    """Seconds from one delivery to the next at least, and each holds all that is new; 0: at once, in batches."""

    async def send(self, delivery: Delivery) -> Answer:
        """Make an attempt. Whatever the target does is an answer; it is cancelled if it takes too long."""


def key_of(kind: str, address: str) -> str:
    """A target's key: its address may be a secret, and is not kept."""
    return f"{kind}-{hashlib.sha256(address.encode('utf-8', 'backslashreplace')).hexdigest()[:24]}"
