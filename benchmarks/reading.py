"""Commands that read a large crawl: time to their first output, total time, and memory.

    python benchmarks/reading.py DIR [--pages 300000] [--base CRAWL] [--base-pages 10000] [--only show,search] [--whole]

The crawl is created first if it does not exist, without fetching 300,000 pages: a crawl of the embedded web (by
`large.py`, or the one given with --base) is repeated under other host names until there are enough pages, each with its
own body, record and links, in the usual format. Then each command runs in a process of its own: wall-clock and CPU
seconds until the first byte of its output and until its end, and its peak memory; an export is stopped at its first
bytes, unless --whole.

The repeated pages differ from a real crawl: they have no words of their own, so the vocabulary does not grow, and the
strategy has learned nothing from them.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import random
import shutil
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import lycosa.cli  # noqa: F401 - before numpy: one thread for its libraries, as in every crawl of the command line
from lycosa.core.types import Visit
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.store.versions import Versions

HERE = Path(__file__).parent
AT_ONCE = 2_000
"""Visits written in one transaction."""


def make(directory: Path, base: Path, pages: int) -> None:
    """Create a crawl of `pages` pages: another one, and copies of it under other names."""
    shutil.copytree(base, directory, ignore=shutil.ignore_patterns("snapshot", "search.*", "*-shm"))
    opened = Directory.open(directory)
    with closing(opened), closing(opened.log()) as log:
        archive = opened.archive(log, "Lycosa", 1_000_000_000)
        with closing(SqliteLog(base / NAME, readonly=True)) as source:
            versions = Versions(source, base / "archive")
            have = next(source.rows("COUNT(*)", "kind = 'page' AND outcome = 'ok'"))[0]
            last, seq, copy = source.end(), source.end(), 0
            while have < pages:
                copy += 1
                batch: list[tuple[int, Visit]] = []
                for visit in source.visits("kind IN ('page', 'robots') AND outcome = 'ok' AND seq <= ?", given=(last,)):
                    if have >= pages:
                        break
                    have += visit.is_page
                    seq += 1
                    batch.append((seq, _renamed(visit, copy, versions, archive, last)))
                    if len(batch) == AT_ONCE:
                        _put(log, batch)
                        print(f"\r{have:,} pages", end="", file=sys.stderr, flush=True)
                _put(log, batch)
        archive.close()
    print(file=sys.stderr)


def _put(log: SqliteLog, batch: list[tuple[int, Visit]]) -> None:
    with log.batch():
        for seq, visit in batch:
            log.put(seq, visit)
    batch.clear()


def _renamed(visit: Visit, copy: int, versions: Versions, archive: object, visits: int) -> Visit:
    """Return a visit of the same page under another host name, with another body and its own place in the archive."""
    exchange = versions.exchange(visit)

    def name(url: str) -> str:
        return url.replace(".localhost", f"-c{copy}.localhost", 1)

    visit.node, visit.origin, visit.same_as = name(visit.node), name(visit.origin), name(visit.same_as)
    visit.parent = name(visit.parent)
    visit.links.urls = [name(url) for url in visit.links.urls]
    visit.pick += copy * visits
    visit.started += copy
    visit.ended += copy
    visit.terms.new = []
    visit.simhash ^= random.Random(visit.node).getrandbits(64)
    if exchange is not None and exchange.body:
        exchange.body += f"\n<!-- {copy} -->".encode()
        visit.digest = exchange.digest = hashlib.sha256(exchange.body).digest()
        visit.size = len(exchange.body)
        exchange.headers = [(key, value) for key, value in exchange.headers if key.lower() != b"content-length"]
        visit.place = archive.append(visit, exchange)  # type: ignore[attr-defined]
    return visit


@dataclass
class Run:
    """Costs of a command: seconds, CPU seconds, memory and exit code."""

    first: float
    """Seconds until the first output."""
    first_cpu: float
    wall: float
    cpu: float
    peak: float
    """Megabytes."""
    code: int


def run(command: list[str], growing: Path | None = None, *, whole: bool = True) -> Run:
    """Run a command to its end, or until its first byte of output or of the file that it writes."""
    begun = time.monotonic()
    first = first_cpu = 0.0
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    while True:
        output = process.stdout.read()
        if not first and (output or (growing is not None and _begun(growing))):
            first, first_cpu = time.monotonic() - begun, _cpu(process.pid)
            if not whole:
                process.kill()
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.005)
    wall = time.monotonic() - begun
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = used.ru_utime + used.ru_stime
    return Run(first or wall, first_cpu or cpu, wall, cpu, used.ru_maxrss / 1024, process.returncode)


def _cpu(pid: int) -> float:
    """Return the CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _begun(out: Path) -> bool:
    """Return whether an output file has content, possibly under a temporary name."""
    return any(path.stat().st_size for path in out.parent.glob(f"{out.name}*"))


def commands(directory: Path, out: Path) -> dict[str, list[str]]:
    """Return the commands to measure, by name."""
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        seqs = [seq for (seq,) in log.rows("seq", "kind = 'page' AND outcome = 'ok'", "seq DESC LIMIT 1")]
        last = log.visit(seqs[0])
        middle = next(log.visits("seq >= ? AND kind = 'page' AND outcome = 'ok'", "seq LIMIT 1", (seqs[0] // 2,)))
    where = str(directory)
    exports = {
        f"export {form}": ["export", where, "--format", form, "--out", str(out / f"out.{form}")]
        for form in ("jsonl", "csv", "parquet", "records", "text", "warc", "wacz")
    }
    return {
        "check": ["check", where],
        "show": ["show", where],
        "report": ["report", where, "--out", str(out / "report.html")],
        "label": ["label", where],
        "page": ["page", where, middle.node],
        "changes": ["changes", where],
        "search": ["search", where, "coral", "bleaching"],
        "search again": ["search", where, "reef", "-n", "20"],
        "judge threshold": ["judge", where, "--threshold", "0.6"],
        "judge words": ["judge", where, "coral", "bleaching"],
        "why page": ["why", where, middle.node],
        "why": ["why", where],
        "why link": ["why", where, last.links.urls[0] if len(last.links) else last.node],
        **exports,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pages", type=int, default=300_000)
    parser.add_argument("--base", type=Path, help="a crawl to repeat")
    parser.add_argument("--base-pages", type=int, default=10_000)
    parser.add_argument("--only", default="", help="comma-separated names of measurements")
    parser.add_argument("--whole", action="store_true", help="run exports to their end")
    given = parser.parse_args()
    if not given.directory.exists():
        base = given.base or given.directory.with_name(f"{given.directory.name}-base")
        if not base.exists():
            sys.path.insert(0, str(HERE))
            import large

            wanted = argparse.Namespace(
                directory=base, pages=given.base_pages, web=1_000_000, every=1_000, topic="coral", strategy="scent"
            )
            asyncio.run(large.crawl(wanted))
        make(given.directory, base, given.pages)
    out = given.directory.with_name(f"{given.directory.name}-out")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    wanted_names = [name.strip() for name in given.only.split(",") if name.strip()]
    lycosa_command = [sys.executable, "-m", "lycosa"]
    print(f"{'':16}  first s  its CPU   wall s    CPU s       MB")
    for name, command in commands(given.directory, out).items():
        if wanted_names and name not in wanted_names:
            continue
        growing = out / command[command.index("--out") + 1].rpartition("/")[2] if "--out" in command else None
        whole = given.whole or not name.startswith("export")
        costs = run([*lycosa_command, *command], growing, whole=whole)
        failed = f"  exit {costs.code}" if costs.code and whole else ""
        first = f"{costs.first:8.2f} {costs.first_cpu:8.2f}"
        print(f"{name:16} {first} {costs.wall:8.2f} {costs.cpu:8.2f} {costs.peak:8,.0f}{failed}", flush=True)


if __name__ == "__main__":
    main()
