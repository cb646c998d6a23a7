"""Judge the pages that a crawl has again, fetching none: by what people said, another threshold, another topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lycosa.cluster.splitting import bring_together
from lycosa.collection.judging import judge, learn
from lycosa.people.database import Row
from lycosa.people.wishes import AUTOMATIC, Wishes
from lycosa.server.validation import harmless_directory, harmless_wishes
from lycosa.store.directory import KEPT, Directory
from lycosa.store.log import FIRSTS, NAME, PAGES, WORTH, SqliteLog, set_labels
from lycosa.topics import DEFAULT


@dataclass(frozen=True, slots=True)
class JudgingTask:
    """Pages of a crawl that are to be judged again."""

    what: str
    """labels, threshold, topic: each includes those before."""
    number: int
    """Which time it was asked for."""
    wishes: str
    """The interest's, as the database keeps them."""

    @classmethod
    def of(cls, row: Row) -> JudgingTask | None:
        """From a crawl's row; None if nothing is asked for."""
        return cls(row["judging"], row["asked"], row["wishes"]) if row["judging"] else None


def judge_again(
    directory: Path, task: JudgingTask, labels: Mapping[str, bool], now: float, files: Mapping[str, str] = KEPT
) -> int | None:
    """Do it, and keep it; how many pages are relevant then. None where nothing was fetched yet. `files` are where the
    owner's models lie.

    Nobody else may write in the directory. Whoever is killed on the way leaves what was there before.
    """
    if not (directory / NAME).exists():
        return None
    harmless_directory(directory)
    bring_together(directory)
    harmless_wishes(task.wishes, build=False)
    taught = teach(directory, labels, now)
    if task.what == "labels" or taught:
        with _opened(directory) as (opened, log):
            relevant = learn(opened, log, now).after.relevant  # by the crawl's own judge
    if task.what == "labels":
        return relevant
    wishes = Wishes.of_json(task.wishes)
    if task.what == "threshold":
        done = judge(directory, threshold=wishes.threshold, keep=True, now=now)
    elif wishes.model:
        line = wishes.threshold or None
        done = judge(
            directory, model=Path(files["model"]), targets=wishes.targets, threshold=line, keep=True, now=now,
        )  # fmt: skip
    else:
        named = DEFAULT if wishes.judge == AUTOMATIC else wishes.judge
        done = judge(
            directory, wishes.words, examples=wishes.examples, threshold=wishes.threshold, judge=named, keep=True,
            now=now,
        )  # fmt: skip
    return done.after.relevant


def teach(directory: Path, labels: Mapping[str, bool], now: float) -> int:
    """Bring the labels of a log, which nobody else may write, to what people say; how many changed."""
    if not (directory / NAME).exists():
        return 0
    with _opened(directory) as (_, log):
        return set_labels(log, labels, now)


@contextmanager
def _opened(directory: Path) -> Iterator[tuple[Directory, SqliteLog]]:
    with closing(Directory.open(directory)) as opened, closing(opened.log()) as log:
        yield opened, log


def recorded(directory: Path, row: Row) -> tuple[int, int]:
    """Pages of a crawl, and how many of them are relevant, by its log: the database may know less, as whoever wrote it
    was killed before the next report. By its row where there is no log.
    """
    if not (directory / NAME).exists():
        return int(row["pages"]), int(row["found"])
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        pages = next(log.rows("COUNT(*)", PAGES))[0]
        threshold = log.setting("threshold", 0.0)
        relevant = next(log.rows("COUNT(*)", f"{FIRSTS} AND {WORTH} >= ?", given=(threshold,)))[0]
    return int(pages), int(relevant)
