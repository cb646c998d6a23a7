"""Freshness of a collection with each revisit schedule and the same budget, by simulation without network or engine.

    python benchmarks/refresh_schedules.py [--pages 2000] [--days 30] [--budgets 100 400 2000 8000] [--seeds 8]
                                           [--first 100] [--kinds constant ...] [--schedules automatic ...]

Pages of 40 hosts: half change at constant rates over many orders of magnitude, on some hosts faster than on others;
some change at the same time each day, some in bursts, some never. Their relevance is independent of that. All are
fetched on the first day; then each schedule says which pages are due, and those with the highest priority are revisited
within the daily budget. Unused budget can be used within four steps, of 16 revisits or of eleven minutes. Rates are
unknown and have to be learned.

Printed is the share of time in which our copy was current, weighted by relevance, over all days from the first fetch
on, and over the last third of them. Margins of `automatic` over the others are paired by web, with 95 % intervals
(Student's t) over seeds. Seeds below 100 were used for tuning, so the default reports others.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.revisit.rates import Histories
from lycosa.revisit.schedules import make_schedule

DAY = 86_400.0
KINDS = ("constant", "daily", "bursty", "never")
SHARES = (0.5, 0.15, 0.15, 0.2)
HOSTS = 40
BATCH = 16
SCHEDULES = ("automatic", "fixed")
STUDENT = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26, 12: 2.20, 16: 2.13}


@dataclass
class World:
    """Simulated pages, and the times of their changes."""

    kind: NDArray[np.intp]
    host: NDArray[np.intp]
    weight: NDArray[np.float64]
    changes: NDArray[np.float64]
    """Times of all changes, page by page, each shifted by its page's number times `apart`."""
    apart: float

    def next_change(self, pages: NDArray[np.intp], after: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the time of the next change of each page."""
        key = pages * self.apart + after
        found = self.changes[np.searchsorted(self.changes, key, side="right")]
        return np.where(found < (pages + 1) * self.apart, found - pages * self.apart, np.inf)


def make_world(seed: int, pages: int, days: float, kinds: Sequence[str] = KINDS) -> World:
    """Return a population of pages."""
    chance = np.random.default_rng(seed)
    shares = np.array([share * (name in kinds) for name, share in zip(KINDS, SHARES, strict=True)])
    kind = chance.choice(len(KINDS), pages, p=shares / shares.sum())
    host = chance.integers(0, HOSTS, pages)
    busy = chance.normal(0.0, 1.0, HOSTS)
    weight = chance.beta(1.0, 2.0, pages)
    apart = 2 * days * DAY
    changes = []
    for page in range(pages):
        end = days * DAY
        if KINDS[kind[page]] == "constant":
            rate = min(np.exp(chance.normal(np.log(1 / 10), 1.8) + busy[host[page]]), 200.0) / DAY
            times = np.sort(chance.uniform(0, end, chance.poisson(rate * end)))
        elif KINDS[kind[page]] == "daily":
            times = np.arange(chance.uniform(0, DAY), end, DAY)
        elif KINDS[kind[page]] == "bursty":  # about twelve changes a day for a day, then none for about five
            times = bursts(chance, end)
        else:
            times = np.zeros(0)
        changes.append(times + page * apart)
    return World(kind, host, weight, np.concatenate([*changes, [np.inf]]), apart)


def bursts(chance: np.random.Generator, end: float) -> NDArray[np.float64]:
    """Return times of changes that come in bursts."""
    at, on, times = 0.0, bool(chance.random() < 1 / 6), [np.zeros(0)]
    while at < end:
        length = chance.exponential(DAY if on else 5 * DAY)
        if on:
            times.append(at + np.sort(chance.uniform(0, length, chance.poisson(12 * length / DAY))))
        at, on = at + length, not on
    every = np.concatenate(times)
    return every[every < end]


def simulate(world: World, text: str, per_day: float, days: float) -> tuple[float, float, float, list[float]]:
    """Return freshness over all days and over the last third, the used share of the budget, and freshness by kind."""
    pages, end, late = len(world.kind), days * DAY, days * DAY * 2 / 3
    per_second = per_day / DAY
    schedule = make_schedule(text, per_second)
    histories = Histories()
    started = np.arange(pages) * DAY / pages
    for page in range(pages):
        histories.add(float(started[page]), host=int(world.host[page]), weight=float(world.weight[page]))
    numbers = np.arange(pages)
    stale_at = world.next_change(numbers, started)
    fresh, fresh_late = np.zeros(pages), np.zeros(pages)
    seen = started.copy()

    def account(rows: NDArray[np.intp], now: float) -> None:
        until = np.minimum(stale_at[rows], now)
        fresh[rows] += np.maximum(until - seen[rows], 0)
        fresh_late[rows] += np.maximum(until - np.maximum(seen[rows], late), 0)
        seen[rows] = now

    batch = max(BATCH, int(per_day / 125))  # steps of eleven minutes or more
    step, now, tokens, used = batch / per_second, DAY, 0.0, 0
    while now < end:
        tokens = min(tokens + batch, 4 * batch)
        ready = np.flatnonzero(schedule.due(histories) <= now)
        if len(ready) > tokens:
            claims = schedule.claim(histories, ready, now)
            ready = ready[np.argsort(-claims, kind="stable")[: int(tokens)]]
        account(ready, now)
        for page, changed in zip(ready.tolist(), (stale_at[ready] <= now).tolist(), strict=True):
            histories.add_visit(page, now, changed)
        stale_at[ready] = world.next_change(ready, np.full(len(ready), now))
        tokens -= len(ready)
        used += len(ready)
        now += step
    account(numbers, end)
    share = fresh / (end - started)
    parts = [world.weight * (world.kind == number) for number in range(len(KINDS))]
    by_kind = [float((share * part).sum() / part.sum()) if part.any() else np.nan for part in parts]
    whole = float(np.average(share, weights=world.weight))
    last = float(np.average(fresh_late / (end - late), weights=world.weight))
    return whole, last, used / (per_second * (end - DAY)), by_kind


def interval(values: NDArray[np.float64]) -> str:
    """Return the mean of differences and its 95 % interval."""
    n = len(values)
    if n < 2:
        return f"{values.mean():+.4f}"
    half = STUDENT.get(n, 2.0) * values.std(ddof=1) / np.sqrt(n)
    return f"{values.mean():+.4f} ± {half:.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--days", type=float, default=30.0)
    parser.add_argument("--budgets", type=float, nargs="+", default=[100, 400, 2_000, 8_000])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="only pages of these kinds")
    parser.add_argument("--schedules", nargs="+", default=list(SCHEDULES))
    given = parser.parse_args()
    worlds = [make_world(given.first + seed, given.pages, given.days, given.kinds) for seed in range(given.seeds)]
    print(f"{given.pages} pages, {given.days:g} days, {given.seeds} seeds from {given.first}")
    for per_day in given.budgets:
        print(f"\n{per_day:g} revisits per day")
        kinds = "".join(f"{name:>9}" for name in KINDS)
        print(f"{'schedule':18}   fresh    late  used{kinds}   automatic better by       late by")
        results = {}
        for text in given.schedules:
            outcomes = [simulate(world, text, per_day, given.days) for world in worlds]
            results[text] = np.array([run[:2] for run in outcomes])
            whole, last = results[text].mean(0)
            columns = "".join(f"{value:9.3f}" for value in np.mean([run[3] for run in outcomes], axis=0))
            over = results.get("automatic", results[text]) - results[text]
            margins = f"{interval(over[:, 0]):>20}{interval(over[:, 1]):>20}"
            used = np.mean([run[2] for run in outcomes])
            print(f"{text:18}{whole:8.4f}{last:8.4f}{used:6.2f}{columns}  {margins}", flush=True)


if __name__ == "__main__":
    main()
