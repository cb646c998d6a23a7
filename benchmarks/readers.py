"""Throughput of a default crawl with and without `--readers`: recorded pages in memory, no network.

    python benchmarks/readers.py FILE.warc.gz "astronomy star galaxy" [--pages 1000] [--readers 2] [--runs 3]

Runs alternate, each in a process of its own. Timing begins after the first 100 pages, when all processes have started:
wall time of the crawl with its log and archive (pages per second), and CPU time of the process that judges. On a busy
machine only the second is meaningful.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FIRST = 100


class Recorded:
    def __init__(self, file: Path) -> None:
        from warcio.archiveiterator import ArchiveIterator

        from lycosa.web.urls import canonical

        self.pages: dict[str, tuple[str, bytes]] = {}
        with open(file, "rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                    kind = record.http_headers.get_header("content-type") or ""
                    url = canonical(record.rec_headers.get_header("WARC-Target-URI"))
                    if url is not None and kind.startswith("text/html"):
                        self.pages[url] = kind, gzip.compress(record.content_stream().read(), 6)

    async def address(self, url: str) -> str:
        return "192.0.2.1"

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str] = frozenset()) -> Any:
        from lycosa.web.fetch import Response

        await asyncio.sleep(0)
        kind, body = self.pages.get(url, ("text/html", b""))
        fields = {"content-type": kind, "content-encoding": "gzip"} if body else {"content-type": kind}
        raw = [(name.encode(), value.encode()) for name, value in fields.items()]
        status = 200 if body else 404
        return Response(status, b"HTTP/1.1 %d X" % status, raw, body, "192.0.2.1", fields=fields)

    async def close(self) -> None:
        pass


async def crawled(file: Path, topic: str, pages: int, readers: int) -> dict[str, float]:
    """Run one crawl; return pages per second, and CPU milliseconds per page of the process that judges."""
    import lycosa
    from lycosa.spaces.web_space import WebSpace
    from lycosa.web.politeness import Politeness

    transport, found = Recorded(file), 0
    space = WebSpace(transport, Politeness(time.time, delay=0.0, at_once=32), time.time, readers=readers)
    with tempfile.TemporaryDirectory() as directory:
        options: dict[str, Any] = {"budget": pages, "max_requests": 20 * pages, "concurrency": 32, "per_host": 32}
        async for visit in lycosa.crawl(topic, list(transport.pages)[:3], out=f"{directory}/c", space=space, **options):
            found += visit.is_page
            if found == FIRST and visit.is_page:
                wall, cpu = time.perf_counter(), time.process_time()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"pages a second": (found - FIRST) / wall, "CPU ms a page": 1000 * cpu / (found - FIRST)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("topic")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        print(json.dumps(asyncio.run(crawled(given.file, given.topic, given.pages, given.readers))))
        return
    results_by_readers: dict[int, list[dict[str, float]]] = {0: [], given.readers: []}
    for _ in range(given.runs):
        for readers, results in results_by_readers.items():
            command = [sys.executable, __file__, str(given.file), given.topic, "--once"]
            command += ["--pages", str(given.pages), "--readers", str(readers)]
            results.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
            print(f"{readers} readers: " + ", ".join(f"{results[-1][name]:.2f} {name}" for name in results[-1]))
    for name in results_by_readers[0][0]:
        none, some = (statistics.median(result[name] for result in results) for results in results_by_readers.values())
        print(f"median {name}: {none:.2f} without, {some:.2f} with {given.readers}, ratio {some / none:.2f}")


if __name__ == "__main__":
    main()
