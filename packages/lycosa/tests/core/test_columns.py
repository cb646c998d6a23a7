"""Tests of append-only rows in a temporary file."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.columns import FileArray, Scratch, SpilledArray
from lycosa.core.errors import StoreError
from lycosa.core.state import StateMismatch, added


def filled(values: np.ndarray, most: int, cuts: list[int]) -> SpilledArray:
    rows = SpilledArray(values.shape[1:], values.dtype, most)
    for piece in np.split(values, sorted(cut % (len(values) + 1) for cut in cuts)):
        rows.extend(piece) if len(piece) != 1 else rows.append(piece[0])
    return rows


def filed(values: np.ndarray) -> FileArray:
    scratch = Scratch()
    scratch.write(values.reshape(-1).view(np.uint8).data, 0)
    return FileArray(scratch, values.dtype, values.nbytes)


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(0, 40),
    most=st.integers(0, 30),
    shape=st.sampled_from([(), (1,), (7,)]),
    cuts=st.lists(st.integers(0, 100), max_size=4),
    picks=st.lists(st.integers(0, 1000), max_size=20),
    begin=st.integers(-45, 45),
    end=st.integers(-45, 45),
)
def test_spilled_array_equals_array(
    count: int, most: int, shape: tuple[int, ...], cuts: list[int], picks: list[int], begin: int, end: int
) -> None:
    values = np.random.default_rng(count).integers(0, 1000, (count, *shape)).astype(np.int32)
    rows = filled(values, most, cuts)
    which = np.array([pick % count for pick in picks] if count else [], np.intp)
    others = filled(values[::-1].copy(), most, [])
    others.restore({"rows": np.asarray(added(rows, 0)).reshape(-1)})
    again = filled(values[::-1].copy(), most, [])
    half = np.ascontiguousarray(values[: count // 2])
    again.restore({"rows": filed(half)})
    again.extend(values[count // 2 :])
    for some in (rows, others, again):
        assert len(some) == count
        np.testing.assert_array_equal(some[:], values)
        np.testing.assert_array_equal(some[begin:end], values[begin:end])
        np.testing.assert_array_equal(some[::3], values[::3])
        np.testing.assert_array_equal(some[which], values[which])
        np.testing.assert_array_equal(added(some, count // 2), values[count // 2 :])
        for pick in which[:3].tolist():
            np.testing.assert_array_equal(some[pick], values[pick])
    with pytest.raises(IndexError):
        rows[count]


def test_spilled_array_refuses_other_state() -> None:
    for expected in (np.zeros(4, np.int64), np.zeros(5, np.int32), filed(np.zeros(5, np.int32))):
        with pytest.raises(StateMismatch):
            SpilledArray((2,), np.int32, 3).restore({"rows": expected})


def test_spilled_array_raises_without_writable_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    rows = SpilledArray((), np.int32, 1)
    rows.append(5)
    with pytest.raises(StoreError, match=r"cannot write a temporary file in .*gone"):
        rows.append(6)
    assert [5] == rows[:].tolist()
