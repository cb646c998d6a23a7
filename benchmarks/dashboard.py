"""Cost of the dashboard of a large crawl: the server's CPU time for each request, and its memory.

    python benchmarks/dashboard.py DIR

Starts `lycosa serve` with an account and an interest, and replaces the interest's crawl by the one in DIR (made by
`large.py`, for example; its files are linked, not copied). Then every request of the interest's pages is sent twice.
Printed are the CPU seconds of the server's processes, the seconds until the whole response was received, and the memory
of the process that responds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers"))

from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.testweb import Web, serve
from served import API, Served, wait

TOPIC = "marine biology/coral reefs"
OPTIONS = ("--allow-network", "127.0.0.0/8", "--delay", "0", "--quiet")


def processes(root: int) -> Iterator[int]:
    """Yield the pid of a process and of all its descendants."""
    yield root
    for task in Path(f"/proc/{root}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from processes(int(child))


def cpu(root: int) -> float:
    """Return the CPU seconds of a process and its descendants so far."""
    ticks = 0
    for pid in processes(root):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(root: int) -> int:
    """Return the peak memory of the largest process, in MiB."""
    peaks = (Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0] for pid in processes(root))
    return max(map(int, peaks)) // 1024


def prepare(data: Path, crawl: Path) -> tuple[str, str, dict[str, str]]:
    """Fill a data directory with an interest that has this crawl. Return their ids and the request headers."""
    web = Web(pages=300, hosts=6, traps=())
    with serve(web, record=False), Served(data, "", *OPTIONS) as server:
        server.become_admin()
        settings = {"words": web.query(TOPIC), "seeds": web.seeds(TOPIC), "budget": 10}
        interest = server.ask("POST", "/interests", {"name": "large", "settings": settings})["id"]
        crawl_id = server.ask("POST", f"/interests/{interest}/crawls")["id"]
        wait(lambda: server.ask("GET", f"/crawls/{crawl_id}")["state"] == "finished", "it does not end")
        headers = server.headers
    (own,) = (path.parent for path in data.rglob(f"*{crawl_id}*/{NAME}"))
    shutil.rmtree(own)
    shutil.copytree(crawl, own, copy_function=os.link)
    for name in (NAME, "snapshot"):  # files that the server writes to must not be shared
        if (own / name).is_file():
            (own / name).unlink()
            shutil.copy2(crawl / name, own / name)
    return interest, crawl_id, headers


def questions(directory: Path, interest: str, crawl: str) -> dict[str, str]:
    """Return the paths to request, by name of the request."""
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        (visit,) = log.visits("kind = 'page' AND outcome = 'ok'", "seq LIMIT 1")
    url = urllib.parse.quote(visit.node, safe="")
    return {
        "the interests": "/interests",
        "the interest": f"/interests/{interest}",
        "progress": f"/crawls/{crawl}/progress",
        "results": f"/crawls/{crawl}/pages?limit=20",
        "results at another threshold": f"/crawls/{crawl}/pages?limit=20&threshold=0.3",
        "results, page 500": f"/crawls/{crawl}/pages?limit=20&offset=10000",
        "search": f"/crawls/{crawl}/search?q=coral%20bleaching&limit=20",
        "a page": f"/crawls/{crawl}/page?url={url}",
        "its archived copy": f"/crawls/{crawl}/reader?url={url}",
        "the least certain pages": f"/crawls/{crawl}/unsure",
        "graph": f"/crawls/{crawl}/graph",
        "changes": f"/interests/{interest}/changes",
        "labels": f"/interests/{interest}/feedback",
        "suggestions": f"/interests/{interest}/suggestions",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
    Directory.open(directory).close()
    with tempfile.TemporaryDirectory(dir=directory.resolve().parent) as place:
        data = Path(place) / "data"
        interest, crawl, headers = prepare(data, directory)
        with Served(data, "", *OPTIONS) as server:
            server.headers = headers
            print("| | CPU s | s | again, CPU s | MiB |\n|---|---|---|---|---|")
            for name, path in questions(directory, interest, crawl).items():
                took: list[str] = []
                for _ in range(2):
                    before, begun = cpu(server.process.pid), time.monotonic()
                    request = urllib.request.Request(f"{server.url}{API}{path}", headers=headers)
                    with urllib.request.urlopen(request, timeout=600) as response:
                        response.read()
                    took += [f"{cpu(server.process.pid) - before:.2f}", f"{time.monotonic() - begun:.2f}"]
                print(f"| {name} | {' | '.join(took[:3])} | {memory(server.process.pid)} |", flush=True)


if __name__ == "__main__":
    main()
