"""The crawl process with a web on loopback."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crawler_bench import DELAY, Bench, change_settings, events_of, on_bench, quick  # noqa: F401 - a fixture
from input_errors import raises_input_error
from lycosa.core.errors import InputError, LockedError
from lycosa.core.types import Label, Setting, Visit
from lycosa.judges.model import fit_model
from lycosa.revisit.change import change_of
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.strategies.rulebook import RuleBook
from lycosa.testweb.reply import ServedResponse
from lycosa.testweb.server import gaps, max_in_flight
from lycosa.text.bags import Bags
from lycosa.web.signing import Identity
from lycosa_server.crawler import running as running_module
from lycosa_server.crawler.process import CrawlProcess
from lycosa_server.crawler.running import count_pages
from lycosa_server.model_files import digest_of
from lycosa_server.people import crawls, erasing, feedback
from lycosa_server.people.database import DatabaseUnavailable
from lycosa_server.people.interest_settings import InterestSettings
from lycosa_server.settings import Settings


@pytest.mark.parametrize("database_address", ["postgres"], indirect=True)
def test_process_runs_queued_crawl(tmp_path: Path, database_address: str) -> None:
    async def work(bench: Bench) -> None:
        crawl = bench.crawl("ann", budget=5)
        bench.start()
        row = await bench.until_state(crawl, "finished")
        assert ("all requested pages were fetched", 5) == (row["reason"], row["pages"])
        assert row["relevant"] == count_pages(bench.settings.crawl_directory(crawl), row)[1]
        assert 5 == len(bench.collected(crawl))
        notice = bench.database.row("SELECT * FROM notice")
        assert notice is not None
        assert ("ann", "finished", "ann-reefs") == tuple(notice[name] for name in ("person", "kind", "interest"))
        assert not (bench.settings.crawl_directory(crawl) / "live.json").exists()
        process = bench.database.row("SELECT * FROM process WHERE name = 'crawler'")
        assert process is not None
        assert json.loads(process["stats"])["in_flight"] == 0

    on_bench(tmp_path, work, database_address)


@pytest.mark.paper("gouriten-distributed")
def test_process_shares_politeness_between_crawls(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        made = [bench.crawl(person) for person in ("ann", "bob", "cid")]
        bench.start()
        spread, begun = 0, list[int]()

        def progressed() -> bool:
            nonlocal spread, begun
            assert bench.process is not None
            pages = [running.pages for running in bench.process.running.values()]
            if len(pages) < 3 or not all(pages):
                return False
            begun = begun or pages  # they start one after the other, at a distance that depends on the machine
            gained = [now - then for now, then in zip(pages, begun, strict=True)]
            spread = max(spread, max(gained) - min(gained))
            return min(gained) >= 12

        await bench.until(progressed)
        await bench.stop()
        assert gaps(bench.server.log)["reef.localhost"] >= DELAY
        assert 1 == max_in_flight(bench.server.log)["reef.localhost"]
        assert spread <= 6
        assert all(len(bench.collected(crawl)) >= 12 for crawl in made)

    on_bench(tmp_path, work)


def test_process_respects_limits_per_person_and_in_total(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        anns = [bench.crawl("ann", f"{number}", host=f"{number}.localhost") for number in "123"]
        bobs = [bench.crawl("bob", f"{number}", host=f"{number}.localhost") for number in "12"]
        bench.start()
        assert bench.process is not None
        await bench.until(lambda: len(bench.process.running) == 3)  # type: ignore[union-attr]
        states = {crawl: bench.row(crawl)["state"] for crawl in (*anns, *bobs)}
        assert ["running", "running", "queued"] == [states[crawl] for crawl in anns]
        assert ["running", "queued"] == [states[crawl] for crawl in bobs]
        newcomer = bench.crawl("cid", host="3.localhost")
        crawls.stop(bench.database, time.time(), anns[0])
        await bench.until_state(newcomer, "running")
        assert ["queued", "queued"] == [bench.row(crawl)["state"] for crawl in (anns[2], bobs[1])]

    on_bench(tmp_path, work, crawls=3, crawls_per_person=2)


def test_process_pauses_resumes_and_stops(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        crawl = bench.crawl("ann", budget=25)
        bench.start()
        await bench.until(lambda: bench.row(crawl)["pages"] >= 2)
        crawls.add_pages(bench.database, time.time(), crawl, 9_000, 10_000)  # also raises the budget of a running crawl
        await bench.until(lambda: bench.row(crawl)["pages"] > 25)
        live = json.loads((bench.settings.crawl_directory(crawl) / "live.json").read_text())
        assert "reef.localhost" == live["hosts"][0]["host"].partition(":")[0]
        assert {"at", "frontier", "in_flight", "hosts"} == set(live)
        crawls.pause(bench.database, crawl)
        paused = await bench.until_state(crawl, "paused")
        seen, rounds = len(bench.server.log), bench.process.rounds if bench.process else 0
        await bench.until(lambda: bench.process and bench.process.rounds > rounds + 5)
        assert seen == len(bench.server.log)
        crawls.resume(bench.database, time.time(), crawl)
        await bench.until(lambda: bench.row(crawl)["pages"] >= paused["pages"] + 3)
        crawls.stop(bench.database, time.time(), crawl)
        stopped = await bench.until_state(crawl, "stopped")
        assert "stopped" == stopped["reason"]
        bench.database.run("UPDATE crawl SET budget = :budget", budget=stopped["pages"] + 2)
        crawls.add_pages(bench.database, time.time(), crawl, 3, 10_000)
        assert stopped["pages"] + 5 == (await bench.until_state(crawl, "finished"))["pages"]
        paths = [hit.path for hit in bench.server.log if hit.path.startswith("/coral")]
        assert len(paths) == len(set(paths))

    on_bench(tmp_path, work)


def test_process_stop_does_not_wait_for_slow_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa_server.crawler.process.MAX_STOP_SECONDS", 0.05)

    async def work(bench: Bench) -> None:
        crawl = bench.crawl("ann", budget=1)
        bench.web.slow = 60.0
        bench.start()
        await bench.until(lambda: bench.process and bench.process.authority.in_flight and len(bench.server.log) == 1)
        crawls.pause(bench.database, crawl)
        await bench.until_state(crawl, "paused")
        assert bench.process is not None
        assert 0 == bench.process.authority.in_flight
        bench.web.slow = 0.0
        crawls.resume(bench.database, time.time(), crawl)
        assert 1 == (await bench.until_state(crawl, "finished"))["pages"]

    on_bench(tmp_path, work)


def test_process_limits_requests_per_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.core.budget.REQUESTS_PER_PAGE", 1)
    monkeypatch.setattr("lycosa.core.budget.SPARE_REQUESTS", 0)

    async def work(bench: Bench) -> None:
        bench.web.response = dead(bench.web.response)  # type: ignore[method-assign]
        crawl = bench.crawl("ann", budget=5)
        bench.start()
        row = await bench.until_state(crawl, "finished")
        assert 5 == len(bench.server.log)
        assert "too many requests returned no page: 2 pages, 2 dead links, 1 robots.txt" == row["reason"]
        crawls.add_pages(bench.database, time.time(), crawl, 1, 100)
        await bench.until(lambda: bench.row(crawl)["reason"].endswith("3 dead links, 1 robots.txt"))
        assert 6 == len(bench.server.log)

    on_bench(tmp_path, work)


def dead(answering: Callable[..., Any]) -> Callable[..., Any]:
    """Return 404 for all but the first two pages."""

    def response(url: str, **given: Any) -> Any:
        answer = answering(url, **given)
        gone = not url.endswith(("/coral-0", "/coral-1", "/robots.txt"))
        return ServedResponse(404, [], b"") if gone else answer

    return response


def add_model(bench: Bench, name: str, owner: str, kind: str, content: Any) -> None:
    place = bench.settings.model_file(name)
    place.parent.mkdir(exist_ok=True)
    content.save(place)
    about = {"size": place.stat().st_size, "digest": digest_of(place), "created": 0.0}
    bench.database.insert("model", {"id": name, "owner": owner, "name": name, "kind": kind, "state": "ready", **about})


def test_process_crawls_by_models_of_owner_only(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        reefs = fit_model(
            "nb", Bags.of([([0], [2]), ([1], [2])]), np.arange(2), ["Rail", "Sea/Reefs"], ["rail", "coral"]
        )
        book = RuleBook()
        book.add("Rail", "Sea/Reefs", 2)
        settings = {"model": "m-ann", "targets": ["Sea"], "strategy": "rules", "strategy_model": "r-ann"}
        crawl, other = bench.crawl("ann", budget=3), bench.crawl("eve", budget=3)
        for name, owner, kind, content in (("m-ann", "ann", "classifier", reefs), ("r-ann", "ann", "rules", book)):
            add_model(bench, name, owner, kind, content)
        data = InterestSettings(seeds=[bench.server.url("reef.localhost", "/coral-0")], **settings).as_json()
        bench.database.run("UPDATE interest SET settings = :told", told=data)
        bench.start()
        row = await bench.until_state(crawl, "finished")
        assert (3, 3) == (row["pages"], row["relevant"])
        kept = Directory.read_options(bench.settings.crawl_directory(crawl))
        assert ("topic.model", ["Sea"], "rules,file=strategy.tsv") == (kept.model, kept.targets, kept.strategy)
        failed = await bench.until_state(other, "failed")
        assert "models/gone does not exist" in failed["reason"]
        upside_down = fit_model(
            "nb", Bags.of([([0], [2]), ([1], [2])]), np.arange(2), ["Rail", "Sea"], ["coral", "rail"]
        )
        add_model(bench, "m2-ann", "ann", "classifier", upside_down)
        data = data.replace("m-ann", "m2-ann")
        bench.database.run("UPDATE interest SET settings = :told WHERE owner = 'ann'", told=data)
        crawls.request_judging(bench.database, "ann-reefs", "topic")
        await bench.until(lambda: not bench.row(crawl)["judging"])
        row = bench.row(crawl)
        assert (0, "") == (row["relevant"], row["judging_failed"])

    on_bench(tmp_path, work)


def test_process_failure_affects_one_crawl_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(bench: Bench) -> None:
        bad = bench.crawl("ann", "bad", examples=[bench.server.url("reef.localhost", "/robots.txt")])
        odd = bench.crawl("bob", "odd")
        bench.database.run("UPDATE interest SET settings = 'none' WHERE id = 'bob-odd'")
        good, private = bench.crawl("cid", budget=5), bench.crawl("dan", seeds=["http://10.0.0.1/coral"])
        bench.start()
        assert "cannot fetch the example" in (await bench.until_state(bad, "failed"))["reason"]
        assert "Error" in (await bench.until_state(odd, "failed"))["reason"]
        assert 5 == (await bench.until_state(good, "finished"))["pages"]
        reason = "no page could be read; http://10.0.0.1/coral: the address is in a private network. "
        reason += "Nothing was sent. An administrator of this server can allow a private network"
        assert reason == (await bench.until_state(private, "failed"))["reason"]
        data = {row["person"]: row["kind"] for row in bench.database.rows("SELECT person, kind FROM notice")}
        assert {"ann": "failed", "bob": "failed", "cid": "finished", "dan": "failed"} == data

    on_bench(tmp_path, work)


def test_process_continues_crawls_of_its_predecessor(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        made = [bench.crawl("ann"), bench.crawl("bob", host="two.localhost")]
        waiting = bench.crawl("cid")
        bench.start()
        await bench.until(lambda: all(bench.row(crawl)["pages"] >= 3 for crawl in made))
        await bench.stop()
        assert ["running", "running", "queued"] == [bench.row(crawl)["state"] for crawl in (*made, waiting)]
        assert [len(bench.collected(crawl)) for crawl in made] == [bench.row(crawl)["pages"] for crawl in made]
        budgets = {crawl: bench.row(crawl)["pages"] + 8 for crawl in made}
        for crawl, budget in budgets.items():
            bench.database.run("UPDATE crawl SET budget = :budget WHERE id = :crawl", budget=budget, crawl=crawl)
        bench.start()
        for crawl, budget in budgets.items():
            assert budget == (await bench.until_state(crawl, "finished"))["pages"]
        await bench.until_state(waiting, "running")
        await bench.stop()
        twos = [hit.path for hit in bench.server.log if hit.host == "two.localhost" and hit.path.startswith("/coral")]
        assert budgets[made[1]] == len(twos) == len(set(twos))

    on_bench(tmp_path, work, crawls=2)


def test_process_applies_changes_made_while_it_was_down(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        paused, first, second = (bench.crawl(person) for person in ("ann", "bob", "cid"))
        for crawl in (paused, first, second):
            crawls.take(bench.database, time.time(), crawl)
        crawls.pause(bench.database, paused)
        bench.start()
        await bench.until_state(paused, "paused")
        await bench.until(lambda: bench.row(first)["pages"])
        assert "queued" == bench.row(second)["state"]

    on_bench(tmp_path, work, crawls=1)


def test_process_accepts_directories_of_killed_crawls(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        other = bench.crawl("other", budget=1)
        bench.start()
        await bench.until_state(other, "finished")
        await bench.stop()
        options = (bench.settings.crawl_directory(other) / "crawl.toml").read_bytes()
        left: dict[str, dict[str, bytes]] = {
            "a directory": {},
            "a lock": {"lock": b"1\n"},
            "options": {"crawl.toml": options},
            "an empty log": {"crawl.toml": options, "crawl.sqlite": b""},
        }
        made = []
        for number, files in enumerate(left.values()):
            made.append(bench.crawl(f"person {number}", budget=4, host=f"{number}.localhost"))
            directory = bench.settings.crawl_directory(made[-1])
            directory.mkdir(parents=True)
            for name, content in files.items():
                (directory / name).write_bytes(content)
            crawls.take(bench.database, time.time(), made[-1])
        bench.start()
        for crawl in made:
            assert 4 == (await bench.until_state(crawl, "finished"))["pages"]

    on_bench(tmp_path, work)


def test_process_learns_labels_while_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_module, "LEARNING_PAUSE_SECONDS", 0.05)

    async def work(bench: Bench) -> None:
        crawl = bench.crawl("ann", judge="automatic")

        def say(when: float, page: str, relevant: bool | None) -> None:
            feedback.set_label(bench.database, time.time() + when, "ann-reefs", "ann", page, relevant)

        bench.start()
        await bench.until(lambda: bench.row(crawl)["pages"] >= 3)
        page = bench.collected(crawl)[1]
        say(0.0, page, False)
        await bench.until(lambda: bench.row(crawl)["labels_learned"] == 1)
        say(-3600.0, page, None)  # as if the clock was set back
        await bench.until(lambda: bench.row(crawl)["labels_learned"] == 0)
        first = bench.collected(crawl)[0]
        for when, relevant in ((0.0, True), (-3600.0, False)):
            say(when, first, relevant)
            await bench.until(lambda: not bench.row(crawl)["judging"])
        pages = bench.row(crawl)["pages"]
        await bench.until(lambda: bench.row(crawl)["pages"] > pages)
        await bench.stop()
        log = SqliteLog(bench.settings.crawl_directory(crawl) / NAME, readonly=True)
        logged = [(label.node, label.relevant) for label in log.labels()]
        log.close()
        assert [(page, False), (page, None), (first, True), (first, False)] == logged
        assert 1 == len(events_of(bench, crawl, Setting, "threshold")), "it was opened again"
        paths = [hit.path for hit in bench.server.log if hit.path.startswith("/coral")]
        assert len(paths) == len(set(paths))

    on_bench(tmp_path, work)


def test_process_wake_polls_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa_server.crawler.process.POLL_SECONDS", 1e9)
    monkeypatch.setattr(running_module, "LEARNING_PAUSE_SECONDS", 0.05)

    async def work(bench: Bench) -> None:
        bench.start()
        assert bench.process is not None
        await bench.until(lambda: bench.process and bench.process.rounds > 5)
        crawl = bench.crawl("ann", judge="vector")
        rounds = bench.process.rounds
        await bench.until(lambda: bench.process and bench.process.rounds > rounds + 5)
        assert "queued" == bench.row(crawl)["state"]
        bench.process.wake()
        await bench.until(lambda: bench.row(crawl)["pages"] >= 3)
        first, second = bench.collected(crawl)[:2]
        feedback.set_label(bench.database, time.time(), "ann-reefs", "ann", first, False)
        bench.process.wake()
        await bench.until(lambda: not bench.row(crawl)["judging"])
        crawls.stop(bench.database, time.time(), crawl)
        bench.process.wake()
        await bench.until_state(crawl, "stopped")
        feedback.set_label(bench.database, time.time(), "ann-reefs", "ann", second, True)
        bench.process.wake()
        await bench.until(lambda: bench.row(crawl)["labels_learned"] == 2)
        message = [(label.node, label.relevant) for label in events_of(bench, crawl, Label)]
        assert [(first, False), (second, True)] == message

    on_bench(tmp_path, work)


def test_process_removes_deleted_crawls(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        doomed, other = bench.crawl("ann"), bench.crawl("bob")
        bench.start()
        await bench.until(lambda: bench.row(doomed)["pages"] >= 2)
        erasing.erase_interest(bench.database, "ann-reefs")
        await bench.until(lambda: not erasing.deleted_crawls(bench.database))
        assert not bench.settings.crawl_directory(doomed).exists()
        pages = bench.row(other)["pages"]
        await bench.until(lambda: bench.row(other)["pages"] > pages + 1)
        assert [] == bench.database.rows("SELECT * FROM notice")

    on_bench(tmp_path, work)


def test_process_refreshes_due_crawls(tmp_path: Path) -> None:
    ahead = 0.0

    def clock() -> float:
        return time.time() + ahead

    async def work(bench: Bench) -> None:
        nonlocal ahead
        crawl = bench.crawl("ann", budget=4)
        bench.database.run("UPDATE interest SET revisit_every = '1h'")
        bench.start(clock)
        row = await bench.until_state(crawl, "finished")
        await bench.until(lambda: bench.row(crawl)["due"] is not None)
        assert row["ended"] + 3600 == bench.row(crawl)["due"]
        seen = len(bench.server.log)
        bench.web.text = "the reef has died of the heat, and all of its fish have left the lagoon for good"
        ahead = 3601.0
        await bench.until(lambda: bench.row(crawl)["task"] == "refresh" and bench.row(crawl)["state"] == "finished")
        paths = [hit.path for hit in bench.server.log[seen:] if hit.path.startswith("/coral")]
        assert ["/coral-0", "/coral-1", "/coral-2", "/coral-3"] == sorted(paths)
        kinds = [row["kind"] for row in bench.database.rows("SELECT kind FROM notice ORDER BY at")]
        assert ["finished", "changes"] == kinds
        await bench.until(lambda: bench.row(crawl)["due"] is not None)

    on_bench(tmp_path, work)


def test_process_revisits_pages_at_their_own_intervals(tmp_path: Path) -> None:
    ahead = 0.0

    def clock() -> float:
        return time.time() + ahead

    async def work(bench: Bench) -> None:
        nonlocal ahead
        often = {"frequently": ["/coral-1"], "frequent": "1h", "infrequently": ["/coral-2"], "infrequent": "60d"}
        crawl = bench.crawl("ann", budget=4, always=["/coral-3"], detect=["paper"], **often)
        bench.database.run("UPDATE interest SET revisit_every = '7d'")
        bench.start(clock)
        await bench.until_state(crawl, "finished")
        await bench.until(lambda: bench.row(crawl)["due"] is not None)

        async def looked(seconds: float, begin: Callable[[], object] = lambda: None) -> list[Any]:
            nonlocal ahead
            seen, before = len(bench.server.log), bench.row(crawl)["ended"]
            ahead += seconds
            begin()
            await bench.until(lambda: (bench.row(crawl)["ended"] or 0.0) > before)
            await bench.until(lambda: bench.row(crawl)["due"] is not None)
            return sorted(hit.path for hit in bench.server.log[seen:] if hit.path.startswith("/coral"))

        assert "/coral-1 /coral-3".split() == await looked(3601.0)
        bench.web.text = "the reef has died of the heat"
        assert "/coral-0 /coral-1 /coral-3".split() == await looked(7 * 86_400.0)
        now = partial(crawls.refresh, bench.database, clock(), crawl, everything=False, revisit_first=["/coral-2"])
        assert "/coral-2 /coral-3".split() == await looked(0.0, now)
        log = SqliteLog(bench.settings.crawl_directory(crawl) / NAME, readonly=True)
        visits = [visit for visit in log if isinstance(visit, Visit)]
        log.close()
        changes = [found for visit in visits if (found := change_of(visit)) is not None]
        assert [["paper"]] * 4 == [change.by for change in changes if change.what == "changed"]
        arms = [visit.arm for visit in visits if visit.kind == "revisit" and visit.node.endswith("/coral-3")]
        assert ["always"] * 3 == arms

    on_bench(tmp_path, work)


def test_process_continues_interrupted_refresh(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        crawl = bench.crawl("ann", budget=6)
        bench.start()
        await bench.until_state(crawl, "finished")
        seen = len(bench.server.log)
        bench.web.text = "the reef has died of the heat, and all of its fish have left the lagoon for good"
        crawls.refresh(bench.database, time.time(), crawl)
        await bench.until(lambda: len(bench.server.log) > seen + 3)
        bench.web.slow = 0.3  # so that it cannot end before the stop
        await bench.stop()
        bench.web.slow = 0.0
        assert "running" == bench.row(crawl)["state"]
        bench.start()
        await bench.until_state(crawl, "finished")
        data = bench.database.rows("SELECT text FROM notice WHERE kind = 'changes'")
        assert [{"text": "reefs: 6 pages have changed"}] == data
        paths = [hit.path for hit in bench.server.log[seen:] if hit.path.startswith("/coral")]
        assert 6 == len(paths) == len(set(paths))

    on_bench(tmp_path, work)


def test_process_recounts_crawls_of_killed_process(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        crawl = bench.crawl("ann", budget=7)
        bench.start()
        row = await bench.until_state(crawl, "finished")
        await bench.stop()
        statement = "UPDATE crawl SET state = 'running', wanted = :wanted, pages = :pages, relevant = :relevant"
        for wanted, pages, relevant in (("pause", 3, 2), ("stop", 0, 0), ("stop", 7, 5)):
            bench.database.run(statement, wanted=wanted, pages=pages, relevant=relevant)
            live = bench.settings.crawl_directory(crawl) / "live.json"
            live.write_text("{}")
            bench.start()
            now = await bench.until_state(crawl, {"pause": "paused", "stop": "stopped"}[wanted])
            assert (7, row["relevant"]) == (now["pages"], now["relevant"])
            assert not live.exists()
            await bench.stop()

    on_bench(tmp_path, work)


def test_process_judges_finished_crawl_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(bench: Bench) -> None:
        crawl, idle = bench.crawl("ann", budget=6, judge="vector"), bench.crawl("bob", host="two.localhost", budget=6)
        bench.start()
        await bench.until_state(crawl, "finished")
        await bench.until_state(idle, "finished")
        url = bench.collected(crawl)[2]
        feedback.set_label(bench.database, time.time(), "ann-reefs", "ann", url, False, "")
        await bench.until(lambda: not bench.row(crawl)["judging"])
        assert [(url, False)] == [(label.node, label.relevant) for label in events_of(bench, crawl, Label)]
        assert 1 == bench.row(crawl)["labels_learned"]
        change_settings(bench, "ann-reefs", threshold=0.999)
        crawls.request_judging(bench.database, "ann-reefs", "threshold")
        await bench.until(lambda: not bench.row(crawl)["judging"])
        assert 0.999 == events_of(bench, crawl, Setting, "threshold")[-1].value
        assert bench.row(crawl)["relevant"] < 6
        change_settings(bench, "ann-reefs", words="steam railway", threshold=0.0)
        crawls.request_judging(bench.database, "ann-reefs", "topic")
        await bench.until(lambda: not bench.row(crawl)["judging"])
        row = bench.row(crawl)
        assert (0, "finished", "") == (row["relevant"], row["state"], row["judging_failed"])
        assert 0.1 == events_of(bench, crawl, Setting, "threshold")[-1].value
        assert [] == events_of(bench, idle, Label)
        crawls.add_pages(bench.database, time.time(), crawl, 2, 100)  # continues with the new topic
        await bench.until(lambda: bench.row(crawl)["pages"] == 8 and bench.row(crawl)["state"] == "finished")
        assert 0 == bench.row(crawl)["relevant"]

    monkeypatch.setattr("lycosa_server.crawler.process.JUDGING_PAUSE_SECONDS", 0.0)
    on_bench(tmp_path, work)


def test_process_judges_running_crawl_again(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        crawl = bench.crawl("ann", judge="vector")
        bench.start()
        await bench.until(lambda: bench.row(crawl)["pages"] >= 4)
        change_settings(bench, "ann-reefs", words="steam railway")
        crawls.request_judging(bench.database, "ann-reefs", "topic")
        await bench.until(lambda: not bench.row(crawl)["judging"])
        assert ("running", "") == (bench.row(crawl)["state"], bench.row(crawl)["judging_failed"])
        pages = bench.row(crawl)["pages"]
        await bench.until(lambda: bench.row(crawl)["pages"] >= pages + 4)
        assert "steam railway" == Directory.read_options(bench.settings.crawl_directory(crawl)).topic
        assert 0 == bench.row(crawl)["relevant"]
        reefs = fit_model("nb", Bags.of([([0], [2]), ([1], [2])]), np.arange(2), ["Rail", "Sea"], ["rail", "coral"])
        add_model(bench, "m-ann", "ann", "classifier", reefs)  # unknown when the crawl started
        change_settings(bench, "ann-reefs", words="", judge="automatic", model="m-ann", targets=["Sea"])
        crawls.request_judging(bench.database, "ann-reefs", "topic")
        await bench.until(lambda: not bench.row(crawl)["judging"])
        await bench.until(lambda: bench.row(crawl)["relevant"] > 0)
        assert ("running", "") == (bench.row(crawl)["state"], bench.row(crawl)["judging_failed"])
        change_settings(bench, "ann-reefs", model="", targets=[], examples=["http://elsewhere.example/"])
        crawls.request_judging(bench.database, "ann-reefs", "topic")
        await bench.until(lambda: bench.row(crawl)["judging_failed"])
        data = bench.row(crawl)["judging_failed"]
        assert "judging fetches nothing" in data
        assert str(tmp_path) not in data
        pages = bench.row(crawl)["pages"]
        await bench.until(lambda: bench.row(crawl)["pages"] >= pages + 2)
        paths = [hit.path for hit in bench.server.log if hit.path.startswith("/coral")]
        assert len(paths) == len(set(paths))

    on_bench(tmp_path, work)


def test_process_judges_requests_made_while_it_was_down(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        runs, over = (
            bench.crawl("ann", judge="automatic"),
            bench.crawl("bob", host="two.localhost", budget=4, judge="vector"),
        )
        bench.start()
        await bench.until_state(over, "finished")
        await bench.until(lambda: bench.row(runs)["pages"] >= 4)
        await bench.stop()
        for interest in ("ann-reefs", "bob-reefs"):
            change_settings(bench, interest, words="steam railway")
            crawls.request_judging(bench.database, interest, "topic")
        bench.start()
        for crawl in (runs, over):
            await bench.until(lambda crawl=crawl: not bench.row(crawl)["judging"])
            assert "steam railway" == Directory.read_options(bench.settings.crawl_directory(crawl)).topic
        assert 0 == bench.row(over)["relevant"]

    on_bench(tmp_path, work)


def test_process_leaves_disk_space_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(bench: Bench) -> None:
        crawl, other = bench.crawl("ann"), bench.crawl("bob")
        crawls.pause(bench.database, other)
        bench.start()
        await bench.until(lambda: bench.row(crawl)["pages"] >= 3)
        monkeypatch.setattr(running_module, "MIN_FREE_BYTES", 2**70)
        row = await bench.until_state(crawl, "failed")
        assert "MB left: delete what is not needed" in row["reason"]
        assert len(bench.collected(crawl)) == row["pages"] >= 3
        crawls.resume(bench.database, time.time(), other)
        await bench.until_state(other, "failed")
        assert not bench.settings.crawl_directory(other).exists()
        monkeypatch.undo()
        crawls.resume(bench.database, time.time(), crawl)
        await bench.until(lambda: bench.row(crawl)["pages"] > row["pages"])

    on_bench(tmp_path, work)


def test_process_follows_adjusted_clock(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        crawl = bench.crawl("ann")
        bench.start()
        await bench.until(lambda: bench.row(crawl)["pages"] >= 1)
        assert bench.process is not None
        bench.process.environment.wall = lambda: 1000.0

        def data() -> tuple[float, float]:
            row = bench.database.row("SELECT heartbeat FROM process")
            live = json.loads((bench.settings.crawl_directory(crawl) / "live.json").read_text())
            return row["heartbeat"] if row else 0.0, live["at"]

        await bench.until(lambda: data()[0] == 1000.0 and data()[1] == 1000.0)
        with pytest.raises(LockedError, match="another crawl process"):
            await CrawlProcess(bench.settings, bench.database).run()

    on_bench(tmp_path, work)


def test_process_survives_database_outage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(bench: Bench) -> None:
        crawl = bench.crawl("ann")
        bench.start()
        await bench.until(lambda: bench.row(crawl)["pages"] >= 2)
        running = bench.process.running[crawl]  # type: ignore[union-attr]
        enough = running.pages + 30
        bench.database.run("UPDATE crawl SET budget = :enough", enough=enough)
        await bench.until(lambda: running.budget == enough)
        ask = bench.process.database._execute  # type: ignore[union-attr]

        def away(*given: Any) -> Any:
            raise DatabaseUnavailable("it is away")

        monkeypatch.setattr(bench.process.database, "_execute", away)  # type: ignore[union-attr]
        await bench.until(lambda: bench.process and bench.process.pending_endings)
        assert bench.process is not None
        assert "it is away" == bench.process.database_error
        monkeypatch.setattr(bench.process.database, "_execute", ask)
        assert running.pages == (await bench.until_state(crawl, "finished"))["pages"]
        assert 1 == len(bench.database.rows("SELECT * FROM notice"))

    on_bench(tmp_path, work)


def test_process_applies_operator_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    identity = tmp_path / "me.json"
    Identity.new("https://crawler.example.org").save(identity)

    async def work(bench: Bench) -> None:
        plain = bench.crawl("ann", budget=2)
        strict = bench.crawl("bob", budget=2, respect_opt_outs="all")
        bench.start()
        for crawl in (plain, strict):
            await bench.until_state(crawl, "finished")
        options = {crawl: Directory.read_options(bench.settings.crawl_directory(crawl)) for crawl in (plain, strict)}
        assert ["training", "all"] == [options[crawl].respect_opt_outs for crawl in (plain, strict)]
        assert {("Reef Library", "auto", 1)} == {
            (one.operator, one.render, one.render_at_once) for one in options.values()
        }
        assert len(bench.web.heard) > 4
        assert all('tag="web-bot-auth"' in headers.get("signature-input", "") for headers in bench.web.heard)
        assert all("crawl@example.org" in headers["user-agent"] for headers in bench.web.heard)

    given = {"identity": str(identity), "contact": "crawl@example.org", "operator": "Reef Library", "render": "auto"}
    monkeypatch.setattr("lycosa_server.settings.missing_requirements", lambda named: "")
    assert "never" == Settings(tmp_path).render
    on_bench(tmp_path, work, respect_opt_outs="training", **given)
    Settings(tmp_path, respect_opt_outs="training", **given).check()
    for wrong in (
        {"respect_opt_outs": "some"},
        {"render": "always"},
        {"identity": str(tmp_path / "none.json")},
        {"operator": "a\nb"},
    ):
        with pytest.raises(InputError):
            Settings(tmp_path, **wrong).check()
    with raises_input_error("bad-value"):
        InterestSettings("coral", seeds=["https://example.org/"], respect_opt_outs="some").check()
