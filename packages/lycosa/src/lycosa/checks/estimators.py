"""Checks for estimators: the shape of their results, and that their state is a fold over the visits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lycosa.checks.crawls import growth, resumes_alike, state
from lycosa.checks.failing import GROWTH, SECONDS, shape, want
from lycosa.checks.trials import START, page_visit, revisits, steps
from lycosa.core.composite import Greedy
from lycosa.core.protocols import Estimator
from lycosa.core.scan import is_linear
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Links, Rows, Visit

MakeEstimator: TypeAlias = Callable[[], Estimator]


def _trained(make: MakeEstimator) -> tuple[Estimator, Table]:
    estimator, table = make(), Table()
    for step in steps(table):
        estimator.learn(step, table)
    return estimator, table


def _all(table: Table) -> Rows:
    return np.arange(len(table), dtype=np.int32)


def priorities_have_one_number_per_row(make: MakeEstimator) -> None:
    """priority(rows) returns an array with one float per row, also for no rows and before learning."""
    estimator, table = make(), Table()
    table.add_seed(START)
    none = np.zeros(0, np.int32)
    for rows, case in ((_all(table), "a seed, before anything was learned"), (none, "no rows at all")):
        _right_shape(estimator.priority(rows, table), len(rows), case)
    estimator, table = _trained(make)
    for rows, case in ((_all(table), "all rows"), (_all(table)[::-3], "some rows, last first"), (none, "no rows")):
        _right_shape(estimator.priority(rows, table), len(rows), case)


def _right_shape(priorities: object, rows: int, case: str) -> None:
    want(
        isinstance(priorities, np.ndarray)
        and priorities.shape == (rows,)
        and np.issubdtype(priorities.dtype, np.floating),
        f"priority() returned {shape(priorities)} for {case} ({rows} rows): return one float per row, as a numpy array",
    )


def priorities_are_finite(make: MakeEstimator) -> None:
    """Priorities are never NaN or infinite, because such rows would never be picked, or before the seeds."""
    estimator, table = make(), Table()
    for step in steps(table):
        estimator.learn(step, table)
        priorities = estimator.priority(_all(table), table)
        bad = np.flatnonzero(~np.isfinite(priorities))
        want(
            not len(bad),
            f"row {bad[:1]} has priority {priorities[bad[:1]]} after pick {step.visit.pick}: avoid dividing by 0",
        )


def priority_is_pure(make: MakeEstimator) -> None:
    """priority() changes neither estimator nor table, and a row's priority does not depend on the other rows."""
    estimator, table = _trained(make)
    rows = _all(table)
    columns: list[NDArray[Any]] = [table.depth, table.in_degree, table.link_relevance_sum, table.relevance_sum]
    before = [column.copy() for column in columns]
    known = state(estimator)
    first = np.array(estimator.priority(rows, table))
    turned = np.array(estimator.priority(rows[::-1], table))[::-1]
    again = np.array(estimator.priority(rows, table))
    want(
        np.array_equal(first, again),
        "a second call returned other priorities: draw random numbers from (seed, row), change state in learn() only",
    )
    want(np.array_equal(first, turned), "priorities depend on the order of rows: compute each from its row only")
    want(known == state(estimator), "priority() changed the estimator's attributes: change them in learn() only")
    want(
        all(np.array_equal(old, new) for old, new in zip(before, columns, strict=True)),
        "priority() changed the shared table: copy a column before you change it",
    )


def learned_rows_are_in_the_table(make: MakeEstimator) -> None:
    """learn() returns integers, each a row of the table."""
    estimator, table = make(), Table()
    for step in steps(table):
        rows = np.asarray(estimator.learn(step, table))
        want(
            rows.ndim == 1 and (not len(rows) or np.issubdtype(rows.dtype, np.integer)),
            f"learn() returned {shape(rows)} of {rows.dtype}: return row numbers as an integer array",
        )
        wrong = rows[(rows < 0) | (rows >= len(table))]
        want(
            not len(wrong),
            f"learn() returned row {wrong[:1]} of a table with {len(table)} rows: return rows of step.children, or "
            "others that exist already",
        )


def new_links_are_returned(make: MakeEstimator) -> None:
    """learn() returns every new link, because other rows are never ranked or fetched."""
    estimator, table = make(), Table()
    returned: set[int] = {0}
    for step in steps(table):
        returned.update(np.asarray(estimator.learn(step, table)).tolist())
        missing = [table.nodes[row] for row in step.children.tolist() if row not in returned]
        want(
            not missing, f"after {step.visit.node}, learn() did not return its link {missing[:1]}: return step.children"
        )


def other_priorities_stay(make: MakeEstimator) -> None:
    """Open rows that learn() does not return keep their priority, unless it is weights times features (scan.Linear)."""
    estimator, table = make(), Table()
    # the frontier multiplies weights and features itself
    if getattr(estimator, "sweeping", False) and is_linear(estimator):
        return
    before = np.zeros(0)
    for step in steps(table):
        rows = np.asarray(estimator.learn(step, table))
        after = np.array(estimator.priority(_all(table), table), np.float64)
        changed = np.flatnonzero(before != after[: len(before)])
        unreturned = sorted(set(changed[table.state[changed] == OPEN].tolist()) - set(rows.tolist()) - {step.row})
        want(
            not unreturned,
            f"after pick {step.visit.pick} row {unreturned[:1]} changed its priority, but learn() did not return it: "
            "return every row whose priority may change; if all may, set sweeping = True and return table.rows()",
        )
        before = after


def fresh_estimators_agree(make: MakeEstimator) -> None:
    """Two fresh estimators that learned the same visits return the same priorities; random choices are seeded."""
    (one, table), (other, _) = _trained(make), _trained(make)
    rows = _all(table)
    want(
        np.array_equal(one.priority(rows, table), other.priority(rows, table)),
        "two estimators with the same visits differ: take a seed as an argument, and draw from (seed, row or pick)",
    )


def crawl_can_be_resumed(make: MakeEstimator) -> None:
    """Replaying the log gives the next picks of the live crawl, with 8 visits in flight and shuffled responses."""
    resumes_alike(lambda: Greedy(make()), 150, "let learn() depend on its arguments and earlier learn() calls only")


def redirects_pass_on_priority(make: MakeEstimator) -> None:
    """A redirect's target inherits its source's priority (unless priorities depend on the row number only)."""
    estimator, table = _trained(make)
    row = int(table.rows()[0])
    source = np.array([row], np.int32)
    priority = float(estimator.priority(source, table)[0])
    step = table.absorb(Visit(table.nodes[row], "redirect", "redirect", 99, links=Links.to("target")))
    assert step is not None
    returned = np.asarray(estimator.learn(step, table)).tolist()
    target = int(step.children[0])
    want(target in returned, "learn() did not return the target of a redirect: return step.children")
    got = float(estimator.priority(step.children, table)[0])
    want(
        math.isclose(priority, got, rel_tol=1e-6, abs_tol=1e-12) or _by_number(make, row, priority),
        f"a row with priority {priority:.6g} redirects, and its target has {got:.6g}: when step.visit.outcome is "
        "'redirect', pass on the priority of the source (step.row)",
    )


def _by_number(make: MakeEstimator, row: int, priority: float) -> bool:
    """Return whether a row's priority depends on its number only: a redirect then passes on nothing."""
    table = Table()
    for number in range(row + 1):
        table.add(f"node {number}", depth=number % 3)
    return float(make().priority(np.array([row], np.int32), table)[0]) == priority


def revisited_page(make: MakeEstimator) -> None:
    """A page that is visited again brings new links or has moved: these are ranked, others keep their priorities."""
    (estimator, table), (other, twin) = _trained(make), _trained(make)
    linear = getattr(estimator, "sweeping", False) and is_linear(estimator)
    for visit in revisits(table):
        before = np.array(estimator.priority(_all(table), table), np.float64)
        step, same = table.absorb(visit), twin.absorb(visit)
        if step is None or same is None:  # estimators don't receive it, so no priority can change
            continue
        event = f"{visit.node} was revisited ({visit.outcome}, pick {visit.pick})"
        returned = set(np.asarray(estimator.learn(step, table)).tolist())
        other.learn(same, twin)
        waiting = step.children[(table.state[step.children] == OPEN) & (step.children >= len(before))]  # not ranked yet
        missing = [table.nodes[row] for row in waiting.tolist() if row not in returned]
        want(not missing, f"after {event}, learn() did not return its new link {missing[:1]}: return step.children")
        after = np.array(estimator.priority(_all(table), table), np.float64)
        bad = np.flatnonzero(~np.isfinite(after))
        want(not len(bad), f"row {bad[:1]} has priority {after[bad[:1]]} after {event}: guard against dividing by 0")
        changed = np.flatnonzero(before != after[: len(before)])
        unreturned = set(changed[table.state[changed] == OPEN].tolist()) - returned
        want(
            linear or not unreturned,
            f"after {event}, row {sorted(unreturned)[:1]} changed its priority, but learn() did not return it: return "
            "every row whose priority may change",
        )
        want(
            np.array_equal(after, other.priority(_all(twin), twin)),
            f"two estimators with the same visits differ after {event}: draw random numbers from (seed, row or pick)",
        )


def crawl_with_revisits_can_be_resumed(make: MakeEstimator) -> None:
    """Replaying the log gives the next picks of the live crawl, also if pages were visited again."""
    advice = "let learn() depend on its arguments and earlier learn() calls only, a page may be visited twice"
    resumes_alike(lambda: Greedy(make()), 80, advice, again=True)


def page_without_links(make: MakeEstimator) -> None:
    """An empty page can be learned."""
    _learn(make, page_visit("start", [], 0.0, []))


def page_with_ten_thousand_links(make: MakeEstimator) -> None:
    """A page with 10,000 links is learned and ranked within SECONDS."""
    begun = time.process_time()
    _learn(make, page_visit("start", (f"link {n}" for n in range(10_000)), 0.5, (n % 100 / 100 for n in range(10_000))))
    took = time.process_time() - begun
    want(took < SECONDS, f"a page with 10,000 links took {took:.1f} s: use arrays, not a loop over rows")


def links_without_words(make: MakeEstimator) -> None:
    """Links without anchors on a page without words (all relevances are 0) can be ranked."""
    _learn(make, page_visit("start", ["a", "b"], 0.0, [0.0, 0.0]))


def _learn(make: MakeEstimator, visit: Visit) -> None:
    estimator, table = make(), Table()
    table.add_seed(visit.node)
    step = table.absorb(visit)
    assert step is not None
    estimator.learn(step, table)
    priorities = estimator.priority(_all(table), table)
    _right_shape(priorities, len(table), f"a page with {len(visit.links)} links")
    want(np.isfinite(priorities).all(), f"a priority is not finite after a page with {len(visit.links)} links")


def memory_is_bounded(make: MakeEstimator) -> None:
    """State grows with the table, not with the visits: learning the same pages again adds nothing."""
    estimator, table = make(), Table()
    known = list(steps(table))

    def again() -> None:
        for step in known:
            estimator.learn(step, table)

    rounds = 40  # some 2,400 visits: a list of them would grow by at least 19,000 bytes
    grown = growth(again, 3, rounds, soon=4)
    want(
        grown < GROWTH,
        f"it grew by {grown} bytes while it learned the same {len(known)} visits {rounds} times: keep sums and columns "
        "with one entry per row, not lists of visits",
    )


ESTIMATOR_CHECKS = (
    priorities_have_one_number_per_row,
    priorities_are_finite,
    priority_is_pure,
    learned_rows_are_in_the_table,
    new_links_are_returned,
    other_priorities_stay,
    fresh_estimators_agree,
    crawl_can_be_resumed,
    redirects_pass_on_priority,
    revisited_page,
    crawl_with_revisits_can_be_resumed,
    page_without_links,
    page_with_ten_thousand_links,
    links_without_words,
    memory_is_bounded,
)
