"""Tests of crawls that are killed repeatedly: nothing is fetched twice, and nothing is lost."""

import http.client
import json
import shutil
import signal
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

from crawl_helpers import (
    arguments,
    check_kept,
    check_warcs,
    events_of,
    lycosa,
    run,
    until,
    visits_of,
    world,
)
from lycosa.collection.summary import summarise
from lycosa.core.types import Event, Seed
from lycosa.crawling.crawl_log import parse_line
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog, current_labels
from lycosa.testweb import Server, serve
from stored import exact
from tables_of_log import check_log, reader_beside

TOPIC = "marine biology/coral reefs"
CONCURRENCY = 16

DEATHS = (
    "config:1",
    "first-commit:1",
    "hits:30",
    "write:17",
    "aside:1",
    "uncommitted:21",
    "committed:26",
    "created:1",
    "log-line:12",
    "warcinfo:1",
    "rotated:1",
    "unlogged:24",
    "write:1",
)
"""Code points, or ("hits") numbers of requests, at which the process is killed. Files rotate about every 20 pages."""


class Witness:
    """Comparison of the server's requests with the crawl's records after each kill."""

    def __init__(self, server: Server, directory: Path, scratch: Path) -> None:
        self.server, self.directory, self.scratch = server, directory, scratch
        self.seen = 0
        self.asked: set[str] = set()
        self.recorded: set[str] = set()
        self.twice = 0
        self.unrecorded: list[int] = []
        self.events: list[Event] = []
        self.valid: set[tuple[str, int]] = set()

    def look(self) -> None:
        self._settle()
        new = self.server.log[self.seen :]
        self.seen += len(new)
        hits = [hit for hit in new if hit.user_agent.startswith("Lycosa")]
        urls = Counter(self.server.url(hit.host, hit.path) for hit in hits)
        again = {url for url, times in urls.items() if times > 1}
        assert not again, [hit for hit in hits if self.server.url(hit.host, hit.path) in again]
        assert not set(urls) & self.recorded, "a recorded page was fetched again"
        self.twice += len(set(urls) & self.asked)
        self.asked |= set(urls)
        before = [exact(event) for event in self.events]
        self.events = events_of(self.directory, self.scratch)
        assert [exact(event) for event in self.events[: len(before)]] == before, "the log's past has changed"
        visits = list(visits_of(self.events))
        recorded = Counter(visit.node for visit in visits if not visit.retry_at)
        assert set(recorded.values()) <= {1}, "a page was recorded twice"
        sent = {visit.node for visit in visits if visit.outcome not in ("denied", "loop")}
        assert sent <= self.asked
        assert self.recorded <= set(recorded), "a recorded page is lost"
        self.recorded = set(recorded)
        self.unrecorded.append(len(set(urls) - self.recorded))
        self._check_copy(whole=len(self.unrecorded) % 5 == 0)

    def _settle(self) -> None:
        """Wait until the server has handled all requests of the killed client."""
        knock = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        knock.request("GET", "/")
        knock.getresponse().read()
        knock.close()
        until(lambda: not self.server.connections, "the server to notice that its client is gone")

    def _check_copy(self, *, whole: bool) -> None:
        """Open a copy, so that the crawl must repair itself, and check it."""
        if not (self.directory / "crawl.toml").exists():
            return
        copy = self.scratch / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.directory, copy)
        before = _bytes_of(copy)
        opened = Directory.open(copy)
        log = opened.log()
        opened.archive(log, "test", 10**9).close()
        log.close()
        opened.close()
        assert _bytes_of(copy) == before, "opening the archive again has deleted something"
        check_warcs(copy, self.valid)
        self.valid = {(path.name, path.stat().st_size) for path in (copy / "archive").glob("*.warc.gz")}
        recent = self.events if whole else self.events[-60:]
        check_kept(copy, recent)
        self._check_summary(summarise(copy).as_dict())
        if whole:
            summary = run("show", str(copy), "--json")
            assert summary.code == 0
            self._check_summary(json.loads(summary.out))

    def _check_summary(self, summary: dict[str, object]) -> None:
        visits = list(visits_of(self.events))
        pages = [visit for visit in visits if visit.is_page]
        assert summary["pages"] == len(pages)
        assert not summary["running"]
        outcomes = Counter((visit.kind, visit.outcome) for visit in visits)
        assert {(o["kind"], o["outcome"]): o["count"] for o in summary["outcomes"]} == outcomes  # type: ignore[attr-defined]
        if pages:
            found = sum(visit.is_relevant(float(str(summary["threshold"]))) for visit in pages)
            assert summary["relevant"] == found


def _bytes_of(directory: Path) -> int:
    files = (path for path in (directory / "archive").rglob("*") if path.is_file() and path.suffix != ".cdxj")
    return sum(path.stat().st_size for path in files)


def check_crawl_log(directory: Path) -> None:
    lines = (directory / "crawl.log").read_bytes().splitlines(keepends=True)
    with closing(SqliteLog(directory / "crawl.sqlite", readonly=True)) as log:
        visits = list(log.rows("seq, url"))
    assert visits == [parse_line(line) for line in lines]


def _let_die(command: list[str], death: str, server: Server) -> None:
    point, _, number = death.partition(":")
    seen = len(server.log)
    process = lycosa(*command, sabotage="" if point == "hits" else death)
    if point == "hits":
        until(lambda: len(server.log) >= seen + int(number), f"{number} requests")
        process.kill()
    ended = process.wait()
    assert ended.code == -signal.SIGKILL, f"{death}: ended with {ended.code}: {ended.err}"
    assert not ended.err


def test_crawl_killed_at_any_moment_loses_nothing(tmp_path: Path) -> None:
    directory = tmp_path / "crawl"
    with serve(world(800), latency=0.004) as server:
        witness = Witness(server, directory, tmp_path / "scratch")
        default = ("--judge", "probability", "--strategy", "scent")
        given = ("--rotate", "60000", "--budget", "700", *default)
        begin = arguments(server, TOPIC, directory, *given)
        go_on = ["resume", str(directory), "--quiet"]
        for number, death in enumerate(DEATHS):
            _let_die(begin if number < 2 else go_on, death, server)
            witness.look()
        budget = max(200, 30 + sum(visit.is_page for visit in visits_of(witness.events)))
        ended = run(*go_on, "--budget", str(budget))
        assert ended.code == 0, ended.err
        assert not ended.out + ended.err
        witness.look()
        assert sum(isinstance(event, Seed) for event in witness.events) == 3
        pages = [visit for visit in visits_of(witness.events) if visit.is_page]
        assert len(pages) == budget
        assert check_kept(directory, witness.events) >= budget
        assert check_warcs(directory) > 10
        check_crawl_log(directory)
        summary = json.loads(run("show", str(directory), "--json").out)
        witness._check_summary(summary)
        assert summary["ending"] == "page budget spent"
        print(f"{len(DEATHS)} deaths, {budget} pages, {len(server.log)} requests, {witness.twice} for the second time,")
        print(f"fetched and unrecorded at each death: {witness.unrecorded}")
        assert 0 < max(witness.unrecorded) <= CONCURRENCY
        assert 0 < witness.twice <= sum(witness.unrecorded)


def scores_of(directory: Path) -> list[tuple[object, ...]]:
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        return list(log.rows("url, round(relevance_now, 9)", "relevance_now NOT NULL"))


def test_crawl_judge_and_label_killed_at_any_statement(tmp_path: Path) -> None:
    """18 kills; those of a refresh are in test_refresh_kill.py."""
    directory, chance = tmp_path / "crawl", Random(7)
    with serve(world(400), latency=0.002) as server, reader_beside(directory / NAME) as seen:
        witness = Witness(server, directory, tmp_path / "scratch")
        given = ("--budget", "160", "--judge", "probability", "--strategy", "scent")
        _let_die(arguments(server, TOPIC, directory, *given), "statement:60", server)
        witness.look()
        for _ in range(9):
            _let_die(["resume", str(directory), "--quiet"], f"statement:{chance.randrange(2, 90)}", server)
            witness.look()
            check_log(tmp_path / "scratch" / NAME)
        ended = run("resume", str(directory), "--quiet")
        assert (0, "") == (ended.code, ended.err)
        witness.look()
        assert 160 == sum(visit.is_page for visit in visits_of(witness.events))
        assert check_log(directory / NAME) == len(witness.events)
        pages = [visit.node for visit in visits_of(witness.events) if visit.is_page]
        labels = [part for number, page in enumerate(pages[:12]) for part in (("--yes", "--no")[number % 2], page)]
        whole = tmp_path / "whole"
        shutil.copytree(directory, whole)
        for command in (["label", *labels], ["judge", "steam railway", "--keep"]):
            command.insert(1, str(directory))
            for _ in range(4):
                before = events_of(directory, tmp_path / "scratch")
                _let_die(command, f"statement:{chance.randrange(2, 14)}", server)
                after = events_of(directory, tmp_path / "scratch")
                assert exact(before) == exact(after[: len(before)])
                check_log(tmp_path / "scratch" / NAME)
            for place in (directory, whole):
                ended = run(command[0], str(place), *command[2:])
                assert 0 == ended.code, ended.err
        with closing(SqliteLog(directory / NAME, readonly=True)) as log:
            assert {page: not number % 2 for number, page in enumerate(pages[:12])} == current_labels(log)
        assert scores_of(whole) == scores_of(directory)
        assert check_log(directory / NAME) > len(witness.events)
    assert not seen["wrong"]
    assert seen["looks"] > 20
