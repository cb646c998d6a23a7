"""OPIC: the first steps by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.cash import Opic


@pytest.mark.paper("otie-opic")
def test_opic_first_four_steps() -> None:
    """Two seeds, a -> b c d, s -> b, b -> a c, d -> b: all cash after each step, in seed shares."""
    opic, table = Opic(period=0), Table()
    for name in "asbcd":
        if name in "as":
            table.add_seed(name)
        else:
            table.add(name, 1)
    for node, links, a, s, b, c, d in (
        ("a", "bcd", 0, 1, 1 / 3, 1 / 3, 1 / 3),
        ("s", "b", 0, 0, 1 / 3 + 1, 1 / 3, 1 / 3),
        ("b", "ac", (4 / 3) / 2, 0, 0, 1 / 3 + (4 / 3) / 2, 1 / 3),
        ("d", "b", 2 / 3, 0, 1 / 3, 1, 0),
    ):
        step = table.absorb(Visit(node, "page", "ok", 1, relevance=0.9, links=Links.to(*links)))
        assert step is not None
        assert list(links) == [table.nodes[row] for row in opic.learn(step, table).tolist()]
        scores = opic.priority(np.arange(5, dtype=np.int32), table)
        assert pytest.approx([a, s, b, c, d]) == scores.tolist()
        assert (
            pytest.approx([x / 2 for x in (a, s, b, c, d)]) == opic.share(np.arange(5, dtype=np.int32), table).tolist()
        )
