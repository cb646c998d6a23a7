"""Helpers for tests of whole crawls: simulated crawls, crawls in processes, and checks of their output."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

import saboteur
from browsed_web import browse
from lycosa.core.budget import Budget
from lycosa.core.composite import Frontiers
from lycosa.core.engine import Engine
from lycosa.core.frontier import Frontier
from lycosa.core.progress import ProgressCallback
from lycosa.core.protocols import Judge, Log
from lycosa.core.scan import ScanFrontier
from lycosa.core.table import _COLUMNS as COLUMNS
from lycosa.core.table import OPEN
from lycosa.core.types import Event, Page, Seed, Visit
from lycosa.judges.vector_judge import VectorJudge
from lycosa.spaces.web_space import WebSpace
from lycosa.store.log import MemoryLog, SqliteLog
from lycosa.strategies import strategy as strategy_by_name
from lycosa.testweb import ServedResponse, Server, Web
from lycosa.testweb.simulation import SimTransport, WebProtocol, clock
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.browse import train_browse
from lycosa.training.corpus import Account
from lycosa.training.rules import train_rules
from lycosa.training.sources import page_of
from lycosa.training.train_model import train
from lycosa.web.html import extract
from lycosa.web.politeness import Politeness


def sim_engine(
    web: WebProtocol,
    topic: str | Judge,
    log: Log | None = None,
    *,
    strategy: str = "best-first",
    seed: int = 1,
    pages: int = 0,
    concurrency: int = 8,
    delay: float = 1.0,
    per_host: int = 1,
    host_budget: int = 0,
    latency: tuple[float, float] = (0.05, 2.0),
    patience: float = 300.0,
    readers: int = 0,
    **facts: Any,
) -> Engine:
    """Return an engine over a simulated transport; must be called inside a virtual loop."""
    judge = VectorJudge(topic) if isinstance(topic, str) else topic
    guide = strategy_by_name(strategy, seed=seed, budget=pages or 250, threshold=judge.threshold, **facts)
    if hasattr(judge, "facets"):
        judge.facets = guide.wants
    return Engine(
        sim_space(web, seed=seed, delay=delay, per_host=per_host, latency=latency, readers=readers),
        judge,
        guide,
        MemoryLog() if log is None else log,
        clock=clock,
        budget=Budget(pages=pages),
        reader=Vocabulary(),
        concurrency=concurrency,
        host_budget=host_budget,
        patience=patience,
        judge_name="test",
    )


def sim_space(
    web: WebProtocol,
    *,
    seed: int = 1,
    delay: float = 1.0,
    per_host: int = 1,
    latency: tuple[float, float] = (0.05, 2.0),
    readers: int = 0,
) -> WebSpace:
    """Return a web space without sockets."""
    # All hosts have one address; networks that are allowed by name have no delay per address.
    politeness = Politeness(clock, delay=delay, at_once=per_host, free=lambda address: True)
    transport = SimTransport(web, seed=seed, latency=latency, politeness=politeness if per_host > 1 else None)
    return WebSpace(transport, politeness, clock, readers=readers)


class Remembered:
    """Web that composes each page once, for tests that crawl it many times."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.counts = web.counts
        self._replies: dict[tuple[str, int], ServedResponse] = {}

    def response(self, url: str, *, headers: Any = None, version: int = 0) -> ServedResponse:
        """Return the web's response, which is cached, as request headers never change."""
        if (url, version) not in self._replies:
            self._replies[url, version] = self.web.response(url, headers=headers or {}, version=version)
        return self._replies[url, version]


def hits_of(engine: Engine) -> list[Any]:
    """Return the requests received by the simulated transport of an engine."""
    assert isinstance(engine.space, WebSpace)
    assert isinstance(engine.space.transport, SimTransport)
    return engine.space.transport.log


def plant(engine: Engine, seeds: Sequence[str]) -> None:
    """Record and fold the seeds, as a new crawl does."""
    for node in seeds:
        event = Seed(node, clock())
        engine.log.append(event)
        engine.fold(event)


def picks(visits: Sequence[Visit]) -> list[tuple[str, str, int, float, str]]:
    """Return the visited nodes in order, with the fields that identify a pick."""
    return [(visit.node, visit.kind, visit.pick, visit.priority, visit.outcome) for visit in visits]


async def go_on(engine: Engine, turns: int) -> tuple[list[tuple[str, int, float]], list[Any]]:
    """Run `turns` visits of an engine; return its picks in order and its records."""
    picked: list[tuple[str, int, float]] = []
    begin = engine._start

    def start(task: Any) -> None:
        picked.append((task.node, task.pick, task.priority))
        begin(task)

    engine._start = start  # type: ignore[method-assign]
    recorded = []
    running = engine.run()
    async for visit in running:
        recorded.append(visit)
        if len(recorded) == turns:
            break
    await leave(running)
    return picked, picks(recorded)


async def leave(running: AsyncIterator[Visit]) -> None:
    """Stop a running crawl."""
    await asyncio.sleep(0)  # launched tasks take their first step
    await running.aclose()  # type: ignore[attr-defined]


def scores_of(frontier: Frontier, rows: NDArray[np.intp]) -> list[bytes]:
    """Return the priorities of rows, per arm of a bandit; linear estimators are evaluated."""
    if isinstance(frontier, Frontiers):
        return [scores for arm in frontier.arms for scores in scores_of(arm, rows)]
    if not isinstance(frontier, ScanFrontier) or not frontier.linear:
        return [frontier.priority[rows].tobytes()]
    found = []
    for row in rows.tolist():
        # Seeds have infinite priority, in flight or not.
        known = frontier._where[row] and frontier.priority[row] < np.inf
        found.append(frontier._exact(np.array([row], np.int32))[0] if known else frontier.priority[row])
    return [np.array(found, np.float64).tobytes()]


def state_of(engine: Engine) -> dict[str, Any]:
    """Return everything an engine has learned, exactly, without visits in flight."""
    table, n = engine.table, len(engine.table)
    words = engine.reader
    assert isinstance(words, Vocabulary)
    is_open = np.flatnonzero(table.state[:n] == OPEN)
    return {
        "nodes": list(table.nodes),
        "lanes": list(table.hosts),
        "open": is_open.tobytes(),
        "scores": scores_of(engine.frontier, is_open),
        "columns": {name: getattr(table, name)[:n].tobytes() for name in COLUMNS},
        "edges": (table.edges.parent.tobytes(), table.edges.child.tobytes(), table.edges.alpha.tobytes()),
        "lane pages": {host_key.name: host_key.pages for host_key in engine.frontier.queues if host_key.pages},
        "terms": list(words.terms),
        "frequency": words.frequency[: len(words.terms)].tobytes(),
        "read": words.pages,
        "tally": (engine.tally.pages, engine.tally.relevant, engine.tally.bytes, dict(engine.tally.outcomes)),
        "settings": dict(engine.tally.settings),
    }


def looked_up(
    web: WebProtocol, urls: Sequence[str], account: Account, progress: ProgressCallback
) -> Iterator[tuple[str, Page]]:
    """Yield the pages of an in-memory web for training; `partial(looked_up, web)` is a Look."""
    for url in urls:
        reply = web.response(url, headers={}, version=0)
        if reply.status == 200 and dict(reply.headers).get("Content-Type", "").startswith("text/html"):
            yield url, page_of(extract(reply.body, url))


def table_of(web: Web, place: Path, every: int = 2) -> Path:
    """Write a table of URLs and topics with every `every`-th page that has a topic."""
    known = [(url, topic) for url in web.urls() if (topic := web.topic(url))]
    place.write_text("url\tclass\n" + "".join(f"{url}\t{topic}\n" for url, topic in known[::every]))
    return place


def taught(web: Web, place: Path) -> tuple[Path, Path]:
    """Train a model of a web's topics and rules between them; return their files."""
    look = partial(looked_up, Remembered(web))
    table = table_of(web, place / "pages.tsv")
    model = train([str(table)], place / "topics.model", look, held_out=0.0).model
    train_rules(str(table), model, look, most=40).book.save(place / "rules.tsv")
    return place / "topics.model", place / "rules.tsv"


def browsed(web: Web, topic: str, place: Path) -> Path:
    """Train a browsing model on a simulated session; return its file."""
    record = place / "record.jsonl"
    record.write_text("\n".join(browse(web, topic)))
    train_browse(record, place / "browsing.model", partial(looked_up, Remembered(web)))
    return place / "browsing.model"


ONTOLOGY = """coral	is-a	polyp
polyp	is-a	animal
fish	is-a	animal
reef	is-a	ridge
atoll	is-a	reef
reef	related	lagoon
coral	synonym	coral animal
"""
"""Word relations as a table: a small excerpt in the style of WordNet."""


_FORKING = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload(["saboteur", "pytest"])


@cache
def _load_once() -> None:
    """Start the fork server with all modules that commands need."""
    with pytest.MonkeyPatch.context() as patch:  # before Python 3.13 the fork server ignores sys.path
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        forkserver.ensure_running()


def arguments(server: Server, topic: str, out: Path, *more: str) -> list[str]:
    """Return the command line of a fast crawl over the embedded web."""
    seeds = [part for url in server.web.seeds(topic, 3) for part in ("--seed", url)]
    fast = ["--delay", "0", "--per-host", "4", "--concurrency", "16", "--allow-network", "127.0.0.0/8"]
    cheap = ["--judge", "vector", "--strategy", "best-first"]
    return ["crawl", server.web.query(topic), *seeds, "--out", str(out), *fast, *cheap, "--quiet", *more]


class Process:
    """Command in its own process, optionally with an injected fault."""

    def __init__(self, args: Sequence[str], sabotage: str) -> None:
        _load_once()
        self._printed = [tempfile.NamedTemporaryFile("r", encoding="utf-8") for _ in range(2)]  # noqa: SIM115
        environment = {**os.environ, "NO_COLOR": "1"}
        paths = [file.name for file in self._printed]
        self._process = _FORKING.Process(target=saboteur.run, args=(list(args), sabotage, environment, *paths))
        self._process.start()
        self.pid = self._process.pid
        self.kill = self._process.kill

    @property
    def running(self) -> bool:
        return self._process.is_alive()

    def send_signal(self, number: int) -> None:
        assert self.pid
        os.kill(self.pid, number)

    def wait(self, seconds: float = 240.0) -> Ended:
        """Wait for the process; kill it and fail the test after `seconds`."""
        self._process.join(seconds)
        hangs = self.running
        if hangs:
            self.kill()
            self._process.join()
        out, err = (file.read() for file in self._printed)
        for file in self._printed:
            file.close()
        assert not hangs, f"the command did not end within {seconds} s: {err}"
        assert self._process.exitcode is not None
        return Ended(self._process.exitcode, out, err)


def lycosa(*args: str, sabotage: str = "") -> Process:
    """Start a command."""
    return Process(args, sabotage)


@dataclass
class Ended:
    """Exit code and output of a process."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """Return the error message, which must be one line without a traceback."""
        lines = self.err.strip().splitlines()
        assert self.code != 0
        assert len(lines) == 1, self.err
        assert lines[0].startswith("lycosa: ")
        return lines[0]


def run(*args: str, sabotage: str = "") -> Ended:
    """Run a command to its end."""
    return lycosa(*args, sabotage=sabotage).wait()


def until(condition: Callable[[], object], what: str, seconds: float = 120.0) -> None:
    """Poll for a condition that another thread or process brings about."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.005)


def events_of(directory: Path, scratch: Path) -> list[Event]:
    """Return the events of a log, read from a copy.

    Opening the log itself would clean up after a killed process, which is left to the resumed crawl.
    """
    scratch.mkdir(exist_ok=True)
    copy = scratch / "crawl.sqlite"
    for suffix in ("", "-wal", "-shm"):
        Path(f"{copy}{suffix}").unlink(missing_ok=True)
        source = directory / f"crawl.sqlite{suffix}"
        if source.exists() and suffix != "-shm":
            shutil.copy(source, f"{copy}{suffix}")
    if not copy.exists() or not _has_events(copy):
        return []
    log = SqliteLog(copy)
    try:
        return list(log)
    finally:
        log.close()


def _has_events(path: Path) -> bool:
    database = sqlite3.connect(path)
    try:
        return bool(database.execute("SELECT 1 FROM sqlite_master WHERE name = 'visit'").fetchone())
    finally:
        database.close()


def visits_of(events: Sequence[Event]) -> Iterator[Visit]:
    """Return the visits among some events."""
    return (event for event in events if isinstance(event, Visit))


def check_kept(directory: Path, events: Sequence[Event]) -> int:
    """Check that every archived visit has its record at the logged place, with URL and bytes; return their number."""
    found = 0
    for visit in visits_of(events):
        if visit.kind == "page" and visit.outcome == "ok":
            assert visit.place.file, visit.node
        if not visit.place.file:
            continue
        with open(directory / "archive" / visit.place.file, "rb") as file:
            file.seek(visit.place.offset)
            records = ArchiveIterator(file, check_digests="raise")
            response = next(records)
            assert response.rec_headers["WARC-Target-URI"] == visit.node
            assert response.rec_type in ("response", "revisit")
            body = response.raw_stream.read()
            if response.rec_type == "response":
                assert len(body) == visit.size
            else:
                records.read_to_end()
            request = next(records)
            assert request.rec_type == "request"
            assert request.rec_headers["WARC-Target-URI"] == visit.node
            request.raw_stream.read()
            records.read_to_end()
            assert records.get_record_offset() + records.get_record_length() == _end(visit)
        found += 1
    return found


def _end(visit: Visit) -> int:
    return visit.place.offset + visit.place.length


class _Options:
    def __init__(self, inputs: list[str]) -> None:
        self.inputs = inputs
        self.verbose = False


def check_warcs(directory: Path, known: Container[tuple[str, int]] = ()) -> int:
    """Check all WARC files with `warcio check`, except those in `known` (name, size); return their number."""
    found = sorted((directory / "archive").glob("*.warc.gz"))
    files = [str(path) for path in found if (path.name, path.stat().st_size) not in known]
    checker = Checker(_Options(files))
    checker.process_all()
    assert checker.exit_value == 0
    for name in files:  # warcio ignores a truncated last member
        with open(name, "rb") as file:
            records = ArchiveIterator(file)
            for record in records:
                record.raw_stream.read()
            records.read_to_end()
            assert records.get_record_offset() + records.get_record_length() == os.path.getsize(name)
    return len(found)


def world(pages: int = 1500, traps: Sequence[str] = ("redirects", "dead", "duplicates")) -> Web:
    """Return a web with redirects, dead links and copies."""
    return Web(pages=pages, hosts=40, traps=traps)
