"""Tests of linear regression on the fl_ and sl_ features: by hand, against a batch solution, and in a crawl."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from numpy.typing import NDArray

from lycosa.core.budget import Budget
from lycosa.core.composite import Greedy
from lycosa.core.engine import Engine
from lycosa.core.table import Table
from lycosa.core.types import Links, Rows, Seed, Visit
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace
from lycosa.store.log import MemoryLog
from lycosa.strategies.regression import Regression


def learned(made: Regression, *pages: tuple[str, float, str], outcome: str = "ok") -> Table:
    """Return the table after visits given as name, beta and links (one letter each)."""
    table = Table()
    for node, beta, links in pages:
        table.add_seed(node)
        step = table.absorb(Visit(node, "page", outcome, 1, relevance=beta, links=Links.to(*links)))  # type: ignore[arg-type]
        assert step is not None
        made.learn(step, table)
    return table


@pytest.mark.paper("gouriten-lr-fl")
def test_regression_three_pages_by_hand() -> None:
    """Weights solve the normal equations; only the in-degree differs: 0, 1 and 2 parents, beta 0, 0 and 1.

    With x = (degree, 1), rows (0, 1), (1, 1), (2, 1), y = (0, 0, 1) and ridge r = .5 the normal equations are

    (0 + 1 + 4 + r) w + (0 + 1 + 2) c = 0 + 0 + 2 (0 + 1 + 2) w + (1 + 1 + 1 + r) c = 0 + 0 + 1

    or 5.5 w + 3 c = 2 and 3 w + 3.5 c = 1, so w = (2 * 3.5 - 3 * 1) / (5.5 * 3.5 - 3 * 3) = 4 / 10.25 and c = (5.5 * 1
    - 3 * 2) / 10.25 = -.5 / 10.25. The weights of the other features, which are 0, are 0.
    """
    made = Regression("fl", smooth=False, ridge=0.5, literal=True)
    table = learned(made, ("a", 0.0, "bc"), ("b", 0.0, "c"), ("c", 1.0, "d"))
    assert [0, 1, 2] == table.in_degree[:3].tolist()
    assert [4 / 10.25, 0, 0, 0, -0.5 / 10.25] == pytest.approx(made.weights_.tolist(), abs=1e-12)
    assert [(4 * 1 - 0.5) / 10.25] == pytest.approx(made.priority(np.array([3], np.int32), table).tolist(), rel=1e-6)


def test_regression_ignores_seeds_unless_literal() -> None:
    made, table = Spy("fl", smooth=False), Table()
    table.add_seed("a")
    for node, beta, links in (("a", 1.0, "b"), ("b", 0.5, "")):
        step = table.absorb(Visit(node, "page", "ok", 1, relevance=beta, links=Links.to(*links)))
        assert step is not None
        made.learn(step, table)
    assert [([1, 1.0, 0, 0], 0.5)] == made.__dict__["seen"]


def test_regression_priorities_are_0_before_training() -> None:
    table = Table()
    rows = np.array([table.add(name, 0) for name in "ab"], np.int32)
    table.in_degree[1] = 7
    assert [0.0, 0.0] == Regression().priority(rows, table).tolist()


def test_features_first_level_by_hand() -> None:
    """Features are degree, sums of beta, alpha and their product; log(1 + x) of each with smoothing."""
    visit = Visit("a", "page", "ok", 1, relevance=0.5, links=Links.to("b"))
    visit.links.link_relevances[:] = 0.25
    for smooth in (False, True):
        table, made = Table(), Regression("fl", smooth=smooth)
        table.add_seed("a")
        step = table.absorb(visit)
        assert step is not None
        sums = np.array([1.0, 0.5, 0.25, 0.125])
        expected = np.log(1 + sums) if smooth else sums
        assert expected.tolist() == pytest.approx(
            made.features(made.learn(step, table), table)[:, 0].tolist(), rel=1e-6
        )


@pytest.mark.paper("gouriten-lr-sl")
def test_features_second_level_by_hand() -> None:
    """There are seven features. After u -> v, w and w with beta .5, v has a sibling with .5."""
    made = Regression("sl", smooth=False)
    table = learned(made, ("u", 0.25, "vw"), ("w", 0.5, ""))
    assert [1, 0.25, 0, 0, 0.5, 0, 0] == made.features(np.array([table.row_of["v"]], np.int32), table)[:, 0].tolist()


class Spy(Regression):
    """Regression that records its training examples."""

    def _train(self, features: NDArray[np.float32], beta: float) -> None:
        self.__dict__.setdefault("seen", []).append((features.tolist(), beta))
        super()._train(features, beta)


def test_features_are_taken_before_visit() -> None:
    made = Spy("sl", smooth=False, literal=True)
    learned(made, ("u", 0.25, "vw"), ("w", 0.5, "uvw"), ("v", 1.0, "wv"))
    expected = [
        ([0, 0, 0, 0, 0, 0, 0], 0.25),
        ([1, 0.25, 0, 0, 0, 0, 0], 0.5),  # w: one parent, no crawled sibling
        ([2, 0.75, 0, 0, 0.75, 0, 0], 1.0),  # v: parents u and w; siblings w (by u) and u (by w, with .25), so .5 + .25
    ]
    assert expected == made.__dict__["seen"]


@pytest.mark.parametrize("kind", ["redirect", "page"])
def test_regression_ignores_failures_and_redirects(kind: str) -> None:
    made = Regression()
    table = Table()
    table.add_seed("a")
    outcome = "redirect" if kind == "redirect" else "gone"
    step = table.absorb(Visit("a", kind, outcome, 1, links=Links.to("b") if kind == "redirect" else Links()))  # type: ignore[arg-type]
    assert step is not None
    made.learn(step, table)
    assert not made.weights_.any()
    assert [[1000.0] * 5] == [np.diag(made.inverse_).tolist()]


@pytest.mark.paper("gouriten-incremental")
@pytest.mark.parametrize("lines", [4, 7])
def test_regression_equals_batch_solution(lines: int) -> None:
    """Recursive and direct least squares agree to 1e-6, even with nearly collinear features."""
    rng = np.random.default_rng(3)
    made = Regression("fl" if lines == 4 else "sl", ridge=1e-3)
    x = np.log1p(rng.exponential(size=(6_000, lines))).astype(np.float32)
    x[:, 1] = x[:, 0] * np.float32(0.5) + rng.normal(scale=1e-3, size=len(x)).astype(np.float32)
    x[:, 3] *= 1e-3
    y = x @ np.linspace(-1, 1, lines) + 0.3 + rng.normal(scale=0.1, size=len(x))
    for features, beta in zip(x, y.tolist(), strict=True):
        made._train(features, beta)
    whole = np.column_stack([x.astype(np.float64), np.ones(len(x))])
    expected = np.linalg.solve(whole.T @ whole + 1e-3 * np.eye(lines + 1), whole.T @ y)
    assert expected.tolist() == pytest.approx(made.weights_.tolist(), abs=1e-6)
    assert np.array_equal(made.inverse_, made.inverse_.T)


@pytest.mark.parametrize("level", ["fl", "sl"])
def test_frontier_picks_best_priority(level: str) -> None:
    rng = np.random.default_rng(8)
    nodes = [str(number) for number in range(400)]
    links = {node: [nodes[at] for at in rng.integers(0, 400, 5)] for node in nodes}
    space = GraphSpace(links, {node: float(at % 7 == 0) for at, node in enumerate(nodes)},
                       {(u, v): float(int(v) % 3 == 0) for u in nodes for v in links[u]})  # fmt: skip
    guide, log = Regression(level), MemoryLog()  # type: ignore[arg-type]
    made = Engine(space, SpaceJudge(), Greedy(guide), log, clock=lambda: 0.0, budget=Budget(pages=200), concurrency=1)
    made.fold(Seed("0"))
    checked = 0

    async def crawl() -> None:
        nonlocal checked
        async for visit in made.run():
            rows: Rows = made.table.rows()
            scores = guide.priority(rows, made.table)
            row = made.frontier.take(0.0)
            assert (int(rows[scores.argmax()]), scores.max()) == (row, made.frontier.priority[row])
            made.frontier.untake(row)
            checked += visit.is_page

    asyncio.run(crawl())
    assert 200 == checked
