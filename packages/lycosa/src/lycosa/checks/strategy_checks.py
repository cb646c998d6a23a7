"""Checks for whole strategies: their picks, their completeness, and that a crawl can be interrupted anywhere."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import TypeAlias

import numpy as np

from lycosa.checks.crawls import engine, growth, picks, resumes_alike, run, state, visits_of
from lycosa.checks.failing import GROWTH, SECONDS, want
from lycosa.checks.trials import START, Shuffled, page_visit, steps
from lycosa.core.frontier import FREE, HELD, PRUNED, SHUT, Frontier
from lycosa.core.protocols import Strategy
from lycosa.core.table import Table
from lycosa.core.types import Links, Pick, Visit

MakeStrategy: TypeAlias = Callable[[], Strategy]

BREAKS = (1, 9, 40, 97, 150)  # visits after which a crawl is interrupted


def _frontier(strategy: Strategy, table: Table) -> Frontier:
    return strategy.frontier(table, lambda host_key: (0.0, ""), 0, 300.0, 0.0)


def _pruned(frontier: Frontier, row: int) -> bool:
    rankings = getattr(frontier, "arms", [frontier])  # priorities of rows that are not ranked are -inf
    return all(row < len(one.priority) and -math.inf < one.priority[row] <= PRUNED for one in rankings)


def attributes_are_valid(make: MakeStrategy) -> None:
    """`wants` is a tuple of facet names, and `proportional` is true or false."""
    strategy = make()
    wants, proportional = getattr(strategy, "wants", None), getattr(strategy, "proportional", None)
    want(
        isinstance(wants, tuple) and all(isinstance(facet, str) for facet in wants),
        f"'wants' is {wants!r}: make it a tuple of names, () for none",
    )
    want(isinstance(proportional, bool), f"'proportional' is {proportional!r}: set it to True or False")


def empty_frontier(make: MakeStrategy) -> None:
    """With nothing to pick, pick() returns row -1, before the first seed and after a page without links."""
    strategy, table = make(), Table()
    frontier = _frontier(strategy, table)
    for number, node in enumerate((START, "another seed", "a third"), 1):
        pick = strategy.pick(number, frontier, 0.0)
        nothing = isinstance(pick, Pick) and pick.row == -1
        want(nothing, f"pick() returned {pick!r} from an empty frontier: use Pick(-1)")
        want(frontier.next_ready() == math.inf, "next_ready() returned a time although no row waits: return infinity")
        row = table.add_seed(node)
        strategy.admit(row, table, frontier)
        seed = strategy.pick(number, frontier, 0.0)
        want(seed.row == row, f"pick() returned {seed!r} although a seed was open: admit() must rank it")
        step = table.absorb(Visit(node, "page", "ok", number, arm=seed.arm))
        assert step is not None
        strategy.learn(step, table, frontier)
        frontier.untake(row)


def reachable_pages_are_picked(make: MakeStrategy) -> None:
    """A crawl without a budget visits every reachable page once, except pruned ones."""
    _picks_all(make, Shuffled(), breaks=0)


def failures_and_redirects(make: MakeStrategy) -> None:
    """Pages that fail, are retried or redirect are each settled exactly once."""
    _picks_all(make, Shuffled(host_keys=3, trouble=True), breaks=0)


def interrupted_repeatedly(make: MakeStrategy) -> None:
    """A crawl that is interrupted every 50 visits and resumed from its log loses and repeats nothing."""
    _picks_all(make, Shuffled(200, host_keys=2, trouble=True), breaks=50)


def _picks_all(make: MakeStrategy, space: Shuffled, breaks: int) -> None:
    crawl = engine(make(), space)
    events = run(crawl, breaks)
    while breaks and picks(crawl, 1):
        before = len(visits_of(events))
        crawl = engine(make(), space, events)
        events = run(crawl, breaks)
        want(len(visits_of(events)) > before, f"resumed after {before} visits, the strategy picks no more rows")
    table = crawl.table
    settled = Counter(visit.node for visit in visits_of(events) if not visit.retry_at)
    twice = [node for node, times in settled.items() if times > 1]
    want(not twice, f"{twice[:1]} was picked {settled[twice[0]] if twice else 0} times: pick rows from frontier.take()")
    left = [row for row in table.rows().tolist() if not _pruned(crawl.frontier, row)]
    want(
        not left,
        f"{len(left)} rows were never picked, {table.nodes[left[0]] if left else ''!r} among them: learn() must rank "
        "every new link, and pick() must reach every row",
    )


def fresh_strategies_agree(make: MakeStrategy) -> None:
    """Two fresh strategies crawl alike; random choices depend on a seed and the pick number."""
    one, other = (visits_of(run(engine(make(), Shuffled()), 120)) for _ in range(2))
    differ = [
        (a.pick, a.node, b.node)
        for a, b in zip(one, other, strict=True)
        if (a.node, a.arm, a.priority) != (b.node, b.arm, b.priority)
    ]
    want(not differ, f"two crawls of the same graph differ, first {differ[:1]}: draw from (seed, pick number)")


def pick_is_pure(make: MakeStrategy) -> None:
    """pick() changes no learned state, so a returned pick is picked again under the same number."""
    strategy = make()
    crawl = engine(strategy, Shuffled())
    run(crawl, 70)
    before = state(strategy)
    first, again = picks(crawl, 60), picks(crawl, 60)
    differ = [(a, b) for a, b in zip(first, again, strict=False) if a != b]
    want(first == again, f"picks differ after they were returned: first {differ[:1]}: count in learn(), not in pick()")
    want(before == state(strategy), "pick() changed the strategy's attributes: change them in learn() only")


def strategy_can_be_resumed(make: MakeStrategy) -> None:
    """After an interruption with 8 visits in flight and shuffled responses, the log alone gives the next picks."""
    for visits in BREAKS:
        advice = "let learn() depend on its arguments and earlier learn() calls only, and pick() on that and its number"
        resumes_alike(make, visits, advice, trouble=visits % 2 == 0)


def revisited_pages(make: MakeStrategy) -> None:
    """If pages are visited again during the crawl, the log alone still gives the next picks."""
    for visits in BREAKS[1::2]:
        advice = "treat a revisit (step.visit.follows) as the scheduler's: it brings new links and no reward"
        resumes_alike(make, visits, advice, again=True)


def host_budgets_hold(make: MakeStrategy) -> None:
    """No host gets more pages than its budget, however many are in flight, and each gets all it may."""
    space = Shuffled(host_keys=6)
    crawl = engine(make(), space, host_budget=7)
    pages = Counter(space.host_key(visit.node) for visit in visits_of(run(crawl)) if visit.is_page)
    over = {host_key: got for host_key, got in pages.items() if got > 7}
    want(not over, f"hosts got more than 7 pages: {over}. Take rows from the frontier made with this host_budget")
    open_rows = [row for row in crawl.table.rows().tolist() if not _pruned(crawl.frontier, row)]
    idle = {host_key for row in open_rows if pages[host_key := space.host_key(crawl.table.nodes[row])] != 7}
    want(not idle, f"{sorted(idle)} had rows and budget left when the crawl ended as {crawl.ending!r}")


def held_rows_come_last(make: MakeStrategy) -> None:
    """Rows that are held back are picked after all free ones; shut rows never."""
    strategy, table = make(), Table()
    frontier = _frontier(strategy, table)
    strategy.admit(table.add_seed(START), table, frontier)
    for step in steps(table):
        strategy.learn(step, table, frontier)
    rows = table.rows()
    levels = (rows % 3).astype(np.uint8)
    frontier.hold(rows, levels)
    picked = []
    for number in count(61):
        row = strategy.pick(number, frontier, 0.0).row
        if row < 0:
            break
        picked.append((row % 3, row))
        visited = table.absorb(page_visit(table.nodes[row], [], 0.0, [], number))
        assert visited is not None
        strategy.learn(visited, table, frontier)
        frontier.untake(row)
    order = [level for level, _ in picked]
    want(SHUT not in order, "a row that is shut was picked: take rows from the frontier only")
    want(order == sorted(order), "a row that is held back was picked before a free one")
    expected = {row for row in rows.tolist() if row % 3 in (FREE, HELD) and not _pruned(frontier, row)}
    want({row for _, row in picked} == expected, f"of {len(expected)} rows that are not shut {len(picked)} were picked")


def page_with_ten_thousand_links(make: MakeStrategy) -> None:
    """A page with 10,000 links is learned, and a hundred of them are picked and learned, within SECONDS."""
    strategy, table = make(), Table()
    frontier = _frontier(strategy, table)
    strategy.admit(table.add_seed("start"), table, frontier)
    begun = time.process_time()
    targets = [f"link {n}" for n in range(10_000)]
    visit = page_visit("start", targets, 0.5, (n % 100 / 100 for n in range(10_000)))
    seen = {0: strategy.pick(1, frontier, 0.0).row}
    for number in range(2, 102):
        step = table.absorb(visit)
        assert step is not None
        strategy.learn(step, table, frontier)
        frontier.untake(step.row)
        pick = strategy.pick(number, frontier, 0.0)
        want(pick.row >= 0, f"pick {number} returned nothing, although {table.open_rows} rows are open")
        seen[number] = pick.row
        visit = Visit(table.nodes[pick.row], "page", "ok", number, arm=pick.arm, relevance=0.1, links=Links())
    took = time.process_time() - begun
    want(len(set(seen.values())) == len(seen), "a row was picked twice among the links of one page")
    want(took < SECONDS, f"a page with 10,000 links and 100 picks took {took:.1f} s: use arrays, not a loop over rows")


def strategy_does_not_grow(make: MakeStrategy) -> None:
    """State grows with the table, not with the visits: learning the same pages again adds nothing."""
    strategy, table = make(), Table()
    known = list(steps(table))
    numbers, arms = count(1), [""]

    def again() -> None:
        # a new frontier, because a frontier grows with changes and is not part of the strategy
        frontier = _frontier(strategy, table)
        for step in known:
            step.visit.arm = arms[-1]
            strategy.learn(step, table, frontier)
        pick = strategy.pick(next(numbers), frontier, 0.0)  # each round belongs to another arm of a bandit
        if pick.row >= 0:
            frontier.untake(pick.row)
        arms[:] = [pick.arm]

    rounds = 15
    # A bandit's window of 1,000 pulls is full only in the seventeenth round: run bandits for longer.
    grown = growth(again, 3, rounds, soon=4)
    want(
        grown < GROWTH,
        f"it grew by {grown} bytes while it learned the same {len(known)} visits {rounds} times: keep sums and columns "
        "with one entry per row, not lists of visits",
    )


STRATEGY_CHECKS = (
    attributes_are_valid,
    empty_frontier,
    reachable_pages_are_picked,
    failures_and_redirects,
    fresh_strategies_agree,
    pick_is_pure,
    strategy_can_be_resumed,
    interrupted_repeatedly,
    revisited_pages,
    host_budgets_hold,
    held_rows_come_last,
    page_with_ten_thousand_links,
    strategy_does_not_grow,
)
