"""Merge the priorities that several pages give to the same link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit
from lycosa.core.table import Table
from lycosa.core.types import Priorities, Rows, Step

Merge = Literal["max", "sum", "mean", "last"]
MaxOrLast = Literal["max", "last"]
FirstOrMin = Literal["first", "min"]


@dataclass
class MergedPriorities:
    """Priorities of rows, each the `max`, `min`, `sum`, `mean`, `first` or `last` of the values from linking pages.

    Most papers do not specify the merging; Gouriten's fl_ family uses `sum`.
    """

    merge: Merge | FirstOrMin = "max"
    value_: NDArray[np.float64] = column()
    count_: NDArray[np.float64] = column()

    def update(self, step: Step, table: Table, value: float | NDArray[np.float64]) -> Rows:
        """Merge one value for all links of a page, or one for each; return the rows. Redirects pass on their value."""
        self.value_, self.count_ = fit(self.value_, len(table)), fit(self.count_, len(table))
        rows, parents = step.children, 1.0
        if not len(rows):
            return rows
        if step.visit.outcome == "redirect":
            value, parents = float(self.value_[step.row]), float(self.count_[step.row])
            if not parents:  # the source is a seed and has no value
                return rows
        if self.merge == "max":
            largest = np.maximum(self.value_[rows], value)
            least = value.item(value.argmin()) if isinstance(value, np.ndarray) else value
            if not least >= 0:  # a negative value must replace the initial 0 of rows without a value
                largest = np.where(self.count_[rows] > 0, largest, value)
            self.value_[rows] = largest
        elif self.merge == "last":
            self.value_[rows] = value
        elif self.merge in ("first", "min"):
            known = self.value_[rows]
            kept = known if self.merge == "first" else np.minimum(known, value)
            self.value_[rows] = np.where(self.count_[rows] > 0, kept, value)
        else:
            self.value_[rows] += value
            self.count_[rows] += parents
            return rows
        self.count_[rows] = parents  # only compared with 0 from here on
        return rows

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        self.value_, self.count_ = fit(self.value_, len(table)), fit(self.count_, len(table))
        known: dict[str, NDArray[Any]] = {"value": self.value_[rows], "count": self.count_[rows]}
        self.value_[rows] = self.count_[rows] = 0.0
        return known

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        self.value_, self.count_ = fit(self.value_, len(table)), fit(self.count_, len(table))
        self.value_[rows], self.count_[rows] = known["value"], known["count"]

    def priority(self, rows: Rows, table: Table) -> Priorities:
        value = fit(self.value_, len(table))[rows]
        if self.merge == "mean":
            value = value / np.maximum(fit(self.count_, len(table))[rows], 1.0)
        return value


class PriorityFromParents:
    """Base of estimators whose priority is merged from values given by the pages that link to a row."""

    proportional: ClassVar[bool] = True
    priority_: MergedPriorities

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return self.priority_.priority(rows, table)


def linked(step: Step, table: Table) -> Rows:
    """Return the unique rows that the page links to, in page order, where `step.children` has new links only."""
    if not step.visit.follows:
        return step.children
    rows = dict.fromkeys(table.row_of.get(url, -1) for url in step.visit.links.urls)  # -1: out of scope
    return np.array([row for row in rows if row not in (-1, step.row)], np.intp)
