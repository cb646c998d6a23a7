"""Background tasks of a shard: reports to the coordinator, and sending links.

A `Call` reaches another process. It may fail or time out and is then repeated, so all methods are idempotent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

from lycosa.core.types import Visit
from lycosa_cluster.coordinator import SMALL, SUPERSEDED
from lycosa_cluster.leasing import ANSWER, Term
from lycosa_cluster.messages import Grant
from lycosa_cluster.shard import Shard

TICK, LONGEST_TICK = 0.1, 0.5  # seconds between two reports of a shard, at first and in a large crawl
SEND_EVERY, LONGEST_SENDING = 0.05, 1.0  # seconds between two batches for one receiver in a large crawl
RECEIVERS = 16  # maximum number of batches per second that a shard of a large crawl sends
# Pages beyond SMALL for each second that reports and links may wait. A call costs more than its content. Early pages
# matter most: with batches every .05 to .1 s, crawls of 500 pages on eight shards found .04 less of the relevant pages.
PAGES = 5_000
AGAIN = 1.0  # seconds to the next attempt


COORDINATOR = -1  # in place of a shard's number
# Arguments: the number of a shard, the name of a method, and its arguments; raises `Unreachable`.
Call = Callable[..., Awaitable[Any]]


class Unreachable(Exception):
    """A call was not answered; the process may come back."""


class Superseded(Exception):
    """Another process has taken over this shard."""


async def drive(shard: Shard, visits: AsyncIterator[Visit], call: Call) -> AsyncGenerator[Visit, None]:
    """Run a shard to the end of the whole crawl; yield its visits."""
    wait = shard.free_from - shard.engine.clock()
    if wait > 0:  # the previous process of this shard may still be fetching
        await asyncio.sleep(wait)
    chores = [
        asyncio.ensure_future(_chore(shard, work))
        for work in (
            _reporting(shard, call),
            *(_sending(shard, receiver, call) for receiver in shard.outbox.queues),
            *(_leasing(shard, owner, call) for owner in shard.leases.wanted),
        )
    ]
    try:
        async for visit in visits:
            yield visit
    finally:
        for chore in chores:
            chore.cancel()
        ended = await asyncio.gather(*chores, return_exceptions=True)
    for error in ended:
        if isinstance(error, Exception):
            raise error


async def _chore(shard: Shard, work: Coroutine[Any, Any, None]) -> None:
    """Run a background task; stop the crawl if it fails."""
    try:
        await work
    except BaseException:
        shard.leases.over = True  # the lease may never be renewed
        shard.engine.stop()
        raise


async def _reporting(shard: Shard, call: Call) -> None:
    while not shard.allowance.over:
        try:
            await _report(shard, call)
        except Unreachable:
            await asyncio.sleep(AGAIN)
        else:
            await _rest(shard)


async def _rest(shard: Shard) -> None:
    waits, granted = 0.0, shard.unused > 0
    while waits < min(LONGEST_TICK, max(TICK, _patience(shard))) and not shard.allowance.over:
        await asyncio.sleep(TICK)
        waits += TICK
        if granted and not shard.unused:
            return


async def _report(shard: Shard, call: Call) -> None:
    asked = shard.engine.clock()
    grant: Grant = await call(COORDINATOR, "report", shard.report())
    if grant.over == SUPERSEDED:
        raise Superseded(f"shard {shard.number}: {SUPERSEDED}")
    shard.accept(grant, asked)


async def _sending(shard: Shard, receiver: int, call: Call) -> None:
    outbox, queue = shard.outbox, shard.outbox.queues[receiver]
    longest = LONGEST_SENDING * max(1.0, len(outbox.queues) / RECEIVERS)
    while True:
        await queue.filled.wait()
        last, parcel = outbox.parcel(receiver)
        if not parcel:
            queue.filled.clear()
            continue
        try:
            confirmed: int = await call(receiver, "receive", parcel)
        except Unreachable:
            await asyncio.sleep(AGAIN)
            continue
        outbox.confirm(receiver, min(confirmed, last))
        if not queue.parcels and (patience := _patience(shard)):
            await asyncio.sleep(min(longest, max(SEND_EVERY, patience)))


def _patience(shard: Shard) -> float:
    """Return the seconds that reports and links may wait."""
    return max(0, shard.total - SMALL) / PAGES


async def _leasing(shard: Shard, owner: int, call: Call) -> None:
    leases = shard.leases
    while True:
        await leases.wanted[owner].wait()
        wants, asked = leases.wants(owner), shard.engine.clock()
        try:
            async with asyncio.timeout(ANSWER):  # covers the restart of the called process
                terms: list[Term] = await call(owner, "lease", shard.number, wants)
        except (Unreachable, TimeoutError):
            leases.failed(owner, wants)
            await asyncio.sleep(AGAIN)
        else:
            if not leases.heard(owner, wants, terms, asked):
                await asyncio.sleep(AGAIN)
