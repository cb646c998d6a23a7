"""Cost of a page in a default crawl, by component; pages are in memory, so fetching is not included.

    python benchmarks/page_cost.py [DIRECTORY] [--pages 1000] [--rounds 3] [--most 5.0] [--whole]

DIRECTORY contains HTML files at any depth, as a site is served; the default is the embedded web. Each round is a
process of its own, because words seen for the first time cost most. It runs `lycosa.crawl` with the default strategy
and judge, main part, traps, archive and log, and measures the CPU time of each component without the components inside
it. For comparison, the same process runs a bare loop on the crawled pages: inflate, parse, text, links, stems, tf-idf,
a heap; without main part, archive or log. The ratios hold on other machines, the milliseconds do not. With `--most` the
script fails if all components together cost more than that many bare loops.

`--whole` then serves the directory over HTTP from another process (benchmarks/serve_pages.py), and runs `lycosa crawl`
and the focused Scrapy spider in benchmarks/scrapy_focused.py on the same job (fetch, parse, tf-idf, score every link,
best first): Lycosa with its WARC files and its log, Scrapy without either. CPU time of the crawler's process alone,
start-up included. Scrapy is installed by `make install`.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import heapq
import json
import math
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

import lycosa.cli  # noqa: F401  # before numpy: one thread for its libraries, as in every crawl of the command line

HERE = Path(__file__).resolve().parent
QUERY = "astronomy star galaxy telescope planet solar system orbit universe"
EMBEDDED = "coral reefs"
HOSTS = 8
PACKED = [(b"Content-Type", b"text/html; charset=utf-8"), (b"Content-Encoding", b"gzip")]
FIELDS = {"content-type": "text/html; charset=utf-8", "content-encoding": "gzip"}

Web = dict[str, bytes | Path]
"""Content by URL: bytes or a file."""

SERVED = "server"
"""Component of the simulated server, which is not part of a crawl's cost."""


class Stopwatch:
    """Stopwatch of CPU time by component; time inside a nested component counts for that one only."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self.inside = ["the loop, and everything else"]
        self.at = time.process_time()

    def lap(self) -> None:
        now = time.process_time()
        self.spent[self.inside[-1]] += now - self.at
        self.at = now

    def around(self, owner: Any, name: str, part: str) -> None:
        """Count the time of a function for a component."""
        function = getattr(owner, name)

        def timed(*given: Any, **named: Any) -> Any:
            self.lap()
            self.inside.append(part)
            try:
                return function(*given, **named)
            finally:
                self.lap()
                self.inside.pop()

        setattr(owner, name, timed)


def watch_parts(watch: Stopwatch) -> None:
    """Wrap the functions that process a page."""
    from lycosa.core import assessor, composite, table
    from lycosa.core.picker import Picker
    from lycosa.judges import probability
    from lycosa.judges import vector_judge as query
    from lycosa.spaces import web_space
    from lycosa.store import log, warc
    from lycosa.text.vocabulary import LinkTexts, Vocabulary
    from lycosa.traps.trap_filter import SectionTrapFilter
    from lycosa.web import html

    parts: list[tuple[Any, str, str]] = [
        (web_space, "inflate", "inflate"),
        (html, "parse", "parse"),
        (html, "extract", "links, anchors, contexts, text, resolve"),
        (html, "mark", "main part"),
        (html, "main_part", "main part"),
        (Vocabulary, "read", "tokens, stems, simhash"),
        (LinkTexts, "of", "tokens, stems, simhash"),
        (Vocabulary, "learn", "tokens, stems, simhash"),
        (query.VectorJudge, "judge", "judge"),
        (probability.Probability, "judge", "judge"),
        (probability.Probability, "learn", "judge"),
        (assessor.ModelUpdates, "update_model", "model updates"),
        (assessor.ModelUpdates, "finish", "model updates"),
        (SectionTrapFilter, "recognise", "traps"),
        (SectionTrapFilter, "learn", "traps"),
        (table.Table, "absorb", "learn and rank"),
        (composite.Greedy, "learn", "learn and rank"),
        (Picker, "next", "pick"),
        (web_space.WebSpace, "_exchange", "digest, archive"),
        (warc.WarcArchive, "append", "digest, archive"),
        (log.SqliteLog, "append", "log"),
    ]
    for owner, name, part in parts:
        watch.around(owner, name, part)


class InMemory:
    """Transport that has all pages in memory; `first` is the CPU time at the first request."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.first = 0.0

    async def address(self, url: str) -> str:
        return "127.0.0.1"

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str] = frozenset()) -> Any:
        from lycosa.web.fetch import Response

        self.first = self.first or time.process_time()
        await asyncio.sleep(0)
        body = self.packed(url)
        status = 404 if body is None else 200
        return Response(status, b"HTTP/1.1 %d -" % status, PACKED, body or gzip.compress(b""), "127.0.0.1", "", FIELDS)

    async def close(self) -> None:
        pass

    def packed(self, url: str) -> bytes | None:
        """Return the compressed content at a URL, as a server would send it."""
        found = self.web.get(url)
        if isinstance(found, Path):
            found = self.web[url] = gzip.compress(found.read_bytes(), 6)
        return found


def read_web(directory: Path | None, pages: int) -> Web:
    """Return the pages of a directory on one host, or those of the embedded web."""
    if directory is None:
        from lycosa.testweb import Web as Embedded

        grown = Embedded(pages=2 * pages, traps=())
        return {url: gzip.compress(grown.response(url).body, 6) for url in grown.urls()}
    files = sorted(file for file in directory.rglob("*.htm*") if file.suffix in (".htm", ".html"))
    if not files:
        sys.exit(f"no .htm or .html files below {directory}")
    return {f"http://h.test/{file.relative_to(directory).as_posix()}": file for file in files}


def one_round(given: argparse.Namespace) -> dict[str, Any]:
    """Return the CPU milliseconds per page of each component, of the start, and of the bare loop, in this process."""
    from lycosa.crawling import crawl
    from lycosa.spaces.web_space import WebSpace
    from lycosa.web.politeness import Politeness

    begun = time.process_time()
    web = read_web(given.directory, given.pages)
    reading = time.process_time() - begun
    topic, seed = (EMBEDDED if given.directory is None else QUERY), given.seed or next(iter(web))
    watch, transport = Stopwatch(), InMemory(web)
    watch_parts(watch)
    watch.around(transport, "packed", SERVED)
    space = WebSpace(transport, Politeness(time.time, delay=0.0, at_once=32, address_delay=0.0), time.time)
    crawled: list[str] = []

    async def run(directory: str) -> None:
        chosen = {"strategy": given.strategy, "judge": given.judge}
        most = {"budget": given.pages, "max_requests": 20 * given.pages}
        pace = {"concurrency": 32, "delay": 0.0, "per_host": 32}
        options = {name: value for name, value in chosen.items() if value}
        running = crawl(topic, [seed], out=Path(directory) / "crawl", space=space, **most, **pace, **options)
        running.batch_arrivals = True  # as on the command line
        async for visit in running:
            if not crawled:
                watch.lap()
                watch.spent.clear()
            if visit.is_page:
                crawled.append(visit.node)
        watch.lap()

    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(run(directory))
    count = max(1, len(crawled))
    parts = {name: 1000 * seconds / count for name, seconds in watch.spent.items() if name != SERVED}
    begun = time.process_time()
    bare_loop([(url, transport.packed(url) or b"") for url in crawled], topic)
    bare = 1000 * (time.process_time() - begun) / count
    return {"pages": len(crawled), "start": 1000 * (transport.first - reading), "parts": parts, "bare": bare}


def bare_loop(crawled: list[tuple[str, bytes]], topic: str) -> None:
    """Run the minimum of a focused crawler on these pages, without fetching, archive, log or main part."""
    import Stemmer
    import turbohtml

    stemmer, token = Stemmer.Stemmer("english"), re.compile("[a-z0-9]{2,}")
    known: dict[str, str] = {}

    def stems(text: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for word in token.findall(text.lower()):
            stem = known.get(word)
            if stem is None:
                stem = known[word] = stemmer.stemWord(word)
            found[stem] += 1
        return found

    wanted, frequency, heap = stems(topic), Counter[str](), list[tuple[float, str]]()
    seen = {url for url, _ in crawled[:1]}

    def cosine(terms: Counter[str], pages: int) -> float:
        dot = square = 0.0
        for stem, count in terms.items():
            weight = (1.0 + math.log(count)) * (math.log((pages + 1) / (frequency[stem] + 0.5)) + 1.0)
            square += weight * weight
            dot += weight * wanted.get(stem, 0)
        return dot / math.sqrt(square) if square else 0.0

    for pages, (url, body) in enumerate(crawled, 1):
        tree = turbohtml.parse(gzip.decompress(body), positions=False)
        for hidden in tree.select("script,style"):
            hidden.decompose()
        shown = tree.find("body")
        terms = stems(shown.text if shown is not None else "")
        frequency.update(terms.keys())
        page_score = cosine(terms, pages)
        for link in tree.select("a[href]"):
            target = urldefrag(urljoin(url, str(link.attrs["href"])))[0]
            if target not in seen:
                seen.add(target)
                heapq.heappush(heap, (-page_score - cosine(stems(link.text), pages), target))
        if heap:
            heapq.heappop(heap)


def table(given: argparse.Namespace) -> float:
    """Print the components as medians over the rounds; return the total cost in bare loops."""
    rounds = []
    for _ in range(given.rounds):
        command = [sys.executable, __file__, "--one-round", *sys.argv[1:]]
        rounds.append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout))
    bare = _median([each["bare"] for each in rounds])
    names = sorted(rounds[0]["parts"], key=lambda name: -rounds[0]["parts"][name])
    pages = rounds[0]["pages"]
    print(f"{pages} pages in memory, {given.strategy or 'the default strategy'}, {given.judge or 'the default judge'},")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, median of {given.rounds} rounds\n")
    print("| component | CPU ms per page | in bare loops |\n|---|---|---|")
    for name in names:
        costs = [each["parts"].get(name, 0.0) for each in rounds]
        shares = [cost / each["bare"] for cost, each in zip(costs, rounds, strict=True)]
        print(f"| {name} | {_median(costs):.3f} | {_median(shares):.2f} |")
    sums = [sum(each["parts"].values()) for each in rounds]
    ratio = _median([total / each["bare"] for total, each in zip(sums, rounds, strict=True)])
    print(f"| **total, without fetching** | **{_median(sums):.3f}** | **{ratio:.2f}** |")
    print(f"| a bare loop | {bare:.3f} | 1.00 |")
    print(f"\nstart, until the first request: {_median([each['start'] for each in rounds]):.0f} ms")
    return ratio


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def whole(root: Path, pages: int, runs: int) -> dict[str, list[float]]:
    """Return CPU milliseconds per page of the whole job over HTTP: Lycosa, then Scrapy."""
    server = subprocess.Popen(
        [sys.executable, HERE / "serve_pages.py", root, str(HOSTS)], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    start = json.loads(server.stdout.readline())
    costs: dict[str, list[float]] = {"lycosa": [], "scrapy focused": []}
    try:
        for _ in range(runs):
            for name in costs:
                with tempfile.TemporaryDirectory() as directory:
                    command = _commands(name, start, pages, Path(directory) / "crawl")
                    before = resource.getrusage(resource.RUSAGE_CHILDREN)
                    done = subprocess.run(command, capture_output=True, text=True, check=True)
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                    got = json.loads(done.stdout.strip().split("\n")[-1])["pages"]
                spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                costs[name].append(1000 * spent / got)
    finally:
        server.terminate()
        server.wait()
    return costs


def _commands(name: str, start: dict[str, str], pages: int, out: Path) -> list[str]:
    hosts = start["hosts"].split(",")
    if name == "lycosa":
        command = [
            str(Path(sys.executable).with_name("lycosa")),
            "crawl",
            QUERY,
            "--seed",
            start["url"],
            "--budget",
            str(pages),
        ]
        command += [
            "--concurrency",
            "32",
            "--delay",
            "0",
            "--per-host",
            "8",
            "--allow-network",
            "127.0.0.0/8",
        ]
        return [*command, "--out", str(out), "--json", *(f"--host={host}" for host in hosts)]
    return [sys.executable, str(HERE / "scrapy_focused.py"), start["url"], str(pages), ",".join(hosts), QUERY]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--strategy", default="", help="instead of the default")
    parser.add_argument("--judge", default="", help="instead of the default")
    parser.add_argument("--seed", default="", help="start URL; default: the first page")
    parser.add_argument("--most", type=float, default=0.0, help="maximum total cost in bare loops; 0: unlimited")
    parser.add_argument("--whole", action="store_true", help="also run Lycosa and Scrapy over HTTP")
    parser.add_argument("--one-round", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one_round:
        print(json.dumps(one_round(given)))
        return
    ratio = table(given)
    if given.whole and given.directory is not None:
        if shutil.which("nproc") is None:
            print("(fewer than two cores: server and crawler share one)")
        costs = whole(given.directory, given.pages, 2)
        print("\n| the whole job over HTTP | CPU ms per page, best of two | all runs |\n|---|---|---|")
        for name, values in costs.items():
            print(f"| {name} | {min(values):.2f} | {', '.join(f'{value:.2f}' for value in values)} |")
        print(f"\nratio Lycosa / Scrapy: {min(costs['lycosa']) / min(costs['scrapy focused']):.2f}")
    if given.most and ratio > given.most:
        sys.exit(f"a page costs {ratio:.2f} bare loops, and may cost {given.most:.2f}")


if __name__ == "__main__":
    main()
