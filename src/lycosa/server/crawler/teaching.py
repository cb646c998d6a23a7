"""Feedback, into the log of a crawl: the yes and no that people say now become the labels that it has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lycosa.store.directory import Directory
from lycosa.store.labels import set_labels
from lycosa.store.log import NAME


def teach(directory: Path, labels: Mapping[str, bool], now: float) -> int:
    """Bring the labels of a log to what people say; how many are new, others or taken back. Nobody else may write
    there.
    """
    if not (directory / NAME).exists():
        return 0
    opened = Directory.open(directory)
    try:
        log = opened.log()
        try:
            return set_labels(log, labels, now)
        finally:
            log.close()
    finally:
        opened.close()
