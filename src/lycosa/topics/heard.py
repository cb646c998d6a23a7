"""A judge that does not learn, but hears what people say: a label settles what its own page is worth, no other's."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.protocols import Learner, Topic
from lycosa.core.settling import settled
from lycosa.core.types import Judgement, Label, Lesson, Page, Seed, Visit
from lycosa.topics.around import Around

BETAS = "betas"
"""In a lesson: what is said of each version of a page so far."""


class Heard(Around):
    """Another topic's judgement; what pages are worth is what it said of them, unless somebody knew better.

    >>> from lycosa.topics.pattern import Pattern
    >>> topic = Heard(Pattern("coral"))
    >>> topic.learn(Visit("a", "page", "ok", 1, beta=.9)); topic.learn(Visit("b", "page", "ok", 2, beta=.1))
    >>> topic.hear(Label("a", False)); topic.hear(Label("b", True)); topic.worths().round(2).tolist()
    [0.5, 0.5]
    >>> topic.worths() >= topic.threshold
    array([False,  True])
    """

    def __init__(self, topic: Topic) -> None:
        super().__init__(topic)
        self._betas = array("d")
        self._nodes = array("q")  # hashes: names of a million pages would take a hundred megabytes
        self._labels: dict[int, bool] = {}

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Ask the topic."""
        return self.topic.judge(page, reading)

    def learn(self, visit: Visit) -> None:
        """Keep what was said of it; pass it on, unless the topic has learned from this page before."""
        if visit.is_version:
            self._betas.append(visit.beta)
            self._nodes.append(hash(visit.node))
        if visit.kind != "revisit":
            self.topic.learn(visit)

    def lesson(self, now: float, force: bool = False) -> Lesson | None:
        """There is nothing to learn."""
        return None

    def said_anew(self, now: float) -> Lesson:
        """What it says of all pages, for a log in which another topic was asked about them."""
        return Lesson("", {BETAS: np.array(self._betas)}, now)

    def adopt(self, lesson: Lesson) -> None:
        """The pages so far were judged anew."""
        betas = lesson.data[BETAS]
        self._betas[: len(betas)] = array("d", betas.tolist())

    def start(self, seed: Seed) -> None:
        """Where a crawl starts says nothing to a judge that does not learn."""

    def hear(self, label: Label) -> None:
        """Somebody's word on a page; the last counts."""
        self._labels.pop(hash(label.node), None)
        if label.relevant is not None:
            self._labels[hash(label.node)] = label.relevant

    def worths(self) -> NDArray[np.float64]:
        """What was said, or what somebody said instead."""
        worths = np.array(self._betas)
        if self._labels:
            nodes = np.array(self._nodes)
            for at in np.flatnonzero(np.isin(nodes, np.array(list(self._labels)))).tolist():
                worths[at] = settled(float(worths[at]), self._labels[int(nodes[at])], self.threshold)
        return worths


def heeding(topic: Topic) -> Learner:
    """The topic itself if it learns, or one around it that at least hears labels."""
    return topic if isinstance(topic, Learner) else Heard(topic)
