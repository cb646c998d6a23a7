"""Where scent fails: topic by topic, how well the guide knows each, and where a published strategy wins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lycosa.lab.certainty import interval
from lycosa.lab.findings import Cell, Table
from lycosa.lab.papers.scent.crawls import SCENT, Crawls

WORST = 10
NOTABLE = 0.05
"""A published strategy that is ahead by more than this on a topic is told by name."""


def average_precision(said: ArrayLike, relevant: ArrayLike) -> float:
    """How well what is said of pages ranks the relevant ones first: the mean precision at each of them.

        AP = sum over thresholds t of (recall(t) - recall(before t)) * precision(t)

    Pages of which the same is said have one threshold: their order says nothing. Nan if nothing is relevant.

    >>> average_precision([.9, .8, .7, .1], [1, 0, 1, 0])        # 1/2 * 1/1 + 1/2 * 2/3
    0.8333333333333333
    """
    scores, hits = np.asarray(said, np.float64), np.asarray(relevant, np.bool_)
    if not hits.any():
        return float("nan")
    _, level = np.unique(-scores, return_inverse=True)
    pages, good = np.bincount(level), np.bincount(level, hits)
    precision = np.cumsum(good) / np.cumsum(pages)
    return float((good * precision).sum() / hits.sum())


def known(crawls: Crawls, topic: str) -> float | None:
    """The guide's average precision, against the labels, on pages that it was not told; none where it judges itself."""
    if crawls.cell.mode != "independent":
        return None
    subject = crawls.results.subjects[topic]
    rest = ~subject.seen if len(subject.seen) else np.ones(len(subject.truth), np.bool_)
    return average_precision(crawls.results.guide(topic).beta[rest], subject.truth[rest] > 0)


def table_topics(crawls: Sequence[Crawls]) -> Table:
    """All topics of all cells."""
    rows = [row for one in crawls for row in _rows(one)]
    return Table(
        "scent-topics", "Topic by topic: share of the oracle's", _columns(crawls[0]), rows,
        note="Means over seed sets. Best: the published strategy that is best in that cell and budget, over all "
        "topics. Guide: average precision of what the guide says of all pages, by labels: how well it knows the "
        "topic. Pages: those that are relevant, or have the keyword.",
    )  # fmt: skip


def table_worst(crawls: Sequence[Crawls]) -> Table:
    """The ten topics on which scent's share is the lowest, mean over the budgets."""
    rows = [row for one in crawls for row in _rows(one)]
    columns = _columns(crawls[0])
    ours = [place for place, name in enumerate(columns) if name.startswith("scent")]

    def mean(row: list[Cell]) -> float:
        return interval([float(row[place] or 0.0) for place in ours], draws=1).mean

    return Table(
        "scent-worst", "Where scent finds the least", columns, sorted(rows, key=mean)[:WORST],
        note=f"The {WORST} lowest shares of the oracle's, mean over the budgets.",
    )  # fmt: skip


def table_lost(crawls: Sequence[Crawls]) -> Table:
    """Where a published strategy is ahead by more than .05."""
    rows: list[list[Cell]] = []
    for one in crawls:
        for budget in one.budgets:
            ours, best = one.by_topic(SCENT, budget), one.best(budget)
            theirs = {name: one.by_topic(name, budget) for name in one.published}
            for topic, share in ours.items():
                winner = max(theirs, key=lambda name, topic=topic: theirs[name][topic])  # type: ignore[misc]
                ahead = theirs[winner][topic] - share
                if ahead > NOTABLE + 1e-9:
                    rows.append(
                        [
                            one.cell.title, topic, _size(one, topic), known(one, topic), budget, share, winner,
                            theirs[winner][topic], ahead, theirs[best][topic] - share,
                        ]
                    )  # fmt: skip
    rows.sort(key=lambda row: -float(row[8] or 0))
    return Table(
        "scent-lost", f"Where a published strategy is ahead by more than {NOTABLE}",
        (
            "told, seeds", "topic", "pages", "guide", "after", "scent", "the winner", "its share", "ahead by",
            "the cell's best ahead by",
        ),
        rows,
        note="The winner is the best of all published ones on that topic at that budget: of many, on a few seed sets, "
        "some are ahead by chance. The last column is the one strategy that is best in the cell, over all topics.",
    )  # fmt: skip


def _columns(crawls: Crawls) -> list[str]:
    told = [f"{who} after {budget:,}" for budget in crawls.budgets for who in ("scent", "best")]
    return ["told, seeds", "topic", "pages", "guide", *told]


def _rows(crawls: Crawls) -> list[list[Cell]]:
    shares = [crawls.by_topic(name, budget) for budget in crawls.budgets for name in (SCENT, crawls.best(budget))]
    return [
        [crawls.cell.title, topic, _size(crawls, topic), known(crawls, topic), *(share[topic] for share in shares)]
        for topic in crawls.topics
    ]


def _size(crawls: Crawls, topic: str) -> int:
    return int(np.count_nonzero(crawls.results.truth(topic)))
