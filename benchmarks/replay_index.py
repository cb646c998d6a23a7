"""Start-up and lookup times of a replay, compared with a dictionary read from a text index.

    python benchmarks/replay_index.py [RECORDS]

Creates the index of a WARC file of RECORDS captures (2,000,000; the file itself is sparse, no record is read), and the
same data as a text file of JSON lines, as in CDXJ. Each is then opened in a process of its own: time until the first
lookup, time for 100,000 random lookups, memory. Finally, the responses per second of the proxy over persistent
connections are compared with aiohttp's server with the same bodies in a dictionary.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LOOKUPS = 100_000
PAGES = 2_000

OURS = """
import json, random, re, sys, time
began = time.perf_counter()
from pathlib import Path
from lycosa.replay.recording import Recording
recording = Recording([Path(sys.argv[1])])
assert recording.locate(URL(0))
started = time.perf_counter() - began
find = recording.locate
"""

DICTIONARY = """
import json, random, re, sys, time
began = time.perf_counter()
known = {}
with open(sys.argv[1] + ".cdxj", encoding="utf-8") as file:
    for line in file:
        url, date, facts = line.split(" ", 2)
        known.setdefault(url, []).append((date, json.loads(facts)))
assert known[URL(0)]
started = time.perf_counter() - began
find = known.get
"""

MEASURE = """
rng = random.Random(1)
urls = [URL(rng.randrange(int(sys.argv[2]))) for _ in range(int(sys.argv[3]))]
times = []
for url in urls:
    begin = time.perf_counter()
    found = find(url)
    times.append(time.perf_counter() - begin)
    assert found
times.sort()
print(json.dumps({
    "start": started,
    "mean": sum(times) / len(times),
    "p99": times[len(times) * 99 // 100],
    "memory": int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024,
}))
"""

ADDRESS = 'URL = lambda n: f"http://host{n % 1000}.example/section/{n // 1000}/page-{n}.html"\n'


def address(number: int) -> str:
    return f"http://host{number % 1000}.example/section/{number // 1000}/page-{number}.html"


def synthesise(path: Path, records: int) -> None:
    """Write the index of a large file, and a text file with the same data."""
    import msgpack
    import numpy as np

    from lycosa.replay.captures import PAGE, identify
    from lycosa.replay.index import COLUMNS, Index, kept_at

    with open(path, "wb") as file:
        file.truncate(records * 10_000)
    columns = {name: np.zeros(records, kind) for name, kind in COLUMNS.items()}
    with open(f"{path}.cdxj", "w", encoding="utf-8") as text:
        for number in range(records):
            url = address(number)
            columns["key"][number], columns["exact"][number], _ = identify(url)
            facts = {"url": url, "offset": str(number * 10_000), "length": "10000", "filename": path.name}
            text.write(f"{url} 20260301000000 {json.dumps(facts)}\n")
    columns["offset"][:] = np.arange(records, dtype=np.uint64) * 10_000
    columns["length"][:] = 10_000
    columns["digest"][:] = np.random.default_rng(1).integers(0, 2**63, records)
    columns["host"][:] = np.arange(records) % 1000
    columns["flags"][:] = PAGE
    order = np.argsort(columns["key"])
    columns = {name: column[order] for name, column in columns.items()}
    columns["by_digest"] = np.argsort(columns["digest"]).astype("<u4")
    hosts = msgpack.packb([(f"host{number}.example", address(number)) for number in range(1000)])
    stat = path.stat()
    facts_kept: dict[str, Any] = {
        "size": stat.st_size, "time": stat.st_mtime_ns, "end": stat.st_size, "rows": records,
        "hosts": 1000, "hosts_size": len(hosts), "start": address(0),
    }  # fmt: skip
    kept_at(path).parent.mkdir(parents=True, exist_ok=True)
    Index(columns, facts_kept, hosts).save(kept_at(path))


def measured(code: str, path: Path, records: int) -> dict[str, float]:
    """Run one of the two implementations in a process of its own; return the best of three runs."""
    runs = []
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, "-c", ADDRESS + code + MEASURE, str(path), str(records), str(LOOKUPS)],
            capture_output=True,
            text=True,
            check=True,
        )
        runs.append(json.loads(ended.stdout))
    return min(runs, key=lambda run: float(run["start"]))


def record_pages(path: Path) -> dict[str, bytes]:
    """Write a WARC file of 30 kB pages that compress like text; return their bodies by path."""
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(3_000)]
    bodies: dict[str, bytes] = {}
    with open(path, "wb") as file:
        for number in range(PAGES):
            body = " ".join(rng.choices(words, k=4_500)).encode()
            bodies[f"/{number}"] = body
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            head = (
                f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number:032x}>\r\n"
                f"WARC-Date: 2026-03-01T00:00:00Z\r\nWARC-Target-URI: http://a.example/{number}\r\n"
                f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
            )
            file.write(gzip.compress(head.encode() + block + b"\r\n\r\n", 6))
    return bodies


async def request_pages(port: int, seconds: float, connections: int = 8) -> tuple[int, int]:
    """Request random pages over persistent connections for some seconds; return the numbers of responses and bytes."""
    deadline = time.monotonic() + seconds
    counts = [0, 0]

    async def client(seed: int) -> None:
        rng = random.Random(seed)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        while time.monotonic() < deadline:
            writer.write(b"GET /%d HTTP/1.1\r\nHost: a.example\r\n\r\n" % rng.randrange(PAGES))
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
            await reader.readexactly(length)
            counts[0] += 1
            counts[1] += length
        writer.close()

    await asyncio.gather(*(client(seed) for seed in range(connections)))
    return counts[0], counts[1]


def served(which: str, path: Path) -> tuple[float, float]:
    """Return a server's responses per second, and milliseconds of CPU for each, in a process of its own."""
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", which, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        asyncio.run(request_pages(port, 1.0))
        before = cpu(server.pid)
        count = asyncio.run(request_pages(port, 5.0))[0]
        return count / 5.0, (cpu(server.pid) - before) / count * 1e3
    finally:
        server.kill()
        server.communicate()


def cpu(process: int) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def serve(which: str, path: Path) -> None:
    """Run one of the servers."""
    if which == "proxy":
        from lycosa.replay.certificates import Authority
        from lycosa.replay.proxy import ReplayProxy
        from lycosa.replay.recording import Recording

        with Recording([path]) as recording:
            async with ReplayProxy(recording, Authority(path.parent)) as proxy:
                print(proxy.port, flush=True)
                await asyncio.Event().wait()
    from aiohttp import web

    bodies = record_pages(path.with_name("again.warc.gz"))

    async def response(request: web.BaseRequest) -> web.Response:
        return web.Response(body=bodies[request.path], content_type="text/html")

    runner = web.ServerRunner(web.Server(response))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(serve(sys.argv[2], Path(sys.argv[3])))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="?", type=int, default=2_000_000)
    records = parser.parse_args().records
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "large.warc.gz"
        synthesise(path, records)
        ours, theirs = measured(OURS, path, records), measured(DICTIONARY, path, records)
        print(f"{records:,} captures, {LOOKUPS:,} lookups, best of three\n")
        print(f"{'':<28}{'index':>12}{'dictionary':>14}{'ratio':>10}")
        for name, key, unit, scale in (
            ("start to first answer", "start", "s", 1.0),
            ("a lookup, mean", "mean", "us", 1e6),
            ("a lookup, 99 of 100 under", "p99", "us", 1e6),
            ("memory", "memory", "MB", 1e-6),
        ):
            mine, other = ours[key] * scale, theirs[key] * scale
            print(f"{name:<28}{mine:>9.2f} {unit:<2}{other:>11.2f} {unit:<2}{other / mine:>10.2f}")
        pages = Path(directory) / "pages.warc.gz"
        record_pages(pages)
        print("\npages of 30 kB over 8 connections")
        for name, which in (("the proxy", "proxy"), ("aiohttp, from memory", "memory")):
            rate, milliseconds = served(which, pages)
            print(f"{name:<28}{rate:>7,.0f} per second, {milliseconds:.2f} ms of CPU each")


if __name__ == "__main__":
    main()
