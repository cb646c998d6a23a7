"""A plugin of Lycosa: a strategy, a command and an export format."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import IO, Annotated
from urllib.parse import urlsplit

import numpy as np

import lycosa
from lycosa.collection.export import ExportFormat
from lycosa.collection.export.selection import Selection, WriteResult
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step


class Nearby:
    """Prefers promising link texts, and pages near the seeds."""

    def __init__(self, per_link: float = 0.1) -> None:
        self.per_link = per_link

    def learn(self, step: Step, table: Table) -> Rows:
        return step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        priorities: Priorities = table.link_relevance_max[rows] - self.per_link * table.depth[rows].astype(np.float64)
        return priorities


def hosts(
    directory: Annotated[Path, "DIR", "The crawl's directory."],
    *,
    limit: Annotated[int, "-n", "Maximum number of hosts."] = 10,
) -> None:
    """Count the relevant pages of each host."""
    counts = Counter(urlsplit(page.url).hostname for page in lycosa.open(directory).pages(text=False))
    for host, count in counts.most_common(limit):
        print(f"{count:6,}  {host}")


def write_titles(pages: Selection, out: IO[bytes]) -> WriteResult:
    done = WriteResult()
    for _, visit in pages.pages():
        out.write(f"{visit.title}\t{visit.node}\n".encode("utf-8", "replace"))
        done.pages += 1
    return done


TITLES = ExportFormat("titles", write_titles, (".titles",), "any editor", streams=True)
