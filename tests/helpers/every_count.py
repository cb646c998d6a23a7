"""Numbers of pages and of relevant pages of a crawl, as every reader counts them."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import lycosa
from lycosa.agents.desk import Desk
from lycosa.collection import counts
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.export import export
from lycosa.collection.judging import judge
from lycosa.collection.report import gather
from lycosa.collection.summary import summarise
from lycosa.store.log import NAME


def every_count(path: Path) -> dict[str, tuple[int, int]]:
    """Return the numbers of pages and of relevant pages by reader."""
    shown, opened = summarise(path).as_dict(), lycosa.open(path)
    with CrawlDirectory(path) as collection, closing(sqlite3.connect(path / NAME)) as db:
        report, array, threshold = gather(collection), collection.pages_array(), collection.threshold
        assert report.curve is not None
        hosts, languages = counts.hosts(collection.log, threshold), counts.languages(collection.log, threshold)
        found = {
            "show": (shown["pages"], shown["relevant"]),
            "curve of show": (shown["curve"][-1]["pages"], shown["curve"][-1]["relevant"]),
            "report": (report.pages, report.relevant),
            "curve of report": (report.curve.figure.curves[0].x[-1], report.curve.figure.curves[0].y[-1]),
            "array": (len(array), int(array.relevant.sum())),
            "pages": (len(list(collection.pages(copies=True))), len(list(collection.relevant()))),
            "hosts": (sum(host.pages for host in hosts), sum(host.relevant for host in hosts)),
            "languages": (sum(count for _, count, _ in languages), sum(relevant for *_, relevant in languages)),
            "collection": (opened.count(everything=True, copies=True), len(opened)),
            "export": (len(_exported(path, everything=True)), len(_exported(path, everything=False))),
            "column of export": (len(array), sum(_exported(path, everything=True))),
            "agents": _status(path),
            "SQL": tuple(
                db.execute(f"SELECT COUNT(*) FROM {view}").fetchone()[0] for view in ("pages", "relevant_pages")
            ),
        }
        judged = judge(path, threshold=threshold).after
    return found | {"judge": (judged.pages, judged.relevant)}


def _rows(db: sqlite3.Connection, view: str) -> int:
    return int(db.execute(f"SELECT COUNT(*) FROM {view}").fetchone()[0])


def _exported(path: Path, *, everything: bool) -> list[bool]:
    """Return whether each exported page is relevant."""
    out = io.BytesIO()
    export(path, stdout=out, everything=everything, copies=everything)
    return [json.loads(line)["relevant"] for line in out.getvalue().splitlines()]


def _status(path: Path) -> tuple[int, int]:
    async def status() -> tuple[int, int]:
        desk = Desk(path.parent)
        found = await desk.status(path.name)
        await desk.close()
        return found["pages"], found["relevant"]

    return asyncio.run(status())
