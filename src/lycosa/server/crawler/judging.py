"""Judge the pages that a crawl has again, fetching none: by what people said, another threshold, another topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lycosa.collection.judging import judge, learn
from lycosa.people.database import Row
from lycosa.people.wishes import AUTOMATIC, Wishes
from lycosa.server.crawler.teaching import teach
from lycosa.server.wishing import harmless_directory, harmless_wishes
from lycosa.store.directory import Directory
from lycosa.store.log import NAME
from lycosa.topics import DEFAULT


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be done."""

    what: str
    """labels, threshold, topic: each includes those before."""
    number: int
    """Which time it was asked for."""
    wishes: str
    """The interest's, as the database keeps them."""

    @classmethod
    def of(cls, row: Row) -> Asked | None:
        """From a crawl's row; None if nothing is asked for."""
        return cls(row["judging"], row["asked"], row["wishes"]) if row["judging"] else None


def judge_again(directory: Path, asked: Asked, labels: Mapping[str, bool], now: float) -> int | None:
    """Do it, and keep it; how many pages are relevant then. None where nothing was fetched yet.

    Nobody else may write in the directory. Whoever is killed on the way leaves what was there before.
    """
    if not (directory / NAME).exists():
        return None
    harmless_directory(directory)
    harmless_wishes(asked.wishes)
    told = teach(directory, labels, now)
    if asked.what == "labels" or told:
        found = learn_in(directory, now)
    if asked.what == "labels":
        return found
    wishes = Wishes.of_json(asked.wishes)
    if asked.what == "threshold":
        done = judge(directory, threshold=wishes.threshold, keep=True, now=now)
    else:
        named = DEFAULT if wishes.judge == AUTOMATIC else wishes.judge
        done = judge(
            directory, wishes.words, examples=wishes.examples, threshold=wishes.threshold, judge=named, keep=True,
            now=now,
        )  # fmt: skip
    return done.after.relevant


def learn_in(directory: Path, now: float) -> int:
    """Have the crawl's own judge learn from all labels; how many pages are relevant then."""
    opened = Directory.open(directory)
    try:
        log = opened.log()
        try:
            return learn(opened, log, now).after.relevant
        finally:
            log.close()
    finally:
        opened.close()
