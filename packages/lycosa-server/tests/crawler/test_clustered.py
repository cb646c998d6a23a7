"""Crawls on a cluster, which is hosted in this process, behave like local ones."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import lycosa
from commands import Command
from crawler_bench import DELAY, Bench, change_settings, events_of, on_bench, quick  # noqa: F401 - a fixture
from held_port import held_port
from hosts_here import HostsHere
from lycosa.core.types import Label, ModelUpdate, Setting, Visit
from lycosa.judges.base import RELEVANCES
from lycosa.store.log import NAME, SqliteLog
from lycosa.testweb.server import gaps, max_in_flight
from lycosa_cluster.splitting import shard_count, shard_path
from lycosa_server.crawler import process as process_module
from lycosa_server.crawler.running import count_pages
from lycosa_server.people import crawls, erasing, feedback

SHARDS = 2


@pytest.fixture(autouse=True)
def on_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every crawl process a cluster with short poll intervals."""
    monkeypatch.setattr("lycosa_cluster.running.POLL_SECONDS", 0.05)
    monkeypatch.setattr(process_module, "_hosts", lambda settings: HostsHere(SHARDS, 8))


def shard_events(bench: Bench, crawl: str, kind: type[Any]) -> list[list[Any]]:
    """Return the events of a kind in each shard's log."""
    found = []
    for number in range(SHARDS):
        with closing(SqliteLog(shard_path(bench.settings.crawl_directory(crawl), number) / NAME, readonly=True)) as log:
            found.append([event for event in log if isinstance(event, kind)])
    return found


def test_cluster_crawl_behaves_like_a_local_one(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        seeds = [bench.server.url(host, "/coral-0") for host in ("reef.localhost", "atoll.test.localhost")]
        crawl, other = bench.crawl("ann", budget=9, seeds=seeds), bench.crawl("bob", seeds=seeds)
        doomed = bench.crawl("cid", host="two.localhost")
        directory = bench.settings.crawl_directory(crawl)
        bench.start()
        await bench.until(lambda: bench.row(crawl)["pages"] >= 2)
        crawls.add_pages(bench.database, time.time(), crawl, 5_000, 10_000)
        await bench.until(lambda: bench.row(crawl)["pages"] > 9)
        live = json.loads((directory / "live.json").read_text())
        assert {"at", "frontier", "in_flight", "hosts"} == set(live)
        assert live["frontier"] > 0
        assert live["hosts"]
        body = json.loads(bench.database.rows("SELECT stats FROM process")[0]["stats"])
        assert (3, SHARDS) == (body["running"], body["shards"])

        page = bench.collected(crawl)[1]
        feedback.set_label(bench.database, time.time(), "ann-reefs", "ann", page, False)
        await bench.until(lambda: all(shard_events(bench, crawl, Label)))
        assert {(page, False)} == {
            (answer.node, answer.relevant) for part in shard_events(bench, crawl, Label) for answer in part
        }

        await bench.until(lambda: bench.row(doomed)["pages"] >= 2)
        erasing.erase_interest(bench.database, "cid-reefs")
        await bench.until(lambda: not erasing.deleted_crawls(bench.database))
        assert not bench.settings.crawl_directory(doomed).exists()

        crawls.pause(bench.database, crawl)
        paused = await bench.until_state(crawl, "paused")
        assert paused["pages"] == len(bench.collected(crawl)) == sum(map(_pages, shard_events(bench, crawl, Visit)))
        crawls.resume(bench.database, time.time(), crawl)
        await bench.until(lambda: bench.row(crawl)["pages"] >= paused["pages"] + 2)
        await bench.stop()  # the next process finds both crawls running
        assert ["running"] * 2 == [bench.row(one)["state"] for one in (crawl, other)]
        bench.start()
        pages = bench.row(other)["pages"]
        await bench.until(lambda: bench.row(other)["pages"] > pages)
        crawls.stop(bench.database, time.time(), other)
        bench.database.run("UPDATE crawl SET budget = pages + 4 WHERE id = :crawl", crawl=crawl)
        assert "all requested pages were fetched" == (await bench.until_state(crawl, "finished"))["reason"]
        stopped = await bench.until_state(other, "stopped")
        await bench.stop()
        assert bench.row(crawl)["pages"] == len(bench.collected(crawl))
        for host in ("reef.localhost", "atoll.test.localhost"):
            assert gaps(bench.server.log)[host] >= DELAY
            assert 1 == max_in_flight(bench.server.log)[host]

        assert SHARDS == shard_count(directory)
        looks = [visit async for visit in lycosa.refresh(directory, everything=True, requests=6) if visit.follows]
        assert looks
        assert 0 == shard_count(directory)
        bench.start()
        assert bench.process is not None
        bench.process.environment.hosts = None  # crawls continue without a cluster, too
        bench.database.run(
            "UPDATE crawl SET budget = :budget WHERE id = :other", budget=stopped["pages"] + 1, other=other
        )
        crawls.add_pages(bench.database, time.time(), other, 1, 10_000)
        assert stopped["pages"] + 2 == (await bench.until_state(other, "finished"))["pages"]
        nodes = bench.collected(other)
        assert len(nodes) == len(set(nodes)) == stopped["pages"] + 2

    on_bench(tmp_path, work)


def _pages(events: list[Any]) -> int:
    return sum(event.is_page for event in events)


def test_cluster_shards_learn_new_topic_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(bench: Bench) -> None:
        seeds = [bench.server.url(host, "/coral-0") for host in ("reef.localhost", "atoll.test.localhost")]
        crawl = bench.crawl("ann", budget=6, seeds=seeds, judge="vector")
        bench.start()
        assert (await bench.until_state(crawl, "finished"))["relevant"] > 0
        change_settings(bench, "ann-reefs", words="steam railway")
        crawls.request_judging(bench.database, "ann-reefs", "topic")
        await bench.until(lambda: not bench.row(crawl)["judging"])
        for pages in (8, 9):
            crawls.add_pages(bench.database, time.time(), crawl, pages - bench.row(crawl)["pages"], 100)
            row = await bench.until_state(crawl, "finished")
            assert (pages, 0) == (row["pages"], row["relevant"])
            assert (pages, 0) == count_pages(bench.settings.crawl_directory(crawl), row)
            kinds = [type(event) for event in events_of(bench, crawl, object)  # type: ignore[type-abstract]
                     if isinstance(event, Visit) or getattr(event, "key", "") == "threshold"]  # fmt: skip
            assert kinds[-1] is Setting, "readers see that the relevance of pages has changed"
        model_updates = shard_events(bench, crawl, ModelUpdate)
        assert [1] * SHARDS == list(map(len, model_updates))
        assert 6 == sum(len(part[0].data[RELEVANCES]) for part in model_updates)

    monkeypatch.setattr("lycosa_server.crawler.process.JUDGING_PAUSE_SECONDS", 0.0)
    on_bench(tmp_path, work)


def test_cluster_crawl_cancelled_keeps_pages_of_its_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa_cluster.running.POLL_SECONDS", 10_000.0)

    async def work(bench: Bench) -> None:
        crawl = bench.crawl("ann")
        logs = [shard_path(bench.settings.crawl_directory(crawl), number) / NAME for number in range(SHARDS)]
        bench.start()
        await bench.until(lambda: all(file.exists() for file in logs))
        await bench.until(lambda: sum(map(_pages, shard_events(bench, crawl, Visit))) >= 3)
        crawls.pause(bench.database, crawl)
        assert bench.process is not None
        bench.process.running[crawl].cancel()
        await bench.until_state(crawl, "paused")
        pages = sum(map(_pages, shard_events(bench, crawl, Visit)))
        assert pages == len(bench.collected(crawl)) == bench.row(crawl)["pages"] >= 3

    on_bench(tmp_path, work)


def test_cluster_fetches_examples_once_for_all_shards(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        example = bench.server.url("reef.localhost", "/coral-7")
        crawl = bench.crawl("ann", budget=4, examples=[example])
        broken = bench.crawl("bob", budget=4, examples=[bench.server.url("reef.localhost", "/nothing")])
        bench.start()
        row = await bench.until_state(crawl, "finished")
        assert (4, 4) == (row["pages"], len(bench.collected(crawl)))
        assert "/nothing" in (await bench.until_state(broken, "failed"))["reason"]
        asked = [hit for hit in bench.server.log if hit.path == "/coral-7"]
        assert 1 <= len(asked) <= 2, "as an example, and as a page if it was among the best"

    on_bench(tmp_path, work)


def test_serve_refuses_unreachable_cluster(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = ("serve", tmp_path / "data", "--cluster")
    with held_port() as port:
        assert f"no cluster responds at 127.0.0.1:{port}" in command.complaint(*start, f"127.0.0.1:{port}")
    assert "10.0.0.5:6379" in command.complaint(*start, "head")
    assert "1 to 999" in command.complaint(*start, "local:none")
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    assert "pip install lycosa-cluster" in command.complaint(*start, "local:2")
    assert not (tmp_path / "data").exists()
