"""Background tasks of a shard."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from lycosa.testweb.simulation import clock, run_virtual
from lycosa_cluster.coordinator import SMALL_CRAWL_PAGES, SUPERSEDED
from lycosa_cluster.driving import COORDINATOR, PAGES_PER_SECOND_OF_WAITING, Superseded, Unreachable, _max_delay, drive
from lycosa_cluster.messages import Grant


class Shard:
    """Shard without an engine: it stops when its grant ends the crawl."""

    number, unused, total, free_from = 0, 0, 0, 0.0

    def __init__(self) -> None:
        self.stopped = asyncio.Event()
        self.engine = SimpleNamespace(clock=clock, stop=self.stopped.set)
        self.allowance = SimpleNamespace(over="")
        self.leases = SimpleNamespace(over=False, wanted={})
        self.outbox = SimpleNamespace(queues={})
        self.grants: list[Grant] = []

    def report(self) -> str:
        return "report"

    def accept(self, grant: Grant, asked: float) -> None:
        self.grants.append(grant)
        self.allowance.over = grant.over
        if grant.over:
            self.engine.stop()

    async def visits(self) -> AsyncIterator[str]:
        yield "visit"
        await self.stopped.wait()


def run(grants: list[Grant | Exception], free_for: float = 0.0) -> tuple[list[Any], float, Shard]:
    async def scenario() -> tuple[list[Any], float, Shard]:
        shard: Any = Shard()
        begun = clock()
        shard.free_from = begun + free_for
        left = iter(grants)

        async def call(number: int, method: str, *given: Any) -> Any:
            assert (number, method, given) == (COORDINATOR, "report", ("report",))
            answer = next(left)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return [visit async for visit in drive(shard, shard.visits(), call)], clock() - begun, shard

    return run_virtual(scenario())  # type: ignore[no-any-return]


def test_drive_reports_until_crawl_is_over() -> None:
    visits, _, shard = run([Grant(1), Grant(2), Grant(3, over="done")])
    assert visits == ["visit"]
    assert [grant.pages for grant in shard.grants] == [1, 2, 3]


def test_drive_repeats_lost_reports() -> None:
    _, seconds, shard = run([Unreachable(), Unreachable(), Grant(over="done")])
    assert len(shard.grants) == 1
    assert seconds >= 2.0


def test_drive_waits_for_previous_lease() -> None:
    _, seconds, _ = run([Grant(over="done")], free_for=7.0)
    assert seconds >= 7.0


def test_drive_raises_if_superseded() -> None:
    with pytest.raises(Superseded, match=SUPERSEDED):
        run([Grant(over=SUPERSEDED)])


def test_drive_raises_error_of_task() -> None:
    with pytest.raises(ZeroDivisionError):
        run([ZeroDivisionError()])


def test_max_delay_grows_with_crawl() -> None:
    shard: Any = SimpleNamespace(total=SMALL_CRAWL_PAGES)
    assert _max_delay(shard) == 0
    shard.total += PAGES_PER_SECOND_OF_WAITING
    assert _max_delay(shard) == 1
