"""What each page added to the score of a link, for strategies that can't tell it themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from lycosa.collection.words import clean
from lycosa.core.frontier import PRUNED
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step

ELSEWHERE = "by other pages, since"
"""Whatever changed the score when a page came in that does not link to it."""


class Witness:
    """Hears what estimators learn while a log is folded, and keeps of some nodes what their scores are made of.

    A page that links to the node and settles its score alone is told by the parts of what it said, if the estimator has
    words for them: `said(step)` gives each part for the links of a page, in the order of `step.children`, as one number
    or one for each. What does not add up so (a sum over pages, cash, a rank) is told page by page: how much the score
    was higher, or lower, after each. In any case the terms add up to the score.

    An estimator that has `explain` is left alone.
    """

    def __init__(self, nodes: Iterable[str]) -> None:
        self.nodes = frozenset(nodes)
        self._terms: dict[tuple[int, str], dict[str, float]] = {}

    def attend(self, estimator: Any) -> bool:
        """Hear from now on what it learns; whether there is anything to hear."""
        if not hasattr(estimator, "learn") or hasattr(estimator, "explain"):
            return False
        learn: Callable[[Step, Table], Rows] = estimator.learn

        def heard(step: Step, table: Table) -> Rows:
            rows = learn(step, table)
            for node in self.nodes:
                if (row := table.row_of.get(node, -1)) >= 0:
                    self._hear(estimator, step, table, row)
            return rows

        estimator.learn = heard
        return True

    def terms(self, estimator: object, node: str) -> dict[str, float] | None:
        """What the score of a node is made of, the largest first; None if nobody listened."""
        if node not in self.nodes or hasattr(estimator, "explain"):
            return None
        terms = self._terms.get((id(estimator), node), {})
        return dict(sorted(terms.items(), key=lambda term: -abs(term[1])))

    def _hear(self, estimator: Any, step: Step, table: Table, row: int) -> None:
        score = float(estimator.score(np.array([row], np.int32), table)[0])
        score = score if PRUNED < score < math.inf else 0.0
        terms = self._terms.setdefault((id(estimator), table.nodes[row]), {})
        change = score - math.fsum(terms.values())
        if abs(change) <= 1e-12 * abs(score):
            return
        at = np.flatnonzero(step.children == row)
        parts = _parts(estimator.said(step), int(at[0]), len(step.children)) if _speaks(estimator, step, at) else {}
        if parts and math.isclose(math.fsum(parts.values()), score, rel_tol=1e-6):
            terms.clear()
            terms.update(parts)
            return
        source = f"by {clean(step.visit.title) or step.visit.node}" if len(at) else ELSEWHERE
        terms[source] = terms.get(source, 0.0) + change


def _speaks(estimator: object, step: Step, at: Rows) -> bool:
    return len(at) > 0 and step.visit.outcome != "redirect" and hasattr(estimator, "said")


def _parts(said: Mapping[str, Any], at: int, links: int) -> dict[str, float]:
    """What was said of one of the links."""
    return {name: float(np.broadcast_to(np.asarray(part, np.float64), links)[at]) for name, part in said.items()}
