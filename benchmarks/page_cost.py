"""What a page costs, part by part, and the whole job beside Scrapy, in one run on the same pages.

    python benchmarks/page_cost.py DIRECTORY [--pages 1000] [--whole]

DIRECTORY holds HTML files at any depth. The parts are the production functions, called one after the other on each
page as the loop does, timed by the CPU clock of this process. `--whole` then serves the directory over HTTP from
another process (benchmarks/serve_pages.py) and lets `lycosa crawl` and the focused Scrapy spider in
benchmarks/scrapy_focused.py do the same job (fetch, parse, tf-idf, score every link, best first), Lycosa with its WARC
files and its log, Scrapy with neither; CPU of each crawler's process alone, start-up included. Needs
`pip install --group bench` for Scrapy.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
QUERY = "astronomy star galaxy telescope planet solar system orbit universe"
HOSTS = 8


class Stopwatch:
    """Adds the CPU time since its last lap to what a part has spent."""

    def __init__(self, spent: dict[str, float]) -> None:
        self.spent = spent
        self.at = time.process_time()

    def lap(self, part: str) -> None:
        now = time.process_time()
        self.spent[part] += now - self.at
        self.at = time.process_time()


def parts(files: list[Path], rounds: int) -> dict[str, float]:
    """CPU milliseconds a page of each part, best of some rounds."""
    from lycosa.core.engine import Engine
    from lycosa.core.strategies import Greedy
    from lycosa.core.types import Page, Task, Visit
    from lycosa.estimators import estimator
    from lycosa.spaces.web import WebSpace
    from lycosa.store.log import MemoryLog, SqliteLog
    from lycosa.store.warc import WarcArchive
    from lycosa.text.vocabulary import Vocabulary
    from lycosa.topics.probability import Probability
    from lycosa.topics.query import Query
    from lycosa.web.fetch import Response
    from lycosa.web.html import extract
    from lycosa.web.inflate import inflate
    from lycosa.web.politeness import Politeness

    best: dict[str, float] = {}
    bodies = [(f"http://h.test/{file.name}", gzip.compress(file.read_bytes(), 6)) for file in files]
    for _ in range(rounds):
        spent: dict[str, float] = defaultdict(float)
        with tempfile.TemporaryDirectory() as directory:
            words, topic, default = Vocabulary(), Query(QUERY), Probability(QUERY)
            space = WebSpace(None, Politeness(time.time), time.time)  # type: ignore[arg-type]
            engine = Engine(space, topic, Greedy(estimator("best-first")), MemoryLog(), clock=time.time)
            log, archive = SqliteLog(Path(directory) / "log.sqlite"), WarcArchive(Path(directory) / "archive")
            archive.recover({})
            headers = [(b"Content-Type", b"text/html; charset=utf-8"), (b"Content-Encoding", b"gzip")]
            for number, (url, packed) in enumerate(bodies):
                engine.table.add_seed(url)
                watch = Stopwatch(spent)
                body, _ = inflate(packed, "gzip", 20_000_000)
                watch.lap("inflate")
                document = extract(body, url, "utf-8")
                watch.lap("parse, links, anchors, contexts, text, resolve")
                page = document.fill(Page("ok"))
                reading = words.read(page)
                watch.lap("tokens, stems, vector, simhash")
                judgement = topic.judge(page, reading)
                watch.lap("judge page and links (vector)")
                judged = default.judge(page, reading)
                watch.lap("judge page and links (the default)")
                visit = Visit(url, "page", "ok", number + 1, beta=judgement.beta, links=page.links, terms=reading.terms)
                visit.links.alphas = judgement.alphas
                watch.lap("build the visit")
                default.learn(replace(visit, beta=judged.beta, data=judged.data))
                if (lesson := default.lesson(0.0)) is not None:
                    default.adopt(lesson)
                watch.lap("lessons of the default judge")
                words.learn(visit)
                engine.fold(visit)
                engine.frontier.take(0.0)
                watch.lap("learn, rank, pick")
                exchange = space._exchange(Task(url), Response(200, b"HTTP/1.1 200 OK", headers, packed))
                visit.place = archive.append(visit, exchange)
                watch.lap("digest, WARC")
                log.append(visit)
                watch.lap("log")
            log.close()
            archive.close()
        for name, seconds in spent.items():
            best[name] = min(best.get(name, 9e9), 1000 * seconds / len(files))
    return best


def whole(root: Path, pages: int, runs: int) -> dict[str, list[float]]:
    """CPU milliseconds a page of the whole job: Lycosa, then Scrapy, over HTTP from another process."""
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
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--whole", action="store_true", help="also run Lycosa and Scrapy over HTTP")
    given = parser.parse_args()
    files = sorted(file for file in given.directory.rglob("*.htm*") if file.suffix in (".htm", ".html"))
    files = files[:: max(1, len(files) // given.pages)][: given.pages]
    if not files:
        sys.exit(f"no .htm or .html files below {given.directory}")
    size = sum(file.stat().st_size for file in files) / len(files)
    print(f"{len(files)} pages of {size / 1000:.1f} kB, Python {platform.python_version()}, {os.cpu_count()} cores\n")
    print("| part | CPU ms a page |\n|---|---|")
    table = parts(files, given.rounds)
    for name, cost in table.items():
        print(f"| {name} | {cost:.3f} |")
    print(f"| **sum (without fetching)** | **{sum(table.values()):.3f}** |")
    if given.whole:
        if shutil.which("nproc") is None:
            print("(fewer than two cores: server and crawler share one)")
        costs = whole(given.directory, given.pages, 2)
        print("\n| the whole job over HTTP | CPU ms a page, best of two | all runs |\n|---|---|---|")
        for name, values in costs.items():
            print(f"| {name} | {min(values):.2f} | {', '.join(f'{value:.2f}' for value in values)} |")
        print(f"\nratio Lycosa / Scrapy: {min(costs['lycosa']) / min(costs['scrapy focused']):.2f}")


if __name__ == "__main__":
    main()
