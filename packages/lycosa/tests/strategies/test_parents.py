"""What several parents say of a row, merged."""

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.parents import Merge, MergedPriorities


def told(merge: Merge, *said: float | list[float]) -> list[float]:
    """What one parent after the other says of the same two rows, as one number each."""
    table, parents = Table(), MergedPriorities(merge)
    rows = np.zeros(0, np.intp)
    for pick, value in enumerate(said):
        table.add_seed(f"parent {pick}")
        step = table.absorb(Visit(f"parent {pick}", "page", "ok", pick, links=Links.to("a", "b")))
        assert step is not None
        rows = parents.update(step, table, np.array(value) if isinstance(value, list) else value)
    return parents.priority(rows, table).tolist()


@pytest.mark.parametrize(
    ("merge", "expected"),
    [("max", [-1.0, 0.5]), ("sum", [-3.0, 0.25]), ("mean", [-1.5, 0.125]), ("last", [-1.0, -0.25])],
)
def test_words_below_zero_are_words(merge: Merge, expected: list[float]) -> None:
    """The first parent's word counts also where it is below the 0 that a row begins with."""
    assert expected == told(merge, [-2.0, 0.5], [-1.0, -0.25])


def test_one_number_for_all_links() -> None:
    """A page may say the same of all its links: -2 at first, then -1, which is more."""
    assert [-1.0, -1.0] == told("max", -2.0, -1.0)
    assert [0.75, 0.75] == told("max", 0.25, 0.75, 0.5)


def test_a_page_without_links_says_nothing() -> None:
    """Where there are no links there is nothing to merge."""
    table, parents = Table(), MergedPriorities("max")
    table.add_seed("a")
    step = table.absorb(Visit("a", "page", "ok", 1))
    assert step is not None
    assert [] == parents.update(step, table, np.zeros(0)).tolist()
