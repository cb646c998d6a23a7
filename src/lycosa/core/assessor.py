"""Step 3 of the loop: from a page that came to the visit that the log keeps of it. Nobody looks at the page after.

Paper items:
    gouriten-alpha-beta: `--judge`. Test: test_checks.py::test_every_topic_passes. Departs: a judge of one's own may go
        below 0.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.mark import Mark
from lycosa.core.protocols import Keeper, Reader, Topic, Warden
from lycosa.core.table import MAX_HOPS, Table
from lycosa.core.tally import Tally
from lycosa.core.types import Judgement, Links, Outcome, Page, Task, Terms, Visit, as_stored

MOST_SOURCED = 100_000
"""Addresses that a crawl takes from sitemaps, feeds and lists."""


class Assessor:
    """Reads and judges what a space found, and says what has become of a page that was known."""

    def __init__(
        self,
        topic: Topic,
        judge_name: str,
        table: Table,
        tally: Tally,
        *,
        reader: Reader | None,
        warden: Warden,
        keeper: Keeper,
        mark: Mark,
    ) -> None:
        self.topic, self.judge_name, self.reader, self.warden, self.keeper = topic, judge_name, reader, warden, keeper
        self.table, self.tally, self.mark = table, tally, mark

    def assess(self, task: Task, page: Page) -> Visit:
        """The visit as it is stored."""
        self._refuse(task, page)
        visit = Visit(
            node=task.node,
            kind=page.kind if task.kind in ("page", "sitemap") else task.kind,
            outcome=page.outcome,
            pick=task.pick or self.tally.picks,
            arm=task.arm,
            score=task.score,
            attempt=task.attempt,
            retry_at=page.retry_at,
            hops=task.hops,
            origin=task.origin,
            started=page.started,
            ended=page.ended,
            address=page.address,
            status=page.status,
            size=page.size,
            title=page.title,
            language=page.language,
            etag=page.etag,
            modified=page.modified,
            flags=page.flags,
            note=page.note,
            data=page.data,
            digest=page.exchange.digest if page.exchange is not None else b"",
            links=page.links,
        )
        if page.exchange is not None and (kind := _media_type(page.exchange.header("content-type"))):
            visit.data = {**visit.data, "type": kind}
        if task.follows:
            visit.data = {**visit.data, "follows": task.follows}
            if visit.outcome == "ok" and self.keeper.is_same(visit, page):
                visit.outcome, visit.links = "unchanged", Links()
            if visit.status == 304:
                visit.digest = b""
        if visit.outcome == "ok" and visit.kind in ("page", "sitemap", "probe", "revisit"):
            self._read(visit, page)
        self.keeper.compare(visit, page)
        return visit

    def _refuse(self, task: Task, page: Page) -> None:
        """What is not taken as it came: deadly pages, redirects without end, pages that pose as sources."""
        if page.outcome == "ok" and self.mark.is_poison(task.node):
            _empty(page, "unreadable", "the crawl died twice in it: left alone")
        if page.kind == "redirect" and (task.hops >= MAX_HOPS or (task.follows and page.links.urls == [task.node])):
            itself = task.hops < MAX_HOPS
            page.kind = "page"
            _empty(page, "loop", "a redirect to itself" if itself else f"more than {MAX_HOPS} redirects in a row")
        nested = task.kind == "sitemap" and task.row >= 0 and (self.table.parent[task.row] >= 0 or task.follows > 0)
        if nested and page.kind == "page" and page.outcome == "ok":  # only what the user named may be either
            _empty(page, "unwanted", "named as a source of addresses, but is a page")

    def _read(self, visit: Visit, page: Page) -> None:
        """Read and judge the content."""
        if visit.kind == "sitemap" and not visit.follows:
            page.links.keep(MOST_SOURCED - self.tally.sourced)
        page.node = visit.node
        reading = self.reader.read(page) if self.reader is not None else None
        if reading is not None:
            visit.terms, visit.simhash = reading.terms, reading.simhash
        if visit.kind != "probe":
            self._judge(visit, self.topic.judge(page, reading))
        if not visit.is_version:  # nor one of the collection: its words are known, but don't count
            visit.beta, visit.terms = 0.0, Terms(new=visit.terms.new)
        self.warden.recognise(visit, reading)

    def _judge(self, visit: Visit, judgement: Judgement) -> None:
        visit.judge = self.judge_name
        visit.beta = float(judgement.beta) if math.isfinite(judgement.beta) else 0.0
        visit.links.alphas = _column("alphas", judgement.alphas, visit)
        for name, column in judgement.facets.items():
            visit.links.facets[name] = _column(f"numbers of the facet {name!r}", column, visit)
        if judgement.data:
            visit.data = {**visit.data, **as_stored(judgement.data)}


@lru_cache(maxsize=256)
def _media_type(value: str) -> str:
    """A content type without its parameters; empty for what is none."""
    kind = value.partition(";")[0].strip().lower()
    return kind if re.fullmatch(r"[\w.+*-]{1,60}/[\w.+*-]{1,80}", kind, re.ASCII) else ""


def _empty(page: Page, outcome: Outcome, note: str) -> None:
    page.outcome, page.note, page.links = outcome, note, Links()


def _column(what: str, numbers: Any, visit: Visit) -> NDArray[np.float32]:
    """What a topic says of each link, as it is stored."""
    column = np.asarray(numbers, np.float32)
    if len(column) != len(visit.links):
        raise InputError(
            f"the topic gave {len(column)} {what} for {len(visit.links)} links of {visit.node}: "
            "lycosa.checks.check_topic tells what a topic has to do"
        )
    # A sum is no number if one of them is none. It takes a step less to find that out.
    return column if math.isfinite(np.add.reduce(column)) or np.isfinite(column).all() else np.nan_to_num(column)
