"""Tests of resuming from snapshots, which must equal replaying the whole log."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import lycosa
from crawl_helpers import Remembered, sim_space
from input_errors import raises_input_error
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.judging import judge, learn
from lycosa.core.engine import Engine
from lycosa.core.state import AppendOnly, StateMismatch, TextLines, restore_attributes, state_of
from lycosa.core.types import Event, Label
from lycosa.crawling import Crawl
from lycosa.crawling import crawl_files as files
from lycosa.explaining import Reasons
from lycosa.store.directory import Directory
from lycosa.store.log import PAGES as PAGES_OF_LOG
from lycosa.store.log import RELEVANCE_NOW, VERSIONS, SqliteLog, append_labels
from lycosa.store.snapshots import MAP, NAME, Snapshots
from lycosa.strategies.best_first import BestFirst
from lycosa.testweb import Web
from lycosa.testweb.simulation import clock, run_virtual

WEB = Remembered(Web(pages=400, hosts=30))
TOPIC = "marine biology/coral reefs"
KINDS = {
    "as it comes": {},
    "best-first": {"strategy": "best-first", "judge": "vector"},
    "explores": {"strategy": "best-first,q=.7,zeta=.5,ties=random", "judge": "vector", "languages": ["en"]},
}
PAGES, SEVERAL = 45, (9, 38)
LATER = 10_000.0
"""Virtual time in seconds after which a crawl is resumed."""


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, AppendOnly | TextLines):
        value = value.encode(list(value.items))
    return (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def state(crawl: Crawl) -> dict[str, Any]:
    assert crawl.engine is not None
    return {"engine": plain(crawl.engine.state()), "files": plain(crawl._files.state())}


def begun(out: Path, each: Callable[[int, Crawl], None], **more: Any) -> None:
    seeds, topic = WEB.web.seeds(TOPIC), WEB.web.query(TOPIC)

    async def run() -> None:
        crawl = lycosa.crawl(topic, seeds, out=out, space=sim_space(WEB), clock=clock, budget=PAGES, **more)
        visits = 0
        async for _ in crawl:
            visits += 1
            each(visits, crawl)

    run_virtual(run())


def taken_up(out: Path, turns: int = 0, **changes: Any) -> tuple[dict[str, Any], list[tuple[str, int, float]]]:
    """Return the state and the picks of a resumed crawl."""

    async def run() -> tuple[dict[str, Any], list[tuple[str, int, float]]]:
        crawl = lycosa.resume(out, space=sim_space(WEB), clock=clock, budget=PAGES + turns, **changes)
        await crawl.open()
        known, visits = state(crawl), list[tuple[str, int, float]]()
        async for visit in crawl:
            visits.append((visit.node, visit.pick, visit.priority))
        return known, visits

    return run_virtual(run(), start=LATER)


@pytest.fixture(scope="module", params=KINDS)
def crawled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Kill a crawl that has two snapshots, in the directories 9 and 38."""
    place = tmp_path_factory.mktemp("crawls")

    def look(visits: int, crawl: Crawl) -> None:
        if visits in SEVERAL:
            assert crawl._snapshots is not None
            assert crawl._snapshots.write(sure=True)
            shutil.copytree(place / "crawl" / NAME, place / str(visits))

    begun(place / "crawl", look, **KINDS[request.param])
    shutil.rmtree(place / "crawl" / NAME)
    yield place
    shutil.rmtree(place)


def copy_of(crawled: Path, visits: int, to: Path) -> Path:
    """Copy the crawl with the snapshot after some visits, or without any if `visits` is 0."""
    shutil.copytree(crawled / "crawl", to)
    if visits:
        shutil.copytree(crawled / str(visits), to / NAME)
    return to


def test_snapshot_gives_same_state_and_picks(crawled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folded: list[Any] = []
    fold = Engine.fold
    monkeypatch.setattr(Engine, "fold", lambda engine, event: folded.append(event) or fold(engine, event))
    whole = taken_up(copy_of(crawled, 0, tmp_path / "0"), turns=12)
    events = len(folded)
    assert len(whole[1]) >= 12
    for visits in SEVERAL:
        folded.clear()
        assert taken_up(copy_of(crawled, visits, tmp_path / str(visits)), turns=12) == whole
        assert events - visits - 30 < len(folded) <= events - visits


def test_labels_after_snapshot_are_learned(crawled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events, seen = SqliteLog.events, list[int]()

    def noted(log: SqliteLog, after: int = 0, until: int | None = None) -> Iterator[tuple[int, Event]]:
        seen.append(after)
        return events(log, after, until)

    monkeypatch.setattr(SqliteLog, "events", noted)
    results: list[Any] = []
    for visits in (0, *SEVERAL):
        copy = copy_of(crawled, visits, tmp_path / str(visits))
        with closing(Directory.open(copy)) as opened, closing(opened.log()) as log:
            pages = [row[0] for row in log.rows("url", VERSIONS)]
            for relevant in (True, False):
                append_labels(log, [Label(pages[5], relevant, LATER, str(relevant)), Label(pages[20], True, LATER)])
                learn(opened, log, LATER)
            results.append([*log.rows(f"url, {RELEVANCE_NOW}", VERSIONS)])
    assert results[0] == results[1] == results[2]
    if "vector" == Directory.read_options(copy).judge:  # does not learn, so nothing has to be folded
        assert [] == seen
        return
    assert [0, 0] == seen[:2]
    assert 0 < seen[2] == seen[3] < seen[4] == seen[5]
    judge(copy, "steam railway")
    assert 0 == seen[-1]


class Looking:
    """Spy on `restore_snapshot`; `known` is the number of events in the restored snapshot, 0 if it was ignored."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.known = -1
        take_up = files.restore_snapshot

        def looked(*given: Any) -> int:
            self.known = take_up(*given)
            return self.known

        monkeypatch.setattr("lycosa.crawling.assembly.restore_snapshot", looked)


@pytest.fixture(scope="module")
def as_it_comes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("crawls") / "crawl"

    def look(visits: int, crawl: Crawl) -> None:
        if visits == SEVERAL[0]:
            assert crawl._snapshots is not None
            assert crawl._snapshots.write(sure=True)
            crawl.stop()

    begun(out, look, **KINDS["best-first"])
    return out


def test_snapshot_of_other_settings_is_ignored(
    as_it_comes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = Looking(monkeypatch)
    shutil.copytree(as_it_comes, tmp_path / "own")
    known, _ = taken_up(tmp_path / "own", headers=["a.test X-Key: secret"], render_time=9.0)
    assert looking.known > 0

    shutil.copytree(as_it_comes, tmp_path / "options")
    taken_up(tmp_path / "options", max_depth=9)
    assert looking.known == 0

    begun(tmp_path / "other", lambda visits, crawl: crawl.stop(), **KINDS["best-first"])
    shutil.rmtree(tmp_path / "other" / NAME, ignore_errors=True)
    shutil.copytree(as_it_comes / NAME, tmp_path / "other" / NAME)
    taken_up(tmp_path / "other")
    assert looking.known == 0

    shutil.copytree(as_it_comes, tmp_path / "code")
    monkeypatch.setattr(files, "code_digest", lambda: "older")
    again, _ = taken_up(tmp_path / "code")
    assert looking.known == 0
    assert again == known


def test_damaged_snapshot_is_ignored(as_it_comes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looking = Looking(monkeypatch)
    out = shutil.copytree(as_it_comes, tmp_path / "crawl")
    content = bytearray((out / NAME / MAP).read_bytes())
    content[len(content) // 2] ^= 4
    (out / NAME / MAP).write_bytes(content)
    taken_up(out)
    assert looking.known == 0


def test_snapshot_of_changed_log_is_ignored(as_it_comes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looking = Looking(monkeypatch)
    out = shutil.copytree(as_it_comes, tmp_path / "crawl")
    log = SqliteLog(out / "crawl.sqlite")
    ((seq,),) = log.query("SELECT MIN(seq) FROM setting")
    node, *_ = (url for (url,) in log.rows("url", "kind = 'page'"))
    log.append(Label(node, True, 1.0))
    log.close()
    taken_up(out)
    assert looking.known > seq
    shutil.rmtree(out)
    shutil.copytree(as_it_comes, out)
    log = SqliteLog(out / "crawl.sqlite")
    log._db.execute("DELETE FROM setting WHERE seq = ?", (seq,))
    log.close()
    taken_up(out)
    assert looking.known == 0


def test_forged_snapshot_is_rejected(as_it_comes: Path, tmp_path: Path) -> None:
    out = shutil.copytree(as_it_comes, tmp_path / "crawl")
    about = dict[str, Any]()
    found = Snapshots(out)
    found.read(lambda results: bool(about.update(results)))
    Snapshots(out).write(about, {"engine": {"table": {"nodes": 3}}, "files": {}})
    with raises_input_error("bad-snapshot", "remove that directory"):
        taken_up(out)


def test_readers_restore_required_parts_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "FOLDING", 1.0)
    out, results = tmp_path / "crawl", list[Any]()
    begun(out, lambda visits, crawl: None)
    for lacks in (True, False):
        with Reasons(out) as reasons:
            best = [why.as_dict() for why in reasons.best(5)]
            assert bool(reasons.engine.lacks) is lacks
            first = next(reasons.collection.log.rows("url", PAGES_OF_LOG, "seq LIMIT 1"))[0]
            page = reasons.why(first)
            assert not reasons.engine.lacks
            assert page.fetched is not None
            assert page.fetched.judged
            results.append((best, page.as_dict()))
        shutil.rmtree(out / NAME, ignore_errors=True)
    assert results[0] == results[1]


class Stub:
    """Crawl whose snapshots take some seconds each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, out: Path, seconds: float) -> None:
        self.now, self.written, self.seconds = 0.0, list[int](), seconds
        self.visits = 0
        monkeypatch.setattr(files.SnapshotWriter, "cpu_seconds", 0.0)
        monkeypatch.setattr(files, "snapshot_key", lambda *given: {})
        self.files: Any = type("Files", (), {"judged_by": "", "snapshots": self, "state": dict})()
        self.files.log = SqliteLog(out / "crawl.sqlite")
        engine: Any = type("Engine", (), {"state": dict})()
        self.writer = files.SnapshotWriter(Any, self.files, engine, lambda: self.now)  # type: ignore[arg-type]

    def write(self, about: Any, state: Any) -> None:
        self.now += self.seconds
        self.written.append(self.visits)

    def remove(self) -> None:
        self.written.clear()

    def go(self, visits: int, each: float) -> None:
        for _ in range(visits):
            self.visits += 1
            self.now += each
            self.writer.visited(lycosa.crawling.Visit("a", "page", "ok", 1))


def test_snapshots_take_two_percent_of_cpu_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    crawl = Stub(monkeypatch, tmp_path, 0.1)
    crawl.go(20_000, 0.005)
    assert crawl.written[0] == files.MIN_VISITS  # the cost is unknown yet
    assert 17 <= len(crawl.written) <= 20
    assert files.SnapshotWriter.cpu_seconds <= files.MAX_CPU_SHARE * crawl.now + 0.1
    crawl.files.log.close()


@pytest.mark.parametrize(("visits", "expected"), [(700, [250, 700]), (300, [250])])
def test_last_snapshot_is_written_if_replay_takes_longer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, visits: int, expected: list[int]
) -> None:
    crawl = Stub(monkeypatch, tmp_path, 0.5)
    crawl.go(visits, 0.005)
    crawl.writer.finish()
    assert crawl.written == expected
    crawl.files.log.close()


def test_snapshots_are_not_written_to_full_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    crawl = Stub(monkeypatch, tmp_path, 0.1)
    monkeypatch.setattr(crawl, "write", lambda *given: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    crawl.written.append(1)
    crawl.go(600, 0.005)
    assert crawl.files.snapshots is None
    assert [] == crawl.written
    crawl.files.log.close()


def test_subclass_requires_its_own_state() -> None:
    class Own(BestFirst):
        def learn(self, step: Any, table: Any) -> Any:
            self.more = step
            return super().learn(step, table)

    assert set(state_of(BestFirst())) == {"merge", "value_", "count_"}
    with pytest.raises(StateMismatch, match="inherits state"):
        state_of(Own())
    with pytest.raises(StateMismatch, match="no state"):
        state_of(object())


def test_unreadable_code_never_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    own = type("Own", (), {"__module__": "notebook"})()
    assert files._source(own) != files._source(own)
    monkeypatch.setitem(sys.modules, "notebook", ModuleType("notebook"))
    assert files._source(own) != files._source(own)
    assert ["", ""] == [files._source(part) for part in (None, BestFirst())]


def test_snapshot_without_part_is_ignored() -> None:
    with pytest.raises(StateMismatch, match="meaning is stored with another"):
        restore_attributes(SimpleNamespace(meaning=None), {"meaning": {"lines": 1}})


def test_strategy_without_state_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = list[bool]()

    def look(visits: int, crawl: Crawl) -> None:
        if visits == 3:
            assert crawl._snapshots is not None
            written.append(crawl._snapshots.write(sure=True))
            crawl.stop()

    begun(tmp_path / "crawl", look, strategy="best-first,batch=4", judge="vector")
    assert written == [False]
    assert not (tmp_path / "crawl" / NAME / MAP).exists()


@pytest.mark.parametrize("crawled", ["as it comes"], indirect=True)
def test_why_is_equal_with_and_without_snapshot(crawled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, out = copy_of(crawled, 0, tmp_path / "0"), copy_of(crawled, SEVERAL[-1], tmp_path / "1")
    before = sorted(file.stat().st_mtime_ns for file in (out / NAME).iterdir())
    looking, known = Looking(monkeypatch), list[int]()
    with CrawlDirectory(out) as collection:
        first, *_ = (node for (node,) in collection.log.rows("url", PAGES_OF_LOG, "seq DESC"))
    results = []
    for place in (whole, out):
        with Reasons(place) as reasons:
            answers: list[Any] = [reasons.best(4)]
            known.append(looking.known)
            answers.append(reasons.why(answers[0][-1].node))
            known.append(looking.known)
        with Reasons(place) as reasons:
            answers.append(reasons.why(first))
            known.append(looking.known)
        results.append(repr(answers))  # as text, because NaN is not equal to itself
    assert results[0] == results[1]
    assert known == [0, 0, 0, known[3], known[3], known[3]]
    assert known[3] > SEVERAL[-1]
    assert before == sorted(file.stat().st_mtime_ns for file in (out / NAME).iterdir())


def test_restore_reports_progress(as_it_comes: Path, tmp_path: Path) -> None:
    results: list[tuple[str, int, int]] = []
    out = shutil.copytree(as_it_comes, tmp_path / "crawl")
    for snapshot in (True, False):
        results.clear()
        if not snapshot:
            shutil.rmtree(out / NAME)
        with Reasons(out) as reasons:
            reasons.progress = lambda *given: results.append(given)
            reasons.best(1)
        done, total = results[-1][1:]
        assert done == total > 0
        assert ("reading the snapshot" in {what for what, *_ in results}) == snapshot
        assert results == sorted(results, key=lambda one: (one[0] == "reading the log", one[1]))
