"""Kill a crawl on four shards again and again, and check that no page is lost or recorded twice.

    python benchmarks/cluster_kills.py DIR [--pages 100000] [--shards 4] [--kills 10] [--seconds 0]

This process serves a web, and `lycosa crawl --cluster local:4` crawls it. At random moments a shard, the coordinator,
or everything is killed with SIGKILL. Ray restarts a shard or the coordinator; after everything was killed, `lycosa
resume` continues. With `--seconds` the crawl is stopped after that time and checked as it is.

With `--kills 0` it measures pages per second and the CPU time of each kind of process, after the first fifth of the
pages, when Ray and its processes have started.

Checks: each page is recorded once in the shards' logs, and the common log has the same pages; each page is in the
archive; pages that were served but not recorded, or fetched twice, were in flight at a kill.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from lycosa.core.types import Visit
from lycosa.store.log import NAME, SqliteLog
from lycosa.store.warc import read_record
from lycosa.testweb import Web
from lycosa.testweb.server import Server, serve
from lycosa_cluster.splitting import shard_path

TOPIC = "marine biology/coral reefs"
LYCOSA = str(Path(sys.executable).with_name("lycosa"))


def start(out: Path, web: Web, given: argparse.Namespace) -> subprocess.Popen[bytes]:
    """Start the crawl, or resume it."""
    cluster = ["--cluster", f"local:{given.shards}"]
    if (out / "crawl.toml").exists():
        words = [LYCOSA, "resume", str(out), *cluster]
    else:
        seeds = [word for seed in web.seeds(TOPIC) for word in ("--seed", seed)]
        words = [
            LYCOSA, "crawl", web.query(TOPIC), *seeds, "--out", str(out), "--budget", str(given.pages), *cluster,
            "--delay", "0", "--concurrency", "8", "--allow-network", "127.0.0.0/8", "--quiet",
        ]  # fmt: skip
    with open(out.parent / "crawl.log", "ab") as log:
        return subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)


def kill(crawl: subprocess.Popen[bytes], target: str) -> bool:
    """Kill a shard, the coordinator or all processes of the crawl; return False if there is no such process."""
    family = [psutil.Process(crawl.pid), *psutil.Process(crawl.pid).children(recursive=True)]
    if target == "everything":
        chosen = family
    else:
        alive = [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
        named = [one for one in alive if target in " ".join(one.cmdline()[:1])]
        chosen = random.sample(named, 1) if named else []
    for process in chosen:
        process.send_signal(signal.SIGKILL)
    return bool(chosen)


class CpuUsage:
    """Recorder of the CPU time of a crawl's processes by kind, after its first `begin` pages."""

    def __init__(self, crawl: subprocess.Popen[bytes], begin: int) -> None:
        self.crawl, self.begin = crawl, begin
        self._now: dict[int, tuple[str, float]] = {}
        self._first: tuple[float, int, Counter[str]] | None = None
        self._last = 0.0, 0

    def sample(self, pages: int) -> None:
        """Sample CPU times; call it often, because processes that have ended cannot be queried."""
        with contextlib.suppress(psutil.Error):
            own = psutil.Process(self.crawl.pid)
            for one in (own, *own.children(recursive=True)):
                with contextlib.suppress(psutil.Error, IndexError):
                    times, name = one.cpu_times(), Path(one.cmdline()[0].split()[0]).name
                    self._now[one.pid] = name.partition(".")[0], times.user + times.system
        if self._first is None and pages >= self.begin:
            self._first = time.monotonic(), pages, self._by_kind()
        if pages > self._last[1]:
            self._last = time.monotonic(), pages

    def _by_kind(self) -> Counter[str]:
        found = Counter[str]()
        for name, seconds in self._now.values():
            found[name] += seconds  # type: ignore[assignment]
        return found

    def summary(self) -> dict[str, Any]:
        """Return pages per second, and milliseconds of CPU per page."""
        assert self._first is not None
        at, pages, before = self._first
        pages = max(1, self._last[1] - pages)
        cpu = {name: round(1e3 * (usage - before[name]) / pages, 2) for name, usage in self._by_kind().most_common()}
        return {
            "pages per second": round(pages / (self._last[0] - at), 1),
            "ms of CPU per page": {name: ms for name, ms in cpu.items() if ms >= 0.05},
        }


def _pages(server: Server) -> int:
    return sum(hit.status == 200 and hit.path != "/robots.txt" for hit in server.log)


def check(out: Path, shards: int, server: Server) -> dict[str, Any]:
    """Compare the logs, the archive and the server's record of requests."""
    own: Counter[str] = Counter()
    for number in range(shards):
        log = SqliteLog(shard_path(out, number) / NAME, readonly=True)
        own.update(node for (node,) in log.rows("url", "kind = 'page' AND outcome = 'ok'"))
        log.close()
    merged, missing = Counter[str](), 0
    log = SqliteLog(out / NAME, readonly=True)
    for visit in log.visits("kind = 'page' AND outcome = 'ok'"):
        assert isinstance(visit, Visit)
        merged[visit.node] += 1
        head, _, _ = read_record(out / "archive" / visit.place.file, visit.place)
        missing += visit.node.encode() not in head
    log.close()
    answered = Counter(f"http://{hit.host}{hit.path}" for hit in server.log if hit.status == 200)
    return {
        "pages": len(own), "recorded twice": sum(count - 1 for count in own.values()),
        "missing in the common log": len(own - merged), "only in the common log": len(merged - own),
        "not in the archive": missing,
        "recorded but never served": sum(not answered[_without_port(node)] for node in own),
        "served again": sum(max(0, answered[_without_port(node)] - 1) for node in own),
    }  # fmt: skip


def _without_port(node: str) -> str:
    return re.sub(r"^(http://[^/:]+):\d+", r"\1", node)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--between", type=float, nargs=2, default=(20.0, 120.0), help="seconds between two kills")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    out = given.out / "crawl"
    web = Web(pages=int(1.3 * given.pages), hosts=max(20, given.pages // 100), traps=("redirects", "dead"))
    killed, began = Counter[str](), time.monotonic()
    with serve(web) as server:
        crawl = start(out, web, given)
        usage = CpuUsage(crawl, given.pages // 5)
        due = time.monotonic() + random.uniform(*given.between)
        while True:
            time.sleep(0.5)
            if not given.kills:
                usage.sample(_pages(server))
            over = given.seconds and time.monotonic() - began > given.seconds
            if crawl.poll() is not None:
                if crawl.returncode == 0 or over:
                    break
                crawl = start(out, web, given)
            if over:
                crawl.send_signal(signal.SIGINT)
                crawl.wait(120)
                break
            if time.monotonic() > due and killed.total() < given.kills:
                target = random.choice(("ray::ShardHost", "ray::ShardHost", "ray::Coord", "everything"))
                if kill(crawl, target):
                    killed[target] += 1
                    print(f"{time.monotonic() - began:.0f} s: killed {target}", flush=True)
                due = time.monotonic() + random.uniform(*given.between)
        cost = {} if given.kills else usage.summary()
        print(json.dumps({"killed": killed, **check(out, given.shards, server), "code": crawl.returncode, **cost}))


if __name__ == "__main__":
    main()
