"""Tests of merged priorities of several parents."""

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.parents import Merge, MergedPriorities


def merged(merge: Merge, *values: float | list[float]) -> list[float]:
    """Feed the values of one parent after the other for the same two rows; return the merged values."""
    table, parents = Table(), MergedPriorities(merge)
    rows = np.zeros(0, np.intp)
    for pick, value in enumerate(values):
        table.add_seed(f"parent {pick}")
        step = table.absorb(Visit(f"parent {pick}", "page", "ok", pick, links=Links.to("a", "b")))
        assert step is not None
        rows = parents.update(step, table, np.array(value) if isinstance(value, list) else value)
    return parents.priority(rows, table).tolist()


@pytest.mark.parametrize(
    ("merge", "expected"),
    [("max", [-1.0, 0.5]), ("sum", [-3.0, 0.25]), ("mean", [-1.5, 0.125]), ("last", [-1.0, -0.25])],
)
def test_update_keeps_negative_values(merge: Merge, expected: list[float]) -> None:
    """The value of the first parent replaces the initial 0 of a row, even if it is smaller."""
    assert expected == merged(merge, [-2.0, 0.5], [-1.0, -0.25])


def test_update_broadcasts_single_value() -> None:
    """A single value holds for all links: -2, then -1, which is larger."""
    assert [-1.0, -1.0] == merged("max", -2.0, -1.0)
    assert [0.75, 0.75] == merged("max", 0.25, 0.75, 0.5)


def test_update_without_links_changes_nothing() -> None:
    table, parents = Table(), MergedPriorities("max")
    table.add_seed("a")
    step = table.absorb(Visit("a", "page", "ok", 1))
    assert step is not None
    assert [] == parents.update(step, table, np.zeros(0)).tolist()
