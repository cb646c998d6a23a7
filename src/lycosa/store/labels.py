"""A person's word on pages, as a crawl's log keeps it: events that are only ever added, of which the last counts."""

from __future__ import annotations

from collections.abc import Mapping

from lycosa.core.types import Label
from lycosa.store.log import SqliteLog


def labels_in(log: SqliteLog) -> dict[str, bool]:
    """The labels that stand, by page, in the order in which they were given."""
    labels: dict[str, bool] = {}
    for event in log.events("kind = 'label'"):
        assert isinstance(event, Label)
        labels.pop(event.node, None)
        if event.relevant is not None:
            labels[event.node] = event.relevant
    return labels


def news_of(log: SqliteLog, wanted: Mapping[str, bool], now: float, by: str = "") -> list[Label]:
    """What has to be added to a log for these to be the labels that stand: what is new, other or taken back."""
    had = labels_in(log)
    news: list[Label] = [Label(node, None, now, by) for node in had if node not in wanted]
    return news + [Label(node, relevant, now, by) for node, relevant in wanted.items() if had.get(node) is not relevant]


def set_labels(log: SqliteLog, wanted: Mapping[str, bool], now: float, by: str = "") -> int:
    """Make these the labels that stand. How many had to be added."""
    news = news_of(log, wanted, now, by)
    with log.together():
        for label in news:
            log.append(label)
    return len(news)
