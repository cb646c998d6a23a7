"""Tests of best-first and n-best-first: equation 7 and the four merges."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import estimator
from lycosa.strategies.best_first import BestFirst, NBestFirst
from teaching import redirect, score, teach


@pytest.mark.paper("batsakis-best-first-page", "batsakis-best-first-anchor", "batsakis-eq7")
@pytest.mark.parametrize(
    ("page", "anchor", "expected"),
    [(0.5, 0.5, (0.8 + 0.4) / 2), (1.0, 0.0, 0.8), (0.0, 1.0, 0.4), (0.25, 0.75, 0.25 * 0.8 + 0.75 * 0.4)],
)
def test_best_first_equation_7(page: float, anchor: float, expected: float) -> None:
    """Priority is page * beta + anchor * alpha, for beta .8 and alpha .4."""
    best, table = BestFirst(page, anchor), Table()
    assert ["c"] == teach(best, table, "p", 0.8, c=0.4)
    assert [pytest.approx(expected)] == score(best, table, "c")


@pytest.mark.parametrize(
    ("merge", "expected"), [("max", 0.6), ("sum", 0.6 + 0.3 + 0.5), ("mean", 1.4 / 3), ("last", 0.5)]
)
def test_best_first_merges_parents(merge: Any, expected: float) -> None:
    """Three parents give .6 = (.8 + .4) / 2, .3 = (.2 + .4) / 2 and .5 = (.9 + .1) / 2."""
    best, table = BestFirst(merge=merge), Table()
    teach(best, table, "p", 0.8, c=0.4)
    teach(best, table, "q", 0.2, c=0.4)
    teach(best, table, "r", 0.9, c=0.1)
    assert [pytest.approx(expected)] == score(best, table, "c")


@pytest.mark.parametrize("merge", ["max", "sum", "mean", "last"])
def test_best_first_redirect_inherits(merge: Any) -> None:
    best, table = BestFirst(merge=merge), Table()
    table.add_seed("s")
    assert [0.0] == score(best, table, "s")
    teach(best, table, "p", 0.8, c=0.4, t=0.4)
    teach(best, table, "q", 0.2, c=0.4)
    redirect(best, table, "c", "d")
    redirect(best, table, "s", "t")
    assert [*score(best, table, "c"), pytest.approx(0.6)] == score(best, table, "d", "t")


def test_best_first_redirect_to_known_node_merges() -> None:
    """The mean is over all values of the source (.6, .3) and of the target (.9): 1.8 / 3."""
    best, table = BestFirst(merge="mean"), Table()
    teach(best, table, "p", 0.8, c=0.4)
    teach(best, table, "q", 0.2, c=0.4)
    teach(best, table, "r", 1.0, d=0.8)
    redirect(best, table, "c", "d")
    assert [pytest.approx(0.6)] == score(best, table, "d")


def test_best_first_ranks_many_rows() -> None:
    best, table = BestFirst(), Table()
    teach(best, table, "p", 1.0, **{f"n{n}": 0.0 for n in range(3000)})
    assert [0.5, 0.5] == score(best, table, "n0", "n2999")


SAYINGS = st.lists(
    st.tuples(st.floats(0, 1, width=32), st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1, width=32))),
    max_size=12,
)


@settings(max_examples=60)
@given(st.sampled_from(["max", "sum", "mean", "last"]), SAYINGS, st.floats(0, 1), st.floats(0.125, 1))
def test_best_first_merges_equal_definition(
    merge: Any, pages: list[tuple[float, dict[str, float]]], page: float, anchor: float
) -> None:
    best, table = BestFirst(page, anchor, merge), Table()
    values_by_node: dict[str, list[float]] = {}
    for number, (beta, link_relevances) in enumerate(pages):
        assert list(link_relevances) == teach(best, table, f"page {number}", beta, **link_relevances)
        for node, alpha in link_relevances.items():
            values_by_node.setdefault(node, []).append(page * beta + anchor * alpha)
    plain = {
        "max": max,
        "sum": sum,
        "mean": lambda values: sum(values) / len(values),
        "last": lambda values: values[-1],
    }[merge]
    assert [pytest.approx(plain(values)) for values in values_by_node.values()] == score(best, table, *values_by_node)


def test_n_best_first_priorities_equal_best_first() -> None:
    """Priority is page * beta + anchor * alpha = .25 * .8 + .75 * .4 = .5."""
    many, table = NBestFirst(page=0.25, anchor=0.75), Table()
    table.add_seed("a")
    links = Links.to("b")
    links.link_relevances = np.array([0.4], np.float32)
    step = table.absorb(Visit("a", "page", "ok", 1, relevance=0.8, links=links))
    assert step is not None
    assert [pytest.approx(0.25 * 0.8 + 0.75 * 0.4)] == many.priority(many.learn(step, table), table).tolist()


@pytest.mark.paper("batsakis-n-best-first")
def test_n_best_first_n_is_batch() -> None:
    assert [8, 32] == [getattr(estimator(text), "batch", 0) for text in ("n-best-first", "n-best-first,n=32")]
