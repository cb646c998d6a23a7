"""Only pages in the right language count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.protocols import Learner, Topic
from lycosa.core.types import Judgement, Label, Lesson, Page, Seed, Visit
from lycosa.topics.around import Around


class InLanguage(Around):
    """Another topic's judgement, but beta is 0 for a page that the space has flagged as being in a wrong language.

    >>> from lycosa.topics.pattern import Pattern
    >>> InLanguage(Pattern("coral")).judge(Page("ok", marked="coral", flags=["language"]), None).beta
    0.0
    """

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Judge, then look at the flag; links keep their alpha, since they may lead to the right language."""
        judgement = self.topic.judge(page, reading)
        if "language" in page.flags:
            judgement.beta = 0.0
        return judgement


class LearnsInLanguage(InLanguage):
    """The same around a judge that learns: whatever it has learned, pages in a wrong language are worth nothing."""

    topic: Learner

    def __init__(self, topic: Learner) -> None:
        super().__init__(topic)
        self._right = bytearray()

    def learn(self, visit: Visit) -> None:
        """Pass it on, but keep in mind which pages can't count."""
        if visit.is_version:
            self._right.append("language" not in visit.flags)
        self.topic.learn(visit)

    def lesson(self, now: float, force: bool = False) -> Lesson | None:
        """What the judge has to learn."""
        return self.topic.lesson(now, force)

    def adopt(self, lesson: Lesson) -> None:
        """Pass it on."""
        self.topic.adopt(lesson)

    def start(self, seed: Seed) -> None:
        """Pass it on."""
        self.topic.start(seed)

    def hear(self, label: Label) -> None:
        """Pass it on."""
        self.topic.hear(label)

    def worths(self) -> NDArray[np.floating[Any]]:
        """Those of the judge, and 0."""
        worths: NDArray[np.floating[Any]] = self.topic.worths().copy()
        worths[~np.frombuffer(self._right, np.bool_)] = 0.0
        return worths


def in_language(topic: Topic) -> Topic:
    """A topic that counts pages in the right language only."""
    return LearnsInLanguage(topic) if isinstance(topic, Learner) else InLanguage(topic)
