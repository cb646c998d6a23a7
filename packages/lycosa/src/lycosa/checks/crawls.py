"""Crawls of the sample graph: run, interrupt, resume, and measure memory."""

from __future__ import annotations

import asyncio
import gc
import pickle
import tracemalloc
from collections.abc import Callable, Iterable
from contextlib import aclosing
from typing import Any

from lycosa.checks.failing import GROWTH, want
from lycosa.checks.trials import START, Aging, EveryThirdVisit, SampleJudge, Shuffled
from lycosa.core.engine import Engine
from lycosa.core.protocols import Strategy, VisitScheduler
from lycosa.core.types import Event, Pick, Seed, Visit
from lycosa.store.log import MemoryLog


def engine(
    strategy: Strategy,
    space: Shuffled,
    events: Iterable[Event] = (),
    host_budget: int = 0,
    scheduler: VisitScheduler | None = None,
) -> Engine:
    """Return an engine on the graph with the given events replayed."""
    log = MemoryLog()
    running = Engine(
        space,
        SampleJudge(),
        strategy,
        log,
        clock=lambda: 0.0,
        concurrency=8,
        host_budget=host_budget,
        patience=10.0,
        scheduler=scheduler,
    )
    for event in events or [Seed(START)]:
        log.append(event)
        running.fold(event)
    return running


def run(running: Engine, max_visits: int = 0) -> list[Event]:
    """Crawl for at most `max_visits` visits and return the log; visits in flight at the end are dropped."""

    async def crawl() -> None:
        left = max_visits
        async with aclosing(running.run()) as visits:
            async for _ in visits:
                left -= 1
                if left == 0:
                    break

    asyncio.run(crawl())
    return list(running.log)


def visits_of(events: Iterable[Event]) -> list[Visit]:
    return [event for event in events if isinstance(event, Visit)]


def picks(running: Engine, limit: int = 10_000) -> list[tuple[str, Pick]]:
    """Return the next picks of an engine without learning in between; all are returned to the frontier."""
    number = max((visit.pick for visit in visits_of(running.log)), default=0)
    picked: list[tuple[str, Pick]] = []
    while len(picked) < limit:
        pick = running.strategy.pick(number + len(picked) + 1, running.frontier, 0.0)
        if pick.row < 0:
            break
        picked.append((running.table.nodes[pick.row], pick))
    for _, pick in picked:
        running.frontier.untake(pick.row)
    return picked


def resumes_alike(
    make: Callable[[], Strategy], after: int, advice: str, *, trouble: bool = False, again: bool = False
) -> None:
    """Interrupt a crawl after some visits; its next picks must equal those of a crawl that replays its log.

    With `again`, pages are visited a second time during the crawl.
    """
    space = Aging if again else Shuffled
    live = engine(make(), space(trouble=trouble), scheduler=EveryThirdVisit() if again else None)
    log = run(live, after)
    resumed = engine(make(), space(trouble=trouble), log)
    expected, actual = picks(live), picks(resumed)
    differ = [pair for pair in zip(expected, actual, strict=False) if pair[0] != pair[1]]
    want(
        expected == actual,
        f"after {live.tally.pages} pages the live crawl goes on with {len(expected)} rows and the resumed one with "
        f"{len(actual)}; first difference {differ[:1]}: {advice}",
    )


def state(thing: Any) -> bytes:
    """Return a pickle of an estimator or strategy; empty bytes if it cannot be pickled."""
    try:
        return pickle.dumps(thing)
    except (TypeError, AttributeError, pickle.PicklingError):
        return b""


def growth(again: Callable[[], None], warm: int, rounds: int, soon: int = 0) -> int:
    """Return the bytes still allocated after some rounds, beyond those of the warm-up.

    Structures that grow by doubling have grown after `soon` rounds. If less than these rounds' share of GROWTH was kept
    by then, the remaining rounds are skipped; likewise after each doubling of rounds. Large values are measured twice,
    because numpy's cache fills up.
    """
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()

    def kept_after(times: int) -> int:
        for _ in range(times):
            again()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    try:
        first = earlier = kept_after(warm)
        done, some = 0, soon
        while some and done + some < rounds:
            later = kept_after(some)
            if later - earlier < GROWTH * some / rounds:
                return later - earlier
            earlier, done, some = later, done + some, warm + done + some + 1
        whole = kept_after(rounds - done)
        return whole - first if whole - first < GROWTH else min(whole - first, kept_after(rounds) - whole)
    finally:
        if not tracing:
            tracemalloc.stop()
