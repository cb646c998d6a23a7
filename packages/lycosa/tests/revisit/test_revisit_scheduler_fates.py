"""Moved and vanished pages on a changing web."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import lycosa
from lycosa.core.types import ModelUpdate, Visit
from lycosa.revisit.change import change_of
from lycosa.spaces.web_space import WebSpace
from lycosa.store.log import NAME, SqliteLog
from lycosa.testweb.changing import ChangingWeb
from lycosa.testweb.embedded_web import Web
from lycosa.testweb.simulation import EPOCH, SimTransport, clock, run_virtual
from lycosa.web.politeness import Politeness

DAYS = 86_400.0


def test_moved_and_vanished_pages_are_reported(tmp_path: Path) -> None:
    web = ChangingWeb(Web(seed=3, pages=200, hosts=8, traps=()), clock, seed=5, days=20, fates=0.7)

    def space() -> WebSpace:
        transport = SimTransport(web, seed=1, latency=(0.01, 0.02))
        return WebSpace(transport, Politeness(clock, delay=0.1), clock, probe_after=1)

    topic = web.topics[0]

    async def crawled() -> None:
        seeds = web.seeds(topic, 3)
        async for _ in lycosa.crawl(
            web.query(topic), seeds, out=tmp_path / "c", space=space(), clock=clock, budget=150, judge="vector"
        ):
            pass

    async def looked() -> list[Visit]:
        crawl = lycosa.refresh(tmp_path / "c", everything=True, watch_all=True, space=space(), clock=clock)
        return [visit async for visit in crawl]

    run_virtual(crawled())
    visits = run_virtual(looked(), start=25 * DAYS)
    told = {visit.node: change.what for visit in visits if (change := change_of(visit)) is not None}
    found: dict[str, list[str]] = {}
    again = [visit for visit in visits if visit.kind == "revisit"]
    for visit in again:
        what, at = web.fate(visit.node)
        if what in ("moved", "gone", "soft-404") and at <= EPOCH + 24 * DAYS:
            found.setdefault(what, []).append(told.get(visit.node, "nothing"))
    assert {"moved": {"moved"}, "gone": {"vanished"}, "soft-404": {"vanished"}} == {w: set(f) for w, f in found.items()}
    assert min(map(len, found.values())) >= 3
    stays = {visit.node for visit in again if web.fate(visit.node)[0] == "stays"}
    assert not {node for node in stays if told.get(node) in ("moved", "vanished")}


def test_relevances_of_shards_are_kept_until_revisit(tmp_path: Path) -> None:
    web = Web(seed=3, pages=60, hosts=4, traps=())
    topic, out = web.topics[0], tmp_path / "c"

    def space() -> WebSpace:
        return WebSpace(SimTransport(web, seed=1, latency=(0.01, 0.02)), Politeness(clock, delay=0.1), clock)

    async def crawled() -> None:
        async for _ in lycosa.crawl(
            web.query(topic), web.seeds(topic, 3), out=out, space=space(), clock=clock, budget=25
        ):
            pass

    def looked(start: float, **options: Any) -> int:
        async def looking() -> int:
            crawl = lycosa.refresh(out, space=space(), clock=clock, **options)
            return len([visit async for visit in crawl if visit.kind == "revisit"])

        return int(run_virtual(looking(), start=start))

    def told() -> tuple[dict[str, float], int]:
        with closing(SqliteLog(out / NAME, readonly=True)) as log:
            events = list(log)
        worth = {event.node: event.relevance_now for event in events if isinstance(event, Visit) and event.is_page}
        return worth, sum(isinstance(event, ModelUpdate) for event in events)

    run_virtual(crawled())
    with closing(sqlite3.connect(out / NAME)) as database:
        database.execute("DELETE FROM model_update")
        database.execute("UPDATE score SET relevance_now = 0.9 * (seq % 2)")
        database.commit()
    before = told()
    assert before[1] == 0
    assert set(before[0].values()) == {0.0, 0.9}
    assert looked(1 * DAYS, schedule="fixed,every=30d") == 0
    assert told() == before
    relevant = sum(worth > 0.5 for worth in before[0].values())
    assert relevant <= looked(2 * DAYS, everything=True) <= relevant + 3, "what was relevant, and the seeds"
    assert told()[1] > 0
    learned = told()
    config = (out / "crawl.toml").read_text("utf-8")
    (out / "crawl.toml").write_text(config.replace(web.query(topic), web.query(web.topics[1])), "utf-8")
    assert looked(3 * DAYS, schedule="fixed,every=30d") == 0
    assert told()[1] == learned[1] + 1, "by the new topic, though nothing was due"
    assert told()[0] != learned[0]
