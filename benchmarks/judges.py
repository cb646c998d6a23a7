"""Quality of the judge's decisions in crawls of recorded webs with labels, and of the count of relevant pages.

    python benchmarks/judges.py FOLDER... [--crawls 8] [--skip 18] [--pages 300] [--growth] [--labels] [--count]

FOLDER has files NAME.warc.gz with labels in NAME.labels.tsv (columns url and label). Topics are labels with 20 to 400
pages, told by their names and three seeds drawn by a checksum of the name; `--crawls` limits them per web, and
`--skip 18` leaves out those that the judge was developed on. Crawls have
the default judge and strategy. Seeds do not count. All figures are means over webs, so that no web counts more.

    F1, best                of the pages called relevant; with the best threshold for each crawl
    AP                      average precision
    1.5, 3                  crawls whose count is right within this factor
    constant                the same within 1.5 for the constant that is best on the other webs
    held, ratio             crawls whose interval holds the true count; its upper end over the lower one, median
    seeds                   relevant seeds called irrelevant
    relevant at 50, ...     relevant pages among the first 50, 100 and 200, as a share of what could be had

`--growth` runs each crawl to 400 pages and compares the growth of the count with that of the truth in steps of 50.
`--labels` answers the crawl's questions truthfully, one to five, 20 and 50. `--count` answers 10, 20 and 30 questions
of `lycosa label --count` truthfully, and shows how good the count of the sample is.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lycosa
from lycosa.collection.counting import Answers, Sample, draw_frame
from lycosa.collection.estimate import by_uncertainty, estimate
from lycosa.core.engine import Engine
from lycosa.core.protocols import Space
from lycosa.core.types import Label, Links, Page, Task, Visit
from lycosa.replay.captures import RESPONSE
from lycosa.replay.records import ArchiveIterator
from lycosa.web.html import read_body
from lycosa.web.urls import resolve

SEEDS, LEAST, MOST = 3, 20, 400
STEPS = range(100, 401, 50)
COUNTS = (10, 20, 30)
NO_TOPICS = ("lang:", "activity:", "blog:")
Column = NDArray[Any]


@dataclass
class Recorded(Space):
    """Space of recorded pages."""

    pages: dict[str, Page]
    moved: dict[str, str]

    async def visit(self, task: Task) -> Page:
        if task.node in self.moved:
            return Page("redirect", kind="redirect", status=301, links=Links.to(self.moved[task.node]))
        page = self.pages.get(task.node)
        if page is None:
            return Page("gone", status=404)
        links = page.links
        return replace(page, links=replace(links, urls=links.urls[:], facets={}), data={}, flags=[])


def read(path: Path) -> Recorded:
    """Read the pages and redirects of a WARC file."""
    web = Recorded({}, {})
    with open(path, "rb") as file:
        for record in ArchiveIterator(file, parse_http=True):
            url = record.headers.get("WARC-Target-URI") or ""
            if int(record.record_type) != RESPONSE or "/wp/index/" in url:
                continue
            status, headers = int(record.http_headers.status_code or 0), record.http_headers
            if 300 <= status < 400:
                if target := resolve(url, [headers.get("location") or ""])[0]:
                    web.moved[url] = target
                continue
            document = read_body(record.reader.read(), url, headers.get("content-type") or "")
            web.pages[url] = Page(
                "ok", 200, title=document.title, marked=document.marked, main=document.main, links=document.links,
                headings=document.headings, lead=document.lead, language=document.language, node=url,
            )  # fmt: skip
    return web


def topics(path: Path, pages: dict[str, Page]) -> dict[str, set[str]]:
    """Return the pages of each label; a class of a taxonomy includes those below it."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in path.read_bytes().decode().split("\n")[1:]:
        url, *label = row.split("\t")[:2]
        if url in pages and label and not label[0].startswith(NO_TOPICS):
            parts = label[0].split("/")
            for depth in range(len(parts)):
                found["/".join(parts[: depth + 1])].add(url)
    return {name: found[name] for name in sorted(found, key=checksum) if LEAST <= len(found[name]) <= MOST}


def checksum(name: str) -> int:
    return zlib.crc32(name[::-1].encode())


def readable_name(topic: str) -> str:
    """Return a topic's name as a user would type it."""
    return topic.split("/")[-1].translate(str.maketrans("_:|", "   "))


@dataclass
class Crawled:
    """A crawl of one topic with its labels; seeds do not count."""

    web: str
    topic: str
    members: set[str]
    seeds: list[str]
    visits: list[Visit] = field(default_factory=list)
    engine: Engine | None = None

    def measure(self) -> dict[str, float]:
        """Return the measures of the pages so far."""
        assert self.engine is not None
        relevances = self.engine.model_updates.relevances_now().astype(float)
        is_seed = np.array([visit.node in self.seeds for visit in self.visits])
        truth = np.array([visit.node in self.members for visit in self.visits])
        told = estimate(relevances[~is_seed], 0.5, int((~is_seed).sum()), probability=True)
        all_told = estimate(relevances, 0.5, len(relevances), True, self.engine.model_updates.count_widths)
        known = int(is_seed.sum())  # the interval of the summary, less the seeds
        low, high = max(all_told.low - known, 0), all_told.high - known
        called, true = (relevances >= 0.5)[~is_seed], truth[~is_seed]
        factor = ratio(told.relevant, int(true.sum()))
        return {
            "F1": f1(called, true), "best": best_f1(relevances[~is_seed], true),
            "AP": average_precision(relevances[~is_seed], true), "1.5": factor <= 1.5, "3": factor <= 3,
            "held": low <= true.sum() <= high, "ratio": high / max(low, 1), "told": told.relevant,
            "true": int(true.sum()), "seeds": float((relevances[is_seed] < 0.5).mean()) if known else 0.0,
        }  # fmt: skip

    def found(self, pages: int) -> float:
        """Return the relevant pages among the first ones, as a share of what could be had."""
        relevant = sum(visit.node in self.members for visit in self.visits[:pages] if visit.node not in self.seeds)
        return relevant / min(pages - SEEDS, len(self.members) - SEEDS)

    def answer(self, count: int) -> None:
        """Answer the questions that the crawl would ask."""
        assert self.engine is not None
        relevances = self.engine.model_updates.relevances_now()
        some = [self.visits[at].node for at in by_uncertainty(relevances, 0.5, True)]
        asked = [node for node in some if node not in self.seeds and relevances[self.place(node)] not in (0.0, 1.0)]
        labels = [Label(node, node in self.members) for node in asked[:count]]
        self.engine.add_labels(labels)

    def count(self) -> Iterator[dict[str, float]]:
        """Yield how good the count is after so many answers of the sample; seeds do not count."""
        assert self.engine is not None
        relevances = self.engine.model_updates.relevances_now()
        numbers = np.array([(zlib.crc32(visit.node.encode()) << 20) + at for at, visit in enumerate(self.visits)])
        truth = dict(zip(numbers.tolist(), (visit.node in self.members for visit in self.visits), strict=True))
        is_seed = (visit.node in self.seeds for visit in self.visits)
        seeds: Answers = {number: True for number, known in zip(numbers.tolist(), is_seed, strict=True) if known}
        frame, answers = draw_frame(numbers, relevances, seeds), dict[int, bool | None]()
        true = sum(truth[first] for first in frame.ranked.tolist())
        for count in range(1, max(COUNTS) + 1):
            answers |= {page.first: truth[page.first] for page in Sample(frame, answers).draw(1)}
            if count in COUNTS:
                expected, low, high = map(round, Sample(frame, answers).count())
                right, held = ratio(expected, true) <= 1.5, low <= true <= high
                yield {"answers": count, "1.5": right, "held": held, "ratio": high / max(low, 1)}

    def place(self, node: str) -> int:
        return next(at for at, visit in enumerate(self.visits) if visit.node == node)


def ratio(one: float, other: float) -> float:
    a, b = max(one, 1), max(other, 1)
    return max(a / b, b / a)


def f1(predicted: Column, truth: Column) -> float:
    return 2 * float((predicted & truth).sum()) / max(predicted.sum() + truth.sum(), 1)


def best_f1(relevances: Column, truth: Column) -> float:
    """Return F1 at the best threshold."""
    right = np.cumsum(truth[np.argsort(-relevances, kind="stable")])
    return float((2 * right / (np.arange(1, len(truth) + 1) + max(truth.sum(), 1))).max()) if len(truth) else 0.0


def average_precision(relevances: Column, truth: Column) -> float:
    hits = np.flatnonzero(truth[np.argsort(-relevances, kind="stable")]) + 1
    return float(np.mean(np.arange(1, len(hits) + 1) / hits)) if len(hits) else 0.0


async def crawl(web: Recorded, crawled: Crawled, budget: int, steps: Any = ()) -> list[dict[str, float]]:
    """Crawl with default options; return the measures at each number of pages in `steps`, and at the end."""
    crawling = lycosa.crawl(readable_name(crawled.topic), crawled.seeds, space=web, budget=budget)
    rows = []
    async for visit in crawling:
        crawled.engine = crawling.engine
        if visit.is_page:
            crawled.visits.append(visit)
            if len(crawled.visits) in steps:
                assert crawled.engine is not None
                crawled.engine.model_updates.update_model(force=True)
                rows.append(crawled.measure())
    return rows or [crawled.measure()]


def crawls(web: str, recorded: Recorded, labels: Path, most: int, skip: int) -> Iterator[Crawled]:
    chosen = topics(labels, recorded.pages)
    for topic, members in list(chosen.items())[skip : skip + most]:
        chance = np.random.default_rng(zlib.crc32(topic.encode()))
        yield Crawled(web, topic, members, [str(url) for url in chance.permutation(sorted(members))[:SEEDS]])


def over_webs(rows: list[dict[str, Any]], name: str) -> float:
    by_web = defaultdict(list)
    for row in rows:
        by_web[row["web"]].append(float(row[name]))
    return float(np.mean([np.mean(values) for values in by_web.values()]))


def constant(rows: list[dict[str, Any]]) -> float:
    """Return how often the constant that is best on the other webs is right within 1.5."""
    right = []
    for row in rows:
        others = [other["true"] for other in rows if other["web"] != row["web"]] or [row["true"]]
        best = max(range(5, 200), key=lambda count: sum(ratio(count, true) <= 1.5 for true in others))
        right.append({"web": row["web"], "right": ratio(best, row["true"]) <= 1.5})
    return over_webs(right, "right")


def show(rows: list[dict[str, Any]]) -> None:
    names = ["F1", "best", "AP", "1.5", "3", "constant", "held", "ratio", "seeds", "at 50", "at 100", "at 200"]
    print("| web | crawls | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 2) + "|")
    for web in [*dict.fromkeys(row["web"] for row in rows), "mean"]:
        some = [row for row in rows if web in (row["web"], "mean")]
        values = {name: over_webs(some, name) for name in names if name not in ("constant", "ratio")}
        values |= {
            "constant": constant(rows if web == "mean" else some),
            "ratio": float(np.median([r["ratio"] for r in some])),
        }
        print(f"| {web} | {len(some)} | " + " | ".join(f"{values[name]:.2f}" for name in names) + " |", flush=True)


def show_growth(steps: list[list[dict[str, float]]]) -> None:
    errors = []
    for rows in steps:
        for before, after in pairwise(rows):
            if min(before["told"], before["true"], after["told"], after["true"]) > 0:
                errors.append(abs(math.log(after["told"] / before["told"] * before["true"] / after["true"])))
    print(f"growth within 1.3 of the true one: {np.mean(np.array(errors) <= math.log(1.3)):.2f} of {len(errors)} steps")


def show_labels(changes: dict[int, list[tuple[float, float]]]) -> None:
    for count, pairs in changes.items():
        before, after = np.array(pairs).T
        lower = float(np.mean(after < before - 0.05))
        print(f"{count} labels: F1 {before.mean():.2f} -> {after.mean():.2f}, lower by .05 in {lower:.2f}", flush=True)


def show_counts(rows: list[dict[str, Any]]) -> None:
    for count in COUNTS if rows else ():
        some = [row for row in rows if row["answers"] == count]
        wide = float(np.median([row["ratio"] for row in some]))
        values = f"within 1.5 {over_webs(some, '1.5'):.2f}, held {over_webs(some, 'held'):.2f}, ratio {wide:.1f}"
        print(f"{count} answers of the sample, {len(some)} crawls: {values}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="folders with WARC files and their labels")
    parser.add_argument("--crawls", type=int, default=8, help="maximum number of topics per web")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first topics of each web")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--webs", help="only these, separated by commas")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--labels", action="store_true")
    parser.add_argument("--count", action="store_true")
    given = parser.parse_args()
    rows, steps, counts = [], [], list[dict[str, Any]]()
    changes: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for labels in sorted(path for folder in given.folders for path in folder.glob("*.labels.tsv")):
        web = labels.name.removesuffix(".labels.tsv")
        archive = next(
            labels.with_name(f"{web}{end}.warc.gz")
            for end in ("-blind", "")
            if labels.with_name(f"{web}{end}.warc.gz").exists()
        )
        if given.webs and web not in given.webs.split(","):
            continue
        recorded = read(archive)
        for crawled in crawls(web, recorded, labels, given.crawls, given.skip):
            try:
                *some, last = asyncio.run(
                    crawl(recorded, crawled, 400 if given.growth else given.pages, STEPS if given.growth else ())
                )
            except lycosa.InputError as error:
                print(f"{web}, {crawled.topic}: {error}", flush=True)
                continue
            steps.append([*some, last])
            found = {f"at {pages}": crawled.found(pages) for pages in (50, 100, 200)}
            rows.append({"web": web, **last, **found})
            if given.count:
                counts += [{"web": web, **row} for row in crawled.count()]
            if given.labels:
                before = last["F1"]
                for count, more in ((1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (20, 15), (50, 30)):
                    crawled.answer(more)
                    changes[count].append((before, crawled.measure()["F1"]))
            print(
                f"<!-- {web}: {crawled.topic}: told {last['told']}, true {last['true']} of {len(crawled.visits)} -->",
                flush=True,
            )
    show(rows)
    if given.growth:
        show_growth(steps)
    show_labels(changes)
    show_counts(counts)


if __name__ == "__main__":
    main()
