"""A log with flipped bytes: what is wrong with it and what to do is said, and `lycosa mend` saves what can be saved."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

import lycosa
from crawl.helpers import run, world
from lycosa.cli import upkeep
from lycosa.cli.judge import keep_labels
from lycosa.collection.compacting import compact
from lycosa.collection.mending import mend
from lycosa.collection.summary import summarise
from lycosa.core.errors import DamagedError, InputError, LockedError, StoreError
from lycosa.core.types import Event, Place, Seed, Visit
from lycosa.store.codec import encode_other, encode_visit
from lycosa.store.log import NAME, SqliteLog
from lycosa.testing import Server, serve

TOPIC = "marine biology/coral reefs"
FLIPS = 30


@pytest.fixture(scope="module")
def served() -> Iterator[Server]:
    """A small web."""
    with serve(world(150)) as server:
        yield server


@pytest.fixture(scope="module")
def finished(served: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of 25 pages, its log in one file."""
    directory = tmp_path_factory.mktemp("finished") / "crawl"
    _crawl(served, directory)
    return directory


def _crawl(served: Server, directory: Path, **options: object) -> None:
    web = served.web
    fast = {"budget": 25, "delay": 0.0, "concurrency": 1, "allow_network": ["127.0.0.0/8"], "judge": "vector"} | options
    for _ in lycosa.crawl(web.query(TOPIC), web.seeds(TOPIC, 3), out=directory, **fast):
        pass
    change(directory, "SELECT 1")


@pytest.fixture
def crawl(finished: Path, tmp_path: Path) -> Path:
    """A copy, to be damaged."""
    shutil.copytree(finished, tmp_path / "crawl")
    return tmp_path / "crawl"


def events(directory: Path) -> list[tuple[int, Event]]:
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        return list(log.numbered())


def exact(numbered: list[tuple[int, Event]]) -> list[tuple[int, str, bytes]]:
    """To the last bit."""
    return [
        (seq, str(event.place), encode_visit(event)) if isinstance(event, Visit) else (seq, "", encode_other(event))
        for seq, event in numbered
    ]


def change(directory: Path, statement: str, *given: object) -> None:
    with closing(sqlite3.connect(directory / NAME)) as database:
        database.execute(statement, given)
        database.commit()
        database.execute("PRAGMA journal_mode=DELETE")


def test_a_cluster_is_mended_with_its_shards(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each log by itself, and it is the whole crawl that is to be resumed; whoever names a shard to write in it is told
    which that is."""
    shards = [crawl / "shards" / f"{number:03d}" for number in range(3)]
    for shard in shards[:2]:
        shutil.copytree(crawl, shard, ignore=shutil.ignore_patterns("shards"))
    shards[2].mkdir()  # one that has recorded nothing
    change(shards[1], "UPDATE event SET body = x'00ff' WHERE seq = (SELECT MIN(seq) FROM event WHERE kind = 'page')")
    assert complaint(shards[1])
    upkeep.mend(crawl)
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in told] == [str(crawl), str(shards[0]), "made again", str(shards[1])]
    assert told[-1].endswith(f"Continue with: lycosa resume {crawl}")
    assert not complaint(shards[1])
    before = (shards[0] / NAME).read_bytes()
    for write in (
        lambda: list(lycosa.resume(shards[0])),
        lambda: compact(shards[0]),
        lambda: keep_labels(shards[0], []),
    ):
        with pytest.raises(InputError, match=f"{shards[0]} is a shard of the crawl in {crawl}: name that directory"):
            write()
    assert (shards[0] / NAME).read_bytes() == before


def test_flipped_bytes(crawl: Path) -> None:
    """Wherever a byte is flipped, reading either gives what was recorded or says what to do; once mended, all is read,
    and nothing that was not touched is lost.
    """
    whole, before = (crawl / NAME).read_bytes(), events(crawl)
    chance = Random(19)
    found = saved = 0
    for _ in range(FLIPS):
        damaged = bytearray(whole)
        at = chance.randrange(len(whole))
        damaged[at] ^= 1 << chance.randrange(8)
        (crawl / NAME).write_bytes(damaged)
        told = complaint(crawl)
        if not told:
            assert sum(one != other for one, other in zip(exact(before), exact(events(crawl)), strict=True)) <= 1, at
            continue
        found += 1
        assert "lycosa mend" in told or "format" in told, told
        try:
            done = mend(crawl)
        except StoreError:  # the first page of the file, without which SQLite finds nothing
            assert at < 4096
            continue
        assert not complaint(crawl)
        kept = events(crawl)
        saved += 1
        if done.whole:  # an index, say: nothing of the log itself
            continue
        assert bytes(damaged) == done.aside.read_bytes()
        assert len(before) - len(kept) <= 6 + len(done.lost), (at, done)
        done.aside.unlink()
    assert saved > FLIPS / 2
    assert found >= saved


def complaint(directory: Path) -> str:
    """What is said of a log that is looked at as `show` does it, then read as `resume` does."""
    try:
        with closing(SqliteLog(directory / NAME, readonly=True)) as log:
            log.check()
            for _ in log:
                pass
    except DamagedError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE event SET kind = 'pagf' WHERE seq = ?", "no kind 'pagf'"),
        ("UPDATE event SET kind = CAST(x'70ff' AS TEXT) WHERE seq = ?", "not text"),
        ("UPDATE event SET outcome = 'oj' WHERE seq = ?", "no outcome 'oj'"),
        ("UPDATE event SET same = CAST(x'ff' AS TEXT) WHERE seq = ?", "not text"),
        ("UPDATE event SET file = '../x' WHERE seq = ?", "not a place in the archive"),
    ],
)
def test_a_damaged_column_is_made_again(crawl: Path, statement: str, what: str) -> None:
    """`show` and `resume` name the event and what to do; nothing of it is lost by mending."""
    before = events(crawl)
    seq = next(seq for seq, event in before if isinstance(event, Visit) and event.is_page)
    change(crawl, statement, seq)
    told = complaint(crawl)
    assert f"event {seq}: " in told
    assert what in told
    assert told.endswith(f"lycosa mend {crawl}")
    done = mend(crawl)
    assert (len(before) - 1, 1, 0) == (done.kept, len(done.mended), len(done.lost))
    if "file" in statement:  # nothing else tells where it is
        dict(before)[seq].place = Place()  # type: ignore[union-attr]
    assert exact(before) == exact(events(crawl))


def test_a_log_that_somebody_reads_is_not_damaged(crawl: Path) -> None:
    """Who has it open is to close it; nothing is changed until then."""
    SqliteLog(crawl / NAME).close()  # as a crawl leaves it
    with closing(SqliteLog(crawl / NAME, readonly=True)) as log:
        reading = log.numbered()
        next(reading)
        with pytest.raises(LockedError, match="close that one first"):
            mend(crawl)
        reading.close()
    assert mend(crawl).whole


def test_a_damaged_page_is_made_again_from_the_archive(crawl: Path) -> None:
    """It has its words and links again, and no later page loses a word; what only the log knew is gone."""
    before = dict(events(crawl))
    seqs = [seq for seq, event in before.items() if isinstance(event, Visit) and event.is_page]
    seq = seqs[len(seqs) // 2]
    change(crawl, "UPDATE event SET body = substr(body, 1, length(body) - 9) WHERE seq = ?", seq)
    (crawl / "snapshot").mkdir(exist_ok=True)
    (crawl / "snapshot" / "map").write_text("of the log that was")
    done = mend(crawl)
    assert not (crawl / "snapshot").exists()
    assert (len(before) - 1, 1, 0, 0) == (done.kept, len(done.mended), len(done.lost), done.wordless)
    after = dict(events(crawl))
    was, now = before.pop(seq), after.pop(seq)
    assert isinstance(was, Visit)
    assert isinstance(now, Visit)
    assert (was.node, was.title, was.simhash, was.beta) == (now.node, now.title, now.simhash, now.beta)
    assert (was.terms.new, was.terms.ids.tolist()) == (now.terms.new, now.terms.ids.tolist())
    assert was.links.urls == now.links.urls
    assert exact(list(before.items())) == exact(list(after.items()))


def test_without_an_archive_later_pages_lose_their_words(served: Server, tmp_path: Path) -> None:
    """Words are numbered in their order: where some are lost, those behind can't be told, and are not guessed."""
    directory = tmp_path / "crawl"
    _crawl(served, directory, archive=False, budget=8)
    before = events(directory)
    pages = [seq for seq, event in before if isinstance(event, Visit) and event.is_page]
    change(directory, "UPDATE event SET body = x'00' WHERE seq = ?", pages[3])
    done = mend(directory)
    assert [] == done.lost
    assert done.wordless >= len(pages) - 4
    after = dict(events(directory))
    assert [True] * 3 + [False] * (len(pages) - 3) == [bool(len(after[seq].terms.ids)) for seq in pages]  # type: ignore[union-attr]
    assert [event.node for _, event in before if isinstance(event, Visit | Seed)] == [
        event.node for event in after.values() if isinstance(event, Visit | Seed)
    ]


def test_the_commands(crawl: Path, served: Server) -> None:
    """Show and resume refuse and say how to go on; mended, both work."""
    seq = next(seq for seq, event in events(crawl) if isinstance(event, Visit) and event.is_page)
    change(crawl, "UPDATE event SET node = CAST(x'68747470ff' AS TEXT) WHERE seq = ?", seq)
    told = run("show", str(crawl)).complaint
    assert f"event {seq}" in told
    assert told.endswith(f"lycosa mend {crawl}")
    with pytest.raises(DamagedError, match=f"decode.*lycosa mend {crawl}"):
        list(lycosa.resume(crawl))
    ended = run("mend", str(crawl))
    assert 0 == ended.code, ended.err
    assert f"made again: event {seq}, page" in ended.out
    assert f"Continue with: lycosa resume {crawl}" in ended.out
    assert 26 == summarise(crawl).pages + sum(visit.is_page for visit in lycosa.resume(crawl, budget=26))
    assert mend(crawl).whole
