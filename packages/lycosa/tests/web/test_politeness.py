"""Pauses: tables of what a host waits for, on a clock that is set by hand."""

import asyncio
import math

import pytest

from lycosa.testweb.simulation import clock as virtual
from lycosa.testweb.simulation import run_virtual
from lycosa.web.politeness import MAX_SLOW_PAUSE, SLOW_HOST_FACTOR, Politeness


class Time:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    """The time, 100 at the start."""
    return Time()


def test_a_stranger_is_ready(time: Time) -> None:
    """A host that was never asked may be asked at once."""
    assert 0.0 == Politeness(time).ready("a")[0]


@pytest.mark.paper("rules-politeness")
def test_one_request_at_a_time(time: Time) -> None:
    """While a host answers it is not ready, and others are."""
    politeness = Politeness(time)
    politeness.begin("a")
    assert (math.inf, "answering") == politeness.ready("a")
    assert 0.0 == politeness.ready("b")[0]


@pytest.mark.paper("batsakis-load")
def test_the_pause_counts_from_the_end_of_the_answer(time: Time) -> None:
    """One delay after the answer the host is ready again."""
    politeness = Politeness(time, delay=2.0)
    politeness.begin("a")
    time.now = 100.5
    politeness.end("a", 0.5)
    assert (102.5, "delay") == politeness.ready("a")


def test_a_slow_host_rests_longer(time: Time) -> None:
    """A host rests for a multiple of what its answers take, smoothed, but not for ever."""
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


def test_no_delay_is_no_pause(time: Time) -> None:
    """With a delay of 0 there are no pauses, however slow the host; its own Crawl-delay still counts."""
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
def test_crawl_delay(time: Time, asked: float, pause: float) -> None:
    """The larger of ours and theirs counts, from the present pause on."""
    politeness = Politeness(time, delay=1.0)
    politeness.begin("a")
    politeness.end("a", 0.0)
    politeness.apply_crawl_delay("a", asked)
    assert 100.0 + pause == politeness.ready("a")[0]


def test_a_host_that_is_held(time: Time) -> None:
    """A host that asked to be left alone is, for the longest time it asked for."""
    politeness = Politeness(time)
    politeness.hold("a", 500.0, "asked to come back later")
    politeness.hold("a", 300.0, "timeout")
    assert (500.0, "asked to come back later") == politeness.ready("a")
    assert 0.0 == politeness.ready("b")[0]


def test_after_resuming_all_wait(time: Time) -> None:
    """A resumed crawl gives every host one pause."""
    politeness = Politeness(time)
    politeness.resumed_at = 100.0
    assert (101.0, "pause after resuming") == politeness.ready("a")
    politeness.apply_crawl_delay("b", 7.0)
    assert (107.0, "pause after resuming") == politeness.ready("b")


def test_several_at_once(time: Time) -> None:
    """Where two at once are allowed, the pause counts from one request on the wire to the next."""
    politeness = Politeness(time, delay=1.0, at_once=2)
    politeness.begin("a")
    assert "sending" == politeness.ready("a")[1]
    politeness.sent("a")
    assert (101.0, "delay") == politeness.ready("a")
    time.now = 101.0
    politeness.begin("a")
    politeness.sent("a")
    assert (math.inf, "answering") == politeness.ready("a")
    politeness.end("a", 0.2)
    assert 102.0 == politeness.ready("a")[0]


def test_a_request_that_was_never_sent(time: Time) -> None:
    """A request that failed before it was on the wire costs a pause as well."""
    politeness = Politeness(time, delay=1.0, at_once=2)
    politeness.begin("a")
    politeness.end("a", 0.0)
    assert 101.0 == politeness.ready("a")[0]


def test_an_answer_does_not_send_another_request(time: Time) -> None:
    """While a request is on its way out, the end of an earlier one does not make the host ready."""
    politeness = Politeness(time, delay=1.0, at_once=3)
    politeness.begin("a", "first")
    politeness.sent("a")
    time.now = 101.0
    politeness.begin("a", "second")  # it connects, slowly
    time.now = 101.5
    politeness.end("a", 1.5, "first")
    time.now = 110.0
    assert "sending" == politeness.ready("a")[1]
    politeness.end("a", 9.0, "second")
    assert "sending" != politeness.ready("a")[1]


def turns(politeness: Politeness, *addresses: str) -> list[float]:
    """When each of some requests, made at the same moment, gets its turn."""

    async def all_of_them() -> list[float]:
        begun = virtual()

        async def one(address: str) -> float:
            await politeness.wait_for_address(address)
            return round(virtual() - begun, 6)

        return list(await asyncio.gather(*map(one, addresses)))

    return run_virtual(all_of_them())


def test_an_address_has_a_pause_of_its_own() -> None:
    """Hosts that share an address take turns; other addresses don't wait for them."""
    politeness = Politeness(virtual, delay=1.0, address_delay=0.25)
    assert [0.0, 0.25, 0.0, 0.5] == turns(politeness, "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.1")


def test_the_pause_of_an_address_is_at_most_the_delay() -> None:
    """A delay smaller than the address's pause counts for both."""
    assert 0.1 == Politeness(virtual, delay=0.1, address_delay=0.25).address_delay
    assert [0.0, 0.0] == turns(Politeness(virtual, delay=0.0), "192.0.2.1", "192.0.2.1")


def test_an_allowed_network_is_free() -> None:
    """Addresses in a network that the user named have no pause of their own."""
    assert [0.0, 0.0] == turns(Politeness(virtual, free=lambda address: True), "127.0.0.1", "127.0.0.1")


def test_ready_knows_of_addresses(time: Time) -> None:
    """A host whose address is taken waits for its turn before it is picked."""
    politeness = Politeness(time, delay=1.0, address_delay=0.25)
    asyncio.run(politeness.wait_for_address("192.0.2.1"))
    assert (100.25, "pause of address 192.0.2.1") == politeness.ready("a", "192.0.2.1")
    assert 0.0 == politeness.ready("a", "192.0.2.2")[0]


def test_a_turn_that_was_not_used_is_forgotten(time: Time) -> None:
    """A request that fails before its address's turn comes leaves nothing behind."""
    politeness = Politeness(time, delay=1.0, address_delay=0.25)
    for number in range(3):
        politeness.begin("a", f"http://a/{number}", "192.0.2.1")
        politeness.end("a", 0.0, f"http://a/{number}")
    assert {} == politeness._turns
    assert 100.75 == politeness.ready("b", "192.0.2.1")[0]
