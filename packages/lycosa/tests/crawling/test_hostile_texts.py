"""Crawls of pages whose texts a database cannot hold: lone surrogates, NUL, NaN."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa
from lycosa.core.protocols import Judge, Space
from lycosa.core.table import Table
from lycosa.core.types import Judgement, Links, Page, Priorities, Rows, Step, Task, Visit
from lycosa.store.log import NAME, SqliteLog
from stored import exact

LONE = "\ud800\udfff"


class Hostile(Space):
    """Space of three pages with lone surrogates in every text."""

    async def visit(self, task: Task) -> Page:
        if task.node == "moved":
            return Page("redirect", kind="redirect", links=Links.to("end", anchors=[LONE]))
        page = Page("ok", 200, marked=f"coral {LONE} reef\0", title=f"T{LONE}itle\0", language=f"e{LONE}")
        page.etag, page.modified, page.note, page.flags = f'"{LONE}"', LONE, f"note {LONE}", [LONE, "flag"]
        page.data = {"canonical": LONE, LONE: [LONE], "raw": b"\xff", "nested": {3: LONE, "nan": math.nan}}
        if task.node == "start":
            page.links = Links.to("next", f"b{LONE}", "moved", anchors=[LONE, f"to {LONE}", f"moved {LONE} on"])
            page.links.contexts = [LONE] * 3
        return page


class Surprised(Judge):
    """Judge that stores data of all kinds."""

    threshold = 0.5

    def judge(self, page: Page, reading: Any) -> Judgement:
        data = {"words": (LONE, 1), "counts": {2: np.float32(0.5)}, "nan": math.nan, "none": None, "blob": b"\0\xff"}
        return Judgement(-0.0, np.full(len(page.links), math.nan, np.float32), data)


@dataclass
class Naming:
    """Estimator whose terms are named after page texts."""

    def learn(self, step: Step, table: Table) -> Rows:
        return step.children

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return np.ones(len(rows))

    def explain(self, row: int, table: Table) -> dict[str, float]:
        return {f"by {LONE}": 0.75, "rest": 0.25, "nothing": 0.0, "unknown": math.nan, "infinite": math.inf}


@pytest.mark.parametrize("own", [{"strategy": Naming()}, {}], ids=["own strategy", "scent"])
def test_crawl_of_hostile_texts_is_stored_and_resumed(tmp_path: Path, own: dict[str, Any]) -> None:
    given: dict[str, Any] = {"space": Hostile(), **own}
    out = tmp_path / "crawl"
    lived = list(lycosa.crawl(Surprised(), ["start"], out=out, budget=2, concurrency=1, **given))
    lived += lycosa.resume(out, topic=Surprised(), budget=9, **given)
    with closing(SqliteLog(out / NAME, readonly=True)) as log:
        log.check()
        stored = list(log.visits())
        assert [visit.node for visit in lived] == [visit.node for visit in stored]
        assert ["b", "end", "moved", "next", "start"] == sorted(visit.node for visit in stored)
        for visit, again in zip(lived, stored, strict=True):
            check(visit, again)
        texts = {value for row in log.query("SELECT * FROM visit") for value in row if isinstance(value, str)}
        assert not [text for text in texts if LONE[0] in text]
        assert 2 <= sum(bool(visit.parent) for visit in stored)
        anchors = [anchor for (anchor,) in log.rows("anchor", "parent != ''")]
        assert any(anchor.startswith("to ") for anchor in anchors)
    again = list(lycosa.resume(out, topic=Surprised(), budget=9, **given))
    assert not again


def check(visit: Visit, again: Visit) -> None:
    """Compare a visit with its stored form."""
    assert exact(visit.data) == exact(again.data)
    for name in ("title", "language", "etag", "modified", "note", "flags", "links", "terms", "relevance", "parent"):
        assert exact(getattr(visit, name)) == exact(getattr(again, name)), name
    if visit.is_page:
        assert again.title.startswith("T")
        assert "\0" in again.title
        assert "flag" in again.flags
        assert math.copysign(1.0, visit.relevance) == 1.0
        assert (["raw", "blob"], 0.5) == (
            [name for name in again.data if isinstance(again.data[name], bytes)],
            again.data["counts"][2],
        )
        assert math.isnan(again.data["nan"])
        assert [LONE, 1] == again.data["words"]
    assert all(math.isfinite(value) for value in again.priority_terms.values())
