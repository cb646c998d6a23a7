"""Delays of hosts and addresses, with a manual clock."""

import asyncio
import math

import pytest

from lycosa.testweb.simulation import clock as virtual
from lycosa.testweb.simulation import run_virtual
from lycosa.web.politeness import MAX_SLOW_PAUSE, SLOW_HOST_FACTOR, Politeness


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


def test_ready_is_now_for_unknown_host(time: Time) -> None:
    assert 0.0 == Politeness(time).ready("a")[0]


@pytest.mark.paper("rules-politeness")
def test_ready_allows_one_request_at_a_time(time: Time) -> None:
    politeness = Politeness(time)
    politeness.begin("a")
    assert (math.inf, "request in flight") == politeness.ready("a")
    assert 0.0 == politeness.ready("b")[0]


@pytest.mark.paper("batsakis-load")
def test_delay_starts_at_end_of_response(time: Time) -> None:
    politeness = Politeness(time, delay=2.0)
    politeness.begin("a")
    time.now = 100.5
    politeness.end("a", 0.5)
    assert (102.5, "delay") == politeness.ready("a")


def test_delay_grows_with_response_time(time: Time) -> None:
    politeness = Politeness(time, delay=1.0)
    politeness.begin("a")
    politeness.end("a", 3.0)
    assert (100 + SLOW_HOST_FACTOR * 3.0, "slow host") == politeness.ready("a")
    politeness.begin("a")
    politeness.end("a", 0.0)
    assert pytest.approx(100 + SLOW_HOST_FACTOR * 0.7 * 3.0) == politeness.ready("a")[0]
    politeness.begin("b")
    politeness.end("b", 1000.0)
    assert 100 + MAX_SLOW_PAUSE == politeness.ready("b")[0]


def test_zero_delay_ignores_slow_host(time: Time) -> None:
    politeness = Politeness(time, delay=0.0)
    politeness.begin("a")
    politeness.end("a", 5.0)
    assert 100.0 == politeness.ready("a")[0]
    politeness.apply_crawl_delay("a", 4.0)
    politeness.begin("a")
    politeness.end("a", 0.1)
    assert (104.0, "crawl-delay") == politeness.ready("a")


@pytest.mark.paper("rules-10-seconds")
@pytest.mark.parametrize(("asked", "pause"), [(0.5, 1.0), (5.0, 5.0), (3600.0, 3600.0)])
def test_apply_crawl_delay_takes_larger_delay(time: Time, asked: float, pause: float) -> None:
    politeness = Politeness(time, delay=1.0)
    politeness.begin("a")
    politeness.end("a", 0.0)
    politeness.apply_crawl_delay("a", asked)
    assert 100.0 + pause == politeness.ready("a")[0]


def test_hold_keeps_longest_time(time: Time) -> None:
    politeness = Politeness(time)
    politeness.hold("a", 500.0, "asked to come back later")
    politeness.hold("a", 300.0, "timeout")
    assert (500.0, "asked to come back later") == politeness.ready("a")
    assert 0.0 == politeness.ready("b")[0]


def test_ready_waits_once_after_resuming(time: Time) -> None:
    politeness = Politeness(time)
    politeness.resumed_at = 100.0
    assert (101.0, "pause after resuming") == politeness.ready("a")
    politeness.apply_crawl_delay("b", 7.0)
    assert (107.0, "pause after resuming") == politeness.ready("b")


def test_delay_counts_between_sent_requests(time: Time) -> None:
    politeness = Politeness(time, delay=1.0, at_once=2)
    politeness.begin("a")
    assert "sending" == politeness.ready("a")[1]
    politeness.sent("a")
    assert (101.0, "delay") == politeness.ready("a")
    time.now = 101.0
    politeness.begin("a")
    politeness.sent("a")
    assert (math.inf, "request in flight") == politeness.ready("a")
    politeness.end("a", 0.2)
    assert 102.0 == politeness.ready("a")[0]


def test_end_of_unsent_request_costs_delay(time: Time) -> None:
    politeness = Politeness(time, delay=1.0, at_once=2)
    politeness.begin("a")
    politeness.end("a", 0.0)
    assert 101.0 == politeness.ready("a")[0]


def test_end_does_not_release_request_being_sent(time: Time) -> None:
    politeness = Politeness(time, delay=1.0, at_once=3)
    politeness.begin("a", "first")
    politeness.sent("a")
    time.now = 101.0
    politeness.begin("a", "second")  # is still connecting
    time.now = 101.5
    politeness.end("a", 1.5, "first")
    time.now = 110.0
    assert "sending" == politeness.ready("a")[1]
    politeness.end("a", 9.0, "second")
    assert "sending" != politeness.ready("a")[1]


def turns(politeness: Politeness, *addresses: str) -> list[float]:
    async def all_of_them() -> list[float]:
        begun = virtual()

        async def one(address: str) -> float:
            await politeness.wait_for_address(address)
            return round(virtual() - begun, 6)

        return list(await asyncio.gather(*map(one, addresses)))

    return run_virtual(all_of_them())


def test_wait_for_address_takes_turns() -> None:
    politeness = Politeness(virtual, delay=1.0, address_delay=0.25)
    assert [0.0, 0.25, 0.0, 0.5] == turns(politeness, "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.1")


def test_address_delay_is_at_most_host_delay() -> None:
    assert 0.1 == Politeness(virtual, delay=0.1, address_delay=0.25).address_delay
    assert [0.0, 0.0] == turns(Politeness(virtual, delay=0.0), "192.0.2.1", "192.0.2.1")


def test_address_delay_is_waived_in_allowed_network() -> None:
    assert [0.0, 0.0] == turns(Politeness(virtual, free=lambda address: True), "127.0.0.1", "127.0.0.1")


def test_ready_considers_address(time: Time) -> None:
    politeness = Politeness(time, delay=1.0, address_delay=0.25)
    asyncio.run(politeness.wait_for_address("192.0.2.1"))
    assert (100.25, "pause of address 192.0.2.1") == politeness.ready("a", "192.0.2.1")
    assert 0.0 == politeness.ready("a", "192.0.2.2")[0]


def test_end_forgets_unused_address_turn(time: Time) -> None:
    politeness = Politeness(time, delay=1.0, address_delay=0.25)
    for number in range(3):
        politeness.begin("a", f"http://a/{number}", "192.0.2.1")
        politeness.end("a", 0.0, f"http://a/{number}")
    assert {} == politeness._turns
    assert 100.75 == politeness.ready("b", "192.0.2.1")[0]
