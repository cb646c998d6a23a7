"""Count Python calls and files of Lycosa for one page, one revisit and one `lycosa show`.

    python tools/walk.py [--json]

Crawls the embedded web over loopback in virtual time, one request at a time, otherwise with the defaults of the command
line; then revisits its pages, each with a new paragraph. The first visits are not counted, because caches fill and
modules are imported. A page's walk reaches from the end of the previous visit to the end of its own: pick, fetch,
judge, learn, record. Figures are medians over pages. `lycosa show` is run several times, and the minimum of the later
ones counts.

A call is a function of Lycosa that starts, not one that resumes. Comprehensions and generator expressions are not
counted, because later Pythons run some of them without a frame; nor is the embedded web (lycosa/testweb).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import lycosa
from lycosa.cli import main as command_line
from lycosa.testweb import Server, Web
from lycosa.testweb.reply import ServedDocument

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers"))

from patient_loop import PatientLoop

SOURCE = f"{Path(lycosa.__file__).parent}{os.sep}"
EMBEDDED_WEB = f"{SOURCE}testweb{os.sep}"
NOT_COUNTED = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<module>"}

WARM_UP_VISITS = 20
COUNTED_PAGES = 60
SHOWN_PAGES = 40
SHOW_RUNS = 6
START, DAY = 1_700_000_000.0, 86_400.0
PORTS = range(18_765, 18_865)  # ports with the same number of digits, because URLs are split into tokens
PARAGRAPH = b"<p>Since last week there is a new section about divers, boats and tides.</p>"


class Walk(NamedTuple):
    """Number of Python calls, and of files with called functions."""

    calls: int
    files: int


class CallCounter:
    """Counter of calls in this thread and in threads started meanwhile."""

    def __init__(self) -> None:
        self._calls = 0
        self._files: set[str] = set()
        self._is_counted: dict[CodeType, bool] = {}

    def __enter__(self) -> CallCounter:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def lap(self) -> Walk:
        """Return the counts since the last lap."""
        walk = Walk(self._calls, len(self._files))
        self._calls, self._files = 0, set()
        return walk

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        counted = self._is_counted.get(code)
        if counted is None:
            file = code.co_filename
            counted = file.startswith(SOURCE) and not file.startswith(EMBEDDED_WEB) and code.co_name not in NOT_COUNTED
            self._is_counted[code] = counted
        if counted and code.co_code[frame.f_lasti + 1] == 0:  # RESUME 0: start of a function; 1 to 3: yield, await
            self._calls += 1
            self._files.add(code.co_filename)


class ChangedWeb(Web):
    """The embedded web with a new paragraph on every page."""

    def _clean(self, page: int) -> ServedDocument:
        before = super()._clean(page)
        return replace(before, body=before.body.replace(b"</body>", PARAGRAPH + b"</body>"), tag="changed", modified=0)


class QuickLoop(PatientLoop):
    """Virtual time that advances after a millisecond of silence, because the server runs in the same loop."""

    grace = 0.001


def measure() -> dict[str, Walk]:
    """Return the walks by name: page, revisit, show."""
    port = free_port()
    with tempfile.TemporaryDirectory() as directory:
        crawl, short = Path(directory) / "crawl", Path(directory) / "short"
        page = run(crawled(crawl, port, WARM_UP_VISITS + COUNTED_PAGES))
        revisit = run(revisited(crawl, port))
        run(crawled(short, port, SHOWN_PAGES))
        return {"page": page, "revisit": revisit, "show": show(short)}


def free_port() -> int:
    """Return the first port that can be bound; raise OSError if there is none."""
    for port in PORTS:
        with socket.socket() as attempt, contextlib.suppress(OSError):
            attempt.bind(("127.0.0.1", port))
            return port
    raise OSError(f"no free port from {PORTS[0]} to {PORTS[-1]}")


def run(walk: Coroutine[Any, Any, Walk]) -> Walk:
    with asyncio.Runner(loop_factory=QuickLoop) as runner:
        return runner.run(walk)


async def crawled(directory: Path, port: int, budget: int) -> Walk:
    """Crawl into a new directory; return the median walk of its pages."""
    time = asyncio.get_running_loop().time
    async with Server(Web(traps=()), port=port, record=False) as server:
        topic = server.web.topics[0]
        crawl = lycosa.crawl(
            server.web.query(topic), server.web.seeds(topic), out=directory, budget=budget, concurrency=1, delay=0.0,
            allow_network=["127.0.0.0/8"], clock=lambda: START + time(),
        )  # fmt: skip
        return await median(crawl)


async def revisited(directory: Path, port: int) -> Walk:
    """Revisit all pages of a directory, relevant or not; return the median walk of those that changed."""
    time = asyncio.get_running_loop().time
    async with Server(ChangedWeb(traps=()), port=port, record=False):
        return await median(
            lycosa.refresh(directory, everything=True, watch_all=True, clock=lambda: START + DAY + time())
        )


async def median(crawl: lycosa.Crawl) -> Walk:
    """Run a crawl as `lycosa crawl --quiet` does; return the median calls and files of pages after the warm-up."""
    crawl.batch_arrivals = True
    walks: list[Walk] = []
    with CallCounter() as counter:
        async for visit in crawl:
            walk = counter.lap()
            if visit.outcome == "ok" and visit.kind in ("page", "revisit"):
                walks.append(walk)
    calls, files = zip(*walks[WARM_UP_VISITS:], strict=True)
    return Walk(statistics.median_high(calls), statistics.median_high(files))


def show(directory: Path) -> Walk:
    """Return the least walk of several `lycosa show`, which reads the log in slices of time."""
    sys.argv = ["lycosa", "show", str(directory)]
    walks = []
    for _ in range(SHOW_RUNS):
        with CallCounter() as counter, contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            command_line()
        walks.append(counter.lap())
    return Walk(min(walk.calls for walk in walks[1:]), min(walk.files for walk in walks[1:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    as_json = parser.parse_args().json
    walks = measure()
    if as_json:
        print(json.dumps({name: walk._asdict() for name, walk in walks.items()}))
        return
    for name, walk in walks.items():
        print(f"{name:8} {walk.calls:6,} calls through {walk.files} files")


if __name__ == "__main__":
    main()
