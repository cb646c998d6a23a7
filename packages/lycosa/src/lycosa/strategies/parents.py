"""What several pages say of the address they all link to, as one number."""

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
    """The `max`, `min`, `sum` or `mean` over the pages that link to a row, or what the `first` or `last` of them said.

    The papers leave open what a link found twice is worth; Gouriten's fl_ family is the `sum`.

    >>> from lycosa.core.types import Links, Visit
    >>> table, parents = Table(), MergedPriorities("mean")
    >>> for pick, (node, value) in enumerate({"a": .8, "b": .2}.items()):
    ...     _ = table.add_seed(node)
    ...     rows = parents.update(table.absorb(Visit(node, "page", "ok", pick, links=Links.to("c"))), table, value)
    >>> parents.priority(rows, table).tolist()
    [0.5]
    """

    merge: Merge | FirstOrMin = "max"
    value_: NDArray[np.float64] = column()
    count_: NDArray[np.float64] = column()

    def update(self, step: Step, table: Table, value: float | NDArray[np.float64]) -> Rows:
        """What a page says of its links, one number for all or one for each; returns their rows.

        The target of a redirect inherits what was said of its source.
        """
        self.value_, self.count_ = fit(self.value_, len(table)), fit(self.count_, len(table))
        rows, parents = step.children, 1.0
        if not len(rows):
            return rows
        if step.visit.outcome == "redirect":
            value, parents = float(self.value_[step.row]), float(self.count_[step.row])
            if not parents:  # nobody has said anything of the source: a seed
                return rows
        if self.merge == "max":
            largest = np.maximum(self.value_[rows], value)
            least = value.item(value.argmin()) if isinstance(value, np.ndarray) else value
            if not least >= 0:  # what nobody has spoken of stands at 0, which is no one's word
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
        self.count_[rows] = parents  # more than 0, which is all that is asked
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
        """The merged value; 0 for a row nobody has linked to."""
        value = fit(self.value_, len(table))[rows]
        if self.merge == "mean":
            value = value / np.maximum(fit(self.count_, len(table))[rows], 1.0)
        return value


class PriorityFromParents:
    """Base of estimators whose score is what the pages that link to a row say of it, merged."""

    proportional: ClassVar[bool] = True
    priority_: MergedPriorities

    def priority(self, rows: Rows, table: Table) -> Priorities:
        return self.priority_.priority(rows, table)


# A page as it is now, for estimators that count its links: a step of a page visited again shows the new ones only.


def linked(step: Step, table: Table) -> Rows:
    """All rows that the page links to as it is now, each once, in page order: the step's children are among them.

    >>> from lycosa.core.types import Links, Visit
    >>> table = Table(); _ = table.add_seed("a")
    >>> _ = table.absorb(Visit("a", "page", "ok", 1, links=Links.to("b", "c")))
    >>> step = table.absorb(Visit("a", "revisit", "ok", 2, links=Links.to("d", "c"), data={"follows": 1.0}))
    >>> [table.nodes[row] for row in step.children], [table.nodes[row] for row in linked(step, table)]
    (['d'], ['d', 'c'])
    """
    if not step.visit.follows:
        return step.children
    rows = dict.fromkeys(table.row_of.get(url, -1) for url in step.visit.links.urls)  # -1: out of scope
    return np.array([row for row in rows if row not in (-1, step.row)], np.intp)
