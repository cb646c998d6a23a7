"""A large crawl on one machine: memory, CPU, log and archive as it grows, and the time to resume after a kill.

    python benchmarks/large.py DIR [--pages 300000] [--web 10000000] [--every 5000] [--topic coral] [--strategy scent]
    python benchmarks/large.py DIR --picture NAME

The crawl uses the default options (strategy, judge, main part, traps, archive, log, snapshots), over an embedded web
that answers from memory without delays. Each `--every` pages a row is printed and added to DIR.csv: CPU milliseconds
per page without the generation of the pages; the time of that generation (constant work per page: if it rises, the
machine has become slower); memory in MiB, current and peak since the previous row; rows in memory; megabytes of log and
archive. Run it again to resume, also after `kill -9`: it then prints the CPU seconds until the first request, and with
`--pages` at the current number it measures only that. `--picture` draws NAME-cpu.svg and NAME-memory.svg from DIR.csv.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import time
from pathlib import Path
from typing import Any

import lycosa.cli  # before numpy: one thread for its libraries, as in every crawl of the command line
from lycosa.testweb import Web

PAGES_A_HOST = 1000


class InMemory:
    """Transport that generates its responses, and measures the CPU time of that."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.spent = 0.0
        self.first = 0.0
        """CPU seconds of the process at the first request."""

    async def address(self, url: str) -> str:
        return "127.0.0.1"

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str] = frozenset()) -> Any:
        from lycosa.web.fetch import Response

        begun = time.process_time()
        self.first = self.first or begun
        reply = self.web.response(url, headers=headers)
        fields = {name.lower(): value for name, value in reply.headers}
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers]
        self.spent += time.process_time() - begun
        await asyncio.sleep(0)
        return Response(reply.status, b"HTTP/1.1 %d X" % reply.status, raw, reply.body, "127.0.0.1", fields=fields)

    async def close(self) -> None:
        pass


def megabytes(directory: Path, *patterns: str) -> float:
    """Return the total size of files of a crawl."""
    return sum(file.stat().st_size for pattern in patterns for file in directory.glob(pattern)) / 1e6


def memory() -> tuple[int, int]:
    """Return the memory of this process in MiB: current, and peak since the last call."""
    status = Path("/proc/self/status").read_text()
    now, most = (int(status.partition(f"{name}:")[2].split()[0]) // 1024 for name in ("VmRSS", "VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")
    return now, most


def csv_of(directory: Path) -> Path:
    return directory.with_name(f"{directory.name}.csv")


COLUMNS = ("pages", "CPU ms a page", "of the web", "MiB now", "MiB at most", "rows", "log MB", "archive MB")


def draw(directory: Path, name: str) -> None:
    """Draw CPU time and memory over pages."""
    from lycosa.drawing.figure import Curve, Figure
    from lycosa.drawing.svg import svg

    with csv_of(directory).open(newline="") as file:
        pages, cpu, web, now, most, *_ = zip(*([float(cell) for cell in row] for row in csv.reader(file)), strict=True)
    costs = [Curve("the crawl", pages, cpu), Curve("making the pages up", pages, web)]
    sizes = [Curve("now", pages, now), Curve("at most", pages, most)]
    cost = Figure("cpu", "CPU of a page in a large crawl", "pages", "ms a page", costs)
    held = Figure("memory", "Memory of a large crawl", "pages", "MiB", sizes)
    for figure in (cost, held):
        Path(f"{name}-{figure.key}.svg").write_text(svg(figure, standalone=True), "utf-8")


async def crawl(given: argparse.Namespace) -> None:
    """Start the crawl, or resume it."""
    from lycosa.spaces.web_space import WebSpace
    from lycosa.web.politeness import Politeness

    web = Web(pages=given.web, hosts=max(40, given.web // PAGES_A_HOST), traps=())
    topic = next(topic for topic in web.topics if given.topic in topic)
    transport = InMemory(web)
    space = WebSpace(transport, Politeness(time.time, delay=0.0, at_once=16), time.time)
    options: dict[str, Any] = {"budget": given.pages, "max_requests": 3 * given.pages, "space": space}
    resumed = given.directory.exists()
    pages, cpu, served = 0, time.process_time(), 0.0
    if resumed:
        crawling = lycosa.resume(given.directory, **options)
    else:
        seeds = web.seeds(topic, 3)
        crawling = lycosa.crawl(web.query(topic), seeds, out=given.directory, strategy=given.strategy, **options)
    print(*COLUMNS, sep=", ", flush=True)
    async for visit in crawling:
        if transport.first and resumed:
            print(f"{transport.first - cpu:.2f} CPU s until the first request", flush=True)
            resumed, cpu, served = False, time.process_time(), transport.spent
        pages += visit.is_page
        if visit.is_page and pages % given.every == 0:
            now = time.process_time()
            made_up = transport.spent - served
            costs = [round(1000 * spent / given.every, 2) for spent in (now - cpu - made_up, made_up)]
            engine = crawling.engine
            assert engine is not None
            log = megabytes(given.directory, "crawl.sqlite*")
            archive = megabytes(given.directory, "archive/*")
            row = engine.tally.pages, *costs, *memory(), len(engine.table), round(log), round(archive)
            print(*row, sep=", ", flush=True)
            with csv_of(given.directory).open("a", newline="") as file:
                csv.writer(file).writerow(row)
            cpu, served = now, transport.spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pages", type=int, default=300_000)
    parser.add_argument("--web", type=int, default=10_000_000, help="pages of the embedded web")
    parser.add_argument("--every", type=int, default=5_000)
    parser.add_argument("--topic", default="coral")
    parser.add_argument("--strategy", default="scent")
    parser.add_argument("--picture", default="", help="draw earlier results only")
    given = parser.parse_args()
    if given.picture:
        draw(given.directory, given.picture)
    else:
        asyncio.run(crawl(given))


if __name__ == "__main__":
    main()
