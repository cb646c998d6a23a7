"""Columns that grow: arrays with one entry per row, or per edge, longer than they need to be."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


def fit(column: NDArray[Number], rows: int, fill: Any = 0) -> NDArray[Number]:
    """The column, or matrix with a line for each row, long enough for so many: it grows by doubling, with `fill`.

    >>> len(fit(np.zeros(4), 3)), len(fit(np.zeros(4), 5))
    (4, 1024)
    """
    if rows <= len(column):
        return column
    grown = np.full((max(1024, rows, 2 * len(column)), *column.shape[1:]), fill, column.dtype)
    grown[: len(column)] = column
    return grown
