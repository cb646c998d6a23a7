"""Quality of the judge's relevance decisions on recorded pages with labels.

    python benchmarks/judges.py --cache DIR CORPUS.warc.gz LABELS.tsv ... [--half report] [--crawls 8]

Topics are the classes with 20 to 400 pages; a class of a taxonomy includes those below it. They are divided into halves
by a checksum of their names: the judge was developed on one (`development`), and the other is reported (`report`). A
topic is described in three ways: by its name; by its name and three start pages; by its name and ten examples. Then all
pages of the corpus are judged by a judge that has seen all of them; the pages it was given do not count. `--crawls`
also runs crawls of 500 pages from three start pages, as `lycosa crawl` does, for so many topics, and evaluates the
judgements of the pages they fetched; with `--sets 3`, from three sets of start pages each.

    precision, recall, F1     at .5
    AP                        average precision
    error                     calibration error: ten bins of probability, their mean distance from the share of relevant
                              pages in them, weighted by their pages; over all topics together
    1.5, 3                    share of topics whose count of relevant pages is right within this factor
    cosine                    the judge `vector` at its threshold
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import pickle
import zlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lycosa
from lycosa.core.protocols import Space
from lycosa.core.types import Links, Page, Seed, Task, Visit
from lycosa.judges.probability import Probability
from lycosa.judges.vector_judge import VectorJudge
from lycosa.replay.captures import RESPONSE
from lycosa.replay.records import ArchiveIterator
from lycosa.text.tokens import stems
from lycosa.text.vocabulary import Vocabulary
from lycosa.web.html import read_body
from lycosa.web.urls import resolve

STARTS, EXAMPLES, LEAST, MOST, BUDGET = 3, 10, 20, 400, 500

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


def read(path: Path, cache: Path | None) -> tuple[dict[str, Page], dict[str, str]]:
    """Read the pages of a WARC file, and its redirects."""
    kept = cache / f"{path.name}.pages" if cache is not None else None
    if kept is not None and kept.exists():
        found: tuple[dict[str, Page], dict[str, str]] = pickle.loads(kept.read_bytes())
        return found
    pages: dict[str, Page] = {}
    moved: dict[str, str] = {}
    with open(path, "rb") as file:
        for record in ArchiveIterator(file, parse_http=True):
            url = record.headers.get("WARC-Target-URI") or ""
            if int(record.record_type) != RESPONSE or "/wp/index/" in url:
                continue
            status, headers = int(record.http_headers.status_code or 0), record.http_headers
            if 300 <= status < 400:
                if target := resolve(url, [headers.get("location") or ""])[0]:
                    moved[url] = target
                continue
            document = read_body(record.reader.read(), url, headers.get("content-type") or "")
            pages[url] = Page(
                "ok", 200, title=document.title, marked=document.marked, main=document.main, links=document.links,
                headings=document.headings, lead=document.lead, language=document.language, node=url,
            )  # fmt: skip
    if kept is not None:
        kept.write_bytes(pickle.dumps((pages, moved)))
    return pages, moved


class Corpus:
    """Recorded pages with labels."""

    def __init__(self, path: Path, labels: Path, cache: Path | None, most: int) -> None:
        self.name = path.name.split(".")[0]
        self.pages, self.moved = read(path, cache)
        self.topics = topics(labels, self.pages, most)
        vocabulary, judge = Vocabulary(), Probability("coral")
        self.visits: dict[str, Visit] = {}
        for url, page in self.pages.items():
            page.node = url
            reading = vocabulary.read(page)
            judgement = judge.judge(page, reading)
            visit = Visit(
                url, "page", "ok", 1, title=page.title, language=page.language, terms=reading.terms, links=page.links
            )
            visit.data = {key: judgement.data[key] for key in ("vector", "quality") if key in judgement.data}
            vocabulary.learn(visit)
            self.visits[url] = visit
        self.stems = vocabulary.terms


def topics(path: Path, pages: dict[str, Page], most: int) -> dict[str, set[str]]:
    """Return the pages of each class, including its subclasses."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in path.read_bytes().decode().split("\n")[1:]:
        url, *label = row.split("\t")[:2]
        if url in pages and label:
            parts = label[0].split("/")
            for depth in range(len(parts)):
                found["/".join(parts[: depth + 1])].add(url)
    sizes = {name: len(members) for name, members in sorted(found.items())}
    return {
        name: found[name]
        for name, size in sizes.items()
        # a name that consists of stop words describes nothing
        if LEAST <= size <= most and name != "other" and stems(readable_name(name))
    }


def half_of(name: str) -> str:
    """Return the half of a topic, as in the experiments with the strategy scent."""
    return "report" if zlib.crc32(name.encode()) % 2 else "development"


def readable_name(topic: str) -> str:
    """Return a topic's name as a user would type it."""
    return topic.split("/")[-1].replace("_", " ")


def share_features(judge: Probability, kept: dict[str, Any]) -> None:
    """Cache page features, which are the same for all topics if the pages are judged in the same order."""
    fresh = judge._reader._features

    def features(found: Any, terms: Any, node: str, *rest: Any) -> Any:
        if node not in kept:
            kept[node] = fresh(found, terms, node, *rest)
        return kept[node]

    judge._reader._features = features  # type: ignore[method-assign]


def taught(
    corpus: Corpus, topic: str, nodes: Iterable[str], starts: list[str], examples: list[str], kept: dict[str, Any]
) -> Probability:
    """Return a judge that has seen these pages and has learned from them."""
    shown = Probability.from_examples([corpus.pages[url] for url in examples]) if examples else None
    judge = Probability(readable_name(topic), examples=shown)
    judge._reader.add_stems(corpus.stems)
    share_features(judge, kept)
    for url in starts:
        judge.start(Seed(url))
    for url in nodes:
        visit = replace(corpus.visits[url], terms=replace(corpus.visits[url].terms, new=[]))
        judge.learn(visit)
    for _ in range(2):  # in the second round it knows which pages are off the topic
        update = judge.next_update(0.0, force=True)
        if update is not None:
            judge.adopt(update)
    return judge


@dataclass
class Result:
    """Judgements of the pages of one topic, with their labels."""

    description: str
    topic: str
    relevance: Column
    truth: Column


def f1(predicted: Column, truth: Column) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    right = float((predicted & truth).sum())
    precision, recall = right / max(predicted.sum(), 1), right / max(truth.sum(), 1)
    return precision, recall, 2 * right / max(predicted.sum() + truth.sum(), 1)


def average_precision(relevance: Column, truth: Column) -> float:
    hits = np.flatnonzero(truth[np.argsort(-relevance, kind="stable")]) + 1
    return float(np.mean(np.arange(1, len(hits) + 1) / hits)) if len(hits) else 0.0


def error(results: list[Result]) -> float:
    """Return the calibration error over all results."""
    relevance, truth = np.concatenate([r.relevance for r in results]), np.concatenate([r.truth for r in results])
    bins = np.minimum((relevance * 10).astype(int), 9)
    return float(
        sum(abs(relevance[bins == b].mean() - truth[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins))
    )


def show(corpus: str, results: list[Result], line: float = 0.5) -> None:
    """Print a row of the table for each description of the topic."""
    for description in dict.fromkeys(r.description for r in results):
        some = [r for r in results if r.description == description]
        rates = np.array([f1(r.relevance >= line, r.truth) for r in some]).mean(axis=0)
        ap = np.mean([average_precision(r.relevance, r.truth) for r in some])
        factors = np.array([max((r.relevance >= line).sum(), 1) / max(r.truth.sum(), 1) for r in some])
        factors = np.maximum(factors, 1 / factors)
        off = f"{error(some):.3f}" if line == 0.5 else "-"
        print(
            f"| {corpus} | {description} | {len(some)} | {rates[0]:.2f} | {rates[1]:.2f} | {rates[2]:.3f} | {ap:.3f} "
            f"| {off} | {(factors <= 1.5).mean():.2f} | {(factors <= 3).mean():.2f} |",
            flush=True,
        )


def cosine(corpus: Corpus, topic: str) -> Column:
    """Return the judge `vector`'s scores of all pages, with idf learned from them."""
    vocabulary, query = Vocabulary(), VectorJudge(readable_name(topic))
    vocabulary.follow(corpus.stems)
    for visit in corpus.visits.values():
        vocabulary.learn(visit)
    ids = [vocabulary.id_of[stem] for stem in query.weights if stem in vocabulary.id_of]
    idf = vocabulary.idf(np.arange(len(corpus.stems)))
    length = float(np.sqrt((idf[ids] ** 2).sum()))
    scores = []
    for visit in corpus.visits.values():
        vector = (1 + np.log(visit.terms.counts)) * idf[visit.terms.ids]
        hit = np.isin(visit.terms.ids, ids)
        norm = float(np.sqrt(vector @ vector)) * length
        scores.append(float((vector[hit] * idf[visit.terms.ids[hit]]).sum()) / norm if norm else 0.0)
    return np.array(scores)


def pools(corpus: Corpus, chosen: list[str], plain: bool) -> list[Result]:
    """Judge all pages of the corpus, for each topic and description."""
    nodes, results, kept_features = list(corpus.pages), [], {}  # type: ignore[var-annotated]
    for topic in chosen:
        members = sorted(corpus.topics[topic])
        chance = np.random.default_rng(zlib.crc32(topic.encode()))
        shown = [str(url) for url in chance.permutation(members)[: min(EXAMPLES, len(members) // 2)]]
        truth = np.array([url in corpus.topics[topic] for url in nodes])
        if plain:
            results.append(Result("cosine", topic, cosine(corpus, topic), truth))
            continue
        for description, starts, examples in (
            ("name", [], []),
            ("name and 3 start pages", shown[:STARTS], []),
            ("name and 10 examples", [], shown),
        ):
            judge = taught(corpus, topic, nodes, starts, examples, kept_features)
            kept = ~np.isin(nodes, starts + examples)
            results.append(Result(description, topic, judge.relevances_now()[kept].astype(float), truth[kept]))
    return results


async def crawled(corpus: Corpus, topic: str, starts: list[str]) -> list[Visit]:
    """Return the visits of a crawl with default options."""
    crawling = lycosa.crawl(readable_name(topic), starts, space=Recorded(corpus.pages, corpus.moved), budget=BUDGET)
    visits = [visit async for visit in crawling if visit.is_page]
    assert crawling.engine is not None
    for visit, relevance in zip(visits, crawling.engine.judge.relevances_now().tolist(), strict=True):  # type: ignore[attr-defined]
        visit.updated_relevance = relevance
    return visits


def crawls(corpus: Corpus, chosen: list[str], sets: int = 1) -> list[Result]:
    """Evaluate the pages that crawls fetch."""
    results = []
    for topic, place in itertools.product(chosen, range(sets)):
        chance = np.random.default_rng(zlib.crc32(topic.encode()))
        some = chance.permutation(sorted(corpus.topics[topic]))[STARTS * place :][:STARTS]
        starts = [str(url) for url in some]
        visits = asyncio.run(crawled(corpus, topic, starts))
        relevance = np.array([0.0 if visit.same_as else visit.relevance_now for visit in visits])
        truth = np.array([visit.node in corpus.topics[topic] for visit in visits])
        results.append(Result("crawl of 500 pages", topic, relevance, truth))
        relevant = int((relevance >= 0.5).sum())
        print(
            f"<!-- {corpus.name}: {topic}: judged relevant {relevant} of {len(visits)}, true {int(truth.sum())} -->",
            flush=True,
        )
    return results


def draw(path: Path, results: list[Result]) -> None:
    """Draw the share of relevant pages for each tenth of probability; a calibrated judge is on the diagonal."""
    from lycosa.drawing.figure import Curve, Figure
    from lycosa.drawing.svg import svg

    relevance, truth = np.concatenate([r.relevance for r in results]), np.concatenate([r.truth for r in results])
    bins = np.minimum((relevance * 10).astype(int), 9)
    here = [bins == b for b in np.unique(bins)]
    measured = Curve("pages", [relevance[each].mean() for each in here], [truth[each].mean() for each in here])
    title = f"{len(results)} crawls, {len(relevance):,} pages"
    axes = ("probability given by the judge", "share that is relevant")
    figure = Figure("calibration", title, *axes, [measured, Curve("calibrated", [0, 1], [0, 1])])
    path.write_text(svg(figure, standalone=True), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="WARC files, each followed by its labels")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--half", default="report", choices=["report", "development"])
    parser.add_argument("--most", type=int, default=MOST, help="maximum pages per topic")
    parser.add_argument("--topics", type=int, default=0, help="maximum number of topics")
    parser.add_argument("--crawls", type=int, default=0, help="number of topics to crawl for")
    parser.add_argument("--sets", type=int, default=1, help="sets of start pages for each of them")
    parser.add_argument("--no-pools", action="store_true", help="do not judge all pages")
    parser.add_argument("--no-cosine", action="store_true")
    parser.add_argument("--plot", type=Path, help="draw how well crawls are calibrated")
    given = parser.parse_args()
    print("| corpus | description | topics | precision | recall | F1 | AP | error | 1.5 | 3 |\n" + "|---" * 10 + "|")
    drawn: list[Result] = []
    for path, labels in zip(given.files[::2], given.files[1::2], strict=True):
        corpus = Corpus(path, labels, given.cache, given.most)
        chosen = [topic for topic in corpus.topics if half_of(topic) == given.half]
        chosen = chosen[: given.topics] if given.topics else chosen
        if not given.no_pools:
            if not given.no_cosine:
                show(corpus.name, pools(corpus, chosen, plain=True), line=0.1)
            show(corpus.name, pools(corpus, chosen, plain=False))
        if given.crawls:
            some = sorted(chosen, key=lambda topic: zlib.crc32(topic[::-1].encode()))[: given.crawls]
            drawn += (crawling := crawls(corpus, some, given.sets))
            show(corpus.name, crawling)
    if given.plot is not None and drawn:
        draw(given.plot, drawn)


if __name__ == "__main__":
    main()
