"""Tests of crawls with few rows in memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lycosa
from crawl_helpers import Remembered, sim_space
from input_errors import raises_input_error
from lycosa.core.composite import Greedy
from lycosa.core.engine import RECALL, Engine
from lycosa.core.protocols import TrapFilter
from lycosa.core.spilled_rows import ROW, SpilledRows
from lycosa.core.table import Table
from lycosa.core.types import InboundLinks, LinkBatch, Links, Seed, Setting, Visit
from lycosa.crawling import Crawl
from lycosa.crawling.crawl_files import SPILLED
from lycosa.explaining import Reasons
from lycosa.judges.probability import evidence
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.store.log import MemoryLog
from lycosa.store.snapshots import NAME
from lycosa.strategies import strategy
from lycosa.strategies.baselines import BreadthFirst
from lycosa.strategies.scent import Scent, page_outcomes
from lycosa.testweb import Web
from lycosa.testweb.simulation import clock, run_virtual
from lycosa.traps.trap_filter import SectionTrapFilter
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements
from lycosa_lab.simulation import simulate
from lycosa_scrapy.space import Priorities, ScrapySpace

WEB = Remembered(Web(pages=400, hosts=30))
SMALL = Remembered(Web(pages=110, hosts=8, traps=()))
TOPIC = "marine biology/coral reefs"
KINDS: dict[str, dict[str, Any]] = {
    "scent": {},
    "best-first": {"strategy": "best-first,q=.8,zeta=.5,ties=random", "judge": "vector"},
    "breadth-first": {"strategy": "breadth-first", "host_budget": 4},
}
PAGES, SEVERAL, MORE = 50, (20, 40), 15
LATER = 10_000.0


def known(engine: Engine) -> dict[str, Any]:
    table, spilled, n = engine.table, engine.spilled, len(engine.table)
    assert isinstance(spilled, SpilledRows)
    places = np.flatnonzero(spilled._kind[: spilled._end] == ROW)
    places = places[spilled._age[places].argsort()]
    records, names = spilled._read(places)
    fields = [name for name in records.dtype.names or () if name not in ("check", "more")]
    return {
        "sweeps": spilled.sweeps,
        "nodes": list(table.nodes), "state": table.state[:n].tobytes(), "age": table.age(np.arange(n)).tobytes(),
        "scores": engine.frontier.priority[:n].tobytes(), "levels": engine.frontier.level[:n].tobytes(),
        "sums": table._sums[:n].tobytes(), "vacant": list(table._vacant), "child": table.edges.child.tobytes(),
        "spilled": [*zip(names, spilled._score[places].tolist(), spilled._tag[places].tolist(), strict=True)],
        "records": [records[name].tobytes() for name in fields],
    }  # fmt: skip


def crawled(
    out: Path, memory_rows: int, snapshots: tuple[int, ...] = (), web: Remembered = WEB, **more: Any
) -> tuple[dict[str, Any], list[Any]]:
    async def run() -> tuple[dict[str, Any], list[Any]]:
        crawl = lycosa.crawl(
            web.web.query(TOPIC),
            web.web.seeds(TOPIC),
            out=out,
            space=sim_space(web),
            clock=clock,
            memory_rows=memory_rows,
            **more,
        )
        visits = []
        async for visit in crawl:
            visits.append((visit.node, visit.pick, visit.priority, visit.outcome))
            if len(visits) in snapshots:
                assert crawl._snapshots is not None
                assert crawl._snapshots.write(sure=True)
                shutil.copytree(out / NAME, out.parent / str(len(visits)))
        assert crawl.engine is not None
        return known(crawl.engine), visits

    return run_virtual(run())


def resumed(out: Path, **changes: Any) -> tuple[dict[str, Any], list[Any], Engine]:
    async def run() -> tuple[dict[str, Any], list[Any], Engine]:
        crawl: Crawl = lycosa.resume(out, space=sim_space(WEB), clock=clock, **changes)
        await crawl.open()
        assert crawl.engine is not None
        before = known(crawl.engine)
        return before, [(visit.node, visit.pick, visit.priority, visit.outcome) async for visit in crawl], crawl.engine

    return run_virtual(run(), start=LATER)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_memory_follow_from_log(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "crawl"
    live, _ = crawled(place, 30, SEVERAL, budget=PAGES, **KINDS[kind])
    assert len(live["spilled"]) > 3 * 30  # most rows are spilled
    shutil.rmtree(place / NAME, ignore_errors=True)
    found = []
    for visits_before in (0, *SEVERAL):
        copy = tmp_path / f"copy {visits_before}"
        shutil.copytree(place, copy)
        if visits_before:
            shutil.copytree(tmp_path / str(visits_before), copy / NAME)
        found.append(resumed(copy, budget=PAGES + MORE)[:2])
    assert found[0] == found[1] == found[2]
    assert live == found[0][0]
    assert len(found[0][1]) >= MORE


def test_spilled_rows_are_all_fetched(tmp_path: Path) -> None:
    fetched = []
    for memory_rows in (10_000, 25):
        left, visits = crawled(
            tmp_path / str(memory_rows),
            memory_rows,
            strategy="breadth-first",
            judge="vector",
            budget=1000,
            web=SMALL,
            traps=False,
        )
        assert not left["spilled"]
        assert (left["sweeps"] == 0) == (memory_rows == 10_000)
        nodes = [node for node, _, _, outcome in visits if outcome == "ok"]
        assert len(nodes) == len(set(nodes))
        fetched.append(nodes)
    assert sorted(fetched[0]) == sorted(fetched[1])
    assert len(fetched[0]) > 80


def test_lost_spill_file_is_rebuilt_damaged_one_is_an_error(tmp_path: Path) -> None:
    place = tmp_path / "crawl"
    live, _ = crawled(place, 30, (40,), budget=PAGES)
    shutil.rmtree(place / NAME, ignore_errors=True)
    shutil.copytree(tmp_path / "40", place / NAME)
    for way in ("lost", "cut", "another"):
        copy = tmp_path / way
        shutil.copytree(place, copy)
        if way == "lost":
            (copy / SPILLED).unlink()
        else:
            data = (copy / SPILLED).read_bytes()
            (copy / SPILLED).write_bytes(data[: len(data) // 2] if way == "cut" else b"0" * len(data))
        assert live == resumed(copy, budget=PAGES)[0]
    data = bytearray((place / SPILLED).read_bytes())
    for at in range(100, len(data), 200):
        data[at] ^= 1
    (place / SPILLED).write_bytes(data)
    with raises_input_error("bad-file", "damaged: delete it"):
        resumed(place, budget=PAGES + 400)


def test_page_data_in_file_gives_same_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_memory = crawled(tmp_path / "memory", 30, budget=PAGES)
    monkeypatch.setattr(evidence, "IN_MEMORY", 7)
    monkeypatch.setattr(page_outcomes, "IN_MEMORY", 500)
    place = tmp_path / "crawl"
    assert in_memory == crawled(place, 30, (40,), budget=PAGES)
    found = [resumed(tmp_path / "memory", budget=PAGES + MORE)[:2]]
    shutil.rmtree(place / NAME, ignore_errors=True)
    shutil.copytree(tmp_path / "40", place / NAME)
    found.append(resumed(place, budget=PAGES + MORE)[:2])
    assert found[0] == found[1]


def test_why_explains_spilled_row(tmp_path: Path) -> None:
    place = tmp_path / "crawl"
    live, _ = crawled(place, 30, (40,), budget=PAGES)
    before = (place / SPILLED).read_bytes()
    node = live["spilled"][5][0].decode()
    with closing(Reasons(place, space=sim_space(WEB))) as reasons:
        why = reasons.why(node)
    assert node == why.node
    assert why.parents
    assert before == (place / SPILLED).read_bytes()


def test_lab_spills_like_crawl() -> None:
    chance = np.random.default_rng(3)
    links = {f"n{node}": [f"n{at}" for at in chance.integers(0, 300, 8)] for node in range(300)}
    index = CorpusIndex.of(links, score={f"n{node}": float(chance.random()) for node in range(0, 300, 7)})
    guide = Judgements.given(index)
    whole, same, few = (
        simulate(guide, strategy("best-first"), [0], 300, memory_rows=memory_rows).nodes for memory_rows in (0, 300, 20)
    )
    assert whole.tolist() == same.tolist()
    assert sorted(whole.tolist()) == sorted(few.tolist())
    assert whole.tolist() != few.tolist()


def test_spilled_rows_keep_their_priorities() -> None:
    def worth(away: bool) -> list[float]:
        scent, table = Scent(words="coral reef", vectors=False), Table()
        urls = [f"http://a.test/{number}" for number in range(9)]
        anchors = [f"coral {number % 4} reef" if number % 2 else "trains" for number in range(9)]
        table.add_seed("http://a.test/")
        links = Links.to(*urls, anchors=anchors)
        links.link_relevances[:] = np.arange(9) / 9
        events = [Visit("http://a.test/", "page", "ok", 1, relevance=0.5, links=links)]
        events += [Visit(urls[number], "page", "ok", number, relevance=number / 8) for number in (2, 4, 8)]
        events += [Visit(urls[6], "page", "gone", 5)]
        for event in events:
            step = table.absorb(event)
            assert step is not None
            scent.learn(step, table)
            if event.pick == 1:
                rows = np.array([table.row_of[urls[number]] for number in (3, 5, 7)], np.int32)
                if away:
                    aside = Table.aside(table.leave(rows, table))
                    known = scent.leave(rows, table)
        if away:
            assert known["priority"].tolist() != scent.renew(known, aside, table).tolist()
            return [round(score, 5) for score in known["priority"].tolist()]
        return [round(float(score), 5) for score in np.sum([*scent.contributions(rows, table).values()], axis=0)]

    assert worth(away=False) == pytest.approx(worth(away=True), abs=2e-5)


def make_engine(trap_filter: TrapFilter) -> Engine:
    made = Engine(
        GraphSpace({}),
        SpaceJudge(),
        Greedy(BreadthFirst(), "arm"),
        MemoryLog(),
        clock=clock,
        memory_rows=8,
        trap_filter=trap_filter,
    )
    made.fold(Seed("http://a.test/"))
    return made


def fold_inbound(engine: Engine, number: int, ends: Iterable[object]) -> SpilledRows:
    links = Links.to(*(f"http://b{number}.test/{end}" for end in ends))
    visit = Visit(node=f"http://c.test/{number}", pick=1, kind="page", outcome="ok", links=links)
    engine.add_events_from_shards([LinkBatch([InboundLinks(1, number, visit)])])
    assert isinstance(engine.spilled, SpilledRows)
    return engine.spilled


def test_links_of_other_shards_are_spilled() -> None:
    engine = make_engine(SectionTrapFilter(0.5))
    for number in range(1, 200):
        spilled = fold_inbound(engine, number, range(10))
    assert spilled.count == 1991 - (engine.table.open_rows - spilled.count)
    assert engine.table.open_rows - spilled.count <= 8
    engine.fold(Setting(RECALL, spilled.count))


def test_spill_file_has_length_of_snapshot() -> None:
    engine = make_engine(SectionTrapFilter(0.5))
    for number in range(1, 60):
        spilled = fold_inbound(engine, number, ("x" * (37 * at) for at in range(10)))
        if about := spilled.about():
            assert os.fstat(spilled.file._writable_file()).st_size >= about[1]
    assert spilled.count > 500


def test_trap_filter_without_leave_spills_nothing() -> None:
    assert make_engine(TrapFilter()).spilled is not None
    assert make_engine(Priorities(SectionTrapFilter(0.5), ScrapySpace())).spilled is None
