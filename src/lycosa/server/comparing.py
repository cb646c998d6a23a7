"""Comparisons: a process of its own replays a recorded crawl in the lab, by one strategy after the other.

Every strategy starts from the crawl's seeds and may fetch every page that the crawl fetched, no other. What a page is
worth, and whether it counts as found, is what the crawl's judge said of it; links are judged by the interest's words.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError
from lycosa.people import comparisons
from lycosa.people.database import Row
from lycosa.server import child
from lycosa.server.settings import without_place

LONGEST = 900.0
"""Seconds that a comparison may take."""

POINTS = 200
"""Of a curve."""


class Comparison(child.Job):
    """In the crawl process."""

    table, name, longest = "comparison", "comparing", LONGEST

    def gather(self, row: Row) -> dict[str, Any]:
        from lycosa.server.validation import check_strategy  # the child, which has this module too, need not load it

        strategies = json.loads(row["strategies"])
        for text in strategies:  # a row may have come from elsewhere, with a backup say
            check_strategy(text)
        interest = self.database.get("interest", row["interest"])
        return {
            "crawl": str(self.settings.crawl_directory(row["crawl"])),
            "strategies": strategies,
            "words": str(json.loads(interest["wishes"]).get("words", "")) if interest else "",
            "random_seed": self.settings.random_seed,
            "place": str(self.place),
        }

    def end(self, row: Row, task: dict[str, Any], result: dict[str, Any] | None, reason: str) -> None:
        comparisons.end(self.database, time.time(), row["id"], result, without_place(self.settings, reason))


# -- in the child ----------------------------------------------------------------------------------------------


def work(task: dict[str, Any]) -> dict[str, Any]:
    place = Path(task["place"])
    place.mkdir(0o700, exist_ok=True)
    return compare(Path(task["crawl"]), task["strategies"], task["words"], task["random_seed"], place)


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
            raise InputError("this crawl has no relevant pages yet: there is nothing to compare")
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
