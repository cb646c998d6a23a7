"""Search times over 10,000 pages, compared with a scan of the same texts.

    python benchmarks/search.py DIRECTORY [--pages 10000] [--rounds 5] [--scan 3]

DIRECTORY is created if it does not exist: a crawl's log and archive with synthetic pages, and the same texts in a table
of their own. Then `Search` builds the index as `lycosa search` does, and runs a mix of queries with titles, filters and
passages, ten results each. The baseline is `LIKE '%word%'` over the table, without ranking or snippets.

A page has 3,500 words on average. Half are function words with the frequencies of English; the others come from a
vocabulary of 200,000 by Zipf's law, with a few hundred distinct words per page, as in real texts. `coral` and `reef`
are on most pages, like a topic's own words in a focused crawl.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import platform
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from zlib_ng import zlib_ng

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.searching import Progress, Search
from lycosa.core.options import Options
from lycosa.core.types import Exchange, Setting, Visit
from lycosa.store.directory import Directory

FUNCTION_WORDS = """
    the 700 of 350 and 285 to 260 in 220 a 210 is 110 that 100 for 95 it 90 as 75 was 75 with 70 be 65 by 60 on 60
    not 50 he 45 his 40 but 40 at 40 are 40 this 40 have 38 from 38 or 36 had 33 an 33 which 32 you 30 were 30 her 26
    they 26 one 26 all 24 we 24 their 23 been 21 has 20 would 19 there 19 when 18 who 18 will 18 more 17 if 17 no 16
    out 16 so 15 what 14 up 14 said 13 about 13 than 12 its 12 into 12 them 12 can 12 only 12 other 11 new 11 some 11
""".split()
VOCABULARY = 200_000
HOSTS = [f"{name}.example.{top}" for name in ("www", "news", "library", "sea", "blog") for top in ("org", "net", "com")]
LANGUAGES = ["en"] * 6 + ["en-gb", "de", "fr", ""]
START = 1_767_225_600.0  # 2026-01-01; there is a page every ten seconds


@dataclass
class Question:
    """A query, its filters, and its kind."""

    kind: str
    words: str
    filters: dict[str, Any] = field(default_factory=dict)


def questions(word: Any) -> list[Question]:
    """Return a mix of easy and hard queries; `word` returns the nth word of the vocabulary."""
    return [
        Question("rare word", word(60_000)),
        Question("word of a few hundred pages", word(9_000)),
        Question("word of a few thousand pages", word(1_500)),
        Question("two words", f"{word(700)} {word(1_200)}"),
        Question("three words", f"coral {word(200)} {word(900)}"),
        Question("the topic's words", "coral reef bleaching"),
        Question("rare and common", f"the {word(5_000)}"),
        Question("a word on every page", "the"),
        Question("five words on every page", "the of and to in"),
        Question("ten common words", "the of and to in coral reef was with have"),
        Question("prefix", f"{word(800)[:3]}*"),
        Question("without a word", f"reef -{word(50)}"),
        Question("nothing has all", f"{word(60_000)} {word(70_001)} {word(80_002)}"),
        Question("phrase, common", '"coral reef"'),
        Question("phrase, backwards", '"reef coral"'),
        Question("phrase with a rare word", f'"the {word(3_000)}"'),
        Question("phrase of function words", '"of the"'),
        Question("phrase of function words, long", '"to be or not to be"'),
        Question("host", "the coral", {"hosts": ["example.org"]}),
        Question("language", "the coral", {"languages": ["en"]}),
        Question("days", "the coral", {"since": "2026-01-05", "until": "2026-01-06"}),
        Question("threshold", "the coral", {"threshold": 0.5}),
        Question(
            "all filters",
            "coral reef",
            {"hosts": ["sea.example.org"], "languages": ["en"], "since": "2026-01-02", "threshold": 0.2},
        ),
    ]


class Author:
    """Reproducible generator of the pages."""

    def __init__(self) -> None:
        self.dice = np.random.default_rng(7)
        words, counts = FUNCTION_WORDS[0::2], np.array(FUNCTION_WORDS[1::2], float)
        self.plain = np.array(words, object)
        self.plain_odds = np.cumsum(counts / counts.sum())
        ranks = np.arange(VOCABULARY) + 20.0
        self.odds = np.cumsum(1 / ranks / (1 / ranks).sum())
        self.words = np.array([self.word(rank) for rank in range(VOCABULARY)], object)

    @staticmethod
    def word(rank: int) -> str:
        """Return a pronounceable word for a rank, short for common ones."""
        syllables = [c + v for c in "bcdfglmnprstvk" for v in "aeiou"]
        spelled, rank = "", rank + 70
        while rank:
            rank, place = divmod(rank, 70)
            spelled += syllables[place]
        return spelled + "x"  # no English word ends like this

    def page(self) -> tuple[str, str]:
        """Return a title and a text."""
        dice = self.dice
        length = int(np.clip(dice.lognormal(np.log(3500) - 0.18, 0.6), 100, 30_000))
        own = self.words[np.searchsorted(self.odds, dice.random(length // 6 + 50))]
        text = own[(dice.random(length) ** 2 * len(own)).astype(int)]
        plain = dice.random(length) < 0.5
        text[plain] = self.plain[np.searchsorted(self.plain_odds, dice.random(int(plain.sum())))]
        if dice.random() < 0.8:
            places = dice.integers(0, length - 3, 2 + length // 300)
            text[places] = "coral"
            text[places[::2] + 1] = "reef"
            if dice.random() < 0.3:
                text[places[:2] + 2] = "bleaching"
        text[11::12] = text[11::12] + ".\n"
        return " ".join(own[:4]), " ".join(text)


def write(directory: Path, pages: int) -> None:
    """Write a crawl directory with `pages` pages, and their texts to texts.sqlite."""
    author, dice = Author(), np.random.default_rng(8)
    opened = Directory.create(directory, Options(topic="coral reef", seeds=["http://www.example.org/"], budget=pages))
    log = opened.log()
    archive = opened.archive(log, "benchmark", 1_000_000_000)
    texts = sqlite3.connect(directory / "texts.sqlite")
    texts.execute("CREATE TABLE page (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    headers = [(b"Content-Type", b"text/html; charset=utf-8"), (b"Content-Encoding", b"gzip")]
    for first in range(0, pages, 1000):
        with log.batch():
            log.append(Setting("threshold", 0.5, START))
            for number in range(first, min(first + 1000, pages)):
                title, text = author.page()
                paragraphs = "</p>\n<p class=text>".join(text.split("\n"))
                html = f"<!DOCTYPE html><title>{title}</title><body><p class=text>{paragraphs}</p>"
                packer = zlib_ng.compressobj(6, zlib_ng.DEFLATED, 31)
                body = packer.compress(html.encode()) + packer.flush()
                url = f"http://{HOSTS[number % len(HOSTS)]}/page/{number}"
                visit = Visit(url, "page", "ok", number + 1, status=200, size=len(body), title=title)
                visit.started = visit.ended = START + 10 * number
                visit.language, visit.relevance = LANGUAGES[number % len(LANGUAGES)], float(dice.random())
                visit.digest = hashlib.sha256(body).digest()
                visit.place = archive.append(
                    visit, Exchange(b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK", headers, body, visit.digest)
                )
                log.append(visit)
                texts.execute("INSERT INTO page VALUES (?, ?)", (number, f"{title}\n{text}"))
        texts.commit()
        print(f"\rwritten {first + 1000:,} pages", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for part in (archive, log, opened, texts):
        part.close()


class ProgressPrinter(Progress):
    """Printer of the index's progress on standard error."""

    def indexed(self, pages: int, share: float) -> None:
        if pages % 1000 == 0:
            print(f"\rindexed {pages:,} pages", end="", file=sys.stderr, flush=True)


def size(directory: Path, pattern: str) -> float:
    """Return the total size of some files in megabytes."""
    return sum(path.stat().st_size for path in directory.glob(pattern)) / 1e6


def build(directory: Path, pages: int) -> None:
    """Build the index and print its cost."""
    wall, cpu = time.perf_counter(), time.process_time()
    with CrawlDirectory(directory) as collection, Search(collection, ProgressPrinter()) as search:
        search.update()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"\nindex built in {wall:.0f} s: {1e3 * cpu / pages:.2f} ms CPU per page")


@dataclass
class Measured:
    """Times of a query in each round, and the number of pages found."""

    question: Question
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    found_text: str = ""


def measure(directory: Path, rounds: int) -> tuple[list[Measured], list[float]]:
    """Return the milliseconds of each query, run in turn, and of the first query of a process."""
    measured = [Measured(question) for question in questions(Author.word)]
    with CrawlDirectory(directory) as collection, Search(collection) as search:
        search.find("warm up")
        gc.collect()
        for _ in range(rounds):
            for row in measured:
                wall, cpu = time.perf_counter(), time.process_time()
                found = search.find(row.question.words, **row.question.filters)
                row.wall.append(1e3 * (time.perf_counter() - wall))
                row.cpu.append(1e3 * (time.process_time() - cpu))
                row.found_text = f"{found.total:,}{' (any)' if found.loosened else ''}"
    code = (
        "import sys, time; from pathlib import Path\n"
        "from lycosa.collection.crawl_directory import CrawlDirectory; from lycosa.collection.searching import Search\n"
        "begun = time.perf_counter()\n"
        "with CrawlDirectory(Path(sys.argv[1])) as c, Search(c) as s: s.find('coral reef bleaching')\n"
        "print(1e3 * (time.perf_counter() - begun))"
    )
    command = [sys.executable, "-c", code, str(directory)]
    first = [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(rounds)]
    return measured, first


def scan(directory: Path, rounds: int) -> Iterator[tuple[str, float]]:
    """Yield the milliseconds of LIKE for the words of some queries."""
    texts = sqlite3.connect(directory / "texts.sqlite")
    for words in (Author.word(9_000), "the", "coral reef bleaching"):
        best = float("inf")
        clause = " AND ".join("text LIKE ?" for _ in words.split())
        for _ in range(rounds):
            begun = time.perf_counter()
            texts.execute(
                f"SELECT COUNT(*) FROM page WHERE {clause}", [f"%{word}%" for word in words.split()]
            ).fetchone()
            best = min(best, 1e3 * (time.perf_counter() - begun))
        yield words, best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scan", type=int, default=3, help="rounds of the naive scan; 0: skip")
    given = parser.parse_args()
    if not given.directory.exists():
        write(given.directory, given.pages)
    if not (given.directory / "search.sqlite").exists():
        build(given.directory, given.pages)
    warc, index = size(given.directory, "archive/*.warc.gz"), size(given.directory, "search.sqlite")
    texts = size(given.directory, "texts.sqlite")
    print(f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}")
    print(f"archive {warc:,.0f} MB, index {index:,.0f} MB ({index / warc:.2f} of it), plain texts {texts:,.0f} MB")
    rows, first = measure(given.directory, given.rounds)
    print(f"\n{'query':32} {'pages found':>14} {'ms p50':>8} {'max':>8} {'CPU':>8}")
    for row in rows:
        wall, cpu = statistics.median(row.wall), statistics.median(row.cpu)
        print(f"{row.question.kind:32} {row.found_text:>14} {wall:8.1f} {max(row.wall):8.1f} {cpu:8.1f}")
    for what, values in (("all", [row.wall for row in rows]), ("CPU", [row.cpu for row in rows])):
        spent = sorted(value for part in values for value in part)
        middle, tail = statistics.median(spent), spent[int(0.95 * len(spent))]
        print(f"{what}: p50 {middle:.1f} ms, p95 {tail:.1f} ms, max {spent[-1]:.1f} ms")
    print(f"the first query of a process, opening included: {statistics.median(first):.1f} ms")
    spent_on = {row.question.words: statistics.median(row.wall) for row in rows}
    for words, naive in scan(given.directory, given.scan) if given.scan else ():
        ratio = naive / spent_on[words]
        print(f"scan with LIKE for {words!r}: {naive:,.0f} ms, {ratio:,.0f} times as long as the search")


if __name__ == "__main__":
    main()
