"""How well the judge `vector` ranks pages, for each tf and idf, and what its threshold lets through.

    python benchmarks/judges.py PAGES.warc.gz LABELS.tsv [--exclude /wp/index/] [--least 20] [--most 600]

LABELS has an address and a class a line, a tab between them; a class may be a path (Science/Physics), and then every
branch is one, too. A topic is made of each class in two ways: the words of its name and the four that stand out most
in ten pages of it, and those ten pages as examples, which are then left out.

`learned` idf comes from all pages. `crawled` is the same from 300 pages, half of them of the class, as a crawl that
goes well would meet them: it is drawn with the labels, so it flatters, and is no fair match for the others. The shipped
background was counted in an encyclopaedia; on the same one it is at home.

Told are means over the classes: average precision, precision at the number of relevant pages; then what a threshold
lets through with log and `crawled`, where it lets anything through. The classes are dealt into two halves, A and B.
"""

from __future__ import annotations

import argparse
import random
import zlib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Page
from lycosa.replay.captures import RESPONSE
from lycosa.replay.reader import ArchiveIterator
from lycosa.text.background import Background
from lycosa.text.tokens import stems
from lycosa.text.vocabulary import Vocabulary
from lycosa.topics.examples import TERMS
from lycosa.web.html import read_body

EXAMPLES, SAMPLE = 10, 300
THRESHOLDS = (0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3)

Column = NDArray[Any]


class Pages:
    """The bags of all pages, term by term."""

    def __init__(self, path: Path, exclude: str) -> None:
        self.words, self.urls, bags = Vocabulary(), [], []
        with open(path, "rb") as file:
            for record in ArchiveIterator(file, parse_http=True):
                url = record.headers.get("WARC-Target-URI") or ""
                if int(record.record_type) != RESPONSE or (exclude and exclude in url):
                    continue
                kind = record.http_headers.get("content-type") or ""
                document = read_body(record.reader.read(), url, kind)
                bag = self.words.read(document.fill(Page("ok"))).terms
                if len(bag.ids):
                    self.urls.append(url)
                    bags.append(bag)
        self.bags = bags
        self.page = np.repeat(np.arange(len(bags)), [len(bag.ids) for bag in bags])
        self.term = np.concatenate([bag.ids for bag in bags]).astype(np.intp)
        self.count = np.concatenate([bag.counts for bag in bags]).astype(np.float64)
        order = np.argsort(self.term, kind="stable")
        self.page, self.term, self.count = self.page[order], self.term[order], self.count[order]
        self.first = np.searchsorted(self.term, np.arange(len(self.words.terms) + 1))

    def idf(self, pages: list[int]) -> Column:
        """As the vocabulary learns it from these pages."""
        frequency = np.zeros(len(self.words.terms))
        for page in pages:
            frequency[self.bags[page].ids] += 1
        return np.log((len(pages) + 1) / (frequency + 0.5)) + 1.0

    def scores(self, query: dict[int, float], tf: str, idf: Column) -> Column:
        """The cosine of each page with a query."""
        weights = (1 + np.log(self.count) if tf == "log" else self.count) * idf[self.term]
        norms = np.sqrt(np.bincount(self.page, weights**2, len(self.bags)))
        dots = np.zeros(len(self.bags))
        for term, weight in query.items():
            here = slice(self.first[term], self.first[term + 1])
            dots[self.page[here]] += weights[here] * weight * idf[term]
        length = np.sqrt(sum((weight * idf[term]) ** 2 for term, weight in query.items()))
        return dots / np.maximum(norms * length, 1e-12)

    def centroid(self, pages: list[int]) -> Counter[int]:
        """The mean of the pages' unit vectors."""
        total: Counter[int] = Counter()
        for page in pages:
            vector = 1.0 + np.log(self.bags[page].counts)
            vector /= np.sqrt(vector @ vector)
            for term, value in zip(self.bags[page].ids.tolist(), vector.tolist(), strict=True):
                total[term] += value / len(pages)
        return total


def classes(path: Path, urls: list[str]) -> dict[str, set[int]]:
    """The pages of each class and branch."""
    page_of = {url: number for number, url in enumerate(urls)}
    found: dict[str, set[int]] = defaultdict(set)
    for line in path.read_bytes().decode().split("\n")[1:]:
        url, *label = line.split("\t")[:2]
        if url in page_of and label:
            parts = label[0].split("/")
            for depth in range(len(parts)):
                found["/".join(parts[: depth + 1])].add(page_of[url])
    return found


def precision(scores: Column, relevant: Column) -> tuple[float, float]:
    """Average precision, and precision at the number of relevant pages."""
    hits = relevant[np.argsort(-scores, kind="stable")]
    at = np.flatnonzero(hits) + 1
    return float(np.mean(np.arange(1, len(at) + 1) / at)), float(hits[: len(at)].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--exclude", default="", help="leave out addresses with this in them")
    parser.add_argument("--least", type=int, default=20, help="pages that a class needs")
    parser.add_argument("--most", type=int, default=600)
    given = parser.parse_args()
    pages = Pages(given.pages, given.exclude)
    everywhere = pages.idf(list(range(len(pages.bags))))
    background = Background.load()
    fixed = {"background": np.array([background.idf(term) for term in pages.words.terms])}
    fixed["none"] = np.ones(len(pages.words.terms))
    topics = {
        name: sorted(members)
        for name, members in sorted(classes(given.labels, pages.urls).items())
        if given.least <= len(members) <= given.most
    }
    ranked: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    passed: dict[tuple[str, str, float], list[tuple[float, float, float]]] = defaultdict(list)
    for name, members in topics.items():
        chance, half = random.Random(zlib.crc32(name.encode())), "AB"[zlib.crc32(name.encode()) >> 8 & 1]
        relevant = np.zeros(len(pages.bags), bool)
        relevant[members] = True
        examples = chance.sample(members, min(EXAMPLES, len(members) // 4))
        others = np.flatnonzero(~relevant).tolist()
        on_topic = chance.sample(members, min(len(members), SAMPLE // 2))
        idfs = {
            "learned": everywhere,
            "crawled": pages.idf(on_topic + chance.sample(others, SAMPLE - len(on_topic))),
            **fixed,
        }
        centroid = pages.centroid(examples)
        standing_out = sorted(centroid, key=lambda term: -centroid[term] * everywhere[term])
        named = [pages.words.id_of.get(stem) for stem in stems(name.split("/")[-1].replace("_", " "))]
        words = {term: 1.0 for term in [*named, *standing_out[:4]] if term is not None}
        kept = np.ones(len(relevant), bool)
        kept[examples] = False
        for way, query in (("words", words), ("examples", dict(centroid.most_common(TERMS)))):
            for tf in ("log", "max"):
                for kind, idf in idfs.items():
                    scores = pages.scores(query, tf, idf)[kept]
                    ranked[way, tf, kind].append(precision(scores, relevant[kept]))
                    if (tf, kind) == ("log", "crawled"):
                        for threshold in THRESHOLDS:
                            above = scores >= threshold
                            right, all_ = int((above & relevant[kept]).sum()), int(relevant[kept].sum())
                            if above.any():
                                passed[way, half, threshold].append(
                                    (right / above.sum(), right / all_, above.sum() / all_)
                                )
    print(f"{len(pages.bags)} pages, {len(topics)} classes\n")
    print("| topic | tf | idf | average precision | precision at R |\n|---|---|---|---|---|")
    for (way, tf, kind), values in sorted(ranked.items()):
        print(f"| {way} | {tf} | {kind} | {np.mean(values, 0)[0]:.3f} | {np.mean(values, 0)[1]:.3f} |")
    print("\n| topic | half | threshold | of these relevant | of the relevant found | counted / relevant |")
    print("|---|---|---|---|---|---|")
    for (way, half, threshold), values in sorted(passed.items()):
        print(f"| {way} | {half} | {threshold} | " + " | ".join(f"{x:.2f}" for x in np.mean(values, 0)) + " |")


if __name__ == "__main__":
    main()
