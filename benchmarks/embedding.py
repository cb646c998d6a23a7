"""Ranking quality of the judge `embedding` compared with `vector`, and the precision and recall of its threshold.

    python benchmarks/embedding.py PAGES.warc.gz LABELS.tsv [--exclude /wp/index/] [--blind TEXT] [--most 600]
    python benchmarks/embedding.py --web                  # the embedded web, with its own queries as words
    python benchmarks/embedding.py --cost DIRECTORY       # CPU time per page, for HTML files

All pages are ranked for each class. The topic is given as the class name with the four most characteristic words of ten
of its pages, or as those ten pages, which are then excluded. `embedding` has learned its mean page from 300 pages, as
in a crawl, of which a half or a fifth belong to the class; or it has learned nothing yet. `vector` has log tf, and idf
from all pages. `--blind` removes lines with a text, for corpora that print their labels on the page (for both judges).
`embedding + w vector` adds their scores. All figures are means over the classes.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Page, Visit
from lycosa.judges.embedding import EmbeddingJudge
from lycosa.judges.examples import TERMS
from lycosa.judges.vector_judge import VectorJudge
from lycosa.text.embeddings import unit, vectors
from lycosa.text.tokens import fold, stem_all, stems
from lycosa.text.vocabulary import Vocabulary
from lycosa.web.html import extract, read_body

EXAMPLES, SAMPLE = 10, 300
SHARES = (0.5, 0.2)
LEXICAL = (1.0, 2.0, 4.0)
THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)

Column = NDArray[Any]


class Texts:
    """Pages with their texts and bags of words."""

    def __init__(self, pages: Iterator[tuple[str, str, str]]) -> None:
        self.words, self.urls, self.bags, self.texts = Vocabulary(), [], [], []
        for url, title, marked in pages:
            bag = self.words.read(Page("ok", title=title, marked=marked)).terms
            if len(bag.ids):
                self.urls.append(url)
                self.bags.append(bag)
                self.texts.append((title, marked))
        self.page = np.repeat(np.arange(len(self.bags)), [len(bag.ids) for bag in self.bags])
        self.term = np.concatenate([bag.ids for bag in self.bags]).astype(np.intp)
        self.count = np.concatenate([bag.counts for bag in self.bags]).astype(np.float64)
        order = np.argsort(self.term, kind="stable")
        self.page, self.term, self.count = self.page[order], self.term[order], self.count[order]
        self.first = np.searchsorted(self.term, np.arange(len(self.words.terms) + 1))

    def idf(self, pages: list[int]) -> Column:
        """Return the idf that a vocabulary learns from these pages."""
        frequency = np.zeros(len(self.words.terms))
        for page in pages:
            frequency[self.bags[page].ids] += 1
        return np.log((len(pages) + 1) / (frequency + 0.5)) + 1.0

    def scores(self, query: dict[int, float], idf: Column) -> Column:
        """Return the cosine of each page with a query, for log tf."""
        weights = (1 + np.log(self.count)) * idf[self.term]
        norms = np.sqrt(np.bincount(self.page, weights**2, len(self.bags)))
        dots = np.zeros(len(self.bags))
        for term, weight in query.items():
            here = slice(self.first[term], self.first[term + 1])
            dots[self.page[here]] += weights[here] * weight * idf[term]
        length = np.sqrt(sum((weight * idf[term]) ** 2 for term, weight in query.items()))
        return dots / np.maximum(norms * length, 1e-12)

    def centroid(self, pages: list[int]) -> Counter[int]:
        """Return the mean of the pages' unit vectors."""
        total: Counter[int] = Counter()
        for page in pages:
            vector = 1.0 + np.log(self.bags[page].counts)
            vector /= np.sqrt(vector @ vector)
            for term, value in zip(self.bags[page].ids.tolist(), vector.tolist(), strict=True):
                total[term] += value / len(pages)
        return total

    def spelt(self, pages: list[int], terms: list[int]) -> list[str]:
        """Return the most frequent spelling of each stem on some pages."""
        wanted = {self.words.terms[term] for term in terms}
        seen: dict[str, Counter[str]] = defaultdict(Counter)
        for page in pages:
            tokens = fold(" ".join(self.texts[page])).split()
            for token, stem in zip(tokens, stem_all(tokens), strict=True):
                if stem in wanted:
                    seen[stem][token.decode("utf-8", "ignore")] += 1
        return [seen[self.words.terms[term]].most_common(1)[0][0] for term in terms]


def archived(path: Path, exclude: str, blind: str) -> Iterator[tuple[str, str, str]]:
    """Yield the URL, title and text of each page of an archive."""
    from lycosa.replay.captures import RESPONSE
    from lycosa.replay.records import ArchiveIterator

    with open(path, "rb") as file:
        for record in ArchiveIterator(file, parse_http=True):
            url = record.headers.get("WARC-Target-URI") or ""
            if int(record.record_type) == RESPONSE and not (exclude and exclude in url):
                document = read_body(record.reader.read(), url, record.http_headers.get("content-type") or "")
                lines = document.marked.split("\n")
                yield url, document.title, "\n".join(line for line in lines if not blind or blind not in line)


def embedded() -> tuple[Texts, dict[str, set[int]], Callable[[str], str]]:
    """Return the embedded web, its topics, and a query for each."""
    from lycosa.testweb import Web

    web = Web(traps=())
    read = ((url, read_body(web.response(url).body, url, "text/html")) for url in web.urls())
    pages = Texts((url, document.title, document.marked) for url, document in read)
    page_of = {url: number for number, url in enumerate(pages.urls)}
    found = {topic: {page_of[url] for url in web.relevant(topic) if url in page_of} for topic in web.topics}
    return pages, found, web.query


def classes(path: Path, urls: list[str]) -> dict[str, set[int]]:
    """Return the pages of each class, including its subclasses."""
    page_of = {url: number for number, url in enumerate(urls)}
    found: dict[str, set[int]] = defaultdict(set)
    for line in path.read_text("utf-8").split("\n")[1:]:
        url, *label = line.split("\t")[:2]
        if url in page_of and label:
            for name in itertools.accumulate(label[0].split("/"), "{}/{}".format):
                found[name].add(page_of[url])
    return found


def precision(scores: Column, relevant: Column) -> tuple[float, float]:
    """Return the average precision, and the precision at the number of relevant pages."""
    hits = relevant[np.argsort(-scores, kind="stable")]
    at = np.flatnonzero(hits) + 1
    return float(np.mean(np.arange(1, len(at) + 1) / at)), float(hits[: len(at)].mean())


def rank(pages: Texts, topics: dict[str, list[int]], query_of: Callable[[str], str] | None) -> None:
    """Print the ranking quality of the judges."""
    everywhere = pages.idf(list(range(len(pages.bags))))
    rows = np.array([vectors([f"{title} {marked}"])[0] for title, marked in pages.texts])
    ranked: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    passed: dict[tuple[str, float], list[tuple[float, float]]] = defaultdict(list)
    spread: dict[tuple[str, bool], list[Column]] = defaultdict(list)
    for name, members in topics.items():
        chance = random.Random(zlib.crc32(name.encode()))
        relevant = np.zeros(len(rows), bool)
        relevant[members] = True
        examples = chance.sample(members, min(EXAMPLES, len(members) // 4))
        kept = np.ones(len(relevant), bool)
        kept[examples] = False
        centroid = pages.centroid(examples)
        if query_of is not None:
            text = query_of(name)
            words = Counter(pages.words.id_of[stem] for stem in stems(text) if stem in pages.words.id_of)
        else:
            label = name.split("/")[-1].replace("_", " ")
            named = [pages.words.id_of[stem] for stem in stems(label) if stem in pages.words.id_of]
            top = sorted(centroid, key=lambda term: -centroid[term] * everywhere[term])[:4]
            words = Counter(dict.fromkeys([*named, *top], 1))
            text = " ".join([label, *pages.spelt(examples, [term for term in top if term not in named])])
        learned = EmbeddingJudge.from_examples(
            Page("ok", title=a, marked=b) for a, b in (pages.texts[i] for i in examples)
        )
        for way, query, topic in (
            ("words", {term: float(n) for term, n in words.items()}, lambda text=text: EmbeddingJudge(text)),
            ("examples", dict(centroid.most_common(TERMS)), lambda learned=learned: EmbeddingJudge(examples=learned)),
            ("both", {}, lambda text=text, learned=learned: EmbeddingJudge(text, examples=learned)),
        ):
            lexical = pages.scores(query, everywhere) if query else np.zeros(len(rows))
            if query:
                ranked[way, "vector"].append(precision(lexical[kept], relevant[kept]))
            plain = topic()
            ranked[way, "embedding, at the start"].append(
                precision(judged(plain, pages, rows, [])[kept], relevant[kept])
            )
            plain.total_[:] = 0
            plain._current = None
            ranked[way, "embedding, mean left in"].append(
                precision(judged(plain, pages, rows, [])[kept], relevant[kept])
            )
            for share in SHARES:
                scores = judged(topic(), pages, rows, crawl(members, relevant, share, chance))
                ranked[way, f"embedding, {share:.0%} of the crawl on the topic"].append(
                    precision(scores[kept], relevant[kept])
                )
                if share != SHARES[-1]:
                    continue
                if query:
                    for weight in LEXICAL:
                        mixed = (scores + weight * lexical)[kept]
                        ranked[way, f"embedding + {weight:.0f} vector"].append(precision(mixed, relevant[kept]))
                for right in (True, False):
                    spread[way, right].append(np.percentile(scores[kept & (relevant == right)], [5, 25, 50, 75, 95]))
                for threshold in THRESHOLDS:
                    above = (scores >= threshold) & kept
                    if above.any():
                        hits = int((above & relevant).sum())
                        passed[way, threshold].append((hits / above.sum(), hits / (relevant & kept).sum()))
    print(f"{len(rows)} pages, {len(topics)} classes\n")
    print("| topic | judge | average precision | precision at R |\n|---|---|---|---|")
    for (way, judge), values in ranked.items():
        print(f"| {way} | {judge} | {np.mean(values, 0)[0]:.3f} | {np.mean(values, 0)[1]:.3f} |")
    for way in ("words", "examples"):
        pairs = zip(
            ranked[way, f"embedding, {SHARES[-1]:.0%} of the crawl on the topic"], ranked[way, "vector"], strict=True
        )
        ahead = sum(ours[0] > theirs[0] for ours, theirs in pairs)
        print(f"\n{way}: embedding is ahead of vector in {ahead} of {len(topics)} classes")
    print("\n| topic | pages | 5 % | 25 % | median | 75 % | 95 % |\n|---|---|---|---|---|---|---|")
    for (way, right), columns in spread.items():
        cells = " | ".join(f"{x:.2f}" for x in np.mean(columns, 0))
        print(f"| {way} | {'on' if right else 'off'} the topic | {cells} |")
    print("\n| topic | threshold | precision | recall | F1 |\n|---|---|---|---|---|")
    for (way, threshold), pairs in sorted(passed.items()):
        right, found = np.mean(pairs, 0)
        print(f"| {way} | {threshold} | {right:.2f} | {found:.2f} | {2 * right * found / (right + found):.2f} |")


def crawl(members: list[int], relevant: Column, share: float, chance: random.Random) -> list[int]:
    """Return a sample of pages as a crawl would have fetched them, in random order."""
    fetched = chance.sample(members, min(len(members), int(SAMPLE * share)))
    fetched += chance.sample(np.flatnonzero(~relevant).tolist(), SAMPLE - len(fetched))
    chance.shuffle(fetched)
    return fetched


def judged(topic: EmbeddingJudge, pages: Texts, rows: Column, fetched: list[int]) -> Column:
    """Return the relevance of each page after the judge has learned from the fetched ones."""
    from lycosa.judges.embedding import pack_vector

    for page in fetched:
        topic.learn(Visit("", "page", "ok", 1, data={"embedding": pack_vector(rows[page])}))
    mean, wanted = topic._mean_and_topic()
    scores: Column = np.maximum(0.0, unit(rows - mean) @ wanted)
    check = topic.judge(Page("ok", title=pages.texts[0][0], marked=pages.texts[0][1]), None).relevance
    assert abs(check - scores[0]) < 1e-5, "this script and the judge do not agree"
    return scores


def cost(directory: Path, most: int) -> None:
    """Print the cost per page, for pages of any size and for those of about 3,500 words."""
    files = sorted(file for file in directory.rglob("*.htm*") if file.suffix in (".htm", ".html"))
    files = files[:: max(1, len(files) // most)][:most]
    pages = []
    for number, file in enumerate(files):
        document = extract(file.read_bytes(), f"http://h.test/{number}", "utf-8")
        document.links.truncate(40)
        pages.append(document.fill(Page("ok")))
    begun = time.perf_counter()
    topic = EmbeddingJudge("astronomy star galaxy telescope planet orbit")
    print(f"{len(pages)} pages; loaded in {time.perf_counter() - begun:.2f} s\n")
    print("| judge | all pages, first time | again | pages of 3,000 to 4,000 words, first time | again |")
    print("|---|---|---|---|---|")
    for name, judge in (("embedding", topic), ("vector", VectorJudge("astronomy star galaxy telescope planet orbit"))):
        words, times = Vocabulary(), []
        readings = [words.read(page) for page in pages]
        middle = np.array([3000 <= len(page.text.split()) <= 4000 for page in pages])
        for _ in range(2):
            spent = []
            for page, reading in zip(pages, readings, strict=True):
                before = time.process_time()
                judge.judge(page, reading)
                spent.append(1000 * (time.process_time() - before))
            times += [(np.mean(spent), np.mean(np.array(spent)[middle]) if middle.any() else np.nan)]
        print(f"| {name} | {times[0][0]:.2f} | {times[1][0]:.2f} | {times[0][1]:.2f} | {times[1][1]:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="?")
    parser.add_argument("labels", type=Path, nargs="?")
    parser.add_argument("--exclude", default="", help="exclude URLs that contain this")
    parser.add_argument("--blind", default="", help="exclude lines that contain this")
    parser.add_argument("--least", type=int, default=20, help="minimum pages per class")
    parser.add_argument("--most", type=int, default=600)
    parser.add_argument("--web", action="store_true")
    parser.add_argument("--cost", type=Path)
    given = parser.parse_args()
    if given.cost:
        cost(given.cost, given.most)
        return
    query_of = None
    if given.web:
        pages, found, query_of = embedded()
    elif given.pages and given.labels:
        pages = Texts(archived(given.pages, given.exclude, given.blind))
        found = classes(given.labels, pages.urls)
    else:
        sys.exit("name an archive and its labels, or --web, or --cost DIRECTORY")
    sized = {name: sorted(members) for name, members in sorted(found.items())}
    topics = {name: members for name, members in sized.items() if given.least <= len(members) <= given.most}
    rank(pages, topics, query_of)


if __name__ == "__main__":
    main()
