"""Comparisons: a process of its own replays a recorded crawl in the lab, by one strategy after the other.

The crawl process takes them from the queue (`run_queued`), one at a time. The child is `python -m` with this module.

Every strategy starts from the crawl's seeds and may fetch every page that the crawl fetched, no other. What a page is
worth, and whether it counts as found, is what the crawl's judge said of it; links are judged by the interest's words.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError, LycosaError
from lycosa.people import comparisons
from lycosa.people.database import Database, Row
from lycosa.server import child
from lycosa.server.logs import log
from lycosa.server.settings import Settings, without_place

PLACE = "comparing"
"""In the server's directory, where the child writes. It may be killed: who started it sees that nothing stays there."""

EVERY = 1.0
"""Seconds between two looks at the queue."""

LONGEST = 900.0
"""Seconds that a comparison may take."""

POINTS = 200
"""Of a curve."""


# -- in the crawl process --------------------------------------------------------------------------------------


async def run_queued(settings: Settings, database: Database) -> None:
    """Do what is queued, until cancelled. While the database is away, wait."""
    started = False
    while True:
        try:
            if not started:
                await asyncio.to_thread(_clear, settings)
                await asyncio.to_thread(comparisons.requeue, database)
                started = True
            row = await asyncio.to_thread(comparisons.take, database)
            if row is not None:
                try:
                    await _do(settings, database, row)
                except (OSError, ValueError, InputError) as error:  # the next may do better
                    await asyncio.to_thread(comparisons.end, database, time.time(), row["id"], None, str(error))
                continue
        except LycosaError as error:
            log("comparison waits", "warning", why=str(error))
            started = False  # how the last one ended may not have been written
        await asyncio.sleep(EVERY)


def _clear(settings: Settings) -> None:
    shutil.rmtree(settings.data / PLACE, ignore_errors=True)


async def _do(settings: Settings, database: Database, row: Row) -> None:
    from lycosa.server.validation import check_strategy  # the child, which has this module too, need not load it

    log("comparison started", comparison=row["id"])
    strategies = json.loads(row["strategies"])
    for text in strategies:  # a row may have come from elsewhere, with a backup say
        await asyncio.to_thread(check_strategy, text)
    told = {
        "crawl": str(settings.crawl_directory(row["crawl"])),
        "strategies": strategies,
        "words": str(json.loads(row["wishes"]).get("words", "")),
        "random_seed": settings.random_seed,
        "place": str(settings.data / PLACE),
    }
    try:
        gone = partial(_deleted, database, row["id"])
        answer = await child.ask("lycosa.server.comparing", told, gone, LONGEST)
    finally:
        _clear(settings)
    reason = without_place(settings, answer[1])
    await asyncio.to_thread(comparisons.end, database, time.time(), row["id"], answer[0], reason)
    log("comparison ended", comparison=row["id"], reason=answer[1])


async def _deleted(database: Database, comparison: str) -> bool:
    try:
        return await asyncio.to_thread(database.get, "comparison", comparison) is None
    except LycosaError:
        return False


# -- in the child ----------------------------------------------------------------------------------------------


def work(told: dict[str, Any]) -> dict[str, Any]:
    """Do what was told."""
    place = Path(told["place"])
    place.mkdir(0o700, exist_ok=True)
    return compare(Path(told["crawl"]), told["strategies"], told["words"], told["random_seed"], place)


def compare(
    directory: Path, strategies: list[str], words: str, random_seed: int = 0, beside: Path | None = None
) -> dict[str, Any]:
    """The curves of some strategies on a recorded crawl, and its own. `beside`: where there is room for its pages."""
    import numpy as np

    from lycosa.lab.corpora.recorded import crawl
    from lycosa.lab.guides import guide_for
    from lycosa.lab.hunters import hunter, wants
    from lycosa.lab.indexing import Account, write_index
    from lycosa.lab.simulation import simulate
    from lycosa.lab.subjects import Subject, standing_out

    with tempfile.TemporaryDirectory(dir=beside) as place:
        account = Account()
        index = write_index(crawl(directory, account, lambda _: True), Path(place) / "index", source="crawl")
        beta, first, threshold, seeds = _recorded(directory, index)
        truth = (first & (beta >= threshold)).astype(np.float32)
        if not truth.any():
            raise InputError("this crawl has found nothing yet: there is nothing to compare by")
        words = words or " ".join(standing_out(index, np.flatnonzero(truth).tolist()))
        subject = Subject("the interest", truth, words)
        guide = guide_for(index, subject, "words", wants=wants(strategies))
        guide.beta, guide.threshold = beta, threshold
        orders = {}
        for text in strategies:
            hunts = hunter(text, index, subject, guide, budget=len(index), random_seed=random_seed)
            orders[text] = simulate(guide, hunts, seeds, len(index)).nodes
        grid = np.unique(np.linspace(1, len(index), min(POINTS, len(index))).astype(int))
        total = float(truth.sum())

        def curve(nodes: Any) -> list[int]:
            found = np.cumsum(truth[nodes]) if len(nodes) else np.zeros(1)
            return [int(found[min(at, len(found)) - 1]) for at in grid.tolist()]

        curves = []
        for text, nodes in orders.items():
            found = curve(nodes)
            curves.append({"strategy": text, "found": found, "share": [round(y / total, 4) for y in found]})
        return {"pages": grid.tolist(), "curves": curves, "recorded": curve(np.arange(len(index)))}


def _recorded(directory: Path, index: Any) -> tuple[Any, Any, float, list[int]]:
    """What the crawl said of each page when it fetched it first: score, whether its content was new; its seeds."""
    import numpy as np

    from lycosa.collection.reading import Collection
    from lycosa.core.types import Seed, Visit

    beta, first = np.zeros(len(index)), np.zeros(len(index), np.bool_)
    seen: set[int] = set()
    started: list[str] = []
    leads: dict[str, str] = {}
    with Collection(directory) as collection:
        for event in collection.log.events("kind IN ('page', 'seed', 'redirect')"):
            if isinstance(event, Seed):
                started.append(event.node)
            elif isinstance(event, Visit) and event.outcome == "redirect" and event.links.urls:
                leads.setdefault(event.node, event.links.urls[0])
            elif isinstance(event, Visit) and event.outcome == "ok":
                node = index.number_of.get(event.node)
                if node is not None and node not in seen:
                    seen.add(node)
                    beta[node], first[node] = event.worth, not event.same_as
        threshold = collection.threshold
    found = [index.number_of.get(_end(node, leads)) for node in started]
    seeds = list(dict.fromkeys(node for node in found if node is not None))
    if not seeds:
        raise InputError("none of the seeds was fetched: there is nowhere to start from")
    return beta, first, threshold, seeds


def _end(node: str, leads: dict[str, str]) -> str:
    seen: set[str] = set()
    while node in leads and node not in seen:
        seen.add(node)
        node = leads[node]
    return node


if __name__ == "__main__":
    child.serve(work)
