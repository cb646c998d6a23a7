"""Bags of words: sparse rows, tf-idf, products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.text import bags as module
from lycosa.text.bags import Bags, idf, unit

BAGS = Bags.of([([0, 2], [1.0, 3.0]), ([], []), ([1], [2.0]), ([], [])])


def dense(bags: Bags, values: np.ndarray, terms: int) -> np.ndarray:
    """Return the bags as a dense matrix."""
    table = np.zeros((len(bags), terms))
    table[bags.rows(), bags.columns] = values
    return table


@given(st.lists(st.dictionaries(st.integers(0, 6), st.integers(1, 9), max_size=5), max_size=8))
def test_times_equals_dense_product(found: list[dict[int, int]]) -> None:
    bags = Bags.of((sorted(bag), [float(bag[term]) for term in sorted(bag)]) for bag in found)
    weights = np.arange(21, dtype=np.float32).reshape(7, 3) - 10
    assert np.allclose(dense(bags, bags.counts, 7) @ weights, bags.times(bags.counts, weights))


def test_times_in_batches_equals_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    whole = BAGS.times(BAGS.counts, weights)
    monkeypatch.setattr(module, "_MAX_PRODUCT_SIZE", 2)
    assert whole.tolist() == BAGS.times(BAGS.counts, weights).tolist() == [[16, 20], [0, 0], [6, 8], [0, 0]]


def test_take_reorders_bags() -> None:
    some = BAGS.take(np.array([2, 1, 0, 2]))
    assert [0, 1, 1, 3, 4] == some.starts.tolist()
    assert ([1, 0, 2, 1], [2.0, 1.0, 3.0, 2.0]) == (some.columns.tolist(), some.counts.tolist())


@pytest.mark.paper("otie-vector-space")
def test_unit_and_idf_by_hand() -> None:
    """The idf is log(N / N_j): of two pages the common term has log(2/2) = 0, the others log 2, and all the length."""
    bags = Bags.of([([0, 1], [1.0, 5.0]), ([0, 2], [1.0, 1.0])])
    weights = idf(bags.document_frequency(3), 2)
    assert [0.0, np.float32(np.log(2)), np.float32(np.log(2))] == weights.tolist()
    assert [0.0, 1.0, 0.0, 1.0] == unit(bags, weights).tolist()


def test_unit_of_zero_idf_is_zero() -> None:
    assert [0.0] == unit(Bags.of([([0], [4.0])]), np.zeros(1, np.float32)).tolist()
