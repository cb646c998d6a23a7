"""Only pages in the right language count."""

from __future__ import annotations

from typing import Any

from lycosa.core.protocols import Topic
from lycosa.core.types import Judgement, Page, Visit


class InLanguage:
    """Another topic's judgement, but beta is 0 for a page that the space has flagged as being in a wrong language.

    >>> from lycosa.topics.pattern import Pattern
    >>> InLanguage(Pattern("coral")).judge(Page("ok", marked="coral", flags=["language"]), None).beta
    0.0
    """

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

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Judge, then look at the flag; links keep their alpha, since they may lead to the right language."""
        judgement = self.topic.judge(page, reading)
        if "language" in page.flags:
            judgement.beta = 0.0
        return judgement

    def learn(self, visit: Visit) -> None:
        """Pass it on."""
        self.topic.learn(visit)
