"""N-best-first."""

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import estimator
from lycosa.strategies.best_first import NBestFirst


def test_n_best_first_priorities_equal_best_first() -> None:
    """page * beta + anchor * alpha = .25 * .8 + .75 * .4 = .5."""
    many, table = NBestFirst(page=0.25, anchor=0.75), Table()
    table.add_seed("a")
    links = Links.to("b")
    links.link_relevances = np.array([0.4], np.float32)
    step = table.absorb(Visit("a", "page", "ok", 1, relevance=0.8, links=links))
    assert step is not None
    assert [pytest.approx(0.25 * 0.8 + 0.75 * 0.4)] == many.priority(many.learn(step, table), table).tolist()


@pytest.mark.paper("batsakis-n-best-first")
def test_n_best_first_n_is_batch() -> None:
    assert [8, 32] == [getattr(estimator(text), "batch", 0) for text in ("n-best-first", "n-best-first,n=32")]
