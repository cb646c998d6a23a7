"""Tests of full disks, damaged files and restored backups: the error is one line, and no data is lost."""

import hashlib
import json
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

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
from lycosa.testweb import Server, serve

TOPIC = "marine biology/coral reefs"


@pytest.fixture(scope="module")
def served() -> Iterator[Server]:
    with serve(world(600)) as server:
        yield server


@pytest.fixture(scope="module")
def finished(served: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("finished") / "crawl"
    ended = run(*arguments(served, TOPIC, directory, "--budget", "60", "--rotate", "80000"))
    assert ended.code == 0, ended.err
    return directory


@pytest.fixture
def crawl(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "crawl")
    return tmp_path / "crawl"


def _resumed(directory: Path, server: Server, budget: int, scratch: Path) -> None:
    """Resume up to a budget; check that nothing is fetched twice and that all pages are stored."""
    recorded = {v.node for v in visits_of(events_of(directory, scratch)) if not v.retry_at}
    seen = len(server.log)
    ended = run("resume", str(directory), "--budget", str(budget), "--quiet")
    assert ended.code == 0, ended.err
    assert not ended.err
    urls = {server.url(hit.host, hit.path) for hit in server.log[seen:]}
    assert not urls & recorded
    events = events_of(directory, scratch)
    assert recorded <= {visit.node for visit in visits_of(events)}
    assert sum(visit.is_page for visit in visits_of(events)) == budget
    check_kept(directory, events)
    check_warcs(directory)


def _files(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != "lock" and not path.name.endswith(("-wal", "-shm"))
    }


@pytest.mark.parametrize(
    ("fault", "rotate"),
    [
        ("full-archive:100000", "1000000"),
        ("full-archive:20300", "1"),  # one file per page: the disk is full when a file is created, or nearly so
        ("full-log:40", "1000000"),
        ("limit:150000", "40000"),  # the log exceeds the maximum file size
    ],
)
def test_full_disk_stops_crawl_without_loss(served: Server, tmp_path: Path, fault: str, rotate: str) -> None:
    directory = tmp_path / "crawl"
    learning = ["--judge", "probability", "--strategy", "scent"] if fault.startswith("full-log") else []
    ended = run(*arguments(served, TOPIC, directory, "--budget", "60", "--rotate", rotate, *learning), sabotage=fault)
    assert "Traceback" not in ended.err
    assert str(directory) in ended.complaint
    assert "room" in ended.complaint or "space" in ended.complaint
    assert f"lycosa resume {directory}" in ended.complaint
    if fault.startswith("full-archive"):  # only complete records are archived
        check_warcs(directory)
    _resumed(directory, served, 60, tmp_path / "scratch")


def test_locked_log_stops_resume(served: Server, crawl: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(crawl / "crawl.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        ended = run("resume", str(crawl), "--budget", "70", "--quiet", sabotage="impatient:50")
        assert "locked by another program" in ended.complaint
        assert str(crawl / "crawl.sqlite") in ended.complaint
        assert f"lycosa resume {crawl}" in ended.complaint
        other.execute("ROLLBACK")
    _resumed(crawl, served, 70, tmp_path / "scratch")


def test_log_locked_during_crawl_stops_it(tmp_path: Path) -> None:
    directory = tmp_path / "crawl"
    with serve(world(), latency=0.01) as server:
        process = lycosa(*arguments(server, TOPIC, directory, "--budget", "300"), sabotage="impatient:50")
        until(lambda: len(server.log) > 80, "the crawl to get going")
        with closing(sqlite3.connect(directory / "crawl.sqlite", 60, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            ended = process.wait()
            assert "locked by another program" in ended.complaint
            other.execute("ROLLBACK")
        _resumed(directory, server, 100, tmp_path / "scratch")


def test_directory_is_locked_by_crawl(tmp_path: Path) -> None:
    directory = tmp_path / "crawl"
    with serve(world(), latency=0.03) as server:
        first = lycosa(*arguments(server, TOPIC, directory, "--budget", "100000", "--concurrency", "2"))
        until(lambda: len(server.log) > 60, "the crawl to get going")
        second = run("resume", str(directory), "--quiet")
        assert f"in use by a running crawl (process {first.pid})" in second.complaint
        third = run(*arguments(server, TOPIC, directory))
        assert "already holds a crawl" in third.complaint
        shown = run("show", str(directory), "--json")
        assert shown.code == 0, shown.err
        assert json.loads(shown.out)["running"] is True
        assert first.running, "the crawl ended before the others had come"
        first.send_signal(signal.SIGINT)
        ended = first.wait()
        assert ended.code == 0, ended.err
        assert json.loads(run("show", str(directory), "--json").out)["ending"] == "stopped"
        pages = sum(visit.is_page for visit in visits_of(events_of(directory, tmp_path / "scratch")))
        _resumed(directory, server, pages + 5, tmp_path / "scratch")


def _last(directory: Path) -> Path:
    return max((directory / "archive").glob("*.warc.gz"))


@pytest.mark.parametrize("tail", [b"\x1f\x8b\x08\x00half a member", bytes(100_000)], ids=["torn", "zeros"])
def test_archive_tail_beyond_log_is_moved_aside(served: Server, crawl: Path, tmp_path: Path, tail: bytes) -> None:
    last = _last(crawl)
    size = last.stat().st_size
    with open(last, "ab") as file:
        file.write(tail)
    _resumed(crawl, served, 65, tmp_path / "scratch")
    aside = crawl / "archive" / "aside" / f"{last.name}.from-{size}"
    assert aside.read_bytes() == tail
    assert last.read_bytes()[size : size + 2] in (b"\x1f\x8b", b"")


def test_moved_archive_tail_is_reported(served: Server, crawl: Path) -> None:
    last = _last(crawl)
    with open(last, "ab") as file:
        file.write(b"garbage")
    ended = run("resume", str(crawl), "--budget", "61")
    assert ended.code == 0
    assert "moved aside" in ended.out + ended.err
    assert f"{last.name}.from-" in ended.out + ended.err


def test_truncated_archive_is_refused(served: Server, crawl: Path, tmp_path: Path) -> None:
    last = _last(crawl)
    whole = last.read_bytes()
    for left in (whole[:-1], None):
        last.unlink() if left is None else last.write_bytes(left)
        before = _files(crawl)
        ended = run("resume", str(crawl), "--budget", "65", "--quiet")
        assert str(last) in ended.complaint
        assert "backup" in ended.complaint
        after = _files(crawl)
        assert {**before, "crawl.toml": ""} == {**after, "crawl.toml": ""}
    last.write_bytes(whole)
    _resumed(crawl, served, 65, tmp_path / "scratch")


def test_resume_continues_after_restoring_older_log(tmp_path: Path) -> None:
    directory, old = tmp_path / "crawl", tmp_path / "old.sqlite"
    with serve(world(), latency=0.004) as server:
        process = lycosa(*arguments(server, TOPIC, directory, "--budget", "120", "--rotate", "60000"))
        until(lambda: len(server.log) > 40, "a part of the crawl")
        with (
            closing(sqlite3.connect(directory / "crawl.sqlite")) as source,
            closing(sqlite3.connect(old)) as target,
        ):
            source.backup(target)
        assert process.wait().code == 0
        complete = events_of(directory, tmp_path / "scratch")
        content = {path.name: path.read_bytes() for path in (directory / "archive").glob("*.warc.gz")}
        shutil.copy(old, directory / "crawl.sqlite")
        events = events_of(directory, tmp_path / "scratch")
        assert 20 < len(events) < len(complete) - 20
        recorded = {visit.node for visit in visits_of(events)}
        seen = len(server.log)
        ended = run("resume", str(directory), "--quiet")
        assert ended.code == 0, ended.err
        again = {server.url(hit.host, hit.path) for hit in server.log[seen:]}
        assert not again & recorded
        assert again & {visit.node for visit in visits_of(complete)}
        for name, data in content.items():
            kept = [path.read_bytes() for path in (directory / "archive" / "aside").glob(f"{name}.from-*")]
            now = directory / "archive" / name
            start = now.read_bytes() if now.exists() else b""
            assert any(data.endswith(tail) and start.startswith(data[: -len(tail)]) for tail in kept) or (
                start.startswith(data)
            ), f"bytes of {name} are gone"
        events = events_of(directory, tmp_path / "scratch")
        assert sum(visit.is_page for visit in visits_of(events)) == 120
        check_kept(directory, events)
        check_warcs(directory)


def test_directory_without_log_is_rejected(served: Server, crawl: Path, tmp_path: Path) -> None:
    content = {path.name: path.read_bytes() for path in (crawl / "archive").glob("*.warc.gz")}
    (crawl / "crawl.sqlite").unlink()
    shown = run("show", str(crawl))
    assert f"lycosa resume {crawl}" in shown.complaint
    _resumed(crawl, served, 60, tmp_path / "scratch")
    for name, data in content.items():
        assert (crawl / "archive" / "aside" / f"{name}.from-0").read_bytes() == data


def test_directory_without_crawl_is_rejected(tmp_path: Path) -> None:
    for command in ("resume", "show"):
        ended = run(command, str(tmp_path))
        assert f"{tmp_path} contains no crawl" in ended.complaint


def _other_format(log: Path) -> None:
    with closing(sqlite3.connect(log)) as database:
        database.execute("PRAGMA user_version=99")


def _no_database(log: Path) -> None:
    log.write_bytes(b"these are not the events you are looking for\n" * 200)


def _other_program(log: Path) -> None:
    log.unlink()
    with closing(sqlite3.connect(log)) as database:
        database.execute("CREATE TABLE holidays (day TEXT)")


def _overwritten(log: Path) -> None:
    data = bytearray(log.read_bytes())
    third = len(data) // 3
    data[third : 2 * third] = b"\xa5" * third
    log.write_bytes(data)


def _bad_event(log: Path, change: str = "links = x'00', terms = x'00'") -> None:
    with closing(sqlite3.connect(log)) as database:
        best = "(SELECT seq FROM visit JOIN content USING (seq) WHERE kind = 'page' ORDER BY relevance DESC LIMIT 1)"
        database.execute(f"UPDATE content SET {change} WHERE seq = {best}")
        database.commit()


def _short_event(log: Path) -> None:
    _bad_event(log, "terms = substr(terms, 1, length(terms) - 9)")


@pytest.mark.parametrize(
    ("damage", "messages"),
    [
        (_other_format, ["crawl.sqlite", "format is 99", "Use the release that wrote it"]),
        (_no_database, ["damaged", "backup"]),
        (_other_program, ["crawl.sqlite"]),
        (_overwritten, ["damaged"]),
    ],
)
def test_foreign_or_damaged_log_is_refused(crawl: Path, damage: Callable[[Path], None], messages: list[str]) -> None:
    damage(crawl / "crawl.sqlite")
    before = _files(crawl)
    for command in ("resume", "show"):
        complaint = run(command, str(crawl), "--json").complaint
        assert all(message in complaint for message in messages), complaint
        assert _files(crawl) == before


@pytest.mark.parametrize("damage", [_bad_event, _short_event])
def test_log_with_damaged_content_is_refused(crawl: Path, damage: Callable[[Path], None]) -> None:
    damage(crawl / "crawl.sqlite")
    shutil.rmtree(crawl / "snapshot")  # otherwise the content is not read
    before = _files(crawl)
    for command in ("resume", "show"):
        complaint = run(command, str(crawl)).complaint
        assert all(message in complaint for message in ("crawl.sqlite", "can't be read", "backup", "lycosa check"))
        assert _files(crawl) == before


def test_damaged_configuration_is_refused(crawl: Path) -> None:
    (crawl / "crawl.toml").write_text("topic = 'half a line\n")
    assert "crawl.toml is not valid TOML" in run("resume", str(crawl)).complaint
    (crawl / "crawl.toml").write_text("colour = 'green'\n")
    assert "unknown option 'colour'" in run("show", str(crawl)).complaint
