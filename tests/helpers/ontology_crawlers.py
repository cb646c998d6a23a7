"""Pages and links for strategies that use an ontology."""

from typing import Any

import numpy as np

from lycosa.core.protocols import Estimator
from lycosa.core.table import Table
from lycosa.core.types import Links, Terms, Visit
from places import ROOT

REEFS = str(ROOT / "tests/helpers/reefs.tsv")


def teach(
    guide: Estimator, table: Table, node: str, *links: tuple[str, str], terms: Terms | None = None, **more: Any
) -> dict[str, float]:
    """Learn a page with links and anchors; return the priorities of all rows."""
    table.add_seed(node)
    targets, anchors = [url for url, _ in links], [anchor for _, anchor in links]
    found = Links.to(*targets, anchors=anchors)
    step = table.absorb(Visit(node, "page", "ok", 1, links=found, terms=terms or Terms(), **more))
    assert step is not None
    assert set(step.children.tolist()) <= set(guide.learn(step, table).tolist())
    scores = guide.priority(np.arange(len(table), dtype=np.int32), table).tolist()
    return dict(zip(table.nodes, scores, strict=True))
