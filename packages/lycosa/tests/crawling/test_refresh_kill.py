"""Tests of refresh and watch killed at any moment: each change is recorded and reported once."""

import contextlib
import json
import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

from crawl_helpers import Process, check_kept, check_warcs, events_of, lycosa, run, until, visits_of
from held_port import held_port
from lycosa.core.types import Visit
from lycosa.revisit.change import change_of
from lycosa.revisit.ledger import format_counts
from lycosa.store.log import NAME, SqliteLog
from lycosa.store.versions import Versions
from lycosa.testweb import Server, serve
from lycosa.testweb.reply import ServedDocument, ServedResponse, finish
from receiving import receiving
from stored import exact
from tables_of_log import check_log

HOSTS, PAGES = 4, 8
"""Number of hosts, and of pages per host; a front page links to all."""


class Reefs:
    """Pages on reefs: a third change, vanish or move in phase 1, others in phase 2."""

    def __init__(self) -> None:
        self.phase = 0
        self.port = 0
        self.answers = 0
        self.slow_after = 1 << 30
        """Number of responses after which each takes longer, so that the client is still running when it is killed."""

    def url(self, host: int, page: int | str) -> str:
        return f"http://h{host}.localhost:{self.port}/{page}"

    @property
    def front(self) -> str:
        return self.url(0, "front")

    def counts(self, url: str) -> bool:
        return False

    def response(self, url: str, *, headers: Mapping[str, str] | None = None, version: int = 0) -> ServedResponse:
        name, _, path = url.removeprefix("http://").partition("/")
        made = finish(self._document(int(name[1]), path.removeprefix("/")), headers or {})
        self.answers += 1
        return replace(made, delay=0.5) if self.answers > self.slow_after else made

    def _document(self, host: int, path: str) -> ServedDocument:
        if path == "robots.txt":
            return ServedDocument(b"User-agent: *\nAllow: /\n", "text/plain", codec="")
        if path == "front":
            links = [self.url(h, p) for h in range(HOSTS) for p in range(PAGES)]
            changes = "".join(f'<p><a href="{link}">a coral reef</a>' for link in links)
            return ServedDocument(f"<title>Coral reefs</title><body>{changes}".encode(), tag="front")
        if path.startswith("new"):
            return ServedDocument(self.text(host, path, 1).encode(), tag="new")
        if not path.isdigit():
            return ServedDocument(b"nothing here", status=404)
        page = int(path)
        what = self.fate(page, self.phase)
        if what == "gone":
            return ServedDocument(b"nothing here", status=404)
        if what == "moved":
            return ServedDocument(b"", status=301, headers=(("Location", self.url(host, f"new{page}")),))
        version = self.version(page, self.phase)
        return ServedDocument(self.text(host, path, version).encode(), tag=f"v{version}")

    @staticmethod
    def fate(page: int, phase: int) -> str:
        return {(1, 6): "gone", (2, 6): "gone", (1, 7): "moved", (2, 7): "moved"}.get((phase, page), "")

    @staticmethod
    def version(page: int, phase: int) -> int:
        """Return the version of a page in a phase: pages 0 to 2 change in phase 1, 2 to 4 in phase 2."""
        return (phase >= 1 and page <= 2) + (phase >= 2 and 2 <= page <= 4)

    def text(self, host: int, path: str, version: int) -> str:
        words = ("polyps build it", "the survey found it bleached", "storms have turned the tables over")[version]
        return f"<title>Reef {path}</title><body><p>The coral reef {path} of coast {host}: {words}, and coral grows."

    def expected(self, phase: int) -> Counter[tuple[str, str]]:
        """Return the changes expected after all phases so far, each once."""
        changes: Counter[tuple[str, str]] = Counter()
        for host in range(HOSTS):
            for page in range(PAGES):
                now = [self.version(page, p) for p in range(phase + 1)]
                if changed := sum(a != b for a, b in pairwise(now)):
                    changes[self.url(host, page), "changed"] = changed
            if phase:
                changes[self.url(host, 6), "vanished"] = changes[self.url(host, 7), "moved"] = 1
        return changes


@pytest.fixture(scope="module")
def served() -> Iterator[Server]:
    with serve(Reefs(), latency=0.002) as server:  # type: ignore[arg-type]
        yield server


@pytest.fixture(scope="module")
def finished(served: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    web, directory = _web(served), tmp_path_factory.mktemp("finished") / "crawl"
    web.phase = 0
    fast = ["--delay", "0", "--per-host", "4", "--concurrency", "8", "--allow-network", "127.0.0.0/8"]
    ended = run(
        "crawl",
        "coral reef",
        "--judge",
        "vector",
        "--seed",
        web.front,
        "--out",
        str(directory),
        *fast,
        "--quiet",
        "--rotate",
        "9000",
    )
    assert ended.code == 0, ended.err
    pages = [visit for visit in visits_of(events_of(directory, directory.parent / "scratch")) if visit.is_page]
    assert 1 + HOSTS * PAGES == len(pages)
    return directory


@pytest.fixture
def crawl(served: Server, finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "crawl")
    _web(served).phase = 1
    return tmp_path / "crawl"


def _web(server: Server) -> Reefs:
    web = server.web
    assert isinstance(web, Reefs)
    return web


def _told(directory: Path) -> Counter[tuple[str, str]]:
    visits = visits_of(events_of(directory, directory.parent / "scratch"))
    return Counter((visit.node, change.what) for visit in visits if (change := change_of(visit)) is not None)


def _check(directory: Path, web: Reefs, phase: int) -> None:
    assert web.expected(phase) == _told(directory)
    log = SqliteLog(directory / "crawl.sqlite")
    try:
        versions = Versions(log, directory / "archive")
        for host in range(HOSTS):
            for page in range(PAGES):
                numbers = list(dict.fromkeys(web.version(page, p) for p in range(phase + 1)))
                kept = [_plain(versions, visit) for visit in versions.of(web.url(host, page))]
                assert [web.text(host, str(page), number) for number in numbers] == kept
                for look in log.visits("url = ?", given=(web.url(host, page),)):
                    if look.outcome == "unchanged":
                        assert _plain(versions, look) in kept
        check_kept(directory, list(log))
    finally:
        log.close()
    check_warcs(directory)


def _plain(versions: Versions, visit: Visit) -> str:
    from lycosa.web.inflate import inflate

    exchange = versions.exchange(visit)
    assert exchange is not None
    return inflate(exchange.body, exchange.header("content-encoding"), 10**6)[0].decode()


@contextlib.contextmanager
def _under_way(command: list[str], hits: int, server: Server) -> Iterator[Process]:
    web, seen = _web(server), len(server.log)
    web.slow_after = web.answers + hits
    process = lycosa(*command)
    until(lambda: len(server.log) >= seen + hits, f"{hits} requests")
    yield process
    web.slow_after = 1 << 30


def _let_die(command: list[str], death: str, server: Server) -> None:
    point, _, number = death.partition(":")
    if point == "hits":
        with _under_way(command, int(number), server) as process:
            process.kill()
    else:
        process = lycosa(*command, sabotage=death)
    ended = process.wait()
    assert -signal.SIGKILL == ended.code, f"{death}: {ended.code} {ended.err}"


def test_refresh_killed_records_each_change_once(served: Server, crawl: Path) -> None:
    command = ["refresh", str(crawl), "--all", "--quiet"]
    before: Counter[tuple[str, str]] = Counter()
    for death in ("write:3", "unlogged:5", "uncommitted:7", "hits:12"):
        _let_die(command, death, served)
        now = _told(crawl)
        assert before <= now, "a recorded change is lost"
        assert now <= _web(served).expected(1), "a change was recorded twice, or is none"
        before = now
    assert 0 < before.total() < _web(served).expected(1).total()
    ended = run(*command)
    assert (0, "", "") == (ended.code, ended.out, ended.err)
    _check(crawl, _web(served), 1)


def test_refresh_killed_at_any_statement_records_each_change_once(served: Server, crawl: Path, tmp_path: Path) -> None:
    """12 kills; those of a crawl are in test_kill.py."""
    command, chance = ["refresh", str(crawl), "--all", "--quiet"], Random(5)
    log = tmp_path / "scratch" / NAME
    before = exact(events_of(crawl, log.parent))
    for _ in range(12):
        _let_die(command, f"statement:{chance.randrange(2, 24)}", served)
        now = exact(events_of(crawl, log.parent))
        assert before == now[: len(before)], "a recorded event is lost"
        assert _told(crawl) <= _web(served).expected(1), "a change was recorded twice, or is none"
        check_log(log)
        before = now
    assert 0 < _told(crawl).total()
    ended = run(*command)
    assert (0, "", "") == (ended.code, ended.out, ended.err)
    check_log(crawl / NAME)
    _check(crawl, _web(served), 1)


def test_watch_killed_records_each_change_once(served: Server, crawl: Path) -> None:
    web = _web(served)
    command = ["watch", str(crawl), "--now", ".", "--per-hour", "1000000", "--quiet"]
    for death in ("hits:20", "uncommitted:9"):
        _let_die(command, death, served)
        assert _told(crawl) <= web.expected(1)
    for phase, death in ((1, ""), (2, "committed:10"), (2, "")):
        web.phase = phase
        if death:
            _let_die(command, death, served)
            continue
        process = lycosa(*command)
        try:
            until(lambda phase=phase: web.expected(phase) <= _told(crawl), "all changes to be recorded")  # type: ignore[misc]
        finally:
            process.send_signal(signal.SIGTERM)
        ended = process.wait()
        assert (0, "", "") == (ended.code, ended.out, ended.err)
        _check(crawl, web, phase)


def test_refresh_interrupted_can_be_repeated(served: Server, crawl: Path) -> None:
    with _under_way(["refresh", str(crawl), "--all", "--quiet"], 15, served) as process:
        process.send_signal(signal.SIGINT)
        ended = process.wait()
    assert (0, "", "") == (ended.code, ended.out, ended.err)
    last = json.loads(json.dumps(events_of(crawl, crawl.parent / "scratch")[-1].value))  # type: ignore[union-attr]
    assert last["reason"] == "stopped"
    ended = run("refresh", str(crawl), "--all", "--quiet")
    assert 0 == ended.code, ended.err
    _check(crawl, _web(served), 1)


def test_refresh_on_full_disk_can_be_repeated(served: Server, crawl: Path) -> None:
    with contextlib.closing(sqlite3.connect(crawl / "crawl.sqlite")) as log:
        pages = log.execute("PRAGMA page_count").fetchone()[0]
    ended = run("refresh", str(crawl), "--all", "--quiet", sabotage=f"full-log:{pages + 1}")
    assert f"lycosa refresh {crawl}" in ended.complaint
    assert "room" in ended.complaint or "space" in ended.complaint
    assert _told(crawl) <= _web(served).expected(1)
    ended = run("refresh", str(crawl), "--all", "--quiet")
    assert 0 == ended.code, ended.err
    _check(crawl, _web(served), 1)


@pytest.fixture
def port() -> Iterator[int]:
    with held_port() as port:
        yield port


def test_refresh_notifies_after_kill(served: Server, crawl: Path, port: int) -> None:
    command = ["refresh", str(crawl), "--all", "--quiet", "--notify", f"json://127.0.0.1:{port}/hook"]
    _let_die(command, "committed:20", served)
    ended = run(*command)  # there is no listener yet
    assert 0 == ended.code, ended.err
    with receiving(port) as got:
        for _ in range(2):
            ended = run(*command)
            assert 0 == ended.code, ended.err
    expected = _web(served).expected(1)
    found = Counter[str]()
    for (_, what), count in expected.items():
        found[what] += count
    assert [format_counts(found)] == [message["title"].partition(":")[0] for message in got]
    _check(crawl, _web(served), 1)
    entries = ElementTree.parse(crawl / "changes.atom").getroot().findall("{*}entry")
    assert expected.total() == len({entry.findtext("{*}id") for entry in entries}) == len(entries)
    assert "json://" not in (crawl / "crawl.toml").read_text()
