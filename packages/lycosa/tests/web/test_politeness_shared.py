"""Shared politeness of several crawls: delays, turns and robots.txt files."""

import asyncio
import math
from collections import Counter
from itertools import pairwise

import pytest

import lycosa
from lycosa.core.types import Visit
from lycosa.spaces.making import wall_clock
from lycosa.testweb import Web, serve
from lycosa.testweb.simulation import clock as virtual
from lycosa.testweb.simulation import run_virtual
from lycosa.web import politeness as module
from lycosa.web.politeness import RECHECK_SECONDS, TURN_GRACE, Politeness, PolitenessView, SharedPoliteness


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


def both(time: Time, **given: float) -> tuple[PolitenessView, PolitenessView]:
    authority = SharedPoliteness(time)
    return authority.view(**given), authority.view(**given)


def ask(view: PolitenessView, host: str, seconds: float = 0.0) -> None:
    view.begin(host)
    view.end(host, seconds)


def test_single_view_behaves_like_politeness(time: Time) -> None:
    view, alone = SharedPoliteness(time).view(delay=2.0), Politeness(time, delay=2.0)
    for at, step in enumerate(
        (
            lambda each: None,
            lambda each: each.begin("a"),
            lambda each: each.end("a", 0.3),
            lambda each: each.apply_crawl_delay("a", 5.0),
            lambda each: each.hold("a", 130.0, "busy"),
            lambda each: each.begin("b", "x", "192.0.2.1"),
            lambda each: each.end("b", 4.0, "x"),
        )
    ):
        time.now = 100.0 + at
        step(view)
        step(alone)
        for host in "ab":
            assert alone.ready(host, "192.0.2.1") == view.ready(host, "192.0.2.1"), (at, host)


def test_view_waits_for_request_of_another(time: Time) -> None:
    first, second = both(time, delay=1.0)
    first.begin("a")
    assert (math.inf, "request in flight") == first.ready("a")
    assert (101.0, "request of another crawl") == second.ready("a")
    assert 0.0 == second.ready("b")[0]


def test_delay_is_shared(time: Time) -> None:
    first, second = both(time, delay=2.0)
    ask(first, "a")
    assert (102.0, "delay") == second.ready("a")


def test_largest_delay_counts(time: Time) -> None:
    authority = SharedPoliteness(time)
    quick, patient = authority.view(delay=1.0), authority.view(delay=3.0)
    patient.ready("a")
    ask(quick, "a")
    assert 103.0 == quick.ready("a")[0]


def test_crawl_delay_and_hold_are_shared(time: Time) -> None:
    authority = SharedPoliteness(time)
    first = authority.view()
    first.apply_crawl_delay("a", 7.0)
    ask(first, "a")
    first.hold("b", 500.0, "asked to come back later")
    second = authority.view()
    assert (107.0, "crawl-delay") == second.ready("a")
    assert (500.0, "asked to come back later") == second.ready("b")


def test_address_delay_is_shared(time: Time) -> None:
    first, second = both(time, delay=1.0, address_delay=0.25)
    first.begin("a", "http://a/", "192.0.2.1")
    assert (100.25, "pause of address 192.0.2.1") == second.ready("b", "192.0.2.1")


def test_reopened_view_does_not_pause_again(time: Time) -> None:
    authority = SharedPoliteness(time, started_at=100.0)
    first = authority.view()
    assert (101.0, "pause after resuming") == first.ready("a")
    time.now = 150.0
    first.resumed_at = 150.0
    again = authority.view()
    again.resumed_at = 150.0
    assert again.ready("a")[0] <= 150.0 >= first.ready("b")[0]


def test_repeated_crawl_delay_does_not_extend_pause(time: Time) -> None:
    first, second = both(time, delay=1.0)
    first.apply_crawl_delay("a", 7.0)
    ask(first, "a")
    time.now = 106.0
    second.apply_crawl_delay("a", 7.0)
    assert 107.0 == first.ready("a")[0]


def test_turn_goes_to_client_served_longest_ago(time: Time) -> None:
    first, second = both(time, delay=1.0)
    ask(first, "a")
    assert [101.0, 101.0] == [first.ready("a")[0], second.ready("a")[0]]
    time.now = 101.0
    assert (101.0 + RECHECK_SECONDS, "another crawl's turn") == first.ready("a")
    assert second.ready("a")[0] <= 101.0


def test_unused_turn_expires(time: Time) -> None:
    first, second = both(time, delay=1.0)
    ask(first, "a")
    first.ready("a")
    second.ready("a")
    time.now = 101.0 + TURN_GRACE + 0.01
    assert first.ready("a")[0] <= time.now
    ask(first, "a")
    due = first.ready("a")[0]
    second.ready("a")
    time.now = due
    assert first.ready("a")[0] > due >= second.ready("a")[0]


def test_close_releases_requests_and_turns(time: Time) -> None:
    first, second = both(time, delay=1.0)
    second.ready("a")
    first.begin("a", "x")
    second.ready("a")
    first.ready("b")
    first.close()
    assert 0 == first.authority.in_flight
    assert (101.0, "delay") == second.ready("a")
    first.end("a", 9.0, "x")
    assert (101.0, "delay") == second.ready("a")
    time.now = 101.0
    assert second.ready("a")[0] <= 101.0


def test_max_in_flight_is_shared_equally(time: Time) -> None:
    authority = SharedPoliteness(time, max_in_flight=4)
    first, second = authority.view(), authority.view()
    first.begin("a")
    first.begin("b")
    assert "other crawls' requests" == first.ready("c")[1]
    assert 0.0 == second.ready("c")[0]
    second.close()
    assert 0.0 == first.ready("c")[0]


def test_close_drops_idle_hosts_over_limit(time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_HOSTS", 2)
    first, second = both(time)
    for host in "abc":
        ask(first, host)
    second.ready("c")
    first.hold("b", 500.0, "busy")
    time.now = 200.0
    first.close()
    assert {"b", "c"} == set(first.authority.hosts)


@pytest.mark.parametrize("latency", [0.01, 0.5])
def test_turns_are_fair(latency: float) -> None:
    served: Counter[int] = Counter()
    requests: list[tuple[float, float]] = []

    async def crawl(view: PolitenessView, number: int) -> None:
        while True:
            until, _ = view.ready("a")
            if until > virtual():
                await asyncio.sleep(until - virtual() + 1e-4)
                continue
            view.begin("a")
            began = virtual()
            await asyncio.sleep(latency)
            view.end("a", latency)
            requests.append((began, virtual()))
            served[number] += 1

    async def all_of_them() -> None:
        authority = SharedPoliteness(virtual)
        crawls = [asyncio.create_task(crawl(authority.view(delay=0.5), number)) for number in range(20)]
        await asyncio.sleep(150.0)
        for task in crawls:
            task.cancel()
        await asyncio.gather(*crawls, return_exceptions=True)

    run_virtual(all_of_them())
    pause = max(0.5, 2 * latency)
    assert all(later >= ended + pause - 1e-6 for (_, ended), (later, _) in pairwise(requests))
    assert max(served.values()) - min(served[number] for number in range(20)) <= 1
    assert len(requests) > 0.9 * 150 / (pause + latency)


def test_share_robots_lasts_for_an_hour(time: Time) -> None:
    one, other = both(time)
    assert other.shared_robots("http://a.example/robots.txt") is None
    one.share_robots("http://a.example/robots.txt", b"Disallow:", 100.0)
    one.share_robots("http://b.example/robots.txt", b" " * 50_001, 100.0)
    assert (b"Disallow:", 100.0) == other.shared_robots("http://a.example/robots.txt")
    assert other.shared_robots("http://b.example/robots.txt") is None
    time.now = 100.0 + 3600.0
    assert other.shared_robots("http://a.example/robots.txt") is None


def test_share_robots_drops_oldest(time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ROBOTS_FILES", 2)
    view, _ = both(time)
    for name in "abac":
        view.share_robots(name, b"", 100.0)
    assert {"a", "c"} == {name for name in "abc" if view.shared_robots(name)}


def test_crawl_records_robots_of_another_crawl() -> None:
    with serve(Web(traps=())) as server:
        topic = next(iter(server.web.topics))
        authority = SharedPoliteness(wall_clock(), started_at=0.0)
        robots_visits: list[list[Visit]] = []
        for _ in range(2):
            crawl = lycosa.crawl(
                server.web.query(topic),
                server.web.seeds(topic)[:1],
                budget=1,
                delay=0.0,
                allow_network=["127.0.0.0/8"],
                authority=authority,
            )
            robots_visits.append([visit for visit in crawl if visit.kind == "robots"])
        asked = [hit.path for hit in server.log]
    assert 1 == asked.count("/robots.txt")
    (first,), (second,) = robots_visits
    assert first.data["body"] == second.data["body"] != b""
    assert ("known from another crawl", "") == (second.note, second.address)
