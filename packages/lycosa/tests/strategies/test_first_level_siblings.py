"""Tests of sums over siblings: sl_n, sl_e, sl_ne by hand on six nodes, and against the definition on random graphs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.table import OPEN, Table
from lycosa.core.types import Links, Rows, Visit
from lycosa.strategies.first_level import FirstLevel, SecondLevel, Siblings
from teaching import see, teach


def sums(siblings: Siblings, table: Table, node: str) -> tuple[float, float, float]:
    """Return sl_n, sl_e and sl_ne of a node."""
    row = table.row_of[node]
    return float(siblings.n[row]), float(siblings.e[row]), float(siblings.ne[row])


def first(table: Table, node: str) -> list[float]:
    """Return fl_deg, fl_n, fl_e and fl_ne of a node."""
    row = np.array([table.row_of[node]], np.int32)
    return [float(FirstLevel(kind, smooth=False).priority(row, table)[0]) for kind in ("deg", "n", "e", "ne")]


@pytest.mark.paper("gouriten-sl-n", "gouriten-sl-e", "gouriten-sl-ne")
def test_siblings_six_nodes_by_hand() -> None:
    """Every fl_ and sl_ value of a graph of six nodes, before and after d is crawled.

    s (beta 1/2) -> a 1/2, b 1/4, c 3/4
    a (beta 3/4) -> c 1/2, d 1/8
    b (beta 1/4) -> d 1/4, e 1, a 1/2
    d (beta 1/2) -> e 1/4, s 1/2
    """
    siblings, table = Siblings(), Table()
    assert {"a", "b", "c"} == set(teach(siblings, table, "s", 1 / 2, a=1 / 2, b=1 / 4, c=3 / 4))
    assert {"b", "c", "d"} == set(teach(siblings, table, "a", 3 / 4, c=1 / 2, d=1 / 8))
    assert {"a", "c", "d", "e"} == set(teach(siblings, table, "b", 1 / 4, d=1 / 4, e=1, a=1 / 2))

    # c: parents s and a
    assert [2, 1 / 2 + 3 / 4, 3 / 4 + 1 / 2, 1 / 2 * 3 / 4 + 3 / 4 * 1 / 2] == first(table, "c")
    # d: parents a and b
    assert [2, 3 / 4 + 1 / 4, 1 / 8 + 1 / 4, 3 / 4 * 1 / 8 + 1 / 4 * 1 / 4] == first(table, "d")
    # e: parent b
    assert [1, 1 / 4, 1, 1 / 4 * 1] == first(table, "e")

    # c: siblings a and b by s; the other child of a, d, is not crawled
    assert (3 / 4 + 1 / 4, 1 / 2 + 1 / 4, 3 / 4 * 1 / 2 + 1 / 4 * 1 / 4) == sums(siblings, table, "c")
    # d: sibling a by b
    assert (3 / 4, 1 / 2, 3 / 4 * 1 / 2) == sums(siblings, table, "d")
    # e: sibling a by b
    assert (3 / 4, 1 / 2, 3 / 4 * 1 / 2) == sums(siblings, table, "e")

    assert {"c", "e", "s"} == set(teach(siblings, table, "d", 1 / 2, e=1 / 4, s=1 / 2))

    assert [2, 1.25, 1.25, 0.75] == first(table, "c")
    # e: parents b and d
    assert [2, 1 / 4 + 1 / 2, 1 + 1 / 4, 1 / 4 * 1 + 1 / 2 * 1 / 4] == first(table, "e")
    # c: as before, plus sibling d by a
    assert (1 + 1 / 2, 3 / 4 + 1 / 8, 7 / 16 + 1 / 2 * 1 / 8) == sums(siblings, table, "c")
    # e: siblings a and d by b, and s by d
    assert (3 / 4 + 1 / 2 + 1 / 2, 1 / 2 + 1 / 4 + 1 / 2, 3 / 8 + 1 / 2 * 1 / 4 + 1 / 2 * 1 / 2) == sums(
        siblings, table, "e"
    )
    # d has been visited, so its sums are unchanged.
    assert (3 / 4, 1 / 2, 3 / 8) == sums(siblings, table, "d")


def test_siblings_count_once_per_parent() -> None:
    siblings, table = Siblings(), Table()
    teach(siblings, table, "p", 0, v=0.5, w=0.25)
    teach(siblings, table, "q", 0, v=0.5, w=1)
    teach(siblings, table, "w", 0.5)
    assert (2 * 0.5, 0.25 + 1, 0.5 * 0.25 + 0.5 * 1) == sums(siblings, table, "v")


def test_siblings_exclude_failures() -> None:
    siblings, table = Siblings(), Table()
    teach(siblings, table, "p", 0, v=0.5, w=0.25)
    see(siblings, table, Visit("w", "page", "unreachable", 1, retry_at=1.0))
    assert (0, 0, 0) == sums(siblings, table, "v")
    teach(siblings, table, "w", 0.5)
    assert (0.5, 0.25, 0.125) == sums(siblings, table, "v")


def test_siblings_redirect_inherits() -> None:
    siblings, table = Siblings(), Table()
    teach(siblings, table, "p", 0, v=0.5, w=0.25)
    teach(siblings, table, "q", 0, t=0.5, w=1)
    teach(siblings, table, "w", 0.5)
    assert {"t"} == set(see(siblings, table, Visit("v", "redirect", "redirect", 1, links=Links.to("t"))))
    assert (0.5 + 0.5, 0.25 + 1, 0.125 + 0.5) == sums(siblings, table, "t")


def test_siblings_exclude_page_itself() -> None:
    siblings, table = Siblings(), Table()
    teach(siblings, table, "p", 0, v=0.5)
    teach(siblings, table, "v", 0.5, v=1, x=1)
    assert (0, 0, 0) == sums(siblings, table, "v")
    assert (0, 0, 0) == sums(siblings, table, "x")


def test_siblings_revisit_is_not_counted_again() -> None:
    siblings, table = Siblings(), Table()
    teach(siblings, table, "w", 0.5)
    teach(siblings, table, "p", 0, v=0.5, w=0.25)
    teach(siblings, table, "p", 0, v=0.5, w=0.25)
    teach(siblings, table, "w", 1.0)
    assert (0.5, 0.25, 0.125) == sums(siblings, table, "v")


NODES = [f"n{number}" for number in range(8)]
VISITS = st.lists(
    st.tuples(
        st.sampled_from(NODES),
        st.sampled_from(["ok", "ok", "ok", "gone", "retry", "redirect"]),
        st.integers(0, 8),
        st.dictionaries(st.sampled_from(NODES), st.integers(0, 8), max_size=6),
    ),
    max_size=20,
)
"""Visits of eight nodes: outcome, beta in eighths, and links with alphas in eighths."""


def literally(node: str, links: dict[str, dict[str, float]], beta: dict[str, float]) -> Rows:
    """Return sl_n, sl_e and sl_ne as defined in the paper, over all parents and their crawled children."""
    beside = [
        (beta[other], alpha)
        for parent in links
        if node in links[parent]
        for other, alpha in links[parent].items()
        if other in beta and other != node
    ]
    return np.array([sum(b for b, _ in beside), sum(a for _, a in beside), sum(b * a for b, a in beside)])


@settings(max_examples=40)
@given(VISITS)
def test_siblings_equal_definition(visits: list[tuple[str, Any, int, dict[str, int]]]) -> None:
    siblings, table = Siblings(), Table()
    for node in NODES:
        table.add_seed(node)
    links: dict[str, dict[str, float]] = {}
    beta: dict[str, float] = {}
    inherited = dict.fromkeys(NODES, np.zeros(3))
    before = dict.fromkeys(NODES, (0.0, 0.0, 0.0))
    for node, how, eighths, targets in visits:
        if table.state[table.row_of[node]] != OPEN:
            continue
        if how == "ok":
            beta[node] = eighths / 8
            links[node] = {target: alpha / 8 for target, alpha in targets.items() if target != node}
            changed = teach(siblings, table, node, beta[node], **{target: a / 8 for target, a in targets.items()})
        elif how == "redirect" and targets:
            target = next(iter(targets))
            if target != node:
                inherited[target] = inherited[target] + inherited[node] + literally(node, links, beta)
            changed = see(siblings, table, Visit(node, "redirect", "redirect", 1, links=Links.to(target)))
        else:
            changed = see(siblings, table, Visit(node, "page", "gone", 1, retry_at=1.0 if how == "retry" else 0.0))
        for other in NODES:
            actual = sums(siblings, table, other)
            if table.state[table.row_of[other]] == OPEN:
                assert tuple(literally(other, links, beta) + inherited[other]) == pytest.approx(actual)
            assert other in changed or actual == before[other]
            before[other] = actual


def test_second_level_priority_by_hand() -> None:
    """Priority is log(1 + sum) with smoothing, and 0 for a row without parents."""
    table, estimator = Table(), SecondLevel("ne")
    teach(estimator.siblings_, table, "p", 0, v=0.5, w=0.25)
    teach(estimator.siblings_, table, "w", 0.5)
    rows = np.array([table.row_of["v"], table.row_of["p"]], np.int32)
    assert [pytest.approx(np.log(1 + 0.5 * 0.25)), 0.0] == estimator.priority(rows, table).tolist()
    rough = SecondLevel("ne", smooth=False)
    rough.siblings_ = estimator.siblings_
    assert [0.125, 0.0] == rough.priority(rows, table).tolist()
