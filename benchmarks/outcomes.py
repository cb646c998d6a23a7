"""Relevant pages found by scent with the default judge and with the judge `vector`, on recorded pages with labels.

    python benchmarks/outcomes.py --cache DIR CORPUS.warc.gz LABELS.tsv [--description examples] [--topics 10]

Crawls with the options of `lycosa crawl`, from three pages of the topic (on) and from three others (off), given the
topic's name or twenty of its pages. Topics, their halves and the corpora are those of benchmarks/judges.py. The
difference is paired, its interval is 95 % by bootstrap over crawls.
"""

from __future__ import annotations

import argparse
import asyncio
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from judges import Corpus, Recorded, half_of, readable_name

import lycosa
from lycosa.judges.examples import centroid
from lycosa.judges.probability import Probability
from lycosa.judges.vector_judge import VectorJudge
from lycosa.strategies import strategy

EXAMPLES, STARTS, AT = 20, 3, (100, 500, 1000)
JUDGES = ("vector", "probability")


def crawl(corpus: Corpus, topic: str, judge: str, seeds: list[str], examples: list[str], budget: int) -> Any:
    """Return a crawl that is ready to run."""
    space = Recorded(corpus.pages, corpus.moved)
    if not examples:
        return lycosa.crawl(readable_name(topic), seeds, space=space, budget=budget, judge=judge)
    shown = [corpus.pages[url] for url in examples]
    known: Any = (
        VectorJudge(centroid(shown), 0.2, stemmed=True)
        if judge == "vector"
        else Probability(examples=Probability.from_examples(shown))
    )
    facts = {"threshold": known.threshold, "stems": known.weights, "probability": judge == "probability"}
    scent = strategy("scent", seed=0, budget=budget, words="", **facts)
    return lycosa.crawl(known, seeds, space=space, budget=budget, strategy=scent)


async def found(crawling: Any, wanted: set[str], ats: list[int]) -> list[int]:
    """Return the numbers of wanted pages among the first `ats` pages of a crawl."""
    hits = np.cumsum([visit.node in wanted async for visit in crawling if visit.is_page])
    return [int(hits[min(at, len(hits)) - 1]) for at in ats]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warc", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--half", default="report", choices=["report", "development"])
    parser.add_argument("--description", default="name", choices=["name", "examples"])
    parser.add_argument("--most", type=int, default=400, help="maximum pages per topic")
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--seed-sets", type=int, default=1)
    parser.add_argument("--budget", type=int, default=500)
    given = parser.parse_args()
    corpus = Corpus(given.warc, given.labels, given.cache, given.most)
    chosen = [topic for topic in corpus.topics if half_of(topic) == given.half]
    chosen = sorted(chosen, key=lambda topic: zlib.crc32(topic[::-1].encode()))[: given.topics]
    ats, nodes = [at for at in AT if at <= given.budget], list(corpus.pages)
    counts: dict[tuple[str, str], list[list[int]]] = {}
    for topic in chosen:
        members = corpus.topics[topic]
        for number in range(given.seed_sets):
            chance = np.random.default_rng(zlib.crc32(topic.encode()) + number)
            mixed = [str(url) for url in chance.permutation(sorted(members))]
            shown = min(EXAMPLES, len(mixed) // 2) if given.description == "examples" else 0
            off = [nodes[at] for at in chance.permutation(len(nodes)) if nodes[at] not in members][:STARTS]
            for seeds, name in ((mixed[shown : shown + STARTS], "on"), (off, "off")):
                for judge in JUDGES:
                    crawling = crawl(corpus, topic, judge, seeds, mixed[:shown], given.budget)
                    got = asyncio.run(found(crawling, members - set(mixed[:shown]), ats))
                    counts.setdefault((name, judge), []).append(got)
                    print(f"<!-- {topic}, {name}, {judge}: {got} -->", flush=True)
    print("| corpus | description, seeds | pages | vector | default | difference | crawls |\n" + "|---" * 7 + "|")
    for name in ("on", "off"):
        before, now = (np.array(counts[name, judge], float) for judge in JUDGES)
        chance, apart = np.random.default_rng(0), now - before
        drawn = np.array([apart[chance.integers(0, len(apart), len(apart))].mean(0) for _ in range(4000)])
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        for nth, at in enumerate(ats):
            row = f"| {corpus.name} | {given.description}, {name} | {at}"
            means = f"{before[:, nth].mean():.1f} | {now[:, nth].mean():.1f} | {apart[:, nth].mean():+.1f}"
            print(f"{row} | {means} [{low[nth]:+.1f}, {high[nth]:+.1f}] | {len(apart)} |")


if __name__ == "__main__":
    main()
