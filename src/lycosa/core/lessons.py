"""What a judge has learned, if it is one that does, and what the pages so far are worth by it."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.protocols import Clock, Confers, Learner, Log, Topic
from lycosa.core.state import State
from lycosa.core.tally import Tally
from lycosa.core.types import Label, Lesson, Rows, Seed, Visit

Heed = Callable[[Rows, NDArray[np.floating[Any]]], None]
"""Told after a lesson: the rows of all versions of pages so far, in the order of the log, and what they are worth."""


class Lessons:
    """The pupil's side of a topic: nothing happens here unless it is a `Learner`."""

    def __init__(self, topic: Topic, judge_name: str, tally: Tally, log: Log, clock: Clock, heed: Heed) -> None:
        self.learner = topic if isinstance(topic, Learner) else None
        self.topic, self.judge_name = topic, judge_name
        self.tally, self.log, self.clock, self._heed = tally, log, clock, heed
        self._rows = array("i")  # of each version of a page
        self._counts = bytearray()  # for each version of a page whether it counts as relevant if it scores enough
        self._worths: NDArray[np.floating[Any]] = np.zeros(0)  # when they were last counted
        self._said = array("d")  # until there is a lesson: what versions of pages are worth, as the log has it
        self._rated = False  # whether somebody has said that of any of them
        self.adopted = 0
        """How many lessons were adopted by this process."""
        self._taught = 0  # pages that there were at the last lesson
        self._unheard = False  # labels that the count of relevant pages does not know of yet
        self.confers = _confers(topic)
        """Whoever learns from other shards' pages, if the judge does."""
        self._elsewhere = array("i")  # the rows of those pages; -1 where there is none
        self._unplaced: dict[str, int] = {}  # where those stand there that have none

    # -- what is folded ----------------------------------------------------------------------------------------

    def start(self, seed: Seed) -> None:
        """A node that the user starts from."""
        if self.learner is not None:
            self.learner.start(seed)

    def count(self, visit: Visit, row: int) -> None:
        """One version of a page more, if it is one."""
        if visit.is_version:
            self._rows.append(row)
            self._counts.append(visit.is_page and not visit.same_as)
            if self.learner is not None and not self.adopted:
                self._said.append(visit.worth)
                self._rated = self._rated or visit.rated is not None

    def take(self, node: str, told: bytes, stands: int, row: int) -> None:
        """A page that another shard has fetched, and its row."""
        if self.confers is not None and self.confers.take(node, told, stands):
            if row < 0:
                self._unplaced[node] = len(self._elsewhere)
            self._elsewhere.append(row)

    def place(self, node: str, row: int) -> None:
        """A page of another shard has a row now, as links of it have come; it may have been told of before."""
        if (at := self._unplaced.pop(node, -1)) >= 0:
            self._elsewhere[at] = row

    def hear(self, label: Label) -> None:
        """A person's word; it is counted with the next lesson."""
        if self.learner is not None:
            self.learner.hear(label)
            self._unheard = True

    def adopt(self, lesson: Lesson) -> None:
        """From now on it is judged by this; another topic's lesson is of no use to this one."""
        if self.learner is not None and lesson.judge == self.judge_name:
            self.learner.adopt(lesson)
            self.adopted += 1
            self._said = array("d")
            self._taught = self.tally.pages
            self._recount()
            self._heed(np.array(self._rows, np.int32), self._worths)

    def elsewhere(self) -> tuple[Rows, NDArray[np.floating[Any]]]:
        """The rows of other shards' pages, and what they are worth by our judge."""
        rows = np.array(self._elsewhere, np.int32)
        if self.confers is None or not len(rows):
            return rows, np.zeros(0)
        return rows[rows >= 0], self.confers.worths_elsewhere()[rows >= 0]

    def _recount(self) -> None:
        """The pages so far are worth something else."""
        assert self.learner is not None
        worths = self._worths = self.learner.worths()
        self.tally.relevant = int(np.count_nonzero(worths[self._counted()] >= self.topic.threshold))
        self._unheard = False

    def worths(self) -> NDArray[np.floating[Any]]:
        """What the pages are worth by now, each content once; empty where the judge can't tell."""
        return np.zeros(0) if self.learner is None else self.learner.worths()[self._counted()]

    def _counted(self) -> NDArray[np.bool_]:
        return np.frombuffer(bytes(self._counts), np.bool_)  # a copy: what is looked at can't grow

    def state(self) -> State:
        """The versions of pages so far, and what nobody has learned from yet."""
        rows, counts = np.array(self._rows, np.int32), np.array(self._counted())
        elsewhere = np.array(self._elsewhere, np.int32)
        return {
            "rows": rows, "counts": counts, "taught": self._taught, "unheard": self._unheard, "elsewhere": elsewhere,
            "unplaced": self._unplaced,
        }  # fmt: skip

    def restore(self, state: State) -> None:
        """Know of those."""
        self._rows, self._counts = array("i", state["rows"].tobytes()), bytearray(state["counts"].tobytes())
        self._taught, self._unheard = state["taught"], state["unheard"]
        self._elsewhere, self._unplaced = array("i", state["elsewhere"].tobytes()), dict(state["unplaced"])

    # -- what is taught, live ----------------------------------------------------------------------------------

    def teach(self, force: bool = False) -> bool:
        """Ask the judge for what it has learned; it is recorded together with what the pages are worth now."""
        lesson = self.learner.lesson(self.clock(), force) if self.learner is not None else None
        if lesson is None:
            return False
        lesson.judge = self.judge_name
        self.follow(lesson)
        return True

    def follow(self, lesson: Lesson) -> None:
        """Adopt a lesson, and record it; another judge's is left out."""
        if self.learner is None or lesson.judge != self.judge_name:
            return
        self.adopt(lesson)
        with self.log.together():
            self.log.append(lesson)
            self.log.rate(self._worths)

    def catch_up(self) -> None:
        """At the start of a run: learn from labels that nobody has learned from yet.

        A lesson that was due when the last run was killed is learned now, before the next pick, as it would have been.
        """
        if not self.teach(force=self._unheard and not waits(self.topic)) and self._unheard:
            self._recount()
            self.log.rate(self._worths)

    def look(self) -> None:
        """At the start of a run that only looks at known pages again.

        Where each shard had a judge of its own, the log has no lesson of one that has learned from all pages, but what
        they are worth. That stands until something was looked at: then a lesson is due.
        """
        if self.adopted or self._unheard or not self._rated:
            self.catch_up()
            return
        self._worths = np.array(self._said)
        self.tally.relevant = int(np.count_nonzero(self._worths[self._counted()] >= self.topic.threshold))
        self._taught = self.tally.pages
        self._heed(np.array(self._rows, np.int32), self._worths)

    def finish(self) -> None:
        """At the end of a run: learn from the pages since the last lesson. A judge that waits still does in the next
        run, which goes on as this one would have."""
        if self.tally.pages > self._taught and not waits(self.topic):
            self.teach(force=True)


def waits(topic: object) -> bool:
    """Whether a judge has met nothing yet to learn from, and says so; it may be under another one."""
    while not hasattr(topic, "waits") and hasattr(topic, "topic"):
        topic = topic.topic
    return bool(getattr(topic, "waits", False))


def _confers(topic: object) -> Confers | None:
    """The judge, under whatever is around it, if it learns from other shards' pages."""
    while not isinstance(topic, Confers) and hasattr(topic, "topic"):
        topic = topic.topic
    return topic if isinstance(topic, Confers) else None
