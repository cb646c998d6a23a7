"""Tests of OPIC with link relevances and of OPIC as published: the equations by hand, on four nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.opic_alpha import OpicAlpha, OpicOriginal


def teach(
    opic: OpicAlpha, table: Table, node: str, *, kind: Any = "page", outcome: Any = "ok", **link_relevances: float
) -> None:
    """Feed a page with links of these relevances."""
    links = Links.to(*link_relevances)
    links.link_relevances = np.array(list(link_relevances.values()), np.float32)
    step = table.absorb(Visit(node, kind, outcome, 1, links=links))
    assert step is not None
    assert set(step.children.tolist()) <= set(opic.learn(step, table).tolist())


def state(opic: OpicAlpha, table: Table, *nodes: str) -> tuple[list[float], list[float], float]:
    """Return C and H of nodes, and G."""
    rows = [table.row_of[node] for node in nodes]
    return opic.C_[rows].tolist(), opic.H_[rows].tolist(), opic.G_


@pytest.mark.paper("gouriten-opic-alpha")
def test_opic_alpha_four_steps_by_hand() -> None:
    """Visits are a -> b .75, c .25; b -> c .5, d .5; c -> a 1; d -> b 0, c 0."""
    opic, table = OpicAlpha(), Table()
    table.add_seed("a")
    nodes = ("a", "b", "c", "d")
    teach(opic, table, "a", b=0.75, c=0.25)
    # C(b) = 1 + 1 * .75 * 1 / (.75 * 1 + .25 * 1), C(c) = 1 + .25
    assert ([0.0, 1.75, 1.25], [1.0, 0.0, 0.0], 1.0) == state(opic, table, *nodes[:3])
    teach(opic, table, "b", c=0.5, d=0.5)
    # c and d share b's 1.75 in proportion to .5 * 1.25 and .5 * 1
    c, d = 1.25 + 1.75 * 0.625 / 1.125, 1 + 1.75 * 0.5 / 1.125
    C, H, G = state(opic, table, *nodes)
    assert pytest.approx([0.0, 0.0, c, d]) == C
    assert ([1.0, 1.75, 0.0, 0.0], 2.75) == (H, G)
    teach(opic, table, "c", a=1.0)
    # a has no cash, so alpha * C(a) = 0 and c gives equal shares: all to a, its only link.
    C, H, G = state(opic, table, *nodes)
    assert pytest.approx([c, 0.0, 0.0, d]) == C
    assert pytest.approx([1.0, 1.75, c, 0.0]) == H
    assert pytest.approx(2.75 + c) == G
    teach(opic, table, "d", b=0.0, c=0.0)
    C, H, G = state(opic, table, *nodes)
    assert pytest.approx([c, d / 2, d / 2, 0.0]) == C
    assert pytest.approx([1.0, 1.75, c, d]) == H
    assert pytest.approx(2.75 + c + d) == G
    rows = np.arange(4, dtype=np.int32)
    assert pytest.approx([1 + c, 1.75 + d / 2, c + d / 2, d]) == opic.priority(rows, table).tolist()
    assert pytest.approx(opic.priority(rows, table) / (1 + 2.75 + c + d)) == opic.importance(rows, table)


def test_opic_alpha_nodes_start_with_1() -> None:
    opic, table = OpicAlpha(), Table()
    table.add_seed("a")
    assert [1.0] == opic.priority(np.array([0], np.int32), table).tolist()
    teach(opic, table, "a", b=0.5)
    late = table.add_seed("late")
    assert [1.0] == opic.priority(np.array([late], np.int32), table).tolist()


def test_opic_alpha_treats_failed_visits_as_dead_ends() -> None:
    opic, table = OpicAlpha(), Table()
    table.add_seed("a")
    teach(opic, table, "a", b=1.0)
    step = table.absorb(Visit("b", "page", "timeout", 1, retry_at=1.0))
    assert step is not None
    opic.learn(step, table)
    assert ([2.0], [0.0], 1.0) == state(opic, table, "b")
    teach(opic, table, "b", outcome="gone")
    assert ([0.0], [2.0], 3.0) == state(opic, table, "b")


def test_opic_alpha_redirect_merges_nodes() -> None:
    """A new target takes over 1.75; a known one with 1.25 gets 1.75 + 1.25 - 1. Later cash goes to the target, too."""
    opic, table = OpicAlpha(), Table()
    table.add_seed("a"), table.add_seed("e")
    teach(opic, table, "a", b=0.75, c=0.25)
    teach(opic, table, "b", kind="redirect", outcome="redirect", new=0.0)
    assert ([0.0, 1.75], [0.0, 0.0], 1.0) == state(opic, table, "b", "new")
    teach(opic, table, "new", kind="redirect", outcome="redirect", c=0.0)
    assert ([0.0, 0.0, 2.0], [0.0, 0.0, 0.0], 1.0) == state(opic, table, "b", "new", "c")
    teach(opic, table, "e", b=1.0)
    assert ([0.0, 0.0, 3.0], [0.0, 0.0, 0.0], 2.0) == state(opic, table, "b", "new", "c")


def visit(opic: OpicOriginal, table: Table, node: str, **link_relevances: float) -> list[list[float]]:
    """Visit a node; return C, H and the estimate of the known nodes among a, b, c and d."""
    links = Links.to(*link_relevances)
    links.link_relevances = np.array(list(link_relevances.values()), np.float32)
    step = table.absorb(Visit(node, "page", "ok", 1, links=links))
    assert step is not None
    opic.learn(step, table)
    rows = np.array([table.row_of[name] for name in "abcd" if name in table.row_of], np.int32)
    return [opic.C_[rows].tolist(), opic.H_[rows].tolist(), opic.importance(rows, table).tolist()]


@pytest.mark.paper("gouriten-opic-original")
def test_opic_original_three_visits_by_hand() -> None:
    opic, table = OpicOriginal(), Table()
    table.add_seed("a")
    # H(a) = 1; C(b) = C(c) = 1 + 1/2; G = 1
    C, H = [0, 1 + 1 / 2, 1 + 1 / 2], [1, 0, 0]
    assert visit(opic, table, "a", b=0.9, c=0.1) == [C, H, [1 / 2, 1.5 / 2, 1.5 / 2]]
    # H(b) = 1.5; C(a) = 0 + 1.5/3, C(c) = 1.5 + 1.5/3, C(d) = 1 + 1.5/3; G = 1 + 1.5
    C, H = [0.5, 0, 2, 1.5], [1, 1.5, 0, 0]
    assert visit(opic, table, "b", a=0.0, c=0.0, d=1.0) == [C, H, [1.5 / 3.5, 1.5 / 3.5, 2 / 3.5, 1.5 / 3.5]]
    # H(c) = 2; C(d) = 1.5 + 2/1; G = 2.5 + 2
    C, H = [0.5, 0, 0, 3.5], [1, 1.5, 2, 0]
    assert visit(opic, table, "c", d=0.0) == [C, H, [1.5 / 5.5, 1.5 / 5.5, 2 / 5.5, 3.5 / 5.5]]


def test_opic_original_cash_grows_with_nodes() -> None:
    """Each new node adds 1 cash, so four nodes have C = 4 after two visits; in Guan's OPIC it comes from seeds."""
    opic, table = OpicOriginal(), Table()
    table.add_seed("a")
    visit(opic, table, "a", b=0.0, c=0.0)
    assert float(opic.C_[: len(table)].sum()) == 3
    visit(opic, table, "b", d=0.0)
    assert float(opic.C_[: len(table)].sum()) == 4
