"""The state machine of crawls, on both databases."""

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa.core.budget import EXHAUSTED, NOTHING_DUE, PAGES_SPENT, STOPPED
from lycosa_server.people import crawls, erasing, notices
from lycosa_server.people.crawls import Ending
from lycosa_server.people.database import Conflict, Database
from lycosa_server.people.permissions import NotFound
from people_maker import crawl

NOW = 1000.0
ANNS = {"id": "Ann's", "owner": "Ann", "name": "reefs", "settings": "{}", "created": NOW, "changed": NOW}


@pytest.fixture
def database(database: Database) -> Database:
    """Return a database with Ann and Bob, who have an interest each."""
    for name in ("Ann", "Bob"):
        person = {"id": name, "name": name, "folded": name.lower(), "password": "", "role": "member", "created": NOW}
        database.insert("person", person)
        database.insert("interest", {**ANNS, "id": f"{name}'s", "owner": name})
    return database


def new(database: Database, interest: str = "Ann's", budget: int = 100) -> str:
    return str(crawls.create(database, NOW, interest, budget)["id"])


def running(database: Database, **given: Any) -> str:
    crawl = new(database, **given)
    assert crawls.take(database, NOW + 1, crawl)
    return crawl


def ended(database: Database, reason: str = EXHAUSTED, **given: Any) -> str:
    crawl = running(database)
    crawls.end(database, NOW + 2, crawl, Ending(reason, pages=10, relevant=4, **given))
    return crawl


def state(database: Database, crawl: str) -> tuple[str, str]:
    row = crawls.get(database, crawl)
    return row["state"], row["wanted"]


def test_crawl_is_queued_taken_and_ended(database: Database) -> None:
    crawl = new(database)
    assert ("queued", "run") == state(database, crawl)
    assert crawls.take(database, NOW + 1, crawl)
    assert not crawls.take(database, NOW + 1, crawl)
    crawls.update_counts(database, crawl, 3, 1)
    assert "finished" == crawls.end(database, NOW + 9, crawl, Ending(PAGES_SPENT, pages=10, relevant=4))
    row = crawls.get(database, crawl)
    assert (10, 4, NOW + 1, NOW + 9, PAGES_SPENT) == tuple(
        row[name] for name in ("pages", "relevant", "started", "ended", "reason")
    )
    assert "" == crawls.end(database, NOW + 10, crawl, Ending(STOPPED))


def test_create_refuses_second_active_crawl_per_interest(database: Database) -> None:
    crawl = new(database)
    for _ in range(2):
        with pytest.raises(Conflict, match="stop it first"):
            new(database)
        crawls.pause(database, crawl)
    new(database, "Bob's")
    crawls.stop(database, NOW, crawl)
    assert 2 == crawls.get(database, new(database))["number"]
    with pytest.raises(Conflict, match="is queued"):
        crawls.resume(database, NOW, crawl)


def test_create_of_many_at_once_makes_one(database: Database) -> None:
    def ask(_: int) -> str:
        try:
            return str(crawls.create(database, NOW, "Ann's", 5)["state"])
        except Conflict:
            return "taken"

    with ThreadPoolExecutor(8) as people:
        answers = sorted(people.map(ask, range(8)))
    assert ["queued", *["taken"] * 7] == answers


def test_pause_stops_queued_and_running_crawls(database: Database) -> None:
    crawl = new(database)
    assert "paused" == crawls.pause(database, crawl)["state"]
    assert not crawls.take(database, NOW, crawl)
    assert (NOW + 5, "queued") == tuple(crawls.resume(database, NOW + 5, crawl)[name] for name in ("queued", "state"))
    crawls.take(database, NOW, crawl)
    assert ("running", "pause") == tuple(crawls.pause(database, crawl)[name] for name in ("state", "wanted"))
    assert "paused" == crawls.end(database, NOW, crawl, Ending(STOPPED, pages=3))
    assert None is crawls.get(database, crawl)["ended"]
    assert "queued" == crawls.resume(database, NOW, crawl)["state"]


def test_resume_while_pausing_requeues(database: Database) -> None:
    crawl = running(database)
    crawls.pause(database, crawl)
    crawls.resume(database, NOW, crawl)
    assert "queued" == crawls.end(database, NOW, crawl, Ending(STOPPED))
    assert crawls.take(database, NOW, crawl)


def test_stop_and_resume_work_in_every_state(database: Database) -> None:
    crawl = new(database)
    assert (STOPPED, "stopped") == tuple(crawls.stop(database, NOW, crawl)[name] for name in ("reason", "state"))
    assert "stopped" == crawls.stop(database, NOW, crawl)["state"]
    crawls.resume(database, NOW, crawl)
    crawls.pause(database, crawl)
    assert "stopped" == crawls.stop(database, NOW, crawl)["state"]
    crawls.resume(database, NOW, crawl)
    crawls.take(database, NOW, crawl)
    crawls.stop(database, NOW, crawl)
    assert "stopped" == crawls.end(database, NOW + 3, crawl, Ending(STOPPED, pages=1))
    assert NOW + 3 == crawls.get(database, crawl)["ended"]


def test_finished_crawl_ignores_pending_pause(database: Database) -> None:
    crawl = running(database)
    crawls.pause(database, crawl)
    assert "finished" == crawls.end(database, NOW, crawl, Ending(EXHAUSTED))


def test_finished_crawl_cannot_be_paused_stopped_or_resumed(database: Database) -> None:
    crawl = ended(database)
    for change in (
        lambda: crawls.pause(database, crawl),
        lambda: crawls.stop(database, NOW, crawl),
        lambda: crawls.resume(database, NOW, crawl),
    ):
        with pytest.raises(Conflict, match="this crawl is finished"):
            change()


def test_end_failed_keeps_reason_and_can_be_resumed(database: Database) -> None:
    crawl = ended(database, "no page could be read", failed=True)
    assert ("failed", "no page could be read") == tuple(crawls.get(database, crawl)[n] for n in ("state", "reason"))
    row = crawls.resume(database, NOW, crawl)
    assert ("queued", "") == (row["state"], row["reason"])


def test_add_pages_continues_up_to_maximum(database: Database) -> None:
    crawl = ended(database, PAGES_SPENT)
    row = crawls.add_pages(database, NOW, crawl, 50, 200)
    assert ("queued", "crawl", 150) == (row["state"], row["task"], row["budget"])
    with raises_input_error("out-of-range"):
        crawls.add_pages(database, NOW, crawl, 51, 200)
    crawls.take(database, NOW, crawl)
    crawls.add_pages(database, NOW, crawl, 10, 200)
    assert "queued" == crawls.end(database, NOW, crawl, Ending(PAGES_SPENT, budget=150, pages=150))


def test_add_pages_cancels_pending_stop(database: Database) -> None:
    crawl = running(database)
    crawls.stop(database, NOW, crawl)
    assert ("running", "run") == (crawls.add_pages(database, NOW, crawl, 5, 200)["state"], state(database, crawl)[1])
    assert "queued" == crawls.end(database, NOW, crawl, Ending(STOPPED))
    crawls.pause(database, crawl)
    crawls.add_pages(database, NOW, crawl, 5, 200)
    assert ("paused", "pause") == state(database, crawl)


def test_refresh_keeps_its_start_time_after_pause(database: Database) -> None:
    crawl = ended(database)
    row = crawls.refresh(database, NOW + 50, crawl)
    assert ("queued", "refresh", None) == (row["state"], row["task"], row["started"])
    with pytest.raises(Conflict, match="is queued"):
        crawls.refresh(database, NOW, crawl)
    with pytest.raises(Conflict, match="is revisiting its pages"):
        crawls.add_pages(database, NOW, crawl, 1, 1000)
    crawls.take(database, NOW + 60, crawl)
    crawls.pause(database, crawl)
    crawls.end(database, NOW + 70, crawl, Ending(STOPPED))
    crawls.resume(database, NOW + 80, crawl)
    crawls.take(database, NOW + 90, crawl)
    assert "finished" == crawls.end(database, NOW + 99, crawl, Ending(NOTHING_DUE))
    assert NOW + 60 == crawls.get(database, crawl)["started"]


def test_schedule_follows_interval_of_interest(database: Database) -> None:
    crawl = ended(database)

    def again(how: str, at: float) -> tuple[list[str], float | None]:
        database.run("UPDATE interest SET revisit_every = :how WHERE id = 'Ann''s'", how=how)
        return crawls.schedule(database, at), crawls.get(database, crawl)["due"]

    assert ([], None) == again("", NOW + 1e6)
    assert ([], NOW + 2 + 86_400) == again("1d", NOW + 10)
    assert ([], NOW + 2 + 3600) == again("1h", NOW + 20)
    assert ([], None) == again("", NOW + 1e6)
    assert ([crawl], None) == again("1h", NOW + 3602)
    assert ("queued", "refresh") == tuple(crawls.get(database, crawl)[name] for name in ("state", "task"))
    assert [] == again("1h", NOW + 1e6)[0]


def test_schedule_retries_failed_refresh(database: Database) -> None:
    crawl = ended(database)
    database.run("UPDATE interest SET revisit_every = '1h'")
    assert [crawl] == crawls.schedule(database, NOW + 1e4)
    assert crawls.take(database, NOW + 1e4, crawl)
    crawls.end(database, NOW + 2e4, crawl, Ending("no network", failed=True))
    assert [] == crawls.schedule(database, NOW + 2e4)
    assert [crawl] == crawls.schedule(database, NOW + 2e4 + 3600)
    database.run("UPDATE crawl SET task = 'crawl', state = 'failed', ended = :now", now=NOW)
    assert [] == crawls.schedule(database, NOW + 1e6)


def test_schedule_skips_older_crawls_and_disabled_owners(database: Database) -> None:
    ended(database)
    newer = ended(database)
    database.run("UPDATE interest SET revisit_every = '1h'")
    database.run("UPDATE person SET disabled = 1 WHERE id = 'Ann'")
    assert [] == crawls.schedule(database, NOW + 1e6)
    database.run("UPDATE person SET disabled = 0")
    assert [newer] == crawls.schedule(database, NOW + 1e6)


def test_schedule_skips_settings_that_cannot_be_parsed(database: Database) -> None:
    ended(database)
    bobs = running(database, interest="Bob's")
    crawls.end(database, NOW + 2, bobs, Ending(EXHAUSTED))
    database.run("UPDATE interest SET revisit_every = '1h'")
    for broken in ("not JSON", "[]", '{"frequent": 7, "frequently": ["a"]}'):
        database.run("UPDATE interest SET settings = :broken WHERE id = 'Ann''s'", broken=broken)
        database.run(
            "UPDATE crawl SET state = 'finished', task = 'crawl', ended = :now WHERE id = :bobs", now=NOW, bobs=bobs
        )
        assert bobs in crawls.schedule(database, NOW + 1e6)


def test_changes_of_deleted_crawl_are_refused(database: Database) -> None:
    crawl = running(database)
    database.run("DELETE FROM crawl WHERE id = :crawl", crawl=crawl)
    with pytest.raises(NotFound):
        crawls.pause(database, crawl)
    assert "" == crawls.end(database, NOW, crawl, Ending(STOPPED))
    database.run("DELETE FROM interest WHERE id = 'Ann''s'")
    with pytest.raises(NotFound):
        new(database)


def test_concurrent_changes_never_deadlock(database: Database) -> None:
    def work(seed: int) -> int:
        chance = Random(seed)
        done = 0
        for _ in range(25):
            rows = crawls.of_interest(database, "Ann's")
            crawl = rows[0]["id"] if rows else ""
            steps: list[Callable[[], object]] = [
                lambda: crawls.create(database, NOW, "Ann's", 5),
                lambda crawl=crawl: crawls.refresh(database, NOW, crawl),  # type: ignore[misc]
                lambda crawl=crawl: crawls.stop(database, NOW, crawl),  # type: ignore[misc]
                lambda: crawls.request_judging(database, "Ann's", "labels"),
                lambda crawl=crawl: crawls.record_judged(database, crawl, 1, 2),  # type: ignore[misc]
                lambda crawl=crawl: _taken_and_ended(database, crawl),  # type: ignore[misc]
                lambda crawl=crawl: erasing.erase_crawl(database, crawl),  # type: ignore[misc]
                lambda: erasing.erase_interest(database, "Ann's"),
                lambda: database.insert("interest", ANNS),
            ]
            with contextlib.suppress(Conflict, NotFound):
                chance.choice(steps)()
            done += 1
        return done

    with ThreadPoolExecutor(5) as pool:
        assert [25] * 5 == list(pool.map(work, range(5)))


def _taken_and_ended(database: Database, crawl: str) -> None:
    crawls.take(database, NOW, crawl)
    with database.transaction():
        if crawls.end(database, NOW, crawl, Ending(EXHAUSTED)):
            notices.notify(database, NOW, "Ann", "finished", "it is done", "Ann's")


def test_queue_positions_prefer_owners_without_running_crawls(database: Database) -> None:
    first = running(database)
    second_interest = {"id": "second", "owner": "Ann", "name": "", "settings": "{}", "created": NOW, "changed": NOW}
    database.insert("interest", second_interest)
    second, bobs = new(database, "second"), crawls.create(database, NOW + 60, "Bob's", 1)["id"]
    assert {bobs: 1, second: 2} == crawls.queue_positions(database)
    assert {first: "running", second: "queued", bobs: "queued"} == {
        row["id"]: row["state"] for row in crawls.under_way(database)
    }
    crawls.requeue(database, first)
    assert "queued" == crawls.get(database, first)["state"]


def test_create_refuses_more_than_maximum(database: Database) -> None:
    for number in range(crawls.MAX_CRAWLS):
        crawl(database, "Ann's", number)
    with pytest.raises(Conflict, match="delete an old one first"):
        new(database)
