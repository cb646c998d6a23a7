"""Background tasks of a shard: reports to the coordinator, and sending links.

A `Call` reaches another process. It may fail or time out and is then repeated, so all methods are idempotent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

from lycosa.core.types import Visit
from lycosa_cluster.coordinator import SMALL_CRAWL_PAGES, SUPERSEDED
from lycosa_cluster.leasing import REPLY_TIMEOUT_SECONDS, LeaseTerm
from lycosa_cluster.messages import Grant
from lycosa_cluster.shard import Shard

TICK_SECONDS, MAX_TICK_SECONDS = 0.1, 0.5  # interval of a shard's reports in seconds, at first and in a large crawl
MIN_SEND_SECONDS, MAX_SEND_SECONDS = 0.05, 1.0  # shortest and longest pause in seconds between batches for one receiver
RECEIVERS = 16  # maximum number of batches per second sent by a shard of a large crawl
# Pages beyond SMALL_CRAWL_PAGES per second of delay of reports and links: a call costs more than its content. Early
# pages matter most: with batches every .05 to .1 s, crawls of 500 pages on eight shards found .04 less of the relevant
# pages.
PAGES_PER_SECOND_OF_WAITING = 5_000
RETRY_SECONDS = 1.0  # pause before the next attempt


COORDINATOR = -1  # number of the coordinator, used like a shard's
# Arguments: number of a shard, name of a method, and its arguments. Raises `Unreachable`.
Call = Callable[..., Awaitable[Any]]


class Unreachable(Exception):
    """Raised if a call fails; the process may recover."""


class Superseded(Exception):
    """Raised if another process has taken over this shard."""


async def drive(shard: Shard, visits: AsyncIterator[Visit], call: Call) -> AsyncGenerator[Visit, None]:
    """Run a shard to the end of the whole crawl; yield its visits."""
    wait = shard.free_from - shard.engine.clock()
    if wait > 0:  # the previous process of this shard may still be fetching
        await asyncio.sleep(wait)
    tasks = [
        asyncio.ensure_future(_run_task(shard, work))
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
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for error in ended:
        if isinstance(error, Exception):
            raise error


async def _run_task(shard: Shard, work: Coroutine[Any, Any, None]) -> None:
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
            await asyncio.sleep(RETRY_SECONDS)
        else:
            await _rest(shard)


async def _rest(shard: Shard) -> None:
    waits, granted = 0.0, shard.unused > 0
    while waits < min(MAX_TICK_SECONDS, max(TICK_SECONDS, _max_delay(shard))) and not shard.allowance.over:
        await asyncio.sleep(TICK_SECONDS)
        waits += TICK_SECONDS
        if granted and not shard.unused:
            return


async def _report(shard: Shard, call: Call) -> None:
    sent_at = shard.engine.clock()
    grant: Grant = await call(COORDINATOR, "report", shard.report())
    if grant.over == SUPERSEDED:
        raise Superseded(f"shard {shard.number}: {SUPERSEDED}")
    shard.accept(grant, sent_at)


async def _sending(shard: Shard, receiver: int, call: Call) -> None:
    outbox, queue = shard.outbox, shard.outbox.queues[receiver]
    max_seconds = MAX_SEND_SECONDS * max(1.0, len(outbox.queues) / RECEIVERS)
    while True:
        await queue.filled.wait()
        last, batch = outbox.next_batch(receiver)
        if not batch:
            queue.filled.clear()
            continue
        try:
            confirmed: int = await call(receiver, "receive", batch)
        except Unreachable:
            await asyncio.sleep(RETRY_SECONDS)
            continue
        outbox.confirm(receiver, min(confirmed, last))
        if not queue.batches and (delay := _max_delay(shard)):
            await asyncio.sleep(min(max_seconds, max(MIN_SEND_SECONDS, delay)))


def _max_delay(shard: Shard) -> float:
    return max(0, shard.total - SMALL_CRAWL_PAGES) / PAGES_PER_SECOND_OF_WAITING


async def _leasing(shard: Shard, owner: int, call: Call) -> None:
    leases = shard.leases
    while True:
        await leases.wanted[owner].wait()
        requests, sent_at = leases.take_requests(owner), shard.engine.clock()
        try:
            async with asyncio.timeout(REPLY_TIMEOUT_SECONDS):  # covers a restart of the called process
                terms: list[LeaseTerm] = await call(owner, "lease", shard.number, requests)
        except (Unreachable, TimeoutError):
            leases.handle_failure(owner, requests)
            await asyncio.sleep(RETRY_SECONDS)
        else:
            if not leases.handle_response(owner, requests, terms, sent_at):
                await asyncio.sleep(RETRY_SECONDS)
