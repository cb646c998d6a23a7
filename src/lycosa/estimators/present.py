"""A page as it is now, for estimators that count its links: a step of a page visited again shows the new ones only."""

from __future__ import annotations

import numpy as np

from lycosa.core.table import Table
from lycosa.core.types import Rows, Step


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
