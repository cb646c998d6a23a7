"""Backlink count."""

import numpy as np

from lycosa.checks import check_estimator
from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.estimators.backlink import Backlink


def test_the_score_is_the_number_of_parents() -> None:
    """Three pages link to x (one of them twice), one to y, nobody to the seeds."""
    table, backlink = Table(), Backlink()
    for node, links in (("a", ["x", "y"]), ("b", ["x", "x"]), ("c", ["x"])):
        table.add_seed(node)
        step = table.absorb(Visit(node, "page", "ok", 1, links=Links.to(*links)))
        assert step is not None
        assert list(dict.fromkeys(links)) == [table.nodes[row] for row in backlink.learn(step, table)]
    rows = np.array([table.row_of[node] for node in "xya"], np.int32)
    assert [3.0, 1.0, 0.0] == backlink.score(rows, table).tolist()


def test_passes_the_checks() -> None:
    """It behaves as every estimator has to."""
    assert "a_crawl_can_be_resumed" in check_estimator(Backlink)
