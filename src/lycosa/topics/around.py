"""A judge around another: what both have in common is the inner one's."""

from __future__ import annotations

from lycosa.core.protocols import Topic
from lycosa.core.types import Visit


class Around:
    """Base of topics that ask another one first; they add `judge`."""

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self.threshold = topic.threshold

    @property
    def facets(self) -> tuple[str, ...]:
        """Those of the topic inside."""
        return getattr(self.topic, "facets", ())

    @facets.setter
    def facets(self, names: tuple[str, ...]) -> None:
        if hasattr(self.topic, "facets"):
            self.topic.facets = names

    def learn(self, visit: Visit) -> None:
        """Pass it on."""
        self.topic.learn(visit)
